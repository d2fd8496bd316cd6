"""The parser of event streams, against one written line by line from the text of the standard.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

import re
from collections.abc import Iterable
from typing import NamedTuple, cast

from hypothesis import strategies as st

from fuzz.fuzzing import CUTS, TEXT, fuzz, pieces, shredded
from splice.errors import RemoteProtocolError
from splice.rules.http.sse import Decoder, encode_event


class Heard(NamedTuple):
    """All that a reader learns from a stream."""

    events: list[tuple[str, str, str]]
    """Type, data and last event id of each."""
    last_event_id: str
    retry: int | None


def by_the_book(stream: bytes) -> Heard:
    """Interpret a stream as the standard says, without a thought of speed or of limits.

    But for one thing: `retry` counts when its event is whole, as all the rest does.
    """
    events: list[tuple[str, str, str]] = []
    data = event_type = last_id_buffer = last_id = ""
    retry = asked = cast("int | None", None)
    text = stream.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    *lines, _ = re.split("\r\n|\n|\r", text)
    for line in lines:
        if not line:
            last_id, retry = last_id_buffer, asked
            if data:
                events.append((event_type or "message", data.removesuffix("\n"), last_id))
            data = event_type = ""
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            event_type = value
        elif field == "data":
            data += value + "\n"
        elif field == "id" and "\0" not in value:
            last_id_buffer = value
        elif field == "retry" and re.fullmatch("[0-9]+", value):
            asked = int(value)
    return Heard(events, last_id, retry)


def read(chunks: Iterable[bytes], limit: int = 100_000) -> Heard:
    decoder = Decoder(limit)
    events = [
        (each.event, each.data.decode(errors="replace"), each.id) for chunk in chunks for each in decoder.feed(chunk)
    ]
    return Heard(events, decoder.last_event_id, decoder.retry)


FIELD = st.builds(
    b"".join,
    st.tuples(
        st.sampled_from([b"data", b"event", b"id", b"retry", b"", b"Data", b" data", b"\xef\xbb\xbfdata", b"x"]),
        st.sampled_from([b":", b": ", b":  ", b"", b"::", b" :"]),
        TEXT.map(str.encode)
        | st.binary(max_size=6)
        | st.sampled_from([b"12", b"1500", b"\xd9\xa1", b"a\0b", b"\xe2\x82"]),
    ),
)
END = st.sampled_from([b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n", b"\n\r", b""])
STREAM = st.builds(
    lambda bom, parts: bom + b"".join(part for pair in parts for part in pair),
    st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb\xbf"]),
    st.lists(st.tuples(FIELD, END), max_size=12),
)


@fuzz(stream=STREAM | st.binary(max_size=60), cuts=CUTS)
def test_a_stream_is_read_as_the_standard_says_in_any_pieces(stream: bytes, cuts: list[int]) -> None:
    wanted = by_the_book(stream)
    assert read([stream]) == wanted
    assert read(pieces(stream, cuts)) == wanted
    assert read(shredded(stream)) == wanted


def read_up_to(limit: int, chunks: Iterable[bytes]) -> tuple[list[bytes], bool]:
    decoder, events = Decoder(limit), list[bytes]()
    try:
        for chunk in chunks:
            for each in decoder.feed(chunk):
                events.append(each.data)
                assert len(each.data) <= limit
            assert len(decoder._rest) <= limit + 1
    except RemoteProtocolError:
        return events, False
    return events, True


@fuzz(stream=STREAM, cuts=CUTS, limit=st.integers(0, 40))
def test_the_limit_is_met_at_the_same_place_in_any_pieces(stream: bytes, cuts: list[int], limit: int) -> None:
    whole = read_up_to(limit, [stream])
    assert read_up_to(limit, pieces(stream, cuts)) == whole
    assert read_up_to(limit, shredded(stream)) == whole


ONE_LINE = TEXT.filter(lambda text: not {"\r", "\n", "\0"} & set(text))


@fuzz(data=st.binary(max_size=40), id=st.none() | ONE_LINE)
def test_what_is_written_is_read_by_the_book(data: bytes, id: str | None) -> None:
    text = re.sub("\r\n|\r", "\n", data.decode(errors="replace"))
    assert by_the_book(encode_event(data, id=id)) == Heard(
        [("message", text.removesuffix("\n"), id or "")], id or "", None
    )
