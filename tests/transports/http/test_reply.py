"""The reply that commits late, and what may still be sent after what."""

import asyncio
from typing import Any

import pytest

from splice.transports.http.reply import CONNECTION, Reply
from transports.asgi import within


class Wire:
    """Takes what is sent; `open` makes it wait like a client that does not read."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.open = asyncio.Event()
        self.open.set()
        self.fails = False
        self.reply = Reply({}, self)

    async def __call__(self, message: Any) -> None:
        await self.open.wait()
        if self.fails:
            raise OSError("gone")
        self.sent.append(message)

    @property
    def kinds(self) -> list[str]:
        return [message.get("body", b"start").decode() for message in self.sent]


async def test_what_waits_to_be_sent_comes_before_the_response() -> None:
    wire = Wire()
    wire.open.clear()
    events = [asyncio.create_task(wire.reply.write(b"data: %d\n\n" % number)) for number in range(3)]
    await asyncio.sleep(0)
    response = asyncio.create_task(wire.reply.respond(400, b"last"))
    await asyncio.sleep(0)
    wire.open.set()
    await within(asyncio.gather(*events, response))
    assert wire.kinds == ["start", "data: 0\n\n", "data: 1\n\n", "data: 2\n\n", "data: last\n\n"]
    assert wire.sent[0]["status"] == 200
    assert [message.get("more_body", False) for message in wire.sent[1:]] == [True, True, True, False]


async def test_what_waits_to_be_sent_comes_before_the_end() -> None:
    wire = Wire()
    wire.open.clear()
    event = asyncio.create_task(wire.reply.write(b"1"))
    await asyncio.sleep(0)
    end = asyncio.create_task(wire.reply.end())
    await asyncio.sleep(0)
    wire.open.set()
    await within(asyncio.gather(event, end))
    assert wire.kinds == ["start", "1", ""]


async def test_a_first_event_that_was_cancelled_leaves_the_choice_open() -> None:
    wire = Wire()
    wire.open.clear()
    event = asyncio.create_task(wire.reply.write(b"1"))
    await asyncio.sleep(0)
    event.cancel()
    await asyncio.wait([event])
    wire.open.set()
    await wire.reply.respond(404, b"{}")
    assert wire.sent[0]["status"] == 404


async def test_once_closed_everything_is_dropped() -> None:
    wire = Wire()
    await wire.reply.respond(200, b"{}")
    await wire.reply.respond(200, b"{}")
    await wire.reply.write(b"1")
    await wire.reply.accept()
    await wire.reply.end()
    assert wire.kinds == ["start", "{}"]


async def test_nothing_is_sent_to_a_client_that_is_gone() -> None:
    wire = Wire()
    wire.open.clear()
    events = [asyncio.create_task(wire.reply.write(b"%d" % number)) for number in range(2)]
    await asyncio.sleep(0)
    wire.fails = True
    wire.open.set()
    await within(asyncio.gather(*events))
    wire.fails = False
    assert wire.reply.closed
    await wire.reply.respond(200, b"{}")
    assert wire.sent == []


@pytest.mark.parametrize("act", ["respond", "write", "accept", "end"])
async def test_headers_of_a_reply_go_with_whatever_it_becomes(act: str) -> None:
    wire = Wire()
    wire.reply.headers = [(b"mcp-session-id", b"x")]
    arguments: dict[str, tuple[Any, ...]] = {"respond": (200, b"{}"), "write": (b"1",)}
    await getattr(wire.reply, act)(*arguments.get(act, ()))
    assert (b"mcp-session-id", b"x") in wire.sent[0]["headers"]


async def test_an_empty_write_begins_a_stream_and_no_more() -> None:
    wire = Wire()
    await wire.reply.write(b"")
    assert wire.kinds == ["start"]
    assert wire.reply.streaming


@pytest.mark.parametrize(("scope", "left"), [({}, 1), ({CONNECTION: object()}, 0)])
async def test_headers_are_dropped_only_where_nobody_else_can_miss_them(scope: dict[str, Any], left: int) -> None:
    scope["headers"] = [(b"host", b"localhost")]
    Reply(scope, Wire()).forget_request()
    assert len(scope["headers"]) == left


@pytest.mark.parametrize("act", ["respond", "write", "accept", "end"])
async def test_a_send_that_fails_is_no_failure_of_who_sends(act: str) -> None:
    wire = Wire()
    wire.fails = True
    arguments: dict[str, tuple[Any, ...]] = {"respond": (200, b"{}"), "write": (b"1",)}
    await getattr(wire.reply, act)(*arguments.get(act, ()))
    assert wire.reply.lost
