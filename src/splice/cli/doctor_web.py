"""The way to a URL, looked at step by step: name, address, TLS, HTTP. Each step needs the one before.

The request that HTTP is tried with is `server/discover`, the first that a client sends. It changes nothing.
"""

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import msgspec
from yarl import URL

from splice import HTTPRefused, HTTPServer
from splice.auth.login.authorizer import authorizer_of
from splice.cli.doctor_rungs import Broken, Ladder, Rung, counted
from splice.cli.doctor_watch import DISCOVER
from splice.client.options import INFO
from splice.errors import INVALID_REQUEST
from splice.protocol.jsonrpc import BadMessage
from splice.protocol.wire import NoParams
from splice.rules.eras import Stamp
from splice.rules.http.headers import EVENT_STREAM, standard_headers
from splice.rules.http.origins import is_loopback
from splice.transports.http.answers import TO_POST
from splice.transports.http.fetch import Endpoint, HTTPResponse, proxy_for
from splice.types import VERSIONS, ClientCapabilities, Failure, Request, decode, encode

SOON_DAYS = 14
"""A certificate that ends within this time is warned of."""

BODY_BYTES = 1024 * 1024
"""How much of a body is read."""

_PORTS = {"http": 80, "https": 443}
_SHOWN = 60
MAX_TOLD = 300
"""How much is shown of the reason that a server gives."""

_TITLE = re.compile("<title>(.*?)</title>", re.IGNORECASE)
_NO_TLS = "if the server has no TLS, its URL begins with http://; else look at its certificate and key"
_BETWEEN = ("via", "cf-ray", "x-amz-cf-id", "x-served-by", "x-cache", "x-vercel-id", "fly-request-id")
"""Headers that whoever stands between adds to an answer."""

_REFUSALS = {
    401: (
        "it wants to know who you are",
        "`splice login` with this URL, or pass a token: --header 'Authorization: Bearer ...'",
    ),
    403: (
        "it does not let you in",
        "the token may lack a right, or the server may not accept this Host or Origin: its own log says which",
    ),
    407: ("the proxy between wants a password", "name it in the proxy's URL: https_proxy=http://user:password@host"),
    408: ("it gave up waiting for the request", "try again; something between may be holding requests back"),
    429: ("it has had too many requests", "wait, and try again"),
    502: ("a gateway answers, the server behind it does not", "start the server, or correct the gateway's address"),
    503: ("it is not available now", "wait, and try again; behind a gateway, start the server"),
    504: ("a gateway waited for the server in vain", "look at the server behind it: it is slow, or hangs"),
}
"""Statuses that say all: what they mean, and what to do."""


_NO_POST = (404, 405)
"""Statuses of a URL that takes no POST, whatever the body says."""


