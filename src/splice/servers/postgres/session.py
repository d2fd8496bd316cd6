"""A session whose statement ends when it is cancelled, also where PostgreSQL loses the request to cancel it.

It promises nothing of such a request: one that arrives while a statement is compiled is lost (seen with version 15),
and PL/pgSQL may catch it. A session that goes on after it is ended from another one, which nothing in it can catch.

https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus

log = logging.getLogger("splice.servers.postgres")

PATIENCE_SECONDS = 0.3
"""How long after it was cancelled a statement may go on."""

_ending: set[asyncio.Task[None]] = set()
"""Keeps those that end sessions: nobody waits for them, as whoever would may be cancelled again."""


class Session(AsyncConnection[Any]):
    """A connection to PostgreSQL for one statement."""

    end: Callable[[int], Awaitable[None]]
    """Ends a session from outside, by the number of its process."""

    _has_ended = False

    async def cancel_safe(self, **options: Any) -> None:
        """End the statement; the driver calls this where a task is cancelled that waits for it."""
        if self.info.transaction_status is TransactionStatus.ACTIVE:
            task = asyncio.get_running_loop().create_task(self._insist(self.info.backend_pid))
            _ending.add(task)
            task.add_done_callback(_ending.discard)
        await super().cancel_safe(**options)

    async def close(self) -> None:
        """Close the connection, and remember whether its statement was over."""
        self._has_ended = self._has_ended or self._is_over()
        await super().close()

    def _is_over(self) -> bool:
        return self.info.transaction_status not in {TransactionStatus.ACTIVE, TransactionStatus.UNKNOWN}

    async def _insist(self, pid: int) -> None:
        """End the session if its statement goes on."""
        await asyncio.sleep(PATIENCE_SECONDS)
        if self._has_ended or self._is_over():
            return
        try:
            await self.end(pid)
        except psycopg.Error as error:
            log.warning("a statement that was cancelled may go on: %s", type(error).__name__)
