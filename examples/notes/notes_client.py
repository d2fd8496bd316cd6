"""A client of the notes server that answers its questions: `python examples/notes/notes_client.py`."""

import asyncio
import sys
from pathlib import Path

from splice import Client, StdioServer
from splice.types import ElicitParams

SERVER = Path(__file__).with_name("notes_server.py")


def on_elicit(params: ElicitParams) -> dict[str, bool]:
    """Say yes to everything."""
    print("asked:", params.message)
    return {"really": True}


async def main() -> None:
    """Write, find and delete a note."""
    async with Client(StdioServer(sys.executable, str(SERVER)), on_elicit=on_elicit, timeout=10.0) as client:
        print("tools:", ", ".join([tool.name async for tool in client.tools()]))
        await client.call_tool("write", {"title": "Shopping", "text": "milk and bread", "tags": ["home"]})
        print("found:", (await client.call_tool("search", {"query": {"words": "milk"}})).structured_content)
        missing = await client.call_tool("read", {"title": "Shoping"})
        print("failed:", missing.is_error, missing.text)
        print("deleted:", (await client.call_tool("delete", {"title": "Shopping"})).text)


if __name__ == "__main__":
    asyncio.run(main())
