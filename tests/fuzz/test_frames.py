"""The frame decoder: any bytes in any pieces become the same messages or refusals, and nothing else."""

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from hypothesis import strategies as st

from fuzz.fuzzing import CUTS, JSON, TEXT, VALUE, fuzz, pieces, shredded
from splice.protocol.jsonrpc import BadMessage, Lines, Message, Request, decode, encode, is_batch, split_batch

Outcome: TypeAlias = tuple[str, Any]

IDS: st.SearchStrategy[Any] = st.integers() | TEXT | st.sampled_from([None, True, 1.0, 1.5, 1e20, "1", [], {}, 2**70])
NAMES = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "Method", "code", "message", ""])
ENVELOPES = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0", 2.0, None])},
    optional={
        "id": IDS,
        "method": TEXT | st.sampled_from(["ping", None, 1]),
        "params": VALUE,
        "result": VALUE,
        "error": VALUE | st.fixed_dictionaries({"code": st.integers(), "message": TEXT}, optional={"data": VALUE}),
    },
)
ODD = [
    *(b"\xef\xbb\xbf{}", b"NaN", b'"\\ud800"', b"\xff", b"\xed\xa0\x80", b"\0", b"1e400", b"-0", b"[" * 200),
    *(b'{"a":' * 140, b"\xe2\x80\xa8", b"\r", b"}", b'"', b"\\", b'"id":7,', b'{"jsonrpc":"2.0","id":1,"result":NaN}'),
    *(
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}',
        b"[" * 100 + b"]" * 100,
        b"9" * 5000,
        b" \t",
        b'{"id":"\\u0000"',
    ),
]


def texts(value: JSON) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    """Write something like a message, with a few places changed."""
    text = texts(draw(ENVELOPES | st.dictionaries(NAMES, VALUE, max_size=5) | st.lists(ENVELOPES, max_size=3)))
    for _ in range(draw(st.integers(0, 3))):
        place, length = draw(st.integers(0, len(text))), draw(st.integers(0, 6))
        text = text[:place] + draw(st.sampled_from(ODD) | st.binary(max_size=4)) + text[place + length :]
    return text


LINE = st.one_of(mangled(), ENVELOPES.map(texts), st.sampled_from(ODD), st.binary(max_size=30))
REPAIRED = st.sampled_from([None, lambda _: None])
"""A server's way to read, and a client's, which puts some responses right."""


def outcome(line: bytes | BadMessage) -> Outcome:
    """Read a line as the channel of lines does."""
    try:
        if isinstance(line, BadMessage):
            raise line
        if is_batch(line):
            return "batch", split_batch(line)
        return "message", decode(line)
    except BadMessage as bad:
        encode(bad.response()).decode()
        return "bad", (bad.code, bad.id, bad.answers, bad.message)


def outcomes(limit: int, chunks: Iterable[bytes]) -> list[Outcome]:
    lines = Lines(limit)
    return [outcome(line) for chunk in chunks for line in lines.feed(chunk)]


@fuzz(parts=st.lists(LINE, max_size=6), cuts=CUTS, limit=st.sampled_from([0, 10, 100, 10_000]))
def test_any_pieces_give_the_same_messages(parts: list[bytes], cuts: list[int], limit: int) -> None:
    stream = b"\n".join(parts)
    whole = outcomes(limit, [stream])
    assert outcomes(limit, pieces(stream, cuts)) == whole
    assert outcomes(limit, shredded(stream)) == whole


@fuzz(text=LINE, remark=REPAIRED)
def test_a_text_is_a_message_or_a_bad_message_and_stays_it(text: bytes, remark: Any) -> None:
    try:
        message: Message = decode(text, remark=remark)
    except BadMessage as bad:
        reply = json.loads(encode(bad.response()))
        assert reply["error"]["code"] in (-32700, -32600)
        assert type(reply.get("id")) in (int, str, type(None))
        return
    written = encode(message)
    again = decode(written)
    assert encode(again) == written
    json.loads(written.decode())
    if remark is None:
        assert again == message


@fuzz(text=LINE)
def test_the_decoder_refuses_what_the_standard_library_refuses(text: bytes) -> None:
    try:
        decode(text)
    except BadMessage:
        return
    json.loads(text.decode(), parse_constant=refused)


def refused(constant: str) -> None:
    raise ValueError(constant)


@fuzz(garbage=st.lists(LINE, max_size=4), limit=st.sampled_from([60, 1000]), cuts=CUTS)
def test_after_garbage_the_next_line_works(garbage: list[bytes], limit: int, cuts: list[int]) -> None:
    good = b'{"jsonrpc":"2.0","id":"good","method":"ping"}'
    stream = b"\n".join([*garbage, good, b""])
    assert outcomes(limit, pieces(stream, cuts))[-1] == ("message", Request("good", "ping"))


@fuzz(text=LINE)
def test_a_batch_is_cut_into_texts_or_refused(text: bytes) -> None:
    try:
        items = split_batch(text)
    except BadMessage:
        return
    assert [json.loads(item, parse_int=str) for item in items] == json.loads(text, parse_int=str)
