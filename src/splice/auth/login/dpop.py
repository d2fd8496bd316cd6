"""DPoP: a token that is of use only to who has the key it is bound to. Each request carries a proof, signed anew.

The nonces that servers hand out are kept by the caller, for each origin.

https://www.rfc-editor.org/rfc/rfc9449
"""

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Collection
from urllib.parse import urlsplit

import msgspec

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.discovery import Needed, ServerMetadata
from splice.auth.login.signing import SigningKey

QUICK = ("ES256", "Ed25519", "ES384", "ES512")
"""The algorithms that new keys are made for, the best one first. A new RSA key would take a moment."""


class DPoPKey(SigningKey):
    """The key that tokens are bound to. `make` a new one, `load` what `dump` gave."""

    @classmethod
    def agreed(cls, supported: Collection[str] | None) -> "DPoPKey":
        """Make a key that an authorization server can use: `supported` is its `dpop_signing_alg_values_supported`.

        None, as it may support DPoP without saying so: ES256. Raises `AuthorizationFailed` when it supports nothing
        that we do.
        """
        algorithm = next((each for each in QUICK if supported is None or each in supported), None)
        if algorithm is None:
            raise AuthorizationFailed(
                f"the authorization server takes no DPoP key of {', '.join(QUICK)}: turn DPoP off"
            )
        return cls.make(algorithm)

    @classmethod
    def load(cls, text: str) -> "DPoPKey":
        """Read a key that `dump` wrote. Raises `AuthorizationFailed`; the message does not show it."""
        try:
            members = msgspec.json.decode(text, type=dict[str, str])
        except msgspec.MsgspecError:
            members = {}
        algorithm = members.pop("alg", "ES256")
        try:
            return cls.read(members, algorithm)
        except ValueError as error:
            raise AuthorizationFailed(f"the key that the token was bound to is lost: log in again ({error})") from None

    def dump(self) -> str:
        """Write the private key as a JWK, in JSON. It is a secret."""
        return json.dumps({**self._key.as_dict(private=True), "alg": self.algorithm})

    @property
    def thumbprint(self) -> str:
        """The SHA-256 of the public key (RFC 7638): what a bound token names as `cnf.jkt`."""
        return self._key.thumbprint()

    def proof(
        self, method: str, url: str, now: float, *, access_token: str | None = None, nonce: str | None = None
    ) -> str:
        """Make the value of the header `DPoP` for one request.

        `access_token` is the token that the request carries; a request for a token carries none. `nonce` is the last
        one that the origin of `url` gave.
        """
        claims = {
            "jti": secrets.token_urlsafe(24),
            "htm": method,
            "htu": urlsplit(url)._replace(query="", fragment="").geturl(),
            "iat": int(now),
        }
        if access_token is not None:
            digest = hashlib.sha256(access_token.encode("ascii")).digest()
            claims["ath"] = urlsafe_b64encode(digest).rstrip(b"=").decode()
        if nonce is not None:
            claims["nonce"] = nonce
        return self.sign({"typ": "dpop+jwt", "jwk": self.public}, claims)


def key_for(request: Needed, metadata: ServerMetadata, *, is_wanted: bool) -> DPoPKey | None:
    """Make the key for a new token, if it is to be bound: because the user wants that, or the server."""
    is_asked = request.challenge is not None and request.challenge.scheme == "dpop"
    return DPoPKey.agreed(metadata.dpop_signing_alg_values_supported) if is_wanted or is_asked else None
