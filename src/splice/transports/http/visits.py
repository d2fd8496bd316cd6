"""Visits: HTTP requests while they are being answered, watched, and ended when that must be.

A visit is in one of three states:

    passing     what is done cannot take long
    arriving    its body is arriving; a client that takes too long is told so (`Slow`)
    answering   a request is being answered; its client is watched

Most requests are over at once, so nothing is built for them: no task, no timer. One clock for all counts every few
milliseconds how often it has seen each visit. A body is given up after so many times; a request that is still being
answered at the second time lasts: its client is watched, and the clock need not look at it any more.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#transport-specific-cancellation
"""

import asyncio
import signal
from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from splice.errors import InternalError, InvalidRequest
from splice.protocol.jsonrpc import RequestId
from splice.rules.http.sse import KEEP_ALIVE
from splice.rules.http.status import Refusal
from splice.transports.http.reply import CLOSE, CONNECTION, Receive, Reply, Scope, Send
from splice.transports.http.stream import EventStream
from splice.transports.tasks import Background, Stretch

TICK_SECONDS = 0.05
"""How often the clock looks."""

BODY_SECONDS = 30.0
"""How long a client may take to send a body."""

QUIET_SECONDS = 1.0
"""How long a call may say nothing before its reply becomes a stream: a client that has seen no byte may be unable to
tell us that it left, and a proxy between us may take the silence for the end."""

KEEP_ALIVE_SECONDS = 15.0
"""The longest silence on a stream."""

LOOK_SECONDS = 0.5
"""How often to look whether the web server is to exit, while there are requests."""

State: TypeAlias = Literal["passing", "arriving", "answering"]


class Connection(Protocol):
    """A connection that tells a visit when it is lost. Without one, a task per visit waits for `http.disconnect`."""

    is_lost: bool
    visit: "Visit | None"
    """The visit that is told, by `leave`."""


class Ended(Exception):
    """Ends the work on an HTTP request from outside, and knows what the client is told then."""

    async def tell(self, visit: "Visit") -> None:
        """Complete the reply."""


class Gone(Ended):
    """The client left: nothing can be sent."""


class Slow(Ended):
    """The body did not arrive in time."""

    async def tell(self, visit: "Visit") -> None:
        """Refuse the request (408)."""
        await visit.reply.refuse(Refusal(408, InvalidRequest("The body did not arrive in time"), [CLOSE]), visit.id)


class Stopping(Ended):
    """The server stops, and the work was not done in time."""

    async def tell(self, visit: "Visit") -> None:
        """Answer with an error (503, or the last event); a stream that answers no request just ends."""
        if visit.reply.streaming and visit.id is None:
            await visit.reply.end()
        else:
            await visit.reply.refuse(Refusal(503, InternalError("The server is shutting down")), visit.id)


class Visit(Stretch):
    """One HTTP request, from its arrival until its reply is complete. The work on it is a stretch that `end` ends."""

    __slots__ = ("_watch", "id", "may_stream", "receive", "reply", "state", "stream", "ticks")

    def __init__(self, receive: Receive, reply: Reply) -> None:
        self.error = None
        self._watch: asyncio.Task[None] | Connection | None = None
        self.ticks = 0
        """How often the clock has seen it."""
        self.state: State = "passing"
        self.id: RequestId | None = None
        """The JSON-RPC id that an error must repeat, once it is known."""
        self.receive = receive
        self.reply = reply
        self.stream: EventStream | None = None
        """A stream that is detached when the client leaves, while the work goes on; None: the work is ended."""
        self.may_stream = True
        """The reply may become a stream when the work takes long."""

    def watch(self, background: Background) -> None:
        """Notice from now on when the client leaves. To be called once."""
        connection: Connection | None = self.reply.scope.get(CONNECTION)
        if connection is None:
            self._watch = background.start(self._wait_for_leaving())
        else:
            self._watch = connection
            connection.visit = self
            if connection.is_lost:
                self.leave()

    async def _wait_for_leaving(self) -> None:
        if (await self.receive())["type"] == "http.disconnect":
            self.leave()

    def leave(self) -> None:
        """Act on the client's leaving: end the work, or detach the stream and let it go on."""
        self.reply.lose()
        if self.stream is None:
            self.end(Gone())
        else:
            self.stream.detach()

    def check(self) -> None:
        """Raise the reason if the work was ended, for a handler that took no notice of it."""
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """Watch the client no longer."""
        if isinstance(self._watch, asyncio.Task):
            self._watch.cancel()
        elif self._watch is not None:
            self._watch.visit = None


