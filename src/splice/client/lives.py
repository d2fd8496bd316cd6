"""Trying again: how often, how long to wait before, and who is told how a client is.

A server that ended is started again after a while that grows; one that ends again and again is left alone. A request is
sent again only where that does no harm: it certainly was not carried out, or its method changes nothing.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#unexpected-termination
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from splice.client import notices
from splice.errors import ConnectFailed, ConnectionClosed, MCPError, TransportError
from splice.transports.tasks import ended, lengthened

BACK_OFF_SECONDS = (0.0, 0.5, 1.0, 2.0, 4.0)
"""How long to wait before each further attempt; the last one counts for all that follow."""

MAX_STARTS = 5
"""How often a server may be started again within `WINDOW_SECONDS`."""

WINDOW_SECONDS = 60.0

MAX_RETRY_AFTER_SECONDS = 60.0
"""A server that wants to be left alone for longer is not waited for."""

TELL_SECONDS = 1.0
"""How long `on_state` may take to hear of the end of a client."""

State: TypeAlias = Literal["new", "opening", "open", "lost", "reconnecting", "closed"]
OnState: TypeAlias = Callable[[State, MCPError | None], Awaitable[None] | None]


def back_off(seconds: Sequence[float], failures: int) -> float:
    """Tell how long to wait after so many failures."""
    return lengthened(seconds[min(failures, len(seconds) - 1)])


class Lives(Struct):
    """How often a server was started again of late. One that ran for longer than the window has a clean record."""

    starts: list[float] = []
    """When, the oldest first."""

    async def another(self, name: str, why: ConnectionClosed) -> None:
        """Wait until it may be started again. Raises `ConnectFailed` when that was too often in vain."""
        self.starts = [start for start in self.starts if time.monotonic() - start <= WINDOW_SECONDS]
        if len(self.starts) >= MAX_STARTS:
            told = f"{name} was started {MAX_STARTS} times within {WINDOW_SECONDS:g} s and ended each time"
            todo = "run it by hand to see why, then close the client and open it again, or call again in a minute"
            raise ConnectFailed(f"{told}; {todo}. The last time: {why}")
        await asyncio.sleep(back_off(BACK_OFF_SECONDS, len(self.starts)))
        self.starts.append(time.monotonic())


class Again(Struct):
    """Whether one request may be sent once more."""

    left: int
    """How many attempts its user grants beyond the first."""
    is_harmless: bool
    """It may be carried out twice."""
    failures: int = 0

    def pause(self, error: TransportError, *, dead: bool) -> float | None:
        """Tell how long to wait before; None: it may not. `dead`: the connection is lost, so another one is needed."""
        harms = error.may_have_run and not (self.is_harmless and isinstance(error, ConnectionClosed))
        left = self.left + (dead and not error.may_have_run)  # on another connection it is sent for the first time
        if harms or self.failures >= left or error.retry_after > MAX_RETRY_AFTER_SECONDS:
            return None
        self.failures += 1
        return max(error.retry_after, back_off(BACK_OFF_SECONDS, self.failures - dead))


class States:
    """What a client is doing. `on_state` is told each change once, in order, and why if something was lost."""

    def __init__(self, on_state: OnState | None) -> None:
        self.now: State = "new"
        self._on_state = on_state
        self._changes: deque[tuple[State, MCPError | None]] = deque()
        self._telling: asyncio.Task[None] | None = None

    def become(self, state: State, reason: MCPError | None = None) -> None:
        """Take note of a change. What was closed stays so until it is opened."""
        if state == self.now or (self.now == "closed" and state != "opening"):
            return
        self.now = state
        if self._on_state is not None:
            self._changes.append((state, reason))
            if self._telling is None or self._telling.done():
                self._telling = asyncio.get_running_loop().create_task(self._tell(self._on_state))

    async def told(self) -> None:
        """Wait until all changes were told, but not for long."""
        if self._telling is not None and self._telling is not asyncio.current_task():
            await ended((self._telling,), TELL_SECONDS)
            if self._telling.cancel():
                await ended((self._telling,), TELL_SECONDS)

    async def _tell(self, on_state: OnState) -> None:
        while self._changes:
            await notices.tell("a change of state", on_state, *self._changes.popleft())
