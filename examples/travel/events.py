"""The calendar behind the office server: events in SQLite, and the days and months that they touch.

An event is of whole days, or from one point in time to another. Whole days are days wherever the traveller is; points
in time are kept in UTC, and shown in the zone of the calendar. Times that a change of clocks leaves out are refused.
"""

import calendar
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from zoneinfo import ZoneInfo

MAX_EVENT_DAYS = 366
"""How long one event lasts at most."""

MAX_EVENTS = 10_000
"""How many events the calendar holds."""

FIRST_YEAR, LAST_YEAR = 1970, 2100
"""Between them lie all events."""

BUSY_SECONDS = 5.0
"""How long another process may hold the file."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, begins TEXT NOT NULL, ends TEXT NOT NULL, UNIQUE (title, begins, ends)
) STRICT;
CREATE TABLE IF NOT EXISTS absence (
    id INTEGER PRIMARY KEY CHECK (id = 1), first TEXT NOT NULL, last TEXT NOT NULL, message TEXT NOT NULL
) STRICT;
"""

MONTHS = tuple(calendar.month_name)[1:]
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_MONTH = re.compile(rf"({'|'.join(MONTHS)})-([12]\d{{3}})")


class Span(NamedTuple):
    """From when to when: two days, both included, or two points in time, the second excluded."""

    begins: date | datetime
    ends: date | datetime

    @property
    def is_all_day(self) -> bool:
        """Tell whether it consists of whole days."""
        return not isinstance(self.begins, datetime)

    def instants(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """Give the points in time at which it begins and ends."""
        if isinstance(self.begins, datetime) and isinstance(self.ends, datetime):
            return self.begins, self.ends
        return midnight(self.begins, zone), midnight(self.ends + timedelta(days=1), zone)

    def days(self, zone: ZoneInfo) -> tuple[date, date]:
        """Give the first and the last day that it touches."""
        if isinstance(self.begins, datetime) and isinstance(self.ends, datetime):
            moment = timedelta(microseconds=self.ends > self.begins)
            return self.begins.astimezone(zone).date(), (self.ends - moment).astimezone(zone).date()
        return self.begins, self.ends


@dataclass
class Event:
    """An event of the calendar. Days are as in 2027-06-15, both included; times have their offset."""

    id: int
    title: str
    startDate: str
    endDate: str
    allDay: bool


@dataclass
class Absence:
    """When the user is out of office, and what colleagues are told."""

    startDate: date
    endDate: date
    message: str


class Kept(NamedTuple):
    """An event as it is kept."""

    id: int
    title: str
    span: Span


class Calendar:
    """Events and an absence in a SQLite file. Its methods may be called on any thread."""

    def __init__(self, folder: Path, zone: ZoneInfo) -> None:
        self.zone = zone
        self._lock = Lock()
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "calendar.db"
        file.touch(0o600)  # it is nobody else's business
        self._database = sqlite3.connect(file, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
        self._database.executescript(SCHEMA)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def seed(self, events: Iterable[tuple[str, Span]]) -> None:
        """Add events to a calendar that is new."""
        with self._changing() as database:
            if database.execute("PRAGMA user_version").fetchone()[0] == 0:
                for title, span in events:
                    self._insert(database, title, span)
                database.execute("PRAGMA user_version = 1")

    def add(self, title: str, span: Span) -> tuple[Kept, bool]:
        """Add an event, once: the same again is found and not added. Tells whether it is new. Raises `ValueError`."""
        with self._changing() as database:
            row = database.execute("SELECT id FROM events WHERE (title, begins, ends) = (?, ?, ?)", _row(title, span))
            if (found := row.fetchone()) is not None:
                return Kept(found[0], title, span), False
            if database.execute("SELECT count(*) FROM events").fetchone()[0] >= MAX_EVENTS:
                raise ValueError(f"The calendar is full: it holds {MAX_EVENTS} events. Cancel some first.")
            return Kept(self._insert(database, title, span), title, span), True

    def remove(self, number: int) -> Kept | None:
        """Take an event out; None if there is none of that number."""
        with self._changing() as database:
            found = database.execute("DELETE FROM events WHERE id = ? RETURNING *", (number,)).fetchone()
        return None if found is None else _kept(found)

    def between(self, first: date, last: date) -> list[Kept]:
        """Give the events that touch these days, in order."""
        wide = timedelta(days=1)  # what is kept in UTC may lie on the next day elsewhere
        since = str(max(first, date.min + wide) - wide)
        until = str(min(last, date.max - 2 * wide) + 2 * wide)
        with self._lock:
            rows = self._database.execute("SELECT * FROM events WHERE ends >= ? AND begins < ?", (since, until))
            events = [_kept(row) for row in rows]
        days = [(each, *each.span.days(self.zone)) for each in events]
        touching = [each for each, begins, ends in days if begins <= last and ends >= first]
        return sorted(touching, key=lambda each: (each.span.instants(self.zone), each.id))

    def overlapping(self, event: Kept) -> list[Kept]:
        """Give the other events that take place at the same time."""
        begins, ends = event.span.instants(self.zone)
        near = self.between(*event.span.days(self.zone))
        times = [(each, *each.span.instants(self.zone)) for each in near if each.id != event.id]
        return [each for each, start, end in times if start < ends and begins < end]

    def free(self, first: date, last: date) -> Iterator[tuple[date, date]]:
        """Yield the longest runs of days that no event touches."""
        busy = [each.span.days(self.zone) for each in self.between(first, last)]
        start, one = first, timedelta(days=1)
        for begins, ends in sorted(busy):
            if begins > start:
                yield start, begins - one
            start = max(start, ends + one)
        if start <= last:
            yield start, last

    def shown(self, event: Kept) -> Event:
        """Write an event as clients read it."""
        begins, ends = event.span
        if isinstance(begins, datetime) and isinstance(ends, datetime):
            begins, ends = begins.astimezone(self.zone), ends.astimezone(self.zone)
        return Event(event.id, event.title, begins.isoformat(), ends.isoformat(), event.span.is_all_day)

    @property
    def absence(self) -> Absence | None:
        """When the user is out of office."""
        with self._lock:
            row = self._database.execute("SELECT first, last, message FROM absence").fetchone()
        return None if row is None else Absence(date.fromisoformat(row[0]), date.fromisoformat(row[1]), row[2])

    @absence.setter
    def absence(self, absence: Absence) -> None:
        with self._changing() as database:
            row = (str(absence.startDate), str(absence.endDate), absence.message)
            database.execute("REPLACE INTO absence VALUES (1, ?, ?, ?)", row)

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def _insert(self, database: sqlite3.Connection, title: str, span: Span) -> int:
        done = database.execute("INSERT INTO events (title, begins, ends) VALUES (?, ?, ?)", _row(title, span))
        return done.lastrowid or 0


def read_title(title: str) -> str:
    """Make one line of a title. Raises `ValueError` with words for a model."""
    line = " ".join(title.split())
    if not line or _CONTROL.search(line):
        raise ValueError("A title is a line of text, without control characters")
    return line


def read_span(start: str, end: str, zone: ZoneInfo) -> Span:
    """Read when an event begins and ends. Raises `ValueError` with words for a model."""
    begins, ends = _read(start, zone), _read(end, zone)
    if isinstance(begins, datetime) != isinstance(ends, datetime):
        raise ValueError("startDate and endDate are either both days (2027-06-15) or both times (2027-06-15T09:30)")
    if ends < begins:
        raise ValueError(f"It ends ({end}) before it begins ({start})")
    span = Span(begins, ends)
    first, last = span.days(zone)
    if (last - first).days >= MAX_EVENT_DAYS:
        raise ValueError(f"An event lasts at most {MAX_EVENT_DAYS} days")
    return span


def _read(text: str, zone: ZoneInfo) -> date | datetime:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:40]!a} is neither a day (2027-06-15) nor a time (2027-06-15T09:30+02:00)") from None
    if not FIRST_YEAR <= when.year <= LAST_YEAR:
        raise ValueError(f"The calendar goes from {FIRST_YEAR} to {LAST_YEAR}, and {text} is outside")
    if len(text) <= 10:
        return when.date()
    if when.tzinfo is not None:
        return when.astimezone(UTC)
    there = when.replace(tzinfo=zone).astimezone(UTC)
    if there.astimezone(zone).replace(tzinfo=None) != when:
        raise ValueError(f"There is no {text} in {zone.key}: the clocks are put forward then")
    return there


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Give the point in time at which a day begins."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def month_of(name: str) -> tuple[date, date] | None:
    """Read the name of a month, as in June-2024, as its first and last day; None for anything else."""
    found = _MONTH.fullmatch(name)
    if found is None:
        return None
    year, month = int(found[2]), MONTHS.index(found[1]) + 1
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def months_between(first: date, last: date) -> list[str]:
    """Name the months that these days lie in, as in June-2024."""
    numbers = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    return [f"{MONTHS[number % 12]}-{number // 12}" for number in numbers]


def _row(title: str, span: Span) -> tuple[str, str, str]:
    return title, span.begins.isoformat(), span.ends.isoformat()


def _kept(row: tuple[int, str, str, str]) -> Kept:
    number, title, begins, ends = row
    read = datetime.fromisoformat if len(begins) > 10 else date.fromisoformat
    return Kept(number, title, Span(read(begins), read(ends)))
