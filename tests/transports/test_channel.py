"""A channel of messages: requests in flight in both directions, cancellation, progress, and the end."""

import asyncio
import contextlib
import json
import logging
from typing import Any

import pytest
from msgspec import Raw

from splice.errors import (
    ConnectionClosed,
    InternalError,
    InvalidRequest,
    LocalProtocolError,
    RequestTimeout,
    RPCError,
)
from splice.protocol import jsonrpc
from splice.protocol.jsonrpc import Failure, Message, Notification, Request, Response, Success, encode, failure
from splice.protocol.wire import NoParams
from splice.rules import exchanges
from splice.transports import channel as channel_module
from splice.transports.base import Outgoing, Sender
from splice.transports.channel import ChannelExchange, unwritable, written
from splice.transports.tasks import Stretch
from support.peers import Peer
from support.waiting import settle, until
from support.wire import JSON, answer, ask, cancel, code_of, note

GOOD = ask(99, "echo", {"good": True})


async def unheard(_: Notification) -> None:
    raise AssertionError


def asking(
    peer: Peer, id: JSON = 1, method: str = "ask", params: Any = None, hear: Any = unheard
) -> asyncio.Task[Response]:
    return asyncio.create_task(peer.channel.request(Outgoing(id, method, params, hear)))


def progress(token: JSON, value: JSON) -> JSON:
    return note("notifications/progress", {"progressToken": token, "progress": value})


# What the peer asks of us.


async def test_an_id_in_flight_is_refused_and_the_first_request_goes_on() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"), ask(1, "work"), ask("1", "echo", {}))
    assert [(message["id"], code_of(message)) for message in peer.heard] == [(1, -32600), ("1", None)]
    peer.work[1].set_result({"done": 1})
    await settle()
    assert peer.heard[2] == answer(1, {"done": 1})


async def test_more_than_so_many_requests_at_once_are_refused_and_answers_still_get_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchanges, "MAX_IN_FLIGHT", 2)
    peer = Peer()
    await peer.say(ask(1, "work"), ask(2, "work"), ask(3, "work"))
    assert [(message["id"], code_of(message)) for message in peer.heard] == [(3, -32603)]
    peer.work[1].set_result("done")
    await settle()
    await peer.say(GOOD)
    assert [message["id"] for message in peer.heard] == [3, 1, 99]
    peer.work[2].set_result("done")
    await settle()


async def test_a_service_that_raises_is_answered_for_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def serve(exchange: ChannelExchange) -> Response:
        raise RuntimeError("a secret")

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    assert code_of(peer.heard[0]) == -32603
    assert "secret" not in str(peer.heard)
    assert "a secret" in caplog.text
    assert not peer.channel.table.inbound


async def test_notifications_about_nothing_in_flight_are_heard() -> None:
    peer = Peer()
    await peer.say(note("hello"), progress(1, 1), cancel(1))
    assert [each.method for each in peer.noted] == ["hello"]


async def test_a_cancelled_request_is_stopped_and_never_answered() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"))
    await peer.say(cancel(1), cancel(1), GOOD)
    assert peer.cancelled == [1]
    assert [message["id"] for message in peer.heard] == [99]
    await peer.exchanges[1].notify(Notification("late"))
    assert len(peer.heard) == 1


async def test_a_request_cancelled_before_it_began_never_begins() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"), cancel(1), GOOD)
    assert peer.work == {}
    assert [message["id"] for message in peer.heard] == [99]


async def test_a_stubborn_cancelled_request_does_not_answer_for_the_next_one_with_its_id() -> None:
    """The handler swallows its cancellation while the client reuses the id, as it may."""
    gate = asyncio.Event()

    async def first(exchange: ChannelExchange) -> Response:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            await gate.wait()
        await exchange.notify(Notification("from the first request"))
        return Success(exchange.request.id, "the answer to the first request")

    peer = Peer(first)
    await peer.say(ask(1, "work"))
    await peer.say(cancel(1))
    peer.serve = None
    await peer.say(ask(1, "work"))
    gate.set()
    await settle()
    assert peer.heard == []
    peer.work[1].set_result("second")
    await settle()
    assert peer.heard == [answer(1, "second")]


async def test_no_work_begins_while_the_peer_does_not_read() -> None:
    peer = Peer()
    peer.channel.pause_writing()
    await peer.say(GOOD)
    assert peer.exchanges == {}
    peer.channel.resume_writing()
    await settle()
    assert peer.heard == [answer(99, {"good": True})]


