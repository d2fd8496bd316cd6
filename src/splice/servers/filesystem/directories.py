"""The directories that a request may use: those of the command line, or the roots that its client told instead.

A client of stdio started the server, so its roots replace the directories. One that came by HTTP did not: its roots
are heeded as far as they lie in the directories, so that nobody out there widens what may be reached.

A legacy session is asked once, with its first call, and again after it said that its roots changed. A modern client
is asked with each request, as nothing is remembered of it. Roots that are empty, or no directories, change nothing.

https://modelcontextprotocol.io/specification/2025-11-25/client/roots
"""

import asyncio
import logging
import posixpath
from collections.abc import Iterable, Sequence
from contextvars import ContextVar

from splice import Call, Context, Extension, Heard, RPCError, Session, ToolError
from splice.servers.filesystem.paths import Root, below, cut, path_of
from splice.servers.sessions import session_of, when_ended
from splice.types import Note, NoteParams
from splice.types import Root as ClientRoot

MAX_ROOTS = 100
"""How many roots of a client are heeded."""

ASKING = {"tools/call", "resources/read"}
"""The methods that may ask the client."""

log = logging.getLogger("splice.servers.filesystem")

granted: ContextVar[tuple[Root, ...]] = ContextVar("allowed", default=())
"""The roots of the running request."""


def allowed() -> tuple[Root, ...]:
    """List the roots of the running request. Raises `ToolError` where there is none."""
    if not (roots := granted.get()):
        raise ToolError(
            "No directory is allowed. Start the server with directories, `splice serve filesystem DIRECTORY ...`, "
            "or let the client tell its roots."
        )
    return roots


def root_of(path: str) -> Root | None:
    """Take a directory as a root; None where there is none."""
    given = posixpath.abspath(posixpath.expanduser(path)) if path and "\0" not in path else ""
    real = posixpath.realpath(given) if given else ""
    return Root(real, given) if real and posixpath.isdir(real) else None


class Directories(Extension[Call]):
    """The roots of all clients. As an extension it hears when they change."""

    def __init__(self, given: Sequence[Root]) -> None:
        changed = Note(name="notifications/roots/list_changed", params=NoteParams)
        super().__init__("", notes=[Heard(changed, self._forget)])
        self._given = tuple(given)
        self._told: dict[Session, tuple[Root, ...]] = {}
        self._stale: set[Session] = set()
        self._last = self._given
        """The roots that the client of stdio told last: for what cannot ask."""

    def declare(self, capabilities: object) -> None:
        """Declare nothing."""

    async def enter(self, call: Call) -> tuple[Root, ...]:
        """Find the roots of a request, and let its handler see them."""
        roots = await self._of(call)
        granted.set(roots)
        return roots

    async def _of(self, call: Call) -> tuple[Root, ...]:
        if call.declared.capabilities.roots is None:
            return self._given
        session, is_remote = session_of(call), call.sender.kind == "http"
        known = self._given if is_remote else self._last
        if session is not None:
            known = self._told.get(session, self._given)
        is_fresh = session is not None and session in self._told and session not in self._stale
        if is_fresh or call.row.name not in ASKING:
            return known
        try:
            answer = await Context(call).roots(key="roots")
        except RPCError as error:
            log.warning("the client did not tell its roots: %s", cut(str(error)))
            answer = []
        roots = await asyncio.to_thread(self._taken, answer, is_remote=is_remote) or known
        self._keep(session, roots, is_remote=is_remote)
        return roots

    def _taken(self, told: Iterable[ClientRoot], *, is_remote: bool) -> tuple[Root, ...]:
        """Take those roots that are directories, and may be used."""
        taken: dict[str, Root] = {}
        for each in list(told)[:MAX_ROOTS]:
            path = path_of(each.uri)
            root = None if path is None else root_of(path)
            if root is None:
                log.warning("a root of the client is not a directory here: %s", cut(each.uri))
            elif is_remote and below(root.real, [Root(given.real, given.real) for given in self._given]) is None:
                log.warning("a root of a client of HTTP lies in no directory of the server: %s", cut(each.uri))
            else:
                taken.setdefault(root.real, root)
        return tuple(taken.values())

    def _keep(self, session: Session | None, roots: tuple[Root, ...], *, is_remote: bool) -> None:
        if not is_remote:
            self._last = roots
        if session is None:
            return
        when_ended(session, self._leave)
        self._told[session] = roots
        self._stale.discard(session)

    def _leave(self, session: Session) -> None:
        self._told.pop(session, None)
        self._stale.discard(session)

    def _forget(self, _: NoteParams) -> None:
        """Ask every session again: a notification does not say which one sent it."""
        self._stale.update(self._told)
