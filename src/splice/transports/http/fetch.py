"""HTTP requests, and nothing of MCP: the only module that imports aiohttp, the HTTP client library.

A redirect is followed only within the origin and only if it keeps the method, so that no header meant for this server
reaches another. Bodies are read chunk by chunk. Leaving a response before its end closes its connection, and so does
being cancelled at any time: that is how a server learns that nobody waits. Every failure is a `ConnectionClosed` that
names the URL, without what may be secret in it; `ConnectFailed` when no connection came about.

Neither cookies nor `.netrc` are used. The proxy variables of the environment are read once, for the endpoint; servers
on this machine are never reached through a proxy.
"""

import contextlib
import errno
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Any, Protocol, Self
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from yarl import URL

from splice.errors import ConnectFailed, ConnectionClosed, HTTPRefused, RemoteProtocolError
from splice.protocol.jsonrpc import MAX_MESSAGE_BYTES
from splice.protocol.uri import shown_url
from splice.rules.http.origins import is_loopback

CONNECT_SECONDS = 30.0
"""How long opening a connection may take."""

KEEP_SECONDS = 4.0
"""How long an idle connection is kept. Servers close theirs too (uvicorn after 5 seconds); whoever is later loses."""

MAX_FIELD_BYTES = 64 * 1024
"""The longest status line, and the longest header, read from a server."""

WHOLE_BYTES = 64 * 1024
"""A larger body is sent in pieces, as the server reads."""

MAX_REDIRECTS = 5

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FAILURES = (aiohttp.ClientError, OSError)


class Authorizer(Protocol):
    """Answers a server that wants to know who calls."""

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        """Make the headers that authorize a request; none when there are none. May wait for a login in progress."""
        ...

    async def refused(self, url: str, status: int, headers: Mapping[str, str], sent: Mapping[str, str]) -> bool:
        """Act on a 401 or 403, given the headers that came, by names in lower case, and those that were sent.

        True: the request is to be sent again, with new headers. Raises `HTTPRefused`.
        """
        ...

    async def close(self) -> None:
        """End what is going on. Twice is fine."""


