"""The lifespan of a server: entered before the first request, left when the server stops or its event loop closes.

One task of its own enters and leaves the user's context manager, whoever asks for it, so that a cancel scope in it
never crosses tasks; nothing has to be wired into the application that mounts the server for it to be entered.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any


class Life:
    """The lifespan of one server, which may be served several times, one event loop after the other."""

    def __init__(self, lifespan: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        self._lifespan = lifespan
        self._task: asyncio.Task[None] | None = None
        self.state: Any = None
        """The value that the context manager yielded."""

    async def begin(self) -> None:
        """Enter the lifespan, once. Raises what the user's context manager raises on entry."""
        if self._task is None or self._task.get_loop().is_closed():
            loop = asyncio.get_running_loop()
            self._over, self._ready = asyncio.Event(), loop.create_future()
            self._task = loop.create_task(self._live(self._ready))
        self.state = await asyncio.shield(self._ready)

    async def end(self) -> None:
        """Leave the lifespan, if it was entered. Raises what the user's context manager raises on exit."""
        task, self._task = self._task, None
        if task is not None:
            self._over.set()
            await task

    async def _live(self, ready: "asyncio.Future[Any]") -> None:
        try:
            async with self._lifespan() as state:
                ready.set_result(state)
                with suppress(asyncio.CancelledError):  # as an event loop that closes does to its tasks
                    await self._over.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)
            self._task = None
