"""A client's way to a server over Streamable HTTP, in either era.

Each message is a POST of its own; the response is JSON, or a stream of events that ends with the response. What
the legacy era adds lives here too, and wakes up with `initialize`: the session id, the version header, a GET stream
for what concerns no request, requests of the server's to be answered, DELETE at the end.

Modern requests bring all their headers along. Redirects are followed only within the origin and only if they keep
the method, so that no header meant for this server reaches another.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct, UnsetType

from splice.errors import ConnectionClosed, MCPError, RemoteProtocolError
from splice.protocol.jsonrpc import (
    MAX_MESSAGE_BYTES,
    BadMessage,
    ErrorObject,
    Failure,
    Notification,
    Request,
    RequestId,
    Response,
    Success,
    decode,
    encode,
    raw,
)
from splice.protocol.methods import CANCELLED, INITIALIZE, INITIALIZED
from splice.protocol.notifications import CancelledParams
from splice.protocol.versions import FACTS
from splice.rules.http import EVENT_STREAM, JSON, LAST_EVENT_ID_HEADER, PROTOCOL_VERSION_HEADER, SESSION_HEADER
from splice.rules.negotiation import version_settled_by
from splice.rules.sse import Decoder
from splice.transports.background import Background
from splice.transports.base import Answer, Heard, no_notice, no_request
from splice.transports.finishing import finish
from splice.transports.http_client import HTTPClient, Reply, check_url, within_origin
from splice.transports.interrupting import Interruptible
from splice.transports.refusals import HTTPRefused, SessionLost

STREAM_SECONDS = 0.5
"""How long to wait for the server to open the GET stream: what it sends there before would be lost."""

FAREWELL_SECONDS = 2.0
"""How long the DELETE that ends a session may take."""

RECONNECT_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""How long to wait before each attempt to restore a stream, unless the server says. After the last, it is given up."""

MAX_REDIRECTS = 5

_SHOWN_BYTES = 200
_ERROR_BYTES = 1024 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_METHOD_KEPT = frozenset({307, 308})
_ONLY_STATUS_COUNTS = frozenset({401, 403})
_TO_POST = {"Content-Type": JSON, "Accept": f"{JSON}, {EVENT_STREAM}"}

T = TypeVar("T")
log = logging.getLogger("splice.client")


