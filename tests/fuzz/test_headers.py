"""The codec of headers: every text survives it, what it writes is accepted, and no header does more than be refused."""

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from fuzz.fuzzing import JSON, TEXT, VALUE, fuzz
from splice.errors import HeaderMismatch, UnsupportedProtocolVersion
from splice.protocol.versions import VERSIONS
from splice.rules.http import headers
from splice.rules.http.headers import Headers

ANY_TEXT = st.text(max_size=20) | st.text(" \t=?base64aGk\r\n\0é", max_size=20) | TEXT.map("=?base64?{}?=".format)
FIELD_NAMES = st.sampled_from(
    [
        b"mcp-protocol-version",
        b"mcp-method",
        b"mcp-name",
        b"mcp-param-a",
        b"mcp-param-b",
        b"content-type",
        b"accept",
        b"",
    ]
)
FIELD_VALUES = (
    st.binary(max_size=20)
    | TEXT.map(str.encode)
    | st.sampled_from(
        [
            b"tools/call",
            b"=?base64?aGk=?=",
            b"=?base64?aGk?=",
            b"=?base64?\xff?=",
            *(each.encode() for each in VERSIONS),
        ]
    )
)
FIELDS = st.lists(st.tuples(FIELD_NAMES, FIELD_VALUES), max_size=8)
DESIGNATED = {("a",): "A", ("deep", "b"): "B"}
ARGUMENTS = VALUE | st.fixed_dictionaries(
    {}, optional={"a": VALUE, "deep": VALUE | st.fixed_dictionaries({"b": VALUE})}
)


@fuzz(text=TEXT | ANY_TEXT)
def test_every_text_survives_a_header(text: str) -> None:
    try:
        written = headers.encode_header(text)
    except UnicodeEncodeError:  # a lone surrogate, which no message holds either
        assert any("\ud800" <= each <= "\udfff" for each in text)
        return
    assert written.isascii()
    assert written.isprintable()
    assert headers.decode_header(written) == text
    assert headers.decode_header(f" {written}\t") == text


@fuzz(value=ANY_TEXT)
def test_any_value_is_read_or_refused(value: str) -> None:
    try:
        text = headers.decode_header(value)
    except ValueError:
        return
    assert headers.decode_header(headers.encode_header(text)) == text


@fuzz(fields=FIELDS, method=TEXT, name=st.none() | TEXT, arguments=ARGUMENTS)
def test_any_headers_are_compared_or_refused(
    fields: list[tuple[bytes, bytes]], method: str, name: str | None, arguments: JSON
) -> None:
    given = Headers(fields)
    assert {*given} == {field.decode("latin-1") for field, _ in fields}
    assert len(dict(given)) == len(given)
    headers.is_json(given.raw(b"content-type"))
    headers.accepts(given.raw(b"accept"), headers.JSON, headers.EVENT_STREAM)
    checks: list[Callable[[], object]] = [
        lambda: headers.named_version(given),
        lambda: headers.check_standard_headers(given, VERSIONS[-1], method, name),
        lambda: headers.check_param_headers(DESIGNATED, arguments, given),
    ]
    for check in checks:
        try:
            check()
        except (HeaderMismatch, UnsupportedProtocolVersion) as error:
            check_shown(error.message)


def check_shown(words: str) -> None:
    assert words.isprintable()  # some are a peer's, and a person reads them


def check_hidden(value: str, name: str, words: str) -> None:
    assert len(value) < 5 or value not in words or value in name


def arrived(sent: Mapping[str, str]) -> Headers:
    return Headers([(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()])


@fuzz(
    method=TEXT.filter(headers.is_plain),
    name=st.none() | TEXT,
    arguments=ARGUMENTS.filter(lambda each: isinstance(each, dict)),
)
def test_what_a_client_writes_a_server_accepts(method: str, name: str | None, arguments: dict[str, Any]) -> None:
    headers.check_standard_headers(
        arrived(headers.standard_headers(VERSIONS[-1], method, name)), VERSIONS[-1], method, name
    )
    try:
        sent = headers.param_headers(DESIGNATED, arguments)
    except ValueError:
        return
    headers.check_param_headers(DESIGNATED, arguments, arrived(sent))


@fuzz(name=ANY_TEXT, value=ANY_TEXT)
def test_a_header_of_the_users_own_is_checked_and_not_told(name: str, value: str) -> None:
    try:
        headers.check_header(name, value)
    except ValueError as error:
        check_hidden(value, name, str(error))
        return
    assert not {"\r", "\n", "\0"} & set(name + value)


KEYWORDS = st.sampled_from(["x-mcp-header", "properties", "type", "items", "allOf", "$defs", "default", "a", "enum"])
SCHEMA = st.recursive(
    st.sampled_from(["string", "integer", "boolean", "A", "B", "a", "", "a b", None, 1, "A\r\nB"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4),
    max_leaves=15,
).filter(lambda each: isinstance(each, dict))


@fuzz(schema=SCHEMA)
def test_marks_are_found_or_the_schema_is_refused(schema: dict[str, Any]) -> None:
    try:
        found = headers.header_parameters(schema)
    except ValueError:
        return
    assert len({name.lower() for name in found.values()}) == len(found)
    for path, name in found.items():
        headers.check_header(headers.PARAM_PREFIX + name, "x")
        node: Any = schema
        for step in path:
            node = node["properties"][step]
        assert node["x-mcp-header"] == name
