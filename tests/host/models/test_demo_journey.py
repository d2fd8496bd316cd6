"""The demo model plans and books the journey to Barcelona, over the three real servers of the travel example."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from examples.travel import office, weather
from examples.travel.mail import MailServer
from examples.travel.person import Person
from examples.travel.screen import Screen
from examples.travel.sink import kept, mail_sink

from host.models.small_host import SmallHost
from splice import Client
from splice.host.models.base import collect
from splice.host.models.demo import DemoModel
from splice.types import CreateMessageParams, CreateMessageResult, Root
from travel.agency import TODAY, agency

NOW = datetime(2027, 1, 10, 12, tzinfo=UTC)
ORIGIN = {"origin": "NYC"}
DATED = {
    "destination": "Barcelona",
    "departure_date": "2027-06-15",
    "return_date": "2027-06-22",
    "budget": "3000",
    "travelers": "2",
}
UNDATED = {"destination": "Barcelona", "budget": "4000", "travelers": "2", "interests": "beaches, food"}


@dataclass
class Journey:
    """The host, and where the journey leaves its traces."""

    host: SmallHost
    folder: Path
    person: Person
    sampled: list[CreateMessageResult]

    async def begin(self, arguments: dict[str, str]) -> str:
        """Pick the prompt."""
        self.host.put((await self.host.clients["travel"].get_prompt("plan-vacation", arguments)).messages)
        return await self.host.go_on()

    @property
    def used(self) -> list[str]:
        """The tools that were used, in order."""
        return [use.name.rpartition("__")[2] for use in self.host.uses]

    def arguments(self, tool: str) -> list[dict[str, Any]]:
        """Give the arguments of each use of a tool."""
        return [use.input for use in self.host.uses if use.name.endswith(tool)]

    async def events(self, month: str) -> list[dict[str, Any]]:
        """Read the calendar of a month."""
        read = await self.host.clients["office"].read_resource(f"calendar://my-calendar/{month}")
        found: list[dict[str, Any]] = json.loads(read.contents[0].text or "[]")
        return found


@asynccontextmanager
async def journey(folder: Path, *, fences: bool = False) -> AsyncIterator[Journey]:
    """Start the servers in this process, and a mail server that keeps what it gets."""
    model, person, sampled = (
        DemoModel(lambda: TODAY),
        Person(Screen(quiet=True), is_there=False),
        list[CreateMessageResult](),
    )

    async def sample(params: CreateMessageParams) -> CreateMessageResult:
        answer = await collect(model.stream(params), model.id)
        sampled.append(answer)
        return answer

    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(mail_sink(folder / "mails"))
        (folder / "planning").mkdir()
        servers = {
            "travel": agency(folder),
            "weather": weather.make(now=lambda: NOW),
            "office": office.make(folder / "office", mail=MailServer(port=port), now=lambda: NOW),
        }
        clients: dict[str, Client] = {}
        for name, server in servers.items():
            stack.push_async_callback(server.service.close)
            options: dict[str, Any] = {}
            if name == "travel":
                roots = [Root(uri=(folder / "planning").as_uri(), name="planning")]
                options = {"on_elicit": person.elicit, "on_sample": sample, "roots": roots, "can": ["elicitation.url"]}
            clients[name] = await stack.enter_async_context(Client(server, **options))
        host = SmallHost(model, clients, lambda fields: {name: ORIGIN[name] for name in fields})
        host.fences = fences
        await host.start()
        yield Journey(host, folder, person, sampled)


@pytest.mark.parametrize(
    ("arguments", "begins", "fences"),
    [(DATED, "2027-06-15", False), (DATED, "2027-06-15", True), (UNDATED, "2027-02-", True)],
)
async def test_from_the_prompt_to_the_itinerary(
    tmp_path: Path, arguments: dict[str, str], begins: str, *, fences: bool
) -> None:
    async with journey(tmp_path, fences=fences) as told:
        plan = await told.begin(arguments)
        assert "Total: $" in plan
        assert "Shall I go on" in plan
        assert "bookTrip" not in told.used
        assert sorted(told.arguments("checkWeather")[0]) == ["city", "date", "endDate"]
        there, back = told.arguments("findBestFlight")
        assert (there["origin"], there["destination"], there["travelers"]) == ("NYC", "Barcelona", 2)
        assert (back["origin"], back["destination"]) == ("Barcelona", "NYC")
        assert there["date"].startswith(begins)
        assert (date.fromisoformat(back["date"]) - date.fromisoformat(there["date"])).days == 7
        assert told.used.count("listFreeDates") == told.used.count("ask_user") == 1
        assert "read_resource" in told.used

        summary = await told.host.say("Yes, please go on.")
        assert "All steps are done" in summary
        (trip,) = told.arguments("bookTrip")
        assert trip["travelers"] == 2
        assert told.person.asked == ["form", "form", "page"]
        assert [each.model for each in told.sampled] == ["demo-rules-1"] * 2
        itinerary = (tmp_path / "planning" / "itinerary.md").read_text()
        reference = told.arguments("writeItinerary")[0]["reference"]
        booking = await told.host.clients["travel"].call_tool("getBooking", {"reference": reference})
        assert booking.structured_content["status"] == "confirmed"
        assert reference in itinerary
        (mail,) = kept(tmp_path / "mails")
        assert mail["To"] == "ada@example.com"
        assert reference in mail.get_content()
        month = f"{date.fromisoformat(there['date']):%B-%Y}"
        events = [each for each in await told.events(month) if each["title"].startswith("Barcelona")]
        assert [(each["startDate"], each["endDate"]) for each in events] == [(there["date"], back["date"])]


async def test_a_booking_that_the_user_declines_ends_it(tmp_path: Path) -> None:
    async with journey(tmp_path) as told:
        told.host.denies = ["travel__findBestFlight", "travel__searchHotels"]
        assert "There is no plan" in await told.begin(DATED)
        told.host.denies = ["travel__bookTrip"]
        assert "Total: $" in await told.host.say("go on")
        assert "I stop here" in await told.host.say("no, thank you")
        assert "bookTrip" not in told.used
        stopped = await told.host.say("yes")
        assert "bookTrip was not called: you did not allow it" in stopped
        assert "Write the itinerary" in stopped
        assert "createCalendarEvent" not in told.used
        told.host.denies = []
        assert "All steps are done" in await told.host.say("try again")
        assert told.used.count("bookTrip") == 2
        assert kept(tmp_path / "mails")