# The same in the caller's task.


class Posted:
    """Requests answered as an HTTP POST has them answered: in a task of the test's."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def __call__(self, id: JSON, method: str = "work") -> asyncio.Task[Response | None]:
        exchange = ChannelExchange(self.peer.channel, Request(id, method), Sender(kind="test"))
        return asyncio.create_task(self.peer.channel.answer(exchange))


async def test_answering_in_the_callers_task_returns_the_response() -> None:
    peer = Peer()
    post = Posted(peer)(1)
    await settle()
    peer.work[1].set_result("done")
    assert await post == Success(1, "done")
    assert peer.heard == []
    assert not peer.channel.table.inbound


async def test_a_request_that_may_not_begin_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "MAX_IN_FLIGHT", 2)
    peer = Peer()
    post = Posted(peer)
    first = post(1)
    with pytest.raises(InvalidRequest, match="still in flight"):
        await post(1)
    await peer.say(ask(2, "work"))
    with pytest.raises(InternalError):
        await post(3)
    peer.work[1].set_result("done")
    assert await first == Success(1, "done")
    await peer.channel.lost(ConnectionClosed("gone"))
    with pytest.raises(InvalidRequest, match="being closed"):
        await post(4)


async def test_nothing_is_returned_for_what_the_peer_cancelled() -> None:
    peer = Peer()
    post = Posted(peer)(1)
    await settle()
    peer.channel.take(Notification("notifications/cancelled", Raw(b'{"requestId":1}')))
    assert await post is None
    assert peer.cancelled == [1]


async def test_nothing_is_returned_for_a_cancelled_request_whose_handler_took_no_notice() -> None:
    async def serve(exchange: ChannelExchange) -> Response:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await exchange.notify(Notification("late"))
        return Success(exchange.request.id, "all the same")

    peer = Peer(serve)
    post = Posted(peer)(1)
    await settle()
    peer.channel.take(Notification("notifications/cancelled", Raw(b'{"requestId":1}')))
    assert await post is None
    assert peer.heard == []


async def test_a_cancellation_that_was_in_vain_is_taken_back() -> None:
    async def serve(exchange: ChannelExchange) -> Response:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return Success(exchange.request.id, "all the same")

    async def post() -> tuple[Response | None, int]:
        found = await peer.channel.answer(ChannelExchange(peer.channel, Request(1, "work"), Sender(kind="test")))
        return found, asyncio.current_task().cancelling()  # type: ignore[union-attr]

    peer = Peer(serve)
    posted = asyncio.create_task(post())
    await settle()
    await peer.say(cancel(1))
    assert await posted == (None, 0)


async def test_a_caller_who_is_cancelled_leaves_nothing_behind() -> None:
    peer = Peer()
    post = Posted(peer)(1)
    await settle()
    post.cancel()
    await settle()
    assert post.cancelled()
    assert peer.cancelled == [1]
    assert not peer.channel.table.inbound


async def test_a_lost_channel_stops_what_is_answered_in_a_callers_task() -> None:
    peer = Peer()
    posts = [Posted(peer)(id) for id in (1, 2)]
    await settle()
    await peer.channel.lost(ConnectionClosed("gone"))
    assert [await post for post in posts] == [None, None]
    assert sorted(peer.cancelled) == [1, 2]


async def test_a_handler_may_end_the_channel_it_is_called_by() -> None:
    async def serve(exchange: ChannelExchange) -> Response:
        await peer.channel.lost(ConnectionClosed("by the handler"))
        return Success(exchange.request.id, "done")

    peer = Peer(serve)
    assert await Posted(peer)(1) is None


# What we ask of the peer.


async def test_a_response_settles_its_request_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "splice.transport")
    peer = Peer()
    waiting = asking(peer, params={"a": 1})
    await settle()
    assert peer.heard == [ask(1, "ask", {"a": 1})]
    await peer.say(answer(2, "stray"), answer("2", "stray"), answer(1, "first"), answer(1, "again"))
    response = await waiting
    assert isinstance(response, Success)
    assert json.loads(bytes(response.result)) == "first"
    assert not peer.channel.table.outbound
    assert caplog.text.count("nobody waits for") == 3


@pytest.mark.parametrize("id", ["1", 1.0])
async def test_an_id_may_be_written_differently(id: JSON) -> None:
    peer = Peer()
    waiting = asking(peer)
    await settle()
    await peer.say(answer(id, "mine"))
    assert isinstance(await waiting, Success)


@pytest.mark.parametrize("id", ["9" * 5000, "\u0663", "1\n", "+1", " 1"])
async def test_other_ids_are_nobodys(id: str) -> None:
    peer = Peer()
    waiting = asking(peer)
    await settle()
    await peer.say(answer(id, "odd"), answer(1, "mine"))
    response = await waiting
    assert isinstance(response, Success)
    assert json.loads(bytes(response.result)) == "mine"


async def test_a_peer_that_does_not_read_gets_no_refusals() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"))
    peer.channel.pause_writing()
    await peer.say(ask(1, "work"), ask(1, "work"))
    assert peer.heard == []
    peer.channel.resume_writing()
    await peer.say(ask(1, "work"))
    assert [each["error"]["code"] for each in peer.heard] == [-32600]


async def test_an_error_without_an_id_settles_nothing() -> None:
    peer = Peer()
    waiting = asking(peer)
    await settle()
    await peer.say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "?"}})
    assert not waiting.done()
    await peer.say({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}})
    assert isinstance(await waiting, Failure)


async def test_an_exchange_asks_under_an_id_of_our_own() -> None:
    answers: list[Response] = []

    async def serve(exchange: ChannelExchange) -> Response:
        answers.append(await exchange.ask("roots/list", None))
        return Success(exchange.request.id, "done")

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    question = peer.heard[0]
    await peer.say(answer(question["id"], {"roots": []}))
    assert isinstance(answers[0], Success)
    assert peer.heard[1] == answer(1, "done")


async def test_cancelling_the_caller_cancels_the_request_at_the_peer() -> None:
    peer = Peer()
    waiting = asking(peer)
    await settle()
    waiting.cancel()
    await settle()
    assert peer.heard[1:] == [cancel(1, reason="cancelled by the caller")]
    await peer.say(answer(1, "late"))
    assert waiting.cancelled()


@pytest.mark.requirement(251)
async def test_initialize_is_never_cancelled() -> None:
    peer = Peer()
    waiting = asking(peer, method="initialize")
    await settle()
    waiting.cancel()
    await settle()
    assert [message["method"] for message in peer.heard] == ["initialize"]
    waiting = asking(peer, method="initialize")
    await settle()
    peer.channel.leave(ConnectionClosed("bye"))
    with pytest.raises(ConnectionClosed):
        await waiting
    assert [message["method"] for message in peer.heard] == ["initialize", "initialize"]


async def test_an_id_of_ours_in_flight_is_not_used_twice() -> None:
    peer = Peer()
    first = asking(peer)
    await settle()
    with pytest.raises(LocalProtocolError, match="id 1 is still in flight"):
        await asking(peer)
    await peer.say(answer(1, {}))
    await first


async def test_a_request_that_is_not_json_fails_the_one_who_sends_it_and_reaches_nobody() -> None:
    """It must not leave as an error under our id, which the peer may use itself."""
    peer = Peer()
    with pytest.raises(TypeError):
        await asking(peer, params={"x": object()})
    with pytest.raises(TypeError):
        await peer.channel.notify(Notification("n", {"x": object()}))
    assert peer.heard == []
    assert not peer.channel.table.outbound


async def test_a_response_to_a_caller_who_left_in_the_same_turn_is_dropped() -> None:
    peer = Peer()
    waiting = asking(peer)
    await settle()
    waiting.cancel()
    await peer.say(answer(1, {}))
    assert waiting.cancelled()
    assert len(peer.heard) == 1


async def test_those_who_send_wait_while_the_peer_does_not_read() -> None:
    peer = Peer()
    peer.channel.pause_writing()
    told = asyncio.create_task(peer.channel.notify(Notification("n")))
    asked, left = asking(peer), asking(peer, 2)
    await settle()
    left.cancel()
    await settle()
    assert not told.done()
    assert left.cancelled()
    peer.channel.resume_writing()
    await settle()
    assert told.done()
    await peer.say(answer(1, {}))
    await asked


# A stream of its own, as an HTTP exchange has it.


async def test_a_question_may_go_out_on_a_stream_of_its_own_and_its_cancellation_too() -> None:
    peer, stream = Peer(), list[Message]()

    async def send(message: Message) -> None:
        await settle(1)
        stream.append(message)

    first, second = (asyncio.create_task(peer.channel.ask("roots/list", NoParams(), send)) for _ in range(2))
    await settle()
    second.cancel()
    await settle()
    assert peer.heard == []
    assert [json.loads(encode(message)) for message in stream] == [
        ask(1, "roots/list", {}),
        ask(2, "roots/list", {}),
        cancel(2, reason="cancelled by the caller"),
    ]
    await peer.say(answer(1, {"roots": []}))
    assert isinstance(await first, Success)


async def test_a_stream_that_breaks_fails_the_question() -> None:
    async def send(message: Message) -> None:
        raise ConnectionClosed("the stream is closed")

    peer = Peer()
    with pytest.raises(ConnectionClosed, match="the stream"):
        await peer.channel.ask("roots/list", None, send)
    assert not peer.channel.table.outbound


# Progress.


async def test_progress_reaches_the_request_whose_id_is_the_token() -> None:
    peer = Peer()
    heard: list[float] = []

    async def hear(note: Notification) -> None:
        heard.append(json.loads(bytes(note.params))["progress"])

    waiting = asking(peer, 5, hear=hear)
    await settle()
    await peer.say(progress(5, 1), progress("nobody's", 9), note("notifications/progress", {"progress": 9}))
    await peer.say(note("notifications/progress"), progress(5, 2), answer(5, {}), progress(5, 10))
    assert isinstance(await waiting, Success)
    assert heard == [1, 2]


async def test_a_callback_that_fails_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(_: Notification) -> None:
        raise RuntimeError("callback")

    peer = Peer()
    waiting = asking(peer, 5, hear=fail)
    await settle()
    await peer.say(progress(5, 1), answer(5, {}))
    assert isinstance(await waiting, Success)
    assert "a callback failed" in caplog.text


# The end.


async def test_draining_lets_requests_finish_and_takes_no_more() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"))
    draining = asyncio.create_task(peer.channel.drain(5))
    await settle()
    await peer.say(ask(2, "echo"))
    assert code_of(peer.heard[0]) == -32600
    assert "being closed" in peer.heard[0]["error"]["message"]
    await peer.channel.notify(Notification("still possible"))
    peer.work[1].set_result("done")
    await draining
    assert peer.heard[2] == answer(1, "done")
    with pytest.raises(ConnectionClosed):
        await asking(peer)


async def test_what_is_not_finished_in_time_is_cancelled_and_answered() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"), ask(2, "work"))
    await peer.channel.drain(0)
    assert sorted(peer.cancelled) == [1, 2]
    assert [(message["id"], code_of(message)) for message in peer.heard] == [(1, -32603), (2, -32603)]


async def test_draining_gives_a_handler_the_time_to_clean_up() -> None:
    cleaned: list[str] = []

    async def serve(exchange: ChannelExchange) -> Response:
        try:
            await asyncio.Event().wait()
        finally:
            await settle()
            cleaned.append("up")
        raise AssertionError

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    await peer.channel.drain(0)
    assert cleaned == ["up"]


async def test_a_handler_that_will_not_end_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_module, "CLEAN_UP_SECONDS", 0.01)
    gate = asyncio.Event()

    async def serve(exchange: ChannelExchange) -> Response:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            await gate.wait()
        return Success(exchange.request.id, "too late")

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    await peer.channel.drain(0)
    await peer.channel.lost(ConnectionClosed("gone"))
    gate.set()
    await settle()
    assert [code_of(message) for message in peer.heard] == [-32603]


async def test_a_drain_does_not_wait_for_answers_that_cannot_come() -> None:
    """A handler that waits for the client's answer hears at once that there will be none."""

    async def serve(exchange: ChannelExchange) -> Response:
        try:
            await exchange.ask("roots/list", None)
        except ConnectionClosed as error:
            return failure(exchange.request.id, InternalError(str(error)))
        raise AssertionError

    peer = Peer(serve)
    await peer.say(ask(1, "work"))
    async with asyncio.timeout(1):
        await peer.channel.drain(60)
    assert peer.heard[1]["method"] == "notifications/cancelled"
    assert code_of(peer.heard[2]) == -32603


