"""Reading from URLs that a model or a user chose: the way to the web for the tools of a server.

Whoever chooses the URLs that a server fetches can reach what only that server reaches. So a guard is in front of each
request:

- The URL is of http or https and names no user. A host or path with letters beyond ASCII is written in ASCII first.
- The host is looked up once. Every address found must be public, unless told otherwise; addresses where clouds hand out
  keys are never allowed. The connection goes to those very addresses, and TLS checks the certificate for the name: a
  name that means another host a moment later gains nothing.
- A redirect is followed only if the caller asks for it, and each hop is checked as the first one was.
- The body is cut at a limit, counted behind gzip and deflate, which are undone piece by piece; other encodings are
  refused. All of it has to come in time. That of a redirect is not read. There are no cookies.

A proxy, named by the caller or by the environment, looks the host up for itself. The check here is made before, but
cannot bind it: a host that is known here must be allowed, and one that is not known here is asked for by https only,
where it must prove its name.

https://modelcontextprotocol.io/docs/tutorials/security/security_best_practices
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace
from yarl import URL

from splice.auth.addresses import Kind, kind_of
from splice.auth.hosts import NO_URL, LookUp, look_up, plain_url
from splice.errors import ConnectionClosed, TransportError
from splice.protocol.uri import shown_url
from splice.rules.http.origins import is_loopback
from splice.transports.http.fetch import Endpoint, HTTPResponse, proxy_for

MAX_BYTES = 5 * 1024 * 1024
"""Where a body is cut, in bytes."""

TIMEOUT_SECONDS = 30.0
"""How long all of a request may take, with its redirects."""

_MAX_URL = 8192
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})
_AMBIGUOUS = re.compile(r"[\x00-\x1f\x7f\\]")
"""Characters that some parsers drop, or take for others."""
_NAMES_HOST = re.compile(r"[A-Za-z]+://[^/@]")
_TOLD: dict[Kind, str] = {
    "private": "a private address",
    "loopback": "an address of this machine",
    "refused": "not an address of the internet",
}


class NotFetched(TransportError):
    """Nothing was read from a URL. The message says why; it may be shown to a model."""

    def __init__(self, message: str, leads_to: Kind | None = None) -> None:
        super().__init__(message)
        self.leads_to = leads_to
        """Why the address is not allowed: "private", "loopback" or "refused"; None for any other failure."""


class WebReply(Struct, frozen=True):
    """What came back, whatever its status."""

    url: str
    """Where it came from: the URL that was given, in ASCII, or the last redirect."""
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = b""
    is_cut: bool = False
    """The body is longer; this is its beginning."""

    @property
    def media_type(self) -> str:
        """The content type in lower case, without parameters; empty when the server names none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def redirect(self) -> str | None:
        """Where it redirects to; None when it does not. Raises `NotFetched` when that is not a URL."""
        location = self.headers.get("location")
        if self.status not in _REDIRECTS or not location:
            return None
        try:
            return str(URL(self.url).join(URL(location)).with_fragment(None))
        except NO_URL:
            told = f"{shown_url(self.url)} redirects to {_shown(location)}"
            raise NotFetched(f"{told}, which is not a URL") from None


Wants: TypeAlias = Callable[[WebReply], bool]
"""Sees a reply without its body, and says whether the body is to be read."""


class WebFetcher:
    """Reads from URLs of the web that a peer chose, within the bounds that this module names.

    `allow_loopback` and `allow_private` allow addresses of this machine, and of the networks that it is in. `proxy` is
    the URL of an HTTP proxy; otherwise the environment may name one. `max_bytes` is where a body is cut, `timeout` how
    many seconds a request may take. `look_up` finds the addresses of a host.

    Raises `ValueError` for a proxy that is not an HTTP proxy.
    """

    def __init__(
        self,
        *,
        allow_loopback: bool = False,
        allow_private: bool = False,
        proxy: str | None = None,
        max_bytes: int = MAX_BYTES,
        timeout: float = TIMEOUT_SECONDS,
        look_up: LookUp = look_up,
    ) -> None:
        if proxy is not None and not (proxy.startswith(("http://", "https://")) and URL(proxy).host):
            raise ValueError("a proxy's URL begins with http:// or https://, and names its host")
        self._allowed: set[Kind] = {"public"}
        self._allowed |= {"loopback"} if allow_loopback else set()
        self._allowed |= {"private"} if allow_private else set()
        self._proxy = proxy
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._look_up = look_up

    @staticmethod
    def ascii_url(url: str) -> str:
        """Write a URL as it would be requested: in ASCII, without its fragment. Raises `NotFetched`."""
        return str(_read(url))

    async def get(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        redirects: int = 0,
        wants: Wants | None = None,
    ) -> WebReply:
        """Read what is at a URL; follow as many redirects. A further one is returned as the reply it is.

        `wants` sees each reply before its body is read, and says whether it is to be read at all.

        Raises `NotFetched` for a URL that is not allowed, and when no whole answer comes.
        """
        try:
            async with asyncio.timeout(self._timeout):
                for _ in range(redirects):
                    reply = await self._get(url, headers or {}, wants)
                    target = reply.redirect
                    if target is None:
                        return reply
                    url = target
                return await self._get(url, headers or {}, wants)
        except TimeoutError:
            raise NotFetched(f"{_shown(url)} did not answer within {self._timeout:g} s") from None
        except ConnectionClosed as error:
            raise NotFetched(str(error)) from error

    async def _get(self, url: str, headers: Mapping[str, str], wants: Wants | None) -> WebReply:
        target = _read(url)
        proxy = self._proxy if not is_loopback(target.raw_host or "") else None
        proxy = proxy or proxy_for(target, shown_url(str(target)))
        addresses = await self._addresses(target, by_proxy=proxy is not None)
        endpoint = Endpoint(
            str(target), {"Accept-Encoding": "gzip, deflate", **headers}, addresses=() if proxy else addresses
        )
        endpoint.proxy = proxy
        try:
            with await endpoint.request("GET", {}) as response:
                reply = WebReply(str(target), response.status, response.headers)
                if reply.redirect is not None or not (wants is None or wants(reply)):
                    return reply
                body = await self._body(response)
                return replace(reply, body=body[: self._max_bytes], is_cut=len(body) > self._max_bytes)
        finally:
            await endpoint.close()

    async def _body(self, response: HTTPResponse) -> bytes:
        encoding = (response.header("content-encoding") or "").strip().lower()
        if encoding not in _ENCODINGS:
            raise NotFetched(f"{shown_url(str(response.url))} compressed its answer ({encoding[:20]!a}), unasked")
        return await response.start(self._max_bytes + 1)

    async def _addresses(self, target: URL, *, by_proxy: bool) -> Sequence[str]:
        """Find the addresses to connect to. Raises `NotFetched` if one of them is not allowed."""
        host, place = target.raw_host or "", shown_url(str(target))
        try:
            addresses = await self._look_up(host, target.port or 443)
        except (OSError, UnicodeError):
            addresses = ()
        if not addresses and not (by_proxy and target.scheme == "https"):
            raise NotFetched(f"{place} is not fetched: no address is known for the host {host}")
        for kind in map(kind_of, addresses):
            if kind not in self._allowed:
                subject = "it is" if host in addresses else f"{host} leads to"
                told = _TOLD[kind] if host in addresses else _TOLD[kind].replace("not an", "what is not an")
                raise NotFetched(f"{place} is not fetched: {subject} {told}", kind)
        return addresses


def _read(url: str) -> URL:
    """Write a URL in ASCII, and read it. Raises `NotFetched` for one that parsers disagree about."""
    try:
        target = plain_url(str(URL(url.strip(" ")))) if len(url) <= _MAX_URL and not _AMBIGUOUS.search(url) else None
    except NO_URL:
        target = None
    if target is None:
        why = "a URL begins with http:// or https:// and names a host, no user"
        raise NotFetched(f"{_shown(url)} is not fetched: {why}")
    return target.with_fragment(None)


def _shown(url: str) -> str:
    """Show a URL without secrets. Where it names no host, what stands before an @ may be one."""
    shown = shown_url(url)
    shown = shown if _NAMES_HOST.match(shown) else shown.rpartition("@")[2]
    text = ascii(shown)[1:-1]
    return text if len(text) <= 200 else f"{text[:200]}..."
