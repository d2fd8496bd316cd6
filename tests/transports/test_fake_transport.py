"""A transport made by hand from public names, client's end and server's end: it is short if the seams are right."""

import asyncio
from typing import Any, TypeVar, cast

import pytest

from splice import Client, Context, Server
from splice.errors import ConnectionClosed, LocalProtocolError, MethodNotFound
from splice.protocol.jsonrpc import Message, Notification, Request, Response, Success, decode, encode, failure
from splice.protocol.versions import VERSIONS
from splice.rules.sessions import Session
from splice.transports.base import Exchange, Hear, Link, Outgoing, Receiver, Sender, Service
from support.receivers import Taking, outgoing

M = TypeVar("M", bound=Message)


def carried(message: M) -> M:
    """Make of a message what the other end sees of it."""
    return cast("M", decode(encode(message)))


class FakeExchange(Exchange):
    def __init__(self, request: Request, sender: Sender, hear: Hear, receiver: Receiver) -> None:
        super().__init__(request, sender)
        self.hear = hear
        self.receiver = receiver

    async def notify(self, note: Notification) -> None:
        await self.hear(carried(note))

    async def ask(self, method: str, params: Any) -> Response:
        return carried(await self.receiver.answer(carried(Request("question", method, params))))


class FakeLink(Link):
    def __init__(self, service: Service, receiver: Receiver) -> None:
        self.service = service
        self.receiver = receiver
        self.sender = Sender(kind="fake", session=Session())
        self.closed = False

    async def exchange(self, outgoing: Outgoing) -> Response:
        if self.closed:
            raise ConnectionClosed("closed")
        request = carried(Request(outgoing.id, outgoing.method, outgoing.params))
        return carried(await self.service.handle(FakeExchange(request, self.sender, outgoing.hear, self.receiver)))

    async def notify(self, note: Notification) -> None:
        await self.service.hear(carried(note), self.sender)

    async def close(self) -> None:
        self.closed = True


class FakeTarget:
    kind = "fake"
    name = "a fake"

    def __init__(self, service: Service) -> None:
        self.service = service

    async def connect(self, receiver: Receiver) -> Link:
        return FakeLink(self.service, receiver)


# The transport ends here.


class Greeter(Service):
    """Asks who is there, tells that it works, and greets."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def handle(self, exchange: Exchange) -> Response:
        request = exchange.request
        if request.method != "greet":
            return failure(request.id, MethodNotFound("Method not found"))
        await exchange.notify(Notification("working"))
        answer = await exchange.ask("who", {"for": "greet"})
        assert isinstance(answer, Success)
        return Success(request.id, [request.params, answer.result])

    async def hear(self, note: Notification, sender: Sender) -> None:
        self.heard.append(f"{note.method} by {sender.kind}")


async def test_a_request_a_question_and_notifications() -> None:
    async def ada(request: Request) -> Response:
        return Success(request.id, "Ada")

    heard: list[str] = []

    async def hear(note: Notification) -> None:
        heard.append(note.method)

    service = Greeter()
    link = await FakeTarget(service).connect(Taking(ada))
    response = await link.exchange(outgoing(1, "greet", {"polite": True}, hear=hear))
    assert isinstance(response, Success)
    assert encode(response.result) == b'[{"polite":true},"Ada"]'
    await link.notify(Notification("bye"))
    assert heard == ["working"]
    assert service.heard == ["bye by fake"]


async def test_what_a_transport_leaves_out_has_a_default() -> None:
    exchange = Exchange(Request(1, "greet"), Sender(kind="fake"))
    await exchange.notify(Notification("dropped"))
    with pytest.raises(LocalProtocolError, match="who cannot be sent"):
        await exchange.ask("who", None)

    class Least(Service):
        async def handle(self, exchange: Exchange) -> Response:
            return Success(exchange.request.id, {})

    service = Least()
    await service.hear(Notification("n"), exchange.sender)
    await service.drain()
    await service.close()
    link = await FakeTarget(service).connect(Taking())
    link.agree(None)
    await link.listen()
    await link.close()
    with pytest.raises(ConnectionClosed):
        async with asyncio.timeout(5):
            await link.exchange(outgoing(1, "greet"))


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_client_and_a_server_work_over_it_in_every_version(version: str) -> None:
    server, steps = Server("greeter"), list[float]()

    @server.tool
    async def greet(name: str, ctx: Context) -> str:
        await ctx.progress(1)
        return f"Hello {name} at {len(await ctx.roots())} places"

    def on_progress(done: float, total: float | None, message: str | None) -> None:
        steps.append(done)

    async with Client(FakeTarget(server.service), protocol=version, roots=["file:///a"], timeout=5) as client:
        result = await client.call_tool("greet", {"name": "Ada"}, progress=on_progress)
    assert result.text == "Hello Ada at 1 places"
    assert 1 in steps
