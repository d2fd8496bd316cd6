"""Answers that last: they end when the token does, and soon after it was revoked.

The endpoint has one clock for all answers that last, which asks twice a second. A stream that waits for news, or whose
client may come back for the rest, just ends; a call is told why.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import time
from typing import Any

from splice.auth.guard.challenges import Unauthorized
from splice.rules.http.origins import Refusal
from splice.rules.principal import Principal

CHECK_SECONDS = 25.0
"""How often a token is checked again while an answer streams."""

LISTEN = (b"mcp-method", b"subscriptions/listen")

_tasks: set[asyncio.Task[None]] = set()


class Stay:
    """How long one answer may last. The endpoint's clock calls it with the visit, while there is one."""

    __slots__ = ("_ended", "_expires", "_next", "_scope", "_still")

    def __init__(
        self, scope: Mapping[str, Any], still: Callable[[], Awaitable[Principal | None]], expires: float | None
    ) -> None:
        self._scope = scope
        self._still = still
        self._expires = expires
        self._next = time() + CHECK_SECONDS
        """When the token is checked again."""
        self._ended = False

    def __call__(self, visit: Any) -> None:
        """Look whether the answer may go on."""
        now = time()
        if self._expires is not None and now >= self._expires:
            self._ended = True
        if self._ended:
            self._end(visit)
        elif now >= self._next:
            self._next = now + CHECK_SECONDS
            _start(self._check())

    async def _check(self) -> None:
        principal = await self._still()
        if principal is None:
            self._ended = True
        else:
            self._expires = principal.expires

    def _end(self, visit: Any) -> None:
        """End a stream. What has not become one is answered as a whole, as its caller was allowed to ask for it."""
        if not visit.reply.streaming or visit.reply.closed:
            return
        headers = self._scope["headers"]
        if visit.detach is None and headers and LISTEN not in headers:  # our listener lets go of those of a stream
            visit.end(Refusal(401, Unauthorized("The token has expired, or was revoked; call again with a new one")))
        else:
            _start(_leave(visit))


async def _leave(visit: Any) -> None:
    """End a reply, as if its client had left."""
    await visit.reply.end()
    visit.leave()


def _start(work: Any) -> None:
    task = asyncio.get_running_loop().create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