async def test_an_idle_channel_drains_at_once() -> None:
    peer = Peer()
    async with asyncio.timeout(1):
        await peer.channel.drain(60)


async def test_leaving_tells_the_peer_that_nobody_waits_any_more() -> None:
    peer = Peer()
    waiting = asking(peer, 7)
    await settle()
    peer.channel.leave(ConnectionClosed("we left"))
    with pytest.raises(ConnectionClosed, match="we left"):
        await waiting
    assert peer.heard[1:] == [cancel(7, reason="the connection is being closed")]


@pytest.mark.requirement(249)
async def test_a_request_that_took_too_long_is_cancelled_for_that_reason() -> None:
    peer = Peer()

    async def call() -> None:
        with stretch:
            await peer.channel.request(Outgoing(7, "ask", None, unheard))

    stretch = Stretch()
    waiting = asyncio.create_task(call())
    await settle()
    stretch.end(RequestTimeout("too long"))
    with pytest.raises(RequestTimeout):
        await waiting
    assert peer.heard[1:] == [cancel(7, reason="timeout")]


@pytest.mark.requirement(249)
async def test_why_the_peer_cancels_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    peer = Peer()
    with caplog.at_level("DEBUG", "splice.transport"):
        await peer.say(ask(1, "work"), cancel(1, reason="the user left"))
    assert "request 1 is cancelled" in caplog.text
    assert "the user left" in caplog.text


