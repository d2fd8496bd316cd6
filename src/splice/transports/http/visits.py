"""Visits: HTTP requests while they are being answered, watched, and ended when that must be.

A visit is in one of three states:

    arriving    its body is arriving; a client that takes too long is told so
    answering   it is being answered; its client is watched
    passing     it was passed on to a route, which watches its client itself

Most requests are over at once, so nothing is built for them: no task, no timer. One clock for all counts every few
milliseconds how often it has seen each visit. A body is given up after so many times; a request that is still being
answered at the second time lasts: its client is watched, and a slower clock sees that it is not silent for too long.

Its reply commits late: nothing is sent until there is something to say. A response that comes first leaves as one JSON
body with the status that fits; a notification or a question that comes first makes the reply an event stream, and the
response its last event.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#transport-specific-cancellation
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from splice.errors import InternalError, InvalidRequest, RPCError
from splice.protocol.jsonrpc import Failure, RequestId, Response, encode, failure
from splice.rules.http import origins, sse
from splice.transports.tasks import Background, Stretch, ended

ASGIMessage: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[ASGIMessage]]
Send: TypeAlias = Callable[[ASGIMessage], Awaitable[None]]
Fields: TypeAlias = Sequence[tuple[bytes, bytes]]
Work: TypeAlias = Coroutine[Any, Any, None]
"""Answers an HTTP request."""

CONNECTION = "splice.connection"
"""The key in the ASGI scope under which our own listener puts the `Connection`."""

CLOSE = (b"connection", b"close")
"""Goes with a refusal after which the rest of the body is not read. HTTP/2 has no such header."""

JSON_TYPE = (b"content-type", b"application/json")
_STREAM_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)

TICK_SECONDS = 0.05
"""How often the clock looks."""

BODY_SECONDS = 30.0
"""How long a client may take to send a body."""

LOOK_SECONDS = 0.5
"""How often to look, while there are requests, who is silent and whether the web server is to exit."""

QUIET_SECONDS = 1.0
"""How long a call may say nothing before its reply becomes a stream: a client that has seen no byte may be unable to
tell us that it left, and a proxy between us may take the silence for the end. At the next look it does."""

KEEP_ALIVE_SECONDS = 14.0
"""How long a stream may be silent before something is said, at the next look."""


class Reply(Struct, eq=False):
    """The response to one HTTP request. Once it is closed, everything more is dropped in silence."""

    scope: Scope
    """The ASGI scope of the request."""
    send: Send
    streaming: bool = False
    """The head of an event stream is sent, and events may follow."""
    closed: bool = False
    """No more may be sent: the reply is complete, or the client is gone."""
    lost: bool = False
    """The client is gone: what waits to be sent is dropped too."""
    plain: bool = False
    """It never becomes a stream: events are dropped."""
    silence: int = 0
    """How often the clock has looked since something was sent."""
    opening: Callable[[], Awaitable[bytes]] | None = None
    """Gives the event that a stream begins with."""
    headers: Fields = ()
    """Headers to send whatever the reply turns out to be."""
    _lock: asyncio.Lock | None = None

    def heed(self, response: Response | None) -> None:
        """Raise the error that ended a request, where it names an HTTP status and nothing was sent yet."""
        error = response.cause if isinstance(response, Failure) else None
        if isinstance(error, RPCError) and error.status is not None and not (error.is_foreign or self.streaming):
            raise error

    async def respond(self, status: int, body: bytes, headers: Fields = (JSON_TYPE,), id: str | None = None) -> None:
        """Send the response and end: a body with this status, or the last event if the stream has begun."""
        if self.closed:
            return
        self.closed = True
        if self._lock is not None:
            async with self._lock:  # what is being sent comes first
                if self.streaming:
                    await self._put({"type": "http.response.body", "body": sse.encode_event(body, id=id)})
                    return
        fields = [*headers, *self.headers]
        if body:
            fields.append((b"content-length", b"%d" % len(body)))
        try:
            await self.send({"type": "http.response.start", "status": status, "headers": fields})
            await self.send({"type": "http.response.body", "body": body})
        except OSError:
            self.lose()

    async def refuse(self, refusal: origins.Refusal, id: RequestId | None) -> None:
        """Send an error and end; a stream that answers no request just ends."""
        if self.streaming and id is None:
            await self.end()
            return
        is_http_1 = self.scope.get("http_version", "1.1").startswith("1")
        headers = [JSON_TYPE, *(each for each in refusal.headers if each != CLOSE or is_http_1)]
        await self.respond(refusal.status, encode(failure(id, refusal.error)), headers)

    async def accept(self, status: int = 202) -> None:
        """End without a body."""
        await self.respond(status, b"", ())

    async def write(self, chunk: bytes, *, more: bool = True) -> None:
        """Send encoded events, waiting while the client does not read. The first write makes the reply a stream."""
        if self.closed or (self.plain and more):
            return
        self.closed = not more
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            if not self.streaming:
                headers = [*_STREAM_HEADERS, *self.headers]
                await self._put({"type": "http.response.start", "status": 200, "headers": headers})
                self.streaming = True
                if self.opening is not None:
                    chunk = await self.opening() + chunk
            if chunk or not more:
                await self._put({"type": "http.response.body", "body": chunk, "more_body": more})
        self.silence = 0

    async def end(self) -> None:
        """End the stream here, beginning it if need be: there will be no response."""
        await self.write(b"", more=False)

    def lose(self) -> None:
        """Note that the client is gone."""
        self.closed = self.lost = True

    def cut(self) -> None:
        """Give up a client that does not read. What waits to be sent ends now, where our own listener serves."""
        self.lose()
        connection: Connection | None = self.scope.get(CONNECTION)
        if connection is not None:
            connection.abort()

    @property
    def busy(self) -> bool:
        """Something is being sent right now, or waits for the client to read."""
        return self._lock is not None and self._lock.locked()

    async def _put(self, message: ASGIMessage) -> None:
        """Send; a client that is gone is no failure of the handler that notifies it."""
        try:
            if not self.lost:
                await self.send(message)
        except OSError:
            self.lose()


class Connection(Protocol):
    """A connection that tells a visit when it is lost. Without one, a task per visit waits for `http.disconnect`."""

    visit: "Visit | None"
    """The visit that is told, by `leave`."""

    def is_closing(self) -> bool:
        """Tell whether it is lost, or will be at once."""
        ...

    def abort(self) -> None:
        """Close it at once, without what waits to be sent."""


def shutting_down() -> origins.Refusal:
    """Say to a client that its request comes too late, or was not done in time."""
    return origins.Refusal(503, InternalError("The server is shutting down"), [(b"retry-after", b"1"), CLOSE])


class Visit(Stretch):
    """One HTTP request, from its arrival until its reply is complete. The work on it is a stretch that `end` ends."""

    __slots__ = ("_watch", "check", "detach", "id", "receive", "reply", "state", "ticks")

    def __init__(self, receive: Receive, reply: Reply, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.error, self.loop = None, loop
        self._watch: asyncio.Task[None] | Connection | None = None
        self.ticks = 0
        """How often the clock has seen it."""
        self.state: Literal["arriving", "answering", "passing"] = "arriving"
        self.id: RequestId | None = None
        """The JSON-RPC id that an error must repeat, once it is known."""
        self.receive = receive
        self.reply = reply
        self.check: Callable[[Visit], object] = bool
        """Told twice a second while it lasts: may end it, when its sender may no longer see the answer."""
        self.detach: Callable[[Reply], None] | None = None
        """Told when the client leaves, while the work goes on; None: the work is ended."""

    def watch(self, background: Background) -> None:
        """Notice from now on when the client leaves. To be called once."""
        connection: Connection | None = self.reply.scope.get(CONNECTION)
        if self.reply.lost:
            self.leave()
        if self.reply.closed:  # the connection may have the next request already
            return
        if connection is None:
            self._watch = background.start(self._wait_for_leaving())
        else:
            self._watch = connection
            connection.visit = self
            if connection.is_closing():
                self.leave()

    async def _wait_for_leaving(self) -> None:
        if (await self.receive())["type"] == "http.disconnect":
            self.leave()

    def leave(self) -> None:
        """Act on the client's leaving: end the work, or let it go on without its reply."""
        self.reply.lose()
        if self.detach is None:
            self.end(origins.Refusal(499, InvalidRequest("The client left")))
        else:
            self.detach(self.reply)

    def close(self) -> None:
        """Watch the client no longer."""
        if isinstance(self._watch, asyncio.Task):
            self._watch.cancel()
        elif self._watch is not None and self._watch.visit is self:
            self._watch.visit = None


