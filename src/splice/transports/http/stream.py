"""EventStream: the events for one client, in order, whichever HTTP reply carries them.

Exchanges write to the stream, and a reply carries the events away. Without a store a stream ends with the reply that
carries it. With one, each event is kept under an id before it is sent, the stream outlives its reply, and a later
reply may go on where the first one broke off.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from splice.errors import ConnectionClosed
from splice.protocol.versions import Facts
from splice.rules.http.sse import encode_event
from splice.transports.http.visits import Reply
from splice.transports.tasks import Stretch

MAX_WAITING = 256
"""How many notifications wait for a client that does not read; the oldest are dropped first."""


class EventStore(Protocol):
    """Keeps the events of streams for clients whose connection breaks."""

    def keep(self, stream: str, number: int, message: bytes) -> None:
        """Keep one event. `number` counts the events of a stream; `message` is empty for one without data."""
        ...


class EventStream:
    """The events that belong to one request, to a batch, or to a session."""

    __slots__ = ("_needed", "_primes", "_store", "cursor", "id", "lost", "reply")

    def __init__(
        self, reply: Reply | None = None, facts: Facts | None = None, *, id: str = "", store: EventStore | None = None
    ) -> None:
        self.reply = reply
        """Carries the events away, until the next one does; None: no client reads."""
        self.id = id
        """Names the stream among those of its session."""
        self.cursor = 0
        """The number of the last event."""
        self.lost = False
        """No client will ever read it."""
        self._store = store if facts is not None and facts.resumable else None
        self._primes = facts is not None and facts.priming_event
        self._needed: tuple[Stretch, ...] = ()  # costs an idle session nothing

    async def send(self, message: bytes) -> None:
        """Send a message as an event, waiting while the client does not read. Without reader or store it is dropped."""
        event = self._event(message)
        if self.reply is not None:
            await self.reply.write(event)

    async def respond(self, message: bytes | None) -> None:
        """Send the response: as JSON if nothing was sent before, else as the last event. None: end without one."""
        event_id = self._number(message) if self.cursor and message else None
        if self.reply is None:
            return
        if message is None:
            await self.reply.end()
        else:
            await self.reply.respond(200, message, event_id=event_id)

    def detach(self) -> None:
        """Let go of the reply: its client has left. Without a store the stream is lost with it."""
        self.reply = None
        if self._store is None:
            self.lose()

    def lose(self) -> None:
        """Give the stream up: the client will not come back."""
        self.lost = True
        for stretch in self._needed:
            stretch.end(_lost())

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

    def _event(self, message: bytes) -> bytes:
        """Write a message as an event. One without data goes before the first, so that this one can be missed."""
        start = b""
        if self._store is not None and self._primes and not self.cursor:
            start = encode_event(b"", id=self._number(b""))
        return start + encode_event(message, id=self._number(message))

    def _number(self, message: bytes) -> str | None:
        """Count an event and, where there is a store, keep it and return its id."""
        self.cursor += 1
        if self._store is None:
            return None
        self._store.keep(self.id, self.cursor, message)
        return f"{self.id}-{self.cursor}"


def _lost() -> ConnectionClosed:
    return ConnectionClosed("The client closed the stream or the session before it answered")


class PushStream(EventStream):
    """A session's own stream, for what belongs to no request.

    Of the replies that are open the newest carries it: an older one may be of a connection that is dead, unnoticed.
    While there is none, a bounded number of messages wait.
    """

    __slots__ = ("_replies", "_waiting")

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[bytes, None] = {}
        self._replies: dict[Reply, asyncio.Future[None]] = {}
        """Those that are open, the oldest first, and what ends the waiting of each."""

    def push(self, message: bytes) -> None:
        """Send a message as soon as a client reads. Never blocks; of equal messages that wait, one is kept."""
        if not self.lost:
            self._waiting[message] = None
            if len(self._waiting) > MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]
            self._notice()

    async def carry(self, reply: Reply) -> None:
        """Send over `reply` what is pushed while it is the newest, until its client leaves or the session ends."""
        loop = asyncio.get_running_loop()
        self._replies[reply] = loop.create_future()
        try:
            await reply.write(b"")
            while not (reply.closed or self.lost):
                if self._waiting and reply is next(reversed(self._replies)):
                    events = b"".join(map(self._event, self._waiting))
                    self._waiting.clear()
                    await reply.write(events)
                else:
                    self._replies[reply] = noticed = loop.create_future()
                    await noticed
        finally:
            del self._replies[reply]
            self._notice()

    def detach(self) -> None:
        """Let go of the replies whose clients have left. What is pushed waits for the next one."""
        self._notice()

    def lose(self) -> None:
        """End the stream for good."""
        super().lose()
        self._waiting.clear()
        self._notice()

    def _notice(self) -> None:
        for noticed in self._replies.values():
            if not noticed.done():
                noticed.set_result(None)
