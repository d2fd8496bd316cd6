"""Reply: one HTTP response, committed late.

Nothing is sent until there is something to say. A response that comes first leaves as one JSON body with the status
that fits; a notification or a question that comes first makes the reply an event stream, and the response its last
event.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, TypeAlias

from splice.protocol.jsonrpc import RequestId, encode, failure
from splice.rules.http.sse import encode_event
from splice.rules.http.status import Refusal

ASGIMessage: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[ASGIMessage]]
Send: TypeAlias = Callable[[ASGIMessage], Awaitable[None]]
HeaderList: TypeAlias = Sequence[tuple[bytes, bytes]]

CONNECTION = "splice.connection"
"""The key in the ASGI scope under which our own listener puts the `Connection`."""

CLOSE = (b"connection", b"close")
"""Goes with a refusal after which the rest of the body is not read. HTTP/2 has no such header."""

_JSON_TYPE = (b"content-type", b"application/json")
_STREAM_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)


class Reply:
    """The response to one HTTP request. Once it is closed, everything more is dropped in silence."""

    __slots__ = ("_lock", "_send", "closed", "headers", "lost", "quiet", "scope", "streaming")

    def __init__(self, scope: Scope, send: Send) -> None:
        self.scope = scope
        """The ASGI scope of the request."""
        self._send = send
        self._lock: asyncio.Lock | None = None
        self.streaming = False
        """The head of an event stream is sent, and events may follow."""
        self.closed = False
        """No more may be sent: the reply is complete, or the client is gone."""
        self.lost = False
        """The client is gone: what waits to be sent is dropped too."""
        self.quiet = False
        """Nothing was sent since the keep-alive clock looked last."""
        self.headers: HeaderList = ()
        """Headers to send whatever the reply turns out to be."""

    async def respond(self, status: int, body: bytes, headers: HeaderList = (), *, event_id: str | None = None) -> None:
        """Send the response and end: a JSON body with this status, or the last event if the stream has begun."""
        if self.closed:
            return
        self.closed = True
        if self._lock is not None:
            async with self._lock:  # what is being sent comes first
                if self.streaming:
                    await self._put({"type": "http.response.body", "body": encode_event(body, id=event_id)})
                    return
        fields = [_JSON_TYPE, (b"content-length", b"%d" % len(body)), *self.headers, *headers]
        try:
            await self._send({"type": "http.response.start", "status": status, "headers": fields})
            await self._send({"type": "http.response.body", "body": body})
        except OSError:
            self.lose()

    async def refuse(self, refusal: Refusal, id: RequestId | None) -> None:
        """Send an error and end."""
        is_http_1 = self.scope.get("http_version", "1.1").startswith("1")
        headers = [each for each in refusal.headers if each != CLOSE or is_http_1]
        await self.respond(refusal.status, encode(failure(id, refusal.error)), headers)

    async def accept(self, status: int = 202) -> None:
        """End without a body."""
        if not self.closed:
            self.closed = True
            await self._put({"type": "http.response.start", "status": status, "headers": list(self.headers)})
            await self._put({"type": "http.response.body", "body": b""})

    async def write(self, chunk: bytes) -> None:
        """Send encoded events, waiting while the client does not read. The first write makes the reply a stream."""
        if self.closed:
            return
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            await self._begin()
            if chunk:
                await self._put({"type": "http.response.body", "body": chunk, "more_body": True})
        self.quiet = False

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

    def forget_request(self) -> None:
        """Let go of the request's headers, where nobody else is interested in them."""
        if CONNECTION in self.scope:
            self.scope["headers"].clear()

    @property
    def busy(self) -> bool:
        """Something is being sent right now, or waits for the client to read."""
        return self._lock is not None and self._lock.locked()

    async def _begin(self) -> None:
        if not self.streaming:
            headers = [*_STREAM_HEADERS, *self.headers]
            await self._put({"type": "http.response.start", "status": 200, "headers": headers})
            self.streaming = True

    async def _put(self, message: ASGIMessage) -> None:
        """Send; a client that is gone is no failure of the handler that notifies it."""
        try:
            if not self.lost:
                await self._send(message)
        except OSError:
            self.lose()
