"""A small server on whichever SDK its environment has: `mcp` 1.x, or FastMCP. `small_server.py stdio|http|sse PORT`."""

import sys
from typing import Any

try:
    from fastmcp import Context, FastMCP
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP

kind, port = sys.argv[1], int((*sys.argv, 0)[2])

try:
    server = FastMCP("small", port=port)  # `mcp` wants to know it here
    options: dict[str, Any] = {}
except TypeError:
    server = FastMCP("small")
    options = {"host": "127.0.0.1", "port": port}


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("on purpose")


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Count, and tell how far it got."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps)
    return f"counted to {steps}"


@server.resource("note://motto")
def motto() -> str:
    """Say the motto."""
    return "Write it once."


@server.resource("note://users/{name}")
def user(name: str) -> str:
    """Tell of a user."""
    return f"user {name}"


@server.prompt()
def review(code: str) -> str:
    """Ask for a review."""
    return f"Review {code}"


if kind == "stdio":
    server.run()
else:
    server.run(transport="sse" if kind == "sse" else "streamable-http", **options)
