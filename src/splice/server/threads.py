"""Where `def` handlers run: daemon threads, so that one which blocks for ever cannot keep the process alive.

The standard pool joins its threads when the interpreter exits; a stuck handler would hang the shutdown. This one
starts a thread when none is idle, up to a limit, and reuses it.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeAlias

MAX_THREADS = 64

_FOR_THE_LOOP = (StopIteration, KeyboardInterrupt, GeneratorExit)
"""What means something else when it is raised in a coroutine."""

Job: TypeAlias = "tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[[], Any]]"


class Threads:
    """A pool of daemon threads."""

    def __init__(self, max_threads: int = MAX_THREADS) -> None:
        self._max_threads = max_threads
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._count = 0
        self._waiting = 0
        """Jobs that were handed in and not finished."""
        self._lock = threading.Lock()

    def run(self, fn: Callable[..., Any], arguments: dict[str, Any]) -> "asyncio.Future[Any]":
        """Call `fn(**arguments)` on a thread, in a copy of the caller's context."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()
        with self._lock:
            self._waiting += 1
            if self._waiting > self._count < self._max_threads:
                self._count += 1
                threading.Thread(target=self._work, name=f"splice-{self._count}", daemon=True).start()
        self._jobs.put((loop, future, lambda: context.run(fn, **arguments)))
        return future

    def _work(self) -> None:
        while True:
            loop, future, call = self._jobs.get()
            if future.cancelled():
                self._done()
                continue
            try:
                outcome: tuple[Any, BaseException | None] = (call(), None)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller
                outcome = (None, error)
            self._done()
            try:
                loop.call_soon_threadsafe(_settle, future, *outcome)
            except RuntimeError:
                del outcome  # the loop is closed: nobody waits any more

    def _done(self) -> None:
        with self._lock:
            self._waiting -= 1


def _settle(future: "asyncio.Future[Any]", value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, _FOR_THE_LOOP):
        future.set_exception(RuntimeError(f"the handler raised {type(error).__name__}"))
    else:
        future.set_exception(error)
