"""Changes of the file by other processes, for clients that subscribed to the graph.

While somebody listens, the file is looked at once a second; else not at all.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from splice import Answer, Call, Session
from splice.servers.memory.store import Signature, Store

POLL_SECONDS = 1.0
"""How often the file is looked at."""


class Watcher:
    """Looks at the file while somebody listens to `uri`. Touched on the event loop only."""

    def __init__(self, uri: str, store: Store, changed: Callable[[], None]) -> None:
        self._uri, self._store, self._changed = uri, store, changed
        self._seen: Signature = None
        self._streams = 0
        self._sessions: set[Session] = set()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_watching(self) -> bool:
        """The file is looked at."""
        return self._task is not None and not self._task.done()

    async def listening(self, call: Call, proceed: Answer) -> Any:
        """Notice who listens. Middleware."""
        if call.row.name == "subscriptions/listen":
            return await self._streaming(call, proceed)
        result = await proceed(call)
        if call.row.name == "resources/subscribe" and call.session is not None:
            self._sessions.add(call.session)
            self._begin()
        return result

    async def _streaming(self, call: Call, proceed: Answer) -> Any:
        """Count a stream that listens to the graph, for as long as it is open."""
        if self._uri not in (call.params.notifications.resource_subscriptions or ()):
            return await proceed(call)
        self._streams += 1
        self._begin()
        try:
            return await proceed(call)
        finally:
            self._streams -= 1

    def _begin(self) -> None:
        if self._task is None or self._task.done() or self._task.get_loop().is_closed():
            self._look()
            self._task = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while self._is_heard():
            if self._look() and self._seen != self._store.written:  # of our own changes everybody was told
                self._changed()
            await asyncio.sleep(POLL_SECONDS)

    def _look(self) -> bool:
        """Tell whether there is another version than the one that was seen last."""
        before = self._seen
        with suppress(OSError):
            self._seen = self._store.signature()
        return self._seen != before

    def _is_heard(self) -> bool:
        self._sessions = {each for each in self._sessions if each.ended is not None and self._uri in each.subscriptions}
        return bool(self._streams or self._sessions)
