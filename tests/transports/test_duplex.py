"""One line channel in both directions: bad input, back-pressure, and the end."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from splice.errors import ConnectionClosed, InternalError
from splice.protocol.jsonrpc import BadMessage, Failure, Notification, Request, Response, Success, failure
from splice.transports import duplex as duplex_module
from splice.transports.base import Sender, no_notice
from splice.transports.duplex import Duplex, DuplexExchange
from support.waiting import settle, until
from support.wire import JSON, answer, ask, cancel, code_of, line, lines, note

GOOD = ask(99, "echo", {"good": True})


class Peer:
    """The far end of a duplex, by hand: `say` sends it lines, `heard` is what it wrote."""

    def __init__(
        self,
        serve: Callable[[DuplexExchange], Awaitable[Response]] | None = None,
        **options: Any,
    ) -> None:
        self.written = b""
        self.writes = 0
        self.noted: list[Notification] = []
        self.work: dict[JSON, asyncio.Future[JSON]] = {}
        self.cancelled: list[JSON] = []
        self.exchanges: dict[JSON, DuplexExchange] = {}
        self._serve = serve
        self.duplex = Duplex(self._write, self._answer, self._hear, sender=Sender(kind="stdio"), **options)

    def _write(self, data: bytes) -> None:
        self.written += data
        self.writes += 1

    async def _hear(self, note: Notification) -> None:
        self.noted.append(note)

    async def _answer(self, exchange: DuplexExchange) -> Response:
        request = exchange.request
        self.exchanges[request.id] = exchange
        if self._serve is not None:
            return await self._serve(exchange)
        if request.method == "echo":
            return Success(request.id, request.params)
        self.work[request.id] = asyncio.get_running_loop().create_future()
        try:
            return Success(request.id, await self.work[request.id])
        except asyncio.CancelledError:
            self.cancelled.append(request.id)
            raise

    @property
    def heard(self) -> list[JSON]:
        return lines(self.written)

    async def say(self, *messages: JSON) -> None:
        self.duplex.feed(line(*messages))
        await settle()


DEEP = b'{"jsonrpc":"2.0","id":5,"method":"echo","params":' + b"[" * 500 + b"]" * 500 + b"}\n"

BAD_LINES: dict[str, tuple[bytes, int, JSON]] = {
    "not json": (b"hello world\n", -32700, None),
    "half an object": (b'{"jsonrpc":"2.0","id":5\n', -32700, None),
    "two objects": (b'{"jsonrpc":"2.0","id":5,"method":"echo"}{}\n', -32700, None),
    "invalid utf-8": (b'{"jsonrpc":"2.0","id":5,"method":"\xff\xfe"}\n', -32700, None),
    "overlong utf-8": (b'{"jsonrpc":"2.0","id":5,"method":"\xc0\xaf"}\n', -32700, None),
    "a lone surrogate, escaped": (b'{"jsonrpc":"2.0","id":5,"method":"\\ud800"}\n', -32700, None),
    "a lone surrogate, encoded": (b'{"jsonrpc":"2.0","id":5,"method":"\xed\xa0\x80"}\n', -32700, None),
    "a nul byte": (b'{"jsonrpc":"2.0","id":5,"method":"a\x00b"}\n', -32700, None),
    "only nul bytes": (b"\x00\x00\x00\n", -32700, None),
    "a byte order mark": (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":5,"method":"echo"}\n', -32700, None),
    "not a number": (b'{"jsonrpc":"2.0","id":5,"method":"echo","params":{"x":NaN}}\n', -32700, None),
    "too deep": (DEEP, -32700, None),
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
    "a batch": (line([GOOD]), -32600, None),
    "keys in capitals": (b'{"JSONRPC":"2.0","ID":5,"METHOD":"echo"}\n', -32600, None),
}


@pytest.mark.parametrize("name", BAD_LINES)
async def test_a_bad_line_gets_one_error_and_the_next_message_works(name: str) -> None:
    bad, code, id = BAD_LINES[name]
    peer = Peer()
    await peer.say(bad, GOOD)
    error, good = peer.heard
    assert code_of(error) == code
    assert error.get("id") == id
    assert good == answer(99, {"good": True})


@pytest.mark.parametrize("junk", [b"\n", b"   \n", b"\r\n", b"\t\n\n\n"])
async def test_empty_lines_are_nothing(junk: bytes) -> None:
    peer = Peer()
    await peer.say(junk, GOOD, junk, GOOD | {"id": 100}, junk)
    assert [message["id"] for message in peer.heard] == [99, 100]


async def test_a_line_may_end_in_carriage_return() -> None:
    peer = Peer()
    await peer.say(json.dumps(GOOD).encode() + b"\r\n")
    assert peer.heard == [answer(99, {"good": True})]


async def test_a_line_over_the_limit_is_refused_unseen_and_the_next_one_works() -> None:
    peer = Peer(max_bytes=1000)
    for _ in range(50):
        peer.duplex.feed(b"x" * 100)
    await peer.say(b"\n", GOOD)
    error, good = peer.heard
    assert code_of(error) == -32600
    assert "5000 bytes" in error["error"]["message"]
    assert good["id"] == 99


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_how_bytes_are_cut_makes_no_difference(size: int) -> None:
    peer = Peer()
    data = line(ask(1, "echo", {"text": "\u2028 \U0001f600 é"}), b"junk\n", ask(2, "echo", {}))
    for start in range(0, len(data), size):
        peer.duplex.feed(data[start : start + size])
    await settle()
    first, junk, second = sorted(peer.heard, key=lambda message: str(message.get("id", "1.5")))
    assert first == answer(1, {"text": "\u2028 \U0001f600 é"})
    assert code_of(junk) == -32700
    assert second == answer(2, {})


async def test_strays_can_be_told_to_somebody_instead() -> None:
    strays: list[BadMessage] = []
    peer = Peer(stray=strays.append)
    await peer.say(b"INFO: starting\n", GOOD)
    assert [message["id"] for message in peer.heard] == [99]
    assert len(strays) == 1


async def test_ids_keep_their_type_and_value() -> None:
    peer = Peer()
    ids = [0, -1, 1, "1", "", 2**63, 2**70, "\U0001f600"]
    await peer.say(*(ask(id, "echo", {}) for id in ids))
    assert [message["id"] for message in peer.heard] == ids


async def test_an_id_in_flight_is_refused_and_the_first_request_goes_on() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"), ask(1, "work"), ask("1", "echo", {}))
    assert [(message["id"], code_of(message)) for message in peer.heard] == [(1, -32600), ("1", None)]
    peer.work[1].set_result({"done": 1})
    await settle()
    assert peer.heard[2] == answer(1, {"done": 1})


async def test_a_batch_is_taken_where_the_version_has_them() -> None:
    peer = Peer(batches=lambda: True)
    await peer.say([ask(1, "echo", {}), note("hello"), {"jsonrpc": "2.0", "id": 3}, ask(2, "echo", {})])
    assert sorted((message["id"], code_of(message)) for message in peer.heard) == [(1, None), (2, None), (3, -32600)]
    assert [each.method for each in peer.noted] == ["hello"]


@pytest.mark.parametrize("batch", [b"[]\n", b"[1,\n", b"[[]]\n", b'[{"jsonrpc":"2.0","id":1,"method":"\xff"}]\n'])
async def test_a_bad_batch_gets_one_error(batch: bytes) -> None:
    peer = Peer(batches=lambda: True)
    await peer.say(batch, GOOD)
    assert [message.get("id") for message in peer.heard] == [None, 99]
    assert code_of(peer.heard[0]) in (-32700, -32600)


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
@settings(max_examples=150, deadline=None)
def test_whatever_comes_the_next_good_message_works(junk: list[bytes], batches: bool) -> None:
    async def feed() -> None:
        peer = Peer(batches=lambda: batches)
        await peer.say(b"\n".join(junk) + b"\n", ask("the good one", "echo", {"good": True}))
        assert answer("the good one", {"good": True}) in peer.heard
        for message in peer.heard:
            assert message["jsonrpc"] == "2.0"
            assert ("result" in message) != ("error" in message)
        await peer.duplex.lost(ConnectionClosed("done"))

    asyncio.run(feed())


# Cancellation and progress.


async def test_a_cancelled_request_is_stopped_and_never_answered() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"))
    await peer.say(cancel(1), cancel(1), GOOD)
    assert peer.cancelled == [1]
    assert [message["id"] for message in peer.heard] == [99]
    await peer.exchanges[1].notify(Notification("late"))
    await settle()
    assert len(peer.heard) == 1


async def test_a_request_cancelled_before_it_began_never_begins() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"), cancel(1), GOOD)
    assert peer.work == {}
    assert [message["id"] for message in peer.heard] == [99]


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        [],
        "x",
        {"requestId": None},
        {"requestId": 1.5},
        {"requestId": 7},
        {"requestId": "1"},
        {"reason": "why"},
    ],
)
async def test_a_cancellation_that_names_nothing_is_ignored(params: JSON) -> None:
    peer = Peer()
    await peer.say(ask(1, "work"), note("notifications/cancelled", params), GOOD)
    assert peer.cancelled == []
    assert [message["id"] for message in peer.heard] == [99]
    peer.work[1].set_result(1)
    await settle()
    assert peer.heard[1] == answer(1, 1)


async def test_a_stubborn_cancelled_request_does_not_answer_for_the_next_one_with_its_id() -> None:
    """The handler swallows its cancellation while the client reuses the id, as it may."""
    gate = asyncio.Event()

    async def serve(exchange: DuplexExchange) -> Response:
        if exchange.request.method == "echo":
            return Success(exchange.request.id, "the answer to the second request")
        try:
            await gate.wait()
        except asyncio.CancelledError:
            await gate.wait()
        await exchange.notify(Notification("from the first request"))
        return Success(exchange.request.id, "the answer to the first request")

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    await peer.say(cancel(1))
    slow_second = asyncio.get_running_loop().create_future()

    async def second(exchange: DuplexExchange) -> Response:
        return Success(exchange.request.id, await slow_second)

    peer._serve = second
    await peer.say(ask(1, "work"))
    gate.set()
    await settle()
    assert peer.heard == []
    slow_second.set_result("second")
    await settle()
    assert peer.heard == [answer(1, "second")]


async def test_progress_reaches_its_request_and_only_grows() -> None:
    peer = Peer()
    heard: list[float] = []

    async def hear(note: Notification) -> None:
        heard.append(json.loads(bytes(note.params))["progress"])

    waiting = asyncio.create_task(peer.duplex.request(Request(5, "ask", {}), hear))
    await settle()
    for value in (1, 3, 2, 3, 4):
        await peer.say(note("notifications/progress", {"progressToken": 5, "progress": value}))
    await peer.say(note("notifications/progress", {"progressToken": "5", "progress": 9}))
    await peer.say(note("notifications/progress", {"progress": 9}), note("notifications/progress"))
    await peer.say(answer(5, {}), note("notifications/progress", {"progressToken": 5, "progress": 10}))
    assert isinstance(await waiting, Success)
    assert heard == [1, 3, 4]


async def test_a_callback_that_fails_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    peer = Peer()

    async def fail(_: Notification) -> None:
        raise RuntimeError("callback")

    waiting = asyncio.create_task(peer.duplex.request(Request(5, "ask", {}), fail))
    await settle()
    await peer.say(note("notifications/progress", {"progressToken": 5, "progress": 1}), answer(5, {}))
    assert isinstance(await waiting, Success)
    assert "a callback failed" in caplog.text


# What we ask.


async def test_a_response_settles_its_request_once() -> None:
    peer = Peer()
    waiting = asyncio.create_task(peer.duplex.request(Request(1, "ask", {"a": 1}), no_notice))
    await settle()
    assert peer.heard == [ask(1, "ask", {"a": 1})]
    await peer.say(answer(2, "stray"), answer("1", "stray"), answer(1, "first"), answer(1, "again"))
    response = await waiting
    assert isinstance(response, Success)
    assert json.loads(bytes(response.result)) == "first"
    assert peer.duplex.table.idle


async def test_an_error_without_an_id_settles_nothing() -> None:
    peer = Peer()
    waiting = asyncio.create_task(peer.duplex.request(Request(1, "ask"), no_notice))
    await settle()
    await peer.say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "?"}})
    assert not waiting.done()
    await peer.say({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}})
    assert isinstance(await waiting, Failure)


async def test_an_exchange_asks_under_an_id_of_our_own() -> None:
    answers: list[Response] = []

    async def serve(exchange: DuplexExchange) -> Response:
        answers.append(await exchange.ask(Request(0, "roots/list")))
        return Success(exchange.request.id, "done")

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    question = peer.heard[0]
    await peer.say(answer(question["id"], {"roots": []}))
    assert isinstance(answers[0], Success)
    assert peer.heard[1] == answer(1, "done")


async def test_cancelling_the_caller_cancels_the_request_at_the_peer() -> None:
    peer = Peer()
    waiting = asyncio.create_task(peer.duplex.request(Request(1, "ask"), no_notice))
    await settle()
    waiting.cancel()
    await settle()
    assert peer.heard[1:] == [cancel(1)]
    await peer.say(answer(1, "late"))
    assert waiting.cancelled()


async def test_initialize_is_never_cancelled() -> None:
    peer = Peer()
    waiting = asyncio.create_task(peer.duplex.request(Request(1, "initialize"), no_notice))
    await settle()
    waiting.cancel()
    await settle()
    assert [message["method"] for message in peer.heard] == ["initialize"]


async def test_an_id_of_ours_in_flight_is_not_used_twice() -> None:
    peer = Peer()
    first = asyncio.create_task(peer.duplex.request(Request(1, "ask"), no_notice))
    await settle()
    with pytest.raises(ConnectionClosed):
        await peer.duplex.request(Request(1, "ask"), no_notice)
    await peer.say(answer(1, {}))
    await first


# What cannot be written.


@pytest.mark.parametrize("result", [object(), "\ud800", {(1, 2): 3}, {"x": UNSET}], ids=repr)
async def test_a_result_that_is_no_json_becomes_an_error(result: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def serve(exchange: DuplexExchange) -> Response:
        return Success(exchange.request.id, result)

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    (error,) = peer.heard
    assert error["id"] == 1
    assert code_of(error) == -32603
    assert "no JSON" in caplog.text


async def test_a_result_that_contains_itself_becomes_an_error() -> None:
    loop: list[Any] = []
    loop.append(loop)

    async def serve(exchange: DuplexExchange) -> Response:
        return Success(exchange.request.id, loop)

    peer = Peer(serve)
    await peer.say(ask(1, "work"), GOOD)
    assert code_of(peer.heard[0]) == -32603


async def test_a_notification_that_is_no_json_fails_the_one_who_sends_it() -> None:
    peer = Peer()
    with pytest.raises(TypeError):
        await peer.duplex.notify(Notification("n", {"x": object()}))
    await settle()
    assert peer.written == b""


async def test_a_question_that_is_no_json_fails_the_one_who_asks_and_reaches_nobody() -> None:
    """It must not leave as an error under our id, which the peer may use itself."""
    peer = Peer()
    with pytest.raises(TypeError):
        await peer.duplex.request(Request(1, "ask", {"x": object()}), no_notice)
    await settle()
    assert peer.written == b""
    assert peer.duplex.table.idle


# Gathering, waiting.


async def test_what_is_said_in_one_turn_leaves_in_one_write() -> None:
    peer = Peer()
    peer.duplex.push(Notification("a"))
    peer.duplex.push(Notification("b"))
    await peer.say(*(ask(id, "echo", {}) for id in range(10)))
    assert len(peer.heard) == 12
    assert peer.writes <= 2


async def test_writers_wait_while_the_peer_does_not_read() -> None:
    peer = Peer()
    peer.duplex.pause()
    told = asyncio.create_task(peer.duplex.notify(Notification("n")))
    asked = asyncio.create_task(peer.duplex.request(Request(1, "ask"), no_notice))
    await settle()
    assert not told.done()
    peer.duplex.resume()
    await settle()
    assert told.done()
    await peer.say(answer(1, {}))
    await asked


async def test_a_caller_may_leave_while_the_peer_does_not_read() -> None:
    peer = Peer()
    peer.duplex.pause()
    asked = asyncio.create_task(peer.duplex.request(Request(1, "ask"), no_notice))
    await settle()
    asked.cancel()
    await settle()
    assert asked.cancelled()
    assert peer.duplex.table.idle


# The end.


async def test_draining_lets_requests_finish_and_takes_no_more() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"))
    draining = asyncio.create_task(peer.duplex.drain(5))
    await settle()
    await peer.say(ask(2, "echo"))
    assert code_of(peer.heard[0]) == -32600
    assert "shutting down" in peer.heard[0]["error"]["message"]
    peer.work[1].set_result("done")
    await draining
    assert peer.heard[1] == answer(1, "done")


async def test_what_is_not_finished_in_time_is_cancelled_and_answered() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"), ask(2, "work"))
    await peer.duplex.drain(0)
    assert sorted(peer.cancelled) == [1, 2]
    assert [(message["id"], code_of(message)) for message in peer.heard] == [(1, -32603), (2, -32603)]


async def test_draining_gives_a_handler_the_time_to_clean_up() -> None:
    cleaned: list[str] = []

    async def serve(exchange: DuplexExchange) -> Response:
        try:
            await asyncio.Event().wait()
        finally:
            await settle()
            cleaned.append("up")
        raise AssertionError

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    await peer.duplex.drain(0)
    assert cleaned == ["up"]


async def test_a_handler_that_will_not_end_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplex_module, "CLEAN_UP_SECONDS", 0.01)
    gate = asyncio.Event()

    async def serve(exchange: DuplexExchange) -> Response:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            await gate.wait()
        return Success(exchange.request.id, "too late")

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    await peer.duplex.drain(0)
    await peer.duplex.lost(ConnectionClosed("gone"))
    gate.set()
    await settle()
    assert [code_of(message) for message in peer.heard] == [-32603]


async def test_a_drain_does_not_wait_for_answers_that_cannot_come() -> None:
    """A handler that waits for the client's answer hears at once that there will be none."""

    async def serve(exchange: DuplexExchange) -> Response:
        try:
            await exchange.ask(Request(0, "roots/list"))
        except ConnectionClosed as error:
            return failure(exchange.request.id, InternalError(str(error)))
        raise AssertionError

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    async with asyncio.timeout(1):
        await peer.duplex.drain(60)
    assert code_of(peer.heard[1]) == -32603


