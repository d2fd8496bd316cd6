"""The door: what is not a message gets the error that fits, and nothing gets past the limits."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from splice.errors import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, InternalError, MethodNotFound, RPCError
from splice.protocol import jsonrpc
from splice.protocol.jsonrpc import (
    ENDS_BYTES,
    MAX_DEPTH,
    NULL,
    BadMessage,
    ErrorObject,
    Failure,
    Lines,
    Message,
    Notification,
    Request,
    Success,
    check_text,
    decode,
    depth,
    encode,
    error_of,
    failure,
    is_batch,
    raw,
    split_batch,
)
from support.tables import rows


def readable(message: Message) -> Message:
    """Put JSON values in the place of raw ones, to compare."""
    for name in ("params", "result"):
        if isinstance(value := getattr(message, name, None), Raw):
            setattr(message, name, msgspec.json.decode(value))
    return message


@rows(
    ("text", "message"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":[1]}}', Request(1, "a", {"b": [1]})),
        (b'{"jsonrpc":"2.0","id":"1","method":"a"}', Request("1", "a")),
        (b'{"jsonrpc":"2.0","id":"","method":"a"}', Request("", "a")),
        (b'{"jsonrpc":"2.0","id":0,"method":"a"}', Request(0, "a")),
        (b'{"jsonrpc":"2.0","id":-5,"method":"a"}', Request(-5, "a")),
        (b'{"jsonrpc":"2.0","id":18446744073709551616,"method":"a"}', Request(2**64, "a")),
        (b'{"jsonrpc":"2.0","method":"a","params":{}}', Notification("a", {})),
        (b'{"jsonrpc":"2.0","method":"a"}', Notification("a")),
        (b'{"jsonrpc":"2.0","id":1,"result":null}', Success(1, None)),
        (b'{"jsonrpc":"2.0","id":"x","result":{"a":"\\u00e9"}}', Success("x", {"a": "é"})),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"m"}}', Failure(ErrorObject(-5, "m"), 1)),
        (b'{"jsonrpc":"2.0","error":{"code":1,"message":"m","data":[]}}', Failure(ErrorObject(1, "m", []))),
    ],
)
def test_each_kind_of_message_is_read_and_written_the_same(text: bytes, message: Message) -> None:
    read = decode(text)
    assert json.loads(encode(read)) == json.loads(text)
    assert readable(read) == message
    assert json.loads(encode(message)) == json.loads(text)


def test_an_error_whose_id_is_null_has_no_id() -> None:
    assert decode(b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}') == Failure(ErrorObject(1, "m"))


@pytest.mark.parametrize(
    "text",
    [
        b' \t\r {"jsonrpc":"2.0","method":"a"} \r',
        b'{"method":"a","jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","method":"b","method":"a"}',
        b'{"jsonrpc":"2.0","method":"a","more":{"x":1e999},"_":"\\u0000"}',
    ],
)
def test_space_order_repetition_and_unknown_keys_do_not_matter(text: bytes) -> None:
    assert decode(text) == Notification("a")


@rows(
    "text",
    [
        b"",
        b" ",
        b"{",
        b'{"jsonrpc":"2.0","id":1,"method":"a"',
        b'{"jsonrpc":"2.0","id":1,"method":"a"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"a"} {}',
        b'{"jsonrpc":"2.0","id":1,"method":"a"}\x00',
        b'{"jsonrpc":"2.0","id":1,"method":"\x00"}',
        b"{'jsonrpc':'2.0','id':1,'method':'a'}",
        b'{"jsonrpc":"2.0","id":1,"method":"a",}',
        b'{"jsonrpc":"2.0","id":01,"method":"a"}',
        b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":-Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"a"} // why',
        b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\\x61"}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"a"}',
        '{"jsonrpc":"2.0","id":1,"method":"a"}'.encode("utf-16"),
        b'{"jsonrpc":"1.0", what',
        b'{"jsonrpc":"2.0","id":5,"method":7',
    ],
)
def test_what_is_not_json_is_a_parse_error_with_the_id_that_can_be_read(text: bytes) -> None:
    with pytest.raises(BadMessage) as caught:
        decode(text)
    assert caught.value.code == PARSE_ERROR
    found = re.match(rb'(?:\xef\xbb\xbf)?\{"jsonrpc":"2.0","id":([1-9]),(?!"method":"\\x61)', text)
    assert caught.value.id == (int(found[1]) if found else None)


@pytest.mark.parametrize("version", ["2.0", "1.0"])
def test_an_id_that_cannot_be_written_is_not_repeated(version: str) -> None:
    with pytest.raises(BadMessage) as caught:
        decode(b'{"jsonrpc":"%s","id":"\\ud800","method":"a"}' % version.encode())
    assert (caught.value.code, caught.value.id) == (PARSE_ERROR, None)
    assert encode(caught.value.response())


@pytest.mark.parametrize(
    "bad",
    [
        b"\xff",
        b"\x80",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82",
    ],
)
@pytest.mark.requirement(94)
def test_what_is_not_utf8_is_a_parse_error_that_tells_where(bad: bytes) -> None:
    for place in (b'{"jsonrpc":"2.0","id":1,"method":"%b"}', b'{"jsonrpc":"2.0","method":"a","params":{"x":"%b"}}'):
        with pytest.raises(BadMessage, match=f"not UTF-8 at byte {place.index(b'%b')}") as caught:
            decode(place.replace(b"%b", bad))
        assert caught.value.code == PARSE_ERROR


@rows(
    ("text", "id"),
    [
        (b"null", None),
        (b"5", None),
        (b'"x"', None),
        (b"[]", None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"a"}]', 1),
        (b"{}", None),
        (b'{"id":3,"method":"a"}', 3),
        (b'{"jsonrpc":"1.0","id":3,"method":"a"}', 3),
        (b'{"jsonrpc":2.0,"id":"3","method":"a"}', "3"),
        (b'{"jsonrpc":"2.0"}', None),
        (b'{"jsonrpc":"2.0","id":3}', 3),
        (b'{"jsonrpc":"2.0","id":3,"method":7}', 3),
        (b'{"jsonrpc":"2.0","id":3,"method":null}', 3),
        (b'{"jsonrpc":"2.0","id":3,"error":"x"}', 3),
        (b'{"jsonrpc":"2.0","id":3,"error":{"code":"1","message":"m"}}', 3),
        (b'{"jsonrpc":"2.0","id":3,"error":{"message":"m"}}', 3),
        (b'{"jsonrpc":"2.0","id":null,"method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":null,"result":1}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":{},"method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":1e999,"method":7}', None),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m","data":1e999}}', 3),
        (b'{"jsonrpc":"2.0","result":1}', None),
    ],
)
@pytest.mark.requirement(507)
def test_json_that_is_not_a_message_is_an_invalid_request_with_its_id(text: bytes, id: object) -> None:
    with pytest.raises(BadMessage) as caught:
        decode(text)
    assert caught.value.code == INVALID_REQUEST
    assert caught.value.id == id
    reply = caught.value.response()
    assert reply == Failure(ErrorObject(INVALID_REQUEST, caught.value.message), caught.value.id)
    assert ("id" in json.loads(encode(reply))) is (id is not None)


def nested(levels: int, opening: bytes = b"[", closing: bytes = b"]") -> bytes:
    """Write a notification that nests so deep in all."""
    return b'{"jsonrpc":"2.0","method":"a","params":' + opening * (levels - 1) + closing * (levels - 1) + b"}"


def test_depth_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(decode(nested(MAX_DEPTH)), Notification)
    with pytest.raises(BadMessage, match="nested deeper than 128 levels") as caught:
        decode(nested(MAX_DEPTH + 1))
    assert caught.value.code == PARSE_ERROR
    monkeypatch.setattr(jsonrpc, "MAX_DEPTH", 2)
    with pytest.raises(BadMessage, match="nested deeper than 2 levels"):
        decode(nested(3, b'{"a":', b"1}"))


@pytest.mark.parametrize("method", [b'"a"', b"7"])
def test_a_limit_beyond_what_the_parser_can_do_is_a_parse_error(method: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrpc, "MAX_DEPTH", 1_000_000)
    text = nested(200_000).replace(b'"a"', method)
    with pytest.raises(BadMessage) as caught:
        decode(text)
    assert caught.value.code == PARSE_ERROR


def test_brackets_in_text_are_no_depth() -> None:
    text = b'{"jsonrpc":"2.0","method":"a","params":{"x":"' + b"[{" * 500 + b'\\"[' * 500 + b'\\\\"}}'
    assert isinstance(decode(text), Notification)


def reference_depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(reference_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(reference_depth, value), default=0)
    return 0


TRICKY = st.text(alphabet='"\\[]{}x\n\u00e9', max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TRICKY,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TRICKY, inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_depth_agrees_with_a_parser(value: object, indent: int | None, ascii_only: bool) -> None:
    assert depth(json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()) == reference_depth(value)


@given(JSON, st.integers(0, 6))
def test_check_text_refuses_exactly_what_is_too_deep(value: object, limit: int) -> None:
    text = json.dumps(value).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonrpc, "MAX_DEPTH", limit)
        if reference_depth(value) <= limit:
            check_text(text)
        else:
            with pytest.raises(BadMessage):
                check_text(text)


SMALL_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
IDS = st.integers(-(2**63), 2**64) | st.text(max_size=8)
ERRORS = st.builds(ErrorObject, st.integers(-(2**31), 2**31), st.text(max_size=8), st.none() | SMALL_JSON)
MESSAGES = (
    st.builds(Request, IDS, st.text(max_size=8), st.none() | SMALL_JSON)
    | st.builds(Notification, st.text(max_size=8), st.none() | SMALL_JSON)
    | st.builds(Success, IDS, SMALL_JSON)
    | st.builds(Failure, ERRORS, st.none() | IDS)
)


@given(MESSAGES)
@pytest.mark.requirement(100)
def test_what_is_written_is_read_back(message: Message) -> None:
    text = encode(message)
    assert b"\n" not in text
    read = decode(text)
    assert encode(read) == text
    assert type(read) is type(message)


@given(st.binary(max_size=40) | st.text(alphabet='{}[]":,0123jsonrpcid. \\u', max_size=60).map(str.encode))
def test_garbage_raises_nothing_but_bad_message(data: bytes) -> None:
    try:
        decode(data)
    except BadMessage as error:
        encode(error.response())


@settings(max_examples=300)
@given(MESSAGES, st.data())
def test_a_damaged_message_raises_nothing_but_bad_message(message: Message, data: st.DataObject) -> None:
    text = bytearray(encode(message))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] = data.draw(st.integers(0, 255))
    try:
        again = encode(decode(bytes(text)))
    except BadMessage:
        return
    assert encode(decode(again)) == again


def test_a_limit_that_is_too_generous_for_the_decoder_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrpc, "MAX_DEPTH", 1_000_000)
    with pytest.raises(BadMessage, match="Parse error: maximum recursion depth") as caught:
        decode(nested(100_000))
    assert caught.value.code == PARSE_ERROR


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":null}', Request(1, "a")),
        (b'{"jsonrpc":"2.0","method":"a","params": null }', Notification("a")),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","result":null,"error":null}', Request(1, "a")),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m","data":null}}', Failure(ErrorObject(1, "m"))),
        (b'{"jsonrpc":"2.0","id":1,"method":null,"error":{"code":1,"message":"m"}}', Failure(ErrorObject(1, "m"), 1)),
    ],
)
def test_an_explicit_null_reads_as_absent(text: bytes, message: Message) -> None:
    assert decode(text) == message


def test_null_is_a_result_like_any_other() -> None:
    for more in (b"", b',"error":null', b',"method":null'):
        read = decode(b'{"jsonrpc":"2.0","id":1,"result":null%b}' % more)
        assert isinstance(read, Success)
        assert read.result == NULL


def test_failures_carry_code_message_and_data() -> None:
    assert failure(1, MethodNotFound("no such method")) == Failure(ErrorObject(-32601, "no such method"), 1)
    assert failure(None, InternalError("x", {"a": 1})) == Failure(ErrorObject(INTERNAL_ERROR, "x", {"a": 1}))
    assert failure("i", RPCError("x", 0, code=7)) == Failure(ErrorObject(7, "x", 0), "i")


def test_an_error_response_becomes_an_exception() -> None:
    error = error_of(Failure(ErrorObject(-32601, "no such method", [1]), 5))
    assert isinstance(error, MethodNotFound)
    assert (error.message, error.data) == ("no such method", [1])


def test_raw_is_sent_as_it_is() -> None:
    assert encode(Success(1, raw({"a": [1, None]}))) == b'{"jsonrpc":"2.0","id":1,"result":{"a":[1,null]}}'
    assert encode([Notification("a")]) == b'[{"jsonrpc":"2.0","method":"a"}]'


@pytest.mark.parametrize(
    ("text", "batch"), [(b"[]", True), (b" \t\n[1]", True), (b"{}", False), (b'"["', False), (b"", False)]
)
def test_a_batch_is_an_array(text: bytes, batch: bool) -> None:
    assert is_batch(text) is batch


def test_a_batch_is_cut_into_its_messages() -> None:
    assert split_batch(b' [{"a": [1, 2]} , 5,"x]"]\n') == [b'{"a": [1, 2]}', b"5", b'"x]"']


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"[]", INVALID_REQUEST),
        (b"[1", PARSE_ERROR),
        (b"[1] x", PARSE_ERROR),
        (b"{}", PARSE_ERROR),
        (b'["\xff"]', PARSE_ERROR),
        (b"[" * 129 + b"]" * 129, PARSE_ERROR),
    ],
)
def test_what_is_no_batch_is_refused(text: bytes, code: int) -> None:
    with pytest.raises(BadMessage) as caught:
        split_batch(text)
    assert caught.value.code == code


@given(st.lists(SMALL_JSON, min_size=1, max_size=5))
def test_a_batch_keeps_every_item(items: list[Any]) -> None:
    assert [json.loads(item) for item in split_batch(json.dumps(items).encode())] == items


def fed(lines: Lines, *chunks: bytes) -> list[bytes | str]:
    """Feed chunks; keep lines, and the messages of errors."""
    return [
        line if isinstance(line, bytes) else f"{line.code} {line.message}"
        for chunk in chunks
        for line in lines.feed(chunk)
    ]


def test_lines_come_out_whole_and_without_their_end() -> None:
    lines = Lines()
    assert fed(lines, b'{"a"') == []
    assert fed(lines, b":1}\n[") == [b'{"a":1}']
    assert fed(lines, b"", b"]\n1\n2\n3") == [b"[]", b"1", b"2"]
    assert fed(lines, b"\n") == [b"3"]


def test_empty_lines_do_not_count() -> None:
    assert fed(Lines(), b"\n\r\n \t\n", b"a\r\n") == [b"a\r"]


def test_a_line_too_long_is_reported_and_the_next_one_counts() -> None:
    lines = Lines(5)
    told = "-32600 Invalid request: a message of 8 bytes is over the limit of 5"
    assert fed(lines, b"12345\n12345678\n123\n") == [b"12345", told, b"123"]
    assert fed(lines, b"1234", b"56", b"78", b"\n1", b"\n") == [told, b"1"]
    assert fed(lines, b"      78\n") == [told]


def test_a_line_too_long_is_not_kept() -> None:
    lines = Lines(10)
    for _ in range(1000):
        assert fed(lines, b"x" * 10) == []
        assert len(lines._held) <= 2 * ENDS_BYTES


@given(st.lists(st.binary(max_size=12)), st.data(), st.integers(0, 10))
def test_any_chunking_gives_the_same_lines(parts: list[bytes], data: st.DataObject, limit: int) -> None:
    stream = b"\n".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert fed(Lines(limit), *chunks) == fed(Lines(limit), stream)
    expected = [part for part in stream.split(b"\n")[:-1] if len(part) <= limit and part.strip(b" \t\n\r\x0b\x0c")]
    assert [line for line in fed(Lines(limit), *chunks) if isinstance(line, bytes)] == expected
