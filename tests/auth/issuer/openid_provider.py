"""An identity provider for tests: the half of OpenID that a proxy meets. A test says what it does wrong."""

import base64
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from splice.auth.issuer.providers import Provider
from transports.raw_http import RawServer, Visit, raw_server

CLIENT_ID = "proxy/1"
CLIENT_SECRET = "up stream+s3cr3t"


@cache
def rsa() -> RSAKey:
    return RSAKey.generate_key(2048, parameters={"kid": "r1", "use": "sig"})


class Identities:
    """A provider with one user, who says yes."""

    def __init__(self) -> None:
        self.server: RawServer
        self.issuer = ""
        self.signing: Any = rsa()
        self.algorithm = "RS256"
        self.published: list[dict[str, Any]] = [rsa().as_dict(private=False)]
        self.claims: dict[str, Any] = {}
        """Claims of ID tokens other than the right ones; None leaves one out."""
        self.metadata: dict[str, Any] = {}
        self.clock: Callable[[], float] = time.time
        self.token_error: str | None = None
        self.answer: dict[str, Any] = {}
        self.user: Any = {"id": 4711, "login": "ann", "sub": "ann"}
        self._codes: dict[str, dict[str, str]] = {}

    def provider(self, **other: Any) -> Provider:
        return Provider(name="Tests", issuer=self.issuer, **other)

    def decide(self, address: str, **other: str | None) -> dict[str, str]:
        """Let the user say yes at the page that a browser was sent to. Returns the parameters of the way back."""
        asked = dict(parse_qsl(urlsplit(address).query))
        code = secrets.token_urlsafe(8)
        self._codes[code] = asked
        back = {"code": code, "state": asked["state"], "iss": self.issuer, **other}
        return {name: value for name, value in back.items() if value is not None}

    async def handle(self, visit: Visit) -> None:
        if visit.path.endswith("/.well-known/openid-configuration"):
            endpoints = {f"{name}_endpoint": f"{self.issuer}/{name}" for name in ("authorization", "token", "userinfo")}
            await visit.json({"issuer": self.issuer, "jwks_uri": f"{self.issuer}/jwks", **endpoints} | self.metadata)
        elif visit.path.endswith("/jwks"):
            await visit.json({"keys": self.published})
        elif visit.path.endswith("/userinfo"):
            await visit.json(self.user, 200 if visit.headers.get("authorization") == "Bearer upstream-t0ken" else 401)
        elif visit.path.endswith("/token"):
            await self._token(visit)
        else:
            await visit.json({}, 404)

    async def _token(self, visit: Visit) -> None:
        form = dict(parse_qsl(visit.body.decode()))
        given = base64.b64decode(visit.headers.get("authorization", "Basic Og==").partition(" ")[2]).decode()
        known = [unquote_plus(each) for each in given.split(":")] == [CLIENT_ID, CLIENT_SECRET]
        known |= (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, CLIENT_SECRET)
        asked = self._codes.pop(form.get("code", ""), None)
        hashed = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(hashed).rstrip(b"=").decode()
        if self.token_error is not None:
            await visit.json({"error": self.token_error, "error_description": form.get("code", "")}, 400)
        elif not known:
            await visit.json({"error": "invalid_client"}, 401)
        elif asked is None or (asked["code_challenge"], asked["redirect_uri"]) != (challenge, form["redirect_uri"]):
            await visit.json({"error": "invalid_grant"}, 400)
        else:
            answer = {"access_token": "upstream-t0ken", "token_type": "Bearer", "refresh_token": "upstream-r3fresh"}
            await visit.json(answer | {"id_token": self.id_token(asked.get("nonce"))} | self.answer)

    def id_token(self, nonce: str | None) -> str:
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": "ann",
            "exp": int(self.clock()) + 300,
            "nonce": nonce,
            "email": "ann@example.com",
        } | self.claims
        header = {"alg": self.algorithm, "kid": self.signing.kid}
        told = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(header, told, self.signing, algorithms=[self.algorithm])


def another_key(kid: str = "e1") -> ECKey:
    return ECKey.generate_key("P-256", parameters={"kid": kid, "use": "sig"})


@asynccontextmanager
async def identities() -> AsyncIterator[Identities]:
    made = Identities()
    async with raw_server(made.handle) as made.server:
        made.issuer = made.server.url.removesuffix("/mcp") + "/realm"
        yield made


def query_of(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


def with_query(url: str, parameters: dict[str, str]) -> str:
    return f"{url}?{urlencode(parameters)}"
