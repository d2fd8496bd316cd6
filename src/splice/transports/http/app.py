"""The MCP endpoint as one ASGI callable, for all protocol versions.

It mounts anywhere and needs no lifespan. Who may call is checked first, then what HTTP says of the body, then the
body. A request that names its own protocol version is answered by itself; everything else belongs to a session.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import asyncio
import logging
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Annotated, Any, TypeAlias, TypedDict, Unpack

from splice.errors import InternalError, InvalidParams, InvalidRequest, RPCError
from splice.protocol import jsonrpc, lifecycle, methods
from splice.rules import eras
from splice.rules.http import sse
from splice.rules.http.headers import Headers, check_standard_headers, named_version
from splice.rules.http.origins import Origins, Refusal, check_content, status_of
from splice.rules.options import Option, checked, option_table
from splice.transports import base, channel
from splice.transports.http import routes, sessions, sse_server, visits

MAX_BODY_BYTES = 4 * 1024 * 1024
"""The largest request body taken, unless told otherwise."""

DRAIN_SECONDS = 3.0
"""How long requests in flight may still run when the endpoint stops."""


PRINCIPAL = "splice.principal"
"""The key in the ASGI scope under which a request's `Principal` stands, put there by `auth` or by middleware."""


log = logging.getLogger("splice.transport")

Target: TypeAlias = routes.Route | sse_server.SSELeg | None
"""What a request is for; None: the endpoint itself."""

_listed = partial(Option, (list, tuple, set, frozenset))


class HTTPOptions(TypedDict, total=False):
    """How an endpoint differs from the default."""

    allowed_hosts: Annotated[Sequence[str] | None, _listed("a list of names, such as ['mcp.example.com']")]
    """Which Host headers are welcome, `name` or `name:port`; by default those of this machine."""
    allowed_origins: Annotated[Sequence[str] | None, _listed("a list of origins, such as ['https://example.com']")]
    """Which Origin headers are welcome, `scheme://host[:port]`; by default pages of the allowed hosts."""
    json_response: Annotated[bool, Option(bool, "True or False")]
    """Answer the requests of sessions with JSON only, never with a stream."""
    stateless: Annotated[bool, Option(bool, "True or False")]
    """Keep no sessions."""
    max_body: Annotated[int, Option(int, "a number of bytes, at least 1", lambda size: size > 0)]
    """The largest request body, in bytes."""
    path: Annotated[str | None, Option(str, "a path with its slash, such as '/mcp'", lambda path: path[:1] == "/")]
    """The one path that is served, from the root of the application on; None: any."""
    max_sessions: Annotated[int, Option(int, "a number, at least 1", lambda count: count > 0)]
    """How many sessions there may be. Of one principal, a tenth of them."""
    sse: Annotated[bool, Option(bool, "True or False")]
    """Serve HTTP+SSE, the transport of 2024-11-05, at `/sse`."""
    auth: Annotated[Any, Option(object, "an Auth of splice.auth", lambda auth: hasattr(auth, "admit"))]
    """Checks who calls: a `splice.auth.Auth`. By default the one that the server was given."""


class ListenOptions(HTTPOptions, total=False):
    """Options of an endpoint that listens on a port of its own."""

    host: Annotated[str, Option(str, "a name or address, such as '127.0.0.1'", lambda name: name and "/" not in name)]
    """The address to listen on, 127.0.0.1 by default. One beyond this machine needs `allowed_hosts`."""
    port: Annotated[int, Option(int, "a number up to 65535; 0 means any free one", lambda port: 0 <= port < 65536)]
    """The port to listen on, 8000 by default; 0 means any free one."""


HTTP_OPTIONS = option_table(HTTPOptions)
LISTEN_OPTIONS = option_table(ListenOptions)


