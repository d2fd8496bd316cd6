"""Stores of every kind, with a clock that stands still until it is told."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from splice.stores.base import Store
from splice.stores.memory import MemoryStore
from splice.stores.sqlite import SQLiteStore


class Clock:
    """Tells the time that a test has set."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


Make: TypeAlias = Callable[[], Store]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, clock: Clock, path: Path) -> Make:
    """Give a function that makes a store: `async with closing(make()) as store`."""
    if request.param == "memory":
        return lambda: MemoryStore(clock=clock)
    return lambda: SQLiteStore(path, clock=clock)
