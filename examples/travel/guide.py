"""The resources of the travel server, their completion, and the prompt that begins a journey."""

import datetime as dt
import json
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import quote

from msgspec import Meta

from splice import Context, InvalidParams, ResourceNotFound, Server, ToolError
from splice.types import Annotations, EmbeddedResource, PromptMessage, ResourceContents, ResourceLink, TextContent

from . import flights, shapes
from .desk import Desk, city_of
from .places import City, complete_airports, complete_cities, find_city, fold, nearest_airport
from .seeding import CATEGORIES, COASTAL, PREFERENCES, TRIPS

FARE_DAYS = 14
"""For how many days the cheapest fare is told."""

FLIGHTS = "travel://flights/{origin}/{destination}"
ACTIVITIES = "travel://activities/{city}/{category}"
LIKES = "travel://preferences/{region}"
PAST = "travel://past-trips/{trip}"
HISTORY = "trips://history/{trip}"
JSON, MARKDOWN = "application/json", "text/markdown"


def add(server: Server) -> None:
    """Offer resources, completion and the prompt."""
    about: dict[str, Any] = {"mime_type": JSON, "annotations": Annotations(audience=["user", "assistant"])}
    server.add_resource(route, FLIGHTS, name="flight-search", title="Flight Search", **about)
    server.add_resource(activities, ACTIVITIES, name="activities", title="Activities", **about)
    server.add_resource(preferences, LIKES, name="preferences", title="Travel preferences", **about)
    server.add_resource(past_trip, PAST, name="past-trips", title="Past trips", **about)
    about["mime_type"] = MARKDOWN
    server.add_resource(history, HISTORY, name="trip-history", title="The story of a past trip", **about)
    for region in PREFERENCES:
        _list(server, LIKES, region, preferences, f"What the traveler likes: {region}")
    for trip, facts in TRIPS.items():
        _list(server, PAST, trip, past_trip, facts["title"])
        _list(server, HISTORY, trip, history, f"The story of {facts['title']}")
    server.completion(FLIGHTS, "origin")(complete_airports)
    server.completion(FLIGHTS, "destination")(_complete_destination)
    server.completion(ACTIVITIES, "city")(complete_cities)
    server.completion(ACTIVITIES, "category")(_complete_category)
    server.completion(LIKES, "region")(_beginning(PREFERENCES))
    server.completion(PAST, "trip")(_beginning(TRIPS))
    server.completion(HISTORY, "trip")(_beginning(TRIPS))
    server.add_prompt(plan_vacation, name="plan-vacation", title="Plan a vacation")
    server.completion("plan-vacation", "destination")(complete_cities)
    server.completion("plan-vacation", "interests")(_complete_interests)


def route(origin: str, destination: str, ctx: Context[Desk]) -> dict[str, Any]:
    """Search available flights between cities: who flies, how long it takes, and the cheapest fare of the next days."""
    desk = ctx.lifespan
    start, end = _airport(origin), _airport(destination)
    if start == end:
        raise ResourceNotFound(f"{start.label} is both origin and destination")
    today = desk.today()
    days = [today + timedelta(days=number) for number in range(1, FARE_DAYS + 1)]
    found = {day: flights.options(desk.seed, start, end, day) for day in days}
    first = found[days[0]]
    return {
        "origin": start.label,
        "destination": end.label,
        "optionsPerDay": len(first),
        "direct": sum(not option.stops for option in first),
        "shortestMinutes": min(option.minutes for option in first),
        "airlines": sorted({flights.AIRLINE[option.airline].name for option in first}),
        "currency": "USD",
        "cheapestFares": {str(day): shapes.money(min(each.cents for each in found[day])) for day in days},
    }


def activities(city: str, category: str, ctx: Context[Desk]) -> list[dict[str, Any]]:
    """List what one can do in a city: museums, beaches, food, architecture and more."""
    place = find_city(city)
    if place is None or category.lower() not in CATEGORIES:
        known = f"a city, and one of {', '.join(CATEGORIES)}"
        raise ResourceNotFound(f"No activities {category[:40]!r} in {city[:40]!r}: give {known}")
    query = "SELECT name, about, hours, cents FROM activities WHERE city = ? AND category = ? ORDER BY rowid"
    with ctx.lifespan.reading() as db:
        rows = db.execute(query, (place.name, category.lower())).fetchall()
    return [
        {"name": name, "about": about, "hours": hours, "price": shapes.money(cents), "currency": "USD"}
        for name, about, hours, cents in rows
    ]


