"""Deadlines of a client: many on one timer, all of which stand still while the user thinks.

While the user answers a question, the clocks of all requests stand still: one of them is the request that led to the
question, and a pipe does not tell which.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Self

from splice.errors import ConnectionClosed, RequestTimeout
from splice.transports.tasks import Stretch

FOR_EVER = float("inf")


class Clocks:
    """The deadlines of the requests that run: many on one timer. Belongs to one event loop.

    It does what `asyncio.timeout` does for a fraction of the price: a request that ends in time has set no timer.
    """

    def __init__(self) -> None:
        self.running: set[Deadline] = set()
        self.excuse: Callable[[], str] = str
        """Says what may be behind an answer that does not come."""
        self.due = FOR_EVER
        """When the timer rings."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """The running loop, once the timer was set."""
        self._timer: asyncio.TimerHandle | None = None
        self._stops, self._stopped_at = 0, 0.0

    @contextmanager
    def stopped(self) -> Generator[None]:
        """Let no time pass: what runs at the end of it is due that much later."""
        time = asyncio.get_running_loop().time
        if self._stops == 0:
            self._stopped_at = time()
        self._stops += 1
        try:
            yield
        finally:
            self._stops -= 1
            if self._stops == 0:
                for deadline in self.running:
                    deadline.when += time() - self._stopped_at
                self.arm(time())  # not called at once: no task can end a stretch of its own

    def end(self, error: ConnectionClosed) -> None:
        """End all requests."""
        for deadline in tuple(self.running):
            deadline.end(error)

    def arm(self, when: float) -> None:
        """Set the timer."""
        if self._timer is not None:
            self._timer.cancel()
        self.due, self.loop = when, asyncio.get_running_loop()
        self._timer = None if when == FOR_EVER else self.loop.call_at(when, self._ring)

    def _ring(self) -> None:
        """End the requests whose time is up, and set the timer for the next one."""
        due = FOR_EVER
        if self._stops == 0:
            now = asyncio.get_running_loop().time()
            for deadline in [each for each in self.running if each.when <= now]:
                deadline.expire()
            due = min((each.when for each in self.running), default=FOR_EVER)
        self.arm(due)


class Deadline(Stretch):
    """A stretch of a task that ends with `RequestTimeout` when it takes longer than `seconds`.

    `says` begins the sentence of the error.
    """

    __slots__ = ("_clocks", "_says", "_seconds", "when")

    def __init__(self, clocks: Clocks, seconds: float, says: str) -> None:
        self.error, self.loop = None, clocks.loop
        self._clocks, self._seconds, self._says = clocks, seconds, says

    def __enter__(self) -> Self:
        Stretch.__enter__(self)  # `super()` takes longer
        clocks = self._clocks
        self.when = self.task.get_loop().time() + self._seconds
        clocks.running.add(self)
        if self.when < clocks.due:
            clocks.arm(self.when)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._clocks.running.discard(self)
        if self.error is not None:
            super().__exit__(kind)

    def expire(self) -> None:
        """End it, from outside."""
        self._clocks.running.discard(self)
        self.end(RequestTimeout(f"{self._says} within {self._seconds:g} s{self._clocks.excuse()}"))
