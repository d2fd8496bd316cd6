"""Requests to URLs that a peer chose: metadata documents, the endpoints of authorization servers, keys.

The guard is in front of every hop:

- The URL is https; http is for this machine, and only where that is allowed. It names no user, and its host is a plain
  name or address.
- The host is looked up once. Every address found must be one that is allowed, and the connection goes to those very
  addresses: a name that means another host a moment later gains nothing. TLS still checks the certificate for the name.
- Redirects are followed for GET, within the origin or, for a request without credentials, to another https origin. One
  that is not followed is returned as the reply it is.
- The body is bounded, and not decompressed; all of it has to come in time. There are no cookies.

Where the environment names a proxy it is used: behind many firewalls there is no other way. The proxy looks the host up
for itself then. What is known of the host here is checked before; and because the request is inside of TLS, to a host
that must prove its name, a name that means an internal host to the proxy gets no request and no answer.

https://modelcontextprotocol.io/docs/tutorials/security/security_best_practices
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from yarl import URL

from splice.auth.addresses import kind_of
from splice.auth.errors import AuthorizationFailed
from splice.auth.hosts import NO_URL, LookUp, look_up, plain_url
from splice.auth.login.steps import HTTP, HTTPReply
from splice.errors import ConnectFailed, ConnectionClosed
from splice.protocol.uri import shown_url
from splice.rules.http.origins import is_loopback
from splice.transports.http.fetch import Endpoint, HTTPResponse, proxy_for

MAX_BYTES = 256 * 1024
"""The largest body that is read, in bytes. Documents and key sets of large providers have 30 thousand."""

TIMEOUT_SECONDS = 30.0
"""How long all of a request may take, with its redirects."""

MAX_REDIRECTS = 3

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HARMLESS = frozenset({"accept"})
"""Headers that are no credentials."""


class Fetcher:
    """Sends requests to URLs that a peer chose, within the bounds that this module names.

    `allow_loopback` is for servers on this machine. `allow_private` is for those in the network of an organisation:
    True for all, or the names of the hosts that may be there. Metadata services of clouds are never allowed.
    `redirects` is how many are followed.
    """

    def __init__(
        self,
        *,
        allow_loopback: bool = False,
        allow_private: bool | Collection[str] = False,
        max_bytes: int = MAX_BYTES,
        timeout: float = TIMEOUT_SECONDS,
        redirects: int = MAX_REDIRECTS,
        look_up: LookUp = look_up,
    ) -> None:
        self.allow_loopback = allow_loopback
        self._private = allow_private if isinstance(allow_private, bool) else {host.lower() for host in allow_private}
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._redirects = redirects
        self._look_up = look_up

    async def send(self, step: HTTP) -> HTTPReply:
        """Send a request and read its reply, whatever its status.

        Raises `ConnectionClosed` when no reply comes, and `AuthorizationFailed` for a URL that is not allowed, too many
        redirects, and a body that is too large or encoded.
        """
        is_bare = {name.lower() for name in step.headers} <= _HARMLESS
        try:
            async with asyncio.timeout(self._timeout):
                url = step.url
                for _ in range(self._redirects + 1):
                    reply = await self._send(step, url)
                    target = _redirected(URL(url), reply, is_bare) if step.method == "GET" and self._redirects else None
                    if target is None:
                        return reply
                    url = target
        except TimeoutError:
            raise ConnectionClosed(f"{shown_url(step.url)} did not answer within {self._timeout:g} s") from None
        raise AuthorizationFailed(f"{shown_url(step.url)} redirects more than {self._redirects} times")

    async def get_json(self, url: str) -> dict[str, Any]:
        """Read a JSON object. Raises as `send` does, and `AuthorizationFailed` when there is none at this URL."""
        reply = await self.send(HTTP(url=url, headers={"Accept": "application/json"}))
        if reply.status != 200:
            raise AuthorizationFailed(f"{shown_url(url)} answered with status {reply.status}")
        try:
            return msgspec.json.decode(reply.body, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise AuthorizationFailed(f"{shown_url(url)} answered with what is not a JSON object") from None

    async def _send(self, step: HTTP, url: str) -> HTTPReply:
        addresses = await self.addresses(url)
        endpoint = Endpoint(url, step.headers, addresses=addresses)
        try:
            body = step.body if step.method != "GET" else None
            with await endpoint.request(step.method, {}, body) as response:
                return HTTPReply(response.status, response.headers, await self._body(response, url))
        finally:
            await endpoint.close()

    async def _body(self, response: HTTPResponse, url: str) -> bytes:
        encoding = (response.header("content-encoding") or "identity").strip().lower()
        if encoding != "identity":
            raise AuthorizationFailed(f"{shown_url(url)} compressed its answer ({encoding[:20]!a}), unasked")
        length = response.header("content-length") or ""
        declared = int(length) if length.isdecimal() and len(length) < 20 else 0
        body = b"" if declared > self._max_bytes else await response.start(self._max_bytes + 1)
        if max(declared, len(body)) > self._max_bytes:
            raise AuthorizationFailed(f"{shown_url(url)} answered with more than {self._max_bytes} bytes")
        return body

    async def addresses(self, url: str) -> Sequence[str]:
        """Check a URL and return the addresses to connect to; none when a proxy connects. Raises as `send` does."""
        target = _parsed(url)
        host, port, place = target.raw_host or "", target.port or 443, shown_url(url)
        is_here = self.allow_loopback and is_loopback(host)
        if target.scheme != "https" and not is_here:
            why = "it must begin with https://" + (", or be on this machine" if self.allow_loopback else "")
            raise AuthorizationFailed(f"{place} is not requested: {why}")
        proxy = proxy_for(target, place)
        try:
            addresses = await self._look_up(host, port)
        except (OSError, UnicodeError) as error:
            if proxy is not None:
                return ()
            raise ConnectFailed(f"Cannot connect to {place}: no address is known for the host ({error})") from None
        for address in addresses:
            kind = kind_of(address)
            if not (kind == "loopback" if target.scheme == "http" else self._allows(host, kind)):
                hint = " (allow_private= names hosts that may be)" if kind == "private" else ""
                raise AuthorizationFailed(f"{place} is not requested: {address} is not a public address{hint}")
        if not addresses:
            raise ConnectFailed(f"Cannot connect to {place}: no address is known for the host")
        return addresses if proxy is None else ()

    def _allows(self, host: str, kind: str) -> bool:
        if kind == "private":
            return self._private if isinstance(self._private, bool) else host in self._private
        return kind == "public" or (kind == "loopback" and self.allow_loopback)


def _parsed(url: str) -> URL:
    """Read a URL whose host every parser reads alike. Raises `AuthorizationFailed`."""
    target = plain_url(url)
    if target is None:
        raise AuthorizationFailed(f"{shown_url(url)!a:.200} is not a URL that can be requested")
    return target


def _redirected(url: URL, reply: HTTPReply, is_bare: bool) -> str | None:
    """Resolve where a reply redirects to; None when it does not, or must not be followed."""
    location = reply.headers.get("location")
    if reply.status not in _REDIRECTS or not location:
        return None
    try:
        target = url.join(URL(location)).with_fragment(None)
    except NO_URL:
        raise AuthorizationFailed(f"{shown_url(str(url))} redirects to {shown_url(location)!a:.200}") from None
    if url.scheme != target.scheme or not (is_bare or url.origin() == target.origin()):
        return None
    return str(target)
