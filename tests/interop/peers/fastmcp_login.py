"""FastMCP's client logs in to a guarded server, with the browser that `BROWSER` names; prints one JSON line.

python fastmcp_login.py URL
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.auth import OAuth


async def main() -> None:
    async with asyncio.timeout(30), Client(sys.argv[1], auth=OAuth(callback_timeout=20)) as client:
        tools = [tool.name for tool in await client.list_tools()]
        who = (await client.call_tool("whoami", {})).content[0].text
    sys.stdout.write(json.dumps({"tools": tools, "who": who}))


asyncio.run(main())
