"""What was read, kept for a short time and within a bound of bytes."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class _Kept(NamedTuple, Generic[T]):
    value: T
    size: int
    until: float


class Keeping(Generic[T]):
    """Keeps values for a number of seconds; those that were used least recently make room."""

    def __init__(self, max_bytes: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._clock = clock
        self._kept: OrderedDict[Hashable, _Kept[T]] = OrderedDict()
        self.size = 0
        """The sum of the sizes of all that is kept."""

    def get(self, key: Hashable) -> T | None:
        """Return what is kept under a key."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.until <= self._clock():
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return kept.value

    def put(self, key: Hashable, value: T, size: int) -> None:
        """Keep a value, said to have a size in bytes; one that is larger than all that is kept together is not."""
        self._drop(key)
        if size > self._max_bytes:
            return
        self._kept[key] = _Kept(value, size, self._clock() + self._seconds)
        self.size += size
        while self.size > self._max_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: Hashable) -> None:
        kept = self._kept.pop(key, None)
        self.size -= kept.size if kept is not None else 0
