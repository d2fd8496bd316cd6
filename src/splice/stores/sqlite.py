"""A store in one SQLite file, for any number of processes on one machine.

Reads run where they are asked for: they take microseconds, and wait for nobody's write. Writes go to one thread, which
does all that has piled up in one transaction. A write that was answered survives a crash of the process; a crash of
the machine may undo the last ones (`synchronous=NORMAL`), but does not damage the file. What has expired is not seen
any more at once, and deleted later, by whoever writes.

May be used from several event loops and threads. Before a fork the write under way is finished and the file let go
of, because SQLite must not be carried into another process; afterwards parent and child open it anew. Writes that
wait stay with the parent.
"""

import asyncio
import os
import re
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from math import inf
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from weakref import WeakSet

from splice.stores.base import Conflict, Entry, StoreError, refill

SCHEMA = 1
"""The version of the tables. A file with a newer one is refused."""

APPLICATION = 0x53504C43
"""Marks a file as ours, so that a path to somebody else's database does no harm."""

BUSY_SECONDS = 2.0
"""How long to wait for a lock of another process. Reads wait only for one that locks out readers too."""

MAX_BATCH = 256
"""How many writes are done in one transaction."""

MAX_WAITING = 10_000
"""How many writes wait for the thread. One more is refused."""

SWEEP_SECONDS = 10.0
"""How often a process that writes deletes what has expired; at each write while one look does not find all."""

SWEEP_ROWS = 500
"""How many rows one look deletes: other writes wait meanwhile."""

MOUNTS = Path("/proc/self/mounts")
"""Where Linux tells which file systems there are. Elsewhere a network mount is not noticed."""

_NETWORK = re.compile(
    r"(fuse\.)?(nfs4?|cifs|smb\w*|9p|afs|ceph\w*|glusterfs|lustre|beegfs|sshfs|rclone|\w*s3fs|gcsfuse)"
)
_POLL_SECONDS = 0.001  # SQLite's own wait grows to 100 ms a step, and starves where others write without a pause
_LAST_INDEX = 2**63 - 1

