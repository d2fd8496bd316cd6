"""Opening a conversation, in both eras, and what all messages share."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from protocol.wire import stable
from splice.protocol import lifecycle
from splice.protocol.lifecycle import (
    LOGGING_LEVELS,
    CacheableResult,
    ClientCapabilities,
    DiscoverResult,
    ElicitationCapability,
    EmptyResult,
    Implementation,
    InitializeParams,
    InitializeResult,
    NoParams,
    NoteParams,
    PageParams,
    PageResult,
    RequestMeta,
    Result,
    SamplingCapability,
    ServerCapabilities,
    TasksCapability,
)


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
    assert result.capabilities.prompts is UNSET
    assert result.capabilities.logging == {}


def test_an_empty_capability_is_there() -> None:
    read = stable(ClientCapabilities, {"roots": {}, "elicitation": {}, "sampling": {}})
    assert read.elicitation == ElicitationCapability()
    assert read.tasks is UNSET
    assert stable(ServerCapabilities, {"completions": {}, "prompts": {}}).completions == {}


def test_unknown_capabilities_and_fields_do_no_harm() -> None:
    read = msgspec.json.decode(b'{"later": {"a": 1}, "tools": {"later": 1}}', type=ServerCapabilities)
    assert msgspec.json.encode(read) == b'{"tools":{}}'


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


def test_request_meta() -> None:
    value = {
        "progressToken": "p",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/logLevel": "warning",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "tracestate": "a=b",
        "baggage": "c=d",
    }
    meta = stable(PageParams, {"_meta": value, "cursor": "x"}).meta
    assert isinstance(meta, RequestMeta)
    assert (meta.protocol_version, meta.progress_token, meta.log_level) == ("2026-07-28", "p", "warning")
    assert meta.client_info == Implementation(name="c", version="1")
    assert isinstance(meta.client_capabilities, ClientCapabilities)


@pytest.mark.parametrize("name", [name for name in dir(lifecycle) if name.startswith("META_")])
def test_the_names_of_meta_keys(name: str) -> None:
    prefix, _, key = getattr(lifecycle, name).partition("/")
    assert prefix == "io.modelcontextprotocol"
    assert key.lower() == name.removeprefix("META_").replace("_", "").lower()


@pytest.mark.parametrize("token", [1, -1, "", "t"])
def test_a_progress_token_is_text_or_a_whole_number(token: int | str) -> None:
    meta = stable(NoParams, {"_meta": {"progressToken": token}}).meta
    assert isinstance(meta, RequestMeta)
    assert meta.progress_token == token


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (NoParams, {"_meta": {"progressToken": 1.5}}, r"\$\._meta\.progressToken"),
        (NoParams, {"_meta": {"io.modelcontextprotocol/logLevel": "loud"}}, "logLevel"),
        (NoParams, {"_meta": []}, r"\$\._meta"),
        (NoParams, [], "object"),
        (PageParams, {"cursor": 5}, r"\$\.cursor"),
        (NoteParams, {"_meta": 1}, r"\$\._meta"),
        (InitializeParams, {"protocolVersion": "x", "capabilities": {}}, "clientInfo"),
        (CacheableResult, {"ttlMs": "5"}, "ttlMs"),
    ],
)
def test_what_does_not_fit_is_told_with_its_path(kind: type[Any], value: Any, path: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=path):
        msgspec.json.decode(msgspec.json.encode(value), type=kind)


@pytest.mark.parametrize("kind", [Result, EmptyResult, CacheableResult, PageResult])
def test_what_older_servers_leave_out_may_be_absent(kind: type[Result]) -> None:
    assert stable(kind, {}).result_type is UNSET


@pytest.mark.parametrize("ttl", [0, -1, 2**53])
def test_any_whole_ttl_is_read(ttl: int) -> None:
    assert stable(PageResult, {"ttlMs": ttl, "nextCursor": ""}).ttl_ms == ttl


def test_an_empty_result_takes_any_object() -> None:
    assert msgspec.json.decode(b'{"later": 1}', type=EmptyResult) == EmptyResult()


def test_logging_levels_go_from_mild_to_severe() -> None:
    assert LOGGING_LEVELS[0] == "debug"
    assert LOGGING_LEVELS[-1] == "emergency"
    assert LOGGING_LEVELS.index("warning") < LOGGING_LEVELS.index("error") < LOGGING_LEVELS.index("alert")
