"""The same journey in a host: the three servers as its servers, what is said to its model, and who answers.

`splice demo` runs this. On a terminal, and on the web page, the user answers; elsewhere `Script` does, and in the end
`checks` looks whether everything that was to happen did happen.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from splice.host.asked import Answer, Asked, Completion, Filled, Form, Reviewed, RootsAsked, Sampling, Visit
from splice.host.host import Host
from splice.host.items import Call

from .events import months_between
from .person import pay, scripted, shown
from .processes import command, on_http
from .screen import plain
from .sink import kept, mail_sink
from .walk import BUDGET, CITY, EARLIEST_DAYS, FRIEND, LATEST_DAYS, NIGHTS, SATURDAY, TRAVELERS

PROMPT = "travel/plan-vacation"
AGREED = "Yes, please go on."
"""What the user says to the plan."""

RULES = ("travel/*", "weather/*", "office/*")
"""What is allowed where nobody watches."""

READS = ("reads travel", "reads weather", "reads office")
"""What is allowed where the user watches: these servers came with Splice, so their tools that only read may be used."""

WIDTH = 200
"""How much of a question is told."""

HOME = "NYC"
PLANNING = "travel-planning"


@asynccontextmanager
async def servers(folder: Path) -> AsyncIterator[dict[str, dict[str, Any]]]:
    """Run the weather server and a mail server, for the length of the block; yields the entries of a host."""
    (folder / PLANNING).mkdir(parents=True, exist_ok=True)
    async with mail_sink(folder / "mails") as port:
        settings = {"SPLICE_TRAVEL_DATA": str(folder / "data"), "SPLICE_TRAVEL_SMTP": f"127.0.0.1:{port}"}
        async with on_http("weather", settings) as url:
            yield {
                "travel": entry("travel", settings, protocol="modern", roots=[str(folder / PLANNING)]),
                "weather": {"type": "http", "url": url, "x-splice": {"protocol": "modern"}},
                "office": entry("office", settings, protocol="legacy"),
            }


def entry(name: str, settings: dict[str, str], **options: Any) -> dict[str, Any]:
    """Write a server that the host starts, as a configuration file has it."""
    program, *args = command(name)
    return {"command": program, "args": args, "env": settings, "x-splice": options}


async def prepare(host: Host) -> dict[str, str]:
    """Find a free week, attach what the model may read, and return the arguments of the prompt."""
    office = await host.parts.connections["office"].client()
    today = datetime.now(UTC).date()
    days = {"startDate": str(today + timedelta(EARLIEST_DAYS)), "endDate": str(today + timedelta(LATEST_DAYS))}
    found = await office.call_tool("listFreeDates", {**days, "minDays": NIGHTS + 1})
    leave = first_week((found.structured_content or {}).get("result", []))
    back = leave + timedelta(NIGHTS)
    for server, uri in (
        ("office", f"calendar://my-calendar/{months_between(leave, back)[0]}"),
        ("travel", "travel://preferences/europe"),
        ("travel", "travel://past-trips/Spain-2023"),
    ):
        await host.attach(server, uri)
    return {
        "destination": CITY,
        "departure_date": str(leave),
        "return_date": str(back),
        "budget": str(BUDGET),
        "travelers": str(TRAVELERS),
        "interests": "beaches, architecture, food",
    }


def first_week(runs: list[dict[str, Any]]) -> date:
    """Choose the first week from a Saturday. Raises `RuntimeError` when none is free."""
    for run in runs:
        start = date.fromisoformat(run["startDate"])
        start += timedelta((SATURDAY - start.weekday()) % 7)
        if str(start + timedelta(NIGHTS)) <= run["endDate"]:
            return start
    raise RuntimeError("the calendar has no free week")


class Script:
    """Answers for the user where nobody watches, and tells it."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.answered: list[str] = []
        """Who asked for what."""
        self._tell = tell

    async def __call__(self, server: str, asked: Asked) -> Answer | None:
        """Answer; None is a refusal."""
        answer = await self._answer(asked)
        if answer is not None:
            who = server or "the model"
            self.answered.append(f"{who} {type(asked).__name__.lower()}")
            self._tell(f"{who} asks: {told(asked)} Answered by policy{said(answer)}.")
        return answer

    async def _answer(self, asked: Asked) -> Answer | None:
        match asked:
            case Form():
                return Filled("accept", filled(asked.schema))
            case Visit():
                await asyncio.to_thread(pay, asked.url)
                return Filled("accept")
            case Sampling():
                return Reviewed("once", max_tokens=min(asked.max_tokens, asked.cap))
            case Completion():
                return Reviewed("once")
            case RootsAsked():
                return Filled("accept", {"uris": []})
            case _:
                return None


def told(asked: Asked) -> str:
    """Write what is asked in one line."""
    match asked:
        case Form() | Visit():
            return plain(" ".join(asked.message.split()), WIDTH)
        case Sampling():
            return f"may {asked.model} answer, with at most {asked.max_tokens} tokens?"
        case Completion():
            return f"may it have the answer of {asked.model}?"
        case _:
            return type(asked).__name__


def said(answer: Answer) -> str:
    """Write what was filled in."""
    content = answer.content if isinstance(answer, Filled) else None
    return f": {', '.join(f'{name} {shown(value)}' for name, value in content.items())}" if content else ""


def filled(form: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in a form."""
    needed = form.get("required", [])
    fields = form.get("properties", {}).items()
    values = {name: scripted(name, field, is_needed=name in needed) for name, field in fields}
    values |= {name: HOME for name in values if name == "origin"}
    return {name: value for name, value in values.items() if value is not None}


async def checks(host: Host, folder: Path, arguments: dict[str, str]) -> dict[str, bool]:
    """Look whether everything happened."""
    leave, back = arguments["departure_date"], arguments["return_date"]
    month = f"calendar://my-calendar/{months_between(date.fromisoformat(leave), date.fromisoformat(back))[0]}"
    booking = next((call for call in host.board.all(Call) if call.tool == "bookTrip" and call.state == "done"), None)
    reference = str((booking.structured or {}).get("reference") if booking is not None else None)
    travel = await host.parts.connections["travel"].client()
    stored = await travel.call_tool("getBooking", {"reference": reference})
    office = await host.parts.connections["office"].client()
    events = json.loads((await office.read_resource(month, fresh=True)).contents[0].text or "[]")
    is_entered = any(
        each["title"].startswith(CITY) and (each["startDate"], each["endDate"]) == (leave, back) for each in events
    )
    mails = kept(folder / "mails")
    itineraries = await asyncio.to_thread(
        lambda: [each.read_text(encoding="utf-8") for each in (folder / PLANNING).rglob("*.md")]
    )
    told = host.activity.read(kind="updated", server="office")
    return {
        f"the trip is booked and paid: {reference}": (stored.structured_content or {}).get("status") == "confirmed",
        f"it stands in the calendar from {leave} to {back}": is_entered,
        "the calendar told the host of it": any(each.facts.get("uri") == month for each in told),
        f"{FRIEND} has the details": any(mail["To"] == FRIEND and reference in mail.get_content() for mail in mails),
        "the itinerary is below the one folder that the host opened": any(reference in each for each in itineraries),
        "every question was answered, and every call is in the log": not any(
            each.state in ("failed", "denied", "crashed") for each in host.board.all(Call)
        ),
    }
