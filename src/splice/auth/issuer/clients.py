"""The clients of an authorization server: those its operator added, those that registered, and those with a document.

A client id that is an https URL is a client id metadata document: it is fetched from there, and believed when it names
that very URL. The `fetch` that is given must be guarded, since anybody names the URL. Redirect URIs are compared as
strings, but for the port of a loopback one (RFC 8252 section 7.3).

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
"""

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, Protocol
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from splice.auth.fetcher import Fetcher
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Records, digest, new_secret
from splice.auth.login.steps import HTTP, HTTPReply
from splice.errors import MCPError
from splice.stores.base import Conflict, StoreError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

METHODS = ("none", "client_secret_basic", "client_secret_post", "private_key_jwt")
"""How a client may prove itself at the token endpoint."""

MAX_REDIRECT_URIS = 20
MAX_URI_CHARS = 2000
MAX_NAME_CHARS = 100

MAX_REGISTERED = 1000
"""How many clients that registered themselves are kept, of those that a user allowed something, and as many others. One
more, and of its kind the one that was used least recently goes: whoever registers for fun pushes out nobody in use."""

REGISTERED_SECONDS = 90 * 86_400.0
"""How long a client that registered itself is kept after it was used last."""

REGISTRATION_RATE = 1.0
REGISTRATION_BURST = 60.0
"""How many registrations a second are taken, and how many at once after a pause."""

MAX_DOCUMENTS = 500
"""How many documents are remembered. One more, and the one that was used least recently goes."""

DOCUMENT_SECONDS = (60.0, 300.0, 86_400.0)
"""How long a document is remembered: at least, if nothing was said, and at most."""

FAILURE_SECONDS = 30.0
"""How long it is remembered that a document cannot be had."""

DOCUMENT_RATE = 2.0
DOCUMENT_BURST = 60.0
"""How many documents a second are fetched, and how many at once after a pause."""

MAX_DOCUMENT_BYTES = 64 * 1024

_UNSAFE = re.compile(r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_URI = re.compile(r"[!-~]+")
_NETLOC = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.~%@-]+)(:[0-9]*)?|")
_MAX_AGE = re.compile(r"\bmax-age=(\d{1,9})\b")


class Client(Struct, kw_only=True, frozen=True):
    """A program that may ask for tokens."""

    client_id: str
    name: str
    """For people. The client chose it, unless the operator added the client."""
    origin: Literal["operator", "registered", "document"]
    redirect_uris: tuple[str, ...] = ()
    method: str = "none"
    secret: str | None = None
    """The hash of its secret, for the methods that have one."""
    jwks: dict[str, Any] | None = None
    """Its public keys, for `private_key_jwt`."""
    grants: tuple[str, ...] = ("authorization_code", "refresh_token")
    scopes: tuple[str, ...] | None = None
    """All that it may ask for; None: whatever the server knows."""

    def __repr__(self) -> str:
        return f"Client(client_id={self.client_id!r}, origin={self.origin!r}, method={self.method!r})"

    def registered_uri(self, asked: str) -> str | None:
        """Return the redirect URI of this client that an asked one fits, if there is one."""
        return next((uri for uri in self.redirect_uris if fits(uri, asked)), None)


class Fetch(Protocol):
    """Carries out a request to a URL that a stranger chose. Raises `MCPError` where it must not lead, or fails."""

    async def send(self, step: HTTP) -> HTTPReply:
        """Send a request."""
        ...


