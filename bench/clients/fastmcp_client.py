"""The bench client on FastMCP."""

import asyncio
import json
from typing import Any

from fastmcp import Client  # type: ignore[import-not-found]  # lives in its own environment
from fastmcp.client.transports import StdioTransport  # type: ignore[import-not-found]  # see above

from bench.clients.loop import options, report


def target(given: dict[str, str]) -> Any:
    """Say what to connect to."""
    if given["target"] == "memory":
        from bench.servers.fastmcp_server import server  # noqa: PLC0415  -- only this target needs the server half

        return server
    if given["target"] == "http":
        return f"http://127.0.0.1:{given['port']}/mcp"
    command, *arguments = json.loads(given["command"])
    return StdioTransport(command=command, args=arguments, env=json.loads(given["environment"]))


async def main() -> None:
    given = options()
    async with Client(target(given), mode="legacy" if given["wire"] == "legacy" else "2026-07-28") as client:

        async def call() -> str:
            result = await client.call_tool(given["tool"], {"a": 2, "b": 3})
            return str(result.content[0].text)

        await report(call, given)


if __name__ == "__main__":
    asyncio.run(main())
