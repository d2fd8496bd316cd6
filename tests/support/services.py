"""Services to put behind a transport, without a server."""

import asyncio
from collections.abc import Awaitable, Callable

from splice.protocol.jsonrpc import Notification, Response, Success
from splice.transports.base import Exchange, Sender, Service


class Scripted(Service):
    """Answers every request by `answer`; keeps what else it is told."""

    def __init__(self, answer: Callable[[Exchange], Awaitable[Response]] | None = None) -> None:
        self.answer = answer or echo
        self.noted: list[tuple[Notification, Sender]] = []
        self.told: list[str] = []

    async def handle(self, exchange: Exchange) -> Response:
        return await self.answer(exchange)

    async def hear(self, note: Notification, sender: Sender) -> None:
        self.noted.append((note, sender))

    async def drain(self) -> None:
        self.told.append("drain")

    async def close(self) -> None:
        self.told.append("close")


async def echo(exchange: Exchange) -> Response:
    """Answer with the params of the request."""
    return Success(exchange.request.id, exchange.request.params)


async def never(exchange: Exchange) -> Response:
    """Work until cancelled."""
    await asyncio.Event().wait()
    raise AssertionError
