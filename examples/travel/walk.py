"""The journey itself, step by step: what the client of the travel example asks of its three servers.

Where a host's model would decide, a rule does: the first free week, the flights that `person.py` chose, the best hotel
that the rest of the budget pays for.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from splice import Client
from splice.errors import Unanswered
from splice.types import CallToolResult, PromptReference, ResourceContents, ResourceTemplateReference

from .events import months_between
from .person import Person
from .screen import Screen
from .sink import kept

CITY, HOME = "Barcelona", "NYC"
NIGHTS, TRAVELERS, BUDGET = 7, 2, 3000
SATURDAY = 5
COLLEAGUES, FRIEND = "team@work.com", "ada@example.com"

EARLIEST_DAYS, LATEST_DAYS = 25, 120
"""How many days ahead the journey begins."""

HEARING_SECONDS = 5.0
"""How long a notice may take to arrive."""


@dataclass
class Servers:
    """The three connections, and where the server behind the one by HTTP is found by others."""

    travel: Client
    weather: Client
    office: Client
    weather_url: str

    @property
    def named(self) -> Mapping[str, Client]:
        """The clients by the names of their servers."""
        return {"travel": self.travel, "weather": self.weather, "office": self.office}


@dataclass
class Seen:
    """What the walk saw."""

    connections: list[dict[str, str]] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    flights: list[str] = field(default_factory=list)
    hotel: str = ""
    booking: dict[str, Any] = field(default_factory=dict)
    event: dict[str, Any] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    mails: list[str] = field(default_factory=list)
    itinerary: str = ""
    checks: dict[str, bool] = field(default_factory=dict)


class Walk:
    """One walk through the story."""

    def __init__(
        self, servers: Servers, folder: Path, screen: Screen, person: Person, heard: "asyncio.Queue[tuple[str, str]]"
    ) -> None:
        self.seen = Seen(asked=person.asked)
        self._servers = servers
        self._folder = folder
        self._screen = screen
        self._person = person
        self._heard = heard
        self._leave = self._back = date.min
        self._flights: list[dict[str, Any]] = []
        self._month = self._alerts = ""

    @property
    def problems(self) -> list[str]:
        """Name what is not as it should be."""
        return [f"not so: {what}" for what, ok in self.seen.checks.items() if not ok]

    async def all(self) -> None:
        """Walk. Raises `MCPError`, and `RuntimeError` for a tool that failed."""
        self._screen.title(
            f"A week in {CITY}: one user, one client, three MCP servers",
            "No AI runs here: where a host has a model, this program follows a few rules.",
        )
        for step in (
            self._meet,
            self._find_a_week,
            self._pick_a_prompt,
            self._read,
            self._look_at_the_sky,
            self._choose_flights,
            self._book,
            self._enter_it,
            self._hear_a_warning,
            self._write_mails,
            self._write_it_down,
            self._check,
        ):
            await step()

    async def _meet(self) -> None:
        self._screen.step("Three servers, two transports, both eras of the protocol")
        for name, client in self._servers.named.items():
            transport = "HTTP" if name == "weather" else "stdio"
            version = client.protocol_version
            self.seen.connections.append({"server": name, "transport": transport, "version": version})
            tools = ", ".join(tool.name for tool in await client.list_tools())
            self._screen.say(name, f"{transport}, {version}", "bold")
            self._screen.answer(tools)

    async def _find_a_week(self) -> None:
        self._screen.step("When is there a free week?")
        today = datetime.now(UTC).date()
        first, last = today + timedelta(EARLIEST_DAYS), today + timedelta(LATEST_DAYS)
        found = await self._call("office", "listFreeDates", startDate=f"{first}", endDate=f"{last}", minDays=NIGHTS + 1)
        runs: list[dict[str, Any]] = found.structured_content["result"]
        for run in runs:
            start = date.fromisoformat(run["startDate"])
            start += timedelta((SATURDAY - start.weekday()) % 7)
            if str(start + timedelta(NIGHTS)) <= run["endDate"]:
                break
        else:
            raise RuntimeError("the calendar has no free week")
        self._leave, self._back = start, start + timedelta(NIGHTS)
        self.seen.dates = [str(self._leave), str(self._back)]
        self._screen.answer(f"{len(runs)} runs of free days; the first week from a Saturday is {start} to {self._back}")

    async def _pick_a_prompt(self) -> None:
        self._screen.step("The user picks the prompt “Plan a vacation”, and fills it in")
        travel = self._servers.travel
        airports = ResourceTemplateReference(uri="travel://flights/{origin}/{destination}")
        flown = await travel.complete(airports, "destination", "Bar", context={"origin": HOME})
        self._screen.call("travel", "completes", f"“Bar” as an airport: {', '.join(flown.values)}")
        cities = await travel.complete(PromptReference(name="plan-vacation"), "destination", "Barc")
        self._screen.call("travel", "completes", f"“Barc” as the destination: {', '.join(cities.values)}")
        arguments = {
            "destination": cities.values[0],
            "departure_date": str(self._leave),
            "return_date": str(self._back),
            "budget": str(BUDGET),
            "travelers": str(TRAVELERS),
            "interests": json.dumps(["beaches", "architecture", "food"]),
        }
        self._screen.call("travel", "plan-vacation", " ".join(f"{name}={value}" for name, value in arguments.items()))
        messages = (await travel.get_prompt("plan-vacation", arguments)).messages
        carried = sum(message.content.type != "text" for message in messages)
        self._screen.answer(f"{len(messages)} messages for a model, {carried} of them carry resources")

    async def _read(self) -> None:
        self._screen.step("The user picks what the model may read, and what to hear of")
        self._month = f"calendar://my-calendar/{months_between(self._leave, self._back)[0]}"
        for server, uri in (
            ("office", self._month),
            ("travel", "travel://preferences/europe"),
            ("travel", "travel://past-trips/Spain-2023"),
        ):
            self._screen.call(server, "reads", uri)
            self._screen.answer(told(await self._json(server, uri)))
        self._alerts = f"weather://alerts/{CITY}"
        for server, uri in (("office", self._month), ("weather", self._alerts)):
            await self._servers.named[server].subscribe(uri)
            self._screen.call(server, "subscribed to", uri)

    async def _look_at_the_sky(self) -> None:
        self._screen.step("What will the weather be like?")
        found = await self._call("weather", "checkWeather", city=CITY, date=str(self._leave), endDate=str(self._back))
        self._screen.answer(found.structured_content["summary"])
        climate = await self._json("weather", f"weather://climate/{CITY}/{self._leave:%B}")
        self._screen.answer(f"{climate['rainyDays']} days of {climate['month']} have rain")

    async def _choose_flights(self) -> None:
        self._screen.step("Which flights? The server asks for a model to weigh them")
        for origin, destination, day in ((HOME, CITY, self._leave), (CITY, HOME, self._back)):
            way = {"origin": origin, "destination": destination, "date": str(day), "travelers": TRAVELERS}
            found = (await self._call("travel", "searchFlights", **way, limit=1)).structured_content
            if not found["options"]:
                raise RuntimeError(f"no flight of {day} has {TRAVELERS} seats left")
            self._screen.answer(f"{found['total']} flights; the cheapest costs ${found['options'][0]['price']}")
            flight = (await self._best(way) or found["options"])[0]
            self._screen.answer(f"so it is {flight['id']} on {flight['airline']} for ${flight['price']}")
            self._flights.append(flight)
        self.seen.flights = [each["id"] for each in self._flights]

    async def _best(self, way: dict[str, Any]) -> list[dict[str, Any]]:
        """Find the best flights; none if the user lets nobody choose."""
        try:
            found = (await self._call("travel", "findBestFlight", **way)).structured_content
        except Unanswered:
            self._screen.answer("nobody may choose, so the cheapest comes first")
            return []
        best: list[dict[str, Any]] = [each["option"] for each in found["best"]]
        self._screen.answer(f"the best {len(best)} of {found['considered']}, ranked by {found['rankedBy']}")
        return best

    async def _book(self) -> None:
        self._screen.step("A hotel, and the booking, which asks the user three times")
        there, back = self._flights
        rest = BUDGET - TRAVELERS * (float(there["price"]) + float(back["price"]))
        hotel = await self._hotel(there["arrives"][:10], back["departs"][:10], rest)
        self.seen.hotel = hotel["id"]
        booked = await self._call(
            "travel", "bookTrip", outbound=there["id"], inbound=back["id"], hotel=hotel["id"], travelers=TRAVELERS
        )
        self.seen.booking = booked.structured_content
        if self.seen.booking["status"] != "confirmed":
            raise RuntimeError(f"nothing is booked: {booked.text}")
        self._screen.answer(
            f"{self.seen.booking['status']}: {self.seen.booking['reference']}, ${self.seen.booking['total']}"
        )

    async def _hotel(self, arrival: str, departure: str, rest: float) -> dict[str, Any]:
        """Find the best hotel that the rest of the budget pays for; else the one with the cheapest room."""
        night = rest / (date.fromisoformat(departure) - date.fromisoformat(arrival)).days
        stay = {"city": CITY, "arrival": arrival, "departure": departure, "guests": TRAVELERS}
        hotels: list[dict[str, Any]] = []
        if night > 0:
            found = await self._call("travel", "searchHotels", **stay, budget=round(night, 2))
            hotels = found.structured_content["hotels"]
        if not hotels:
            self._screen.answer("none is within the budget, so it is the cheapest")
            found = await self._call("travel", "searchHotels", **stay)
            rooms = found.structured_content["hotels"]
            hotels = sorted(rooms, key=lambda each: min(float(room["total"]) for room in each["rooms"]))
        if not hotels:
            raise RuntimeError(f"{CITY} is full from {arrival} to {departure}")
        self._screen.answer(f"{hotels[0]['name']}, {hotels[0]['stars']} stars, rated {hotels[0]['rating']}")
        return hotels[0]

    async def _enter_it(self) -> None:
        self._screen.step("The journey goes into the calendar")
        days = {"startDate": str(self._leave), "endDate": str(self._back)}
        entered = await self._call("office", "createCalendarEvent", title=f"{CITY} Trip", **days)
        self.seen.event = entered.structured_content["event"]
        self._screen.answer(f"event {self.seen.event['id']}; {len(entered.structured_content['overlaps'])} others then")
        await self._hear("office", self._month)

    async def _hear_a_warning(self) -> None:
        self._screen.step("Somebody else, by another version, warns of the weather")
        async with Client(self._servers.weather_url, protocol="2025-11-25") as forecaster:
            warning = {"city": CITY, "event": "Strong wind along the coast", "severity": "yellow"}
            self._screen.call("forecaster", "issueAlert", f"{warning['event']} ({forecaster.protocol_version}, HTTP)")
            check(await forecaster.call_tool("issueAlert", warning))
        await self._hear("weather", self._alerts)
        for alert in await self._json("weather", self._alerts, fresh=True):
            self._screen.answer(f"{alert['severity']}: {alert['event']}, until {alert['ends'][:16].replace('T', ' ')}")

    async def _write_mails(self) -> None:
        self._screen.step("Colleagues and the traveller get mail")
        days = {"startDate": str(self._leave), "endDate": str(self._back)}
        text = f"I am travelling from {self._leave} to {self._back} and answer after that."
        await self._call("office", "setOutOfOffice", **days, message=text, notify=COLLEAGUES)
        booking = self.seen.booking
        lines = [f"Booking {booking['reference']}: {booking['title']}, ${booking['total']}.", ""]
        body = "\n".join([*lines, *booking["details"]["lines"]])
        sent = await self._call("office", "sendEmail", to=FRIEND, subject=f"{CITY} is booked", body=body)
        self._screen.answer(f"sent to {', '.join(sent.structured_content['sentTo'])}")

    async def _write_it_down(self) -> None:
        self._screen.step("The itinerary, below the one folder that the client opened")
        reference = self.seen.booking["reference"]
        written = await self._call(
            "travel", "writeItinerary", reference=reference, file=f"trips/{CITY}-{self._leave}.md"
        )
        self.seen.itinerary = written.structured_content["path"]
        self._screen.answer(written.text)

    async def _check(self) -> None:
        self._screen.step("Did it all happen?")
        reference = self.seen.booking["reference"]
        stored = await self._servers.travel.call_tool("getBooking", {"reference": reference or ""})
        status = (stored.structured_content or {}).get("status")
        events = await self._json("office", self._month, fresh=True)
        mails = kept(self._folder / "mails")
        self.seen.mails = [f"{mail['To']}: {mail['Subject']}" for mail in mails]
        bodies = [mail.get_content() for mail in mails if mail["To"] == FRIEND]
        file = self._folder / "travel-planning" / self.seen.itinerary
        itinerary = await asyncio.to_thread(lambda: file.read_text() if file.is_file() else "")
        for what, ok in {
            f"the trip is booked and paid: {reference}": status == "confirmed",
            f"it stands in the calendar from {self._leave} to {self._back}": self.seen.event in events,
            "the calendar told of it in the old era, the weather in the new one": self.seen.notices
            == [f"office {self._month}", f"weather {self._alerts}"],
            "the colleagues know": any(each.startswith(COLLEAGUES) for each in self.seen.mails),
            "the confirmation lies in the mail sink": any(str(reference) in body for body in bodies),
            f"the itinerary is there: {self.seen.itinerary}": str(reference) in itinerary,
        }.items():
            self.seen.checks[what] = ok
            self._screen.check(what, ok=ok)

    async def _call(self, server: str, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool, and let the user allow it first if it changes something. Raises `RuntimeError`."""
        client = self._servers.named[server]
        shown = " ".join(f"{name}={value}" for name, value in arguments.items())
        self._screen.call(server, tool, shown.replace("\n", " ")[:160])
        hints = next((each.annotations for each in await client.list_tools() if each.name == tool), None)
        if hints is None or not hints.read_only_hint:
            await self._person.allow(tool)
        return check(await client.call_tool(tool, arguments))

    async def _json(self, server: str, uri: str, *, fresh: bool = False) -> Any:
        contents: list[ResourceContents] = (await self._servers.named[server].read_resource(uri, fresh=fresh)).contents
        return json.loads(contents[0].text or "null")

    async def _hear(self, server: str, uri: str) -> None:
        """Wait until the server tells that a resource changed. Raises `RuntimeError`."""
        try:
            async with asyncio.timeout(HEARING_SECONDS):
                while (found := await self._heard.get()) != (server, uri):
                    pass
        except TimeoutError:
            raise RuntimeError(f"the {server} server did not tell that {uri} changed") from None
        self.seen.notices.append(" ".join(found))
        self._screen.say("heard", f"{uri} has changed")


def check(result: CallToolResult) -> CallToolResult:
    """Return what a tool returned. Raises `RuntimeError` if it failed."""
    if result.is_error:
        raise RuntimeError(result.text)
    return result


def told(value: Any) -> str:
    """Tell in a line what a resource holds."""
    if isinstance(value, list):
        return f"{len(value)} events: {', '.join(each['title'] for each in value)}" if value else "nothing is planned"
    words = {"departure", "airlines", "hotels", "title", "liked", "notAgain"}
    return "; ".join(f"{', '.join(v) if isinstance(v, list) else v}" for k, v in value.items() if k in words)
