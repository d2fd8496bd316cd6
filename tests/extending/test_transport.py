"""A transport of one's own, both ends, made of public names: short, if the seams are right."""

import asyncio
from typing import Any, TypeVar, cast

import pytest

from splice import Client, Context, Exchange, Link, Outgoing, Receiver, Sender, Server, Service, Session
from splice.types import VERSIONS, ElicitParams, Message, Notification, Request, Response, decode, encode

M = TypeVar("M", bound=Message)


def carried(message: M) -> M:
    """Make of a message what the other end sees of it."""
    return cast("M", decode(encode(message)))


class FakeExchange(Exchange):
    def __init__(self, link: "FakeLink", request: Request, outgoing: Outgoing) -> None:
        super().__init__(request, link.sender)
        self.outgoing = outgoing
        self.receiver = link.receiver

    async def notify(self, note: Notification) -> None:
        await self.outgoing.hear(carried(note))

    async def ask(self, method: str, params: Any) -> Response:
        return carried(await self.receiver.answer(carried(Request("question", method, params))))


class FakeLink(Link):
    def __init__(self, service: Service, receiver: Receiver) -> None:
        self.service = service
        self.receiver = receiver
        self.session = Session(push=self.push)
        self.sender = Sender(kind="fake", session=self.session)
        self.pushing: set[asyncio.Task[None]] = set()

    def push(self, note: Notification) -> None:
        self.pushing.add(asyncio.get_running_loop().create_task(self.receiver.hear(carried(note))))

    async def exchange(self, outgoing: Outgoing) -> Response:
        request = carried(Request(outgoing.id, outgoing.method, outgoing.params))
        return carried(await self.service.handle(FakeExchange(self, request, outgoing)))

    async def notify(self, note: Notification) -> None:
        await self.service.hear(carried(note), self.sender)

    async def close(self) -> None:
        self.session.end()
        await asyncio.gather(*self.pushing)


class FakeTarget:
    kind = "fake"
    name = "a fake"

    def __init__(self, server: Server) -> None:
        self.server = server

    async def connect(self, receiver: Receiver) -> Link:
        return FakeLink(self.server.service, receiver)


# The transport ends here.


ASKS = (False, False, True, True, True)
"""Whether a version lets the server ask the user, oldest first."""


@pytest.mark.parametrize(("version", "asks"), list(zip(VERSIONS, ASKS, strict=True)))
@pytest.mark.requirement(97)
async def test_everything_works_over_it(version: str, *, asks: bool) -> None:
    server = Server("far")

    @server.tool
    async def greet(ctx: Context, name: str) -> str:
        """Report progress, and greet."""
        await ctx.progress(1, 1)
        return f"Hello, {name}"

    @server.tool
    async def ask(ctx: Context) -> str:
        """Ask the user."""
        answer = await ctx.elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}})
        return str(answer.data["name"])

    def answer(question: ElicitParams) -> dict[str, Any]:
        return {"name": "Ada"}

    reported: list[float] = []
    changed = asyncio.Event()
    async with Client(
        FakeTarget(server), protocol=version, on_elicit=answer, on_change=lambda _: changed.set()
    ) as client:
        result = await client.call_tool("greet", {"name": "Ada"}, progress=lambda value, *_: reported.append(value))
        assert (result.text, reported) == ("Hello, Ada", [1])
        if asks:
            assert (await client.call_tool("ask")).text == "Ada"
        server.remove_tool("ask")
        async with asyncio.timeout(5):
            await changed.wait()
