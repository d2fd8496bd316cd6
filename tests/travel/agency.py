"""A travel server over a database of its own, and a user who answers what it asks."""

import asyncio
import re
import tempfile
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from examples.travel import data, travel

from splice import Client, Server
from splice.errors import RPCError
from splice.types import ElicitParams, Root

TODAY = date(2027, 1, 10)
THERE, BACK = "2027-06-15", "2027-06-22"
FLIGHT = "NYC-BCN-20270615-02"
HOME = "BCN-NYC-20270622-38"
HOTEL = "barcelona-1"
CONTACT = {"name": "Ann Lee", "email": "ann@example.org", "specialRequests": "a *quiet* room\n# please"}


@dataclass
class User:
    """Confirms, says who travels, and pays; or does not, where `refuse` says so."""

    wishes: dict[str, Any] = field(default_factory=lambda: {"seatPreference": "aisle", "roomType": "sea view"})
    refuse: dict[str, str] = field(default_factory=dict)
    """By step ("confirm", "contact", "pay", "cancel"): decline or cancel."""
    pays: bool = True
    asked: list[ElicitParams] = field(default_factory=list)

    async def __call__(self, question: ElicitParams) -> Any:
        """Answer."""
        self.asked.append(question)
        step = step_of(question)
        if step in self.refuse:
            return self.refuse[step]
        if step == "pay":
            if self.pays:
                await visit(question.url or "", "POST")
            return "accept"
        if step == "confirm":
            fields = (question.requested_schema or {})["properties"]
            return {"confirmBooking": True} | {name: value for name, value in self.wishes.items() if name in fields}
        return CONTACT if step == "contact" else "accept"

    @property
    def steps(self) -> list[str]:
        """What was asked, in order."""
        return [step_of(question) for question in self.asked]


def step_of(question: ElicitParams) -> str:
    """Tell which step a question belongs to."""
    fields = (question.requested_schema or {}).get("properties", {})
    if question.url:
        return "pay"
    return "confirm" if "confirmBooking" in fields else "contact" if "email" in fields else "cancel"


async def visit(url: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    """Open a page as a browser does; a POST pays."""

    def fetch() -> tuple[int, str]:
        address, _, token = url.partition("?id=")
        body = f"id={token}".encode() if method == "POST" else None
        request = urllib.request.Request(url if body is None else address, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(fetch)


def agency(directory: Path, **settings: Any) -> Server:
    """Make a server whose today is `TODAY`."""
    (directory / "travel.db").write_bytes(_built())
    made: dict[str, Any] = {"database": directory / "travel.db", "today": lambda: TODAY, "patience": 5.0, **settings}
    return travel.make(**made)


@cache
def _built() -> bytes:
    """Build the database once for all tests."""
    with tempfile.TemporaryDirectory() as directory:
        data.build(Path(directory) / "db")
        return (Path(directory) / "db").read_bytes()


@asynccontextmanager
async def client_of(server: Server, era: str, user: User | None = None, **options: Any) -> AsyncIterator[Client]:
    """Connect a client, and leave the lifespan at the end."""
    if user is not None:
        options = {"on_elicit": user, "can": ["elicitation.url"]} | options
    try:
        async with Client(server, protocol=era, **options) as client:
            yield client
    finally:
        await server.service.close()


def roots(*directories: Path) -> list[Root]:
    """Open directories to the server."""
    return [Root(uri=directory.as_uri(), name=directory.name) for directory in directories]


async def seats_of(client: Client, id: str) -> int:
    """Count the seats that are left on a flight."""
    origin, destination, day, _ = id.split("-")
    given = {"origin": origin, "destination": destination, "date": str(date.fromisoformat(day)), "limit": 50}
    found = (await client.call_tool("searchFlights", given)).structured_content
    return int(next(option["seatsLeft"] for option in found["options"] if option["id"] == id))


async def refused(client: Client, tool: str, **given: Any) -> str:
    """Call a tool that cannot do without what the client lacks; what is said of it, by an error or by a result."""
    try:
        result = await client.call_tool(tool, given)
    except RPCError as error:
        return str(error)
    return result.text if result.is_error else "it was done"


def reference_of(text: str) -> str:
    """Read the reference out of a result's text."""
    found = re.search(r"\b[A-Z2-9]{8}\b", text)
    assert found is not None, text
    return found.group()
