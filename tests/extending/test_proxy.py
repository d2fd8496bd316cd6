"""A proxy of a few lines: unknown fields, `_meta`, progress, cancellation and questions pass it, in both eras."""

import asyncio
import json
from typing import Any

import pytest
from msgspec import Raw

from splice import Call, Client, Context, Exchange, Extension, InternalError, Question, Sender, Served, Server, Service
from splice.types import (
    ELICIT,
    ClientCapabilities,
    ElicitationCapability,
    ElicitParams,
    Method,
    Notification,
    Params,
    Response,
    Result,
    ServerCapabilities,
)

ECHO = Method(name="com.example/echo", params=Params, result=Result)


class EchoParams(Params, kw_only=True):
    unknown: dict[str, Any]


class EchoResult(Result, kw_only=True):
    unknown: dict[str, Any]


ECHO_WITH_FIELDS = Method(name="com.example/echo", params=EchoParams, result=EchoResult)


class Offers(Extension[Call]):
    """Declares what the server behind the proxy offers."""

    def __init__(self, upstream: Client) -> None:
        super().__init__("")
        self._upstream = upstream

    def declare(self, capabilities: ServerCapabilities | ClientCapabilities) -> None:
        assert isinstance(capabilities, ServerCapabilities)
        capabilities.tools = self._upstream.capabilities.tools


class Relay(Extension[Question]):
    """Passes the questions of a session on to whoever is being served."""

    def __init__(self) -> None:
        super().__init__("", methods=[Served(ELICIT, self.elicit)])
        self.serving: Exchange | None = None

    def declare(self, capabilities: ServerCapabilities | ClientCapabilities) -> None:
        assert isinstance(capabilities, ClientCapabilities)
        capabilities.elicitation = ElicitationCapability(form={})

    async def elicit(self, question: Question) -> Raw:
        assert self.serving is not None
        response = await self.serving.ask(question.row.name, question.raw)
        if isinstance(response, Notification) or not hasattr(response, "result"):
            raise InternalError("the client did not answer")
        return Raw(bytes(response.result))


class Proxy(Service):
    """Opens sessions itself and passes everything else on."""

    def __init__(self, upstream: Client, relay: Relay) -> None:
        self._upstream = upstream
        self._relay = relay
        self._front = Server(upstream.server_info.name, extensions=[Offers(upstream)]).service

    async def handle(self, exchange: Exchange) -> Response:
        if exchange.request.method in ("initialize", "ping", "server/discover"):
            return await self._front.handle(exchange)
        self._relay.serving = exchange
        return await self._upstream.forward(exchange.request, exchange.notify)

    async def hear(self, note: Notification, sender: Sender) -> None:
        await self._front.hear(note, sender)


async def echo(call: Call) -> Raw:
    params = json.loads(bytes(call.exchange.request.params))
    return Raw(json.dumps({"unknown": params["unknown"], "resultType": "complete"}).encode())


def build(cancelled: asyncio.Event) -> Server:
    server = Server("behind", extensions=[Extension("com.example/echo", methods=[Served(ECHO, echo)])])

    @server.tool
    async def climb(ctx: Context) -> str:
        """Report progress, and tell what `_meta` said."""
        await ctx.progress(1, 2)
        await ctx.progress(2, 2)
        return str(ctx.meta["com.example/tenant"])

    @server.tool
    async def ask(ctx: Context) -> str:
        """Ask the user."""
        answer = await ctx.elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}})
        return str(answer.data["name"])

    @server.tool
    async def wait() -> str:
        """Wait until cancelled."""
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return "never"

    return server


async def test_everything_passes_through(version: str) -> None:
    cancelled = asyncio.Event()
    relay = Relay()

    def answer(question: ElicitParams) -> dict[str, Any]:
        return {"name": "Ada"} if question.message == "Who?" else {}

    async with (
        Client(build(cancelled), protocol=version, extensions=[relay]) as upstream,
        Client(Proxy(upstream, relay), protocol=version, on_elicit=answer) as client,
    ):
        unknown = {"deep": [{"er": None}], "n": 1}
        assert (await client.request(ECHO_WITH_FIELDS, EchoParams(unknown=unknown))).unknown == unknown

        reported: list[float] = []

        def note(value: float, total: float | None, message: str | None) -> None:
            reported.append(value)

        result = await client.call_tool("climb", progress=note, meta={"com.example/tenant": "acme"})
        assert result.text == "acme"
        assert reported == [1, 2]

        assert (await client.call_tool("ask")).text == "Ada"

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.call_tool("wait")
        async with asyncio.timeout(5):
            await cancelled.wait()
