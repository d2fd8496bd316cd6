"""A server that asks, reports and grows, on whichever SDK its environment has: `mcp` 2, or FastMCP. Over stdio."""

from pydantic import BaseModel

try:
    from fastmcp import Context, FastMCP
except ImportError:
    from mcp.server import MCPServer as FastMCP
    from mcp.server.mcpserver import Context

server = FastMCP("asking")


class Seat(BaseModel):
    """Where to sit."""

    seat: str


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def book(ctx: Context) -> str:
    """Book a seat."""
    answer = await ctx.elicit("Which seat?", Seat)
    return f"{answer.action}: {answer.data.seat}"


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Count, and tell how far it got."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps)
    return f"counted to {steps}"


@server.tool()
async def grow(ctx: Context) -> str:
    """Add a tool, which only `mcp` tells of by itself."""

    @server.tool()
    def fruit() -> str:
        """Give a fruit."""
        return "an apple"

    await ctx.session.send_tool_list_changed()
    return "grown"


@server.resource("note://motto")
def motto() -> str:
    """Say the motto."""
    return "Write it once."


@server.prompt()
def review(code: str) -> str:
    """Ask for a review."""
    return f"Review {code}"


server.run()
