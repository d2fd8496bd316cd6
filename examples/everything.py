"""A server that shows what a server can offer.

    python examples/everything.py                       speaks over stdin and stdout
    python examples/everything.py --http --port 8000    serves http://127.0.0.1:8000/mcp

Each function is written once and serves every protocol version.
"""

import argparse
import asyncio
import base64
from dataclasses import dataclass
from typing import Annotated, Literal

from splice import Context, Image, Server, ToolError

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LANGUAGES = ["python", "pascal", "rust", "ruby"]

server = Server("everything", version="1.0.0", instructions="Start with `add`; `introduce` asks the user a question.")
journal: list[str] = []


@dataclass
class Weather:
    """What it is like outside."""

    city: str
    celsius: float
    sky: Literal["clear", "cloudy", "rain"]


@dataclass
class Person:
    """Who is there."""

    name: Annotated[str, "What shall I call you?"]
    age: Annotated[int, "In years"] = 30


@server.tool
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@server.tool
def weather(city: Annotated[str, "Where"]) -> Weather:
    """Tell the weather: an object, so the client gets data and the model gets text."""
    return Weather(city=city, celsius=21.5, sky="clear")


@server.tool
def picture() -> Image:
    """Draw a very small picture."""
    return Image(PIXEL, mime_type="image/png")


@server.tool
async def count(steps: int, ctx: Context) -> str:
    """Count, and tell how far it got."""
    for step in range(1, steps + 1):
        await ctx.progress(step, steps, f"counted to {step}")
        await asyncio.sleep(0.05)
    return f"counted to {steps}"


@server.tool
async def introduce(ctx: Context) -> str:
    """Ask the user who they are."""
    answer = await ctx.elicit("Who are you?", Person)
    if not answer.accepted:
        return f"The user chose to {answer.action}."
    return f"Hello {answer.data.name}, {answer.data.age}!"


@server.tool
async def summarize(text: str, ctx: Context) -> str:
    """Have the client's model sum up a text."""
    reply = await ctx.sample(f"Sum up in one line:\n\n{text}", max_tokens=100)
    return f"In short: {reply.text}"


@server.tool
async def workspace(ctx: Context) -> str:
    """Name the folders that the client opened."""
    return ", ".join(str(root.uri) for root in await ctx.roots())


@server.tool
async def chatter(ctx: Context) -> str:
    """Write three lines to the client's log."""
    await ctx.debug("looking around")
    await ctx.info("found something")
    await ctx.warning("it moves")
    return "done"


@server.tool
async def wait(seconds: Annotated[float, "How long"], ctx: Context) -> str:
    """Take a while; cancel it and it stops at once."""
    try:
        journal.append("wait: started")
        await ctx.progress(0, seconds)
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        journal.append("wait: cancelled")
        raise
    return f"waited {seconds} s"


@server.tool
async def touch(ctx: Context) -> str:
    """Tell whoever listens that the journal, and the list of tools, changed."""
    journal.append("touched")
    await ctx.notify_resource_updated("example://journal")
    await ctx.notify_tools_changed()
    return "touched"


@server.tool
def fail() -> str:
    """Fail with a message for the model."""
    raise ToolError("This tool always fails. That is all it does.")


@server.resource("example://motto", mime_type="text/plain")
def motto() -> str:
    """Give one line to live by."""
    return "Write it once."


@server.resource("example://pixel", mime_type="image/png")
def pixel() -> bytes:
    """Give the picture as bytes."""
    return PIXEL


@server.resource("example://journal", mime_type="text/plain")
def read_journal() -> str:
    """Tell what happened here so far."""
    return "\n".join(journal) or "nothing"


@server.resource("example://users/{name}", mime_type="application/json")
def user(name: str) -> dict[str, str]:
    """Look up a user."""
    return {"name": name, "home": f"/home/{name}"}


@server.prompt
def review(code: Annotated[str, "What to look at"], language: str = "python") -> str:
    """Ask for a code review."""
    return f"Please review this {language} code:\n\n{code}"


@server.completion("review", "language")
def suggest_language(value: str) -> list[str]:
    """Suggest languages."""
    return [each for each in LANGUAGES if each.startswith(value)]


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description="The example server.")
    parser.add_argument("--http", action="store_true", help="serve HTTP instead of stdin and stdout")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    if options.http:
        server.run("http", host="127.0.0.1", port=options.port)
    else:
        server.run()


if __name__ == "__main__":
    main()
