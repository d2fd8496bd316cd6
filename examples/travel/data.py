"""The database of the example: made on first use, the same for everybody who has the same seed.

What never changes is derived when it is asked for (see `flights.py`); what is looked up, and what is booked, is stored.

    SPLICE_TRAVEL_DATA   the directory of the files of this example; the user's cache directory without it
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from . import seeding

VERSION = 1
"""Of the tables. A file of another version is made anew."""

SEED = "splice"
"""What everything is derived from, unless told otherwise."""

BUSY_SECONDS = 20.0
"""How long to wait for another process that writes."""

TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE hotels (
    id TEXT PRIMARY KEY, city TEXT NOT NULL, name TEXT NOT NULL, stars INTEGER NOT NULL, style TEXT NOT NULL,
    area TEXT NOT NULL, rating REAL NOT NULL
);
CREATE INDEX hotels_by_city ON hotels (city);
CREATE TABLE rooms (
    hotel TEXT NOT NULL REFERENCES hotels (id), type TEXT NOT NULL, cents INTEGER NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (hotel, type)
);
CREATE TABLE activities (
    city TEXT NOT NULL, category TEXT NOT NULL, name TEXT NOT NULL, about TEXT NOT NULL, hours REAL NOT NULL,
    cents INTEGER NOT NULL, PRIMARY KEY (city, category, name)
);
CREATE TABLE preferences (region TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE trips (name TEXT PRIMARY KEY, title TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE bookings (
    reference TEXT PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, cents INTEGER NOT NULL,
    expires REAL NOT NULL, payment TEXT NOT NULL UNIQUE, value TEXT NOT NULL
);
CREATE TABLE seats (
    reference TEXT NOT NULL REFERENCES bookings (reference), flight TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (reference, flight)
);
CREATE INDEX seats_by_flight ON seats (flight);
CREATE TABLE stays (
    reference TEXT NOT NULL REFERENCES bookings (reference), hotel TEXT NOT NULL, room TEXT NOT NULL,
    arrival TEXT NOT NULL, departure TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (reference, hotel)
);
CREATE INDEX stays_by_hotel ON stays (hotel, room);
"""


def home() -> Path:
    """Give the directory where the example keeps its files."""
    given = os.environ.get("SPLICE_TRAVEL_DATA")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else cache / "splice" / "travel"


def build(path: Path, seed: str = SEED) -> None:
    """Make the database, unless it is there. Of several processes that do so at once, one does, and the others wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)  # bookings say who travels
    with closing(_open(path)) as db:
        if _is_made(db):
            return
        db.execute("BEGIN EXCLUSIVE")
        if not _is_made(db):
            _fill(db, seed)
        db.execute("COMMIT")


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the database to read it."""
    with closing(_open(path)) as db:
        db.execute("PRAGMA query_only = 1")
        yield db


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the database for one transaction, which nobody else writes beside."""
    with closing(_open(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield db  # what is raised here closes the connection, which takes everything back
        db.execute("COMMIT")


def seed_of(path: Path) -> str:
    """Tell what the database was derived from."""
    with reading(path) as db:
        (seed,) = db.execute("SELECT value FROM settings WHERE name = 'seed'").fetchone()
        return str(seed)


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = 1")
    return db


def _is_made(db: sqlite3.Connection) -> bool:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return bool(version == VERSION)


def _fill(db: sqlite3.Connection, seed: str) -> None:
    """Make all tables within the open transaction."""
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid DESC"  # who refers goes first
    for (name,) in db.execute(tables).fetchall():
        db.execute(f'DROP TABLE "{name}"')
    for statement in TABLES.split(";"):
        db.execute(statement)
    db.execute("INSERT INTO settings VALUES ('seed', ?)", (seed,))
    hotels = list(seeding.hotels(seed))
    db.executemany("INSERT INTO hotels VALUES (?, ?, ?, ?, ?, ?, ?)", [hotel.row for hotel in hotels])
    db.executemany("INSERT INTO rooms VALUES (?, ?, ?, ?)", [room for hotel in hotels for room in hotel.rooms])
    db.executemany("INSERT INTO activities VALUES (?, ?, ?, ?, ?, ?)", seeding.activities(seed))
    preferences = [(region, json.dumps(value)) for region, value in seeding.PREFERENCES.items()]
    db.executemany("INSERT INTO preferences VALUES (?, ?)", preferences)
    trips = [(name, trip["title"], json.dumps(trip, ensure_ascii=False)) for name, trip in seeding.TRIPS.items()]
    db.executemany("INSERT INTO trips VALUES (?, ?, ?)", trips)
    db.execute(f"PRAGMA user_version = {VERSION}")
