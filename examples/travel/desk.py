"""What all parts of the travel server share while it runs, and the checks of what a model asks for.

Each refusal says what would be accepted, so that a model can try again.
"""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from splice import Context, ToolError

from . import bookings, data, flights
from .payments import Payments
from .places import CITIES, City, complete_airports, complete_cities, find_city, nearest_airport

MAX_NIGHTS = 30
"""How long a stay may be."""


def local_today() -> date:
    """Tell the day in the machine's own zone."""
    return datetime.now(UTC).astimezone().date()


@dataclass
class Desk:
    """What lives as long as the server."""

    path: Path
    payments: Payments
    patience: float
    """How many seconds a booking waits for its payment before it tells the model to look again."""
    today: Callable[[], date] = local_today
    clock: Callable[[], float] = time.time

    @cached_property
    def seed(self) -> str:
        """What the data were derived from."""
        return data.seed_of(self.path)

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Open the database to read it."""
        return data.reading(self.path)

    def sold_day(self, day: date) -> date:
        """Check that flights and rooms of a day are sold. Raises `ToolError`."""
        today = self.today()
        last = today + timedelta(days=flights.DAYS)
        if day < today:
            raise ToolError(f"{day} is in the past: today is {today}. Give a date from {today} to {last}.")
        if day > last:
            raise ToolError(f"{day} is too far ahead: flights and rooms are sold until {last}.")
        return day

    def nights(self, arrival: date, departure: date) -> int:
        """Check a stay, and count its nights. Raises `ToolError`."""
        self.sold_day(arrival)
        count = (departure - arrival).days
        if not 1 <= count <= MAX_NIGHTS:
            raise ToolError(
                f"A stay from {arrival} to {departure} has {count} nights; it must have 1 to {MAX_NIGHTS}. "
                "Give a departure after the arrival."
            )
        return count

    def option(self, id: str, travelers: int) -> flights.Option:
        """Find a flight that has seats for all travelers. Raises `ToolError`."""
        option = flights.find_option(self.seed, id)
        if option is None:
            raise ToolError(f"There is no flight {id[:60]!r}. Take the id of an option that searchFlights returned.")
        self.sold_day(option.departs.date())
        left = self.seats([option])[option.id]
        if left < travelers:
            raise ToolError(f"Flight {option.id} has {left} seats left for {travelers} travelers. Take another option.")
        return option

    def options(self, origin: str, destination: str, day: date) -> tuple[City, City, list[flights.Option]]:
        """Find the flights of a day. Raises `ToolError`."""
        start, end = airport_city(origin, "origin"), airport_city(destination, "destination")
        if start == end:
            raise ToolError(f"{start.label} is both origin and destination. Give two different cities.")
        self.sold_day(day)
        found = flights.options(self.seed, start, end, day)
        first, last = origin.strip().upper(), destination.strip().upper()
        found = [each for each in found if first not in start.airports or first in {each.legs[0].origin, start.code}]
        fits = [each for each in found if last not in end.airports or last in {each.legs[-1].destination, end.code}]
        return start, end, fits

    def seats(self, options: Sequence[flights.Option]) -> dict[str, int]:
        """Tell how many seats are left, by the id of the option."""
        with self.reading() as db:
            return {option.id: bookings.seats_left(db, option, self.clock()) for option in options}

    def hotel(self, id: str) -> dict[str, Any]:
        """Find a hotel, with its rooms by type. Raises `ToolError`."""
        with self.reading() as db:
            row = db.execute("SELECT * FROM hotels WHERE id = ?", (id.strip().lower(),)).fetchone()
            if row is None:
                raise ToolError(f"There is no hotel {id[:60]!r}. Take the id of a hotel that searchHotels returned.")
            rooms = db.execute("SELECT type, cents FROM rooms WHERE hotel = ? ORDER BY cents", (row["id"],))
            return {**dict(row), "rooms": {room["type"]: room["cents"] for room in rooms}}

    def booking(self, reference: str, owner: str) -> bookings.Booking:
        """Find a booking of this owner. Raises `ToolError`."""
        found = bookings.find(self.path, reference, owner, self.clock())
        if found is None:
            raise ToolError(f"There is no booking {reference[:20]!r}. References are told when something is booked.")
        return found

    def free_rooms(
        self, hotel: dict[str, Any], arrival: date, departure: date, guests: int
    ) -> dict[str, tuple[int, int]]:
        """Tell which types of room are free for all guests: what it costs in all, and how many there are."""
        found: dict[str, tuple[int, int]] = {}
        with self.reading() as db:
            for kind, cents in hotel["rooms"].items():
                stay = bookings.Stay(hotel["id"], kind, arrival, departure, rooms_for(guests))
                left = bookings.rooms_left(db, self.seed, stay, self.clock())
                if left >= stay.rooms:
                    found[kind] = bookings.price_of(cents, stay), left
        return found


def owner_of(ctx: Context[Desk]) -> str:
    """Tell whose bookings these are: nobody's in particular where callers are not known."""
    return "" if ctx.principal is None else ctx.principal.subject


def rooms_for(guests: int) -> int:
    """Tell how many rooms so many guests need: two share one."""
    return (guests + 1) // 2


def city_of(typed: str, what: str) -> City:
    """Find a city. Raises `ToolError` with what was perhaps meant."""
    city = find_city(typed)
    if city is not None:
        return city
    near = complete_airports(typed[:3]) or complete_cities(typed[:3])
    near = get_close_matches(typed, [city.name for city in CITIES], 3, 0.6) or near
    hint = f" Did you mean {', '.join(near[:3])}?" if near else " Give a city such as Barcelona, or a code such as BCN."
    raise ToolError(f"No {what} {typed[:60]!r} is known here.{hint}")


def airport_city(typed: str, what: str) -> City:
    """Find a city with an airport. Raises `ToolError` with the nearest one."""
    city = city_of(typed, what)
    nearest = nearest_airport(city)
    if nearest is not city:
        raise ToolError(f"{city.name} has no airport; the nearest is {nearest.label}. Use that as the {what}.")
    return city
