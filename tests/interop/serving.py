"""Servers of ours in the process of a test, at an address that they know from the beginning, and who calls them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from splice import Client, Context, Server
from splice.auth import Auth
from splice.auth.login.code import OAuth
from splice.types import TextContent
from support.listening import listening


class _Later:
    """An application that is made when its address is known."""

    def __init__(self) -> None:
        self.app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


@asynccontextmanager
async def at_home(make: Callable[[str], Any]) -> AsyncIterator[str]:
    """Serve what `make` makes of its URL, for the length of the block; yields the URL, without a path."""
    later = _Later()
    async with listening(later) as url:
        base = url.removesuffix("/mcp")
        later.app = make(base)
        yield base


def guarded(auth: Auth) -> Server:
    """Make a server that tells who calls."""
    server = Server("guarded", auth=auth)

    @server.tool
    def whoami(ctx: Context) -> str:
        """Tell who calls."""
        return "" if ctx.principal is None else ctx.principal.subject

    return server


async def called(url: str, auth: OAuth) -> str:
    """Log in to such a server, and ask it who calls."""
    async with Client(url, auth=auth) as client:
        block = (await client.call_tool("whoami")).content[0]
        assert isinstance(block, TextContent)
        return block.text
