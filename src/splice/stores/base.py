"""The seam behind which state is kept: records, logs and token buckets, by name.

    StoreError      the store cannot do it: closed, full, locked, damaged; the message says what to do
    Conflict        somebody else wrote first

Both are `MCPError`s. They stand here and not in `errors.py` because no peer ever sees them as they are.
"""

from typing import Protocol

from msgspec import Struct

from splice.errors import MCPError

_GRAIN_SECONDS = 1e-6
"""A wait this short is none: clocks that count from 1970 do not resolve less."""


class StoreError(MCPError):
    """The store cannot do what it was asked for. The message says what happened, where, and what to do."""


class Conflict(MCPError):
    """The version that a `put` expected is not there: somebody else wrote, or it was deleted or expired."""

    def __init__(self, key: str, found: int) -> None:
        super().__init__(f"{key!r} has version {found} (0: nothing), which is not the expected one: read it again")


class Entry(Struct, frozen=True):
    """A record as it was read."""

    value: bytes
    version: int
    """Grows with every put, and is not used twice for a key, even if the record was deleted in between."""


class Store(Protocol):
    """State that outlives a process. Linearizable per key; nothing across keys.

    Times are seconds. What was given a `ttl` is gone that long after. Records, logs and buckets may share a name.
    Every method but `close` raises `StoreError`. A write whose caller was cancelled may have been done.
    """

    async def get(self, key: str, *, touch: float | None = None) -> Entry | None:
        """Read a record; with `touch`, let it live that many seconds from now on."""
        ...

    async def put(self, key: str, value: bytes, *, ttl: float | None, expect: int | None = None) -> int:
        """Write a record and return its version. `ttl=None`: it stays.

        `expect` is the version that must be there (0: nothing). Raises `Conflict`.
        """
        ...

    async def delete(self, key: str) -> bool:
        """Delete a record. Of several who do, one is told True: that there was one."""
        ...

    async def append(self, log: str, index: int, value: bytes, *, ttl: float) -> None:
        """Add to a log, and let all of it live `ttl` seconds from now on.

        A log has one writer, who numbers from 1. A value whose index is not above the last one is ignored.
        """
        ...

    async def read(self, log: str, after: int, limit: int = 256) -> list[tuple[int, bytes]]:
        """Return up to `limit` pairs of index and value behind an index, in order.

        A log that had to give way while it was written begins later: then the first index is not `after + 1`.
        """
        ...

    async def take(self, key: str, cost: float, *, rate: float, burst: float) -> float:
        """Take tokens out of a bucket that holds `burst` and gains `rate` a second.

        0.0: granted. Else nothing was taken, and this is how many seconds to wait.
        Raises `ValueError` if `cost` is more than the bucket can ever hold.
        """
        ...

    async def close(self) -> None:
        """Let go of everything. Further calls do nothing."""
        ...


def refill(full_at: float, now: float, cost: float, *, rate: float, burst: float) -> tuple[float, float]:
    """Do the arithmetic of `Store.take` on a bucket that will be full at `full_at`.

    Returns how long to wait (0.0: granted), and when the bucket will be full. Raises `ValueError`.
    """
    if not (0 <= cost <= burst and rate > 0):
        raise ValueError(f"{cost} tokens can never be taken from a bucket that holds {burst} and gains {rate} a second")
    full_at = max(full_at, now)
    wait = full_at - now - (burst - cost) / rate
    return (0.0, full_at + cost / rate) if wait <= _GRAIN_SECONDS else (wait, full_at)
