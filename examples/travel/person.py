"""Who answers the servers: the person at the terminal, or a script. And what stands where a model would: a few rules.

A host has a user and a language model. This client has a script for both unless somebody sits at the terminal, and says
so in what it prints. What leaves the protocol, such as the page where the user pays, is visited as a browser would.
"""

import asyncio
import json
import os
import re
import select
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import ProxyHandler, build_opener

from splice.types import CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, ElicitValue, TextContent

from .screen import Screen, plain

MODEL = "a few rules (no AI)"
"""What stands in the place of a model's name."""

ANSWERS: dict[str, ElicitValue] = {
    "confirmBooking": True,
    "seatPreference": "aisle",
    "roomType": "city view",
    "travelInsurance": False,
    "name": "Ada Traveller",
    "email": "ada@example.com",
    "phone": "+1 212 555 0100",
}
"""What the script fills in, by the name of the field; else the form's own default, or whatever fits."""

READ_SECONDS = 0.8
"""How long somebody at the terminal has to read a step before the next one begins."""

PAGE_BYTES = 100_000
PAGE_SECONDS = 10.0
LINE_BYTES = 4096
YES, NO = {"y", "yes", "true", ""}, {"n", "no", "false"}
_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([\w.~-]+)">')
_TITLE = re.compile(r"<title>([^<]*)</title>")
_OPTION = re.compile(
    r"^(\d+)\. (.+?), [A-Z-]+, (\d\d):\d\d to .*?, (\d+)h(\d\d), (.*), \$([\d,]+)\.\d\d, (\d+) seats? left",
    re.MULTILINE,
)
_LIKED = re.compile(r"likes (.*)")
_TRAVELERS = re.compile(r"^Travelers: (\d+)$", re.MULTILINE)


class Refused(Exception):
    """The user does not want it."""


class Flight(NamedTuple):
    """A line of a list of flights, as far as the rules look at it."""

    number: int
    airline: str
    hour: int
    minutes: int
    stops: int
    dollars: int
    seats: int


class Person:
    """The user, and what they use in the place of a model."""

    def __init__(self, screen: Screen, *, is_there: bool) -> None:
        self.asked: list[str] = []
        """What servers wanted to know."""
        self.is_there = is_there
        self._screen = screen
        self._name = "user" if is_there else "script"

    async def follow(self) -> None:
        """Leave somebody at the terminal the time to read a step, unless they type."""
        if self.is_there:
            await asyncio.to_thread(select.select, [0], [], [], READ_SECONDS)

    async def allow(self, what: str) -> None:
        """Let the user allow what cannot be undone by looking away. Raises `Refused`."""
        if not self.is_there:
            self._screen.say(self._name, f"allows {what}")
        elif not await self._yes(f"Allow {what}?"):
            raise Refused(f"you did not allow {what}")

    async def elicit(self, params: ElicitParams) -> ElicitResult:
        """Answer what a server asks the user."""
        try:
            return await self._answer(params)
        except Refused:
            return ElicitResult(action="cancel")

    async def sample(self, params: CreateMessageParams) -> CreateMessageResult | None:
        """Answer what a server asks a model; None if the user does not allow it."""
        try:
            return await self._choose(params)
        except Refused:
            return None

    async def _answer(self, params: ElicitParams) -> ElicitResult:
        """Answer a form, or visit a page."""
        self.asked.append("page" if params.mode == "url" else "form")
        self._screen.say("travel", f"asks: {plain(params.message)}", "bold")
        if params.mode == "url":
            return await self._visit(str(params.url))
        form: Mapping[str, Any] = params.requested_schema or {}
        answers: dict[str, ElicitValue] = {}
        for name, field in form.get("properties", {}).items():
            value = scripted(name, field, is_needed=name in form.get("required", []))
            if self.is_there:
                value = await self._field(name, field, value)
            if value is not None:
                answers[name] = value
        if not self.is_there:
            self._screen.say(self._name, "; ".join(f"{name}: {shown(value)}" for name, value in answers.items()))
        return ElicitResult(action="accept", content=answers)

    async def _choose(self, params: CreateMessageParams) -> CreateMessageResult:
        """Choose flights, as a model would be asked to."""
        self.asked.append("model")
        text = "\n".join(
            block.text for message in params.messages for block in message.blocks if isinstance(block, TextContent)
        )
        flights = read_flights(text)
        self._screen.say("travel", f"asks for a model to weigh {len(flights)} flights", "bold")
        await self.allow(f"the request ({len(text):,} characters, at most {params.max_tokens} tokens)")
        liked, many = _LIKED.search(text), _TRAVELERS.search(text)
        flights = [each for each in flights if many is None or each.seats >= int(many[1])]
        best = [{"number": each.number, "reason": why(each)} for each in choose(flights, liked[1] if liked else "")]
        self._screen.say("model", f"{MODEL} answers: options {', '.join(str(each['number']) for each in best)}")
        answer = TextContent(text=json.dumps({"best": best}))
        return CreateMessageResult(role="assistant", content=answer, model=MODEL, stop_reason="endTurn")

    async def _visit(self, url: str) -> ElicitResult:
        """Pay, at a page of this machine."""
        if urlsplit(url).hostname != "127.0.0.1":
            return ElicitResult(action="decline")
        shown_url = url.partition("?")[0]
        if self.is_there:
            self._screen.say("", f"The page is {url}")
            if not await self._yes("Shall I press its button for you? (no: you visit it yourself, now)"):
                await self._yes("Are you done?")
                return ElicitResult(action="accept")
        title = await asyncio.to_thread(pay, url)
        self._screen.say(self._name, f"visits {shown_url} and presses the button; the page says: {plain(title, 80)}")
        return ElicitResult(action="accept")

    async def _field(self, name: str, field: Mapping[str, Any], usual: ElicitValue | None) -> ElicitValue | None:
        """Ask for one field, until what is typed fits."""
        choices = choices_of(field)
        about = plain(field.get("description") or field.get("title") or "", 100)
        hint = f" ({', '.join(map(str, choices))})" if choices else ""
        while True:
            typed = await self._typed(f"{name}{hint} {about} [{shown(usual)}]")
            with suppress(ValueError):
                value = usual if typed == "" else read_value(typed, field.get("type"))
                if not choices or value in choices or value is None:
                    return value
            self._screen.say("", f"{typed!a} is not {f'one of {hint.strip()}' if choices else field.get('type')}.")

    async def _yes(self, question: str) -> bool:
        while (typed := (await self._typed(f"{question} [Y/n]")).lower()) not in YES | NO:
            self._screen.say("", "Type y or n; Enter says yes.")
        return typed in YES

    async def _typed(self, question: str) -> str:
        """Read a line that the user types, while the servers are listened to. Raises `Refused` at the end of input."""
        self._screen.ask(question)
        ready, loop = asyncio.Event(), asyncio.get_running_loop()
        loop.add_reader(0, ready.set)
        try:
            await ready.wait()
        except asyncio.CancelledError:
            self._screen.unasked()
            raise
        finally:
            loop.remove_reader(0)
        line = os.read(0, LINE_BYTES)
        if not line:
            self._screen.unasked()
            raise Refused("you left")
        return line.decode(errors="replace").strip()