def is_loopback(uri: str) -> bool:
    """Tell whether a URI leads to the machine of whoever opens it, by http."""
    parts = _split(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK


def fits(registered: str, asked: str) -> bool:
    """Compare redirect URIs: as strings, but for the port where the registered one is http to the loopback."""
    if registered == asked:
        return True
    left, right = _split(registered), _split(asked)
    if left is None or right is None or not (is_loopback(registered) and is_loopback(asked)):
        return False
    if not _URI.fullmatch(asked) or "#" in asked:  # line breaks, which `urlsplit` drops, would become headers
        return False
    same_host = left.hostname == right.hostname and "@" not in asked
    return same_host and (left.path, left.query) == (right.path, right.query)


def checked_redirect_uri(uri: Any) -> str:
    """Check a redirect URI that is to be registered: https, or http to the loopback. Raises `Refused`."""
    shown = f"{uri!a}"[:150]
    parts = _split(uri) if isinstance(uri, str) and len(uri) <= MAX_URI_CHARS and _URI.fullmatch(uri) else None
    if parts is None or not parts.hostname or "@" in parts.netloc or "#" in uri or "\\" in uri:
        told = "is not a URL without user, fragment and control characters"
        raise Refused("invalid_redirect_uri", f"The redirect URI {shown} {told}")
    if parts.scheme != "https" and not is_loopback(uri):
        told = "must be https, or http to localhost, 127.0.0.1 or [::1]"
        raise Refused("invalid_redirect_uri", f"The redirect URI {shown} {told}")
    return str(uri)


def is_document(client_id: str) -> bool:
    """Tell whether a client id is the URL of a metadata document: https, with a path, and nothing that confuses."""
    parts = _split(client_id) if len(client_id) <= MAX_URI_CHARS and _URI.fullmatch(client_id) else None
    if parts is None or parts.scheme != "https" or not client_id.startswith("https://") or not parts.hostname:
        return False
    strange = "@" in parts.netloc or "#" in client_id or "\\" in client_id
    return not strange and len(parts.path) > 1 and not {".", ".."} & set(parts.path.split("/"))


def shown_name(name: Any, otherwise: str) -> str:
    """Make what a client calls itself fit for a page: one line, bounded, without invisible characters."""
    cleaned = _UNSAFE.sub(" ", name).strip() if isinstance(name, str) else ""
    return (cleaned or otherwise)[:MAX_NAME_CHARS]


class Clients:
    """Finds clients, registers them, and reads their documents. Without `fetch`, documents are not read."""

    def __init__(self, records: Records, fetch: Fetch | None = None, clock: Callable[[], float] = time.time) -> None:
        self._records = records
        self._fetch = fetch
        self._clock = clock
        self._documents: OrderedDict[str, tuple[float, Client | Refused]] = OrderedDict()

    @property
    def reads_documents(self) -> bool:
        """Tell whether a client id may be the URL of a document."""
        return self._fetch is not None

    async def find(self, client_id: str) -> Client:
        """Return the client with this id. Raises `Refused` (``invalid_client``)."""
        client = await self._records.read("client", digest(client_id), Client)
        if client is not None:
            return client
        if self._fetch is not None and is_document(client_id):
            return await self._document(client_id, self._fetch)
        raise Refused("invalid_client", "There is no client with this id: register it first", status=401)

    async def add(self, client: Client, *, replace: bool = True) -> None:
        """Add a client; `replace` puts it in the place of the one with its id. Raises `Conflict` without it."""
        await self._records.write("client", digest(client.client_id), client, ttl=None, expect=None if replace else 0)

    async def register(self, metadata: dict[str, Any]) -> tuple[Client, str | None]:
        """Register a client by what it says of itself (RFC 7591). Returns it with its secret. Raises `Refused`."""
        if wait := await self._records.wait("registrations", rate=REGISTRATION_RATE, burst=REGISTRATION_BURST):
            headers = [("retry-after", str(int(wait) + 1))]
            raise Refused("temporarily_unavailable", "Too many registrations: try again", status=429, headers=headers)
        secret = new_secret()
        client = described(metadata, f"c-{new_secret()[:22]}", "registered")
        if client.method != "none":
            client = msgspec.structs.replace(client, secret=digest(secret))
        await self._records.write("client", digest(client.client_id), client, ttl=REGISTERED_SECONDS)
        await self._count(client)
        return client, secret if client.secret else None

    async def used(self, client: Client) -> None:
        """Note that a client was granted something, so that it is kept longer than those that never were.

        What was granted stays so if this cannot be noted: its token is used up already.
        """
        if client.origin == "registered":
            with suppress(Conflict, StoreError):
                await self._records.read("client", digest(client.client_id), Client, touch=REGISTERED_SECONDS)
                await self._count(client, is_used=True)

    async def _count(self, client: Client, *, is_used: bool = False) -> None:
        """Put a client at the end of the list of its kind, and delete the first of that if there are too many."""
        gone: list[str] = []

        def change(registered: _Registered) -> _Registered:
            lists = registered.names, registered.used
            new, used = ([each for each in names if each != client.client_id] for names in lists)
            (used if is_used else new).append(client.client_id)
            gone[:] = new[:-MAX_REGISTERED] + used[:-MAX_REGISTERED]
            return _Registered(new[-MAX_REGISTERED:], used[-MAX_REGISTERED:])

        await self._records.change("registered", "", _Registered([]), change)
        for name in gone:
            await self._records.remove("client", digest(name))

    async def _document(self, url: str, fetch: Fetch) -> Client:
        """Read a client's document, or remember it. Raises `Refused`."""
        until, found = self._documents.get(url, (0.0, None))
        if found is None or until <= self._clock():
            if await self._records.wait("documents", rate=DOCUMENT_RATE, burst=DOCUMENT_BURST):
                raise Refused("temporarily_unavailable", "Too many client documents at once: try again", status=503)
            seconds, found = await _fetched(url, fetch)
            self._documents[url] = self._clock() + seconds, found
            while len(self._documents) > MAX_DOCUMENTS:
                self._documents.popitem(last=False)
        self._documents.move_to_end(url)
        if isinstance(found, Refused):
            raise Refused(found.code, found.description, status=found.status)
        return found


def document_fetcher() -> Fetcher:
    """Make what documents are read by. It follows no redirect: a document is where its URL says, which is its id."""
    return Fetcher(redirects=0, max_bytes=MAX_DOCUMENT_BYTES)


class _Registered(Struct):
    """The ids of the clients that registered themselves; the newest is at the end."""

    names: list[str]
    """Those that were never granted anything."""
    used: list[str] = []
    """The others; the one that was used last is at the end."""


class _Metadata(Struct):
    """Those members of RFC 7591 section 2 that are used here, with the types they must have."""

    redirect_uris: list[str] = []
    client_name: str | None = None
    token_endpoint_auth_method: str | None = None
    grant_types: list[str] | None = None
    scope: str | None = None
    jwks: dict[str, Any] | None = None


def described(metadata: dict[str, Any], client_id: str, origin: Literal["registered", "document"]) -> Client:
    """Read what a client says of itself; what is not used here is ignored. Raises `Refused`."""
    wrong = "invalid_client_metadata"
    try:
        said = msgspec.convert(metadata, _Metadata)
    except msgspec.ValidationError as error:
        raise Refused(wrong, f"{error}"[:200]) from None
    grants = said.grant_types or ["authorization_code"]
    if not ("authorization_code" in grants) <= len(said.redirect_uris) <= MAX_REDIRECT_URIS:
        raise Refused("invalid_redirect_uri", f"redirect_uris must be a list of 1 to {MAX_REDIRECT_URIS} URLs")
    # RFC 7591 takes a secret for granted where a client does not say. What is published has none, and what is kept
    # from a stranger holds no keys.
    allowed = METHODS[:3] if origin == "registered" else ("none", "private_key_jwt")
    method = said.token_endpoint_auth_method or ("none" if origin == "document" else "client_secret_basic")
    if method not in allowed:
        raise Refused(wrong, f"token_endpoint_auth_method must be one of {', '.join(allowed)}")
    if method == "private_key_jwt" and said.jwks is None:
        raise Refused(wrong, "private_key_jwt needs the public keys in jwks; jwks_uri is not read")
    if not {"authorization_code", DEVICE_CODE} & set(grants):
        raise Refused(wrong, "grant_types must have authorization_code: no other grant is for whoever comes")
    if len(said.scope or "") > MAX_URI_CHARS:
        raise Refused(wrong, f"scope has more than {MAX_URI_CHARS} characters")
    return Client(
        client_id=client_id,
        name=shown_name(said.client_name, "A program without a name"),
        origin=origin,
        redirect_uris=tuple(dict.fromkeys(map(checked_redirect_uri, said.redirect_uris))),
        method=method,
        jwks=said.jwks if method == "private_key_jwt" else None,
        grants=tuple(grant for grant in OPEN_GRANTS if grant in grants),
        scopes=None if said.scope is None else tuple(said.scope.split()),
    )


DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"

OPEN_GRANTS = ("authorization_code", "refresh_token", DEVICE_CODE)
"""The grants that a client may have which nobody vouches for: a user decides on each."""


async def _fetched(url: str, fetch: Fetch) -> tuple[float, Client | Refused]:
    """Fetch a document and read it. Returns for how many seconds to remember the outcome, too."""
    try:
        reply = await fetch.send(HTTP(url=url, headers={"accept": "application/json"}))
        client = described(_document_of(url, reply), url, "document")
    except Refused as refused:
        return FAILURE_SECONDS, _bad_document(refused.description)
    except (MCPError, ValueError):
        return FAILURE_SECONDS, _bad_document("it cannot be fetched from there")
    least, usual, most = DOCUMENT_SECONDS
    said = _MAX_AGE.search(reply.headers.get("cache-control", ""))
    return max(least, min(int(said[1]) if said else usual, most)), client


def _document_of(url: str, reply: HTTPReply) -> dict[str, Any]:
    """Return what a document says, if it is one that may be believed. Raises `Refused`."""
    members = reply.members() if len(reply.body) <= MAX_DOCUMENT_BYTES else {}
    faults = {
        f"that answers with status {reply.status}": reply.status != 200,
        "there is no JSON object of bounded size": not members,
        "the client_id in the document is not exactly that URL": members.get("client_id") != url,
        "the document has no client_name": not isinstance(members.get("client_name"), str),
        "the document publishes a client_secret": "client_secret" in members,
    }
    if found := next((fault for fault, is_so in faults.items() if is_so), None):
        raise Refused("invalid_client", found)
    return members


def _bad_document(why: str) -> Refused:
    return Refused("invalid_client", f"The client id is a URL, but {why}", status=401)


def _split(uri: str) -> SplitResult | None:
    """Take a URI apart; None for what is none. What stands behind an IPv6 address, `urlsplit` would not see."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts if _NETLOC.fullmatch(parts.netloc) else None
