"""A client that uses the two example servers: typed results, errors, progress, questions.

python examples/client.py
"""

import asyncio
import sys
from pathlib import Path

from splice import Client, MCPError, StdioServer
from splice.types import ElicitParams

HERE = Path(__file__).parent


def example(name: str) -> StdioServer:
    """Start one of the servers beside this file."""
    return StdioServer(sys.executable, str(HERE / name))


def agree(question: ElicitParams) -> dict[str, str | bool]:
    """Answer a form as a user would; a real program shows `question` to one."""
    print(f"  asked: {question.message}")
    return {"name": "ann", "reason": "not needed", "sure": True}


async def weather() -> None:
    """List, call, read; and see what a tool that fails returns."""
    async with Client(example("weather.py")) as client:
        print(f"{client.server_info.name}, protocol {client.protocol_version}")
        for tool in await client.list_tools():
            print(f"  {tool.name}: {tool.description}")
        result = await client.call_tool("forecast", {"city": "Oslo", "days": 2})
        print(f"  forecast: {result.text}")
        refused = await client.call_tool("forecast", {"city": "Atlantis"})
        print(f"  refused: {refused.text}")
        cities = await client.read_resource("weather://cities")
        print(f"  cities: {cities.contents[0].text}")


async def accounts() -> None:
    """Let a server ask, in both eras."""
    for protocol in ("modern", "legacy"):
        async with Client(example("ask_the_user.py"), on_elicit=agree, protocol=protocol) as client:
            print(f"{client.server_info.name}, protocol {client.protocol_version}")
            print(f"  {(await client.call_tool('delete_account')).text}")


async def main() -> int:
    """Use both; say in one line what went wrong if something did."""
    try:
        await weather()
        await accounts()
    except MCPError as error:
        print(f"client: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
