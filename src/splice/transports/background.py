"""Tasks that a message set off and nobody awaits: kept while they run, ended with their owner."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger("splice.transport")


class Background:
    """Owns such tasks."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` until it ends or the owner does; what it raises is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a callback failed", exc_info=error)

    async def close(self, seconds: float = 1.0) -> None:
        """Cancel what still runs and wait for it, but no longer than `seconds`."""
        pending = self._tasks - {asyncio.current_task()}
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=seconds)