class Place(NamedTuple):
    """Where a connection goes: to the server, or to the proxy that the environment names."""

    scheme: str
    host: str
    port: int
    proxy: str | None

    @property
    def name(self) -> str:
        """The host and port, as people write it."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


async def climb(server: HTTPServer, ladder: Ladder, seconds: float) -> None:
    """Look at the way to a server; each step may take so many seconds. Raises `Broken`."""
    with ladder.rung("target", "a URL is such as https://example.com/mcp") as rung:
        endpoint = Endpoint(server.url, server.headers or {})
        endpoint.authorizer = None if server.auth is None else authorizer_of(server.auth, server.url)
        place = _place_of(server.url, proxy_for(URL(server.url), server.name))
        rung.text = f"a URL: {server.name}"
        if urlsplit(server.url).scheme == "http" and not is_loopback(urlsplit(server.url).hostname or ""):
            rung.warn("not encrypted: whoever stands between can read everything, tokens too", advice="use https://")
    try:
        with ladder.rung("resolve") as rung:
            addresses = await _resolve(place, rung, seconds)
        with ladder.rung("TCP") as rung:
            await _connect(place, addresses, rung, seconds)
        if place.scheme == "https" and place.proxy is None:
            with ladder.rung("TLS", _NO_TLS) as rung:
                await _encrypt(place, rung, seconds)
        with ladder.rung("HTTP", "is the scheme right, http or https, and is this the server's port?") as rung:
            async with asyncio.timeout(seconds):
                await _visit(endpoint, rung)
    finally:
        await endpoint.close()


def _place_of(url: str, proxy: str | None) -> Place:
    parts = urlsplit(proxy or url)
    return Place(parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 80), proxy)


async def _resolve(place: Place, rung: Rung, seconds: float) -> list[str]:
    try:
        async with asyncio.timeout(seconds):
            found = await asyncio.get_running_loop().getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        advice = "check the name for a slip; is this machine on the network that knows it?"
        raise Broken(f"no address is known for {place.host!r} ({why})", advice) from error
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    rung.text = ", ".join(addresses[:4]) + (" ..." if len(addresses) > 4 else "")
    if place.proxy is not None:
        rung.text = f"the proxy of the environment, {place.name}: {rung.text}; NO_PROXY names hosts that need none"
    return addresses


async def _connect(place: Place, addresses: list[str], rung: Rung, seconds: float) -> None:
    """Connect to the first address that lets us."""
    failed: list[str] = []
    for address in addresses:
        try:
            async with asyncio.timeout(seconds / len(addresses)):
                _, writer = await asyncio.open_connection(address, place.port)
        except (OSError, TimeoutError) as error:
            failed.append(f"{address}: {_why_not(error)}")
            continue
        writer.close()
        rung.text = f"connected to {address}, port {place.port}"
        rung.details = [f"but not to {each}" for each in failed]
        return
    if all(each.endswith("refused") for each in failed):
        advice = "start the server there, or correct host and port; in a container, it must listen on 0.0.0.0"
        raise Broken(f"nothing listens at {place.name}", advice)
    why = "\n".join([f"no connection to {place.name}", *failed])
    raise Broken(why, "a firewall may be between, or the machine is not running; --timeout allows more")


def _why_not(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    return "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)


async def _encrypt(place: Place, rung: Rung, seconds: float) -> None:
    """Shake hands as the client will, and read the certificate."""
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(
                place.host, place.port, ssl=ssl.create_default_context(), server_hostname=place.host
            )
    except ssl.SSLCertVerificationError as error:
        raise Broken(
            f"the certificate is not trusted: {error.verify_message.rstrip('.')}", _untrusted(error)
        ) from error
    except (ssl.SSLError, ConnectionError) as error:
        why = (getattr(error, "reason", None) or error.strerror or str(error)).replace("_", " ").lower()
        raise Broken(f"what answers at {place.name} speaks no TLS ({why})", _NO_TLS) from error
    certificate: dict[str, Any] = writer.get_extra_info("peercert") or {}
    rung.text = f"{writer.get_extra_info('ssl_object').version()}, certificate by {_issuer(certificate)}"
    writer.close()
    days = (ssl.cert_time_to_seconds(certificate["notAfter"]) - time.time()) / 86400
    rung.text += f", good for {counted(int(days), 'day')}"
    if days < SOON_DAYS:
        rung.warn(f"the certificate ends soon: {certificate['notAfter']}", advice="have it renewed")


def _untrusted(error: ssl.SSLCertVerificationError) -> str:
    message = error.verify_message.lower()
    if "mismatch" in message or "not valid for" in message:
        return "use the name that the certificate is for, or have one made for this name"
    if "expired" in message or "not yet valid" in message:
        return "have the certificate renewed, and look at the clock of this machine"
    return "if you trust who issued it, let SSL_CERT_FILE name the file of the issuer's certificate"


def _issuer(certificate: dict[str, Any]) -> str:
    names = dict(each[0] for each in cast("list[Any]", certificate.get("issuer", ())))
    return str(names.get("organizationName") or names.get("commonName") or "an issuer without a name")


async def _visit(endpoint: Endpoint, rung: Rung) -> None:
    """POST what a client would, and see whether MCP answers."""
    version = VERSIONS[-1]
    meta = Stamp(version, ClientCapabilities(), INFO).meta()
    body = encode(Request(1, DISCOVER, NoParams(meta=meta)))
    headers = {**standard_headers(version, DISCOVER, None), **TO_POST}
    response = await endpoint.request("POST", headers, body)
    if 300 <= response.status < 400:
        location = (response.header("location") or "nowhere")[:200]
        with response:
            rung.details.append(f"{response.status}, redirected to {location}")
        try:
            response = await endpoint.follow("POST", headers, body, repeatable=True)
        except HTTPRefused as error:
            raise Broken(str(error), "if you trust that address, use it as the URL") from error
    with response:
        start = await response.start(BODY_BYTES) if response.media_type != EVENT_STREAM else b""
        await _judge(endpoint, response, start, rung)


async def _judge(endpoint: Endpoint, response: HTTPResponse, body: bytes, rung: Rung) -> None:
    status = response.status
    rung.text = f"status {status}, {response.media_type or 'no content type'}"
    rung.details += _between(response)
    if status in _REFUSALS:
        why, advice = _REFUSALS[status]
        challenge = response.header("www-authenticate")
        told = _refusal(body)
        said = _quoted(body) if told is None else [f"it says: {' '.join(told[:MAX_TOLD].split())}"]
        said += [f"it says: {challenge}"] if challenge else []
        raise Broken("\n".join([f"{rung.text}: {why}", *said]), advice)
    is_message = _is_message(response, body)
    # One that lacks the method says so with 404, too, but not with this code.
    if status == 404 and (told := _refusal(body, INVALID_REQUEST)) is not None and not await _is_old(endpoint):
        raise Broken(f"{rung.text}: {told}", "name the path of the MCP endpoint in the URL")
    if 400 <= status < 500 and (status in _NO_POST or not is_message) and await _is_old(endpoint):
        rung.text = f"status {status}, but a GET opens a stream: HTTP+SSE, the transport of the first revision"
    elif is_message:
        rung.text += ": an MCP endpoint"
    elif status == 500 or (status == 400 and "html" not in response.media_type):
        rung.warn(
            "this is no answer of MCP",
            *_quoted(body),
            advice="a server should answer what it does not know with a JSON-RPC error",
        )
    else:
        why = "\n".join([f"{rung.text}: this is no MCP endpoint", *_quoted(body)])
        raise Broken(why, "check the path of the URL: it often ends in /mcp")


def _is_message(response: HTTPResponse, body: bytes) -> bool:
    if response.media_type == EVENT_STREAM:
        return 200 <= response.status < 300
    try:
        found: Any = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and not {"jsonrpc", "error"}.isdisjoint(cast("dict[str, Any]", found))


def _refusal(body: bytes, code: int | None = None) -> str | None:
    """Read the message of an error, of that code only where there is one."""
    try:
        message = decode(body)
    except BadMessage:
        return None
    return message.error.message if isinstance(message, Failure) and code in (None, message.error.code) else None


async def _is_old(endpoint: Endpoint) -> bool:
    """Tell whether a GET opens a stream, as it did in the first revision."""
    with await endpoint.request("GET", {"Accept": EVENT_STREAM}) as response:
        return response.status == 200 and response.media_type == EVENT_STREAM


def _between(response: HTTPResponse) -> Iterator[str]:
    """Say who stands between, where it says so itself."""
    seen = [(name, response.header(name)) for name in _BETWEEN]
    named = [f"{name}: {value[:_SHOWN]}" for name, value in seen if value]
    if named:
        yield f"a proxy or gateway stands between ({', '.join(named)}): it must not hold back event streams"


def _quoted(body: bytes) -> list[str]:
    """Say what a body says: of a page, its title."""
    text = " ".join(body[:5_000].decode(errors="replace").split())
    title = _TITLE.search(text)
    return [f"it says: {(title[1] if title else text)[: _SHOWN * 2]}"] if text else []