def preferences(region: str, ctx: Context[Desk]) -> dict[str, Any]:
    """Tell what the traveler likes in a part of the world: departures, airlines, seats, hotels, interests."""
    with ctx.lifespan.reading() as db:
        row = db.execute("SELECT value FROM preferences WHERE region = ?", (region.lower(),)).fetchone()
    if row is None:
        raise ResourceNotFound(f"Nothing is known of {region[:40]!r}; there are {', '.join(PREFERENCES)}")
    value: dict[str, Any] = json.loads(row["value"])
    return {"region": region.lower(), **value}


def past_trip(trip: str, ctx: Context[Desk]) -> dict[str, Any]:
    """Tell about a past trip: where, when, what it cost, what was liked, and what not again."""
    with ctx.lifespan.reading() as db:
        row = db.execute("SELECT value FROM trips WHERE lower(name) = ?", (trip.lower(),)).fetchone()
    if row is None:
        raise ResourceNotFound(f"There is no trip {trip[:40]!r}; there are {', '.join(TRIPS)}")
    value: dict[str, Any] = json.loads(row["value"])
    return value


def history(trip: str, ctx: Context[Desk]) -> str:
    """Tell the story of a past trip, to follow its style."""
    facts = past_trip(trip, ctx)
    lines = [f"# {facts['title']}", "", f"{facts['from']} to {facts['to']}, {facts['travelers']} travelers."]
    lines += ["", "## Places", "", *(f"- {city}" for city in facts["cities"])]
    lines += ["", "## Liked", "", *(f"- {each}" for each in facts["liked"])]
    lines += ["", "## Not again", "", f"- {facts['notAgain']}", "", f"It cost ${facts['spent']}."]
    return "\n".join(lines) + "\n"


def plan_vacation(
    destination: Annotated[str, Meta(description="City, such as Barcelona")],
    ctx: Context[Desk],
    departure_date: Annotated[dt.date | None, Meta(description="First day, YYYY-MM-DD")] = None,
    return_date: Annotated[dt.date | None, Meta(description="Last day, YYYY-MM-DD")] = None,
    duration: Annotated[int, Meta(ge=1, le=30, description="days")] | None = None,
    budget: Annotated[float, Meta(gt=0, description="For all travelers together, in US dollars")] | None = None,
    travelers: Annotated[int, Meta(ge=1, le=9, description="How many people")] = 1,
    interests: Annotated[str, Meta(description="Such as: beaches, architecture, food")] = "",
) -> list[PromptMessage]:
    """Guide through vacation planning process."""
    desk = ctx.lifespan
    try:
        city, liked = city_of(destination, "city"), _words(interests)
        if departure_date is not None:
            desk.sold_day(departure_date)
            return_date = return_date or (departure_date + timedelta(days=duration) if duration else None)
        if departure_date is not None and return_date is not None:
            duration = desk.nights(departure_date, return_date)
    except (
        ToolError
    ) as error:  # of a tool it would be a result; who fills in a prompt is told that it is filled in wrong
        raise InvalidParams(str(error)) from None
    likes = preferences(city.region, ctx)
    liked = liked or likes["interests"]
    wanted = [each for each in dict.fromkeys(map(fold, liked)) if each in CATEGORIES]
    until = f" to {return_date}" if return_date else ""
    when = f"from {departure_date}{until}" if departure_date else "on dates that we still have to find"
    ask = [
        f"Plan a vacation in {city.name}, {city.country}, {when}.",
        f"Travelers: {travelers}.",
        f"Duration: {duration} days." if duration else "",
        f"Budget: {shapes.dollars(round(budget * 100))} for everything." if budget else "",
        f"Interests: {', '.join(liked)}.",
    ]
    messages = [_said("user", " ".join(filter(None, ask)))]
    messages += [_said("user", "This is what I like there:"), _embedded(LIKES.format(region=city.region), likes)]
    messages += [_link(name, facts) for name, facts in TRIPS.items() if _is_like(facts, city)]
    for category in wanted[:4]:
        uri = ACTIVITIES.format(city=quote(fold(city.name)), category=category)
        messages.append(_embedded(uri, activities(city.name, category, ctx)))
    messages.append(_said("assistant", "I have read your preferences, past trips, and what one can do there."))
    messages.append(_said("user", _steps(city, departure_date, return_date)))
    return messages


