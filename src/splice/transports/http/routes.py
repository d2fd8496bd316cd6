"""Plain HTTP routes beside the MCP endpoint: a health check, a page, a webhook.

They are reached as the endpoint is: through the same checks of Host and Origin, with the same bounds on the body.
"""

import inspect
from collections.abc import Callable, Coroutine, Iterable, Mapping
from http import HTTPMethod
from typing import Any, cast
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from splice.errors import InvalidRequest
from splice.rules.http.headers import Headers
from splice.rules.http.origins import Refusal
from splice.transports.base import Service
from splice.transports.http.visits import Receive, Reply


class HTTPRequest(Struct, frozen=True):
    """A plain HTTP request, as the function behind a route gets it."""

    method: str
    path: str
    query: dict[str, str]
    """Of a name that occurs twice, the last value."""
    headers: Mapping[str, str]
    body: bytes


def add_route(service: Service, path: str, fn: Callable[..., Any], methods: Iterable[str], *, public: bool) -> None:
    """Let an async function answer at `path`; a public one whoever calls, where others are asked who they are.

    Raises `TypeError` for another function, `ValueError` for a path without its slash, with a variable, or that is
    taken, and for methods that are not a list of methods.
    """
    parameters = inspect.signature(fn).parameters
    if not inspect.iscoroutinefunction(fn) or len(parameters) > 1:
        raise TypeError(f"the route {path} needs an `async def` function that takes nothing, or an HTTPRequest")
    if path[:1] != "/" or "{" in path:
        told = "begins with a slash and has no variables; take them from the query of an HTTPRequest"
        raise ValueError(f"the path of a route {told}: {path!r} does not")
    known = [] if isinstance(methods, str) else [each.upper() for each in methods]
    if not known or not HTTPMethod.__members__.keys() >= set(known):
        raise ValueError(f"the route {path} takes a list of methods such as ['GET', 'POST'], not {methods!r}")
    path = path.rstrip("/") or "/"
    if path in service.routes:
        raise ValueError(f"there is a route {path} already; one function answers all methods of a path")
    if "GET" in known:
        known.append("HEAD")
    service.routes = {**service.routes, path: Route(fn, sorted(set(known)), bool(parameters), public)}


class Route(Struct, frozen=True):
    """The function that answers at one path."""

    fn: Callable[..., Coroutine[Any, Any, Any]]
    methods: list[str]
    wants_request: bool
    public: bool = False
    """Anybody may call it, where the endpoint checks who calls."""

    async def answer(self, reply: Reply, headers: Headers, body: bytes, receive: Receive) -> None:
        """Send what the function returns: text, bytes, an ASGI response, or anything else as JSON."""
        scope = reply.scope
        if scope["method"] not in self.methods:
            allow = ", ".join(self.methods)
            raise Refusal(405, InvalidRequest(f"This path takes {allow}"), [(b"allow", allow.encode())])
        query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True))
        request = HTTPRequest(scope["method"], scope["path"], query, headers, body)
        result = await (self.fn(request) if self.wants_request else self.fn())
        if callable(result):
            await cast("Any", result)(scope, receive, reply.send)
        elif isinstance(result, str):
            await reply.respond(200, result.encode(), [(b"content-type", b"text/plain; charset=utf-8")])
        elif isinstance(result, bytes):
            await reply.respond(200, result, [(b"content-type", b"application/octet-stream")])
        else:
            await reply.respond(200, msgspec.json.encode(result))
