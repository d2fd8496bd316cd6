"""The guard of a server: who calls is known before the body of a request is read, and as long as it is answered.

    server = Server("shop", auth=Auth(JWTVerifier(issuer="https://login.example", audience="https://shop.example/mcp")))

A token comes in the Authorization header, or a key in a header of its own; never in a URL. Whoever has none is told
where to get one: the challenge names a document, which names the authorization servers. Streams end with the token.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
https://www.rfc-editor.org/rfc/rfc6750
https://www.rfc-editor.org/rfc/rfc9728
"""

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import partial
from typing import Annotated, Any, Protocol, TypeAlias, TypedDict, Unpack, cast

import msgspec

from splice.auth.guard.access import is_scope, scopes_of
from splice.auth.guard.challenges import Fields, Forbidden, Unauthorized, Unavailable, asked, challenge, words
from splice.auth.guard.places import Places, fields
from splice.auth.guard.proofs import Proofs, bound_to
from splice.auth.guard.refused import Refusals
from splice.auth.guard.streams import Stay
from splice.auth.signed import Refused
from splice.errors import InternalError, InvalidRequest
from splice.protocol.uri import is_web
from splice.rules.http.origins import Refusal
from splice.rules.options import Option, checked, option_table
from splice.rules.principal import Principal

MAX_TOKEN_BYTES = 16 * 1024
"""The longest token that is looked at."""

VERIFY_SECONDS = 20.0
"""How long a verifier may take. A request whose body has not arrived after 30 is refused for that."""

RETRY_SECONDS = 5
"""When a caller may try again whose token could not be checked."""

_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_DOCUMENT_HEADERS = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"*"),
    (b"access-control-allow-methods", b"GET, HEAD, OPTIONS"),
    (b"cache-control", b"no-store"),
)

log = logging.getLogger("splice.auth")

Scope: TypeAlias = MutableMapping[str, Any]
Verify: TypeAlias = Callable[[str], Awaitable[Principal | None] | Principal | None]


class Verifier(Protocol):
    """Tells who a token stands for."""

    async def verify(self, token: str, /) -> Principal | None:
        """Tell who that is; None: the token is not good. Raises `Unavailable` when that cannot be found out now."""
        ...


def _list(what: str, fits: Callable[[Any], object]) -> Option:
    return Option((list, tuple, set, frozenset), what, lambda items: all(map(fits, items)), item=str)


_URL = Option(str, "a URL such as 'https://shop.example/mcp'", is_web)
_URLS = _list("a list of URLs such as ['https://login.example']", is_web)
_SCOPES = _list("a list of scopes such as ['read'], without blanks and quotes", is_scope)


class AuthOptions(TypedDict, total=False):
    """How callers are told to get a token, and what it must allow."""

    authorization_servers: Annotated[Sequence[str], _URLS]
    """The issuers of tokens. By default the one that the verifier names."""
    resource: Annotated[str, _URL]
    """The public URL of the endpoint. By default it is made of the request's Host header."""
    scopes: Annotated[Sequence[str], _SCOPES]
    """What every caller needs."""
    scopes_supported: Annotated[Sequence[str], _SCOPES]
    """What there is to ask for, as the document tells it. By default `scopes`, and those of the server's features."""
    documentation: Annotated[str, _URL]
    """A page for people about the endpoint."""
    trusted_proxies: Annotated[Sequence[str], _list("a list of addresses, networks or 'unix'", bool)]
    """Whose X-Forwarded-Proto and X-Forwarded-Host count."""


_OPTIONS = option_table(AuthOptions)


