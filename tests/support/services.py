"""Services to put behind a transport, without a server."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from splice.protocol.jsonrpc import Notification, Response, Success
from splice.rules.eras import Session
from splice.transports.base import Exchange, Sender


class Scripted:
    """Answers every request by `answer`; keeps what else it is told."""

    def __init__(self, answer: Callable[[Exchange], Awaitable[Response]] | None = None) -> None:
        self.answer = answer or echo
        self.noted: list[tuple[Notification, Sender]] = []
        self.sessions: list[Session] = []
        self.told: list[str] = []

    async def handle(self, exchange: Exchange) -> Response:
        return await self.answer(exchange)

    async def hear(self, note: Notification, sender: Sender) -> None:
        self.noted.append((note, sender))

    async def open(self, session: Session) -> None:
        self.sessions.append(session)
        self.told.append("open")

    async def close(self, session: Session) -> None:
        self.sessions = [each for each in self.sessions if each is not session]
        self.told.append("close")

    async def stop(self) -> None:
        self.told.append("stop")

    async def end(self) -> None:
        self.told.append("end")

    def header_parameters(self, tool: str) -> Mapping[tuple[str, ...], str] | None:  # noqa: ARG002 - it has no tools
        return None


async def echo(exchange: Exchange) -> Response:
    """Answer with the params of the request."""
    return Success(exchange.request.id, exchange.request.params)


async def never(exchange: Exchange) -> Response:
    """Work until cancelled."""
    await asyncio.Event().wait()
    raise AssertionError
