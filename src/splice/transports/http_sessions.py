"""Legacy HTTP sessions: what `initialize` opened, what is in flight in it, and what waits for its GET stream.

A session costs little and is never kept for ever: there are only so many, one that nothing happens in expires, and
an id is as good as unknown to anybody but the one who opened it.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

import asyncio
import os
from collections.abc import Callable

from splice.errors import INVALID_REQUEST, ConnectionClosed, InternalError, RPCError
from splice.protocol.jsonrpc import Notification, Response, encode
from splice.rules.eras import Session
from splice.rules.exchanges import ExchangeTable
from splice.rules.http import Refusal
from splice.rules.sse import encode_event
from splice.transports.background import Background
from splice.transports.http_stream import Reply
from splice.transports.http_visits import Visit

MAX_SESSIONS = 10_000
IDLE_SECONDS = 30 * 60.0
"""How long a session may lie idle: nothing in flight, and no stream open."""

MAX_WAITING = 256
"""How many notifications wait for a client that does not read; the oldest are dropped first."""

RETRY_SECONDS = 30
ID_BYTES = 24

Stop = Callable[[], None]


class HTTPSession:
    """One session."""

    __slots__ = ("_flushing", "_sessions", "_waiting", "session", "stream", "table", "used", "users")

    def __init__(self, sessions: "Sessions", principal: str | None) -> None:
        self._sessions = sessions
        self._waiting: dict[bytes, None] = {}
        self._flushing = False
        self.session = Session(id=os.urandom(ID_BYTES).hex(), principal=principal, push=self.push)
        self.table: ExchangeTable[Stop, asyncio.Future[Response]] = ExchangeTable()
        self.stream: Visit | None = None
        """The one GET stream, while it is open."""
        self.used = 0.0
        self.users = 0
        """How many HTTP requests are being answered in this session."""

    def push(self, note: Notification) -> None:
        """Send a notification on the GET stream, or keep it until there is one. Equal ones are kept once."""
        if self.table.closed:
            return
        self._waiting[self._sessions.event(note)] = None
        if len(self._waiting) > MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]
        self.flush()

    def flush(self) -> None:
        """Send what waits, as fast as the client reads."""
        if self.stream is not None and self._waiting and not self._flushing:
            self._flushing = True
            self._sessions.background().start(self._flush(self.stream.reply))

    async def _flush(self, reply: Reply) -> None:
        try:
            while self._waiting and not reply.closed:
                events = b"".join(self._waiting)
                self._waiting.clear()
                await reply.write(events)
        finally:
            self._flushing = False

    def end(self) -> None:
        """Stop everything that goes on in it."""
        inbound, outbound = self.table.close()
        for stop in inbound:
            stop()
        for future in outbound:
            fail(future)
        if self.stream is not None:
            self.stream.interrupt("cancelled")
        self._waiting.clear()


def fail(future: "asyncio.Future[Response]") -> None:
    """Let a question to the client end without an answer."""
    if not future.done():
        future.set_exception(ConnectionClosed("The client closed the stream or the session before it answered"))
        future.exception()


class Sessions:
    """All sessions of one endpoint."""

    def __init__(self, limit: int, background: Callable[[], Background]) -> None:
        self.background = background
        self._limit = limit
        self._all: dict[str, HTTPSession] = {}
        self._resting: dict[str, HTTPSession] = {}
        """Those in which nothing is going on, the longest unused first."""
        self._last: tuple[Notification, bytes] | None = None

    def __len__(self) -> int:
        return len(self._all)

    def open(self, principal: str | None) -> HTTPSession:
        """Make a session, in use by the request that opens it. Raises `Refusal` (503) when there are too many."""
        if len(self._all) >= self._limit:
            retry = (b"retry-after", b"%d" % RETRY_SECONDS)
            raise Refusal(503, InternalError(f"The server has {self._limit} open sessions; try again later"), [retry])
        session = HTTPSession(self, principal)
        session.users = 1
        self._all[session.session.id] = session
        return session

    def enter(self, id: str, principal: str | None) -> HTTPSession:
        """Find the session in which an HTTP request begins.

        Raises `Refusal` (404): to anybody but its owner a session does not exist.
        """
        found = self._all.get(id)
        if found is None or found.session.principal != principal:
            raise Refusal(404, RPCError("Session not found; send `initialize` to open one", code=INVALID_REQUEST))
        found.users += 1
        self._resting.pop(id, None)
        return found

    def leave(self, session: HTTPSession, now: float) -> None:
        """Note that an HTTP request in this session ended."""
        session.users -= 1
        session.used = now
        if session.users == 0 and session.session.id in self._all:
            self._resting[session.session.id] = session

    def remove(self, session: HTTPSession) -> None:
        """Forget a session, and end what goes on in it."""
        self._all.pop(session.session.id, None)
        self._resting.pop(session.session.id, None)
        session.end()

    def expired(self, now: float) -> list[HTTPSession]:
        """List the sessions that nothing happened in for too long."""
        found: list[HTTPSession] = []
        for session in self._resting.values():
            if now - session.used < IDLE_SECONDS:
                break
            found.append(session)
        return found

    def all(self) -> list[HTTPSession]:
        """List every session."""
        return list(self._all.values())

    def event(self, note: Notification) -> bytes:
        """Write a notification as an event; the same one that goes to many sessions is written once."""
        if self._last is None or self._last[0] is not note:
            self._last = (note, encode_event(encode(note)))
        return self._last[1]
