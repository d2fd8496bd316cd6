"""The time of calls, which stands still while a question about them waits: what the user takes is not the call's."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic


class Stopwatch:
    """The time of one call: from its beginning, from when it runs, and how much of it the user took."""

    def __init__(self, call: str, server: Callable[[], str], changed: Callable[[], None]) -> None:
        """Make one that calls `changed` when it stops or goes on; `server` tells whose the call is, once it runs."""
        self._call, self._server, self._changed = call, server, changed
        self._began = monotonic()
        self._ran: float | None = None
        self._seconds: float | None = None
        self._taken = 0.0
        self._before = 0.0
        self._questions = 0
        self._stopped_at = 0.0

    @property
    def whole(self) -> float:
        """How long ago the call began."""
        return monotonic() - self._began

    @property
    def waited(self) -> float:
        """How long questions about the call waited."""
        return self._taken + (monotonic() - self._stopped_at if self.is_stopped else 0.0)

    @property
    def seconds(self) -> float | None:
        """How long the call has run, or ran, without the time that the user took; None: it never ran."""
        if self._ran is None or self._seconds is not None:
            return self._seconds
        return max(0.0, monotonic() - self._ran - (self.waited - self._before))

    @property
    def is_stopped(self) -> bool:
        """Whether a question about the call waits."""
        return self._questions > 0

    def run(self) -> None:
        """Take the time of the call itself from now on."""
        self._ran, self._before = monotonic(), self.waited

    def end(self) -> None:
        """Take no more time for the call itself."""
        self._seconds = self.seconds

    def is_about(self, server: str, call: str) -> bool:
        """Tell whether a question of a server is about the call; of one that names none, all its calls may be it."""
        return call == self._call if call else bool(server) and self._ran is not None and server == self._server()

    def stop(self) -> None:
        """Stand still: a question waits."""
        self._questions += 1
        if self._questions == 1:
            self._stopped_at = monotonic()
            self._changed()

    def go(self) -> None:
        """Go on, if no other question waits."""
        self._questions -= 1
        if not self._questions:
            self._taken += monotonic() - self._stopped_at
            self._changed()


class Stopwatches:
    """The stopwatches of all calls under way."""

    def __init__(self) -> None:
        self._all: list[Stopwatch] = []

    def add(self, stopwatch: Stopwatch) -> None:
        """Stop one from now on while a question about its call waits."""
        self._all.append(stopwatch)

    def remove(self, stopwatch: Stopwatch) -> None:
        """Forget one: its call is over."""
        if stopwatch in self._all:
            self._all.remove(stopwatch)

    @contextmanager
    def stopped(self, server: str, call: str) -> Generator[None]:
        """Stop those of the calls that a question is about."""
        found = [each for each in self._all if each.is_about(server, call)]
        for each in found:
            each.stop()
        try:
            yield
        finally:
            for each in found:
                each.go()
