"""What crosses the wire while the story of the travel example is told, in either era; each of its days is the same."""

import asyncio
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from examples.travel import office, travel, weather
from examples.travel.person import Person
from examples.travel.screen import Screen

from splice import Client, Server
from splice.transports.base import Link, Receiver
from splice.types import PromptReference, Root
from support.joined import Joined, JoinedLink

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LEAVE, BACK = "2026-12-26", "2027-01-02"
MONTH = "calendar://my-calendar/December-2026"
THERE, HOME = "NYC-BCN-20261226-45", "BCN-NYC-20270102-11"


class Tapped(Joined):
    """A way to a server on which every message is noted: ("client" or "server", message)."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.messages: list[tuple[str, Any]] = []

    async def connect(self, receiver: Receiver) -> Link:
        return TappedLink(self, receiver)


class TappedLink(JoinedLink):
    def __init__(self, place: Tapped, receiver: Receiver) -> None:
        super().__init__(place.server.service, receiver)
        self._messages = place.messages

    def _note(self, who: str, data: bytes) -> None:
        self._messages += [(who, json.loads(line)) for line in data.splitlines() if line.strip()]

    def _up(self, data: bytes) -> None:
        self._note("client", data)
        super()._up(data)

    def _down(self, data: bytes) -> None:
        self._note("server", data)
        super()._down(data)


async def tell(folder: Path, protocol: str) -> dict[str, list[tuple[str, Any]]]:
    """Tell the story; give what was said to and by each server."""
    root = folder / "travel-planning"
    root.mkdir(parents=True)
    person = Person(Screen(quiet=True), is_there=False)
    agency = Tapped(travel.make(database=folder / "travel.db", today=lambda: date(2026, 11, 22)))
    options: Any = {
        "on_elicit": person.elicit,
        "on_sample": person.sample,
        "can": ["elicitation.url"],
        "roots": [Root(uri=root.as_uri(), name="Travel Planning Workspace")],
    }
    async with Client(agency, protocol=protocol, name="travel-client", version="1.0", **options) as client:
        await client.complete(PromptReference(name="plan-vacation"), "destination", "Barc")
        await client.get_prompt("plan-vacation", {"destination": "Barcelona", "departure_date": LEAVE})
        await client.read_resource("travel://preferences/europe")
        way = {"origin": "NYC", "destination": "Barcelona", "date": LEAVE}
        await client.call_tool("findBestFlight", {**way, "travelers": 2})
        trip = {"outbound": THERE, "inbound": HOME, "hotel": "barcelona-2", "travelers": 2}
        booked = await client.call_tool("bookTrip", trip)
        await client.call_tool("writeItinerary", {"reference": booked.structured_content["reference"]})
    told = {"travel": agency.messages}
    calendar = Tapped(office.make(folder, now=lambda: NOW))
    heard: asyncio.Queue[Any] = asyncio.Queue()
    async with Client(calendar, protocol=protocol, on_change=heard.put_nowait) as client:
        await client.subscribe(MONTH)
        await client.call_tool("listFreeDates", {"startDate": "2026-12-17", "endDate": "2027-03-22", "minDays": 8})
        event = {"title": "Barcelona Trip", "startDate": LEAVE, "endDate": BACK}
        await client.call_tool("createCalendarEvent", event)
        async with asyncio.timeout(5):
            await heard.get()
    told["office"] = calendar.messages
    sky = Tapped(weather.make(now=lambda: NOW))
    async with Client(sky, protocol=protocol) as client:
        await client.call_tool("checkWeather", {"city": "Barcelona", "date": LEAVE, "endDate": BACK})
    told["weather"] = sky.messages
    for each in (agency, calendar, sky):
        await each.server.service.close()
    return told