class HTTPApp:
    """Serves a service at one HTTP path. The options are those of `HTTPOptions`."""

    def __init__(self, service: base.Service, **options: Unpack[HTTPOptions]) -> None:
        given = checked("HTTP", options, HTTP_OPTIONS)
        self._service = service
        self._origins = Origins(given.get("allowed_hosts"), given.get("allowed_origins"))
        self._max_body = given.get("max_body", MAX_BODY_BYTES)
        self._auth = given.get("auth", service.auth)
        if service.limited and self._auth is None:
            raise ValueError("a feature has scopes= or visible=, but nobody checks who calls: give auth=Auth(...)")
        path = given.get("path")
        self._path = None if path is None else path.rstrip("/") or "/"
        if self._path in service.routes:
            raise ValueError(f"path={path!r} is that of a route already: it would never be reached")
        self._visits = visits.Visits(self.stop)
        plain, stateless = given.get("json_response", False), given.get("stateless", False)
        limit = given.get("max_sessions", sessions.MAX_SESSIONS)
        self._leg = sessions.SessionLeg(service, limit, plain=plain, stateless=stateless)
        self._sse = sse_server.SSELeg(service, limit) if given.get("sse", False) else None
        if self._sse is not None and sse_server.SSE_PATH in (self._path, *service.routes):
            raise ValueError(f"sse=True takes {sse_server.SSE_PATH}, which the endpoint or a route has already")
        self._stopping: asyncio.Task[None] | None = None

    async def __call__(self, scope: visits.Scope, receive: visits.Receive, send: visits.Send) -> None:
        """Serve one HTTP request, as ASGI has it."""
        if scope["type"] != "http":
            await self._serve_other(scope, receive, send)
            return
        visit = self._visits.enter(scope, receive, send)
        try:
            with visit:
                headers = Headers(scope["headers"])
                route = self._check(scope, headers)
                if self._auth is not None and not (isinstance(route, routes.Route) and route.public):
                    scope[PRINCIPAL], visit.check = await self._auth.admit(scope, self._path)
                body = await self._receive(visit, headers)
                work = self._choose(route, body, headers, visit)
                del body, headers  # an open stream would keep them
                await work
        except Refusal as refusal:
            await visit.reply.refuse(refusal, visit.id)
        except RPCError as error:
            id = error.id if isinstance(error, jsonrpc.BadMessage) else visit.id
            await visit.reply.refuse(Refusal(error.status or status_of(error.code), error, error.headers), id)
        except asyncio.CancelledError:  # by the handler itself, or by a web server: the client is to hear of it
            await visit.reply.refuse(Refusal(200, InternalError("Internal error: the handler was cancelled")), visit.id)
            raise
        finally:
            self._visits.leave(visit)

    async def stop(self, drain_seconds: float = DRAIN_SECONDS) -> None:
        """Stop serving: streams end with their result, calls may finish for a while, the rest gets an error.

        To be called when the listener is told to stop, before it waits for its connections. Twice is fine. Below
        uvicorn it happens by itself while streams are open, but nobody waits for it.
        """
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_task(self._stop(drain_seconds))
        await asyncio.shield(self._stopping)

    async def _stop(self, drain_seconds: float) -> None:
        await self._service.drain()
        kept = self._leg.sessions
        for session in kept.all.values():
            session.stream.lose()
        if self._sse is not None:
            await self._sse.stop(drain_seconds)
        await self._visits.drain(drain_seconds)
        for session in list(kept.all.values()):
            kept.remove(session)
        await self._visits.background.close()
        await self._service.close()

    def _check(self, scope: visits.Scope, headers: Headers) -> Target:
        """Check what there is before the body. Raises `Refusal`."""
        self._origins.check(headers)
        if self._stopping is not None:
            raise visits.shutting_down()
        root: str = scope.get("root_path", "")
        found: Target = None
        if root or scope["path"] != self._path:
            path = scope["path"].removeprefix(root).rstrip("/") or "/"
            found = self._service.routes.get(path) or (self._sse if path == sse_server.SSE_PATH else None)
            if found is None and self._auth and (told := self._auth.document(path, self._path, self._service)):
                found = routes.Route(told, ["GET", "HEAD", "OPTIONS"], wants_request=False, public=True)
            if found is None and self._path not in (None, path):
                raise Refusal(404, InvalidRequest(f"There is nothing here; the MCP endpoint is {root}{self._path}"))
        if scope["method"] == "POST" and not isinstance(found, routes.Route):
            raw = headers.raw
            check_content(raw(b"content-type"), raw(b"content-encoding"), raw(b"accept"))
        return found

    async def _receive(self, visit: visits.Visit, headers: Headers) -> bytes:
        """Receive the body. Raises `Refusal` (413) when it is too large.

        One that declares itself far too large is not read, and one that waits for permission is not asked for; one
        that is somewhat too large is read to its end, so that the client gets to read why it was refused.
        """
        declared = headers.raw(b"content-length") or b""
        size = int(declared[:18]) if declared.isdigit() else 0
        if size > self._max_body and (size > 2 * self._max_body or headers.raw(b"expect") is not None):
            raise self._too_large()
        body: bytes | bytearray = b""
        size, more = 0, True
        while more and size <= 2 * self._max_body:
            message = await visit.receive()
            if message["type"] != "http.request":
                visit.reply.lose()
                raise InvalidRequest("The client left before it had sent the body")
            part, more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            if size == len(part):  # the first piece, which most often is the whole
                body = part
            elif size <= self._max_body:
                body = bytearray(body) if isinstance(body, bytes) else body
                body += part
        if size > self._max_body:
            raise self._too_large()
        return bytes(body)

    def _too_large(self) -> Refusal:
        return Refusal(413, InvalidRequest(f"The body is larger than {self._max_body} bytes"), [visits.CLOSE])

    def _choose(self, route: Target, body: bytes, headers: Headers, visit: visits.Visit) -> visits.Work:
        """Choose what answers a request. Raises `Refusal` and `RPCError`."""
        if isinstance(route, routes.Route):
            visit.state = "passing"
            return route.answer(visit.reply, headers, body, visit.receive)
        visit.state, scope = "answering", visit.reply.scope
        sender, method = base.Sender(kind="http", headers=headers, principal=scope.get(PRINCIPAL)), scope["method"]
        if route is not None:
            return route.answer(body, headers, sender, visit)
        if method == "POST":
            return self._post(body, headers, sender, visit)
        has_sessions = not (self._leg.stateless or self._is_alone(headers))
        legs = {"GET": self._leg.get, "DELETE": self._leg.delete} if has_sessions else {}
        if method in legs:
            return legs[method](headers, sender, visit)
        allow = b"GET, POST, DELETE" if legs else b"POST"
        raise Refusal(405, InvalidRequest(f"{method} has no meaning here"), [(b"allow", allow)])

    def _post(self, body: bytes, headers: Headers, sender: base.Sender, visit: visits.Visit) -> visits.Work:
        """Choose who answers a POST."""
        is_alone = self._is_alone(headers)
        if jsonrpc.is_batch(body):
            if is_alone:
                raise InvalidRequest("Invalid request: the protocol version has no batches; send one message")
            return self._leg.post_batch(body, headers, sender, visit)
        message = jsonrpc.decode(body)
        if isinstance(message, jsonrpc.Request):
            visit.id, spoken = message.id, self._service.protocols
            if not spoken.handshake and not eras.names_its_version(message.params):
                named_version(headers, spoken)
            if is_alone or (spoken.alone and eras.names_its_version(message.params)):
                return answer(self._service, message, sender, visit.reply)
        if not is_alone:
            return self._leg.post(message, headers, sender, visit)
        if not isinstance(message, jsonrpc.Notification):
            raise InvalidRequest("Invalid request: in this version a client is never asked, so it cannot answer")
        return visit.reply.accept()

    def _is_alone(self, headers: Headers) -> bool:
        """Tell whether a request belongs to no session: its header says so, or there are no others here."""
        spoken = self._service.protocols
        if not (spoken.handshake and spoken.alone):
            return not spoken.handshake
        return names_version_of_requests(headers.raw(b"mcp-protocol-version"))

    # What is not HTTP.

    async def _serve_other(self, scope: visits.Scope, receive: visits.Receive, send: visits.Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "lifespan":
            self._stopping = None
            while (await receive())["type"] == "lifespan.startup":
                try:
                    await self._service.open()
                except RuntimeError as error:
                    log.exception("the endpoint cannot start")
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                await send({"type": "lifespan.startup.complete"})
            await self.stop()
            await send({"type": "lifespan.shutdown.complete"})
        else:
            raise ValueError(f"cannot serve {scope['type']!r}")


class RequestExchange(base.Exchange):
    """A request that names its own version: one POST, which belongs to no session and ends with its reply.

    Notifications go on the stream that the reply becomes, and the client is never asked.
    """

    __slots__ = ("_reply",)

    def __init__(self, request: jsonrpc.Request, sender: base.Sender, reply: visits.Reply) -> None:
        self.request = request
        self.sender = sender
        self._reply = reply

    def confirm(self, version: str | None, row: methods.Method[Any, Any] | None, params: Any) -> None:
        """Compare the standard headers with the body. Raises `HeaderMismatch`, `InvalidParams` without a version."""
        if version is None:
            key = lifecycle.META_PROTOCOL_VERSION
            raise InvalidParams(f"params._meta must carry {key}, and MCP-Protocol-Version repeat it")
        headers: Any = self.sender.headers
        check_standard_headers(headers, version, self.request.method, None if row is None else row.name_in(params))

    def rest(self) -> None:
        """Let go of the body and the headers."""
        self.request.params = None
        self.sender.headers = {}
        if visits.CONNECTION in self._reply.scope:  # else somebody above us may still read them
            self._reply.scope["headers"].clear()

    async def notify(self, note: jsonrpc.Notification) -> None:
        """Send a notification, which makes the reply a stream."""
        await self._reply.write(sse.encode_event(jsonrpc.encode(note)))


@lru_cache(maxsize=16)
def names_version_of_requests(header: bytes | None) -> bool:
    """Tell whether an `MCP-Protocol-Version` header names a version in which requests belong to no session."""
    return header is not None and eras.is_version_of_requests(header.decode("latin-1").strip())


async def answer(service: base.Service, request: jsonrpc.Request, sender: base.Sender, reply: visits.Reply) -> None:
    """Let the service answer a request; its client's leaving cancels the work."""
    response = await service.handle(RequestExchange(request, sender, reply))
    status = 200 if isinstance(response, jsonrpc.Success) else status_of(response.error.code)
    reply.heed(response)
    await reply.respond(status, channel.written(response))
