"""A server whose lists have pages, whose prompts complete by themselves, and which says what may be kept."""

from typing import Literal

from splice import Context, Server


def build() -> Server:
    server = Server("offering", page_size=2, ttl=60, scope="public")

    def nothing() -> None:
        """Do nothing."""

    for number in range(5):
        server.add_tool(nothing, name=f"n{number}")

    @server.tool
    def shrink() -> None:
        """Remove the tools that a client saw first."""
        for number in (1, 2):
            server.remove_tool(f"n{number}")

    @server.resource("data://hours", ttl=1.5, scope="public")
    def hours() -> str:
        return "9 to 5"

    @server.resource("data://{day}/{open}")
    def day(day: Literal["monday", "Tuesday"], open: bool) -> str:
        return f"{day} {open}"

    @server.prompt
    def advert(item: str, tone: Literal["dry", "dreamy", "loud"] = "dry") -> str:
        return f"{tone} {item}"

    @server.completion("advert", "item")
    async def items(typed: str, known: dict[str, str], ctx: Context) -> str:
        return f"{typed} {known.get('tone')} {ctx.version}"

    return server


if __name__ == "__main__":
    build().run()
