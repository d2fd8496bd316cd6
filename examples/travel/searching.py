"""The tools that find flights and hotels, and the one that lets the client's model choose.

https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
"""

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from splice import Context, Server, ToolError
from splice.errors import MissingClientCapability, RPCError
from splice.types import CallToolResult, ModelHint, ModelPreferences, ToolAnnotations

from . import shapes
from .desk import Desk, city_of, rooms_for
from .flights import AIRLINE, Option
from .seeding import PREFERENCES

BEST = 3
"""How many flights are recommended."""

MORNING = range(5, 12)
EVENING = range(17, 24)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

SYSTEM = "You are a travel expert helping users find the best flights based on their preferences"
MODEL = ModelPreferences(
    hints=[ModelHint(name="claude-3-5-sonnet")],
    cost_priority=0.3,
    speed_priority=0.2,
    intelligence_priority=0.9,
)

Origin = Annotated[str, Meta(description="Departure city, or the code of a city or airport", examples=["NYC"])]
Destination = Annotated[str, Meta(description="Arrival city, or the code of a city or airport", examples=["Barcelona"])]
Day = Annotated[dt.date, Meta(description="Travel date")]
Guests = Annotated[int, Meta(ge=1, le=9, description="How many people; two share a room")]
Limit = Annotated[int, Meta(ge=1, le=50, description="How many to return at most")]
_ORDERS: dict[str, Callable[[Option], Any]] = {
    "price": lambda option: (option.cents, option.minutes),
    "duration": lambda option: (option.minutes, option.cents),
    "departure": lambda option: (option.departs, option.cents),
}


class Pick(Struct):
    """An option that a model chose."""

    number: Annotated[int, Meta(ge=1, description="The number of an option")]
    reason: Annotated[str, Meta(max_length=400, description="Why, in one sentence")]


class Choice(Struct):
    """The best options, the very best first."""

    best: Annotated[list[Pick], Meta(min_length=BEST, max_length=BEST)]


def add(server: Server) -> None:
    """Offer the tools."""
    tools: list[tuple[Callable[..., Any], str, str, Any]] = [
        (search_flights, "searchFlights", "Search flights", shapes.FlightOptions),
        (search_hotels, "searchHotels", "Search hotels", shapes.HotelOptions),
        (find_best_flight, "findBestFlight", "Find the best flight", shapes.BestFlights),
    ]
    for fn, name, title, result in tools:
        server.add_tool(fn, name=name, title=title, annotations=READS, output_schema=shapes.schema_of(result))


def search_flights(
    origin: Origin,
    destination: Destination,
    date: Day,
    ctx: Context[Desk],
    stops: Annotated[int, Meta(ge=0, le=2, description="How many stops at most")] = 2,
    sort: Literal["price", "duration", "departure"] = "price",
    travelers: Annotated[int, Meta(ge=1, le=9, description="Leave out flights with fewer seats left")] | None = None,
    limit: Limit = 10,
) -> CallToolResult:
    """Search for available flights of one day, one way. Returns options with ids to book them by, the best first."""
    desk = ctx.lifespan
    start, end, found = desk.options(origin, destination, date)
    seats = desk.seats(found)
    fits = [option for option in found if option.stops <= stops and seats[option.id] >= (travelers or 0)]
    shown = sorted(fits, key=_ORDERS[sort])[:limit]
    more = f", {len(shown)} of them shown; raise `limit` for more" if len(shown) < len(fits) else ""
    lines = [f"{start.label} to {end.label} on {date}: {len(fits)} options by {sort}{more}."]
    lines += [shapes.flight_line(option, seats[option.id]) for option in shown]
    options = [shapes.flight_option(option, seats[option.id]) for option in shown]
    return shapes.told("\n".join(lines), shapes.FlightOptions(start.label, end.label, date, "USD", len(fits), options))


def search_hotels(
    city: Annotated[str, Meta(description="City, or the code of its airport")],
    arrival: Annotated[dt.date, Meta(description="First night")],
    departure: Annotated[dt.date, Meta(description="Day of leaving")],
    ctx: Context[Desk],
    guests: Guests = 2,
    budget: Annotated[float, Meta(gt=0, description="The most for one night, for all guests, in US dollars")]
    | None = None,
    limit: Limit = 10,
) -> CallToolResult:
    """Search for hotels with free rooms for all nights of a stay. Returns ids to book by, best first."""
    desk = ctx.lifespan
    place, nights = city_of(city, "city"), desk.nights(arrival, departure)
    with desk.reading() as db:
        query = "SELECT id FROM hotels WHERE city = ? ORDER BY rating DESC, id"
        ids = [row["id"] for row in db.execute(query, (place.name,))]
    found = [_hotel(desk, id, (arrival, departure), guests, budget) for id in ids]
    fits = [hotel for hotel in found if hotel.rooms]
    shown = fits[:limit]
    more = f", {len(shown)} of them shown; raise `limit` for more" if len(shown) < len(fits) else ""
    lines = [f"{place.name}, {arrival} to {departure}, {nights} nights, {guests} guests: {len(fits)} hotels{more}."]
    for hotel in shown:
        prices = "; ".join(f"{room.type} ${room.night} a night, ${room.total} in all" for room in hotel.rooms)
        lines.append(f"{hotel.id}: {hotel.name}, {hotel.stars} stars, {hotel.area}, rated {hotel.rating}: {prices}")
    rooms = rooms_for(guests)
    value = shapes.HotelOptions(place.name, arrival, departure, nights, guests, rooms, "USD", len(fits), shown)
    return shapes.told("\n".join(lines), value)