class Auth:
    """Who may call a server over HTTP.

    `verifier` is one of this package's, or a function of your own, that takes a token and returns a `Principal`, or
    None for one that is not good. Raises `TypeError` and `ValueError` for options that make no sense.
    """

    def __init__(self, verifier: Verifier | Verify, **options: Unpack[AuthOptions]) -> None:
        given = checked("Auth", options, _OPTIONS)
        if isinstance(verifier, type):
            name = verifier.__name__
            raise TypeError(f"Auth takes a verifier that was made, so write {name}(...) and not {name}")
        verify = getattr(verifier, "verify", verifier)
        if not callable(verify):
            raise TypeError(f"Auth takes a verifier such as JWTVerifier, or a function, not {type(verifier).__name__}")
        self._verify = cast("Verify", verify)
        header: str | None = getattr(verifier, "header", None)
        self._header = None if header is None else header.lower().encode()
        """The header of an API key; None: tokens come in the Authorization header."""
        self._servers = list(given.get("authorization_servers", getattr(verifier, "issuers", ())))
        self._proofs, self._refusals = Proofs(), Refusals()
        self._scopes = list(dict.fromkeys(given.get("scopes", ())))
        self._needed = frozenset(self._scopes)
        self._supported: Sequence[str] | None = given.get("scopes_supported")
        self._places = Places(given.get("resource"), given.get("trusted_proxies", ()))
        self._described: dict[str, Any] = {
            "authorization_servers": self._servers,
            "bearer_methods_supported": ["header"],
            "resource_documentation": given.get("documentation"),
        }

    async def admit(self, scope: Scope, path: str | None) -> tuple[Principal, Callable[[Any], object]]:
        """Find out who sends a request to the endpoint at `path`, or to any path.

        Returns the principal, and what ends the answer when the caller may no longer see it. Raises `Refusal`.
        """
        write = partial(self._challenge, scope, path)
        asked.set(write)
        token = self._token(scope, write)
        if token is None:
            how = "Authorization: Bearer <token>" if self._header is None else f"{self._header.decode()}: <key>"
            raise _refusal(Unauthorized(f"This server needs to know who calls: send the header `{how}`"), write())
        principal = await self._known(token)
        if principal is None or not self._is_theirs(scope, path, token, principal):
            what = "token" if self._header is None else "API key"
            told = f"The {what} was not accepted: it is unknown, has expired, or is for another server"
            raise _refusal(Unauthorized(told), write("invalid_token"))
        if not self._needed <= principal.scopes:
            told = f"This server needs the scopes {words(self._scopes)}, and the token lacks some"
            forbidden = Forbidden(told, self._scopes)
            raise _refusal(forbidden, forbidden.headers)
        return principal, Stay(scope, partial(self._still, token, principal), principal.expires)

    def document(self, path: str, endpoint: str | None, service: Any) -> Callable[[], Awaitable[Any]] | None:
        """Give the function behind the document about the endpoint, if that is at `path`. Anybody may read it.

        `service` is what the endpoint serves: its features take scopes, too.
        """
        if not self._servers or not self._places.is_document(path, endpoint):
            return None

        async def found() -> Any:
            supported = scopes_of(service, self._scopes) if self._supported is None else self._supported
            return partial(self._describe, endpoint, supported)

        return found

    # Tokens.

    def _token(self, scope: Scope, write: Callable[..., Fields]) -> str | None:
        """Read the token of a request; None when there is none. Raises `Refusal` for what can be none."""
        values = fields(scope, self._header or b"authorization")
        if not values:
            return None
        if len(values) > 1 or len(values[0]) > MAX_TOKEN_BYTES:
            told = f"There may be one {'Authorization header' if self._header is None else 'API key'}, not longer than "
            raise Refusal(400, InvalidRequest(f"{told}{MAX_TOKEN_BYTES} bytes"), write("invalid_request"))
        text = values[0].decode("latin-1")
        if self._header is not None:
            return text
        scheme, _, token = text.partition(" ")
        if scheme.lower() not in ("bearer", "dpop"):
            return None
        token = token.strip(" ")
        if _TOKEN.fullmatch(token) is None:
            raise _refusal(Unauthorized("What follows `Bearer` is not a token"), write("invalid_token"))
        return token

    def _is_theirs(self, scope: Scope, path: str | None, token: str, principal: Principal) -> bool:
        """Tell whether a token is its sender's: one that is bound to a key comes with a proof, no other does."""
        thumbprint = principal.claims and bound_to(principal)
        says = self._header is None and fields(scope, b"authorization")[0][:4].lower() == b"dpop"
        if thumbprint is None or not principal.claims:
            if says:
                self._refusals.tell(Refused("it came with the scheme DPoP, but is not bound to a key"))
            return not says
        urls = self._places.urls(scope, path)
        if says and self._proofs.prove(fields(scope, b"dpop"), token, str(thumbprint), scope["method"], urls):
            return True
        self._refusals.tell(Refused("it is bound to a key, and came without a good DPoP proof for this request"))
        return False

    async def _known(self, token: str) -> Principal | None:
        """Tell who a token stands for; None for one that is not good. Raises `Refusal` when that is not known now."""
        try:
            async with asyncio.timeout(VERIFY_SECONDS):
                found: Any = self._verify(token)
                principal: Any = await found if inspect.isawaitable(found) else found
        except Unavailable as error:
            log.warning("tokens cannot be checked: %s", error)
            raise _later() from None
        except Exception:
            log.exception("a verifier failed")
            raise _later() from None
        if principal is None or isinstance(principal, Principal):
            return principal
        log.error("a verifier returned %s: it must be a Principal, or None", type(principal).__name__)
        raise _later()

    async def _still(self, token: str, before: Principal) -> Principal | None:
        """Check a token once more; who cannot be checked now may stay until then."""
        try:
            principal = await self._known(token)
        except Refusal:
            return before
        if principal is None or principal != before or not before.scopes <= principal.scopes:
            return None
        return principal

    # What callers are told.

    def _challenge(self, scope: Scope, path: str | None, error: str | None = None, more: Sequence[str] = ()) -> Fields:
        """Write the challenge of a request, with all scopes that it takes."""
        if self._header is not None:
            return ((b"www-authenticate", challenge("ApiKey", realm="mcp", header=self._header.decode("latin-1"))),)
        scopes = words(list(dict.fromkeys((*self._scopes, *more))))
        document = self._places.document(scope, path) if self._servers else None
        realm = None if document else "mcp"
        value = challenge("Bearer", resource_metadata=document, realm=realm, scope=scopes, error=error)
        return ((b"www-authenticate", value),)

    async def _describe(self, endpoint: str | None, supported: Sequence[str], scope: Scope, _: Any, send: Any) -> None:
        """Answer with the document, as ASGI has it."""
        resource = self._places.resource(scope, endpoint)
        members = {"resource": resource, "scopes_supported": list(supported) or None, **self._described}
        is_asked = scope["method"] == "OPTIONS"
        body = msgspec.json.encode({name: value for name, value in members.items() if value is not None})
        headers = [*_DOCUMENT_HEADERS] if is_asked else [*_DOCUMENT_HEADERS, (b"content-type", b"application/json")]
        if not is_asked:
            headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": 204 if is_asked else 200, "headers": headers})
        await send({"type": "http.response.body", "body": body if scope["method"] == "GET" else b""})


def _refusal(error: Unauthorized | Forbidden, headers: Fields) -> Refusal:
    return Refusal(error.code, error, headers)


def _later() -> Refusal:
    retry = (b"retry-after", b"%d" % RETRY_SECONDS)
    return Refusal(503, InternalError("It cannot be checked who calls, right now; try again later"), [retry])
