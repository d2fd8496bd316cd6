"""Chats, kept in SQLite: what the model is told of each, and what a person saw of it.

A chat is its messages, as the specification writes them, and the items that stood on the board. What one step of a turn
adds is written in one transaction, so that a use of a tool never stands there without its result. Several processes may
have the file open.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from splice.host.items import Call, Message
from splice.types import SamplingMessage

SCHEMA = 1
"""The version of the tables."""

APPLICATION = 0x53504C48
"""Marks a file as ours."""

BUSY_SECONDS = 2.0
"""How long to wait for another process, which writes for milliseconds."""

_TABLES = f"""
CREATE TABLE chat (id TEXT PRIMARY KEY, title TEXT, created REAL, changed REAL, turn INTEGER) WITHOUT ROWID;
CREATE TABLE message (number INTEGER PRIMARY KEY, chat TEXT REFERENCES chat ON DELETE CASCADE, body BLOB);
CREATE INDEX message_of ON message (chat, number);
CREATE TABLE item (chat TEXT REFERENCES chat ON DELETE CASCADE, id TEXT, number INTEGER, body BLOB,
    PRIMARY KEY (chat, id)) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {SCHEMA};
"""

Kept = Message | Call
"""Items that belong to a chat."""

T = TypeVar("T")

_KEPT: msgspec.json.Decoder[Kept] = msgspec.json.Decoder(Message | Call)
_SAID = msgspec.json.Decoder(SamplingMessage)


class HistoryFailed(Exception):
    """The file of chats cannot be used. The message says why and what to do."""


class Saved(Struct, frozen=True):
    """A chat without what was said in it."""

    id: str
    title: str
    created: float
    changed: float
    turn: int


class History:
    """The file of chats. Raises `HistoryFailed`."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.problem = ""
        """What happened to the file when it was opened, for the user; empty: nothing."""
        self._clock = clock
        try:
            self._db = self._open()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise self._failed(error) from error
            aside = _set_aside(path, clock())
            self.problem = f"The file of chats was damaged. It is kept as {aside}; a new one was begun."
            self._db = self._open()
        except OSError as error:
            raise self._failed(error) from error

    def chats(self) -> list[Saved]:
        """List all chats, the one changed last first."""
        rows = self._do(
            lambda db: db.execute("SELECT id, title, created, changed, turn FROM chat ORDER BY changed DESC")
        )
        return [Saved(*row) for row in rows.fetchall()]

    def begin(self, id: str, title: str) -> Saved:
        """Add a chat."""
        now = self._clock()
        self._do(lambda db: db.execute("INSERT INTO chat VALUES (?, ?, ?, ?, 0)", (id, title, now, now)))
        return Saved(id, title, now, now, 0)

    def rename(self, id: str, title: str) -> None:
        """Give a chat another title."""
        self._do(lambda db: db.execute("UPDATE chat SET title = ? WHERE id = ?", (title, id)))

    def delete(self, id: str) -> None:
        """Delete a chat with all that was said in it."""
        self._do(lambda db: db.execute("DELETE FROM chat WHERE id = ?", (id,)))

    def add(self, id: str, messages: Sequence[SamplingMessage], turn: int) -> None:
        """Append messages to a chat. All are kept, or none; nothing happens if the chat was deleted meanwhile."""
        rows = [(id, msgspec.json.encode(message)) for message in messages]

        def append(db: sqlite3.Connection) -> None:
            known = db.execute("UPDATE chat SET changed = ?, turn = ? WHERE id = ?", (self._clock(), turn, id))
            if known.rowcount:
                db.executemany("INSERT INTO message (chat, body) VALUES (?, ?)", rows)

        self._do(append)

    def messages(self, id: str) -> list[SamplingMessage]:
        """Read what was said in a chat. What cannot be read is left out."""
        rows = self._do(lambda db: db.execute("SELECT body FROM message WHERE chat = ? ORDER BY number", (id,)))
        return _read(rows.fetchall(), _SAID.decode)

    def keep(self, id: str, items: Iterable[Kept]) -> None:
        """Keep items as they are now; the earlier forms of the same ones go."""
        rows = [(id, item.id, _number(item), msgspec.json.encode(item)) for item in items]

        def put(db: sqlite3.Connection) -> None:
            if db.execute("SELECT 1 FROM chat WHERE id = ?", (id,)).fetchone():
                db.executemany("INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?)", rows)

        self._do(put)

    def items(self, id: str) -> list[Kept]:
        """Read the items of a chat, in the order in which they came."""
        rows = self._do(lambda db: db.execute("SELECT body FROM item WHERE chat = ? ORDER BY number", (id,)))
        return _read(rows.fetchall(), _KEPT.decode)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with self._db:
                return work(self._db)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.touch(mode=0o600)
        with closing(sqlite3.connect(self.path, timeout=BUSY_SECONDS)) as probe:
            version = self._version(probe)
        db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, check_same_thread=False)  # opened in a thread, see Engine
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA trusted_schema = OFF")
        if version == 0:
            self._make(db)
        return db

    def _version(self, db: sqlite3.Connection) -> int:
        """Read the version of the tables, 0: there are none. Raises `HistoryFailed` for what is not ours."""
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
        application: int = db.execute("PRAGMA application_id").fetchone()[0]
        tables: int = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and application != APPLICATION:
            raise HistoryFailed(f"{self.path} is the database of another program: move it away")
        if version > SCHEMA:
            raise HistoryFailed(
                f"{self.path} was written by a newer Splice (tables of version {version}, known is {SCHEMA}): "
                "update Splice, or move the file away"
            )
        if tables and db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("quick_check")
        return version

    def _make(self, db: sqlite3.Connection) -> None:
        """Make the tables, unless another process has done so in between."""
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in _TABLES.split(";")[:-1]:
                db.execute(statement)
        db.commit()

    def _failed(self, error: Exception) -> HistoryFailed:
        return HistoryFailed(f"The chats in {self.path} cannot be kept or read: {error}")


def _set_aside(path: Path, now: float) -> Path:
    """Rename a damaged file, with what belongs to it."""
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}")
    for ending in ("", "-wal", "-shm"):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.replace(aside.with_name(aside.name + ending))
    return aside


def _number(item: Kept) -> int:
    key = item.id.partition(":")[2]
    return int(key) if key.isdecimal() else 0


def _read(rows: list[tuple[bytes]], decode: Callable[[bytes], T]) -> list[T]:
    found: list[T] = []
    for (body,) in rows:
        try:
            found.append(decode(body))
        except msgspec.DecodeError:
            continue
    return found
