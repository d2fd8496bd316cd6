"""HTTP requests while they are being answered: cancelled when the client leaves, kept alive, drained at the end.

Most requests are over at once, so nothing is built for them: no task, no timer. One clock for all looks every few
milliseconds whether a request still runs that did so the last time, and only then begins to watch its client.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation#transport-specific-cancellation
"""

import asyncio
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from splice.protocol.jsonrpc import RequestId
from splice.rules.sse import KEEP_ALIVE
from splice.transports.background import Background
from splice.transports.http_stream import Receive, Reply

TICK_SECONDS = 0.05
"""How often the clock looks; a request that saw two ticks is watched."""

BODY_SECONDS = 30.0
"""How long a client may take to send a body."""

QUIET_SECONDS = 1.0
"""How long a modern call may say nothing before its reply becomes a stream: a client that has seen no byte may be
unable to tell us that it left, and a proxy between us may take the silence for the end."""

KEEP_ALIVE_SECONDS = 15.0
"""The longest silence on a stream."""

Reason: TypeAlias = Literal["gone", "cancelled", "slow", "stopping"]


class Visit:
    """One HTTP request, from its arrival until its reply is complete."""

    id: RequestId | UnsetType = UNSET
    """The JSON-RPC id that an error must repeat, once it is known."""
    on_gone: Callable[[], None] | None = None
    """What to do when the client leaves; None: let the work go on unwatched."""
    reading = False
    """The body is still arriving."""
    is_old = False
    """The clock has passed it."""
    over = False
    why: Reason | None = None
    """Why the work was interrupted."""
    _watcher: asyncio.Task[None] | None = None

    def __init__(self, visits: "Visits", receive: Receive, reply: Reply, task: asyncio.Task[Any] | None) -> None:
        self._visits = visits
        self._task = task
        self.receive = receive
        self.reply = reply
        self.born = visits.generation
        reply.on_stream = self.begin_stream

    def interrupt(self, why: Reason) -> None:
        """Stop the work on this request, as if its task were cancelled."""
        if self.why is None and not self.over and self._task is not None:
            self.why = why
            if why == "gone":
                self.reply.lose()
            self._task.cancel()

    def recover(self) -> bool:
        """Tell, in the task, whether a cancellation was ours and nobody else's; if so, it is over."""
        return self.why is not None and self._task is not None and self._task.uncancel() == 0

    def check(self) -> None:
        """Raise `CancelledError` if the work was interrupted, for a handler that took no notice of it."""
        if self.why is not None:
            raise asyncio.CancelledError

    @property
    def background(self) -> Background:
        """Runs what this request sets off and nobody awaits."""
        return self._visits.background

    def cancel_when_gone(self) -> None:
        """From now on the client's leaving cancels the request."""
        self.on_gone = self._leave
        if self.is_old:
            self.watch()

    def begin_stream(self) -> None:
        """Watch the client: it has begun to read events. Keep the stream alive."""
        self._visits.keep_alive(self.reply)
        if self.on_gone is not None:
            self.watch()

    def lasts(self) -> None:
        """Act on the request not being over after two ticks."""
        self.is_old = True
        if self.reading:
            asyncio.get_running_loop().call_later(BODY_SECONDS, self._hurry)
        elif self.on_gone is not None:
            self.watch()
            asyncio.get_running_loop().call_later(QUIET_SECONDS, self._break_silence)

    def watch(self) -> None:
        """Wait, beside the work, for the client to leave."""
        if self._watcher is None:
            self._watcher = self._visits.background.start(self._watch())

    async def _watch(self) -> None:
        message = await self.receive()
        if message["type"] == "http.disconnect" and not self.over and self.on_gone is not None:
            self.reply.lose()
            self.on_gone()

    def _leave(self) -> None:
        self.interrupt("gone")

    def _break_silence(self) -> None:
        if not self.over and not self.reply.streaming:
            self.background.start(self.reply.write(KEEP_ALIVE))

    def _hurry(self) -> None:
        if self.reading:
            self.interrupt("slow")

    def end(self) -> None:
        """Let go of everything."""
        self.over = True
        self.reading = False
        self.reply.on_stream = self.on_gone = None
        if self._watcher is not None:
            self._watcher.cancel()


class Visits:
    """All of them, and the clocks they share."""

    def __init__(self) -> None:
        self.background = Background()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._young: set[Visit] = set()
        self._old: set[Visit] = set()
        self._streams: set[Reply] = set()
        self.generation = 0
        self._ticking = False
        self._keeping = False
        self._idle: asyncio.Future[None] | None = None

    def enter(self, receive: Receive, reply: Reply) -> Visit:
        """Begin a visit."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._move(loop)
        visit = Visit(self, receive, reply, asyncio.current_task(loop))
        self._young.add(visit)
        if not self._ticking:
            self._ticking = True
            loop.call_later(TICK_SECONDS, self._tick)
        return visit

    def leave(self, visit: Visit) -> None:
        """End a visit."""
        visit.end()
        self._young.discard(visit)
        if visit.is_old:
            self._old.discard(visit)
        if visit.reply.streaming:
            self._streams.discard(visit.reply)
        if self._idle is not None and not self._young and not self._old and not self._idle.done():
            self._idle.set_result(None)

    def keep_alive(self, stream: Reply) -> None:
        """Send a comment on this stream whenever it has been quiet for long."""
        self._streams.add(stream)
        if not self._keeping:
            self._keeping = True
            asyncio.get_running_loop().call_later(KEEP_ALIVE_SECONDS / 2, self._beat)

    async def drain(self, seconds: float) -> None:
        """Wait until all visits are over; those that are not in time are interrupted, and answered with an error."""
        if await self._emptied(seconds):
            return
        for visit in self._young | self._old:
            visit.interrupt("stopping")
        await self._emptied(seconds)

    async def _emptied(self, seconds: float) -> bool:
        if not self._young and not self._old:
            return True
        self._idle = asyncio.get_running_loop().create_future()
        done, _ = await asyncio.wait([self._idle], timeout=seconds)
        return bool(done)

    def _move(self, loop: asyncio.AbstractEventLoop) -> None:
        """Serve on another event loop; the one before is closed, and its clocks with it."""
        self._loop = loop
        self._young, self._old, self._streams = set(), set(), set()
        self._ticking = self._keeping = False
        self.background = Background()

    def _tick(self) -> None:
        self.generation += 1
        lasting = [visit for visit in self._young if self.generation - visit.born > 1]
        self._young.difference_update(lasting)
        self._old.update(lasting)
        for visit in lasting:
            visit.lasts()
        self._ticking = bool(self._young)
        if self._ticking:
            asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _beat(self) -> None:
        for stream in self._streams:
            if stream.quiet and not stream.busy:
                self.background.start(stream.write(KEEP_ALIVE))
            stream.quiet = True
        self._keeping = bool(self._streams)
        if self._keeping:
            asyncio.get_running_loop().call_later(KEEP_ALIVE_SECONDS / 2, self._beat)
