"""A web site of the tests: pages by their path, and who asked for what."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from transports.raw_http import RawServer, Visit, raw_server

HTML = "text/html; charset=utf-8"

Answer: TypeAlias = bytes | tuple[int, dict[str, str], bytes] | Callable[[Visit], Coroutine[Any, Any, None]]
"""A page of HTML; status, headers and body; or a function that answers."""


class Site:
    """A site that answers with 404 for what it does not have."""

    def __init__(self, server: RawServer) -> None:
        self.base = server.url.removesuffix("/mcp")
        self.port = int(self.base.rpartition(":")[2])
        self._server = server

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for."""
        return [visit.path for visit in self._server.visits]

    @property
    def agents(self) -> set[str]:
        """Who asked."""
        return {visit.headers["user-agent"] for visit in self._server.visits}


@asynccontextmanager
async def site(pages: dict[str, Answer]) -> AsyncIterator[Site]:
    """Serve pages by their path, each as it is when it is asked for."""

    async def handler(visit: Visit) -> None:
        match pages.get(visit.path, (404, {}, b"")):
            case bytes(body):
                await visit.reply(200, body, content_type=HTML)
            case (int(status), headers, body):
                await visit.reply(status, body, **headers)
            case answer:
                await answer(visit)

    async with raw_server(handler) as server:
        yield Site(server)


def text(body: bytes | str, kind: str = "text/plain", **headers: str) -> Answer:
    """Make a page of text."""
    return 200, {"content_type": kind, **headers}, body.encode() if isinstance(body, str) else body


def leads(location: str, status: int = 302) -> Answer:
    """Make a redirect."""
    return status, {"location": location}, b""
