"""Closes stores, and uses one from a process of its own: `python storing.py PATH WHAT TIMES`."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from splice.stores import opening
from splice.stores.base import Conflict, Store

S = TypeVar("S", bound=Store)


@asynccontextmanager
async def closing(store: S) -> AsyncIterator[S]:
    """Close the store at the end of the block."""
    try:
        yield store
    finally:
        await store.close()


async def increment(store: Store, key: str) -> int:
    """Add one to a number, as often as it takes; returns how often somebody else was quicker."""
    conflicts = 0
    while True:
        entry = await store.get(key)
        value, version = (b"0", 0) if entry is None else (entry.value, entry.version)
        try:
            await store.put(key, b"%d" % (int(value) + 1), ttl=None, expect=version)
        except Conflict:
            conflicts += 1
        else:
            return conflicts


async def main(path: str, what: str, times: int) -> None:
    """Do it that often, and write a line about each time."""
    async with closing(opening.open(path)) as store:
        for number in range(1, times + 1):
            sys.stdout.write(f"{await DEEDS[what](store, number)}\n")
            sys.stdout.flush()


async def _win(store: Store, number: int) -> bool:
    try:
        await store.put(f"race {number}", b"mine", ttl=None, expect=0)
    except Conflict:
        return False
    return True


async def _append(store: Store, number: int) -> int:
    await store.append("log", number, b"x" * 100, ttl=600)
    return number


async def _take(store: Store, _: int) -> bool:
    return await store.take("bucket", 1, rate=1e-9, burst=50) == 0.0


DEEDS: dict[str, Callable[[Store, int], Awaitable[object]]] = {
    "increment": lambda store, _: increment(store, "n"),
    "win": _win,
    "append": _append,
    "take": _take,
}


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
