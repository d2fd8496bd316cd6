"""What stands behind a link in place of a client."""

from collections.abc import Awaitable, Callable
from typing import Any

from splice.errors import MethodNotFound
from splice.protocol.jsonrpc import Notification, Request, Response, failure
from splice.transports.base import Hear, Outgoing


class Taking:
    """Refuses every request, unless `answer` answers it; keeps the notifications it hears."""

    def __init__(self, answer: Callable[[Request], Awaitable[Response]] | None = None) -> None:
        self.reply = answer
        self.heard: list[Notification] = []

    async def answer(self, request: Request) -> Response:
        if self.reply is None:
            return failure(request.id, MethodNotFound("Method not found"))
        return await self.reply(request)

    async def hear(self, note: Notification) -> None:
        self.heard.append(note)


def outgoing(id: int | str, method: str, params: Any = None, *, hear: Hear | None = None) -> Outgoing:
    """Make a request whose notifications nobody wants, unless `hear` does."""
    return Outgoing(id, method, params, hear or _ignore)


async def _ignore(note: Notification) -> None:
    pass
