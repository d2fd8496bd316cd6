"""The server of the behaviour tests: in this process, on stdio as a program, and over HTTP."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from splice import Ask, Context, Image, InputRequired, Server, ToolError
from splice.types import ElicitParams


@dataclass
class Person:
    """Who is there."""

    name: Annotated[str, "What shall I call you?"]
    age: int = 30


class Held:
    """A call that does what other calls tell it to, so that a test decides what happens when."""

    def __init__(self) -> None:
        self.orders: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self.state = "waiting"


class Holds:
    """All such calls, by a name that the test makes up."""

    def __init__(self) -> None:
        self._all: dict[str, Held] = {}

    def __getitem__(self, name: str) -> Held:
        return self._all.setdefault(name, Held())


def build() -> Server:
    """Make a new server."""
    server = Server("behaving", version="3.2.1", instructions="Behave.", page_size=4)
    add_tools(server)
    add_talkers(server)
    add_questions(server)
    add_holds(server, Holds())
    add_the_rest(server)
    return server


def add_tools(server: Server) -> None:
    """Add tools that need nobody but themselves."""

    @server.tool
    async def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    def person() -> Person:
        return Person("Ada")

    @server.tool
    def picture() -> Image:
        return Image(b"\x89PNG")

    @server.tool
    def fail(why: str) -> str:
        raise ToolError(why)

    @server.tool
    def crash() -> str:
        raise ValueError("a secret of ours")


def add_talkers(server: Server) -> None:
    """Add tools that tell the client something."""

    @server.tool
    async def steps(values: list[float], ctx: Context) -> str:
        for value in values:
            await ctx.progress(value, 10, "a step")
        return "done"

    @server.tool
    async def chatter(ctx: Context) -> str:
        await ctx.debug("very low")
        await ctx.info("low")
        await ctx.error({"how": "high"}, logger="mine")
        return "done"

    @server.tool
    async def grow(name: str, ctx: Context) -> str:
        server.add_tool(lambda: "grown", name=name)
        await ctx.notify_prompts_changed()
        await ctx.notify_resources_changed()
        return "grown"

    @server.tool
    async def touch(uri: str, ctx: Context) -> str:
        await ctx.notify_resource_updated(uri)
        return "touched"


def add_questions(server: Server) -> None:
    @server.tool
    async def introduce(ctx: Context) -> str:
        answer = await ctx.elicit("Who are you?", Person)
        return f"{answer.data.name}, {answer.data.age}" if answer.accepted else answer.action

    @server.tool
    async def sign_in(ctx: Context) -> str:
        return (await ctx.elicit_url("Sign in", "https://example.com/sign-in")).action

    @server.tool
    async def summarize(text: str, ctx: Context) -> str:
        return (await ctx.sample(f"Sum up: {text}", max_tokens=20)).text

    @server.tool
    async def places(ctx: Context) -> str:
        return " ".join(root.uri for root in await ctx.roots())

    @server.tool
    async def everything(ctx: Context) -> str:
        first = await ctx.elicit("First?", Person)
        count = await ctx.once(count_up)
        second = await ctx.sample("Second?")
        third = await ctx.roots()
        return f"{first.data.name if first.accepted else '-'} {second.text} {len(third)} {count > 0}"

    @server.tool
    async def together(ctx: Context) -> str:
        who, word, roots = await ctx.ask(Ask.form("Who are you?", Person), Ask.sample("Speak."), Ask.roots())
        return f"{who.data.name} {word.text} {roots[0].uri}"

    @server.tool
    async def by_hand(ctx: Context) -> Any:
        if ctx.state != "asked":
            form = ElicitParams(message="Name?", requested_schema={"type": "object", "properties": {}})
            return InputRequired({"form": form, "roots": None}, state="asked")
        return f"{ctx.answers['form']['action']} {len(ctx.answers['roots']['roots'])}"

    counter = [0]

    def count_up() -> int:
        counter[0] += 1
        return counter[0]


def add_holds(server: Server, holds: Holds) -> None:
    @server.tool
    async def hold(name: str, ctx: Context) -> str:
        """Do as told until told to reply."""
        held = holds[name]
        held.state = "running"
        try:
            while True:
                order, value = await held.orders.get()
                if order == "reply":
                    held.state = "done"
                    return f"{name}: {value}"
                await ctx.progress(value)
        except asyncio.CancelledError:
            held.state = "cancelled"
            raise

    @server.tool
    async def order(name: str, order: str, value: float = 0.0) -> str:
        holds[name].orders.put_nowait((order, value))
        return "told"

    @server.tool
    async def state(name: str) -> str:
        return holds[name].state


def add_the_rest(server: Server) -> None:
    @server.resource("data://motto")
    def motto() -> str:
        return "Write it once."

    @server.resource("data://bytes")
    def some_bytes() -> bytes:
        return b"\x00\xff"

    @server.resource("data://users/{name}")
    def user(name: str) -> dict[str, str]:
        return {"name": name}

    @server.prompt
    def review(code: str, language: str = "python") -> str:
        """Ask for a review."""
        return f"Review this {language}: {code}"

    @server.completion("review", "language")
    def languages(value: str, known: dict[str, str]) -> list[str]:
        return [each for each in ("python", "pascal", "rust") if each.startswith(value) and known.get("code") != "none"]


if __name__ == "__main__":
    build().run()
