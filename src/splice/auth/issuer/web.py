"""The little HTTP that an authorization server needs: routes by whole path, forms, cookies, JSON, redirects.

It is an ASGI application without a framework: there are a dozen fixed paths and no uploads. Bodies are bounded in size
and time, parameters in number, and a parameter that is given twice is refused (RFC 6749 section 3.1).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from splice.auth.issuer.refused import Refused
from splice.stores.base import Conflict, StoreError

Receive: TypeAlias = Callable[[], Awaitable[Any]]
Send: TypeAlias = Callable[[Any], Awaitable[None]]
App: TypeAlias = Callable[[Any, Receive, Send], Awaitable[None]]

MAX_BODY_BYTES = 64 * 1024
"""The largest body of a request. One more byte: 413."""

MAX_QUERY_BYTES = 16 * 1024
"""The longest query. One more byte: 414."""

MAX_PARAMETERS = 50
"""How many parameters a query or a form may have."""

BODY_SECONDS = 10.0
"""How long a body may take to arrive. Longer: 408."""

OPEN = (
    ("access-control-allow-origin", "*"),
    ("access-control-allow-headers", "authorization, content-type, dpop, mcp-protocol-version"),
    ("access-control-allow-methods", "GET, POST, OPTIONS"),
    ("access-control-expose-headers", "dpop-nonce, www-authenticate"),
)
"""Lets programs in any browser page use an endpoint. Such endpoints take no cookies, so this gives nothing away."""

_log = logging.getLogger("splice.auth.issuer")


class Request(Struct, frozen=True):
    """An HTTP request, read as a whole."""

    method: str
    path: str
    query: str
    headers: Mapping[str, tuple[str, ...]]
    """Names in lower case."""
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the value of a header. Raises `Refused` if it is given twice."""
        values = self.headers.get(name, ())
        if len(values) > 1:
            raise Refused("invalid_request", f"The header {name} is given twice")
        return values[0] if values else None

    def parameters(self) -> dict[str, str]:
        """Return the parameters of the query. Raises `Refused`."""
        return _pairs(self.query)

    def form(self) -> dict[str, str]:
        """Return the parameters of a form in the body. Raises `Refused`."""
        kind = (self.header("content-type") or "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            raise Refused("invalid_request", "The body must be application/x-www-form-urlencoded")
        try:
            return _pairs(self.body.decode("ascii"))
        except UnicodeDecodeError:
            raise Refused("invalid_request", "The body is not a form: it has bytes that are not ASCII") from None

    def json(self) -> dict[str, Any]:
        """Return the members of a JSON object in the body. Raises `Refused`."""
        try:
            return msgspec.json.decode(self.body, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise Refused("invalid_request", "The body must be a JSON object") from None

    def cookie(self, name: str) -> str | None:
        """Return the value of a cookie; of several with the name, none: somebody has planted one."""
        pairs = (pair.strip().partition("=") for line in self.headers.get("cookie", ()) for pair in line.split(";"))
        found = [value for key, _, value in pairs if key == name]
        return found[0] if len(found) == 1 else None


class Answer(Struct, frozen=True):
    """An HTTP response. Every one forbids caches to keep it, unless its headers say otherwise."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


Handler: TypeAlias = Callable[[Request], Awaitable[Answer]]


def as_json(value: Any, *, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> Answer:
    """Answer with JSON."""
    return Answer(status, msgspec.json.encode(value), (("content-type", "application/json"), *headers))


def redirect(url: str, *, headers: Iterable[tuple[str, str]] = ()) -> Answer:
    """Send the browser elsewhere, by GET."""
    return Answer(303, b"", (("location", url), ("referrer-policy", "no-referrer"), *headers))


def told(refused: Refused) -> Answer:
    """Answer with the JSON of an OAuth error."""
    members = {"error": refused.code, "error_description": refused.description}
    return as_json(members, status=refused.status, headers=refused.headers)


class Route(Struct, frozen=True):
    """What answers at a path: a handler for each method, and whether pages of other origins may read the answer."""

    handlers: Mapping[str, Handler]
    is_open: bool = False


class Site:
    """Routes as an ASGI application. What has another path goes to `beside`, else it is answered 404.

    `routes` is asked for each request, and raises `StoreError` while there are none. `close` is awaited when the
    lifespan ends. Only a request whose Host satisfies `is_host` is answered.
    """

    def __init__(
        self,
        routes: Callable[[], Awaitable[Mapping[str, Route]]],
        close: Callable[[], Awaitable[None]],
        *,
        is_host: Callable[[str], bool],
        beside: App | None = None,
    ) -> None:
        self._routes = routes
        self._close = close
        self._is_host = is_host
        self._beside = beside

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve as an ASGI application."""
        match scope["type"]:
            case "lifespan" if self._beside is None:
                await self._live(receive, send)
            case "lifespan":
                await self._pass_on(scope, receive, send)
                await self._close()
            case "http":
                await self._serve(scope, receive, send)
            case _:
                await self._pass_on(scope, receive, send)

    async def _serve(self, scope: Any, receive: Receive, send: Send) -> None:
        try:
            route = (await self._routes()).get(scope["path"])
        except StoreError as error:
            await _send(_without_store(scope, error), send)
            return
        if route is not None:
            answer = await self._answer(route, scope, receive)
            if route.is_open:
                answer = Answer(answer.status, answer.body, (*answer.headers, *OPEN))
            await _send(answer, send, is_head=scope["method"] == "HEAD")
        elif self._beside is None:
            await _send(as_json({"error": "not_found"}, status=404), send)
        else:
            await self._beside(scope, receive, send)

    async def _pass_on(self, scope: Any, receive: Receive, send: Send) -> None:
        if self._beside is not None:
            await self._beside(scope, receive, send)

    async def _answer(self, route: Route, scope: Any, receive: Receive) -> Answer:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if method == "OPTIONS" and route.is_open:
            return Answer(204)
        handler = route.handlers.get(method)
        if handler is None:
            allow = ", ".join(route.handlers)
            return as_json({"error": "method_not_allowed"}, status=405, headers=[("allow", allow)])
        try:
            return await handler(await self._read(scope, receive))
        except Refused as refused:
            return told(refused)
        except (StoreError, Conflict) as error:  # it is full, or others write to the same record all the time
            return _without_store(scope, error)

    async def _read(self, scope: Any, receive: Receive) -> Request:
        request = await _read(scope, receive)
        if not self._is_host(request.header("host") or ""):
            raise Refused("invalid_request", "This server is not known by that Host", status=421)
        return request

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self._routes()
                except (StoreError, Conflict, ValueError) as error:
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                await send({"type": "lifespan.startup.complete"})
            else:
                await self._close()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _without_store(scope: Any, error: Exception) -> Answer:
    _log.error("cannot answer %s: %s", scope["path"], error)
    return told(Refused("temporarily_unavailable", "Nothing can be kept right now: try again", status=503))


async def _read(scope: Any, receive: Receive) -> Request:
    """Read a request within its bounds. Raises `Refused`."""
    if len(scope["query_string"]) > MAX_QUERY_BYTES:
        raise Refused("invalid_request", f"The query has more than {MAX_QUERY_BYTES} bytes", status=414)
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        headers[key] = (*headers.get(key, ()), value.decode("latin-1"))
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await _body(receive)
    except TimeoutError:
        raise Refused("invalid_request", "The body took too long", status=408) from None
    return Request(scope["method"], scope["path"], scope["query_string"].decode("latin-1"), headers, body)


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refused("invalid_request", "The body is not complete")
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise Refused("invalid_request", f"The body has more than {MAX_BODY_BYTES} bytes", status=413)
        if not message.get("more_body", False):
            return bytes(body)


async def _send(answer: Answer, send: Send, *, is_head: bool = False) -> None:
    given = {name for name, _ in answer.headers}
    always = [("cache-control", "no-store"), ("x-content-type-options", "nosniff")]
    headers = [*answer.headers, *(pair for pair in always if pair[0] not in given)]
    if answer.status != 204:
        headers.append(("content-length", str(len(answer.body))))
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    await send({"type": "http.response.body", "body": b"" if is_head else answer.body})


def _pairs(text: str) -> dict[str, str]:
    """Read parameters. An empty one counts as absent (RFC 6749 section 3.1). Raises `Refused`."""
    try:
        pairs = parse_qsl(text, max_num_fields=MAX_PARAMETERS, errors="strict")
    except ValueError:
        raise Refused("invalid_request", f"The parameters are not UTF-8, or more than {MAX_PARAMETERS}") from None
    found = dict(pairs)
    if len(found) != len(pairs):
        names = sorted(name for name in found if sum(each == name for each, _ in pairs) > 1)
        raise Refused("invalid_request", f"A parameter is given twice: {names[0][:50]!a}")
    return found
