"""What a client is told when things go wrong, one line each: `python examples/trouble.py`.

Every error of this package is an `MCPError`; what cannot be a target at all is a `ValueError`.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from splice import Client, MCPError, Server

server = Server("crashes")


@server.tool
def crash() -> None:
    """End without a word."""
    os._exit(7)


OURS = [sys.executable, __file__, "serve"]
GREETS = [sys.executable, "-c", "print('Welcome to my server!')"]
SILENT = [sys.executable, "-c", "import time; time.sleep(100)"]

Use = Callable[[Client], Awaitable[Any]]


def listing(client: Client) -> Awaitable[Any]:
    """Do what most clients do first."""
    return client.list_tools()


TROUBLE: dict[str, tuple[Any, Use, dict[str, Any]]] = {
    "no such command": ("no-such-command --stdio", listing, {}),
    "no such file": ("no_such_server.py", listing, {}),
    "wrong URL": ("127.0.0.1:8000/mcp", listing, {}),
    "nothing listens": ("http://127.0.0.1:9/mcp", listing, {}),
    "junk on stdout": (GREETS, listing, {}),
    "silent": (SILENT, listing, {"timeout": 1.0}),
    "crash in a call": (OURS, lambda client: client.call_tool("crash"), {}),
    "wrong tool": (OURS, lambda client: client.call_tool("crush"), {}),
    "wrong argument": (OURS, lambda client: client.call_tool("crash", {"how": "hard"}), {}),
}


async def attempt(target: Any, use: Use, options: dict[str, Any]) -> str:
    """Use a server; what it said, or why it did not."""
    try:
        async with Client(target, **{"timeout": 20.0, **options}) as client:
            result = await use(client)
            return f"the tool says: {result.text}"
    except (MCPError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


async def main() -> None:
    """Go through all of it."""
    for what, (target, use, options) in TROUBLE.items():
        print(f"{what}: {await attempt(target, use, options)}")


if __name__ == "__main__" and "serve" in sys.argv:
    server.run()
elif __name__ == "__main__":
    logging.basicConfig(format="  log: %(message)s", stream=sys.stdout)
    asyncio.run(main())
