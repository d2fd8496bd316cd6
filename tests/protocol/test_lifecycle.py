"""Opening a conversation, in both eras, and the `_meta` that says who asks."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from protocol.wire import stable
from splice.errors import InvalidParams
from splice.protocol import lifecycle
from splice.protocol.capabilities import ClientCapabilities, SamplingCapability, TasksCapability
from splice.protocol.jsonrpc import raw
from splice.protocol.lifecycle import (
    NO_META,
    DiscoverResult,
    InitializeParams,
    InitializeResult,
    RequestMeta,
)
from splice.protocol.wire import Implementation, NoteParams, PageParams


def test_initialize() -> None:
    params = stable(
        InitializeParams,
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "roots": {"listChanged": True},
                "sampling": {"tools": {}},
                "elicitation": {"form": {}, "url": {}},
                "tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}},
                "experimental": {"a.example/b": {"c": 1}},
                "extensions": {"a.example/d": {}},
            },
            "clientInfo": {
                "name": "c",
                "version": "1",
                "title": "C",
                "websiteUrl": "https://a.example/",
                "icons": [{"src": "data:,", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}],
            },
        },
    )
    assert params.capabilities.sampling == SamplingCapability(tools={})
    assert isinstance(params.capabilities.tasks, TasksCapability)
    result = stable(
        InitializeResult,
        {
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}, "resources": {"subscribe": True, "listChanged": False}, "logging": {}},
            "serverInfo": {"name": "s", "version": "1"},
            "instructions": "Be kind.",
        },
    )
    assert result.capabilities.prompts is None
    assert result.capabilities.logging == {}


def test_discover() -> None:
    value = {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": True}},
        "ttlMs": 60000,
        "cacheScope": "public",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
    }
    assert stable(DiscoverResult, value).meta == value["_meta"]


META = {
    "progressToken": "p",
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    "io.modelcontextprotocol/logLevel": "warning",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "a=b",
    "baggage": "c=d",
}


def test_request_meta() -> None:
    meta = RequestMeta.read(stable(PageParams, {"_meta": META, "cursor": "x"}).meta)
    assert (meta.protocol_version, meta.progress_token, meta.log_level) == ("2026-07-28", "p", "warning")
    assert meta.client_info == Implementation(name="c", version="1")
    assert isinstance(meta.client_capabilities, ClientCapabilities)
    assert stable(RequestMeta, META) == meta


def test_keys_of_others_survive_in_meta_and_hinder_nobody_from_reading_it() -> None:
    value = {"com.example/tenant": {"a": [1, None]}, "progressToken": 5, "io.modelcontextprotocol/related-task": {}}
    params = stable(PageParams, {"_meta": value})
    assert isinstance(params.meta, Raw)
    assert msgspec.json.decode(params.meta) == value
    assert RequestMeta.read(params.meta) == RequestMeta(progress_token=5)


def test_no_meta_and_null_say_nothing() -> None:
    assert RequestMeta.read(None) == NO_META
    assert RequestMeta.read(msgspec.json.decode(b'{"_meta":null}', type=PageParams).meta) == NO_META
    assert RequestMeta.read(raw(dict.fromkeys(META))) == NO_META


@pytest.mark.parametrize("name", [name for name in dir(lifecycle) if name.startswith("META_")])
def test_the_names_of_meta_keys(name: str) -> None:
    prefix, _, key = getattr(lifecycle, name).partition("/")
    assert prefix == "io.modelcontextprotocol"
    assert key.lower() == name.removeprefix("META_").replace("_", "").lower()


@pytest.mark.parametrize("token", [1, -1, "", "t"])
def test_a_progress_token_is_text_or_a_whole_number(token: int | str) -> None:
    assert stable(RequestMeta, {"progressToken": token}).progress_token == token


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (b'{"progressToken":1.5}', r"`\$\._meta\.progressToken`"),
        (b'{"io.modelcontextprotocol/logLevel":"loud"}', r"_meta\..*logLevel"),
        (b"[]", r"object.*`\$\._meta`"),
        (b'{"traceparent":"\xff"}', "utf-8"),
    ],
)
def test_meta_that_does_not_fit_is_told_with_its_path(value: bytes, path: str) -> None:
    with pytest.raises(InvalidParams, match=path):
        RequestMeta.read(Raw(value))


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (InitializeParams, {"protocolVersion": "x", "capabilities": {}}, "clientInfo"),
        (InitializeResult, {"protocolVersion": "x", "capabilities": {}}, "serverInfo"),
        (DiscoverResult, {"supportedVersions": "x", "capabilities": {}}, r"\$\.supportedVersions"),
        (NoteParams, {"_meta": 1}, r"\$\._meta"),
    ],
)
def test_params_that_do_not_fit_are_told_with_their_path(kind: type[Any], value: Any, path: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=path):
        msgspec.json.decode(msgspec.json.encode(value), type=kind)
