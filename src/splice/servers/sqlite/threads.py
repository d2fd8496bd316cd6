"""Runs statements on threads that do not keep the process from ending.

SQLite looks at its clock between the steps of its machine. One call of `instr` or `json_patch` on huge texts is one
step, and may take hours: a thread of the event loop's would be waited for, when its client has long gone.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from queue import SimpleQueue
from typing import TypeVar

MAX_THREADS = 16
"""How many statements run at once; further ones wait."""

T = TypeVar("T")

_jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
_threads: list[threading.Thread] = []


async def on_a_thread(work: Callable[[threading.Event], T]) -> T:
    """Do work on a thread. If its client cancels the call, the event is set, which ends the statement."""
    stop, future = threading.Event(), Future[T]()
    _jobs.put(lambda: _do(future, work, stop))
    if len(_threads) < MAX_THREADS:
        _threads.append(threading.Thread(target=_serve, name="splice-sqlite", daemon=True))
        _threads[-1].start()
    try:
        return await asyncio.wrap_future(future)
    finally:
        stop.set()


def _serve() -> None:
    while True:
        _jobs.get()()


def _do(future: Future[T], work: Callable[[threading.Event], T], stop: threading.Event) -> None:
    def fail(_: object, error: BaseException | None, __: object) -> bool:
        if error is not None:
            future.set_exception(error)
        return True

    if future.set_running_or_notify_cancel():
        with ExitStack() as stack:
            stack.push(fail)  # whatever it is, it belongs to the caller
            future.set_result(work(stop))
