"""Access tokens: JWTs that a server can check by itself (RFC 9068), signed with ES256.

The key is made on first need and kept. Each token names its audience, the client and the user, ends after an hour at
most, and may be bound to a key of the client's (RFC 9449).
"""

import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey
from msgspec import Struct

from splice.auth.issuer.store import Records

MAX_ACCESS_SECONDS = 3600.0
"""The longest life of an access token: who checks it by itself does not notice that it was revoked."""

MAX_TOKEN_CHARS = 16 * 1024
TYPE = "at+jwt"


class Keys(Struct):
    """What an authorization server signs with: a private JWK, and a secret for what only it reads itself."""

    signing: dict[str, Any]
    sealing: str

    def __repr__(self) -> str:
        return "Keys()"


async def kept_keys(records: Records) -> Keys:
    """Return the keys of a server, made on first need."""
    made = ECKey.generate_key("P-256", parameters={"use": "sig", "alg": "ES256"}, auto_kid=True)
    return await records.once("keys", Keys(made.as_dict(private=True), secrets.token_urlsafe(32)))


class AccessTokens:
    """Makes access tokens, and reads its own ones."""

    def __init__(self, issuer: str, keys: Keys, clock: Callable[[], float] = time.time) -> None:
        self._issuer = issuer
        self._key = ECKey.import_key(keys.signing)
        self._clock = clock

    def jwks(self) -> dict[str, Any]:
        """Return the public keys, as a JWK set."""
        return {"keys": [self._key.as_dict(private=False)]}

    def make(
        self,
        *,
        subject: str,
        client: str,
        audience: str,
        scopes: Iterable[str] = (),
        seconds: float = MAX_ACCESS_SECONDS,
        more: dict[str, Any] | None = None,
    ) -> str:
        """Make a token that lives so long, but an hour at most. `more` are further claims."""
        now = int(self._clock())
        claims = {
            **(more or {}),
            "iss": self._issuer,
            "sub": subject,
            "aud": audience,
            "client_id": client,
            "scope": " ".join(scopes),
            "iat": now,
            "exp": now + int(min(seconds, MAX_ACCESS_SECONDS)),
            "jti": secrets.token_urlsafe(16),
        }
        return jwt.encode({"alg": "ES256", "typ": TYPE, "kid": self._key.kid}, claims, self._key)

    def read(self, token: str) -> dict[str, Any] | None:
        """Return the claims of a token that this server made and that has not ended; None for anything else."""
        if len(token) > MAX_TOKEN_CHARS:
            return None
        try:
            read = jwt.decode(token, self._key, algorithms=["ES256"])
        except (JoseError, ValueError):
            return None
        claims = read.claims
        is_ours = read.header.get("typ") == TYPE and claims.get("iss") == self._issuer
        return claims if is_ours and claims.get("exp", 0) > self._clock() else None
