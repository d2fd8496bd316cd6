"""The reply to one HTTP request, committed late.

Nothing is sent until there is something to say. If that is the response, it leaves as one JSON body with the status
that fits; if it is a notification or a question, the reply becomes an event stream, and the response its last event.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, TypeAlias

from splice.rules.sse import encode_event

ASGIMessage: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[ASGIMessage]]
Send: TypeAlias = Callable[[ASGIMessage], Awaitable[None]]
HeaderList: TypeAlias = Sequence[tuple[bytes, bytes]]

_JSON_TYPE = (b"content-type", b"application/json")
_STREAM_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)

log = logging.getLogger("splice.transport")


class Reply:
    """What is sent back on one HTTP request. Once it is closed, everything more is dropped in silence."""

    streaming = False
    """The status is sent, and events may follow."""
    closed = False
    """No more may be sent: the reply is complete, or the client is gone."""
    lost = False
    """The client is gone; not even what was about to be sent may be sent."""
    quiet = False
    """Nothing was sent since the keep-alive clock looked last."""
    headers: HeaderList = ()
    """Headers to send whatever the reply turns out to be."""
    on_stream: Callable[[], None] | None = None
    """Told once, when the reply becomes a stream."""
    _lock: asyncio.Lock | None = None

    def __init__(self, send: Send) -> None:
        self._send = send

    async def respond(self, status: int, body: bytes, headers: HeaderList = ()) -> None:
        """Send the response and end: a JSON body with this status, or the last event if the stream has begun."""
        if self.closed:
            return
        if self._lock is not None and await self._began():
            await self._put({"type": "http.response.body", "body": encode_event(body)})
            return
        self.closed = True
        length = (b"content-length", b"%d" % len(body))
        fields = [_JSON_TYPE, length, *self.headers, *headers]
        await self._send({"type": "http.response.start", "status": status, "headers": fields})
        await self._send({"type": "http.response.body", "body": body})

    async def _began(self) -> bool:
        """Let what is being sent be sent, and nothing after it; tell whether the stream has begun."""
        self.closed = True
        async with self._lock or asyncio.Lock():
            return self.streaming

    async def accept(self, status: int = 202) -> None:
        """End without a body."""
        if not self.closed:
            self.closed = True
            await self._send({"type": "http.response.start", "status": status, "headers": list(self.headers)})
            await self._send({"type": "http.response.body", "body": b""})

    async def event(self, data: bytes) -> None:
        """Send one message as an event; the first one makes the reply a stream."""
        await self.write(encode_event(data))

    async def write(self, chunk: bytes) -> None:
        """Send encoded events, waiting while the client does not read. An empty chunk begins the stream, no more."""
        if self.closed:
            return
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            await self._begin()
            if chunk:
                await self._put({"type": "http.response.body", "body": chunk, "more_body": True})
        self.quiet = False

    @property
    def busy(self) -> bool:
        """Something is being sent right now, or waits for the client to read."""
        return self._lock is not None and self._lock.locked()

    async def end(self) -> None:
        """End the stream here, beginning it if need be: there will be no response."""
        if self.closed:
            return
        self.closed = True
        async with self._lock or asyncio.Lock():
            await self._begin()
            await self._put({"type": "http.response.body", "body": b""})

    def lose(self) -> None:
        """Note that the client is gone."""
        self.closed = self.lost = True

    async def _begin(self) -> None:
        if not self.streaming:
            headers = [*_STREAM_HEADERS, *self.headers]
            await self._put({"type": "http.response.start", "status": 200, "headers": headers})
            self.streaming = True
            if self.on_stream is not None:
                self.on_stream()

    async def _put(self, message: ASGIMessage) -> None:
        """Send, and take it as the end if the client is gone: a handler that notifies must not fail of it."""
        try:
            if not self.lost:
                await self._send(message)
        except OSError:
            self.lose()
