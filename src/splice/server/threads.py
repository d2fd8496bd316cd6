"""Threads for `def` handlers: a pool for each server, and the way from its threads back to the event loop.

Waking a thread and handing the interpreter over costs far more than a short job does. So a pool has as few threads as
get on with their jobs: it begins with one, and a watch on the event loop starts more where jobs wait, twice as many
each time. They are daemon threads: the standard pool joins its threads when the interpreter exits, and a handler that
is stuck would hang the shutdown.
"""

import asyncio
import concurrent.futures
import contextvars
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from splice.errors import ToolError

MAX_THREADS = 64
"""How many handlers of one server run at once. As many more may, while others are stuck that nobody waits for."""

MAX_WAITING = 1_000
"""How many wait for a thread. One more is refused: it would wait for long, and tell nobody."""

PATIENCE_SECONDS = 0.001
"""How often the watch looks, while jobs wait."""

PACE = 4
"""Threads are started when the jobs that wait would wait longer than this many times `PATIENCE_SECONDS`."""

_FOR_THE_LOOP = (StopIteration, KeyboardInterrupt, GeneratorExit)
"""Exceptions that mean something else when they are raised in a coroutine."""

R = TypeVar("R")


class Threads:
    """A pool of daemon threads, for any number of event loops. A process that is forked begins with no thread."""

    def __init__(self, max_threads: int = MAX_THREADS, max_waiting: int = MAX_WAITING) -> None:
        self._max_threads, self._max_waiting = max_threads, max_waiting
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._jobs: SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]]] = SimpleQueue()
        """Those that wait for a thread: the future that waits for the result, and what to call."""
        self._running: set[asyncio.Future[Any]] = set()
        """The futures of those that a thread works on."""
        self._count = 0
        """How many threads there are; roughly, where several event loops start them at once."""
        self._done = 0
        """How many jobs were done; roughly, as threads count without a lock."""
        self._watched: set[asyncio.AbstractEventLoop] = set()
        """The event loops on which the watch is set."""

    def run(self, fn: Callable[..., Any], /, *args: Any, **arguments: Any) -> "asyncio.Future[Any]":
        """Call `fn(*args, **arguments)` on a thread, in a copy of the caller's context.

        Raises `ToolError` when too many wait for a thread already, and `RuntimeError` when there is none, and none can
        be started.
        """
        if self._process != os.getpid():
            self._begin()
        if self._count == 0:
            self._grow()
        if self._jobs.qsize() >= self._max_waiting:
            self._make_room()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._jobs.put((future, partial(contextvars.copy_context().run, fn, *args, **arguments)))
        if loop not in self._watched:
            self._watched = {loop, *(each for each in self._watched if not each.is_closed())}
            loop.call_later(PATIENCE_SECONDS, self._watch, loop, self._done, 1)
        return future

    def _make_room(self) -> None:
        """Drop the jobs that nobody waits for any more. Raises `ToolError` when that leaves no room."""
        with suppress(Empty):  # the threads take jobs meanwhile
            for _ in range(self._jobs.qsize()):
                job = self._jobs.get_nowait()
                if not job[0].cancelled():
                    self._jobs.put(job)
        if (waiting := self._jobs.qsize()) >= self._max_waiting:
            raise ToolError(f"{self._count} handlers are busy and {waiting} calls wait for them; try again later")

    def _grow(self) -> None:
        """Start a thread, unless there are as many as there may be. Raises `RuntimeError` when that leaves none."""
        stuck = sum(future.cancelled() for future in tuple(self._running))
        if self._count < self._max_threads + min(stuck, self._max_threads):
            try:
                threading.Thread(target=self._work, name=f"splice-{self._count + 1}", daemon=True).start()
                self._count += 1
            except RuntimeError:
                if self._count == 0:
                    raise

    def _watch(self, loop: asyncio.AbstractEventLoop, done: int, more: int) -> None:
        """Start `more` threads if jobs wait, few were done, and every thread has one. Look again as long as jobs wait.

        A thread that has none has not come to it yet: on a busy machine more of them would only slow each other down.
        """
        waiting = self._jobs.qsize()
        slow = waiting > PACE * (self._done - done) and len(self._running) >= self._count
        if slow:
            for _ in range(min(more, waiting)):
                self._grow()
        if waiting:
            loop.call_later(PATIENCE_SECONDS, self._watch, loop, self._done, 2 * more if slow else 1)
        else:
            self._watched.discard(loop)

    def _work(self) -> None:
        while True:
            self._do(*self._jobs.get())

    def _do(self, future: "asyncio.Future[Any]", call: Callable[[], Any]) -> None:
        settle: Callable[[Any], None] = future.set_result
        outcome: Any = None
        self._running.add(future)
        if not future.cancelled():
            try:
                outcome = call()
            except _FOR_THE_LOOP as error:
                settle, outcome = future.set_exception, RuntimeError(f"the handler raised {type(error).__name__}")
            except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller
                settle, outcome = future.set_exception, error
        self._running.discard(future)
        self._done += 1
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            future.get_loop().call_soon_threadsafe(_settle, future, settle, outcome)
        del future, call, settle, outcome  # an error's traceback leads to this frame, and would hold itself alive


def _settle(future: "asyncio.Future[Any]", settle: Callable[[Any], None], outcome: Any) -> None:
    """Tell the one who waits, on the loop."""
    if not future.done():
        settle(outcome)


class Bridge:
    """From the thread of one request's handler to the loop that the request came by."""

    __slots__ = ("_loop", "_over", "_thread", "_waiting")

    def __init__(self) -> None:
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._waiting: set[concurrent.futures.Future[Any]] = set()
        self._over = False

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """Run `work` on the loop and return what it does.

        Raises `RuntimeError` on the loop itself, which would wait for itself, and `asyncio.CancelledError` once the
        request is cancelled.
        """
        if self._over or threading.get_ident() == self._thread:
            work.close()
            if self._over:
                raise asyncio.CancelledError
            raise RuntimeError("wait() is for `def` handlers on a thread of their own; here, use await")
        future = asyncio.run_coroutine_threadsafe(_tamed(work), self._loop)
        self._waiting.add(future)
        if self._over:  # closed meanwhile, and perhaps not seen there
            future.cancel()
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError from None
        finally:
            self._waiting.discard(future)

    def close(self) -> None:
        """Let go of a thread that waits, and of what it waits for: the request is cancelled."""
        self._over = True
        for future in tuple(self._waiting):
            future.cancel()


async def _tamed(work: Awaitable[R]) -> R:
    """Let nothing out that would stop the event loop."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"it raised {type(error).__name__}") from error
