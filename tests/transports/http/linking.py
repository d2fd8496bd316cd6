"""What the tests of the client's side of HTTP share: a link to a server that a test writes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from splice.errors import MethodNotFound
from splice.protocol.jsonrpc import MAX_MESSAGE_BYTES, Notification, Request, Response, Success, failure, raw
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE
from splice.transports.base import Outgoing
from splice.transports.http.link import HTTPLink
from transports.raw_http import Handler, RawServer, Visit, raw_server

LIMIT_SECONDS = 5.0


class Heard(list[str]):
    """Remembers which notifications came."""

    async def __call__(self, note: Notification) -> None:
        self.append(note.method)


class Listener:
    """Takes what the server begins: remembers notifications, and answers no request unless a test says how."""

    def __init__(self) -> None:
        self.hear = Heard()

    async def answer(self, request: Request) -> Response:
        return failure(request.id, MethodNotFound(f"Method not found: {request.method}"))


@asynccontextmanager
async def linked(
    handler: Handler,
    *,
    headers: dict[str, str] | None = None,
    receiver: Any = None,
    max_message: int = MAX_MESSAGE_BYTES,
) -> AsyncGenerator[tuple[HTTPLink, RawServer]]:
    async with raw_server(handler) as server:
        link = HTTPLink(server.url, headers or {}, Listener() if receiver is None else receiver, max_message)
        try:
            yield link, server
        finally:
            await link.close()


async def exchange(link: HTTPLink, method: str = "m", *, hear: Any = None, id: Any = 1, **options: Any) -> Any:
    async with asyncio.timeout(LIMIT_SECONDS):
        return await link.exchange(Outgoing(id, method, raw({}), Heard() if hear is None else hear, **options))


async def result(link: HTTPLink, method: str = "m", **options: Any) -> Any:
    response = await exchange(link, method, **options)
    assert isinstance(response, Success)
    return msgspec.json.decode(response.result)


class SessionServer:
    """A server with a session; a test overrides what it is about."""

    session: str | None = "s-1"

    async def __call__(self, visit: Visit) -> None:
        if visit.method != "POST":
            await getattr(self, visit.method.lower())(visit)
        elif visit.message.get("method") == "initialize":
            headers = {} if self.session is None else {"mcp_session_id": self.session}
            await visit.result({}, **headers)
        elif "id" not in visit.message or "method" not in visit.message:
            await visit.reply(202)
        else:
            await self.call(visit)

    async def get(self, visit: Visit) -> None:
        await visit.reply(405)

    async def delete(self, visit: Visit) -> None:
        await visit.reply(200)

    async def call(self, visit: Visit) -> None:
        await visit.result("called")


async def handshake(link: HTTPLink, version: str = LATEST_HANDSHAKE) -> None:
    """Do what a client does to open a session."""
    await exchange(link, "initialize")
    link.agree(FACTS[version])
    await link.notify(Notification("notifications/initialized"))
    await link.listen()