class HTTPLink:
    """The way to a server behind a URL. `headers` go out with every request."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        check_url(url)
        self.on_request: Answer = no_request
        self.on_notice: Heard = no_notice
        self.name = url
        self._url = url
        self._http = HTTPClient(headers or {})
        self._legacy: dict[str, str] = {}
        self._session: str | None = None
        self._is_legacy = False
        self._running: set[Interruptible] = set()
        self._answering: dict[RequestId, asyncio.Task[None]] = {}
        self._background = Background()
        self._stream: asyncio.Task[None] | None = None
        self._listening = asyncio.Event()
        self._closing: asyncio.Task[None] | None = None

    # The link.

    async def exchange(self, request: Request, heard: Heard, headers: Mapping[str, str]) -> Response:
        """POST a request and wait for its response; `headers` are those of a modern request.

        Raises `ConnectionClosed`, `SessionLost`, `HTTPRefused` and `RemoteProtocolError`.
        """
        session = self._session

        async def take(reply: Reply) -> Response:
            if reply.status != 200:
                return await self._failed(reply, session, request)
            return await self._response(reply, request, heard)

        with self._interruptible():
            try:
                return await self._post(encode(request), headers, take)
            except asyncio.CancelledError:
                self._abandon(request)
                raise

    async def notify(self, note: Notification) -> None:
        """POST a notification. Raises as `exchange` does."""
        with self._interruptible():
            await self._post(encode(note), {}, self._accepted)
        if note.method == INITIALIZED.name and self._stream is None:
            self._listening.clear()
            self._stream = self._background.start(self._listen())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STREAM_SECONDS):
                    await self._listening.wait()

    async def close(self) -> None:
        """End the session and let go of all connections, even while being cancelled."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._shut_down())
        await finish(self._closing)

    def _interruptible(self) -> Interruptible:
        if self._closing is not None:
            raise ConnectionClosed(f"The connection to {self.name} is closed")
        return Interruptible(self._running, self.name)

    def _abandon(self, request: Request) -> None:
        """Tell a legacy server that nobody waits any more; to a modern one the closed connection says it."""
        if self._is_legacy and self._closing is None and request.method != INITIALIZE.name:
            note = Notification(CANCELLED.name, raw(CancelledParams(request_id=request.id)))
            self._background.start(self._send_quietly(encode(note)))

    async def _shut_down(self) -> None:
        for running in tuple(self._running):
            running.interrupt()
        await self._background.close()
        if self._session is not None:
            with contextlib.suppress(MCPError, TimeoutError):
                async with (
                    asyncio.timeout(FAREWELL_SECONDS),
                    self._http.send("DELETE", self._url, self._legacy),
                ):
                    pass
        await self._http.close()

    # POST.

    async def _post(self, body: bytes, headers: Mapping[str, str], take: Callable[[Reply], Awaitable[T]]) -> T:
        url = self._url
        for _ in range(MAX_REDIRECTS):
            async with self._http.send("POST", url, {**_TO_POST, **self._legacy, **headers}, body) as reply:
                if reply.status not in _REDIRECTS:
                    return await take(reply)
                url = self._redirected(url, reply)
        raise RemoteProtocolError(f"{self.name} redirects without end")

    def _redirected(self, url: str, reply: Reply) -> str:
        location = reply.header("location") or ""
        target = within_origin(url, location) if reply.status in _METHOD_KEPT else None
        if target is None:
            raise HTTPRefused(
                f"{self.name} redirects to {location!r} with status {reply.status}, which is not followed: "
                "only 307 and 308 within the same origin are",
                reply.status,
            )
        return target

    async def _response(self, reply: Reply, request: Request, heard: Heard) -> Response:
        media = reply.media_type
        if media == JSON:
            response = self._decoded(await reply.body(MAX_MESSAGE_BYTES), request)
        elif media == EVENT_STREAM:
            response = await self._stream_to_the_end(reply, request, heard)
        else:
            raise HTTPRefused(f"{self.name} answered with content type {media!r}", reply.status)
        if request.method == INITIALIZE.name:
            self._settle(response, reply.header(SESSION_HEADER))
        return response

    def _decoded(self, body: bytes, request: Request) -> Response:
        try:
            message = decode(body)
        except BadMessage as bad:
            raise RemoteProtocolError(f"{self.name} answered with what is no message: {bad.message}") from bad
        if isinstance(message, (Success, Failure)) and (message.id == request.id or isinstance(message.id, UnsetType)):
            return message
        raise RemoteProtocolError(f"{self.name} answered with a message that is not the response to this request")

    async def _failed(self, reply: Reply, session: str | None, request: Request | None) -> Failure:
        """Read an error: a response if there is one in the body. `session` is the one the request belonged to.

        Raises `SessionLost` and `HTTPRefused`.
        """
        status = reply.status
        body = await reply.start(_ERROR_BYTES)
        if status == 404 and session is not None:
            if session == self._session:
                self._forget_session()
            raise SessionLost(f"{self.name} does not know the session any more")
        error = None if status in _ONLY_STATUS_COUNTS or request is None else _error_in(body)
        response = None if error is None or request is None else Failure(error, request.id)
        if response is not None and 400 <= status < 500:
            return response
        text = body[:_SHOWN_BYTES].decode(errors="replace").strip()
        raise HTTPRefused(f"{self.name} answered HTTP {status}" + (f": {text}" if text else ""), status, response)

    async def _accepted(self, reply: Reply) -> None:
        if not 200 <= reply.status < 300:
            await self._failed(reply, self._session, None)

    def _settle(self, response: Response, session: str | None) -> None:
        """Note what a handshake has settled: it is what every later request repeats."""
        version = version_settled_by(response)
        if version is None:
            return
        self._is_legacy = True
        facts = FACTS[version]
        self._legacy = {PROTOCOL_VERSION_HEADER: version} if facts.version_header else {}
        if session:
            self._session = session
            self._legacy[SESSION_HEADER] = session

    def _forget_session(self) -> None:
        self._session = None
        self._legacy = {}
        if self._stream is not None:
            self._stream.cancel()
            self._stream = None

    # Streams of events.

    async def _stream_to_the_end(self, reply: Reply, request: Request, heard: Heard) -> Response:
        """Follow the stream of a request to its response, over broken connections where the server allows it."""
        cursor = _Cursor()
        why: ConnectionClosed | None = None
        try:
            response = await self._follow(reply, cursor, heard, request.id)
        except ConnectionClosed as error:
            response, why = None, error
        if response is None and self._is_legacy and cursor.last_event_id:
            await asyncio.sleep(cursor.wait(0))
            response = await self._resume(cursor, heard, request.id)
        if response is None:
            raise ConnectionClosed(f"{self.name} ended the stream before the response") from why
        return response

    async def _resume(self, cursor: "_Cursor", heard: Heard, id: RequestId | None) -> Response | None:
        """GET a stream, again whenever it breaks; None when the server has none or stays away. Legacy only."""
        failures = 0
        while failures < len(RECONNECT_SECONDS):
            with contextlib.suppress(ConnectionClosed):
                async with self._http.send("GET", self._url, {**self._legacy, **cursor.headers()}) as reply:
                    self._listening.set()
                    if reply.status == 200 and reply.media_type == EVENT_STREAM:
                        failures = 0
                        response = await self._follow(reply, cursor, heard, id)
                        if response is not None:
                            return response
                    elif reply.status < 500:
                        return None
            await asyncio.sleep(cursor.wait(failures))
            failures += 1
        return None

    async def _follow(self, reply: Reply, cursor: "_Cursor", heard: Heard, id: RequestId | None) -> Response | None:
        """Act on each event; return the response to `id`, or None at the end of the stream."""
        decoder = Decoder()
        while (chunk := await reply.chunk()) is not None:
            for event in decoder.feed(chunk):
                cursor.last_event_id = event.id or cursor.last_event_id
                cursor.retry = decoder.retry or cursor.retry
                if event.data and event.event == "message":
                    response = await self._heed(event.data, heard, id)
                    if response is not None:
                        return response
        return None

    async def _heed(self, data: bytes, heard: Heard, id: RequestId | None) -> Response | None:
        try:
            message = decode(data)
        except BadMessage as bad:
            log.warning("%s sent an event that is no message, skipped: %s", self.name, bad.message)
            return None
        if isinstance(message, Notification):
            await (self._stop_answering(message) if message.method == CANCELLED.name else heard(message))
        elif isinstance(message, Request):
            self._begin_to_answer(message)
        elif id is not None and message.id == id:
            return message
        else:
            log.debug("ignored a response nobody waits for: id %r", message.id)
        return None

    async def _listen(self) -> None:
        """Keep the GET stream open, if the server has one."""
        try:
            await self._resume(_Cursor(), self.on_notice, None)
        finally:
            self._listening.set()

    # What a legacy server asks.

    def _begin_to_answer(self, request: Request) -> None:
        if not self._is_legacy or request.id in self._answering:
            log.warning("%s sent a request where it may not, skipped: %s", self.name, request.method)
            return
        task = self._background.start(self._answer(request))
        self._answering[request.id] = task
        task.add_done_callback(lambda _: self._answering.pop(request.id, None))

    async def _answer(self, request: Request) -> None:
        await self._send_quietly(encode(await self.on_request(request)))

    async def _stop_answering(self, note: Notification) -> None:
        try:
            id = CANCELLED.params_decoder.decode(note.params).request_id
        except (msgspec.DecodeError, TypeError):
            return
        if not isinstance(id, UnsetType) and id in self._answering:
            self._answering.pop(id).cancel()

    async def _send_quietly(self, body: bytes) -> None:
        """POST what nobody waits for."""
        try:
            await self._post(body, {}, self._accepted)
        except MCPError as error:
            log.warning("could not send a message to %s: %s", self.name, error)


class _Cursor(Struct):
    """Where a stream that broke goes on."""

    last_event_id: str = ""
    retry: int | None = None
    """How many milliseconds the server asks to wait."""

    def headers(self) -> dict[str, str]:
        """Tell the server where to go on."""
        accept = {"Accept": EVENT_STREAM}
        return {**accept, LAST_EVENT_ID_HEADER: self.last_event_id} if self.last_event_id else accept

    def wait(self, failures: int) -> float:
        """Tell how many seconds to wait before the next attempt."""
        return RECONNECT_SECONDS[failures] if self.retry is None else self.retry / 1000


class _ErrorBody(Struct):
    """An error response as servers write it for HTTP, often with a null id."""

    error: ErrorObject


_error_decoder = msgspec.json.Decoder(_ErrorBody)


def _error_in(body: bytes) -> ErrorObject | None:
    try:
        return _error_decoder.decode(body).error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
