"""The journey itself, step by step: what the client of the travel example asks of its three servers.

Where a host's model would decide, a rule does: the first free week, the flights that `person.py` chose, the best hotel
that the rest of the budget pays for.
"""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from splice import Client
from splice.errors import Unanswered
from splice.types import CallToolResult, PromptReference, ResourceContents, ResourceTemplateReference

from .events import months_between
from .person import Person
from .screen import Screen, plain
from .sink import kept

CITY, HOME = "Barcelona", "NYC"
NIGHTS, TRAVELERS, BUDGET = 7, 2, 3000
SATURDAY = 5
COLLEAGUES, FRIEND = "team@work.com", "ada@example.com"

EARLIEST_DAYS, LATEST_DAYS = 25, 120
"""How many days ahead the journey begins."""

HEARING_SECONDS = 5.0
"""How long a notice may take to arrive."""


Heard = asyncio.Queue[tuple[str, str]]
"""What changed, as servers tell it: the server, and the URI."""


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


@dataclass
class Walk:
    """One walk through the story."""

    clients: dict[str, Client]
    weather_url: str
    folder: Path
    screen: Screen
    person: Person
    heard: Heard
    seen: Seen = field(default_factory=Seen)
    leave: date = date.min
    back: date = date.min
    flights: list[dict[str, Any]] = field(default_factory=list)
    month: str = ""
    alerts: str = f"weather://alerts/{CITY}"

    @property
    def problems(self) -> list[str]:
        """Name what is not as it should be."""
        return [f"not so: {what}" for what, ok in self.seen.checks.items() if not ok]

    async def all(self) -> None:
        """Walk. Raises `MCPError`, and `RuntimeError` for a tool that failed."""
        self.seen.asked = self.person.asked
        self.screen.title(
            f"A week in {CITY}: one user, one client, three MCP servers",
            "No AI runs here: where a host has a model, this program follows a few rules."
            + " Enter says yes to what you are asked; Ctrl-C ends." * self.person.is_there,
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
            await self.person.follow()

    async def _meet(self) -> None:
        self.screen.step("Three servers, two transports, both eras of the protocol")
        for name, client in self.clients.items():
            transport = "HTTP" if name == "weather" else "stdio"
            version = client.protocol_version
            self.seen.connections.append({"server": name, "transport": transport, "version": version})
            tools = ", ".join(tool.name for tool in await client.list_tools())
            self.screen.say(name, f"{transport}, {version}", "bold")
            self.screen.answer(tools)

    async def _find_a_week(self) -> None:
        self.screen.step("When is there a free week?")
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
        self.leave, self.back = start, start + timedelta(NIGHTS)
        self.seen.dates = [str(self.leave), str(self.back)]
        self.screen.answer(f"{len(runs)} runs of free days; the first week from a Saturday is {start} to {self.back}")

    async def _pick_a_prompt(self) -> None:
        self.screen.step("The user picks the prompt “Plan a vacation”, and fills it in")
        travel = self.clients["travel"]
        airports = ResourceTemplateReference(uri="travel://flights/{origin}/{destination}")
        flown = await travel.complete(airports, "destination", "Bar", context={"origin": HOME})
        self.screen.call("travel", "completes", f"“Bar” as an airport: {', '.join(flown.values)}")
        cities = await travel.complete(PromptReference(name="plan-vacation"), "destination", "Barc")
        self.screen.call("travel", "completes", f"“Barc” as the destination: {', '.join(cities.values)}")
        arguments = {
            "destination": cities.values[0],
            "departure_date": str(self.leave),
            "return_date": str(self.back),
            "budget": str(BUDGET),
            "travelers": str(TRAVELERS),
            "interests": json.dumps(["beaches", "architecture", "food"]),
        }
        self.screen.call("travel", "plan-vacation", " ".join(f"{name}={value}" for name, value in arguments.items()))
        messages = (await travel.get_prompt("plan-vacation", arguments)).messages
        carried = sum(message.content.type != "text" for message in messages)
        self.screen.answer(f"{len(messages)} messages for a model, {carried} of them carry resources")

    async def _read(self) -> None:
        self.screen.step("The user picks what the model may read, and what to hear of")
        self.month = f"calendar://my-calendar/{months_between(self.leave, self.back)[0]}"
        for server, uri in (
            ("office", self.month),
            ("travel", "travel://preferences/europe"),
            ("travel", "travel://past-trips/Spain-2023"),
        ):
            self.screen.call(server, "reads", uri)
            self.screen.answer(told(await self._json(server, uri)))
        for server, uri in (("office", self.month), ("weather", self.alerts)):
            await self.clients[server].subscribe(uri)
            self.screen.call(server, "subscribed to", uri)

    async def _look_at_the_sky(self) -> None:
        self.screen.step("What will the weather be like?")
        found = await self._call("weather", "checkWeather", city=CITY, date=str(self.leave), endDate=str(self.back))
        self.screen.answer(found.structured_content["summary"])
        climate = await self._json("weather", f"weather://climate/{CITY}/{self.leave:%B}")
        self.screen.answer(f"{climate['rainyDays']} days of {climate['month']} have rain")

    async def _choose_flights(self) -> None:
        self.screen.step("Which flights? The server asks for a model to weigh them")
        for origin, destination, day in ((HOME, CITY, self.leave), (CITY, HOME, self.back)):
            way = {"origin": origin, "destination": destination, "date": str(day), "travelers": TRAVELERS}
            found = (await self._call("travel", "searchFlights", **way, limit=1)).structured_content
            if not found["options"]:
                raise RuntimeError(f"no flight of {day} has {TRAVELERS} seats left")
            price = found["options"][0]["price"]
            self.screen.answer(f"{found['total']} flights have {TRAVELERS} seats left; the cheapest costs ${price}")
            flight = (await self._best(way) or found["options"])[0]
            self.screen.answer(f"so it is {flight['id']} on {flight['airline']} for ${flight['price']}")
            self.flights.append(flight)
        self.seen.flights = [each["id"] for each in self.flights]

    async def _best(self, way: dict[str, Any]) -> list[dict[str, Any]]:
        """Find the best flights; none if the user lets nobody choose."""
        try:
            found = (await self._call("travel", "findBestFlight", **way)).structured_content
        except Unanswered:
            self.screen.answer("nobody may choose, so the cheapest comes first")
            return []
        best: list[dict[str, Any]] = [each["option"] for each in found["best"]]
        self.screen.answer(f"the best {len(best)} of {found['considered']}, ranked by {found['rankedBy']}")
        return best

    async def _book(self) -> None:
        self.screen.step("A hotel, and the booking, which asks the user three times")
        there, back = self.flights
        rest = BUDGET - TRAVELERS * (float(there["price"]) + float(back["price"]))
        hotel = await self._hotel(there["arrives"][:10], back["departs"][:10], rest)
        trip = {"outbound": there["id"], "inbound": back["id"], "hotel": hotel["id"], "travelers": TRAVELERS}
        booked = await self._call("travel", "bookTrip", **trip)
        self.seen.hotel, self.seen.booking = hotel["id"], booked.structured_content
        status, reference, total = (self.seen.booking[name] for name in ("status", "reference", "total"))
        if status != "confirmed":
            raise RuntimeError(f"nothing is booked: {booked.text}")
        self.screen.answer(f"{status}: {reference}, ${total}")

    async def _hotel(self, arrival: str, departure: str, rest: float) -> dict[str, Any]:
        """Find the best hotel that the rest of the budget pays for; else the one with the cheapest room."""
        stay = {"city": CITY, "arrival": arrival, "departure": departure, "guests": TRAVELERS}
        found = (await self._call("travel", "searchHotels", **stay)).structured_content
        hotels: list[dict[str, Any]] = found["hotels"]
        if not hotels:
            raise RuntimeError(f"{CITY} is full from {arrival} to {departure}")
        costs = {each["id"]: min(float(room["total"]) for room in each["rooms"]) for each in hotels}
        cheapest = min(hotels, key=lambda each: costs[each["id"]])
        best = next((each for each in hotels if costs[each["id"]] <= rest), cheapest)
        self.screen.answer(
            f"{best['name']}, {best['stars']} stars, rated {best['rating']}; the budget leaves ${rest:.0f}"
        )
        return best

    @property
    def _days(self) -> dict[str, str]:
        return {"startDate": str(self.leave), "endDate": str(self.back)}

    async def _enter_it(self) -> None:
        self.screen.step("The journey goes into the calendar")
        entered = await self._call("office", "createCalendarEvent", title=f"{CITY} Trip", **self._days)
        self.seen.event = entered.structured_content["event"]
        self.screen.answer(f"event {self.seen.event['id']}; {len(entered.structured_content['overlaps'])} others then")
        await self._hear("office", self.month)

    async def _hear_a_warning(self) -> None:
        self.screen.step("Somebody else, by another version, warns of the weather")
        async with Client(self.weather_url, protocol="2025-11-25") as forecaster:
            warning = {"city": CITY, "event": "Strong wind along the coast", "severity": "yellow"}
            self.screen.call("forecaster", "issueAlert", f"{warning['event']} ({forecaster.protocol_version}, HTTP)")
            check(await forecaster.call_tool("issueAlert", warning))
        await self._hear("weather", self.alerts)
        for alert in await self._json("weather", self.alerts, fresh=True):
            self.screen.answer(f"{alert['severity']}: {alert['event']}, until {alert['ends'][:16].replace('T', ' ')}")

    async def _write_mails(self) -> None:
        self.screen.step("Colleagues and the traveller get mail")
        text = f"I am travelling from {self.leave} to {self.back} and answer after that."
        await self._call("office", "setOutOfOffice", **self._days, message=text, notify=COLLEAGUES)
        booking = self.seen.booking
        lines = [f"Booking {booking['reference']}: {booking['title']}, ${booking['total']}.", ""]
        body = "\n".join([*lines, *booking["details"]["lines"]])
        sent = await self._call("office", "sendEmail", to=FRIEND, subject=f"{CITY} is booked", body=body)
        self.screen.answer(f"sent to {', '.join(sent.structured_content['sentTo'])}")

    async def _write_it_down(self) -> None:
        self.screen.step("The itinerary, below the one folder that the client opened")
        reference = self.seen.booking["reference"]
        file = f"trips/{CITY}-{self.leave}.md"
        written = await self._call("travel", "writeItinerary", reference=reference, file=file)
        self.seen.itinerary = written.structured_content["path"]
        self.screen.answer(written.text)

    async def _check(self) -> None:
        self.screen.step("Did it all happen?")
        reference = self.seen.booking["reference"]
        stored = await self.clients["travel"].call_tool("getBooking", {"reference": reference or ""})
        status = (stored.structured_content or {}).get("status")
        events = await self._json("office", self.month, fresh=True)
        mails = kept(self.folder / "mails")
        self.seen.mails = [f"{mail['To']}: {mail['Subject']}" for mail in mails]
        bodies = [mail.get_content() for mail in mails if mail["To"] == FRIEND]
        file = self.folder / "travel-planning" / self.seen.itinerary
        itinerary = await asyncio.to_thread(lambda: file.read_text(encoding="utf-8") if file.is_file() else "")
        for what, ok in {
            f"the trip is booked and paid: {reference}": status == "confirmed",
            f"it stands in the calendar from {self.leave} to {self.back}": self.seen.event in events,
            "the calendar told of it in the old era, the weather in the new one": self.seen.notices
            == [f"office {self.month}", f"weather {self.alerts}"],
            "the colleagues know": any(each.startswith(COLLEAGUES) for each in self.seen.mails),
            "the confirmation lies in the mail sink": any(str(reference) in body for body in bodies),
            f"the itinerary is there: {self.seen.itinerary}": str(reference) in itinerary,
        }.items():
            self.seen.checks[what] = ok
            self.screen.check(what, ok=ok)

    async def _call(self, server: str, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool, and let the user allow it first if it changes something. Raises `RuntimeError`."""
        client = self.clients[server]
        shown = " ".join(f"{name}={value}" for name, value in arguments.items())
        self.screen.call(server, tool, plain(shown.replace("\n", " "), 160))
        hints = next((each.annotations for each in await client.list_tools() if each.name == tool), None)
        if hints is None or not hints.read_only_hint:
            await self.person.allow(tool)
        return check(await client.call_tool(tool, arguments))

    async def _json(self, server: str, uri: str, *, fresh: bool = False) -> Any:
        contents: list[ResourceContents] = (await self.clients[server].read_resource(uri, fresh=fresh)).contents
        return json.loads(contents[0].text or "null")

    async def _hear(self, server: str, uri: str) -> None:
        """Wait until the server tells that a resource changed. Raises `RuntimeError`."""
        try:
            async with asyncio.timeout(HEARING_SECONDS):
                while (found := await self.heard.get()) != (server, uri):
                    pass
        except TimeoutError:
            raise RuntimeError(f"the {server} server did not tell that {uri} changed") from None
        self.seen.notices.append(" ".join(found))
        self.screen.say("heard", f"{uri} has changed")


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
