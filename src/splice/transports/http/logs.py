"""Logs: the events of a stream, kept in a store for a client whose connection breaks.

A log begins with the first event of its stream, so a reply that is plain JSON has none. Its first entry names the
session and the requests it answers; an event id is the name of the log and the number of the entry. Who is not of
that session learns nothing of the log, not even that there is one.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

import asyncio
import os
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from splice.errors import InternalError, InvalidRequest
from splice.protocol.jsonrpc import RequestId, encode, failure
from splice.rules.http.origins import Refusal
from splice.rules.http.sse import encode_event
from splice.stores import base, memory
from splice.transports import tasks

KEEP_SECONDS = 300.0
"""How long a log lives after its last event."""

OPEN_SECONDS = 3600.0
"""How long one lives that waits for an answer and has been silent."""

MAX_EVENTS = 20_000
MAX_BYTES = 32 * 1024 * 1024
"""How much is kept in memory, of all streams of an endpoint. The log that was longest without an event goes first."""

PAGE = 32
"""How many events are read at a time."""

MORE, LAST = b"+", b"."
"""Stand before each message: whether more will follow."""

_EVENT_ID = re.compile(r"(g?)([0-9a-f]{24})-([0-9]{1,9})")
_head = msgspec.json.Decoder(tuple[str, list[RequestId]])


class Logs:
    """The logs of one endpoint."""

    def __init__(self, store: base.Store | None) -> None:
        self.store = store or memory.MemoryStore(max_items=MAX_EVENTS, max_bytes=MAX_BYTES)
        self.live: dict[str, Any] = {}
        """The streams that are being written and have a log, by its name."""
        self.lock = asyncio.Lock()
        """Held by who writes to the log of a session's own stream: there may be two, while one takes over."""
        self.has_failed = False

    async def find(self, session: str, event_id: str | None) -> "Log":
        """Find the log of an event, with its cursor there; without an id, make one. Raises `Refusal`.

        In the place of one of the session's own streams that is gone stands a new one: a client that was away for too
        long would otherwise not hear of anything any more.
        """
        found = Log(self, session)
        parts = None if event_id is None else _EVENT_ID.fullmatch(event_id)
        if parts is not None:
            found.name, number = parts[1] + parts[2], int(parts[3])
            entries = [*await found.read(0, 1), *await found.read(number - 1, 1)]
            if [index for index, _ in entries] == [1, number]:
                owner, found.requests = _head.decode(entries[0][1])
                found.cursor = number
                if owner == session:
                    return found
        if event_id is None or (parts is not None and parts[1]):
            return Log(self, session)
        raise _unknown()


class Log(msgspec.Struct, eq=False):
    """The events of one stream. Without `requests` it is one of a session's own."""

    logs: Logs
    session: str
    requests: Sequence[RequestId] = ()
    """Which requests the stream answers."""
    name: str = ""
    """Empty until it begins."""
    cursor: int = 0
    """The number of the last entry."""
    stream: Any = None
    """The `EventStream` that writes it, which is to be found among the live ones from the beginning to the end."""

    async def begin(self) -> str:
        """Begin the log, unless that was done. Returns the id of its first entry."""
        if not self.cursor:
            self.name = ("" if self.requests else "g") + os.urandom(12).hex()
            if self.stream is not None:
                self.logs.live[self.name] = self.stream
            await self._append(msgspec.json.encode((self.session, self.requests)))
        return f"{self.name}-1"

    async def keep(self, message: bytes, flag: bytes = MORE) -> str | None:
        """Keep an event and return its id. None: the store fails, so that this event cannot be replayed."""
        await self.begin()
        return await self._append(flag + message)

    def end(self) -> None:
        """Note that nobody writes it any more."""
        self.logs.live.pop(self.name, None)

    async def _append(self, value: bytes) -> str | None:
        self.cursor += 1
        id = f"{self.name}-{self.cursor}"
        seconds = OPEN_SECONDS if self.requests and not value.startswith(LAST) else KEEP_SECONDS
        try:
            await self.logs.store.append(f"stream:{self.name}", self.cursor, value, ttl=seconds)
        except base.StoreError as error:
            if not self.logs.has_failed:
                self.logs.has_failed = True
                tasks.log.warning("events cannot be replayed to clients whose connection breaks: %s", error)
            return None
        return id

    async def read(self, after: int, limit: int = PAGE) -> list[tuple[int, bytes]]:
        """Read entries behind `after`. Raises `Refusal` when the store fails."""
        try:
            return await self.logs.store.read(f"stream:{self.name}", after, limit)
        except base.StoreError as error:
            tasks.log.warning("events cannot be replayed: %s", error)
            raise Refusal(503, InternalError("Events cannot be replayed at present; try again later")) from None

    async def events(self, after: int) -> list[tuple[int, bytes]]:
        """Read events behind `after`. Raises `Refusal` when they are not all there any more."""
        entries = await self.read(after)
        if any(index != number for number, (index, _) in enumerate(entries, after + 1)):
            raise _unknown()
        return entries

    def encoded(self, entries: list[tuple[int, bytes]]) -> bytes:
        """Write entries as events."""
        return b"".join(encode_event(value[1:], id=f"{self.name}-{n}") for n, value in entries if value != LAST)

    async def farewell(self, after: int) -> bytes:
        """Write what to say at the end of a log that nobody writes: if the last event lacks, an error in its place."""
        if any(value.startswith(LAST) for _, value in await self.read(after - 1, 1)):
            return b""
        error = InternalError("Internal error: the answer to this request was lost; send it again")
        return b"".join(encode_event(encode(failure(id, error))) for id in self.requests)


def _unknown() -> Refusal:
    return Refusal(400, InvalidRequest("Last-Event-ID names no event that can be replayed: it is unknown or too old"))
