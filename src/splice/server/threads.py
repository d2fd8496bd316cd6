"""Threads for `def` handlers: one hot worker takes job after job, and others join only where a job blocks.

Waking a thread and handing the interpreter over costs far more than a short job does. So all jobs stand in one
queue, one worker is awake and takes them one after the other, and results go back to their event loop in batches. A
watch on the event loop that handed jobs in looks every `PATIENCE_SECONDS` how they go: where they wait, because a job
blocks, it wakes further workers, twice as many each time.

Workers are daemon threads: the standard pool joins its threads when the interpreter exits, and a handler that is
stuck would hang the shutdown. A `Bridge` leads from a worker back to the event loop.
"""

import asyncio
import concurrent.futures
import contextvars
import os
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from math import inf
from typing import Any, TypeAlias, TypeVar
from weakref import WeakSet

from splice.errors import ToolError

MAX_THREADS = 64
"""How many handlers of one server run at once. As many more may, while others are stuck that nobody waits for."""

MAX_WAITING = 1_000
"""How many wait for a thread. One more is refused: it would wait for long, and tell nobody."""

PATIENCE_SECONDS = 0.001
"""How long one job may keep a worker to itself before another worker is woken for the jobs behind it."""

PACE = 4
"""Another worker joins when the jobs that wait would wait longer than this many times `PATIENCE_SECONDS`."""

_FOR_THE_LOOP = (StopIteration, KeyboardInterrupt, GeneratorExit)
"""Exceptions that mean something else when they are raised in a coroutine."""

R = TypeVar("R")

Job: TypeAlias = "tuple[_Desk, asyncio.Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]]"
"""Where to bring the result, the future that waits for it, and what to call in a copy of the caller's context."""


_POOLS: "WeakSet[Threads]" = WeakSet()


class _Desk:
    """Where the jobs of one event loop come from and their results go."""

    __slots__ = ("done", "loop", "settling", "watching")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self.settling = False
        """`settle` will run soon."""
        self.watching = False
        """The watch is set."""

    def bring(self, future: "asyncio.Future[Any]", value: Any, error: BaseException | None) -> None:
        """Hand in a result, on a worker."""
        self.done.append((future, value, error))
        if not self.settling:
            self.settling = True
            try:
                self.loop.call_soon_threadsafe(self.settle)
            except RuntimeError:  # the loop is closed: nobody waits any more
                self.done.clear()

    def settle(self) -> None:
        """Tell those who wait, on the loop."""
        self.settling = False  # first: what is handed in from here on calls again, so that nothing is left lying
        while self.done:
            future, value, error = self.done.popleft()
            if future.done():
                continue
            if isinstance(error, _FOR_THE_LOOP):
                error = RuntimeError(f"the handler raised {type(error).__name__}")
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)


class _Worker:
    """One thread."""

    __slots__ = ("asleep", "future", "since")

    def __init__(self) -> None:
        self.asleep = threading.Lock()
        """Held while it sleeps; released to wake it."""
        self.asleep.acquire()
        self.future: asyncio.Future[Any] | None = None
        """Waits for the job that it works on."""
        self.since = inf
        """When its last job began; `inf` from its waking to its first job, `-inf` while it sleeps."""


