"""The server that `splice demo` starts: a small restaurant.

    splice run demo_server.py

Each function is written once and serves every protocol version on every transport.
"""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Literal

from splice import Context, Server, ToolError

MENU = {"soup": 6.5, "pasta": 11.0, "cake": 4.5}

server = Server("trattoria", version="1.0.0", instructions="A small restaurant. Read menu://today first.")


@dataclass
class Bill:
    """What a guest has to pay."""

    dish: str
    count: int
    total: float


@dataclass
class Reservation:
    """Who comes, and where they sit."""

    name: Annotated[str, "For whom?"]
    guests: Annotated[int, "How many?"] = 2
    place: Literal["inside", "terrace"] = "inside"


@server.tool
def price(dish: Annotated[str, "A dish on the menu"], count: int = 1) -> Bill:
    """Tell what a dish costs."""
    if dish not in MENU:
        raise ToolError(f"There is no {dish}. On the menu: {', '.join(MENU)}.")
    return Bill(dish=dish, count=count, total=MENU[dish] * count)


@server.tool
async def cook(dish: str, ctx: Context, minutes: int = 5) -> str:
    """Cook a dish, telling how far it is. A minute takes a moment here."""
    await ctx.info(f"the kitchen begins with the {dish}")
    for minute in range(1, minutes + 1):
        await asyncio.sleep(0.04)
        await ctx.progress(minute, minutes, f"{dish} on the stove")
    return f"One {dish}, hot."


@server.tool
async def reserve(ctx: Context) -> str:
    """Reserve a table, after asking the user for whom."""
    answer = await ctx.elicit("A table, with pleasure. Who will come?", Reservation)
    if not answer.accepted:
        return "No table, then."
    return f"A table for {answer.data.guests}, {answer.data.place}, for {answer.data.name}."


@server.resource("menu://today", mime_type="application/json")
def menu() -> dict[str, float]:
    """Show the menu."""
    return MENU


@server.resource("menu://today/{dish}")
def dish_of_the_menu(dish: str) -> str:
    """Describe a dish."""
    return f"{dish}, {MENU.get(dish, 0):.2f}"


@server.prompt
def recommend(mood: Annotated[str, "How the guest feels"], budget: int = 20) -> str:
    """Ask for a recommendation."""
    return f"I feel {mood} and want to spend {budget} at most. What should I eat? The menu is at menu://today."


if __name__ == "__main__":
    server.run()
