"""Runs statements on a SQLite file: each on a connection of its own, of one purpose, bounded in time and memory.

What only reads has a connection that cannot write (`mode=ro` and `query_only`), and every statement passes a `Gate`.
One call runs one statement: the driver refuses more. https://sqlite.org/security.html
"""

import sqlite3
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from splice import ToolError
from splice.servers.sqlite.gate import Gate, Purpose
from splice.servers.sqlite.rows import Page, collected

MAX_STATEMENT = 1_000_000
"""How many bytes a statement may have."""

MAX_VALUE = 16 * 1024 * 1024
"""How many bytes a value or a stored row may have."""

MAX_PATTERN = 1_000
"""How many bytes the pattern of LIKE or GLOB may have: nothing interrupts the comparison with a longer one."""

MAX_MEMORY = 256 * 1024 * 1024
"""How many bytes SQLite may hold in this process."""

BUSY_SECONDS = 5.0
"""How long a statement waits while another program writes to the file."""

MAX_REASON = 500
"""How many characters of an error are shown."""

_STEPS = 2_000  # of SQLite's machine between two looks at the clock: less than a millisecond
_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: MAX_STATEMENT,
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: MAX_PATTERN,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_REFUSALS = {
    Purpose.READ: "Error: Only SELECT queries are allowed for read_query",
    Purpose.CREATE: "Error: Only CREATE TABLE statements are allowed",
}
_SELECTS = "Error: SELECT queries are not allowed for write_query"


class Written(NamedTuple):
    """What a statement changed, and what it returned."""

    affected: int
    returned: Page


class Database:
    """A SQLite file. Raises `ValueError` for one that cannot be used. Its methods may be called on any thread."""

    def __init__(self, path: Path, *, read_only: bool, seconds: float) -> None:
        self.path = path.absolute()
        self._seconds = seconds
        self.patience = seconds + 2 * BUSY_SECONDS
        """When to answer whatever the statement does: SQLite looks at the clock between its steps, not within one."""
        try:
            if not read_only:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.open("ro" if read_only else "rwc") as connection:
                connection.execute("PRAGMA schema_version").fetchone()
        except (OSError, sqlite3.Error) as error:
            raise ValueError(f"{path} cannot be used: {error}") from None

    def read(self, query: str, page: tuple[int, int], stop: threading.Event) -> Page:
        """Run a statement that only reads; return `page`: so many rows, behind so many. Raises `ToolError`."""
        with self._gated("ro", Purpose.READ, stop) as (connection, _):
            cursor = connection.execute(query)
            if cursor.description is None:
                raise ToolError(_REFUSALS[Purpose.READ])
            return collected(cursor, *page)

    def write(self, query: str, limit: int, stop: threading.Event) -> Written:
        """Run a statement that changes something: all of it, or nothing. Raises `ToolError`."""
        with self._gated("rw", Purpose.WRITE, stop) as (connection, gate):
            cursor = connection.execute(query)
            if not gate.writes:
                raise ToolError(_SELECTS)
            returned = collected(cursor, limit, 0, to_the_end=True)
            (affected,) = connection.execute("SELECT changes()").fetchone()
            return Written(affected, returned)

    def create(self, query: str, stop: threading.Event) -> None:
        """Run CREATE TABLE. Raises `ToolError`."""
        with self._gated("rw", Purpose.CREATE, stop) as (connection, gate):
            connection.execute(query)
            if not gate.creates:
                raise ToolError(_REFUSALS[Purpose.CREATE])

    def look(self, query: str, values: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Run a query of ours, with what a client sent bound to it. Raises `ToolError`."""
        try:
            with self.open("ro") as connection:
                cursor = connection.execute(query, values)
                names = [column[0] for column in cursor.description]
                return [dict(zip(names, row, strict=True)) for row in cursor]
        except sqlite3.Error as error:
            raise ToolError(self._explained(error, Gate(Purpose.READ))) from None

    @contextmanager
    def open(self, mode: str) -> Generator[sqlite3.Connection]:
        """Open the file for the length of a block. Raises `sqlite3.Error`."""
        connection = self.connect(mode)
        try:
            yield connection
        finally:
            connection.close()

    def connect(self, mode: str) -> sqlite3.Connection:
        """Open the file: bounded, and with nothing in its schema trusted. Raises `sqlite3.Error`."""
        address = f"{self.path.as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            for limit, value in _LIMITS.items():
                connection.setlimit(limit, value)
            if sys.version_info >= (3, 12):
                connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute(f"PRAGMA hard_heap_limit = {MAX_MEMORY}").fetchone()
            if mode == "ro":
                connection.execute("PRAGMA query_only = ON")
            connection.text_factory = _decoded
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _gated(self, mode: str, purpose: Purpose, stop: threading.Event) -> Generator[tuple[sqlite3.Connection, Gate]]:
        """Open the file for one statement of a client's; what it wrote is kept if the block succeeds."""
        gate, until = Gate(purpose), time.monotonic() + self._seconds
        try:
            with self.open(mode) as connection:
                connection.set_progress_handler(lambda: stop.is_set() or time.monotonic() > until, _STEPS)
                connection.execute("BEGIN" if mode == "ro" else "BEGIN IMMEDIATE")
                connection.set_authorizer(gate)
                yield connection, gate
                connection.set_authorizer(None)
                connection.execute("COMMIT")
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
            raise ToolError(self._explained(error, gate)) from None

    def _explained(self, error: Exception, gate: Gate) -> str:
        """Say why a statement failed, to a model."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if gate.denied is not None:
            refusal = _REFUSALS.get(gate.purpose)
            if gate.denied_write and refusal is not None:
                return refusal
            return f"Error: {gate.denied} is not allowed here"
        if code == sqlite3.SQLITE_INTERRUPT:
            return (
                f"Error: the statement took longer than {self._seconds:g} s and was stopped; nothing was changed. "
                "Ask for less: WHERE, LIMIT, fewer joins, or an index"
            )
        if isinstance(error, MemoryError) or code == sqlite3.SQLITE_NOMEM:
            return f"Error: the statement needs more than {MAX_MEMORY >> 20} MB of memory. Ask for less at once"
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return f"Database error: another program has been writing for {BUSY_SECONDS:g} s. Try again"
        reason = str(error).encode("unicode_escape", "replace").decode() if not str(error).isprintable() else str(error)
        return f"Database error: {reason[:MAX_REASON]}"


def _decoded(text: bytes) -> str:
    """Read a text, which programs in C may have stored in no UTF-8 at all."""
    return text.decode(errors="replace")
