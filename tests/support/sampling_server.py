"""A server that asks the client's model, lends it functions, and wants values of types."""

from dataclasses import dataclass

from splice import Context, Server


@dataclass
class Wine:
    """A bottle."""

    name: str
    year: int


def build() -> Server:
    server = Server("sampling")
    carried_out: list[str] = []

    @server.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        carried_out.append(f"add {a} {b}")
        return a + b

    async def shout(text: str, ctx: Context) -> str:
        """Say it loudly."""
        await ctx.info("shouting")
        carried_out.append(f"shout {text}")
        return text.upper()

    @server.tool
    async def agent(task: str, ctx: Context) -> str:
        """Let the model work on a task."""
        reply = await ctx.sample(task, tools=["add", shout])
        done, carried_out[:] = ", ".join(sorted(carried_out)), []
        return f"{reply.text} ({done})"

    @server.tool
    async def pick(ctx: Context) -> str:
        """Let the model pick a wine."""
        wine = await ctx.sample("Pick a wine", result_type=Wine)
        assert isinstance(wine, Wine)
        return f"{wine.name} of {wine.year}"

    return server


if __name__ == "__main__":
    build().run()