async def test_a_lost_channel_fails_what_waits_and_stops_what_works() -> None:
    peer = Peer()
    await peer.say(ask(1, "work"))
    waiting = [asking(peer, id) for id in (1, 2)]
    await settle()
    waiting[1].cancel()
    await settle()
    await peer.channel.lost(ConnectionClosed("exit code 3"))
    with pytest.raises(ConnectionClosed, match="exit code 3"):
        await waiting[0]
    assert waiting[1].cancelled()
    assert peer.cancelled == [1]
    await peer.channel.lost(ConnectionClosed("again"))
    for send in (lambda: asking(peer, 3), lambda: peer.channel.notify(Notification("n"))):
        with pytest.raises(ConnectionClosed, match="exit code 3"):
            await send()


async def test_a_lost_channel_frees_those_who_wait_to_send() -> None:
    peer = Peer()
    peer.channel.pause_writing()
    told = asyncio.create_task(peer.channel.notify(Notification("n")))
    asked = asking(peer)
    await settle()
    await peer.channel.lost(ConnectionClosed("gone"))
    await settle()
    assert told.done()
    with pytest.raises(ConnectionClosed, match="gone"):
        await asked


async def test_5000_requests_at_once_are_answered_in_their_order() -> None:
    peer = Peer()
    await peer.say(*(ask(id, "echo", {}) for id in range(5000)))
    await until(lambda: not peer.channel.table.inbound)
    assert [message["id"] for message in peer.heard] == list(range(5000))


