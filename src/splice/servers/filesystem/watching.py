"""Changes of files that clients subscribed to. Nobody looks at files while nobody wants to know."""

import asyncio
from collections.abc import Callable, Collection, Iterable
from time import monotonic

from splice import Answer, Call, InvalidParams, Session, ToolError
from splice.servers.filesystem.handles import chosen, spot
from splice.servers.filesystem.paths import Root, path_of
from splice.servers.sessions import session_of, when_ended

MAX_WATCHED = 1_000
"""How many files one client may have looked at."""

IDLE = 20
"""However long it takes to look at all files, so many times as long passes before they are looked at again."""

Wanted = tuple[Collection[str], tuple[Root, ...]]
State = tuple[int, ...] | None


class Watch:
    """The files that somebody wants to hear of, and how they looked last."""

    def __init__(self, changed: Callable[[str], None], seconds: float) -> None:
        self._changed, self._seconds = changed, seconds
        self._wanted: dict[object, Wanted] = {}
        self._seen: dict[tuple[str, tuple[Root, ...]], State] = {}
        self._task: asyncio.Task[None] | None = None

    async def listen(self, call: Call, proceed: Answer, roots: tuple[Root, ...]) -> object:
        """Watch for a `subscriptions/listen` stream, as long as it is open."""
        owner, uris = object(), tuple(call.params.notifications.resource_subscriptions or ())
        if not uris:
            return await proceed(call)
        await self._begin(owner, uris, roots)
        try:
            return await proceed(call)
        finally:
            self._wanted.pop(owner, None)

    async def subscribe(self, call: Call, proceed: Answer, roots: tuple[Root, ...]) -> object:
        """Watch for a session, until it ends. What it unsubscribes from is not in its set any more."""
        session = session_of(call)
        if session is None:
            return await proceed(call)
        when_ended(session, self._leave)
        await self._begin(session, {*session.subscriptions, call.params.uri}, roots)
        try:
            return await proceed(call)
        finally:
            self._wanted[session] = (session.subscriptions, roots)

    def _leave(self, session: Session) -> None:
        self._wanted.pop(session, None)

    async def _begin(self, owner: object, uris: Collection[str], roots: tuple[Root, ...]) -> None:
        """Look at the files before the client is told that they are watched. Raises `InvalidParams`."""
        if len(uris) > MAX_WATCHED:
            raise InvalidParams(f"This server watches at most {MAX_WATCHED} files for a client, not {len(uris)}")
        self._wanted[owner] = (uris, roots)  # first, so that what is seen now is kept
        fresh = [key for key in ((uri, roots) for uri in uris) if key not in self._seen]
        for key, state in (await asyncio.to_thread(_look, fresh)).items():
            self._seen.setdefault(key, state)
        if self._task is None or self._task.done() or self._task.get_loop().is_closed():
            self._task = asyncio.create_task(self._poll())

    async def _poll(self) -> None:
        """Look again and again, until nobody wants to know."""
        took = 0.0
        while True:
            await asyncio.sleep(max(self._seconds, IDLE * took))
            keys = {(uri, roots) for uris, roots in self._wanted.values() for uri in uris}
            self._seen = {key: state for key, state in self._seen.items() if key in keys}
            if not keys:
                self._task = None
                return
            began = monotonic()
            for key, state in (await asyncio.to_thread(_look, keys)).items():
                if self._seen.setdefault(key, state) != state:
                    self._seen[key] = state
                    self._changed(key[0])
            took = monotonic() - began


def _look(keys: Iterable[tuple[str, tuple[Root, ...]]]) -> dict[tuple[str, tuple[Root, ...]], State]:
    return {key: _state(*key) for key in keys}


def _state(uri: str, roots: tuple[Root, ...]) -> State:
    """Tell what changes when a file does; None where there is none, or it is not allowed."""
    path = path_of(uri)
    try:
        if path is None or not roots:
            return None
        with spot(chosen(path, roots), roots) as there:
            found = there.stat()
    except (OSError, ToolError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode
