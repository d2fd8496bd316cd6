"""`mcp` 1.30 against the example server; prints one JSON line.

python mcp1_client.py http URL | sse URL | stdio COMMAND ARGUMENT...
"""

import json
import sys
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl

report: dict[str, Any] = {"progress": []}


async def on_progress(progress: float, total: float | None, message: str | None) -> None:
    report["progress"].append([progress, total, message])


@asynccontextmanager
async def streams(kind: str, target: list[str]) -> Any:
    if kind == "http":
        async with streamablehttp_client(target[0]) as (read, write, _):
            yield read, write
    elif kind == "sse":
        async with sse_client(target[0]) as (read, write):
            yield read, write
    else:
        async with stdio_client(StdioServerParameters(command=target[0], args=target[1:])) as (read, write):
            yield read, write


async def use(session: ClientSession) -> None:
    opened = await session.initialize()
    report["version"], report["server"] = opened.protocolVersion, opened.serverInfo.name
    report["tools"] = [tool.name for tool in (await session.list_tools()).tools]
    report["add"] = (await session.call_tool("add", {"a": 2, "b": 3})).content[0].text
    counted = await session.call_tool("count", {"steps": 3}, progress_callback=on_progress)
    report["count"] = counted.content[0].text
    failed = await session.call_tool("fail")
    report["fail"] = [failed.isError, failed.content[0].text]
    report["motto"] = (await session.read_resource(AnyUrl("example://motto"))).contents[0].text
    report["review"] = (await session.get_prompt("review", {"code": "x = 1"})).messages[0].content.text
    try:
        await session.read_resource(AnyUrl("example://nothing"))
    except McpError as error:
        report["missing"] = error.error.code


async def main() -> None:
    kind, *target = sys.argv[1:]
    with anyio.fail_after(20):
        async with streams(kind, target) as (read, write), ClientSession(read, write) as session:
            await use(session)


anyio.run(main)
sys.stdout.write(json.dumps(report) + "\n")