# Responses as bytes.


class Hostile:
    """Raises what nobody expects while it is being written."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_a_response_is_written() -> None:
    assert json.loads(written(Success(1, {"a": "é"}))) == {"jsonrpc": "2.0", "id": 1, "result": {"a": "é"}}


@pytest.mark.parametrize("result", [object(), "\ud800", {(1, 2): 3}, Hostile()], ids=type)
def test_one_that_is_not_json_is_answered_all_the_same_and_logged(
    result: Any, caplog: pytest.LogCaptureFixture
) -> None:
    message = json.loads(written(Success("x", result)))
    assert (message["id"], message["error"]["code"]) == ("x", -32603)
    assert "'x' cannot be written as JSON" in caplog.text


def test_what_is_too_large_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrpc, "MAX_ANSWER_BYTES", 2**20)
    told = json.loads(written(Success("x", "a" * 2**21)))
    assert told["id"] == "x"
    assert told["error"]["message"] == "Internal error: the result is too large: 2 MiB, limit 1 MiB"
    with pytest.raises(LocalProtocolError, match=r"^the message is too large: 2 MiB, limit 1 MiB$"):
        written(Request(1, "m", "a" * 2**21))


def test_an_error_whose_data_is_not_json_is_answered_all_the_same() -> None:
    message = json.loads(written(failure("x", RPCError("no", object()))))
    assert (message["id"], message["error"]["code"]) == ("x", -32603)


def test_anything_else_that_is_not_json_raises() -> None:
    with pytest.raises(TypeError):
        written(Notification("n", object()))


def test_the_reason_is_told() -> None:
    told = unwritable(Success(1, None), ValueError("why")).error.message
    assert told == "Internal error: the result cannot be written as JSON (why)"
