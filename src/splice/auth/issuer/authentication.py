"""How a client proves at an endpoint who it is: by nothing, a secret, or a JWT signed with its key.

RFC 6749 section 2.3.1 and RFC 7523 section 2.2. A secret may come in the header or in the form, whichever of the two
the client registered for: the secret is the same. Of what comes twice, both ways at once, nothing is taken.
"""

import hmac
import time
from base64 import b64decode
from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import unquote_plus

import msgspec
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from msgspec import Struct

from splice.auth.issuer.clients import Client, Clients
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Records, digest
from splice.auth.issuer.web import Request

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ALGORITHMS = ("ES256", "ES384", "Ed25519", "EdDSA", "RS256", "PS256")

ASSERTION_SECONDS = 600.0
"""How far in the future the end of an assertion may be: so long it is remembered."""

SKEW_SECONDS = 30.0
MAX_ASSERTION_CHARS = 16 * 1024


class _Claims(Struct):
    iss: str
    sub: str
    aud: str | list[str]
    exp: float
    jti: str
    nbf: float = 0.0


class Authentication:
    """Tells which client sends a request. `audiences` are the names under which a client may know this server."""

    def __init__(
        self,
        clients: Clients,
        records: Records,
        audiences: Collection[str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clients = clients
        self._records = records
        self._audiences = frozenset(audiences)
        self._clock = clock

    async def client(self, request: Request, form: dict[str, str]) -> Client:
        """Return the client that sends a request. Raises `Refused`."""
        header = request.header("authorization")
        ways = [name for name in ("client_secret", "client_assertion") if name in form]
        if len(ways) + (header is not None) > 1:
            raise Refused("invalid_request", "The client proves itself in two ways at once")
        if header is not None:
            client_id, secret = _basic(header)
            if form.get("client_id", client_id) != client_id:
                raise Refused("invalid_request", "The header and the form name different clients")
            return await self._by_secret(client_id, secret)
        if "client_assertion" in form:
            return await self._by_assertion(form)
        client_id = form.get("client_id", "")
        if "client_secret" in form:
            return await self._by_secret(client_id, form["client_secret"])
        client = await self._clients.find(client_id)
        if client.method != "none":
            raise _unknown(f"This client proves itself by {client.method}, and did not")
        return client

    async def _by_secret(self, client_id: str, secret: str) -> Client:
        client = await self._clients.find(client_id)
        # A hash is compared in any case, so that the time tells nothing.
        is_right = hmac.compare_digest(digest(secret), client.secret or digest(""))
        if client.secret is None or not is_right:
            raise _unknown("The secret of this client is wrong")
        return client

    async def _by_assertion(self, form: dict[str, str]) -> Client:
        assertion = form["client_assertion"]
        if form.get("client_assertion_type") != ASSERTION or len(assertion) > MAX_ASSERTION_CHARS:
            raise Refused("invalid_request", f"client_assertion_type must be {ASSERTION}")
        client = await self._clients.find(form.get("client_id") or _subject(assertion))
        if client.jwks is None:
            raise _unknown("This client has no keys here")
        claims = _verified(assertion, client.jwks)
        now = self._clock()
        audiences = {claims.aud} if isinstance(claims.aud, str) else set(claims.aud)
        faults = {
            "iss and sub must be the client id": {claims.iss, claims.sub} != {client.client_id},
            "aud must be the issuer or the token endpoint": not audiences & self._audiences,
            "it has ended, or begins later": not claims.nbf - SKEW_SECONDS <= now < claims.exp + SKEW_SECONDS,
            f"it lives longer than {ASSERTION_SECONDS:.0f} s": not claims.exp <= now + ASSERTION_SECONDS,
        }
        if fault := next((fault for fault, is_so in faults.items() if is_so), None):
            raise _unknown(f"The assertion does not hold: {fault}")
        name = digest(f"{client.client_id} {claims.jti}")
        if not await self._records.first("assertion", name, ttl=ASSERTION_SECONDS + 2 * SKEW_SECONDS):
            raise _unknown("The assertion was used already: make one for each request")
        return client


def _basic(header: str) -> tuple[str, str]:
    """Read the header. Both parts are form-encoded in it (RFC 6749 section 2.3.1). Raises `Refused`."""
    scheme, _, encoded = header.partition(" ")
    try:
        decoded = b64decode(encoded.strip(), validate=True).decode()
    except ValueError:
        decoded = ""
    client_id, colon, secret = decoded.partition(":")
    if scheme.lower() != "basic" or not colon:
        raise _unknown("The header Authorization must be Basic, with client id and secret")
    return unquote_plus(client_id), unquote_plus(secret)


def _subject(assertion: str) -> str:
    """Read whom an assertion is about, before anything of it is believed."""
    parts = assertion.split(".")
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        claims: Any = msgspec.json.decode(b64decode(padded, altchars=b"-_"), type=dict[str, Any])
    except (IndexError, ValueError, RecursionError):
        return ""
    return str(claims.get("sub", ""))


def _verified(assertion: str, jwks: dict[str, Any]) -> _Claims:
    try:
        keys = KeySet.import_key_set({"keys": jwks["keys"]})
        claims = jwt.decode(assertion, keys, algorithms=list(ALGORITHMS)).claims
        return msgspec.convert(claims, _Claims)
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise _unknown("The assertion is not a JWT with iss, sub, aud, exp, jti, signed by the client's key") from None


def _unknown(why: str) -> Refused:
    return Refused("invalid_client", why, status=401, headers=[("www-authenticate", 'Basic realm="token"')])
