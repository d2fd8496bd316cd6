"""Logging a user in at an identity provider: the client's side of one login, as the proxy plays it.

Who the user is comes out of the ID token, which is checked by the provider's published keys, or is asked of the
provider where it has none. Whatever else the provider grants is dropped at once: nothing of it is kept or handed on.

https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth
"""

import asyncio
import hashlib
import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import msgspec
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet, import_key
from msgspec import Struct

from splice.auth.errors import AuthorizationFailed
from splice.auth.fetcher import Fetcher
from splice.auth.issuer.providers import Provider, configured
from splice.auth.login.kept import Registration
from splice.auth.login.steps import HTTP, Flow, HTTPReply
from splice.auth.login.tokens import ask

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA")
"""What an ID token may be signed with: never with a secret that is shared."""

METADATA_SECONDS = 3600.0
"""How long it is remembered how a provider describes itself."""

KEYS_SECONDS = 60.0
"""A key that is not known makes the keys be read anew, but not before this time has passed."""

SKEW_SECONDS = 60.0
"""How far the clock of a provider may be from ours."""

MAX_SUBJECT_CHARS = 255

MAX_KEYS = 50
"""How many published keys are read."""


class Identity(Struct, frozen=True):
    """A user, as the provider knows them."""

    subject: str
    """Names the user, once and for ever, at this provider."""
    claims: Mapping[str, Any]
    """All that it told of the user. People can change most of it: only `subject` tells who somebody is."""

    def __repr__(self) -> str:
        return f"Identity(subject={self.subject!r})"


