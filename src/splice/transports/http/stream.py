"""EventStream: the events for one client, in order, whichever HTTP reply carries them.

Exchanges write to the stream, and a reply carries the events away. Without a log a stream ends with the reply that
carries it. With one, each event is kept under an id before it is sent, and the stream outlives its reply: a later one
reads from the log what its client has not seen, and goes on with what is kept from then on.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Self

from splice.errors import ConnectionClosed
from splice.rules.http.sse import encode_event
from splice.transports.http import logs, visits
from splice.transports.tasks import Stretch

MAX_WAITING = 256
"""How many notifications wait for a client that does not read; the oldest are dropped first."""

ABSENT_SECONDS = 60.0
"""How long a question stays open while no client reads a stream that it may come back to."""

RETRY = b"retry: 1000\n\n"
"""Tells a client whose connection is closed by us when to come back, in milliseconds."""


class EventStream:
    """The events that belong to one request, or to a batch. It is entered by whoever answers, and ends with that.

    `primes`: the client can read an event without data, which tells it what to resume before anything was sent.
    """

    __slots__ = ("_absence", "_log", "_more", "_needed", "_primes", "lost", "reply")

    def __init__(self, reply: visits.Reply | None = None, log: logs.Log | None = None, primes: bool = False) -> None:
        self.reply = reply
        """Carries the events away, until the next one does; None: no client reads."""
        self.lost = False
        """No client reads it, and none has come back in time."""
        self._log = log
        self._primes = primes and log is not None
        self._more: asyncio.Event | None = None
        """Set when there is more in the log, once a reply reads it there."""
        self._absence: asyncio.TimerHandle | None = None
        """Gives the stream up when its client stays away."""
        self._needed: tuple[Stretch, ...] = ()
        if log is not None:
            log.stream = self
        if reply is not None and self._primes:
            reply.opening = self._prime

    async def send(self, message: bytes) -> None:
        """Send a message as an event, waiting while the client does not read. Without reader or log it is dropped."""
        id = None if self._log is None else await self._log.keep(message)
        if self._more is not None:
            self._more.set()
        elif self.reply is not None:
            await self.reply.write(encode_event(message, id=id))

    async def respond(self, message: bytes | None) -> None:
        """Send the response: as JSON if nothing was sent before, else as the last event. None: end without one."""
        log, self._log, event_id = self._log, None, None  # nothing may come behind it
        if log is not None and log.cursor:
            event_id = await log.keep(message or b"", logs.LAST)
            log.end()
        if self._more is not None:
            self._more.set()
        elif self.reply is not None and message is None:
            await self.reply.end()
        elif self.reply is not None and message is not None:
            await self.reply.respond(200, message, id=event_id)

    async def carry(self, reply: visits.Reply, log: logs.Log) -> None:
        """Send over `reply` what the stream's log has behind the cursor of `log`, and will have, up to its end.

        It returns before that when the client leaves, or resumes the stream once more. Raises `Refusal`.
        """
        after, old = log.cursor, self.reply
        if self._absence is not None:
            self._absence.cancel()
        self.reply, self.lost, self._more = reply, False, self._more or asyncio.Event()
        self._more.set()  # to the reply before this one, if it reads the log too
        try:
            if old is not None:
                await supersede(old)
            while self.reply is reply and not reply.closed:
                self._more.clear()
                is_live = log.name in log.logs.live
                entries = await log.events(after)
                await reply.write(log.encoded(entries))
                if entries:
                    after, value = entries[-1]
                    if value.startswith(logs.LAST):
                        return
                elif is_live:
                    await self._more.wait()
                else:
                    await reply.write(await log.farewell(after))
                    return
        finally:
            self.detach(reply)

    async def close(self) -> None:
        """Close the connection; the client is to come back for the rest. Does nothing where it might not."""
        reply = self.reply
        if self._primes and reply is not None:
            await reply.write(RETRY, more=False)
            self.detach(reply)

    def detach(self, reply: visits.Reply) -> None:
        """Let go of a reply, unless another has taken over from it. Without a log the stream is lost with it."""
        if self.reply is not reply:
            return
        self.reply = None
        if self._more is not None:
            self._more.set()
        if self._log is None or not self._log.cursor:
            self.lose()
        else:
            self._absence = asyncio.get_running_loop().call_later(ABSENT_SECONDS, self.lose)

    def lose(self) -> None:
        """Fail what needs the client to read: it will not come back in time."""
        self.lost = True
        for stretch in self._needed:
            stretch.end(_lost())

    def __enter__(self) -> Self:
        """Begin to answer."""
        return self

    def __exit__(self, *_: object) -> None:
        """Note that nothing more will be sent, not even a response."""
        if self._absence is not None:
            self._absence.cancel()
        if self._log is not None:
            self._log.end()
            self._log = None
        if self._more is not None:
            self._more.set()
        else:
            self.reply = None

    @contextmanager
    def needed(self) -> Generator[None, None, None]:
        """Run a block that needs the client to read. Raises `ConnectionClosed` when no client will do so any more."""
        if self.lost:
            raise _lost()
        stretch = Stretch()
        self._needed += (stretch,)
        try:
            with stretch:
                yield
        finally:
            self._needed = tuple(each for each in self._needed if each is not stretch)

    async def _prime(self) -> bytes:
        """Begin the log, unless it has ended; returns the event that tells the client of it."""
        return b"" if self._log is None else encode_event(b"", id=await self._log.begin())


async def supersede(reply: visits.Reply) -> None:
    """End a reply that another one takes over from; its connection may be dead, unnoticed."""
    if reply.busy:
        reply.cut()
    else:
        await reply.end()


def _lost() -> ConnectionClosed:
    return ConnectionClosed("The client closed the stream or the session before it answered")


class PushStream:
    """A session's own stream, for what belongs to no request.

    Of the replies that are open the newest carries it: an older one may be of a connection that is dead, unnoticed.
    While there is none, a bounded number of messages wait. Each reply has a log of its own, so that a client that
    resumes one gets nothing that went to another.
    """

    __slots__ = ("_replies", "_waiting", "lost")

    def __init__(self) -> None:
        self.lost = False
        """The session has ended."""
        self._waiting: dict[bytes, None] = {}
        self._replies: dict[visits.Reply, tuple[logs.Log | None, asyncio.Future[None]]] = {}
        """Those that are open, the oldest first: the log of each, and what ends its waiting."""

    def push(self, message: bytes) -> None:
        """Send a message as soon as a client reads. Never blocks; of equal messages that wait, one is kept."""
        if not self.lost:
            self._waiting[message] = None
            if len(self._waiting) > MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]
            self._notice()

    async def open(self, reply: visits.Reply, log: logs.Log | None = None) -> None:
        """Send over `reply` what is pushed while it is the newest, until its client leaves or the session ends.

        First comes what `log` has behind its cursor; from then on it is written to. Raises `Refusal`.
        """
        future = asyncio.get_running_loop().create_future
        after = 0 if log is None else log.cursor
        for other, (its, _) in list(self._replies.items()):
            if after and its is not None and log is not None and its.name == log.name:
                log = its
                await supersede(other)
        self._replies[reply] = log, future()
        self._notice()
        try:
            await reply.write(b"")
            if log is not None and after:
                await self._replay(reply, log, after)
            while not (reply.closed or self.lost):
                if self._waiting and reply is next(reversed(self._replies)):
                    await reply.write(await self._taken(log))
                else:
                    noticed = future()
                    self._replies[reply] = log, noticed
                    await noticed
        finally:
            del self._replies[reply]
            self._notice()

    async def _replay(self, reply: visits.Reply, log: logs.Log, after: int) -> None:
        async with log.logs.lock:  # until the reply before this one has kept what it took
            pass
        while entries := await log.events(after):
            await reply.write(log.encoded(entries))
            after = log.cursor = max(log.cursor, entries[-1][0])

    async def _taken(self, log: logs.Log | None) -> bytes:
        """Take the messages that wait, as events."""
        waiting, self._waiting = self._waiting, {}
        if log is None:
            return b"".join(map(encode_event, waiting))
        async with log.logs.lock:
            return b"".join([encode_event(message, id=await log.keep(message)) for message in waiting])

    def detach(self, _: visits.Reply) -> None:
        """Let go of the replies whose clients have left. What is pushed waits for the next one."""
        self._notice()

    def lose(self) -> None:
        """End the stream for good."""
        self.lost = True
        self._waiting.clear()
        self._notice()

    def _notice(self) -> None:
        for _, noticed in self._replies.values():
            if not noticed.done():
                noticed.set_result(None)
