"""Event streams: written so that every reader understands them, read by the book whatever the pieces."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.errors import RemoteProtocolError
from splice.rules.http.sse import KEEP_ALIVE, Decoder, Event, encode_event
from support.tables import rows


def events(*pieces: bytes, limit: int = 1000) -> list[Event]:
    decoder = Decoder(limit)
    return [event for piece in pieces for event in decoder.feed(piece)]


@rows(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [Event(b"a")]),
        (b"data:a\n\n", [Event(b"a")]),
        (b"data:  a \n\n", [Event(b" a ")]),
        (b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", [Event(b"a"), Event(b"b"), Event(b"c")]),
        (b"data: a\ndata\ndata: b\n\n", [Event(b"a\n\nb")]),
        (b"data\n\n", [Event(b"")]),
        (b"data:\n\n", [Event(b"")]),
        (b"data: a: b\n\n", [Event(b"a: b")]),
        (b"\n\n\n", []),
        (b"event: x\n\ndata: a\n\n", [Event(b"a")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [Event(b"a", "x"), Event(b"b")]),
        (b"event:\ndata: a\n\n", [Event(b"a")]),
        (b": comment\n:\ndata: a\n:another\n\n", [Event(b"a")]),
        (b"unknown: 1\nDATA: 2\n data: 3\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n", [Event(b"a")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [Event(b"a")]),
        (b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", [Event(b"a", id="1"), Event(b"b", id="1"), Event(b"c")]),
        (b"id: 1\ndata: a\nid: 2\x00\n\n", [Event(b"a", id="1")]),
        (b"data: never finished\n", []),
        (b"data: \xff\xc3\xa9\n\n", [Event(b"\xff\xc3\xa9")]),
    ],
)
def test_streams_are_read_by_the_book(stream: bytes, expected: list[Event]) -> None:
    assert events(stream) == expected
    assert events(*(stream[i : i + 1] for i in range(len(stream)))) == expected


def test_an_id_that_is_too_long_for_a_header_is_not_kept() -> None:
    decoder = Decoder(2**24)
    assert list(decoder.feed(b"id: 7\n\nid: " + b"8" * 1025 + b"\n\n")) == []
    assert decoder.last_event_id == "7"


def test_an_event_without_data_still_sets_the_id() -> None:
    decoder = Decoder(2**24)
    assert list(decoder.feed(b"id: 7\n\nid: 8\n")) == []
    assert decoder.last_event_id == "7"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"retry: 1500", 1500),
        (b"retry:0", 0),
        (b"retry: -1", None),
        (b"retry: 1.5", None),
        (b"retry: ", None),
        (b"retry: \xd9\xa1", None),
        (b"retry: " + b"9" * 5000, None),
    ],
)
def test_retry_is_digits(line: bytes, expected: int | None) -> None:
    decoder = Decoder(10_000)
    assert list(decoder.feed(line + b"\n\n")) == []
    assert decoder.retry == expected


def test_a_line_feed_after_a_carriage_return_belongs_to_it_even_later() -> None:
    assert events(b"data: a\r", b"\ndata: b\r", b"\r", b"\n", b"data: c\n\n") == [Event(b"a\nb"), Event(b"c")]
    assert events(b"data: a\r", b"data: b", b"\n", b"\n") == [Event(b"a\nb")]


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 200, b"data: xxxx\n" * 20, b":" + b"x" * 200, b"data\n" * 50])
def test_an_event_over_the_limit_is_refused(stream: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="limit of 100 bytes"):
        events(*(stream[i : i + 7] for i in range(0, len(stream), 7)), limit=100)


def test_the_limit_is_per_event() -> None:
    assert len(events(b"data: xxxxxxxx\n\n" * 100, limit=100)) == 100
    assert len(events(b": keep-alive\n\nid: 1\nevent: e\n\n" * 100 + b"data: a\n\n", limit=100)) == 1


def test_events_are_written_on_one_line_where_they_can_be() -> None:
    assert encode_event(b"{}") == b"data: {}\n\n"
    assert encode_event(b"a", id="1") == b"id: 1\ndata: a\n\n"


TEXT = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]))


@given(
    sent=st.lists(st.tuples(st.binary(), st.none() | TEXT, st.booleans())),
    cuts=st.lists(st.integers(0, 400)),
)
def test_what_is_written_is_read_in_any_pieces(sent: list[tuple[bytes, str | None, bool]], cuts: list[int]) -> None:
    stream, expected, last = b"", list[Event](), ""
    for data, id, comment in sent:
        stream += KEEP_ALIVE * comment + encode_event(data, id=id)
        last = last if id is None else id
        expected.append(Event(b"\n".join(data.splitlines()), id=last))
    places = [0, *sorted(cuts), len(stream)]
    pieces = [stream[start:stop] for start, stop in itertools.pairwise(places)]
    assert events(*pieces, limit=100_000) == expected


@given(st.binary(), st.lists(st.integers(0, 100)))
def test_any_bytes_read_the_same_in_any_pieces(stream: bytes, cuts: list[int]) -> None:
    stream = stream.replace(b"\x01", b"\n").replace(b"\x02", b"data:").replace(b"\x03", b"\r")
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [stream[start:stop] for start, stop in itertools.pairwise(places)]
    assert events(*pieces) == events(stream)


def test_an_event_of_just_the_limit_is_read_in_any_pieces() -> None:
    stream = b"data: " + b"x" * 94 + b"\n\n"
    assert events(stream, limit=100) == events(*(stream[i : i + 1] for i in range(len(stream))), limit=100)
