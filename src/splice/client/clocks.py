"""Deadlines of a client: many on one timer, all of which stand still while the user thinks.

While the user answers a question, the clocks of all requests stand still: one of them is the request that led to the
question, and a pipe does not tell which.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Self

from splice.errors import RequestTimeout
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
        self._timer: asyncio.TimerHandle | None = None
        self.due = FOR_EVER
        self._stops = 0
        self._stopped_at = 0.0
        self._stood_still = 0.0

    def now(self) -> float:
        """Tell the time, which does not pass while the clocks are stopped."""
        return (self._stopped_at if self._stops else asyncio.get_running_loop().time()) - self._stood_still

    @contextmanager
    def stopped(self) -> Generator[None]:
        """Let no time pass."""
        if self._stops == 0:
            self._stopped_at = asyncio.get_running_loop().time()
        self._stops += 1
        try:
            yield
        finally:
            self._stops -= 1
            if self._stops == 0:
                self._stood_still += asyncio.get_running_loop().time() - self._stopped_at
                self._ring()

    def close(self) -> None:
        """Leave nothing behind on the event loop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self.due = None, FOR_EVER

    def arm(self, when: float) -> None:
        """Set the timer."""
        self.close()
        self.due = when
        self._timer = asyncio.get_running_loop().call_at(when + self._stood_still, self._ring)

    def _ring(self) -> None:
        """End the requests whose time is up, and set the timer for the next one."""
        self.close()
        now = self.now()
        for deadline in [each for each in self.running if each.when <= now]:
            deadline.expire()
        # A task that lets the clocks go on cannot end a stretch of its own here: the timer does, in the next turn.
        due = min((each.when for each in self.running if each.error is None), default=FOR_EVER)
        if due < FOR_EVER and not self._stops:
            self.arm(due)


class Deadline(Stretch):
    """A stretch of a task that ends with `RequestTimeout` when it takes longer than `seconds`.

    `says` is the sentence of the error, with `{}` for `what`.
    """

    __slots__ = ("_clocks", "_says", "_seconds", "_what", "when")

    def __init__(self, clocks: Clocks, seconds: float, what: str, says: str = "No answer to {}") -> None:
        self.error = None
        self._clocks = clocks
        self._seconds = seconds
        self._what = what
        self._says = says

    def __enter__(self) -> Self:
        super().__enter__()
        self.when = self._clocks.now() + self._seconds
        self._clocks.running.add(self)
        if self.when < self._clocks.due:
            self._clocks.arm(self.when)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._clocks.running.discard(self)
        super().__exit__(kind)

    def expire(self) -> None:
        """End it, from outside."""
        told = f"{self._says.format(self._what)} within {self._seconds:g} s{self._clocks.excuse()}"
        self.end(RequestTimeout(told))