class Endpoint:
    """One URL, and the connections to it. `headers` go out with every request. Belongs to one event loop.

    `max_message` is the size of the largest message that a response may bring, in bytes. With `addresses`, connections
    go to one of those, whatever the name of the host stands for, and never through a proxy.

    Raises `ValueError` for what is not an HTTP URL, and `ConnectFailed` for a proxy that is not an HTTP proxy.
    """

    authorizer: Authorizer | None = None
    """Adds its headers to every request, and acts on those that are refused. It is closed with the endpoint."""

    def __init__(
        self, url: str, headers: Mapping[str, str], max_message: int = MAX_MESSAGE_BYTES, addresses: Sequence[str] = ()
    ) -> None:
        self.max_message = max_message
        self.url, target = shown_url(url), URL()
        with contextlib.suppress(ValueError, IndexError):
            target = URL(url)
        if target.scheme not in ("http", "https") or not target.host:
            raise ValueError(f"{self.url} is not an HTTP URL; it must begin with http:// or https://")
        self.target = target.with_user(None).with_fragment(None)
        """Where requests go."""
        self._headers = {"User-Agent": "splice", "Accept-Encoding": "identity"}
        if target.user is not None:
            self._headers["Authorization"] = aiohttp.encode_basic_auth(target.user, target.password or "")
        self._headers |= headers  # of two that differ in case, the last is sent
        self.proxy = None if addresses else proxy_for(target, self.url)
        """Where connections go instead: an HTTP proxy."""
        fixed = _Fixed(addresses) if addresses else None
        self._session = aiohttp.ClientSession(
            connector=_Pool(limit=0, keepalive_timeout=KEEP_SECONDS, resolver=fixed).in_haste(),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            max_line_size=MAX_FIELD_BYTES,
            max_field_size=MAX_FIELD_BYTES,
        )
        weakref.finalize(self, self._session.detach)

    async def follow(
        self, method: str, headers: Mapping[str, str], body: bytes | None = None, *, repeatable: bool = False
    ) -> "HTTPResponse":
        """Send a request, follow redirects, and let the authorizer act on refusals.

        Raises as `request` does, `HTTPRefused`, `AuthorizationFailed` and `RemoteProtocolError`.

        One that is `repeatable` is sent once more when its connection ends without an answer: servers may close one
        that was kept at the very moment it is used.
        """
        url = self.target
        for left in reversed(range(MAX_REDIRECTS)):
            try:
                response = await self.request(method, headers, body, url)
            except ConnectionClosed as error:
                if isinstance(error, ConnectFailed) or not repeatable:
                    raise
                response = await self.request(method, headers, body, url)
            authorizer = self.authorizer if response.status in (401, 403) and left else None
            if authorizer is not None and await response.is_settled_by(authorizer):
                continue
            if response.status not in _REDIRECTS:
                return response
            with response:
                url = self._redirected(url, response)
        raise RemoteProtocolError(f"{self.url} redirects without end")

    async def request(
        self, method: str, headers: Mapping[str, str], body: bytes | None = None, url: URL | None = None
    ) -> "HTTPResponse":
        """Send a request, to another `url` after a redirect. The response is to be left: use `with`.

        Raises `ConnectionClosed`.
        """
        url, data = url or self.target, BytesIO(body) if body is not None and len(body) > WHOLE_BYTES else body
        fields = {**self._headers, **headers}  # as headers of the session they would be shown to a proxy
        if self.authorizer is not None:
            fields |= await self.authorizer.headers(method, str(url))
        if self._session.closed:
            raise ConnectionClosed(f"The connection to {self.url} is closed")
        try:
            response = await self._session.request(
                method, url, headers=fields, data=data, proxy=self.proxy, allow_redirects=False
            )
        except _FAILURES as error:
            raise _failure(error, self.url) from error
        return HTTPResponse(response, self)

    def _redirected(self, url: URL, response: "HTTPResponse") -> URL:
        location = response.header("location") or ""
        target = within_origin(url, location) if response.status in (307, 308) else None
        if target is None:
            told = f"{self.url} redirects to {shown_url(location)!a:.200} with status {response.status}"
            why = "which is not followed: only 307 and 308 within the same origin are"
            raise HTTPRefused(f"{told}, {why}", response.status)
        return target

    async def close(self) -> None:
        """Close all connections, at once; nothing can be requested any more."""
        await self._session.close()
        if self.authorizer is not None:
            await self.authorizer.close()


class _Connection(ResponseHandler):
    """A connection that is closed at once: one whose peer does not read would wait for ever to send the rest."""

    close = ResponseHandler.abort


class _Pool(aiohttp.TCPConnector):
    """The connections of an endpoint. One that nobody closed ends in silence: aiohttp would log an error."""

    def in_haste(self) -> Self:
        """Close connections at once."""
        handler: type[ResponseHandler] = _Connection
        self._factory = partial(handler, loop=self._loop)
        return self

    def __del__(self, *_: Any) -> None:
        pass


