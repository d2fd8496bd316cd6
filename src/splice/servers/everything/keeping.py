"""Resources that tools made: of a session, or where there are none, under a link that nobody can guess.

They live in memory as long as there is room: the oldest go first. What a session keeps is listed and read in that
session only, and goes when it ends.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

import base64
import secrets
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from splice import Answer, Call, Entry, ResourceNotFound, Session
from splice.servers.everything.sessions import session_here
from splice.servers.sessions import session_of, when_ended
from splice.types import ListResourcesResult, Notification, ReadResourceResult, Resource, ResourceContents

PREFIX = "demo://resource/session/"

MAX_KEPT = 100
"""How many resources are kept, of all clients together."""

MAX_KEPT_BYTES = 64 * 1024 * 1024
"""How many bytes they may have together."""


class Made(Struct, frozen=True, eq=False):
    """A resource that a tool made."""

    definition: Resource
    data: bytes

    @property
    def contents(self) -> ResourceContents:
        """What is read of it."""
        it = self.definition
        return ResourceContents(uri=it.uri, mime_type=it.mime_type, blob=base64.b64encode(self.data).decode())


class Kept:
    """A source of resources: those that tools made. Whether there is one depends on who asks."""

    def __init__(self) -> None:
        self._made: dict[tuple[Session | None, str], Made] = {}

    def keep(self, name: str, mime_type: str, data: bytes) -> Made:
        """Keep a resource for the session of the running request; the last one of a name counts.

        Where there is no session the URI has a part that nobody can guess: who was given the link may read it.
        """
        session = session_here()
        place = quote(name, safe="")
        uri = PREFIX + (place if session else f"{secrets.token_urlsafe(16)}/{place}")
        made = Made(Resource(uri=uri, name=name, mime_type=mime_type), data)
        self._made.pop((session, uri), None)
        self._made[session, uri] = made
        while len(self._made) > MAX_KEPT or sum(len(each.data) for each in self._made.values()) > MAX_KEPT_BYTES:
            del self._made[next(iter(self._made))]
        if session is not None:
            when_ended(session, self._let_go)
            session.push(Notification("notifications/resources/list_changed"))
        return made

    async def entries(self) -> Sequence[Entry[Resource]]:
        """List what is there for everybody: nothing."""
        return ()

    async def find(self, key: str) -> "Entry[Resource] | None":
        """Find what stands for a URI of ours: what reads it looks who asks."""
        return Found(self._made, key) if key.startswith(PREFIX) else None

    def watch(self, changed: Callable[[], None]) -> None:
        """Never call `changed`: what is there for everybody never changes."""

    async def list_for_its_session(self, call: Call, proceed: Answer) -> Any:
        """Middleware: add what a session keeps to its list."""
        result = await proceed(call)
        session = session_of(call)
        if isinstance(result, ListResourcesResult) and result.next_cursor is None and session is not None:
            mine = [made.definition for (owner, _), made in self._made.items() if owner is session]
            result.resources = [*result.resources, *mine]
        return result

    def _let_go(self, session: Session) -> None:
        for key in [key for key in self._made if key[0] is session]:
            del self._made[key]


class Found:
    """An entry for a URI of ours, whoever made it."""

    def __init__(self, made: dict[tuple[Session | None, str], Made], uri: str) -> None:
        self.definition = Resource(uri=uri, name=uri.removeprefix(PREFIX))
        self._made = made

    async def run(self, call: Call, uri: str) -> ReadResourceResult:
        """Read it, if it is of this session or of none. Raises `ResourceNotFound`."""
        made = self._made.get((session_of(call), uri)) or self._made.get((None, uri))
        if made is None:
            raise ResourceNotFound(f"Resource not found: {uri:.200}", {"uri": uri})
        return ReadResourceResult(contents=[made.contents])
