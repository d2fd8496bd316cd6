"""FastMCP 4 against the example server; prints one JSON line.

python fastmcp_client.py http URL | stdio COMMAND ARGUMENT...
"""

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import MCPError

report: dict[str, Any] = {"progress": []}


async def on_progress(progress: float, total: float | None, message: str | None) -> None:
    report["progress"].append([progress, total, message])


async def main() -> None:
    kind, *target = sys.argv[1:]
    where = target[0] if kind == "http" else StdioTransport(command=target[0], args=target[1:])
    async with asyncio.timeout(20), Client(where, progress_handler=on_progress) as client:
        report["server"] = client.server_info.name
        report["tools"] = [tool.name for tool in await client.list_tools()]
        report["add"] = (await client.call_tool("add", {"a": 2, "b": 3})).content[0].text
        report["count"] = (await client.call_tool("count", {"steps": 3})).content[0].text
        failed = await client.call_tool("fail", raise_on_error=False)
        report["fail"] = [failed.is_error, failed.content[0].text]
        report["motto"] = (await client.read_resource("example://motto"))[0].text
        report["review"] = (await client.get_prompt("review", {"code": "x = 1"})).messages[0].content.text
        try:
            await client.read_resource("example://nothing")
        except MCPError as error:
            report["missing"] = error.error.code


asyncio.run(main())
sys.stdout.write(json.dumps(report) + "\n")
