"""What is booked: seats and rooms that are held until they are paid, and what becomes of them.

A booking is made under a reference that its maker chose: whoever repeats a request finds the booking, and makes no
second one. All that must be true together is decided in one transaction of the database, so the last seat is sold once.
"""

import json
import sqlite3
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any, Literal

from . import data, flights
from .flights import season

Status = Literal["held", "confirmed", "cancelled", "released", "expired"]

HOLD_SECONDS = 1800.0
"""How long seats and rooms wait for their payment."""

FREE_DAYS = 14
"""Until so many days before it begins, a journey is cancelled for nothing; after that, for half the price."""

_SEATS_SOLD = """SELECT coalesce(sum(count), 0) FROM seats JOIN bookings USING (reference)
    WHERE flight = ? AND (status = 'confirmed' OR (status = 'held' AND expires > ?))"""
_ROOMS_SOLD = """SELECT arrival, departure, stays.count FROM stays JOIN bookings USING (reference)
    WHERE hotel = ? AND room = ? AND (status = 'confirmed' OR (status = 'held' AND expires > ?))"""
_PAYMENT = "SELECT * FROM bookings WHERE payment = ?"


class SoldOut(Exception):
    """Somebody else was faster."""


@dataclass(frozen=True)
class Stay:
    """Rooms of one type for some nights."""

    hotel: str
    room: str
    arrival: date
    departure: date
    rooms: int = 1

    @property
    def nights(self) -> list[date]:
        """The evenings on which somebody goes to bed there."""
        return [self.arrival + timedelta(days=day) for day in range((self.departure - self.arrival).days)]


@dataclass(frozen=True)
class Draft:
    """What is to be booked."""

    kind: Literal["flight", "hotel", "trip"]
    cents: int
    begins: date
    flights: tuple[str, ...] = ()
    travelers: int = 1
    stay: Stay | None = None
    details: dict[str, Any] = field(default_factory=dict)
    """What whoever reads the booking wants to know: a JSON object."""


@dataclass(frozen=True)
class Booking:
    """What was booked."""

    reference: str
    kind: str
    status: Status
    cents: int
    begins: date
    details: dict[str, Any]
    refund: int = 0