class _Fixed(AbstractResolver):
    """Knows the addresses of every host without asking anybody."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._ips = addresses

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host=ip, port=port, family=family, proto=0, flags=0) for ip in self._ips]

    async def close(self) -> None:
        pass


class HTTPResponse:
    """The status and the headers of a response; its body is still to be read. Leaving `with` lets go of it."""

    __slots__ = ("_response", "_url", "max_message", "status")

    def __init__(self, response: aiohttp.ClientResponse, endpoint: Endpoint) -> None:
        self._response = response
        self._url, self.max_message = endpoint.url, endpoint.max_message
        self.status = response.status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()

    @property
    def url(self) -> URL:
        """Where it comes from, after redirects."""
        return self._response.url

    def header(self, name: str) -> str | None:
        """Return the first header of that name."""
        return self._response.headers.get(name)

    @property
    def headers(self) -> dict[str, str]:
        """All headers, their names in lower case. Values of the same name are joined by commas."""
        return {name.lower(): ", ".join(self._response.headers.getall(name)) for name in self._response.headers}

    @property
    def media_type(self) -> str:
        """The content type in lower case, without parameters; empty when the server names none."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    async def is_settled_by(self, authorizer: Authorizer) -> bool:
        """Let the authorizer act on this refusal. True: it is left, and the request is to be sent again."""
        asked, settled = self._response.request_info, True
        try:
            settled = await authorizer.refused(str(asked.url), self.status, self.headers, asked.headers)
        finally:
            if settled:
                self._response.close()
        return settled

    async def chunk(self) -> bytes | None:
        """Return the next bytes of the body, or None at its end. Raises `ConnectionClosed`."""
        try:
            return await self._response.content.readany() or None
        except _FAILURES as error:
            raise _failure(error, self._url) from error

    async def body(self) -> bytes:
        """Return the whole body. Raises `ConnectionClosed`, and `RemoteProtocolError` beyond `max_message` bytes."""
        body, limit = await self.start(self.max_message + 1), self.max_message
        if len(body) > limit:
            told = f"{self._url} answered with more than {limit} bytes"
            raise RemoteProtocolError(f"{told}; Client(..., max_message=) sets it")
        return body

    async def start(self, limit: int) -> bytes:
        """Return the first `limit` bytes of the body, or fewer if it is shorter. Raises `ConnectionClosed`."""
        body = bytearray()
        while len(body) < limit and (part := await self.chunk()) is not None:
            body += part
        return bytes(body[:limit])


def within_origin(url: URL, location: str) -> URL | None:
    """Resolve a location that a server named against `url`; None when it leaves the origin of `url`."""
    try:
        target = url.join(URL(location))
        return target.with_user(None) if target.origin() == url.origin() else None
    except (ValueError, IndexError):  # the second one of yarl for http://[::1]@
        return None


def proxy_for(target: URL, url: str) -> str | None:
    """Look up the proxy that the environment names for a URL; None for loopback, which no proxy can reach."""
    host = target.host or ""
    proxies = getproxies()
    proxy = proxies.get(target.scheme) or proxies.get("all")
    if not proxy or is_loopback(host) or proxy_bypass(f"{host}:{target.port}"):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        told = f"the environment names a {proxy.partition(':')[0]} proxy, but only HTTP proxies can be used"
        raise ConnectFailed(f"Cannot connect to {url}: {told}; with {host} in NO_PROXY there is none")
    return proxy


_CAUSES: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ClientProxyConnectionError, "the proxy of the environment, {place}, does not answer ({why})"),
    (aiohttp.ClientConnectorDNSError, "no address is known for the host {error.host} ({why})"),
    (aiohttp.ClientConnectorCertificateError, "certificate not trusted ({why}); SSL_CERT_FILE may name its issuer"),
    (aiohttp.ClientConnectorSSLError, "no TLS at {place} ({why}); a URL of a server without TLS begins with http://"),
    (aiohttp.ConnectionTimeoutError, f"no connection came about within {CONNECT_SECONDS:g} s"),
    (aiohttp.ClientHttpProxyError, "the proxy that the environment names answered {error.status}"),
    (aiohttp.ClientResponseError, "the answer is not HTTP ({why!a:.100}); a URL with TLS begins with https://"),
    (aiohttp.ServerDisconnectedError, "the server closed the connection before it answered"),
    (aiohttp.ClientPayloadError, "the server broke off in the middle of its answer"),
    (Exception, "{why}"),
)
"""What went wrong. The first row that fits says why."""


def _failure(error: Exception, url: str) -> ConnectionClosed:
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error
    texts = (getattr(cause, name, None) for name in ("verify_message", "reason", "message", "strerror"))
    why = next((text for text in texts if text), None) or str(cause) or type(cause).__name__
    place = f"{getattr(error, 'host', '')}:{getattr(error, 'port', '')}"
    if getattr(cause, "errno", None) == errno.ECONNREFUSED:
        why = f"nothing listens at {place}"
    told = next(text for kind, text in _CAUSES if isinstance(error, kind)).format(error=error, place=place, why=why)
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError | aiohttp.ClientHttpProxyError):
        return ConnectFailed(f"Cannot connect to {url}: {told}")
    return ConnectionClosed(f"Lost {url}: {told}")
