"""The MCP endpoint as one ASGI callable, for both eras.

It mounts anywhere and needs no lifespan. Who may call is checked first, then what HTTP says of the body, then the
body; and the body alone decides the era: a request that carries its protocol version is modern.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import asyncio
from collections.abc import Sequence

import msgspec
from msgspec import UnsetType

from splice.errors import INVALID_REQUEST, InternalError, InvalidParams, InvalidRequest, RPCError
from splice.protocol.jsonrpc import (
    BadMessage,
    Message,
    Notification,
    Request,
    RequestId,
    Success,
    decode,
    encode,
    failure,
    is_batch,
)
from splice.protocol.lifecycle import META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION
from splice.protocol.methods import CLIENT_METHODS, TOOLS_CALL
from splice.protocol.versions import MODERN_VERSIONS
from splice.rules.callers import Callers
from splice.rules.heads import Head, head_of
from splice.rules.http import (
    EVENT_STREAM,
    JSON,
    Headers,
    Refusal,
    accepts,
    check_param_headers,
    check_standard_headers,
    is_json,
    status_of,
)
from splice.transports.base import Sender, Service
from splice.transports.http_exchanges import ModernExchange
from splice.transports.http_legacy import LegacyLeg
from splice.transports.http_sessions import MAX_SESSIONS
from splice.transports.http_stream import ASGIMessage, Receive, Reply, Scope, Send
from splice.transports.http_visits import Visit, Visits
from splice.transports.writing import written

MAX_BODY_BYTES = 4 * 1024 * 1024
"""The largest request body taken, unless told otherwise."""

DRAIN_SECONDS = 3.0
"""How long requests in flight may still run when the endpoint stops."""

PRINCIPAL = "splice.principal"
"""The key in the ASGI scope under which an authenticating middleware says who calls."""

_CLOSE = (b"connection", b"close")
_ALLOW = (b"allow", b"GET, POST, DELETE")
_ALLOW_POST = (b"allow", b"POST")


class HTTPApp:
    """Serves a service at one HTTP path.

    `allowed_hosts` and `allowed_origins` say which Host and Origin headers are welcome; by default only those of this
    machine. `path` limits the app to one path. `json_response` (never a stream) and `stateless` (no sessions) steer
    what legacy clients get. Everything with a limit has one: `max_body` bytes, `max_sessions`.
    """

    def __init__(
        self,
        service: Service,
        *,
        allowed_hosts: Sequence[str] | None = None,
        allowed_origins: Sequence[str] | None = None,
        json_response: bool = False,
        stateless: bool = False,
        max_body: int = MAX_BODY_BYTES,
        path: str | None = None,
        max_sessions: int = MAX_SESSIONS,
    ) -> None:
        self._service = service
        self._callers = Callers(allowed_hosts, allowed_origins)
        self._max_body = max_body
        self._path = None if path is None else "/" + path.strip("/")
        self._visits = Visits()
        self._legacy = LegacyLeg(
            service, self._visits, max_sessions=max_sessions, json_response=json_response, stateless=stateless
        )
        self._stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request, as ASGI has it."""
        if scope["type"] != "http":
            await self._serve_other(scope, receive, send)
            return
        reply = Reply(send)
        visit = self._visits.enter(receive, reply)
        try:
            headers = Headers(scope["headers"])
            self._callers.check(headers)
            if self._stopping or self._path is not None:
                self._check_door(scope)
            if scope["method"] == "POST":
                await self._post(headers, scope.get(PRINCIPAL), visit)
            else:
                await self._serve_legacy_method(scope, headers, visit)
        except Refusal as refusal:
            await _refuse(scope, reply, refusal, visit.id)
        except RPCError as error:
            id = error.id if isinstance(error, BadMessage) else visit.id
            await _refuse(scope, reply, Refusal(status_of(error.code, "modern"), error), id)
        except asyncio.CancelledError:
            if not visit.recover():
                raise
            await _finish_interrupted(visit)
        except OSError:
            reply.lose()
        finally:
            self._visits.leave(visit)

    async def stop(self, drain_seconds: float = DRAIN_SECONDS) -> None:
        """Stop serving: streams end with their result, calls may finish for a while, the rest gets an error.

        To be called when the listener is told to stop, before it waits for its connections. Twice is fine.
        """
        if not self._stopping:
            self._stopping = True
            await self._service.stop()
            self._legacy.end_streams()
            await self._visits.drain(drain_seconds)
            await self._legacy.close()
            await self._visits.background.close()
            await self._service.end()

    # The door.

    def _check_door(self, scope: Scope) -> None:
        if self._stopping:
            raise Refusal(503, InternalError("The server is shutting down"), [(b"retry-after", b"1"), _CLOSE])
        path: str = scope["path"]
        if (path.removeprefix(scope.get("root_path", "")).rstrip("/") or "/") != self._path:
            message = f"There is nothing here; the MCP endpoint is {self._path}"
            raise Refusal(404, RPCError(message, code=INVALID_REQUEST))

    async def _serve_legacy_method(self, scope: Scope, headers: Headers, visit: Visit) -> None:
        method, principal = scope["method"], scope.get(PRINCIPAL)
        only_post = _names_modern(headers) or self._legacy.stateless
        if method == "GET" and not only_post:
            await self._legacy.get(visit, headers, principal)
        elif method == "DELETE" and not only_post:
            await self._legacy.delete(visit, headers, principal)
        else:
            error = RPCError(f"{method} has no meaning here", code=INVALID_REQUEST)
            raise Refusal(405, error, [_ALLOW_POST if only_post else _ALLOW])

    async def _post(self, headers: Headers, principal: str | None, visit: Visit) -> None:
        if self._check_content(headers) > self._max_body:
            await self._refuse_length(headers, visit)
        visit.reading = True
        received = await visit.receive()
        body: bytes = received.get("body", b"")
        if received["type"] != "http.request" or received.get("more_body") or len(body) > self._max_body:
            body = await self._gather(visit, received)
        visit.reading = False
        if is_batch(body):
            if _names_modern(headers):
                raise InvalidRequest("Invalid request: the protocol version has no batches; send one message")
            await self._legacy.post_batch(visit, headers, principal, body)
            return
        message = decode(body)
        if isinstance(message, Request):
            visit.id = message.id
            head = head_of(message)
            if head.is_modern:
                await self._modern(message, head, headers, principal, visit)
                return
        if _names_modern(headers):
            await self._modern_without_version(message, visit)
        else:
            await self._legacy.post(visit, headers, principal, message)

    def _check_content(self, headers: Headers) -> int:
        """Check what the headers say of a body and its answer, and return the length they declare."""
        if not is_json(headers.raw(b"content-type")):
            raise Refusal(415, RPCError(f"POST needs `Content-Type: {JSON}`, in UTF-8", code=INVALID_REQUEST))
        if headers.raw(b"content-encoding") not in (None, b"identity"):
            raise Refusal(415, RPCError("The body must not be compressed", code=INVALID_REQUEST))
        if not accepts(headers.raw(b"accept"), JSON, EVENT_STREAM):
            raise Refusal(406, RPCError(f"POST needs `Accept: {JSON}, {EVENT_STREAM}`", code=INVALID_REQUEST))
        declared = headers.raw(b"content-length")
        return int(declared[:18]) if declared is not None and declared.isdigit() else 0

    async def _refuse_length(self, headers: Headers, visit: Visit) -> None:
        """Refuse a body that declares itself too large; one that waits for permission is not even asked for."""
        if headers.raw(b"expect") is None:
            await self._discard(visit, self._check_content(headers))
        raise self._too_large()

    async def _gather(self, visit: Visit, message: ASGIMessage) -> bytes:
        """Read on, a body that comes in pieces."""
        body = bytearray()
        while message["type"] == "http.request":
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._max_body:
                if more:
                    await self._discard(visit, len(body))
                raise self._too_large()
            if not more:
                return bytes(body)
            message = await visit.receive()
        visit.reply.lose()
        raise InvalidRequest("The client left before it had sent the body")

    async def _discard(self, visit: Visit, size: int) -> None:
        """Read a body that is somewhat too large to its end, so that the client gets to read why it was refused."""
        visit.reading = True
        left = 2 * self._max_body - size
        while left >= 0:
            message = await visit.receive()
            left -= len(message.get("body", b"")) + 1
            if not message.get("more_body"):
                break

    def _too_large(self) -> Refusal:
        error = RPCError(f"The body is larger than {self._max_body} bytes", code=INVALID_REQUEST)
        return Refusal(413, error, [_CLOSE])

    # The modern leg.

    async def _modern(
        self, request: Request, head: Head, headers: Headers, principal: str | None, visit: Visit
    ) -> None:
        """Check the headers against the body and let the service answer; the client's leaving cancels that."""
        version = head.meta.version
        if not isinstance(version, str):
            raise InvalidParams(f"params._meta[{META_PROTOCOL_VERSION!r}] must be a string")
        if isinstance(head.meta.capabilities, UnsetType):
            raise InvalidParams(f"params._meta must carry {META_CLIENT_CAPABILITIES}")
        row = CLIENT_METHODS.get(request.method)
        name = None if row is None else head.named(row.named_by)
        check_standard_headers(headers, version, request.method, name)
        if row is TOOLS_CALL and name is not None and version in MODERN_VERSIONS:
            designations = self._service.header_parameters(name)
            if designations:
                arguments = None if isinstance(head.arguments, UnsetType) else msgspec.json.decode(head.arguments)
                check_param_headers(designations, arguments, headers)
        sender = Sender(kind="http", headers=headers, principal=principal)
        visit.cancel_when_gone()
        response = await self._service.handle(ModernExchange(request, sender, visit.reply))
        visit.check()
        status = 200 if isinstance(response, Success) else status_of(response.error.code, "modern")
        await visit.reply.respond(status, written(response))

    async def _modern_without_version(self, message: Message, visit: Visit) -> None:
        """Answer what only its header calls modern: nothing but a notification may be so."""
        if isinstance(message, Notification):
            await visit.reply.accept()
        elif isinstance(message, Request):
            raise InvalidParams(f"params._meta must carry {META_PROTOCOL_VERSION}, as MCP-Protocol-Version says")
        else:
            raise InvalidRequest("Invalid request: a modern client is never asked, so it cannot answer")

    # What is not HTTP.

    async def _serve_other(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "lifespan":
            self._stopping = False
            while (await receive())["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            await self.stop()
            await send({"type": "lifespan.shutdown.complete"})
        else:
            raise ValueError(f"cannot serve {scope['type']!r}")


def _names_modern(headers: Headers) -> bool:
    version = headers.raw(b"mcp-protocol-version")
    return version is not None and version.decode("latin-1").strip() in MODERN_VERSIONS


async def _refuse(scope: Scope, reply: Reply, refusal: Refusal, id: RequestId | UnsetType) -> None:
    headers = [each for each in refusal.headers if each != _CLOSE or scope.get("http_version", "1.1").startswith("1")]
    await reply.respond(refusal.status, encode(failure(id, refusal.error)), headers)


async def _finish_interrupted(visit: Visit) -> None:
    """Say the last word on a request whose work we stopped ourselves."""
    reply, why = visit.reply, visit.why
    if why == "slow":
        error = RPCError("The body did not arrive in time", code=INVALID_REQUEST)
        await reply.respond(408, encode(failure(visit.id, error)), [_CLOSE])
    elif why == "stopping" and not (reply.streaming and isinstance(visit.id, UnsetType)):
        await reply.respond(503, encode(failure(visit.id, InternalError("The server is shutting down"))))
    elif why != "gone":
        await reply.end()