def _steps(city: City, departure: dt.date | None, back: dt.date | None) -> str:
    """Tell the model what to do, in order."""
    near = nearest_airport(city)
    dates = f"{departure} to {back}" if departure and back else "the dates that are free"
    steps = [
        f"Check my calendar, and the weather in {city.name}, for {dates}.",
        f"Find flights to {near.label} and back with findBestFlight, and tell me why they are the best.",
        "Find hotels with searchHotels within what is left of the budget, in the style of my past trips.",
        "Tell me the plan with its total, and wait until I agree.",
        "Book it with bookTrip. I confirm and pay myself; never ask me for card numbers.",
        "Write the itinerary with writeItinerary, mark the days in my calendar, and mail me the details.",
    ]
    return "Please go on in these steps:\n" + "\n".join(f"{place}. {step}" for place, step in enumerate(steps, 1))


def _list(server: Server, template: str, value: str, fn: Any, title: str) -> None:
    """Offer one resource of a template by its own URI, so that it is listed."""
    variable = template[template.index("{") : template.index("}") + 1]
    uri = template.replace(variable, value)
    mime_type = MARKDOWN if fn is history else JSON

    def read(ctx: Context[Desk]) -> Any:
        return fn(value, ctx)

    name = uri.partition("://")[2].replace("/", "-")
    server.add_resource(read, uri, name=name, title=title, description=fn.__doc__, mime_type=mime_type)


def _airport(typed: str) -> City:
    city = find_city(typed)
    if city is None or not city.airports:
        near = ", ".join(complete_airports(typed[:3])[:5])
        raise ResourceNotFound(f"No airport {typed[:40]!r} is known here{': perhaps ' + near if near else ''}")
    return city


def _is_like(facts: dict[str, Any], city: City) -> bool:
    return any(place is not None and place.country == city.country for place in map(find_city, facts["cities"]))


def _said(role: Any, text: str) -> PromptMessage:
    return PromptMessage(role=role, content=TextContent(text=text))


def _embedded(uri: str, value: Any) -> PromptMessage:
    contents = ResourceContents(uri=uri, mime_type=JSON, text=json.dumps(value, ensure_ascii=False))
    return PromptMessage(role="user", content=EmbeddedResource(resource=contents))


def _link(name: str, facts: dict[str, Any]) -> PromptMessage:
    link = ResourceLink(uri=HISTORY.format(trip=name), name=name, title=facts["title"], mime_type=MARKDOWN)
    return PromptMessage(role="user", content=link)


def _beginning(known: Iterable[str]) -> Callable[[str], list[str]]:
    return lambda typed: [each for each in known if each.lower().startswith(typed.lower())]


def _complete_destination(typed: str, known: dict[str, str]) -> list[str]:
    origin = find_city(known.get("origin", ""))
    return [label for label in complete_airports(typed) if origin is None or label != origin.label]


def _complete_category(typed: str, known: dict[str, str]) -> list[str]:
    city = find_city(known.get("city", ""))
    fits = [each for each in CATEGORIES if city is None or each != "beaches" or city.name in COASTAL]
    return _beginning(fits)(typed)


def _complete_interests(typed: str) -> list[str]:
    """Complete the last one of a list."""
    before, comma, last = typed.rpartition(",")
    given = {fold(each) for each in before.split(",")}
    fits = [each for each in CATEGORIES if each.startswith(fold(last)) and each not in given]
    return [f"{before}{comma}{' ' if comma else ''}{each}" for each in fits]


def _words(text: str) -> list[str]:
    """Read a list: words with commas between them, or the JSON array that some clients write."""
    text = text.strip()
    if text.startswith("["):
        try:
            return [str(each) for each in json.loads(text)]
        except (ValueError, RecursionError):
            raise ToolError(f"interests is no list: {text[:80]!r}. Write: beaches, food") from None
    return [each.strip() for each in text.split(",") if each.strip()]
