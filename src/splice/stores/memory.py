"""A store in this process: the default. What is in it ends with the process.

It is bounded. When it is full, what has expired goes first. If that is not enough, whole logs go, the one that was
written to least recently first: their readers lose a replay. If that is not enough, the write is refused with
`StoreError`: records and buckets never give way to others.

May be used from several event loops and threads. A process that is forked goes on with a copy.
"""

import threading
import time
from bisect import bisect_right
from collections.abc import Callable
from math import inf

from msgspec import Struct

from splice.stores.base import Conflict, Entry, StoreError, refill

MAX_ITEMS = 100_000
"""How many records, values in logs and buckets are kept at most."""

MAX_BYTES = 64 * 1024 * 1024
"""How large their names (in characters) and values (in bytes) may be together."""

SWEEP_SECONDS = 10.0
"""How often everything is looked through for what has expired."""

FULL_SWEEP_SECONDS = 1.0
"""The same while the store is full: what expired since then waits, as looking through all at each write is slow."""


class _Kept(Struct):
    """A record, a log, or a bucket, which expires when it is full again."""

    expires: float = -inf
    items: int = 0
    size: int = 0
    entry: Entry | None = None
    values: list[tuple[int, bytes]] = []


class MemoryStore:
    """A `Store` in this process."""

    def __init__(
        self, *, max_items: int = MAX_ITEMS, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._version = 0
        self._now = -inf
        """The time of the operation that holds the lock."""
        self._empty()

    def _empty(self) -> None:
        self._records: dict[str, _Kept] = {}
        self._buckets: dict[str, _Kept] = {}
        self._logs: dict[str, _Kept] = {}
        """The one that was written to last is at the end."""
        self._items = self._size = 0
        self._swept = -inf

    async def get(self, key: str, *, touch: float | None = None) -> Entry | None:
        """Read a record; with `touch`, let it live that many seconds from now on."""
        with self._lock:
            kept = self._find(self._records, key)
            if touch is not None:
                kept.expires = self._now + touch
            return kept.entry

    async def put(self, key: str, value: bytes, *, ttl: float | None, expect: int | None = None) -> int:
        """Write a record and return its version. Raises `Conflict`, and `StoreError` if there is no room."""
        with self._lock:
            kept = self._find(self._records, key)
            found = 0 if kept.entry is None else kept.entry.version
            if expect not in (None, found):
                raise Conflict(key, found)
            self._keep(self._records, key, kept, 1, len(key) + len(value))
            self._version += 1
            kept.entry, kept.expires = Entry(value, self._version), inf if ttl is None else self._now + ttl
            return self._version

    async def delete(self, key: str) -> bool:
        """Delete a record. Of several who do, one is told True."""
        with self._lock:
            there = self._find(self._records, key).entry is not None
            self._drop(self._records, key)
            return there

    async def append(self, log: str, index: int, value: bytes, *, ttl: float) -> None:
        """Add to a log, and let all of it live `ttl` seconds from now on. Raises `StoreError` if there is no room."""
        with self._lock:
            kept = self._find(self._logs, log)
            if not kept.values or kept.values[-1][0] < index:
                self._keep(self._logs, log, kept, kept.items + 1, kept.size + len(log) + len(value))
                kept.values.append((index, value))
            kept.expires = self._now + ttl
            self._logs[log] = self._logs.pop(log)

    async def read(self, log: str, after: int, limit: int = 256) -> list[tuple[int, bytes]]:
        """Return up to `limit` pairs of index and value behind an index, in order."""
        with self._lock:
            values = self._find(self._logs, log).values
            first = bisect_right(values, after, key=lambda pair: pair[0])
            return values[first : first + limit]

    async def take(self, key: str, cost: float, *, rate: float, burst: float) -> float:
        """Take tokens out of a bucket. 0.0: granted, else seconds to wait. Raises `StoreError` if there is no room."""
        with self._lock:
            bucket = self._find(self._buckets, key)
            wait, full_at = refill(bucket.expires, self._now, cost, rate=rate, burst=burst)
            if not wait:
                self._keep(self._buckets, key, bucket, 1, len(key))
                bucket.expires = full_at
            return wait

    async def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._empty()

    def _find(self, table: dict[str, _Kept], key: str) -> _Kept:
        """Return what is there now, else a new one that is not kept yet."""
        self._now = self._clock()
        kept = table.get(key)
        if kept is not None and kept.expires <= self._now:
            self._drop(table, key)
            kept = None
        return kept or _Kept()

    def _keep(self, table: dict[str, _Kept], key: str, kept: _Kept, items: int, size: int) -> None:
        """Keep it, counted as it will be. Raises `StoreError` if there is no room, and leaves it as it was."""
        self._sweep(SWEEP_SECONDS)
        self._make_room(kept, items - kept.items, size - kept.size)
        self._items += items - kept.items
        self._size += size - kept.size
        kept.items, kept.size = items, size
        table[key] = kept

    def _make_room(self, kept: _Kept, items: int, size: int) -> None:
        if self._lacks(items, size):
            self._sweep(FULL_SWEEP_SECONDS)
        while self._lacks(items, size):
            log = next((name for name, each in self._logs.items() if each is not kept), None)
            if log is None or size > self._max_bytes:
                raise StoreError(
                    f"The store in memory is full: {self._items} items of at most {self._max_items}, {self._size} "
                    f"bytes of at most {self._max_bytes}, and {size} more. Raise its limits, or keep state in a file"
                )
            self._drop(self._logs, log)

    def _lacks(self, items: int, size: int) -> bool:
        return self._items + items > self._max_items or self._size + size > self._max_bytes

    def _sweep(self, seconds: float) -> None:
        """Drop what has expired, if the last look is that long ago."""
        if self._now >= self._swept + seconds:
            self._swept = self._now
            for table in (self._records, self._buckets, self._logs):
                for key in [key for key, kept in table.items() if kept.expires <= self._now]:
                    self._drop(table, key)

    def _drop(self, table: dict[str, _Kept], key: str) -> None:
        kept = table.pop(key, None) or _Kept()
        self._items -= kept.items
        self._size -= kept.size
