"""The server the tests of the command line talk to."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Literal

from splice import Context, Image, Server, ToolError
from splice.types import EmbeddedResource, ImageContent, PromptMessage, ResourceContents, ToolAnnotations

server = Server("shop \x1b[31m", version="1.0", title="The \x1b[1m shop", instructions="Look \x1b[2J around.")


@dataclass
class Order:
    name: Annotated[str, "For whom?"]
    count: int = 1
    size: Literal["small", "large"] = "small"
    gift: bool = False
    colours: list[Literal["red", "green"]] | None = None


@server.tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@server.tool
def kinds(text: str, items: list[int] | None = None, flag: bool = False, share: float = 0.5) -> str:
    return repr((text, items, flag, share))


@server.tool(title="Find \x1b it", annotations=ToolAnnotations(read_only_hint=True))
def find(order: Order) -> str:
    return order.name


@server.tool(description="Say \x1b[31mred\u202e.")
def evil() -> str:
    return "\x1b]0;owned\x07 done \u202eabc"


@server.tool
def fail() -> str:
    raise ToolError("no \x1b[31mpaper")


@server.tool
def picture() -> Image:
    return Image(b"123")


@server.tool
async def count(to: int, ctx: Context) -> str:
    await ctx.info("counting \x1b[0m")
    await ctx.info({"from": 1})
    for each in range(1, to + 1):
        await ctx.progress(each, to, "step \x1b[1m")
    return "counted"


@server.tool
async def order(ctx: Context) -> str:
    answer = await ctx.elicit("What shall it be?", Order)
    return answer.action if not answer.accepted else repr(answer.data)


@server.tool
async def sign_in(ctx: Context) -> str:
    return (await ctx.elicit_url("Sign in, \x1b[1mplease.", "https://example.com/sign-in")).action


@server.tool
async def guess(ctx: Context) -> str:
    return f"It said: {(await ctx.sample('What is my colour?', max_tokens=10)).text}"


@server.tool
def boom() -> str:
    raise KeyError("the \x1b[31mcause")


@server.tool
async def nap(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "rested"


@server.resource("shop://evil", description="A text with \x1b[31mcolour.")
def evil_text() -> str:
    return "a\x1b[31mb\n"


@server.resource("shop://bytes", mime_type="image/png")
def some_bytes() -> bytes:
    return b"\x00\xff\x1b"


@server.resource("shop://items/{name}")
def item(name: str) -> str:
    return name


@server.prompt(description="Greet \x1b[31msomebody.")
def greet(name: str, tone: Annotated[str, "How \x1b[1m it sounds"] = "kind") -> str:
    return f"Greet {name}, {tone}.\x1b[0m"


@server.prompt
def look() -> list[PromptMessage]:
    picture = ImageContent(data="MTIz", mime_type="image/png")
    page = EmbeddedResource(resource=ResourceContents(uri="shop://evil", text="a\x1b"))
    return [PromptMessage(role="user", content=picture), PromptMessage(role="user", content=page)]


if __name__ == "__main__":
    server.run()
