"""What all Structs on the wire share: names in camel case, absent fields, and `_meta`."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import NODEFAULT, Raw, Struct
from msgspec.structs import fields

from protocol.wire import instances, stable, wire_types
from splice.protocol.jsonrpc import NULL
from splice.protocol.resources import ReadResourceParams
from splice.protocol.tools import TOOLS_CALL, CallToolParams, CallToolResult
from splice.protocol.wire import (
    CacheableResult,
    EmptyResult,
    Icon,
    Implementation,
    NoParams,
    NoteParams,
    PageParams,
    PageResult,
    Result,
    Wire,
    is_meta,
)
from support.tables import rows

TYPES = wire_types()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Icon, {"src": "data:,", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}),
        (
            Implementation,
            {"name": "c", "version": "1", "title": "C", "description": "d", "websiteUrl": "a:", "icons": []},
        ),
        (PageParams, {"cursor": "", "_meta": {"a": {"b": [1]}}}),
        (NoteParams, {"_meta": {"io.modelcontextprotocol/subscriptionId": 5}}),
        (PageResult, {"nextCursor": "", "ttlMs": -1, "cacheScope": "public", "resultType": "complete", "_meta": {}}),
    ],
)
def test_round_trips(kind: type[Struct], value: Any) -> None:
    stable(kind, value)


@rows("kind", TYPES.values(), ids=TYPES)
def test_every_type_keeps_the_settings_of_its_base(kind: type[Wire]) -> None:
    assert kind.__struct_config__.omit_defaults
    assert kind.__match_args__ == ()  # all fields are given by name
    assert all("_" not in field.encode_name.removeprefix("_") for field in fields(kind))


@rows("kind", TYPES.values(), ids=TYPES)
def test_a_field_that_may_be_absent_is_none(kind: type[Wire]) -> None:
    for field in fields(kind):
        assert field.default in (NODEFAULT, None) or field.name == "is_error", field.name


@pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES)
@settings(max_examples=10)
@given(data=st.data())
def test_an_explicit_null_reads_as_absent(kind: type[Wire], data: st.DataObject) -> None:
    """`is_error` is the one field whose null only `read_result` takes."""
    value = data.draw(instances(kind))
    absent: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    nulls = {field.encode_name: None for field in fields(kind) if field.default is None}
    read = msgspec.json.decode(msgspec.json.encode({**nulls, **absent}), type=kind)
    assert msgspec.json.decode(msgspec.json.encode(read)) == absent


def test_json_that_is_not_read_is_none_when_it_is_null() -> None:
    params = msgspec.json.decode(b'{"name":"t", "arguments": null , "_meta": null }', type=CallToolParams)
    assert (params.arguments, params.meta) == (None, None)
    assert msgspec.json.encode(params) == b'{"name":"t"}'
    assert CallToolParams(name="t", arguments=NULL, meta=NULL) == params


def test_json_that_is_not_read_keeps_every_byte() -> None:
    text = b'{"_meta":{"a" : 1e2, "a": "\\u00e9"},"uri":"a:"}'
    params = msgspec.json.decode(text, type=ReadResourceParams)
    assert isinstance(params.meta, Raw)
    assert bytes(params.meta) in text
    assert msgspec.json.encode(params) == text


def test_a_null_that_a_type_does_not_take_is_absent_in_a_result() -> None:
    heard: list[str] = []
    text = Raw(b'{"content":[],"isError":null,"structuredContent":null,"_meta":null,"resultType":null}')
    assert TOOLS_CALL.read_result(text, heard.append) == CallToolResult(content=[])


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (NoParams, [], "object"),
        (PageParams, {"cursor": 5}, r"\$\.cursor"),
        (NoteParams, {"_meta": 1}, r"\$\._meta"),
        (CacheableResult, {"ttlMs": "5"}, "ttlMs"),
        (CacheableResult, {"cacheScope": "shared"}, "cacheScope"),
        (Implementation, {"name": None, "version": "1"}, r"\$\.name"),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_its_path(kind: type[Any], value: Any, path: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=path):
        msgspec.json.decode(msgspec.json.encode(value), type=kind)


@pytest.mark.parametrize("kind", [Result, EmptyResult, CacheableResult, PageResult])
def test_what_older_servers_leave_out_may_be_absent(kind: type[Result]) -> None:
    assert stable(kind, {}).result_type is None


@pytest.mark.parametrize("ttl", [0, -1, 2**53])
def test_any_whole_ttl_is_read(ttl: int) -> None:
    assert stable(PageResult, {"ttlMs": ttl, "nextCursor": ""}).ttl_ms == ttl


def test_an_empty_result_takes_any_object() -> None:
    assert msgspec.json.decode(b'{"later": 1}', type=EmptyResult) == EmptyResult()


TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        (
            "traceparent",
            [TRACE, "cc" + TRACE[2:] + "-what-comes-later"],
            [
                "",
                "x",
                TRACE + "-more",
                "ff" + TRACE[2:],
                TRACE.upper(),
                TRACE[:3] + "0" * 32 + TRACE[35:],
                TRACE + "\n",
            ],
        ),
        (
            "tracestate",
            ["", "a=b", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "1@v= x , , b=c", "a" * 256 + "=" + "b" * 256],
            ["a", "A=b", "a=b=c", "a=", "a=\u00e9", "a" * 257 + "=b", "a=b\n"],
        ),
        (
            "baggage",
            ["", "a=b", "a=", "userId=alice,serverNode=DF%2028;p;q=1 , isProduction=false"],
            ["a", "a b=c", "a=b c", 'a="b"', "a=\u00e9", "a=b;", "a=b\\c", "=b"],
        ),
    ],
)
@pytest.mark.requirement(48)
def test_trace_contexts_are_as_the_w3c_has_them(key: str, good: list[str], bad: list[str]) -> None:
    for text in good:
        assert is_meta({key: text, "example.com/any": "x"}), text
    others: list[Any] = [*bad, 5, None, ["a=b"]]
    for other in others:
        assert not is_meta({key: other}), other


@pytest.mark.parametrize(
    "text",
    [
        "a=" + " " * 500_000,
        ("a=b" + " " * 7_500 + ",") * 200 + "\n",
        "a=b;" * 125_000,
        "a" * 500_000,
        ("a= " * 2_500 + ",") * 99,
    ],
)
def test_a_long_one_is_judged_quickly(text: str) -> None:
    """Going back over what was read, for each character, would take longer than any test may."""
    for key in ("traceparent", "tracestate", "baggage"):
        is_meta({key: text})
