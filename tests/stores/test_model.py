"""Whatever is done in whatever order, a store says what a model of a few dicts says."""

import asyncio
import tempfile
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from splice.stores.base import Conflict, Store
from splice.stores.memory import MemoryStore
from splice.stores.sqlite import SQLiteStore
from stores.conftest import Clock

KEYS = st.sampled_from(["", "a", "b", "a\0", "\ud800"])
VALUES = st.binary(max_size=20)
SECONDS = st.sampled_from([0.0, 1.0, 5.0, 60.0])
RATE, BURST = 2.0, 5.0


class Machine(RuleBasedStateMachine):
    """A store, and a model of it. Each step has an event loop of its own."""

    make: Callable[[Path, Clock], Store]

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.open()
        self.records: dict[str, tuple[bytes, int, float]] = {}
        self.logs: dict[str, tuple[dict[int, bytes], float]] = {}
        self.buckets: dict[str, tuple[float, float]] = {}
        self.last: dict[str, int] = {}

    def open(self) -> None:
        self.store = type(self).make(Path(self.folder.name) / "state.db", self.clock)

    def teardown(self) -> None:
        asyncio.run(self.store.close())
        self.folder.cleanup()

    def record(self, key: str) -> tuple[bytes, int] | None:
        value, version, expires = self.records.get(key, (b"", 0, -inf))
        return (value, version) if expires > self.clock.now else None

    def log(self, key: str) -> dict[int, bytes]:
        values, expires = self.logs.get(key, ({}, -inf))
        return values if expires > self.clock.now else {}

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0, 30.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(key=KEYS, touch=st.none() | SECONDS)
    def get(self, key: str, touch: float | None) -> None:
        found, wanted = asyncio.run(self.store.get(key, touch=touch)), self.record(key)
        if wanted is not None and touch is not None:
            self.records[key] = (*wanted, self.clock.now + touch)
        assert (None if found is None else (found.value, found.version)) == wanted

    @rule(key=KEYS, value=VALUES, ttl=st.none() | SECONDS, guess=st.sampled_from(["any", "right", "nothing", "wrong"]))
    def put(self, key: str, value: bytes, ttl: float | None, guess: str) -> None:
        there = self.record(key)
        version = 0 if there is None else there[1]
        expect = {"any": None, "right": version, "nothing": 0, "wrong": version + 1}[guess]
        try:
            new = asyncio.run(self.store.put(key, value, ttl=ttl, expect=expect))
        except Conflict:
            assert expect not in (None, version)
        else:
            assert expect in (None, version)
            assert new > self.last.get(key, 0)
            self.last[key] = new
            self.records[key] = value, new, inf if ttl is None else self.clock.now + ttl

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        assert asyncio.run(self.store.delete(key)) is (self.record(key) is not None)
        self.records.pop(key, None)

    @rule(log=KEYS, step=st.sampled_from([0, 1, 1, 1, 2]), value=VALUES, ttl=SECONDS)
    def append(self, log: str, step: int, value: bytes, ttl: float) -> None:
        values = dict(self.log(log))
        last = max(values, default=0)
        index = max(last + step, 1)
        asyncio.run(self.store.append(log, index, value, ttl=ttl))
        if index > last:
            values[index] = value
        self.logs[log] = values, self.clock.now + ttl

    @rule(log=KEYS, after=st.integers(-1, 6), limit=st.integers(1, 4))
    def read(self, log: str, after: int, limit: int) -> None:
        wanted = [(index, value) for index, value in sorted(self.log(log).items()) if index > after]
        assert asyncio.run(self.store.read(log, after, limit)) == wanted[:limit]

    @rule(key=KEYS, cost=st.sampled_from([0.0, 1.0, 3.0, 5.0]))
    def take(self, key: str, cost: float) -> None:
        level, since = self.buckets.get(key, (BURST, self.clock.now))
        level = min(BURST, level + RATE * (self.clock.now - since))
        wait = asyncio.run(self.store.take(key, cost, rate=RATE, burst=BURST))
        assert wait == pytest.approx(max(0.0, cost - level) / RATE, abs=1e-5)
        self.buckets[key] = level - (0.0 if wait else cost), self.clock.now

    @precondition(lambda self: isinstance(self.store, SQLiteStore))
    @rule()
    def open_again(self) -> None:
        asyncio.run(self.store.close())
        self.open()


def sqlite(path: Path, clock: Clock) -> Store:
    return SQLiteStore(path, clock=clock)


def memory(_: Path, clock: Clock) -> Store:
    return MemoryStore(clock=clock)


@pytest.mark.parametrize("make", [sqlite, memory])
def test_a_store_does_what_the_model_does(make: Any) -> None:
    machine = type("Made", (Machine,), {"make": staticmethod(make)})
    run_state_machine_as_test(machine, settings=settings(max_examples=15, stateful_step_count=40))