class Visits:
    """All visits of an endpoint, and the clocks they share. `at_exit` is told when the web server is to exit."""

    def __init__(self, at_exit: Callable[[], object] = lambda: None) -> None:
        self.background = Background()
        self._at_exit = at_exit
        self._young: set[Visit] = set()
        """Those that the clock looks at."""
        self._lasting: set[Visit] = set()
        """Those that are watched."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ticking = False
        self._beating = False
        self._looking = False
        self._emptying: asyncio.Future[None] | None = None
        """Done when no visit is left; None until the end has begun."""

    def enter(self, scope: Scope, receive: Receive, send: Send) -> Visit:
        """Begin a visit."""
        if not self._ticking or asyncio.get_running_loop() is not self._loop:
            self._start()
        visit = Visit(receive, Reply(scope, send))
        self._young.add(visit)
        return visit

    def leave(self, visit: Visit) -> None:
        """End a visit: its reply is complete."""
        self._young.discard(visit)
        self._lasting.discard(visit)
        visit.close()
        if self._emptying is not None and not self._all() and not self._emptying.done():
            self._emptying.set_result(None)

    def last(self, visit: Visit) -> None:
        """Watch the client of a visit that takes longer than most."""
        loop = asyncio.get_running_loop()
        self._young.discard(visit)
        self._lasting.add(visit)
        visit.watch(self.background)
        if visit.may_stream:
            loop.call_later(QUIET_SECONDS, self._break_silence, visit)
        if not self._beating:
            self._beating = True
            loop.call_later(KEEP_ALIVE_SECONDS / 2, self._beat)

    async def drain(self, seconds: float) -> None:
        """Wait until all visits are over; those that are not in time are ended with an error."""
        await self._emptied(seconds)
        for visit in self._all():
            visit.end(Stopping())
        await self._emptied(seconds)

    def _all(self) -> set[Visit]:
        return self._young | self._lasting

    async def _emptied(self, seconds: float) -> None:
        if self._all():
            self._emptying = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._emptying], timeout=seconds)

    # The clocks.

    def _start(self) -> None:
        """Start the clock. On another event loop than before, forget the visits of the one that is closed."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._beating, self._looking, self.background = loop, False, False, Background()
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
                self.last(visit)
            elif visit.state == "arriving" and visit.ticks * TICK_SECONDS > BODY_SECONDS:
                visit.end(Slow())
        self._ticking = bool(self._young)
        if self._ticking:
            asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _look(self) -> None:
        exits = _web_server_exits()
        self._looking = not exits and (self._ticking or bool(self._lasting))
        if self._looking:
            asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)
        elif exits:
            self._at_exit()

    def _break_silence(self, visit: Visit) -> None:
        if visit in self._lasting and not visit.reply.streaming:
            self.background.start(visit.reply.write(KEEP_ALIVE))

    def _beat(self) -> None:
        """Send a comment on every stream on which nothing was sent since the last beat."""
        for visit in self._lasting:
            reply = visit.reply
            if reply.quiet and reply.streaming and not reply.busy:
                self.background.start(reply.write(KEEP_ALIVE))
            reply.quiet = True
        self._beating = bool(self._lasting)
        if self._beating:
            asyncio.get_running_loop().call_later(KEEP_ALIVE_SECONDS / 2, self._beat)


def _web_server_exits() -> bool:
    """Tell whether the uvicorn that serves us was told to exit.

    It tells an app after all streams have ended, and those that wait for news would never. It can be found where it
    waits for signals.
    """
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return getattr(server, "should_exit", False) is True
