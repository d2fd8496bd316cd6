"""The official Python client visits any server. Run by the peers' own Python; prints one JSON line.

python visitor.py legacy|modern CALLS URL
python visitor.py legacy|modern CALLS COMMAND ARGUMENT...

CALLS is JSON: a list of [tool, arguments].
"""

import json
import sys
import warnings
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters

LIMIT_SECONDS = 30


def text(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


async def main() -> None:
    era, calls, first, *more = sys.argv[1:]
    server: Any = first if first.startswith("http://") else StdioServerParameters(command=first, args=more)
    report: dict[str, Any] = {"answers": []}
    with anyio.fail_after(LIMIT_SECONDS):
        async with Client(server, mode="auto" if era == "modern" else "legacy") as client:
            offers = client.server_capabilities
            report["tools"] = [tool.name for tool in (await client.list_tools()).tools]
            if offers.resources:
                report["resources"] = [str(each.uri) for each in (await client.list_resources()).resources]
            if offers.prompts:
                report["prompts"] = [each.name for each in (await client.list_prompts()).prompts]
            for name, arguments in json.loads(calls):
                answer = await client.call_tool(name, arguments)
                report["answers"].append([bool(answer.is_error), text(answer)])
    sys.stdout.write(json.dumps(report) + "\n")


warnings.simplefilter("ignore")
anyio.run(main)
