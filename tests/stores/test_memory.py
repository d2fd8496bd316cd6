"""The store in memory: its bounds, and who gives way."""

import asyncio
import threading

import pytest

from splice.stores.base import Conflict, StoreError
from splice.stores.memory import MAX_BYTES, MemoryStore
from stores.conftest import Clock
from support.storing import increment


async def test_what_has_expired_gives_way_first(clock: Clock) -> None:
    store = MemoryStore(max_items=3, clock=clock)
    await store.append("log", 1, b"x", ttl=100)
    await store.put("old", b"x", ttl=1)
    await store.put("stays", b"x", ttl=None)
    clock.now += 1
    await store.put("new", b"x", ttl=None)
    assert await store.read("log", 0) == [(1, b"x")]


async def test_then_logs_do_whole_and_the_least_recently_written_first(clock: Clock) -> None:
    store = MemoryStore(max_items=4, clock=clock)
    for log, index in (("a", 1), ("b", 1), ("b", 2), ("a", 2)):
        await store.append(log, index, b"x", ttl=100)
    await store.put("k", b"x", ttl=None)
    assert await store.read("b", 0) == []
    assert [index for index, _ in await store.read("a", 0)] == [1, 2]


async def test_a_log_that_gave_way_begins_later(clock: Clock) -> None:
    store = MemoryStore(max_items=2, clock=clock)
    for log, index in (("a", 1), ("b", 1), ("b", 2), ("a", 2)):
        await store.append(log, index, b"x", ttl=100)
    assert await store.read("a", 0) == [(2, b"x")]


async def test_a_log_does_not_give_way_to_itself(clock: Clock) -> None:
    store = MemoryStore(max_items=2, clock=clock)
    await store.append("a", 1, b"x", ttl=100)
    await store.append("a", 2, b"x", ttl=100)
    with pytest.raises(StoreError, match="is full: 2 items of at most 2"):
        await store.append("a", 3, b"x", ttl=100)
    assert [index for index, _ in await store.read("a", 0)] == [1, 2]


async def test_then_a_write_is_refused_and_what_is_there_stays(clock: Clock) -> None:
    store = MemoryStore(max_items=2, max_bytes=100, clock=clock)
    version = await store.put("k", b"x", ttl=None)
    assert await store.take("bucket", 1, rate=1, burst=2) == 0.0
    with pytest.raises(StoreError, match="Raise its limits"):
        await store.put("another", b"x", ttl=None)
    with pytest.raises(StoreError, match="Raise its limits"):
        await store.take("another", 1, rate=1, burst=2)
    with pytest.raises(StoreError, match="of at most 100, and"):
        await store.put("k", bytes(200), ttl=None)
    found = await store.get("k")
    assert found is not None
    assert (found.value, found.version) == (b"x", version)
    await store.put("k", b"y", ttl=None, expect=version)
    await store.delete("k")
    await store.put("another", b"x", ttl=None)


async def test_what_can_never_fit_drives_nobody_out(clock: Clock) -> None:
    store = MemoryStore(max_bytes=1000, clock=clock)
    await store.append("log", 1, b"x", ttl=100)
    with pytest.raises(StoreError, match="is full"):
        await store.put("k", bytes(1000), ttl=None)
    assert await store.read("log", 0) == [(1, b"x")]


async def test_all_that_is_kept_is_counted_and_all_that_goes_is_not(clock: Clock) -> None:
    store = MemoryStore(max_items=3, max_bytes=MAX_BYTES, clock=clock)
    for round in range(100):
        await store.put("k", bytes(round), ttl=5)
        await store.append("log", round, bytes(round), ttl=5)
        assert await store.take("bucket", 1, rate=1, burst=1) == 0.0
        if round % 2:
            assert await store.delete("k")
            clock.now += 10
        else:
            clock.now += 4
            await store.get("k", touch=1)
            clock.now += 2
    assert (len(store._records), len(store._logs), len(store._buckets)) == (0, 1, 1)
    clock.now += 10
    await store.put("k", b"12", ttl=5)
    assert (store._items, store._size) == (1, 3)


async def test_what_has_expired_goes_by_itself(clock: Clock) -> None:
    store = MemoryStore(clock=clock)
    for number in range(100):
        await store.put(f"k{number}", b"x", ttl=1)
        await store.append(f"k{number}", 1, b"x", ttl=1)
        await store.take(f"k{number}", 1, rate=1, burst=1)
    clock.now += 20
    await store.put("k", b"x", ttl=None)
    assert (store._items, store._size) == (1, 2)


def test_no_increment_is_lost_between_threads() -> None:
    store = MemoryStore()

    async def several() -> None:
        for _ in range(200):
            await increment(store, "n")

    threads = [threading.Thread(target=asyncio.run, args=(several(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    found = asyncio.run(store.get("n"))
    assert found is not None
    assert found.value == b"800"


async def test_a_conflict_keeps_nothing(clock: Clock) -> None:
    store = MemoryStore(clock=clock)
    with pytest.raises(Conflict):
        await store.put("k", b"x", ttl=None, expect=5)
    assert store._items == 0
