"""The MCP endpoint as one ASGI callable, for both eras.

It mounts anywhere and needs no lifespan. Who may call is checked first, then what HTTP says of the body, then the
body; and the body alone decides the era: a request that carries its protocol version is modern.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

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
from splice.transports.http_stream import ASGIMessage, Receive, Reply, Scope, Send, written
from splice.transports.http_visits import Visit, Visits

MAX_BODY_BYTES = 4 * 1024 * 1024
"""The largest request body taken, unless told otherwise."""

DRAIN_SECONDS = 3.0
"""How long requests in flight may still run when the endpoint stops."""

PRINCIPAL = "splice.principal"
"""The key in the ASGI scope under which an authenticating middleware says who calls."""

_CLOSE = (b"connection", b"close")
_ALLOW = (b"allow", b"GET, POST, DELETE")
_ALLOW_POST = (b"allow", b"POST")


class _Meta(Struct):
    """What of `_meta` decides the era."""

    version: Any = field(default=UNSET, name=META_PROTOCOL_VERSION)
    capabilities: Raw | UnsetType = field(default=UNSET, name=META_CLIENT_CAPABILITIES)


class _Head(Struct):
    """What of a request's params HTTP headers repeat."""

    meta: _Meta | UnsetType = field(default=UNSET, name="_meta")
    name: Any = UNSET
    uri: Any = UNSET
    arguments: Raw | UnsetType = UNSET


_head_decoder = msgspec.json.Decoder(_Head)
_NO_HEAD = _Head()


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
            await self._serve(scope, visit)
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

    # The door.

    async def _serve(self, scope: Scope, visit: Visit) -> None:
        headers = Headers(scope["headers"])
        self._callers.check(headers)
        if self._stopping:
            raise Refusal(503, InternalError("The server is shutting down"), [(b"retry-after", b"1"), _CLOSE])
        if self._path is not None:
            self._check_path(scope)
        method, principal = scope["method"], scope.get(PRINCIPAL)
        if method == "POST":
            await self._post(headers, principal, visit)
            return
        if _names_modern(headers) or (self._legacy.stateless and method in ("GET", "DELETE")):
            raise Refusal(405, RPCError(f"{method} has no meaning here", code=INVALID_REQUEST), [_ALLOW_POST])
        if method == "GET":
            await self._legacy.get(visit, headers, principal)
        elif method == "DELETE":
            await self._legacy.delete(visit, headers, principal)
        else:
            raise Refusal(405, RPCError(f"{method} has no meaning here", code=INVALID_REQUEST), [_ALLOW])

    def _check_path(self, scope: Scope) -> None:
        path: str = scope["path"]
        path = path.removeprefix(scope.get("root_path", "")).rstrip("/") or "/"
        if path != self._path:
            raise Refusal(
                404, RPCError(f"There is nothing here; the MCP endpoint is {self._path}", code=INVALID_REQUEST)
            )

    async def _post(self, headers: Headers, principal: str | None, visit: Visit) -> None:
        if not is_json(headers.raw(b"content-type")):
            raise Refusal(415, RPCError(f"POST needs `Content-Type: {JSON}`, in UTF-8", code=INVALID_REQUEST))
        if headers.raw(b"content-encoding") not in (None, b"identity"):
            raise Refusal(415, RPCError("The body must not be compressed", code=INVALID_REQUEST))
        if not accepts(headers.raw(b"accept"), JSON, EVENT_STREAM):
            raise Refusal(406, RPCError(f"POST needs `Accept: {JSON}, {EVENT_STREAM}`", code=INVALID_REQUEST))
        body = await self._body(headers, visit)
        if is_batch(body):
            if _names_modern(headers):
                raise InvalidRequest("Invalid request: the protocol version has no batches; send one message")
            await self._legacy.post_batch(visit, headers, principal, body)
            return
        message = decode(body)
        if isinstance(message, Request):
            visit.id = message.id
            head = _head_of(message)
            if not isinstance(head.meta, UnsetType) and head.meta.version is not UNSET:
                await self._modern(
                    message, head, head.meta, Sender(kind="http", headers=headers, principal=principal), visit
                )
                return
        if _names_modern(headers):
            await self._modern_without_version(message, visit)
        else:
            await self._legacy.post(visit, headers, principal, message)

    async def _body(self, headers: Headers, visit: Visit) -> bytes:
        """Read the body, most often in one piece. Raises `Refusal` (413) before more than allowed is kept."""
        declared = headers.raw(b"content-length")
        if declared is not None and declared.isdigit() and int(declared[:18]) > self._max_body:
            await self._discard(visit, int(declared[:18]))
            raise self._too_large()
        visit.reading = True
        message = await visit.receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            body: bytes = message["body"]
            if len(body) > self._max_body:
                raise self._too_large()
        else:
            body = await self._gather(visit, message)
        visit.reading = False
        return body

    async def _gather(self, visit: Visit, message: ASGIMessage) -> bytes:
        """Read on, a body that comes in pieces."""
        parts: list[bytes] = []
        size = 0
        while message["type"] == "http.request":
            part: bytes = message.get("body", b"")
            parts.append(part)
            size += len(part)
            if size > self._max_body:
                await self._discard(visit, size)
                raise self._too_large()
            if not message.get("more_body"):
                return b"".join(parts)
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

    async def _modern(self, request: Request, head: _Head, meta: _Meta, sender: Sender, visit: Visit) -> None:
        """Check the headers against the body and let the service answer; the client's leaving cancels that."""
        version: Any = meta.version
        if not isinstance(version, str):
            raise InvalidParams(f"params._meta[{META_PROTOCOL_VERSION!r}] must be a string")
        if isinstance(meta.capabilities, UnsetType):
            raise InvalidParams(f"params._meta must carry {META_CLIENT_CAPABILITIES}")
        row = CLIENT_METHODS.get(request.method)
        name: Any = None if row is None or row.named_by is None else head.name if row.named_by == "name" else head.uri
        headers: Any = sender.headers
        check_standard_headers(headers, version, request.method, name if isinstance(name, str) else None)
        if row is TOOLS_CALL and isinstance(name, str) and version in MODERN_VERSIONS:
            designations = self._service.header_parameters(name)
            if designations:
                check_param_headers(designations, _arguments_of(head), headers)
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


def _head_of(request: Request) -> _Head:
    """Read what decides the era; params of an unreadable shape decide nothing."""
    try:
        return _NO_HEAD if isinstance(request.params, UnsetType) else _head_decoder.decode(request.params)
    except (msgspec.DecodeError, RecursionError):
        return _NO_HEAD


def _arguments_of(head: _Head) -> Any:
    return None if isinstance(head.arguments, UnsetType) else msgspec.json.decode(head.arguments)


async def _refuse(scope: Scope, reply: Reply, refusal: Refusal, id: RequestId | UnsetType) -> None:
    headers = [each for each in refusal.headers if each != _CLOSE or scope.get("http_version", "1.1").startswith("1")]
    await reply.refuse(refusal.status, encode(failure(id, refusal.error)), headers)


async def _finish_interrupted(visit: Visit) -> None:
    """Say the last word on a request whose work we stopped ourselves."""
    reply, why = visit.reply, visit.why
    if why == "slow":
        error = RPCError("The body did not arrive in time", code=INVALID_REQUEST)
        await reply.refuse(408, encode(failure(visit.id, error)), [_CLOSE])
    elif why == "stopping" and not isinstance(visit.id, UnsetType):
        await reply.respond(503, encode(failure(visit.id, InternalError("The server is shutting down"))))
    elif why != "gone":
        await reply.end()