def choices_of(field: Mapping[str, Any]) -> list[Any]:
    """Tell what may be chosen in a field; nothing if anything may be typed."""
    return field.get("enum") or [each.get("const") for each in field.get("oneOf", [])]


def scripted(name: str, field: Mapping[str, Any], *, is_needed: bool) -> ElicitValue | None:
    """Say what the script fills into a field; None leaves it empty."""
    choices = choices_of(field)
    value = ANSWERS.get(name, field.get("default"))
    if choices and value not in choices:
        value = field.get("default", choices[0])
    if value is None and is_needed:
        value = {"boolean": True, "integer": 1, "number": 1.0}.get(str(field.get("type")), "none")
    return value


def shown(value: ElicitValue | None) -> str:
    """Write a value as people do."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)


def read_value(typed: str, kind: object) -> ElicitValue:
    """Read what was typed into a field of a type. Raises `ValueError`."""
    if kind == "boolean":
        if typed.lower() not in YES | NO:
            raise ValueError(typed)
        return typed.lower() in YES
    return int(typed) if kind == "integer" else float(typed) if kind == "number" else typed


def read_flights(text: str) -> list[Flight]:
    """Read the flights of a list that a model is to choose from."""
    flights = []
    for number, airline, hour, hours, minutes, waits, dollars, seats in _OPTION.findall(text):
        length, price = int(hours) * 60 + int(minutes), int(dollars.replace(",", ""))
        flights.append(Flight(int(number), airline, int(hour), length, waits.count(" in "), price, int(seats)))
    return flights


def choose(flights: list[Flight], liked: str) -> list[Flight]:
    """Choose the best three: by what an hour and a change cost the traveller, who leaves in the morning."""

    def costs(flight: Flight) -> tuple[float, int]:
        hours, evening = flight.minutes / 60, 0 if 5 <= flight.hour < 12 else 60
        known = -40 if flight.airline in liked else 0
        return flight.dollars + 15 * hours + 80 * max(flight.stops - 1, 0) + evening + known, flight.number

    return sorted(flights, key=costs)[:3]


def why(flight: Flight) -> str:
    """Give the reason for a choice."""
    stops = "no change of planes" if not flight.stops else f"{flight.stops} change{'s' * (flight.stops > 1)}"
    return f"{flight.airline} leaves at {flight.hour} h with {stops}, for ${flight.dollars}."


def pay(url: str) -> str:
    """Open the page where something is paid and send its form, as a browser would; give the title of what follows."""
    browser = build_opener(ProxyHandler({}))
    with browser.open(url, timeout=PAGE_SECONDS) as page:
        form = dict(_HIDDEN.findall(page.read(PAGE_BYTES).decode()))
    body = urlencode({**dict(parse_qsl(urlsplit(url).query)), **form}).encode()
    with browser.open(url, data=body, timeout=PAGE_SECONDS) as page:
        title = _TITLE.search(page.read(PAGE_BYTES).decode())
    return title[1] if title else "nothing"