async def test_an_idle_channel_drains_at_once() -> None:
    peer = Peer()
    async with asyncio.timeout(1):
        await peer.duplex.drain(60)


async def test_a_lost_channel_fails_what_waits_and_stops_what_works() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"))
    waiting = [asyncio.create_task(peer.duplex.request(Request(id, "ask"), no_notice)) for id in (1, 2)]
    waiting[1].cancel()
    await settle()
    await peer.duplex.lost(ConnectionClosed("exit code 3"))
    with pytest.raises(ConnectionClosed, match="exit code 3"):
        await waiting[0]
    assert peer.cancelled == [1]
    with pytest.raises(ConnectionClosed):
        await peer.duplex.request(Request(3, "ask"), no_notice)
    await peer.duplex.lost(ConnectionClosed("again"))


async def test_a_lost_channel_frees_writers_that_wait() -> None:
    peer = Peer()
    peer.duplex.pause()
    told = asyncio.create_task(peer.duplex.notify(Notification("n")))
    await settle()
    await peer.duplex.lost(ConnectionClosed("gone"))
    await settle()
    assert told.done()


async def test_a_response_to_a_caller_who_left_in_the_same_turn_is_dropped() -> None:
    peer = Peer()
    waiting = asyncio.create_task(peer.duplex.request(Request(1, "ask"), no_notice))
    await settle()
    peer.duplex.feed(line(answer(1, {})))
    waiting.cancel()
    peer.duplex.feed(line(answer(1, {})))
    await settle()
    assert waiting.done()


async def test_a_server_may_be_flooded_with_requests_without_queueing_tasks_it_need_not() -> None:
    peer = Peer()
    await peer.say(*(ask(id, "echo", {}) for id in range(5000)))
    await until(lambda: peer.duplex.table.idle)
    assert [message["id"] for message in peer.heard] == list(range(5000))


async def test_a_stray_response_is_worth_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "splice.transport")
    peer = Peer()
    await peer.say(answer(7, {}))
    assert "nobody waits for" in caplog.text


async def test_more_than_so_many_requests_at_once_are_refused_and_answers_still_get_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(duplex_module, "MAX_IN_FLIGHT", 2)
    peer = Peer()
    await peer.say(ask(1, "work"), ask(2, "work"), ask(3, "work"))
    assert [(message["id"], code_of(message)) for message in peer.heard] == [(3, -32603)]
    peer.work[1].set_result("done")
    await settle()
    await peer.say(GOOD)
    assert [message["id"] for message in peer.heard] == [3, 1, 99]
    peer.work[2].set_result("done")
    await settle()
