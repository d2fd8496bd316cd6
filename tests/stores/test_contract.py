"""What every store promises, whatever it keeps things in."""

import asyncio
import random
from math import inf

import pytest

from splice.errors import MCPError
from splice.stores.base import Conflict, Entry, StoreError
from stores.conftest import Clock, Make
from support.storing import closing, increment

ODD_KEYS = [
    *("", " ", "%", "_", "'", '"', ";--", "a\0b", "a\0c", "s:1", "S:1", "é", "e\u0301", "\U0001f600", "\ud800", "\n"),
    "k" * 10_000,
]
VALUES = {
    "empty": b"",
    "every byte": bytes(range(256)),
    "zeros": bytes(1000),
    "large": random.Random(7).randbytes(5_000_000),
}


async def test_what_was_put_is_read(make: Make) -> None:
    async with closing(make()) as store:
        assert await store.get("k") is None
        version = await store.put("k", b"one", ttl=None)
        assert await store.get("k") == Entry(b"one", version)
        assert await store.put("k", b"two", ttl=None) > version > 0


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
async def test_values_are_bytes_of_any_kind_and_size(make: Make, value: bytes) -> None:
    async with closing(make()) as store:
        await store.put("k", value, ttl=None)
        await store.append("k", 1, value, ttl=60)
        found = await store.get("k")
        assert found is not None
        assert found.value == value
        assert type(found.value) is bytes
        assert await store.read("k", 0) == [(1, value)]


async def test_keys_are_any_text_and_no_two_are_one(make: Make) -> None:
    async with closing(make()) as store:
        for number, key in enumerate(ODD_KEYS):
            await store.put(key, b"%d" % number, ttl=None)
            await store.append(key, 1, b"log %d" % number, ttl=60)
            assert await store.take(key, 1, rate=1, burst=1) == 0.0
        for number, key in enumerate(ODD_KEYS):
            found = await store.get(key)
            assert found is not None
            assert found.value == b"%d" % number
            assert await store.read(key, 0) == [(1, b"log %d" % number)]
            assert await store.take(key, 1, rate=1, burst=1) > 0
            assert await store.delete(key)


# Compare and set.


@pytest.mark.parametrize("expect", [1, -1, 10**6])
async def test_a_version_that_is_not_there_is_a_conflict(make: Make, expect: int) -> None:
    async with closing(make()) as store:
        with pytest.raises(Conflict, match="'k' has version 0"):
            await store.put("k", b"x", ttl=None, expect=expect)
        assert await store.get("k") is None


async def test_zero_expects_that_nothing_is_there(make: Make, clock: Clock) -> None:
    async with closing(make()) as store:
        await store.put("k", b"one", ttl=10, expect=0)
        with pytest.raises(Conflict):
            await store.put("k", b"two", ttl=10, expect=0)
        clock.now += 10
        await store.put("k", b"three", ttl=10, expect=0)
        await store.delete("k")
        await store.put("k", b"four", ttl=10, expect=0)


async def test_a_version_is_not_used_again_after_deletion_or_expiry(make: Make, clock: Clock) -> None:
    async with closing(make()) as store:
        seen: list[int] = []
        for _ in range(3):
            seen.append(await store.put("k", b"x", ttl=10))
            await store.delete("k")
            seen.append(await store.put("k", b"x", ttl=10))
            clock.now += 10
        assert seen == sorted(set(seen))
        await store.put("k", b"x", ttl=10)
        with pytest.raises(Conflict):
            await store.put("k", b"late", ttl=None, expect=seen[-1])


async def test_a_conflict_is_an_error_of_ours_but_not_of_the_store() -> None:
    assert issubclass(Conflict, MCPError)
    assert not issubclass(Conflict, StoreError)


async def test_no_increment_is_lost_between_many_tasks(make: Make) -> None:
    async with closing(make()) as store:

        async def several() -> int:
            return sum([await increment(store, "n") for _ in range(20)])

        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(several())
        found = await store.get("n")
        assert found is not None
        assert found.value == b"400"


async def test_of_many_who_create_or_delete_one_wins(make: Make) -> None:
    async with closing(make()) as store:
        puts = (store.put("k", b"x", ttl=None, expect=0) for _ in range(50))
        results = await asyncio.gather(*puts, return_exceptions=True)
        assert sum(isinstance(result, int) for result in results) == 1
        assert sum(isinstance(result, Conflict) for result in results) == 49
        assert sum(await asyncio.gather(*(store.delete("k") for _ in range(50)))) == 1


# Time to live.


@pytest.mark.parametrize(
    ("ttl", "passed", "is_there"), [(10, 9.5, True), (10, 10, False), (0, 0, False), (None, 1e12, True)]
)
async def test_a_record_lives_as_long_as_was_said(
    make: Make, clock: Clock, ttl: float | None, passed: float, is_there: bool
) -> None:
    async with closing(make()) as store:
        await store.put("k", b"x", ttl=ttl)
        clock.now += passed
        assert (await store.get("k") is not None) is is_there
        assert await store.delete("k") is is_there


async def test_touch_counts_from_now_on_and_leaves_the_version(make: Make, clock: Clock) -> None:
    async with closing(make()) as store:
        version = await store.put("k", b"x", ttl=10)
        for _ in range(5):
            clock.now += 9
            assert await store.get("k", touch=10) == Entry(b"x", version)
        clock.now += 10
        assert await store.get("k", touch=10) is None
        assert await store.get("k") is None


