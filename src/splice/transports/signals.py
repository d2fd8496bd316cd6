"""Signals that ask a server to stop: SIGTERM, Ctrl-C, and SIGHUP where it is not ignored (nohup).

The first one lets what is in flight finish. Whoever presses Ctrl-C again does not want to wait for that.
"""

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Generator
from typing import Any

AGAIN_SECONDS = 0.5
"""Since when another Ctrl-C counts: a terminal and the launcher between us may both pass on the first one."""

_ASKING = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def stop_signals(stop: Callable[[], None]) -> Generator[None]:
    """Let these signals call `stop` on this event loop; a second Ctrl-C ends the process at once.

    On any other thread than the main one, where nothing can be done about signals, nothing is.
    """
    loop, first = asyncio.get_running_loop(), 0.0

    def asked(number: int, frame: object) -> None:
        nonlocal first
        del frame
        now = time.monotonic()
        if first and number == signal.SIGINT and now - first > AGAIN_SECONDS:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        first = first or now
        loop.call_soon_threadsafe(stop)

    before: dict[int, Any] = {}
    with contextlib.suppress(ValueError):
        for number in _ASKING:
            if number in (signal.SIGTERM, signal.SIGINT) or signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, asked)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
