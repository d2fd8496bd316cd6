"""Several servers behind one, the tools of each under a prefix: the port of FastMCP's `mount`.

What is mounted is a source of tools: here servers of this process, through a client; a URL would do as well. The
lifespan of the outer server opens them and closes them.

splice list examples/ports/mount.py:server
"""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from splice import Call, Client, Prefixed, Server
from splice.types import CallToolResult, Tool


class Mounted:
    """All tools of another server. They are listed once."""

    def __init__(self, server: Server) -> None:
        self.client = Client(server)
        self._tools: Sequence[MountedTool] = ()

    async def entries(self) -> Sequence["MountedTool"]:
        """List the tools: the same object as long as nothing changed."""
        if not self._tools:
            self._tools = [MountedTool(self.client, tool) for tool in await self.client.list_tools()]
        return self._tools

    async def find(self, key: str) -> "MountedTool | None":
        """Find a tool by its name."""
        return next((tool for tool in await self.entries() if tool.definition.name == key), None)

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` when the tools do: never."""


class MountedTool:
    """A tool of another server."""

    def __init__(self, client: Client, definition: Tool) -> None:
        self.definition = definition
        self._call = partial(client.call_tool, definition.name)

    async def run(self, call: Call) -> CallToolResult:
        """Pass a call on, and its result back."""
        return await self._call(json.loads(bytes(call.params.arguments or b"{}")))


news, weather = Server("news"), Server("weather")


@news.tool
def headlines(topic: str) -> list[str]:
    """Tell what is new."""
    return [f"All about {topic}"]


@weather.tool
def forecast(city: str) -> str:
    """Tell what the sky will do."""
    return f"Sun over {city}"


mounted = {"news_": Mounted(news), "weather_": Mounted(weather)}


@asynccontextmanager
async def opened(_server: Server) -> AsyncIterator[None]:
    """Keep the mounted servers open as long as this one serves."""
    async with AsyncExitStack() as stack:
        for each in mounted.values():
            await stack.enter_async_context(each.client)
        yield


server = Server("morning", lifespan=opened)
for prefix, source in mounted.items():
    server.add_source("tools", Prefixed(source, prefix))


@server.tool
def status() -> str:
    """Tell how we are."""
    return "well"


if __name__ == "__main__":
    server.run()
