"""The way back: a `def` handler on its thread has something done on the event loop, and waits for it."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Coroutine
from typing import Any, Generic, TypeVar

R = TypeVar("R")


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
        if self._over:
            work.close()
            raise asyncio.CancelledError
        if threading.get_ident() == self._thread:
            work.close()
            raise RuntimeError("wait() is for `def` handlers on a thread of their own; here, use await")
        future = asyncio.run_coroutine_threadsafe(_carry(work), self._loop)
        self._waiting.add(future)
        if self._over:  # closed meanwhile, and perhaps not seen there
            future.cancel()
        try:
            return future.result().take()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError from None
        finally:
            self._waiting.discard(future)

    def close(self) -> None:
        """Let go of a thread that waits, and of what it waits for: the request is cancelled."""
        self._over = True
        for future in tuple(self._waiting):
            future.cancel()


class _Outcome(Generic[R]):
    """Carries an outcome between threads: a `Suspend` must not surface in the event loop."""

    def __init__(self, value: R | None, error: BaseException | None) -> None:
        self._value = value
        self._error = error

    def take(self) -> R:
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]  # set whenever there is no error


async def _carry(work: Awaitable[R]) -> _Outcome[R]:
    try:
        return _Outcome(await work, None)
    except BaseException as error:  # noqa: BLE001 - raised again on the waiting thread
        return _Outcome(None, error)
