"""Closing a link while calls wait on it: each ends with `ConnectionClosed`, in the task that made it."""

import asyncio
from types import TracebackType

from splice.errors import ConnectionClosed


class Interruptible:
    """A stretch of a caller's task that `interrupt` ends with `ConnectionClosed`.

    It works as `asyncio.timeout` does: the task is cancelled, and the cancellation is turned into the error where it
    leaves the stretch. A cancellation that somebody else asked for at the same time stays one.
    """

    __slots__ = ("_cancelling", "_interrupted", "_name", "_running", "_task")

    def __init__(self, running: "set[Interruptible]", name: str) -> None:
        self._running = running
        self._name = name
        self._interrupted = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a link can only be used within a task")
        self._task = task
        self._cancelling = task.cancelling()
        self._running.add(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._running.discard(self)
        if self._interrupted and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise ConnectionClosed(f"The connection to {self._name} was closed") from error

    def interrupt(self) -> None:
        """End it, from another task; from within there is nobody to end but oneself, so it goes on."""
        if self._task is not asyncio.current_task():
            self._interrupted = True
            self._task.cancel()