class Threads:
    """A pool of daemon threads, for any number of event loops. A process that is forked begins with no thread."""

    def __init__(self, max_threads: int = MAX_THREADS, max_waiting: int = MAX_WAITING) -> None:
        self._max_threads = max_threads
        self._max_waiting = max_waiting
        _POOLS.add(self)
        self.begin()

    def begin(self) -> None:
        """Begin without threads and jobs."""
        self._lock = threading.Lock()
        """Held for moments only: a worker goes to sleep, or a job comes, but not both at once."""
        self._jobs: deque[Job] = deque()
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []
        """Workers that sleep; the one that fell asleep last is woken first."""
        self._hot: _Worker | None = None
        """The worker that was woken last: unless it sleeps or is stuck, it will take what is handed in."""
        self._finished = 0
        """How many jobs were done; roughly, as workers count without a lock."""
        self._desks: dict[asyncio.AbstractEventLoop, _Desk] = {}

    def run(self, fn: Callable[..., Any], /, *args: Any, **arguments: Any) -> "asyncio.Future[Any]":
        """Call `fn(*args, **arguments)` on a thread, in a copy of the caller's context.

        Raises `ToolError` when too many wait for a thread already, and `RuntimeError` when there is none, and none can
        be started.
        """
        if len(self._jobs) >= self._max_waiting:
            self._make_room()
        loop = asyncio.get_running_loop()
        desk = self._desks.get(loop) or self._desk(loop)
        future: asyncio.Future[Any] = loop.create_future()
        job = desk, future, contextvars.copy_context().run, (fn, *args), arguments
        with self._lock:
            if self._hot is None or time.monotonic() - self._hot.since > PATIENCE_SECONDS:
                self._wake()
            self._jobs.append(job)
        if not desk.watching:
            desk.watching = True
            loop.call_later(PATIENCE_SECONDS, self._watch, desk, self._finished, 1)
        return future

    def _make_room(self) -> None:
        """Drop the jobs that nobody waits for any more. Raises `ToolError` when that leaves no room."""
        with suppress(IndexError):  # the workers take jobs meanwhile
            for _ in range(len(self._jobs)):
                job = self._jobs.popleft()
                if not job[1].cancelled():
                    self._jobs.append(job)
        if len(self._jobs) >= self._max_waiting:
            busy = len(self._workers) - len(self._idle)
            raise ToolError(f"{busy} handlers are busy and {len(self._jobs)} calls wait for them; try again later")

    def _desk(self, loop: asyncio.AbstractEventLoop) -> _Desk:
        for each in [each for each in tuple(self._desks) if each.is_closed()]:
            self._desks.pop(each, None)
        desk = self._desks[loop] = _Desk(loop)
        return desk

    def _wake(self) -> None:
        """Wake a worker, or start one, with the lock held. With all at work there is nothing to do."""
        if self._idle:
            self._hot = self._idle.pop()
            self._hot.since = inf
            self._hot.asleep.release()
        elif (count := len(self._workers)) < self._max_threads or count < self._max_threads + self._abandoned():
            worker = _Worker()
            name = f"splice-{count + 1}"
            try:
                threading.Thread(target=self._work, args=(worker,), name=name, daemon=True).start()
            except RuntimeError:
                if not self._workers:
                    raise
            else:
                self._workers.append(worker)
                self._hot = worker

    def _abandoned(self) -> int:
        """Count the workers that are stuck in a job nobody waits for any more, up to as many as there may be."""
        given_up = sum(each.future is not None and each.future.cancelled() for each in self._workers)
        return min(given_up, self._max_threads)

    def _watch(self, desk: _Desk, finished: int, more: int) -> None:
        """Wake `more` workers if jobs wait and few are finished, and look again as long as jobs wait. On the loop.

        A worker that was woken and has not run yet is not stuck: it waits for the interpreter, as others would.
        """
        waiting, hot = len(self._jobs), self._hot
        desk.watching = waiting > 0
        stuck = hot is not None and hot.since < inf and waiting > PACE * (self._finished - finished)
        if stuck:
            with self._lock:
                for _ in range(min(more, waiting)):
                    self._wake()
        if waiting:
            desk.loop.call_later(PATIENCE_SECONDS, self._watch, desk, self._finished, 2 * more if stuck else 1)

    def _work(self, worker: _Worker) -> None:
        while True:
            try:
                self._do(worker, self._jobs.popleft())
            except IndexError:  # no job is left; what a job raises stays in `_do`
                with self._lock:
                    if self._jobs:
                        continue
                    worker.since = -inf
                    self._idle.append(worker)
                worker.asleep.acquire()

    def _do(self, worker: _Worker, job: Job) -> None:
        desk, future, run, args, arguments = job
        worker.since = time.monotonic()
        worker.future = future
        if not future.cancelled():
            try:
                value = run(*args, **arguments)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller
                desk.bring(future, None, error)
            else:
                desk.bring(future, value, None)
        self._finished += 1
        worker.future = None
        del job, future, run, args, arguments  # an error's traceback leads to this frame, and would hold itself alive


def _begin_all() -> None:
    """Let every pool begin anew, in a process that was forked: threads are not copied."""
    for each in tuple(_POOLS):
        each.begin()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin_all)


class Bridge:
    """From the thread of one request's handler to the loop that the request came by."""

    __slots__ = ("_loop", "_over", "_thread", "_waiting")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
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
        future = asyncio.run_coroutine_threadsafe(_outcome(work), self._loop)
        self._waiting.add(future)
        if self._over:  # closed meanwhile, and perhaps not seen there
            future.cancel()
        try:
            value, error = future.result()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError from None
        finally:
            self._waiting.discard(future)
        if error is not None:
            raise error
        return value  # type: ignore[return-value]  # set whenever there is no error

    def close(self) -> None:
        """Let go of a thread that waits, and of what it waits for: the request is cancelled."""
        self._over = True
        for future in tuple(self._waiting):
            future.cancel()


async def _outcome(work: Awaitable[R]) -> tuple[R | None, BaseException | None]:
    """Carry an outcome between threads as a value: `sys.exit()` must not surface in the event loop."""
    try:
        return await work, None
    except BaseException as error:  # noqa: BLE001 - raised again on the waiting thread
        return None, error