def hold(path: Path, reference: str, payment: str, owner: str, draft: Draft, now: float) -> Booking:
    """Hold seats and rooms, unless they are under this reference already. Raises `SoldOut`."""
    seed = data.seed_of(path)
    with data.writing(path) as db:
        found = _row(db, reference, owner)
        same = _booking(found, now)
        if same is not None and found["payment"] == payment:
            return same
        _check(db, seed, draft, now)
        value = json.dumps({"begins": draft.begins.isoformat(), "details": draft.details})
        expires = now + HOLD_SECONDS
        row = (reference, owner, draft.kind, "held", draft.cents, expires, payment, value)
        db.execute("INSERT INTO bookings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        db.executemany("INSERT INTO seats VALUES (?, ?, ?)", [(reference, id, draft.travelers) for id in draft.flights])
        if draft.stay is not None:
            stay = draft.stay
            place = (reference, stay.hotel, stay.room, str(stay.arrival), str(stay.departure), stay.rooms)
            db.execute("INSERT INTO stays VALUES (?, ?, ?, ?, ?, ?)", place)
        return Booking(reference, draft.kind, "held", draft.cents, draft.begins, draft.details)


def find(path: Path, reference: str, owner: str, now: float) -> Booking | None:
    """Find a booking of this owner."""
    with data.reading(path) as db:
        return _booking(_row(db, reference, owner), now)


def find_payment(path: Path, payment: str, now: float) -> Booking | None:
    """Find the booking that a link to pay belongs to."""
    with data.reading(path) as db:
        return _booking(db.execute(_PAYMENT, (payment,)).fetchone(), now)


def pay(path: Path, payment: str, now: float) -> Booking | None:
    """Confirm what is held. Whatever is not held any more stays as it is."""
    with data.writing(path) as db:
        change = "UPDATE bookings SET status = 'confirmed' WHERE payment = ? AND status = 'held' AND expires > ?"
        db.execute(change, (payment, now))
        return _booking(db.execute(_PAYMENT, (payment,)).fetchone(), now)


def release(path: Path, reference: str, owner: str, now: float) -> Booking | None:
    """Give back what is held and was not paid."""
    with data.writing(path) as db:
        change = "UPDATE bookings SET status = 'released' WHERE reference = ? AND owner = ? AND status = 'held'"
        db.execute(change, (reference, owner))
        return _booking(_row(db, reference, owner), now)


def refund(booking: Booking, today: date) -> int:
    """Tell how many cents come back when a booking is cancelled."""
    if booking.status != "confirmed":
        return 0
    return booking.cents if (booking.begins - today).days >= FREE_DAYS else booking.cents // 2


def cancel(path: Path, reference: str, owner: str, today: date, now: float) -> Booking | None:
    """Cancel a booking; once it is cancelled, nothing happens any more."""
    with data.writing(path) as db:
        row = _row(db, reference, owner)
        booking = _booking(row, now)
        if booking is not None and booking.status in {"held", "confirmed"}:
            value = json.loads(row["value"]) | {"refund": refund(booking, today)}
            change = "UPDATE bookings SET status = 'cancelled', value = ? WHERE reference = ?"
            db.execute(change, (json.dumps(value), reference))
        return _booking(_row(db, reference, owner), now)


def seats_left(db: sqlite3.Connection, option: flights.Option, now: float) -> int:
    """Tell how many seats of a flight are left."""
    (sold,) = db.execute(_SEATS_SOLD, (option.id, now)).fetchone()
    return max(option.seats - int(sold), 0)


def rooms_left(db: sqlite3.Connection, seed: str, stay: Stay, now: float) -> int:
    """Tell how many rooms of a type are left in all nights of a stay."""
    row = db.execute("SELECT count FROM rooms WHERE hotel = ? AND type = ?", (stay.hotel, stay.room)).fetchone()
    if row is None:
        return 0
    sold = db.execute(_ROOMS_SOLD, (stay.hotel, stay.room, now)).fetchall()
    taken = [sum(n for a, d, n in sold if a <= night.isoformat() < d) for night in stay.nights]
    others = [_others(seed, stay, night, row["count"]) for night in stay.nights]
    return max(int(row["count"]) - max(map(sum, zip(taken, others, strict=True)), default=0), 0)


def price_of(cents: int, stay: Stay) -> int:
    """Tell what a stay costs in rooms whose usual night costs `cents`."""
    return sum(round(cents * season(night)) for night in stay.nights) * stay.rooms


def _others(seed: str, stay: Stay, night: date, count: int) -> int:
    """Tell how many rooms other guests have; there is always one that is free."""
    chance = Random(f"{seed}/guests/{stay.hotel}/{stay.room}/{night}")
    return min(chance.randint(0, count), chance.randint(0, count - 1))


def _check(db: sqlite3.Connection, seed: str, draft: Draft, now: float) -> None:
    """Check that all of it can be had. Raises `SoldOut`."""
    for id in draft.flights:
        option = flights.find_option(seed, id)
        left = 0 if option is None else seats_left(db, option, now)
        if left < draft.travelers:
            raise SoldOut(f"flight {id} has {left} seats left, and {draft.travelers} are wanted")
    if (stay := draft.stay) is not None and (left := rooms_left(db, seed, stay, now)) < stay.rooms:
        raise SoldOut(f"{stay.hotel} has {left} rooms with {stay.room} left, and {stay.rooms} are wanted")


def _row(db: sqlite3.Connection, reference: str, owner: str) -> Any:
    query = "SELECT * FROM bookings WHERE reference = ? AND owner = ?"
    return db.execute(query, (reference.strip().upper(), owner)).fetchone()


def _booking(row: sqlite3.Row | None, now: float) -> Booking | None:
    if row is None:
        return None
    value = json.loads(row["value"])
    status: Status = "expired" if row["status"] == "held" and row["expires"] <= now else row["status"]
    begins, refunded = date.fromisoformat(value["begins"]), value.get("refund", 0)
    return Booking(row["reference"], row["kind"], status, row["cents"], begins, value["details"], refunded)
