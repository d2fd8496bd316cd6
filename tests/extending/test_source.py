"""A source of tools that are somewhere else: another server's, under a prefix, filtered, beside one's own."""

import json
from collections.abc import Callable, Sequence

from splice import Call, Client, Filtered, Prefixed, Server
from splice.types import CallToolParams, CallToolResult, Tool

far = Server("far")


@far.tool
def distance(planet: str) -> int:
    """Tell how far a planet is."""
    return {"mars": 225}.get(planet, 0)


@far.tool
def secret() -> str:
    """Not for everybody."""
    return "hush"


class RemoteTool:
    """A tool of another server."""

    def __init__(self, client: Client, definition: Tool) -> None:
        self.definition = definition
        self._client = client
        self._name = definition.name

    async def run(self, call: Call) -> CallToolResult:
        params: CallToolParams = call.params
        arguments = {} if params.arguments is None else json.loads(bytes(params.arguments))
        return await self._client.call_tool(self._name, arguments)


class Remote:
    """The tools of another server, listed once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tools: list[RemoteTool] | None = None
        self.changed: Callable[[], None] = lambda: None

    async def entries(self) -> Sequence[RemoteTool]:
        if self._tools is None:
            self._tools = [RemoteTool(self._client, tool) for tool in await self._client.list_tools()]
        return self._tools

    async def find(self, key: str) -> RemoteTool | None:
        return next((tool for tool in await self.entries() if tool.definition.name == key), None)

    def watch(self, changed: Callable[[], None]) -> None:
        self.changed = changed


async def test_remote_tools_stand_beside_local_ones(version: str) -> None:
    near = Server("near")

    @near.tool
    def here() -> str:
        """Say where we are."""
        return "earth"

    async with Client(far) as client:
        remote = Filtered(Remote(client), lambda tool: tool.name != "secret")
        near.add_source("tools", Prefixed(remote, "far_"))
        async with Client(near, protocol=version) as user:
            assert [tool.name for tool in await user.list_tools()] == ["here", "far_distance"]
            assert (await user.call_tool("far_distance", {"planet": "mars"})).text == "225"
            assert (await user.call_tool("here")).text == "earth"
            listed = {tool.name: tool for tool in await user.list_tools()}
            assert listed["far_distance"].description == "Tell how far a planet is."