class Visits:
    """All visits of an endpoint, and the clocks they share. `at_exit` is run when the web server is to exit."""

    def __init__(self, at_exit: Callable[[], Work]) -> None:
        self.background = Background()
        self._at_exit = at_exit
        self._young: set[Visit] = set()
        """Those that the clock looks at."""
        self._lasting: set[Visit] = set()
        """Those that are watched."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ticking = self._looking = False

    def enter(self, scope: Scope, receive: Receive, send: Send) -> Visit:
        """Begin a visit."""
        if not self._ticking or asyncio.get_running_loop() is not self._loop:
            self._start()
        visit = Visit(receive, Reply(scope, send), self._loop)
        self._young.add(visit)
        return visit

    def leave(self, visit: Visit) -> None:
        """End a visit: its reply is complete."""
        self._young.discard(visit)
        self._lasting.discard(visit)
        visit.close()

    async def drain(self, seconds: float) -> None:
        """Wait until all visits are over; those that are not in time are ended with an error."""
        await self._emptied(seconds)
        for visit in self._young | self._lasting:
            visit.end(shutting_down())
        await self._emptied(seconds)

    async def _emptied(self, seconds: float) -> None:
        await ended((visit.task for visit in self._young | self._lasting), seconds)

    # The clocks.

    def _start(self) -> None:
        """Start the clocks. On another event loop than before, forget the visits of the one that is closed."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._looking, self.background = loop, False, Background()
            self._young, self._lasting = set(), set()
        self._ticking = True
        loop.call_later(TICK_SECONDS, self._tick)
        if not self._looking:
            self._looking = True
            loop.call_later(LOOK_SECONDS, self._look)

    def _tick(self) -> None:
        for visit in list(self._young):
            visit.ticks += 1
            if visit.state == "answering" and visit.ticks > 1:
                self._young.discard(visit)
                self._lasting.add(visit)
                visit.watch(self.background)
            elif visit.state == "arriving" and visit.ticks * TICK_SECONDS > BODY_SECONDS:
                visit.end(origins.Refusal(408, InvalidRequest("The body did not arrive in time"), [CLOSE]))
        self._ticking = bool(self._young)
        if self._ticking:
            asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _look(self) -> None:
        """Send a comment on every reply that was silent for too long, and see whether the web server is to exit."""
        for visit in self._lasting:
            reply = visit.reply
            reply.silence += 1
            visit.check(visit)
            patience = KEEP_ALIVE_SECONDS if reply.streaming else QUIET_SECONDS
            if reply.silence * LOOK_SECONDS > patience and not (reply.plain or reply.closed or reply.busy):
                self.background.start(reply.write(sse.KEEP_ALIVE))
        exits = _web_server_exits()
        self._looking = not exits and (self._ticking or bool(self._lasting))
        if self._looking:
            asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)
        elif exits:
            self._exiting = asyncio.get_running_loop().create_task(self._at_exit())


def _web_server_exits() -> bool:
    """Tell whether the uvicorn that serves us was told to exit.

    It tells an app after all streams have ended, and those that wait for news would never. It can be found where it
    waits for signals.
    """
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return getattr(server, "should_exit", False) is True
