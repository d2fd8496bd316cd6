"""Event streams: numbered, carried by one reply after the other, lost with the last."""

import asyncio
import json
from typing import Any

import pytest

from splice.errors import ConnectionClosed
from splice.rules.http.origins import Refusal
from splice.rules.http.sse import Decoder
from splice.stores.memory import MemoryStore
from splice.transports.http import stream as streams
from splice.transports.http.logs import OPEN_SECONDS, Log, Logs
from splice.transports.http.stream import EventStream, PushStream
from splice.transports.http.visits import Reply
from support.waiting import settle
from transports.asgi import within


class Client:
    """Reads one reply."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.reply = Reply({}, self)

    async def __call__(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


def finish(stream: EventStream) -> None:
    with stream:
        """Nothing more is sent."""


# Without a log.


async def test_without_a_log_events_have_no_ids() -> None:
    client = Client()
    stream = EventStream(client.reply, primes=True)
    await stream.send(b"1")
    await stream.respond(b"2")
    assert client.body == b"data: 1\n\ndata: 2\n\n"


async def test_a_response_that_comes_first_is_plain_json() -> None:
    client = Client()
    stream = EventStream(client.reply)
    await stream.respond(b"{}")
    assert (client.sent[0]["status"], client.body) == (200, b"{}")


async def test_without_a_log_the_stream_is_lost_with_its_reply() -> None:
    client = Client()
    stream = EventStream(client.reply)

    async def waits() -> str:
        try:
            with stream.needed():
                await asyncio.Event().wait()
        except ConnectionClosed as error:
            return str(error)
        return "nothing happened"

    waiting = [asyncio.create_task(waits()) for _ in range(2)]
    await settle()
    stream.detach(Client().reply)
    assert not stream.lost, "the reply is still there"
    client.reply.lose()
    stream.detach(client.reply)
    for task in waiting:
        assert "client closed" in await within(task)
    assert stream.lost
    with pytest.raises(ConnectionClosed), stream.needed():
        raise AssertionError
    await stream.send(b"1")
    await stream.respond(b"2")
    assert client.sent == []


async def test_who_needs_the_client_no_more_is_left_alone() -> None:
    stream = EventStream()
    with stream.needed():
        pass
    stream.lose()


# With a log.


def logged(primes: bool = True, logs: Logs | None = None) -> tuple[Client, Log, EventStream]:
    client, log = Client(), Log(logs or Logs(None), "session", [7])
    return client, log, EventStream(client.reply, log, primes=primes)


def at(log: Log, number: int) -> Log:
    """Find the log, as the id of an entry does."""
    found = Log(log.logs, "session", log.requests, log.name)
    found.cursor = number
    return found


@pytest.mark.parametrize("primes", [True, False])
async def test_events_are_kept_and_have_ids(primes: bool) -> None:
    client, log, stream = logged(primes)
    await stream.send(b"a")
    await stream.respond(b"b")
    primer = f"id: {log.name}-1\ndata: \n\n" if primes else ""
    assert client.body.decode() == primer + f"id: {log.name}-2\ndata: a\n\nid: {log.name}-3\ndata: b\n\n"
    assert [value for _, value in await log.read(1)] == [b"+a", b".b"]


async def test_a_response_that_comes_first_is_not_kept() -> None:
    client, log, stream = logged()
    await stream.respond(b"{}")
    finish(stream)
    assert (client.body, log.name, log.logs.live) == (b"{}", "", {})


async def test_a_comment_primes_a_stream_too() -> None:
    client, log, _ = logged()
    await client.reply.write(b":\n\n")
    assert client.body.decode() == f"id: {log.name}-1\ndata: \n\n:\n\n"


async def test_a_stream_goes_on_where_another_reply_broke_off() -> None:
    first, log, stream = logged()
    second, third = Client(), Client()
    await stream.send(b"1")
    first.reply.lose()
    stream.detach(first.reply)
    assert not stream.lost
    await stream.send(b"2")
    carrying = asyncio.create_task(stream.carry(second.reply, at(log, 1)))
    await settle()
    await stream.send(b"3")
    await settle()
    again = asyncio.create_task(stream.carry(third.reply, at(log, 3)))
    await within(carrying)
    await stream.respond(b"4")
    finish(stream)
    await within(again)
    found = [[event.data for event in Decoder(2**24).feed(client.body)] for client in (first, second, third)]
    assert found == [[b"", b"1"], [b"1", b"2", b"3"], [b"3", b"4"]]
    assert second.reply.closed
    assert log.logs.live == {}
    late = Client()
    await within(EventStream().carry(late.reply, at(log, 2)))
    assert [event.data for event in Decoder(2**24).feed(late.body)] == [b"2", b"3", b"4"]


async def test_a_dead_reply_whose_client_came_back_is_dropped() -> None:
    first, log, stream = logged()
    await stream.send(b"1")
    second = Client()
    carrying = asyncio.create_task(stream.carry(second.reply, at(log, 2)))
    await settle()
    assert first.sent[-1]["more_body"] is False
    stream.detach(first.reply)  # its connection is noticed to be lost: not the one that carries the stream now
    assert stream.reply is second.reply
    await stream.respond(None)
    await within(carrying)
    assert second.body == b""


@pytest.mark.requirement(182)
async def test_a_stream_may_be_closed_so_that_the_client_polls() -> None:
    client, log, stream = logged()
    await stream.close()
    assert client.body.decode() == f"id: {log.name}-1\ndata: \n\nretry: 1000\n\n"
    assert client.sent[-1]["more_body"] is False
    await stream.close()
    await stream.respond(b"1")
    late = Client()
    await within(EventStream().carry(late.reply, at(log, 1)))
    assert [event.data for event in Decoder(2**24).feed(late.body)] == [b"1"]


@pytest.mark.parametrize("with_log", [True, False])
async def test_a_stream_whose_client_might_not_come_back_is_not_closed(with_log: bool) -> None:
    client = Client()
    stream = EventStream(client.reply, Log(Logs(None), "session", [1])) if with_log else EventStream(client.reply)
    await stream.close()
    await stream.respond(b"1")
    assert client.body == b"1"


async def test_a_client_that_left_before_it_could_be_watched_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "ABSENT_SECONDS", 0.01)
    first, log, stream = logged()
    await stream.send(b"1")
    second = Client()
    second.reply.lose()
    await within(stream.carry(second.reply, at(log, 1)))
    assert first.reply.closed
    with pytest.raises(ConnectionClosed), stream.needed():
        await within(asyncio.Event().wait())


async def test_a_client_that_was_refused_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "ABSENT_SECONDS", 0.01)
    now = [0.0]
    _, log, stream = logged(logs=Logs(MemoryStore(clock=lambda: now[0])))
    await stream.send(b"1")
    now[0] = 2 * OPEN_SECONDS
    await stream.send(b"2")
    with pytest.raises(Refusal):
        await stream.carry(Client().reply, at(log, 1))
    with pytest.raises(ConnectionClosed), stream.needed():
        await within(asyncio.Event().wait())


async def test_nothing_comes_behind_the_response() -> None:
    client, log, stream = logged()
    await stream.send(b"1")
    await stream.respond(b"2")
    await stream.send(b"late")
    finish(stream)
    await stream.send(b"later")
    assert [value for _, value in await log.read(1)] == [b"+1", b".2"]
    assert [event.data for event in Decoder(2**24).feed(client.body)] == [b"", b"1", b"2"]
    assert log.logs.live == {}


async def test_what_nobody_writes_any_more_is_answered_with_an_error() -> None:
    _, log, stream = logged()
    await stream.send(b"1")
    finish(stream)
    late = Client()
    await within(EventStream().carry(late.reply, at(log, 2)))
    (answer,) = [json.loads(event.data) for event in Decoder(2**24).feed(late.body)]
    assert (answer["id"], answer["error"]["code"]) == (7, -32603)


async def test_a_client_that_comes_back_in_time_may_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    client, log, stream = logged()
    await stream.send(b"1")

    async def waits() -> None:
        with stream.needed():
            await asyncio.Event().wait()

    waiting = asyncio.create_task(waits())
    for _ in range(2):
        await settle()
        client.reply.lose()
        stream.detach(client.reply)
        client = Client()
        carrying = asyncio.create_task(stream.carry(client.reply, at(log, 1)))
        await settle()
        assert stream._absence is not None
        assert stream._absence.cancelled()
    assert not waiting.done()
    monkeypatch.setattr(streams, "ABSENT_SECONDS", 0.0)
    client.reply.lose()
    stream.detach(client.reply)
    with pytest.raises(ConnectionClosed):
        await within(waiting)
    await within(carrying)
    again = asyncio.create_task(stream.carry(Client().reply, at(log, 1)))
    await settle()
    assert not stream.lost
    finish(stream)
    await within(again)


# What is pushed.


async def test_what_is_pushed_waits_for_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_WAITING", 2)
    stream, client = PushStream(), Client()
    for data in (b"1", b"2", b"3", b"3"):
        stream.push(data)
    carrying = asyncio.create_task(stream.open(client.reply))
    await settle()
    assert client.body == b"data: 2\n\ndata: 3\n\n"
    stream.push(b"4")
    await settle()
    assert client.body.endswith(b"data: 4\n\n")
    client.reply.lose()
    stream.detach(client.reply)
    await within(carrying)
    assert not stream.lost


async def test_a_reader_that_comes_at_once_is_not_mistaken_for_the_one_before() -> None:
    stream, first, second = PushStream(), Client(), Client()
    carrying = asyncio.create_task(stream.open(first.reply))
    await settle()
    first.reply.lose()
    stream.detach(first.reply)
    again = asyncio.create_task(stream.open(second.reply))
    await within(carrying)
    await settle()
    stream.push(b"1")
    await settle()
    assert (first.body, second.body) == (b"", b"data: 1\n\n")
    stream.lose()
    await within(again)
    stream.push(b"2")
    assert second.body == b"data: 1\n\n"


async def test_a_client_that_left_before_its_stream_was_attached_is_not_waited_for() -> None:
    stream, client = PushStream(), Client()
    client.reply.lose()
    stream.detach(client.reply)
    await within(stream.open(client.reply))


@pytest.mark.parametrize("leaving", ["older", "newer"])
async def test_of_several_readers_the_newest_gets_what_is_pushed(leaving: str) -> None:
    stream, clients = PushStream(), [Client(), Client()]
    carrying = []
    for client in clients:
        carrying.append(asyncio.create_task(stream.open(client.reply)))
        await settle()
    stream.push(b"1")
    await settle()
    left = clients[leaving == "newer"]
    left.reply.lose()
    stream.detach(left.reply)
    stream.push(b"2")
    await settle()
    others = {"older": (b"", b"data: 1\n\ndata: 2\n\n"), "newer": (b"data: 2\n\n", b"data: 1\n\n")}
    assert tuple(client.body for client in clients) == others[leaving]
    stream.lose()
    for each in carrying:
        await within(each)


async def test_what_ends_one_reader_does_not_end_the_others() -> None:
    stream, clients = PushStream(), [Client(), Client()]
    first, second = [asyncio.create_task(stream.open(client.reply)) for client in clients]
    await settle()
    second.cancel()
    stream.push(b"1")
    await settle()
    assert clients[0].body == b"data: 1\n\n"
    stream.lose()
    await within(first)