async def find_best_flight(
    origin: Origin,
    destination: Destination,
    date: Day,
    ctx: Context[Desk],
    preferences: Annotated[
        str, Meta(max_length=500, description="What matters; by default what is known of the traveler")
    ] = "",
    travelers: Annotated[int, Meta(ge=1, le=9, description="How many people fly")] = 1,
) -> CallToolResult:
    """Compare all flights of a day and recommend three. The client's model weighs them, where the client lets it."""
    desk = ctx.lifespan
    start, end, found = desk.options(origin, destination, date)
    if len(found) < BEST:
        raise ToolError(f"{len(found)} flights fit from {origin!r} to {destination!r}. Give the cities, not airports.")
    likes = PREFERENCES[end.region]
    wishes = preferences or _wishes(likes)
    # The seats that are left are a part of the question, which must stay the same when the tool runs again.
    seats: dict[str, int] = await ctx.once(asyncio.to_thread, lambda: desk.seats(found), key="seats")
    fits = [option for option in found if seats[option.id] >= travelers]
    ranked_by: Literal["model", "rules"] = "rules"
    try:
        text = _question(found, seats, wishes, travelers)
        picks, ranked_by = await _ask(ctx, found, fits, text), "model"
        note = f"Chosen by the client's model out of {len(found)} options."
    except MissingClientCapability:
        note = "This client has no model to ask"
    except (RPCError, ToolError) as error:
        note = f"The client's model gave no usable answer ({str(error)[:120]})"
    if ranked_by == "rules":
        note += "; ranked by fixed rules: price, duration, stops, and the traveler's usual departure and airlines."
        ranked = sorted(fits, key=lambda option: _score(option, likes, found))
        picks = [(option, _reason(option, found)) for option in ranked[:BEST]]
    best = [shapes.Recommendation(shapes.flight_option(option, seats[option.id]), why) for option, why in picks]
    value = shapes.BestFlights(start.label, end.label, date, "USD", len(found), wishes, ranked_by, note, best)
    lines = [f"The best of {len(found)} flights from {start.label} to {end.label} on {date}, for: {wishes}.", note]
    for place, (option, why) in enumerate(picks, 1):
        lines.append(f"{place}. {shapes.flight_line(option, seats[option.id])}. {why}")
    return shapes.told("\n".join(lines), value)


async def _ask(ctx: Context[Desk], found: list[Option], fits: list[Option], text: str) -> list[tuple[Option, str]]:
    """Let the client's model choose. Raises `RPCError` and `ToolError` where it cannot, or chooses nothing of use."""
    answer = await ctx.sample(text, Choice, key="best", system_prompt=SYSTEM, model_preferences=MODEL, max_tokens=1500)
    chosen = [pick.number for pick in answer.best]
    if len(set(chosen)) < BEST or max(chosen) > len(found) or any(found[each - 1] not in fits for each in chosen):
        raise ToolError(f"it chose the options {', '.join(map(str, chosen))}")
    return [(found[pick.number - 1], " ".join(pick.reason.split())) for pick in answer.best]


def _question(found: list[Option], seats: dict[str, int], wishes: str, travelers: int) -> str:
    """Write down all options for a model."""
    lines = ["Analyze these flight options and recommend the best choice:"]
    for number, option in enumerate(found, 1):
        lines.append(f"{number}. {shapes.flight_line(option, seats[option.id]).partition(': ')[2]}")
    lines += [f"User preferences: {wishes}", f"Travelers: {travelers}"]
    return "\n".join(
        [*lines, f"Choose the best {BEST} different options, by their numbers, the best first, and say why."]
    )


def _hotel(desk: Desk, id: str, stay: tuple[dt.date, dt.date], guests: int, budget: float | None) -> shapes.HotelOption:
    hotel = desk.hotel(id)
    nights = (stay[1] - stay[0]).days
    rooms = [
        shapes.Room(kind, shapes.money(round(cents / nights)), shapes.money(cents), left)
        for kind, (cents, left) in desk.free_rooms(hotel, *stay, guests).items()
        if budget is None or cents <= budget * 100 * nights
    ]
    facts = {name: hotel[name] for name in ("id", "name", "stars", "rating", "style", "area")}
    return shapes.HotelOption(**facts, rooms=rooms)


def _wishes(likes: dict[str, Any]) -> str:
    layovers = f"max {likes['layovers']} layover{'' if likes['layovers'] == 1 else 's'}"
    return f"{likes['departure']}, {layovers}, likes {' and '.join(likes['airlines'])}"


def _score(option: Option, likes: dict[str, Any], found: list[Option]) -> float:
    """Weigh a flight against the others of its day by the traveler's likes: less is better."""
    cheapest, fastest = min(each.cents for each in found), min(each.minutes for each in found)
    hours = {"morning departure": MORNING, "evening departure": EVENING}.get(likes["departure"], range(24))
    score: float = (
        option.cents / cheapest
        + 0.7 * option.minutes / fastest
        + 0.5 * max(option.stops - likes["layovers"], 0)
        + (0.0 if option.departs.hour in hours else 0.3)
        - (0.1 if AIRLINE[option.airline].name in likes["airlines"] else 0.0)
    )
    return score


def _reason(option: Option, found: list[Option]) -> str:
    cheaper = sum(each.cents < option.cents for each in found)
    faster = sum(each.minutes < option.minutes for each in found)
    stops = "direct" if not option.stops else f"{option.stops} stop{'s' * (option.stops > 1)}"
    return f"Leaves at {option.departs:%H:%M}, {stops}; {cheaper} options are cheaper, {faster} are faster."