async def test_touch_can_shorten(make: Make, clock: Clock) -> None:
    async with closing(make()) as store:
        await store.put("k", b"x", ttl=None)
        await store.get("k", touch=1)
        clock.now += 1
        assert await store.get("k") is None


async def test_a_put_counts_anew(make: Make, clock: Clock) -> None:
    async with closing(make()) as store:
        await store.put("k", b"x", ttl=10)
        await store.put("k", b"x", ttl=None)
        clock.now += 1e9
        assert await store.get("k") is not None


# Logs.


async def test_a_log_is_read_after_an_index_and_in_parts(make: Make) -> None:
    async with closing(make()) as store:
        for index in range(1, 301):
            await store.append("log", index, b"%d" % index, ttl=60)
        await store.append("other", 1, b"not this one", ttl=60)
        every = [(index, b"%d" % index) for index in range(1, 301)]
        assert await store.read("log", 0) == every[:256]
        assert await store.read("log", 256) == every[256:]
        assert await store.read("log", 10, 3) == every[10:13]
        assert await store.read("nothing", 0) == []


@pytest.mark.parametrize(("after", "count"), [(-1, 2), (-(10**30), 2), (1, 1), (2, 0), (2**63, 0), (10**30, 0)])
async def test_a_reader_may_ask_for_any_index(make: Make, after: int, count: int) -> None:
    async with closing(make()) as store:
        await store.append("log", 1, b"one", ttl=60)
        await store.append("log", 2, b"two", ttl=60)
        assert len(await store.read("log", after)) == count


async def test_the_same_index_twice_is_ignored(make: Make) -> None:
    async with closing(make()) as store:
        for index in (1, 1, 2, 1, 2, 3):
            await store.append("log", index, b"%d" % index, ttl=60)
        await store.append("log", 3, b"something else", ttl=60)
        assert await store.read("log", 0) == [(1, b"1"), (2, b"2"), (3, b"3")]


async def test_values_handed_in_together_stay_in_order(make: Make) -> None:
    async with closing(make()) as store:
        await asyncio.gather(*(store.append("log", index, b"x", ttl=60) for index in range(1, 600)))
        assert [index for index, _ in await store.read("log", 0, 1000)] == list(range(1, 600))


async def test_each_append_lets_the_whole_log_live_on(make: Make, clock: Clock) -> None:
    async with closing(make()) as store:
        for index in (1, 2, 3):
            await store.append("log", index, b"x", ttl=10)
            clock.now += 9
        assert len(await store.read("log", 0)) == 3
        clock.now += 1
        assert await store.read("log", 0) == []
        await store.append("log", 1, b"new", ttl=10)
        assert await store.read("log", 0) == [(1, b"new")]


# Buckets.


async def test_a_bucket_grants_a_burst_and_then_as_fast_as_it_fills(make: Make, clock: Clock) -> None:
    async with closing(make()) as store:
        for _ in range(5):
            assert await store.take("k", 1, rate=2, burst=5) == 0.0
        assert await store.take("k", 1, rate=2, burst=5) == pytest.approx(0.5)
        assert await store.take("k", 3, rate=2, burst=5) == pytest.approx(1.5)
        clock.now += 0.5
        assert await store.take("k", 1, rate=2, burst=5) == 0.0
        assert await store.take("k", 1, rate=2, burst=5) > 0
        clock.now += 1e6
        assert await store.take("k", 5, rate=2, burst=5) == 0.0
        assert await store.take("k", 0, rate=2, burst=5) == 0.0


async def test_who_waits_as_long_as_was_said_is_granted(make: Make, clock: Clock) -> None:
    async with closing(make()) as store:
        chance, begun, granted = random.Random(5), clock.now, 0.0
        for _ in range(300):
            cost = chance.uniform(0.1, 7)
            wait = await store.take("k", cost, rate=3.7, burst=7)
            if wait:
                clock.now += wait
                assert await store.take("k", cost, rate=3.7, burst=7) == 0.0
            granted += cost
        assert granted == pytest.approx(7 + 3.7 * (clock.now - begun), rel=0.05)


@pytest.mark.parametrize(
    ("cost", "rate", "burst"), [(6, 1, 5), (-1, 1, 5), (1, 0, 5), (1, -1, 5), (float("nan"), 1, 5), (inf, 1, 5)]
)
async def test_what_can_never_be_granted_is_refused(make: Make, cost: float, rate: float, burst: float) -> None:
    async with closing(make()) as store:
        with pytest.raises(ValueError, match="can never be taken"):
            await store.take("k", cost, rate=rate, burst=burst)


# The end.


async def test_a_store_is_closed_as_often_as_one_likes(make: Make) -> None:
    store = make()
    await store.close()
    store = make()
    await store.put("k", b"x", ttl=None)
    await store.get("k")
    await asyncio.gather(store.close(), store.close())
    await store.close()


async def test_a_cancelled_write_harms_no_other(make: Make) -> None:
    async with closing(make()) as store:
        writes = [asyncio.ensure_future(store.put(f"k{number}", b"x", ttl=None)) for number in range(20)]
        await asyncio.sleep(0)
        for write in writes[::2]:
            write.cancel()
        results = await asyncio.gather(*writes, return_exceptions=True)
        assert all(isinstance(result, int) for result in results[1::2])


def test_several_event_loops_use_one_store_one_after_the_other(make: Make) -> None:
    store = make()
    versions = [asyncio.run(store.put("k", b"x", ttl=None)) for _ in range(3)]
    assert versions == sorted(set(versions))
    assert asyncio.run(store.get("k")) == Entry(b"x", versions[-1])
    asyncio.run(store.close())
