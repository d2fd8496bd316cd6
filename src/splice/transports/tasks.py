"""Tasks, where asyncio leaves something open: work nobody awaits, work ended from outside, cleanup that must finish."""

import asyncio
import logging
import os
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import Any, Self, TypeVar

T = TypeVar("T")

JITTER = 0.2
"""By which part of itself a wait is lengthened at most: clients that lost one server at once come back one by one."""

log = logging.getLogger("splice.transport")
"""Of all transports, but for what is about one server that a client has."""


class Stretch:
    """A part of a task's work that `end` ends from outside, with an exception.

    It works as `asyncio.timeout` does: the task is cancelled, with the exception as the message for whoever wants to
    know why, and the cancellation becomes the exception where it leaves the `with` block. A cancellation that somebody
    else asked for at the same time stays one.
    """

    __slots__ = ("_cancelling", "error", "loop", "task")

    task: asyncio.Task[Any]
    """The task it is a part of, once begun."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.error: Exception | None = None
        """Why it was ended; None while it was not."""
        self.loop = loop
        """The loop it probably runs in: to ask for the running one takes longer than all the rest."""

    def __enter__(self) -> Self:
        task = asyncio.current_task(self.loop) or asyncio.current_task()
        if task is None:
            raise RuntimeError("this can only be used within a task")
        self.task = task
        self._cancelling = task.cancelling()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.error is not None and self.task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise self.error from None

    def end(self, error: Exception) -> None:
        """Let the block raise `error`. Called by the block's own task, it does nothing: there, raise it."""
        if self.error is None and self.task is not asyncio.current_task():
            self.error = error
            self.task.cancel(error)


class Background:
    """Owns tasks that a message set off and nobody awaits: kept while they run, ended with their owner."""

    __slots__ = ("_tasks",)

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[Any], None] = {}  # a set would cost each idle session 150 bytes more

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run `work` until it ends or the owner does; what it raises is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a callback failed", exc_info=error)

    async def close(self, seconds: float = 1.0) -> None:
        """Cancel what still runs and wait for it, but no longer than `seconds`."""
        for task in self._tasks.keys() - {asyncio.current_task()}:
            task.cancel()
        await ended(self._tasks, seconds)


def lengthened(seconds: float) -> float:
    """Lengthen a wait, by chance."""
    return seconds * (1 + JITTER * int.from_bytes(os.urandom(2)) / 0xFFFF)


async def within(seconds: float, event: asyncio.Event) -> bool:
    """Wait for what is to happen. False when that takes longer."""
    with suppress(TimeoutError):
        return await asyncio.wait_for(event.wait(), seconds)
    return False


async def ended(tasks: "Iterable[asyncio.Task[Any]]", seconds: float) -> None:
    """Wait until these tasks have ended, but no longer than `seconds`, and not for the task that calls this."""
    others = set(tasks) - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=seconds)


async def finish(work: "asyncio.Task[Any]") -> None:
    """Wait for `work` even while being cancelled; the cancellation is passed on when it is done.

    What `work` raises is not raised here. Its time must be bounded.
    """
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait((work,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
