"""Questions of every kind: text, a number, a choice, several choices, a form, a plain yes. The port of two examples.

FastMCP asks with `response_type=`, `mcp` with `schema=`: here it is the second argument, and the code is the same for
clients of all versions.

splice call examples/ports/elicitation.py introduce
splice call examples/ports/elicitation.py reserve day=2026-12-25 guests=4
"""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

from splice import Context, Server

server = Server("questions")
FULL = [date(2026, 12, 25)]


@dataclass
class Other:
    """What to do about a day that is full."""

    wait: Annotated[bool, "Shall we call you when a table is free?"]
    day: Annotated[date, "Another day"] = date(2026, 12, 26)


@server.tool
async def introduce(ctx: Context) -> str:
    """Get to know the user, one question after the other."""
    name = (await ctx.elicit("What is your name?", str)).data
    age = (await ctx.elicit("How old are you?", int)).data
    drink = (await ctx.elicit("What would you like?", Literal["tea", "coffee"])).data
    extras = (await ctx.elicit("What with it?", list[Literal["milk", "sugar", "lemon"]])).data
    return f"{name} ({age}): {drink} with {' and '.join(extras) or 'nothing'}"


@server.tool
async def leave(ctx: Context) -> str:
    """Ask for consent, and nothing else."""
    return "left" if (await ctx.elicit("Leave now?")).accepted else "stayed"


@server.tool
async def reserve(day: date, guests: int, ctx: Context) -> str:
    """Reserve a table, or agree on another day."""
    if day not in FULL:
        return f"a table for {guests} on {day}"
    answer = await ctx.elicit(f"No table for {guests} on {day}.", Other)
    if not answer.accepted:
        return f"no table: {answer.action}"
    return f"a table for {guests} on {answer.data.day}" + (", and we call you" if answer.data.wait else "")


if __name__ == "__main__":
    server.run()
