"""The bench server on FastMCP."""

import sys
import time

from fastmcp import FastMCP  # type: ignore[import-not-found]  # lives in its own environment

server = FastMCP("bench")


@server.tool  # type: ignore[untyped-decorator]  # see the import
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool  # type: ignore[untyped-decorator]  # see the import
async def add_async(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def add_many(count: int) -> None:
    """Register `count` more tools and say how long that took."""
    began = time.process_time()
    for number in range(count):

        async def tool(a: int, b: int) -> int:
            return a + b

        server.tool(tool, name=f"tool_{number}", description="Add two numbers.")
    print("registered", time.process_time() - began, file=sys.stderr, flush=True)


if __name__ == "__main__":
    options = dict(option.removeprefix("--").split("=") for option in sys.argv[1:])
    add_many(int(options.get("tools", 0)))
    if options.get("transport") != "http":
        server.run(show_banner=False, log_level="WARNING")
    else:
        server.run(
            "http",
            host="127.0.0.1",
            port=int(options["port"]),
            json_response="json" in options,
            show_banner=False,
            log_level="WARNING",
        )