class Metadata(Struct, kw_only=True):
    """A provider as it describes itself. What is not used here is not read."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str = ""
    userinfo_endpoint: str = ""


class _Claims(Struct):
    """What an ID token must name."""

    iss: str
    aud: str | list[str]
    exp: float
    nonce: str
    azp: str | None = None


class _Published(Struct):
    keys: list[dict[str, Any]]


class Upstream:
    """A client of one identity provider, with an id and a secret that were registered there by hand."""

    def __init__(
        self,
        provider: Provider,
        client_id: str,
        client_secret: str,
        *,
        fetcher: Fetcher,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.provider = provider
        self._known = Registration(
            issuer=provider.issuer, client_id=client_id, client_secret=client_secret, method=provider.method
        )
        self._fetcher = fetcher
        self._clock = clock
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: tuple[float, KeySet] | None = None
        self._reading = asyncio.Lock()

    def __repr__(self) -> str:
        return f"Upstream({self.provider.issuer!r}, {self._known.client_id!r})"

    async def address(self, *, redirect_uri: str, state: str, verifier: str) -> str:
        """Return where to send the browser of a user. Raises `AuthorizationFailed` and `ConnectionClosed`.

        `verifier` is for this login only; the nonce of the ID token is made of it, too.
        """
        metadata = await self._described()
        asked = {
            **dict(self.provider.parameters),
            "response_type": "code",
            "client_id": self._known.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self.provider.scopes),
            "state": state,
            "code_challenge": _hashed(verifier),
            "code_challenge_method": "S256",
        }
        if self.provider.is_openid:
            asked["nonce"] = nonce_of(verifier)
        separator = "&" if "?" in metadata.authorization_endpoint else "?"
        return f"{metadata.authorization_endpoint}{separator}{urlencode(asked)}"

    async def identity(self, *, code: str, redirect_uri: str, verifier: str) -> Identity:
        """Find out who came back with `code`. Raises `AuthorizationFailed` and `ConnectionClosed`."""
        metadata = await self._described()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        answer = await self._drive(ask(metadata.token_endpoint, self._known, form, now=self._clock()))
        if self.provider.is_openid:
            claims = await self._claims(answer.get("id_token"), metadata, nonce_of(verifier))
        else:
            claims = await self._user(answer.get("access_token"), metadata)
        subject = claims.get(self.provider.subject)
        if isinstance(subject, int) and not isinstance(subject, bool):
            subject = str(subject)
        if not isinstance(subject, str) or not 1 <= len(subject) <= MAX_SUBJECT_CHARS or not subject.isprintable():
            raise self._failed(f"does not name the user by {self.provider.subject}")
        return Identity(subject, claims)

    async def _claims(self, token: Any, metadata: Metadata, nonce: str) -> dict[str, Any]:
        """Check an ID token (OpenID Connect Core 3.1.3.7)."""
        if not isinstance(token, str):
            raise self._failed("gave no ID token")
        try:
            claims = await self._verified(token, metadata)
            read = msgspec.convert(claims, _Claims)
        except msgspec.ValidationError:
            raise self._failed("gave an ID token without what it must name") from None
        except (JoseError, ValueError):  # ValueError: what is no token at all
            raise self._failed("gave an ID token with a signature that is not its own") from None
        ours = self._known.client_id
        audiences = [read.aud] if isinstance(read.aud, str) else read.aud
        is_ours = audiences == [ours] or (ours in audiences and read.azp == ours)
        if read.iss != self.provider.issuer or not is_ours:
            raise self._failed("gave an ID token of another issuer, or for another client")
        if not read.exp > self._clock() - SKEW_SECONDS:  # which NaN is not, either
            raise self._failed("gave an ID token that has ended: check the clock of this machine")
        if not hmac.compare_digest(read.nonce.encode(errors="replace"), nonce.encode()):
            raise self._failed("gave an ID token of another login")
        return claims

    async def _verified(self, token: str, metadata: Metadata) -> dict[str, Any]:
        """Verify a signature; when the key is not known, the keys may have been exchanged. Raises `JoseError`."""
        keys, is_new = await self._key_set(metadata)
        try:
            return jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims
        except (JoseError, ValueError):
            if is_new:
                raise
        keys, _ = await self._key_set(metadata, older=KEYS_SECONDS)
        return jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims

    async def _key_set(self, metadata: Metadata, older: float = METADATA_SECONDS) -> tuple[KeySet, bool]:
        """Return the keys, and whether they were read for this; known ones are read anew when they are `older`."""
        async with self._reading:
            if self._keys is not None and self._clock() - self._keys[0] < older:
                return self._keys[1], False
            document = await self._fetcher.get_json(metadata.jwks_uri)
            keys = KeySet(_usable(document))
            self._keys = self._clock(), keys
            return keys, True

    async def _user(self, token: Any, metadata: Metadata) -> dict[str, Any]:
        """Ask who an access token is about."""
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise self._failed("gave no access token")
        headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
        reply = await self._fetcher.send(HTTP(url=metadata.userinfo_endpoint, headers=headers))
        if reply.status != 200:
            raise self._failed(f"does not say who the user is: status {reply.status}")
        return reply.members()

    async def _described(self) -> Metadata:
        """Find the endpoints of the provider."""
        given = self.provider
        if given.authorization_endpoint:
            return Metadata(
                issuer=given.issuer,
                authorization_endpoint=given.authorization_endpoint,
                token_endpoint=given.token_endpoint,
                jwks_uri=given.jwks_uri,
                userinfo_endpoint=given.userinfo_endpoint,
            )
        async with self._reading:
            if self._metadata is None or self._clock() - self._metadata[0] >= METADATA_SECONDS:
                self._metadata = self._clock(), await self._discovered()
            return self._metadata[1]

    async def _discovered(self) -> Metadata:
        document = await self._fetcher.get_json(self.provider.discovery_url)
        try:
            metadata = msgspec.convert(document, Metadata)
            configured(metadata.authorization_endpoint)
        except (msgspec.ValidationError, ValueError):
            raise self._failed("describes itself without endpoints that can be used") from None
        if metadata.issuer != self.provider.issuer:
            raise self._failed(f"describes itself as another issuer, {metadata.issuer[:100]!a}")
        return metadata

    async def _drive(self, flow: Flow[dict[str, Any]]) -> dict[str, Any]:
        """Carry out a flow that has only requests in it."""
        reply: HTTPReply | None = None
        while True:
            try:
                step = flow.send(reply)
            except StopIteration as end:
                members: dict[str, Any] = end.value
                return members
            assert isinstance(step, HTTP)
            reply = await self._fetcher.send(step)

    def _failed(self, what: str) -> AuthorizationFailed:
        return AuthorizationFailed(f"{self.provider.name} ({self.provider.issuer}) {what}")


def nonce_of(verifier: str) -> str:
    """Make the nonce of a login of its verifier, which both sides of it must not know from each other."""
    return _hashed(f"nonce {verifier}")


def _hashed(text: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def _usable(document: dict[str, Any]) -> list[Key]:
    """Read published keys. One that cannot be read, or is for something else, does not keep the others from use."""
    keys: list[Key] = []
    with suppress(msgspec.ValidationError):
        for each in msgspec.convert(document, _Published).keys[:MAX_KEYS]:
            if each.get("kty") in ("RSA", "EC", "OKP") and each.get("use", "sig") == "sig":
                with suppress(JoseError, ValueError, KeyError, TypeError):
                    keys.append(import_key(each))
    return keys
