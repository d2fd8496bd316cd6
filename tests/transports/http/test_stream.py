"""Event streams: numbered, carried by one reply after the other, lost with the last."""

import asyncio
from typing import Any

import pytest

from splice.errors import ConnectionClosed
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE, LATEST_MODERN, V2025_03_26, Facts
from splice.transports.http import stream as streams
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


class Store:
    """Keeps events."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, int, bytes]] = []

    def keep(self, stream: str, number: int, message: bytes) -> None:
        self.kept.append((stream, number, message))


# Without a store.


@pytest.mark.parametrize("version", FACTS)
async def test_without_a_store_events_are_counted_and_have_no_ids(version: str) -> None:
    client = Client()
    stream = EventStream(client.reply, FACTS[version], id="s")
    await stream.send(b"1")
    await stream.respond(b"2")
    assert client.body == b"data: 1\n\ndata: 2\n\n"
    assert stream.cursor == 2


async def test_a_response_that_comes_first_is_plain_json() -> None:
    client = Client()
    stream = EventStream(client.reply)
    await stream.respond(b"{}")
    assert (client.sent[0]["status"], client.body) == (200, b"{}")
    assert stream.cursor == 0


async def test_without_a_store_the_stream_is_lost_with_its_reply() -> None:
    client = Client()
    stream = EventStream(client.reply, FACTS[LATEST_HANDSHAKE])

    async def waits() -> str:
        try:
            with stream.needed():
                await asyncio.Event().wait()
        except ConnectionClosed as error:
            return str(error)
        return "nothing happened"

    waiting = [asyncio.create_task(waits()) for _ in range(2)]
    await settle()
    stream.detach()
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


# With a store: what a later issue builds upon.


@pytest.mark.parametrize(
    ("facts", "kept"),
    [
        (FACTS[LATEST_HANDSHAKE], [("s", 1, b""), ("s", 2, b"a"), ("s", 3, b"b")]),
        (FACTS[V2025_03_26], [("s", 1, b"a"), ("s", 2, b"b")]),
        (FACTS[LATEST_MODERN], []),
        (None, []),
    ],
)
async def test_events_are_kept_where_the_version_resumes(facts: Facts | None, kept: list[Any]) -> None:
    client, store = Client(), Store()
    stream = EventStream(client.reply, facts, id="s", store=store)
    await stream.send(b"a")
    await stream.respond(b"b")
    assert store.kept == kept
    written = [b"id: %s-%d\ndata: %s\n\n" % (name.encode(), number, data) for name, number, data in kept]
    assert client.body == (b"".join(written) or b"data: a\n\ndata: b\n\n")


async def test_a_kept_stream_outlives_its_reply() -> None:
    first, second, store = Client(), Client(), Store()
    stream = EventStream(first.reply, FACTS[V2025_03_26], id="s", store=store)
    await stream.send(b"1")
    stream.detach()
    assert not stream.lost
    await stream.send(b"2")
    stream.reply = second.reply
    await stream.respond(b"3")
    assert [data for _, _, data in store.kept] == [b"1", b"2", b"3"]
    assert second.sent[0]["status"] == 200


# What is pushed.


async def test_what_is_pushed_waits_for_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_WAITING", 2)
    stream, client = PushStream(), Client()
    for data in (b"1", b"2", b"3", b"3"):
        stream.push(data)
    carrying = asyncio.create_task(stream.carry(client.reply))
    await settle()
    assert client.body == b"data: 2\n\ndata: 3\n\n"
    stream.push(b"4")
    await settle()
    assert client.body.endswith(b"data: 4\n\n")
    client.reply.lose()
    stream.detach()
    await within(carrying)
    assert not stream.lost


async def test_a_reader_that_comes_at_once_is_not_mistaken_for_the_one_before() -> None:
    stream, first, second = PushStream(), Client(), Client()
    carrying = asyncio.create_task(stream.carry(first.reply))
    await settle()
    first.reply.lose()
    stream.detach()
    again = asyncio.create_task(stream.carry(second.reply))
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
    stream.detach()
    await within(stream.carry(client.reply))


@pytest.mark.parametrize("leaving", ["older", "newer"])
async def test_of_several_readers_the_newest_gets_what_is_pushed(leaving: str) -> None:
    stream, clients = PushStream(), [Client(), Client()]
    carrying = []
    for client in clients:
        carrying.append(asyncio.create_task(stream.carry(client.reply)))
        await settle()
    stream.push(b"1")
    await settle()
    left = clients[leaving == "newer"]
    left.reply.lose()
    stream.detach()
    stream.push(b"2")
    await settle()
    others = {"older": (b"", b"data: 1\n\ndata: 2\n\n"), "newer": (b"data: 2\n\n", b"data: 1\n\n")}
    assert tuple(client.body for client in clients) == others[leaving]
    stream.lose()
    for each in carrying:
        await within(each)


async def test_what_ends_one_reader_does_not_end_the_others() -> None:
    stream, clients = PushStream(), [Client(), Client()]
    first, second = [asyncio.create_task(stream.carry(client.reply)) for client in clients]
    await settle()
    second.cancel()
    stream.push(b"1")
    await settle()
    assert clients[0].body == b"data: 1\n\n"
    stream.lose()
    await within(first)
