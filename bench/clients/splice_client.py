"""The bench client on Splice."""

import asyncio
import json

from bench.clients.loop import options, report
from splice import Client, Server, StdioServer


def target(given: dict[str, str]) -> Server | str | StdioServer:
    """Say what to connect to."""
    if given["target"] == "memory":
        from bench.servers.splice_server import server  # noqa: PLC0415  -- only this target needs the server half

        return server
    if given["target"] == "http":
        return f"http://127.0.0.1:{given['port']}/mcp"
    command, *arguments = json.loads(given["command"])
    return StdioServer(command, *arguments, env=json.loads(given["environment"]))


async def main() -> None:
    given = options()
    protocol = "2025-11-25" if given["wire"] == "legacy" else "2026-07-28"
    async with Client(target(given), protocol=protocol) as client:

        async def call() -> str:
            result = await client.call_tool(given["tool"], {"a": 2, "b": 3})
            return result.text

        await report(call, given)


if __name__ == "__main__":
    asyncio.run(main())
