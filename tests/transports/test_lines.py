"""A channel of lines: bad input, batches, what leaves together, and back-pressure."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import Lines, Notification, Response, Success
from splice.transports.base import Outgoing
from splice.transports.channel import ChannelExchange
from splice.transports.lines import GATHER_BYTES, Gather
from support.peers import LinePeer
from support.tables import rows
from support.waiting import settle
from support.wire import JSON, answer, ask, cancel, code_of, line, modern, note

GOOD = ask(99, "echo", {"good": True})


DEEP = b'{"jsonrpc":"2.0","id":5,"method":"echo","params":' + b"[" * 500 + b"]" * 500 + b"}\n"

BAD_LINES: dict[str, tuple[bytes, int, JSON]] = {
    "not json": (b"hello world\n", -32700, None),
    "half an object": (b'{"jsonrpc":"2.0","id":5\n', -32700, None),
    "two objects": (b'{"jsonrpc":"2.0","id":5,"method":"echo"}{}\n', -32700, 5),
    "invalid utf-8": (b'{"jsonrpc":"2.0","id":5,"method":"\xff\xfe"}\n', -32700, 5),
    "overlong utf-8": (b'{"jsonrpc":"2.0","id":5,"method":"\xc0\xaf"}\n', -32700, 5),
    "a lone surrogate, escaped": (b'{"jsonrpc":"2.0","id":5,"method":"\\ud800"}\n', -32700, 5),
    "a lone surrogate, encoded": (b'{"jsonrpc":"2.0","id":5,"method":"\xed\xa0\x80"}\n', -32700, 5),
    "a lone surrogate as id": (b'{"jsonrpc":"2.0","id":"\\ud800","method":"echo"}\n', -32700, None),
    "a nul byte": (b'{"jsonrpc":"2.0","id":5,"method":"a\x00b"}\n', -32700, 5),
    "only nul bytes": (b"\x00\x00\x00\n", -32700, None),
    "a byte order mark": (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":5,"method":"echo"}\n', -32700, 5),
    "not a number": (b'{"jsonrpc":"2.0","id":5,"method":"echo","params":{"x":NaN}}\n', -32700, 5),
    "too deep": (DEEP, -32700, 5),
    "brackets without end": (b"[" * 100_000 + b"\n", -32600, None),
    "a null id": (b'{"jsonrpc":"2.0","id":null,"method":"echo"}\n', -32600, None),
    "a boolean id": (b'{"jsonrpc":"2.0","id":true,"method":"echo"}\n', -32600, None),
    "a fractional id": (b'{"jsonrpc":"2.0","id":1.5,"method":"echo"}\n', -32600, None),
    "an object as id": (b'{"jsonrpc":"2.0","id":{},"method":"echo"}\n', -32600, None),
    "no version": (b'{"id":5,"method":"echo"}\n', -32600, 5),
    "another version": (b'{"jsonrpc":"1.0","id":"five","method":"echo"}\n', -32600, "five"),
    "neither method nor result": (b'{"jsonrpc":"2.0","id":5}\n', -32600, 5),
    "a number": (b"42\n", -32600, None),
    "a text": (b'"echo"\n', -32600, None),
    "null": (b"null\n", -32600, None),
    "an empty batch": (b"[]\n", -32600, None),
    "a batch": (line([GOOD]), -32600, 99),
    "keys in capitals": (b'{"JSONRPC":"2.0","ID":5,"METHOD":"echo"}\n', -32600, None),
}


@rows("name", BAD_LINES)
async def test_a_bad_line_gets_one_error_and_the_next_message_works(name: str) -> None:
    bad, code, id = BAD_LINES[name]
    peer = LinePeer()
    await peer.say(bad, GOOD)
    error, good = peer.heard
    assert code_of(error) == code
    assert error.get("id") == id
    assert good == answer(99, {"good": True})


@pytest.mark.parametrize("junk", [b"\n", b"   \n", b"\r\n", b"\t\n\n\n"])
async def test_empty_lines_are_nothing(junk: bytes) -> None:
    peer = LinePeer()
    await peer.say(junk, GOOD, junk, GOOD | {"id": 100}, junk)
    assert [message["id"] for message in peer.heard] == [99, 100]


async def test_a_line_may_end_in_carriage_return() -> None:
    peer = LinePeer()
    await peer.say(json.dumps(GOOD).encode() + b"\r\n")
    assert peer.heard == [answer(99, {"good": True})]


async def test_a_line_over_the_limit_is_refused_unseen_and_the_next_one_works() -> None:
    peer = LinePeer()
    peer.channel.lines = Lines(1000)
    for _ in range(50):
        peer.channel.feed(b"x" * 100)
    await peer.say(b"\n", GOOD)
    error, good = peer.heard
    assert code_of(error) == -32600
    assert "5000 bytes" in error["error"]["message"]
    assert good["id"] == 99


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_how_bytes_are_cut_makes_no_difference(size: int) -> None:
    peer = LinePeer()
    data = line(ask(1, "echo", {"text": "\u2028 \U0001f600 é"}), b"junk\n", ask(2, "echo", {}))
    for start in range(0, len(data), size):
        peer.channel.feed(data[start : start + size])
    await settle()
    first, junk, second = sorted(peer.heard, key=lambda message: str(message.get("id", "1.5")))
    assert first == answer(1, {"text": "\u2028 \U0001f600 é"})
    assert code_of(junk) == -32700
    assert second == answer(2, {})


async def test_ids_keep_their_type_and_value() -> None:
    peer = LinePeer()
    ids = [0, -1, 1, "1", "", 2**63, 2**70, "\U0001f600"]
    await peer.say(*(ask(id, "echo", {}) for id in ids))
    assert [message["id"] for message in peer.heard] == ids


def batched(**options: Any) -> LinePeer:
    peer = LinePeer(**options)
    peer.channel.batches = lambda: True
    return peer


async def test_a_batch_is_answered_with_an_array_where_the_version_has_them() -> None:
    peer = batched()
    batch = [
        ask(1, "echo", {}),
        note("hello"),
        {"jsonrpc": "2.0", "id": 3},
        modern(4, "echo"),
        ask(5, "initialize", {}),
        ask(2, "work", {}),
        ask(2, "echo", {}),
    ]
    await peer.say(batch, GOOD)
    assert [message["id"] for message in peer.heard] == [99]
    peer.work[2].set_result({})
    await settle()
    _, answers = peer.heard
    assert [(each["id"], code_of(each)) for each in answers if each["id"] in (1, 3, 4, 5)] == [
        (3, -32600),
        (4, -32600),
        (5, -32600),
        (1, None),
    ]
    assert sorted("error" in each for each in answers if each["id"] == 2) == [False, True]
    assert [each.method for each in peer.noted] == ["hello"]


@pytest.mark.requirement(25)
async def test_what_wants_no_answer_gets_no_array() -> None:
    peer = batched()
    await peer.say([note("hello"), answer(1, {})], [ask(1, "work", {})], cancel(1))
    assert peer.writes == []


async def test_requests_of_a_batch_are_cancelled_one_by_one() -> None:
    peer = batched()
    await peer.say([ask(1, "work", {}), ask(2, "work", {})])
    await peer.say(cancel(1))
    assert (peer.cancelled, peer.writes) == ([1], [])
    peer.work[2].set_result({})
    await settle()
    assert [[each["id"] for each in array] for array in peer.heard] == [[2]]


async def test_a_batch_is_answered_before_the_end() -> None:
    peer = batched()
    await peer.say([ask(1, "work", {}), ask(2, "work", {})])
    ending = asyncio.ensure_future(peer.channel.drain(5))
    peer.work[1].set_result({})
    peer.work[2].set_result({})
    await ending
    peer.channel.gather.flush()
    assert [[each["id"] for each in array] for array in peer.heard] == [[1, 2]]
    await peer.say([ask(3, "echo", {})])
    assert [each["error"]["code"] for each in peer.heard[1]] == [-32600]


async def test_a_batch_that_the_end_overtakes_is_not_answered() -> None:
    peer = batched()
    await peer.say([ask(1, "work", {}), {}])
    await peer.channel.lost(ConnectionClosed("gone"))
    await settle()
    assert (peer.cancelled, peer.writes) == ([1], [])


@pytest.mark.parametrize(
    "batch",
    [b"[" + b"1," * 100 + b"1]\n", b"[]\n", b"[1,\n", b"[[]]\n", b'[{"jsonrpc":"2.0","method":"\xff"}]\n'],
)
async def test_a_bad_batch_gets_one_error(batch: bytes) -> None:
    peer = batched()
    await peer.say(batch, GOOD)
    assert sorted(message.get("id") or 0 for message in peer.flat()) == [0, 99]
    assert {code_of(message) for message in peer.flat()} in ({None, -32700}, {None, -32600})


def pieces() -> st.SearchStrategy[bytes]:
    """Make lines of every sort: noise, JSON, and messages with a part missing or replaced."""
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    )
    members = {
        "jsonrpc": st.just("2.0") | values,
        "id": st.integers(0, 3) | values,
        "method": st.sampled_from(["echo", "work", "notifications/cancelled", "notifications/progress"]) | values,
        "params": st.fixed_dictionaries({"requestId": st.integers(0, 3), "progressToken": st.integers(0, 3)}) | values,
        "result": values,
        "error": values,
    }
    messages = st.fixed_dictionaries({}, optional=members)
    texts = st.one_of(messages, values, st.lists(messages, max_size=3)).map(lambda value: json.dumps(value).encode())
    broken = st.tuples(texts, st.integers(0, 40), st.binary(max_size=3)).map(
        lambda each: each[0][: each[1]] + each[2] + each[0][each[1] :]
    )
    return st.one_of(texts, broken, st.binary(max_size=20)).map(lambda data: data.replace(b"\n", b" "))


@given(st.lists(pieces(), max_size=12), st.booleans())
@settings(max_examples=60)
def test_whatever_comes_the_next_good_message_works(junk: list[bytes], batches: bool) -> None:
    async def feed() -> None:
        peer = LinePeer()
        peer.channel.batches = lambda: batches
        await peer.say(b"\n".join(junk) + b"\n", ask("the good one", "echo", {"good": True}))
        assert answer("the good one", {"good": True}) in peer.heard
        for message in peer.flat():
            assert message["jsonrpc"] == "2.0"
            assert ("result" in message) != ("error" in message)
        await peer.channel.lost(ConnectionClosed("done"))

    asyncio.run(feed())


# What leaves.


@pytest.mark.parametrize("result", [object, "\ud800", {(1, 2): 3}], ids=repr)
async def test_a_result_that_is_not_json_becomes_an_error(result: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def serve(exchange: ChannelExchange) -> Response:
        return Success(exchange.request.id, result)

    peer = LinePeer(serve)
    await peer.say(ask(1, "work"))
    (error,) = peer.heard
    assert error["id"] == 1
    assert code_of(error) == -32603
    assert "cannot be written as JSON" in caplog.text


async def test_a_result_that_contains_itself_becomes_an_error() -> None:
    loop: list[Any] = []
    loop.append(loop)

    async def serve(exchange: ChannelExchange) -> Response:
        return Success(exchange.request.id, loop)

    peer = LinePeer(serve)
    await peer.say(ask(1, "work"), GOOD)
    assert code_of(peer.heard[0]) == -32603


async def test_what_is_said_in_one_turn_leaves_in_one_write() -> None:
    peer = LinePeer()
    peer.channel.send(Notification("a"))
    peer.channel.send(Notification("b"))
    await peer.say(*(ask(id, "echo", {}) for id in range(10)), b"junk\n")
    assert len(peer.heard) == 13
    assert len(peer.writes) <= 2


async def test_the_answer_to_the_only_request_leaves_with_what_was_said_before_it() -> None:
    async def serve(exchange: ChannelExchange) -> Response:
        await exchange.notify(Notification("first"))
        return Success(exchange.request.id, "second")

    peer = LinePeer(serve)
    await peer.say(ask(1, "work"))
    assert len(peer.writes) == 1
    assert peer.heard == [note("first"), answer(1, "second")]


async def test_a_request_that_nothing_can_join_leaves_at_once() -> None:
    async def hear(_: Notification) -> None:
        raise AssertionError

    peer = LinePeer()
    tasks = [asyncio.create_task(peer.channel.request(Outgoing(id, "ask", None, hear))) for id in (1, 2, 3)]
    await asyncio.sleep(0)
    assert peer.heard == [ask(1, "ask")]
    await settle()
    assert len(peer.writes) == 2
    await peer.say(*(answer(id, {}) for id in (1, 2, 3)))
    await asyncio.gather(*tasks)


def test_gathering_stops_where_only_a_write_can_tell_that_the_peer_does_not_read() -> None:
    async def main() -> None:
        written: list[bytes] = []
        gather = Gather(written.append)
        gather.put(b"a" * GATHER_BYTES)
        assert written == []
        gather.put(b"b")
        assert [len(data) for data in written] == [GATHER_BYTES + 1]
        gather.put(b"c")
        gather.put(b"d")
        assert written[1:] == []
        await settle()
        assert written[1:] == [b"cd"]
        gather.put(b"e")
        gather.put(b"f", last=True)
        assert written[2:] == [b"ef"]

    asyncio.run(main())
