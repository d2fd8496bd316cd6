"""A server that says how long everything may be kept, and counts what it is asked for."""

from collections import Counter
from typing import Any

from splice import Context, Server
from splice.server.call import Call


def build() -> Server:
    asked: Counter[str] = Counter()

    async def count(call: Call, proceed: Any) -> Any:
        asked[call.row.name] += 1
        return await proceed(call)

    server = Server("keeping", page_size=2, ttl=600, middleware=[count])

    @server.resource("data://hours", ttl=600, scope="public")
    def hours() -> str:
        return str(asked["resources/read"])

    @server.resource("data://{owner}/hours", ttl=600)
    async def hours_of(owner: str, ctx: Context) -> str:
        """Ask whoever wants to know."""
        answer = await ctx.elicit(f"Are you {owner}?", bool)
        return f"{asked['resources/read']} {answer.accepted}"

    @server.tool
    def counted() -> dict[str, int]:
        """Tell how often each method was asked for."""
        return dict(asked)

    @server.tool
    async def turn(ctx: Context) -> None:
        """Change something of everything."""
        server.add_tool(counted, name=f"new{asked['tools/call']}")
        await ctx.notify_resource_updated("data://hours")

    @server.prompt
    def advert() -> str:
        return "buy"

    return server


if __name__ == "__main__":
    build().run()