# A record, a log and a bucket are rows of one table: the first byte of the name tells which. A bucket expires when it
# is full again. The id is the version of a record: each put makes a row, and AUTOINCREMENT gives no id twice.
_TABLES = (
    "CREATE TABLE kept (id INTEGER PRIMARY KEY AUTOINCREMENT, name BLOB UNIQUE, value BLOB, expires REAL)",
    "CREATE INDEX kept_until ON kept (expires)",
    """CREATE TABLE log (id INTEGER REFERENCES kept ON DELETE CASCADE, number INTEGER, value BLOB,
    PRIMARY KEY (id, number)) WITHOUT ROWID""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {SCHEMA}",
)
_FIND = "SELECT value, id, expires FROM kept WHERE name = ? AND expires > ?"
_PUT = "INSERT OR REPLACE INTO kept (name, value, expires) VALUES (?, ?, ?)"
_TOUCH = "UPDATE kept SET expires = ? WHERE name = ? AND expires > ?"
_DELETE = "DELETE FROM kept WHERE name = ? AND expires > ?"
_SWEEP = "DELETE FROM kept WHERE id IN (SELECT id FROM kept WHERE expires <= ? LIMIT ?)"
_APPEND = "INSERT INTO log SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM log WHERE id = ?1 AND number >= ?2)"
_READ = """SELECT number, log.value FROM kept JOIN log USING (id)
WHERE name = ? AND expires > ? AND number > ? ORDER BY number LIMIT ?"""

_NOTHING = b"", 0, -inf  # as a row of _FIND

_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_MEANINGS = {
    **dict.fromkeys(_LOCKED, "is locked by another process, which has to let go of it or to end"),
    sqlite3.SQLITE_CORRUPT: "is damaged: move it away and a new one is made",
    sqlite3.SQLITE_NOTADB: "is not a SQLite file: choose another path",
    sqlite3.SQLITE_FULL: "cannot grow because the disk is full: make room",
}
"""Primary error code of SQLite: what it means for the file, and what to do."""

R = TypeVar("R")
Work: TypeAlias = Callable[[sqlite3.Connection, float], R]
"""Part of a transaction, told the time. `Conflict` and `ValueError` it raises before it writes."""


class SQLiteStore:
    """A `Store` in a file, which is made if it is not there, with its directory. Only its owner may read it.

    Raises `StoreError` if the file cannot be used: it is damaged, locked, of a newer Splice or another program, or on a
    network mount.
    """

    def __init__(self, path: str | os.PathLike[str], *, clock: Callable[[], float] = time.time) -> None:
        self._path = Path(path).absolute()
        self._clock = clock
        self._closed = False
        self._sweep_at = -inf
        self.begin()
        try:
            _make(self._path)
            _patiently(self._connect).close()  # errors come now; but what is made before a fork holds no file
        except (OSError, sqlite3.Error) as error:
            raise self._explain(error) from error
        _STORES.add(self)

    async def get(self, key: str, *, touch: float | None = None) -> Entry | None:
        """Read a record; with `touch`, let it live that many seconds from now on, which is a write."""
        name = _name("r", key)
        rows = self._read(_FIND, name, self._clock())
        if rows and touch is not None:
            await self._write(lambda db, now: db.execute(_TOUCH, (now + touch, name, now)).rowcount)
        return Entry(*rows[0][:2]) if rows else None

    async def put(self, key: str, value: bytes, *, ttl: float | None, expect: int | None = None) -> int:
        """Write a record and return its version. Raises `Conflict`."""
        name = _name("r", key)

        def work(db: sqlite3.Connection, now: float) -> int:
            _, found, _ = db.execute(_FIND, (name, now)).fetchone() or _NOTHING
            if expect not in (None, found):
                raise Conflict(key, found)
            return db.execute(_PUT, (name, value, inf if ttl is None else now + ttl)).lastrowid or 0

        return await self._write(work)

    async def delete(self, key: str) -> bool:
        """Delete a record. Of several who do, one is told True."""
        name = _name("r", key)
        return await self._write(lambda db, now: db.execute(_DELETE, (name, now)).rowcount == 1)

    async def append(self, log: str, index: int, value: bytes, *, ttl: float) -> None:
        """Add to a log, and let all of it live `ttl` seconds from now on."""
        name = _name("l", log)

        def work(db: sqlite3.Connection, now: float) -> None:
            if not db.execute(_TOUCH, (now + ttl, name, now)).rowcount:
                db.execute(_PUT, (name, b"", now + ttl))  # in place of one that has expired, whose values go with it
            _, id, _ = db.execute(_FIND, (name, -inf)).fetchone()
            db.execute(_APPEND, (id, index, value))

        await self._write(work)

    async def read(self, log: str, after: int, limit: int = 256) -> list[tuple[int, bytes]]:
        """Return up to `limit` pairs of index and value behind an index, in order."""
        after = max(0, min(after, _LAST_INDEX))  # a peer may have named it
        return self._read(_READ, _name("l", log), self._clock(), after, limit)

    async def take(self, key: str, cost: float, *, rate: float, burst: float) -> float:
        """Take tokens out of a bucket. 0.0: granted, else seconds to wait."""
        name = _name("b", key)

        def work(db: sqlite3.Connection, now: float) -> float:
            _, _, full_at = db.execute(_FIND, (name, now)).fetchone() or _NOTHING
            wait, full_at = refill(full_at, now, cost, rate=rate, burst=burst)
            if not wait:
                db.execute(_PUT, (name, b"", full_at))
            return wait

        return await self._write(work)

    async def close(self) -> None:
        """Finish the writes that were handed in, and let go of the file. Nothing is left running."""
        with self._door:
            if self._closed:
                return
            self._closed = True
            last = self._thread.submit(self._let_go)
            self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(last))
        self._thread.shutdown()

    def begin(self) -> None:
        """Begin without connections, writes and thread: in a new store, or a new process."""
        self._door = threading.Lock()
        """Held for moments: to read, and to hand in a write."""
        self._writing = threading.Lock()
        """Held by the thread for a transaction."""
        self._waiting: deque[tuple[Future[Any], Work[Any]]] = deque()
        self._thread = ThreadPoolExecutor(1, "splice-store")
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None

    def hold(self) -> None:
        """Let go of the file until `go_on`, or `begin` in another process."""
        self._door.acquire()
        self._writing.acquire()
        self._let_go()

    def go_on(self) -> None:
        """End `hold`."""
        self._writing.release()
        self._door.release()

    def _let_go(self) -> None:
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._reader = self._writer = None

    def _read(self, query: str, *values: Any) -> list[Any]:
        with self._door:
            self._refuse_if_closed()
            try:
                reader = self._reader = self._reader or _patiently(self._connect)
                return _patiently(lambda: reader.execute(query, values).fetchall())
            except (OSError, sqlite3.Error) as error:
                raise self._explain(error) from error

    async def _write(self, work: Work[R]) -> R:
        """Do `work` on the thread, in a transaction that others may share, and return its result once that is kept."""
        future: Future[R] = Future()
        with self._door:
            self._refuse_if_closed()
            if len(self._waiting) >= MAX_WAITING:
                raise StoreError(f"{self._path}: {MAX_WAITING} writes wait already: try again later")
            self._waiting.append((future, work))
            if len(self._waiting) == 1:  # else the thread has been told, or is about to look
                self._thread.submit(self._drain)
        return await asyncio.wrap_future(future)

    def _drain(self) -> None:
        """Do what has piled up, on the thread."""
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(MAX_BATCH, len(self._waiting)))]
            batch = [job for job in batch if job[0].set_running_or_notify_cancel()]
            with self._writing:
                results = self._attempt([work for _, work in batch])
            for (future, _), result in zip(batch, results, strict=True):
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)

    def _attempt(self, works: list[Work[Any]]) -> list[Any]:
        """Do works in one transaction. If it fails, do each in its own, so that only those fail that must."""
        try:
            db = self._writer = self._writer or _patiently(self._connect)
            _patiently(lambda: db.execute("BEGIN IMMEDIATE"))
            with db:
                now = self._sweep(db)
                return [_result(work, db, now) for work in works]
        except (sqlite3.Error, OSError, OverflowError, TypeError, MemoryError) as error:
            if len(works) == 1 or _code(error) in _LOCKED:
                return [self._explain(error) for _ in works]
        return [self._attempt([work])[0] for work in works]

    def _sweep(self, db: sqlite3.Connection) -> float:
        """Delete some of what has expired, if it is time to. Returns the time."""
        now = self._clock()
        if now >= self._sweep_at and db.execute(_SWEEP, (now, SWEEP_ROWS)).rowcount < SWEEP_ROWS:
            self._sweep_at = now + SWEEP_SECONDS
        return now

    def _connect(self) -> sqlite3.Connection:
        """Open the file, and make its tables if it is empty. Raises `OSError`, and `sqlite3.Error`."""
        address = f"{self._path.as_uri()}?mode=rw"
        db = sqlite3.connect(address, uri=True, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            _prepare(db)
        except BaseException:
            db.close()
            raise
        return db

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreError(f"{self._path} is closed: open the store again")

    def _explain(self, error: Exception) -> StoreError:
        return StoreError(f"{self._path} {_MEANINGS.get(_code(error)) or f'cannot be used: {error}'}")


def _make(path: Path) -> None:
    """Make the file with its directory, readable for its owner only. Raises `OSError`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    kind = _file_system(path.parent)
    if _NETWORK.fullmatch(kind):
        raise OSError(f"it is on a network mount ({kind}), where SQLite loses data. Choose a local disk")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:  # to open it here, and close it, would end the locks that this process has on it
        if path.is_file() and path.stat().st_mode & 0o077:
            path.chmod(0o600)


def _file_system(directory: Path) -> str:
    """Tell the kind of file system that a directory is on; "" where nobody tells."""
    mounts = MOUNTS.read_text().splitlines() if MOUNTS.exists() else []
    kinds = {where.replace(r"\040", " "): kind for _, where, kind, *_ in map(str.split, mounts)}
    real = directory.resolve()
    return next((kinds[str(above)] for above in (real, *real.parents) if str(above) in kinds), "")


def _prepare(db: sqlite3.Connection) -> None:
    """Refuse a database that is not ours, and make the tables of an empty one. Raises `OSError`, `sqlite3.Error`."""
    is_made = _number(db, "SELECT count(*) FROM sqlite_master")  # first: another process may be making it
    if is_made and _number(db, "PRAGMA application_id") != APPLICATION:
        raise OSError("it is the database of another program. Choose another path")
    if (version := _number(db, "PRAGMA user_version")) > SCHEMA:
        raise OSError(f"a newer Splice wrote it, with tables of version {version}. Upgrade, or choose another path")
    if db.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
        raise OSError("this file system cannot share memory between processes. Choose a local disk")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA foreign_keys = ON")
    if not is_made:
        db.execute("BEGIN IMMEDIATE")
        with db:
            for statement in () if _number(db, "SELECT count(*) FROM sqlite_master") else _TABLES:
                db.execute(statement)


def _number(db: sqlite3.Connection, query: str) -> int:
    return int(db.execute(query).fetchone()[0])


def _patiently(act: Callable[[], R]) -> R:
    """Do something, again and again for `BUSY_SECONDS` while another process has the lock. Raises `sqlite3.Error`."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return act()
        except sqlite3.Error as error:
            if _code(error) not in _LOCKED or time.monotonic() > until:
                raise
        time.sleep(_POLL_SECONDS)


def _code(error: Exception) -> int:
    """Tell the primary code of an error of SQLite's; 0 for any other."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _result(work: Work[R], db: sqlite3.Connection, now: float) -> R | Exception:
    """Return what a work returns, or raises before it writes. Any other exception undoes the whole transaction."""
    try:
        return work(db, now)
    except (Conflict, ValueError) as error:
        return error


def _name(kind: str, key: str) -> bytes:
    """Spell a name as bytes: SQLite's own texts hold no lone surrogates."""
    return (kind + key).encode(errors="surrogatepass")


_STORES: "WeakSet[SQLiteStore]" = WeakSet()


def _all(do: Callable[[SQLiteStore], None]) -> Callable[[], None]:
    def do_all() -> None:
        for store in tuple(_STORES):
            do(store)

    return do_all


if hasattr(os, "register_at_fork"):  # not on Windows
    _hooks = _all(SQLiteStore.hold), _all(SQLiteStore.go_on), _all(SQLiteStore.begin)
    os.register_at_fork(before=_hooks[0], after_in_parent=_hooks[1], after_in_child=_hooks[2])
