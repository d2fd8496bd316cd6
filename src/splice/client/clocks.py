"""How long calls may take: many deadlines on one timer, all of which can be stopped while a person thinks.

It does what `asyncio.timeout` does, for a fraction of its price: a call that ends in time has touched no timer.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType

from splice.errors import RequestTimeout


class Clocks:
    """The deadlines of the calls that run. Belongs to one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._running: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._stops = 0
        self._stopped_at = 0.0
        self._stood_still = 0.0

    def now(self) -> float:
        """Tell the time, which does not pass while the clocks are stopped."""
        return (self._stopped_at if self._stops else self._loop.time()) - self._stood_still

    def start(self, deadline: "Deadline") -> None:
        """Begin to watch a deadline."""
        self._running.add(deadline)
        if self._timer is None or deadline.when < self._due:
            self._arm(deadline.when)

    def forget(self, deadline: "Deadline") -> None:
        """Watch it no longer."""
        self._running.discard(deadline)

    @contextmanager
    def stopped(self) -> Generator[None]:
        """Let no time pass."""
        if self._stops == 0:
            self._stopped_at = self._loop.time()
        self._stops += 1
        try:
            yield
        finally:
            self._stops -= 1
            if self._stops == 0:
                self._stood_still += self._loop.time() - self._stopped_at
                self._ring()

    def close(self) -> None:
        """Leave nothing behind on the event loop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, when: float) -> None:
        self.close()
        self._due = when
        self._timer = self._loop.call_at(when + self._stood_still, self._ring)

    def _ring(self) -> None:
        """End the calls whose time is up, and wait for the next one."""
        self.close()
        now = self.now()
        for deadline in [each for each in self._running if each.when <= now]:
            deadline.expire()
        left = [each.when for each in self._running if not each.expired]
        if left and not self._stops:
            self._arm(min(left))


class Deadline:
    """A stretch of a task that ends with `RequestTimeout` when it takes too long."""

    __slots__ = ("_cancelling", "_clocks", "_seconds", "_task", "_what", "expired", "when")

    def __init__(self, clocks: Clocks, seconds: float, what: str) -> None:
        self._clocks = clocks
        self._seconds = seconds
        self._what = what
        self.expired = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a client can only be used within a task")
        self._task = task
        self._cancelling = task.cancelling()
        self.when = self._clocks.now() + self._seconds
        self._clocks.start(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._clocks.forget(self)
        if self.expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise RequestTimeout(f"No answer to {self._what} within {self._seconds:g} s") from None

    def expire(self) -> None:
        """End it, from outside."""
        self.expired = True
        self._task.cancel()
