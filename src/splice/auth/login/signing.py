"""Private keys of a client: what they sign says who it is (client assertions), or that a token is its own (DPoP).

https://www.rfc-editor.org/rfc/rfc7515
https://www.rfc-editor.org/rfc/rfc7523#section-2.2
"""

import json
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, OKPKey, RSAKey

ASSERTION_SECONDS = 300
"""How long a client assertion can be used."""

MAX_KEY_BYTES = 65_536
"""What is read of a file that has a key."""

_FILE_NAME = re.compile(r"(?:~|\.{1,2})?/[^\n{}]{0,1000}|[^\n{}]{1,1000}\.[A-Za-z0-9]{1,5}")
"""A text that is no key: neither PEM nor JSON is of one line with such an end, or begins so."""

RSA_BITS = 2048
"""The shortest RSA key that is used, and the length of new ones."""

ALGORITHMS: dict[str, tuple[str, str | int]] = {
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "Ed25519": ("OKP", "Ed25519"),
    "PS256": ("RSA", RSA_BITS),
    "PS384": ("RSA", RSA_BITS),
    "PS512": ("RSA", RSA_BITS),
    "RS256": ("RSA", RSA_BITS),
    "RS384": ("RSA", RSA_BITS),
    "RS512": ("RSA", RSA_BITS),
}
"""Algorithm -> the type of its keys, and their curve or bits. In none of them is the key known to both sides."""


class SigningKey:
    """A private key, and the algorithm it signs with. No `repr` shows the key."""

    def __init__(self, key: "ECKey | OKPKey | RSAKey", algorithm: str) -> None:
        self._key = key
        self.algorithm = algorithm
        self.public: dict[str, Any] = key.as_dict(private=False)
        """The public key, as a JWK."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(algorithm={self.algorithm!r})"

    @classmethod
    def make(cls, algorithm: str = "ES256") -> Self:
        """Make a new key. Raises `ValueError` for an algorithm that is not in `ALGORITHMS`."""
        kind, size = _kind(algorithm)
        return cls(_class(kind).generate_key(size), algorithm)

    @classmethod
    def read(cls, key: str | bytes | Path | Mapping[str, Any], algorithm: str = "ES256") -> Self:
        """Read a private key: PEM without a password, or a JWK, also as JSON; or a file that has one, read at once.

        Raises `ValueError` when it cannot be read or does not suit the algorithm; the message does not show it.
        """
        kind, size = _kind(algorithm)
        if isinstance(key, str) and _FILE_NAME.fullmatch(key):
            raise ValueError("the private key looks like the name of a file: give it as Path(...), to read that file")
        found: Any = None
        given = _content(key) if isinstance(key, Path) else key
        try:
            if isinstance(given, str | bytes) and given.lstrip()[:1] in ("{", b"{"):
                given = json.loads(given)
            found = _class(kind).import_key(given if isinstance(given, str | bytes) else dict(given))
            suits = found.is_private and _suits(found, size)
        except (ValueError, TypeError, RecursionError, _jose().errors.JoseError):
            suits = False
        if not suits:  # outside of the `except`: what caused it may quote the key
            raise ValueError(f"the private key is not one for {algorithm}, which needs {kind} {size}, as PEM or JWK")
        return cls(found, algorithm)

    def sign(self, header: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
        """Make a JWT. Its `alg` is the algorithm of the key."""
        named = {"alg": self.algorithm, **header}
        text: str = _jose().jwt.encode(named, dict(claims), self._key, algorithms=[self.algorithm])
        return text

    def client_assertion(self, client_id: str, issuer: str, now: float) -> str:
        """Make a JWT by which a client proves who it is to one authorization server, once."""
        key_id = self.public.get("kid")
        return self.sign(
            {"typ": "JWT"} if key_id is None else {"typ": "JWT", "kid": key_id},
            {
                "iss": client_id,
                "sub": client_id,
                "aud": issuer,
                "iat": int(now),
                "exp": int(now) + ASSERTION_SECONDS,
                "jti": secrets.token_urlsafe(24),
            },
        )


def _kind(algorithm: str) -> tuple[str, str | int]:
    """Find the type and size of an algorithm's keys."""
    if algorithm not in ALGORITHMS:
        raise ValueError(f"{algorithm!a} is not an algorithm that signs with a private key: {', '.join(ALGORITHMS)} do")
    return ALGORITHMS[algorithm]


def _content(path: Path) -> bytes:
    """Read a file as far as a key may be long. Raises `ValueError`."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_KEY_BYTES)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ValueError(f"the private key cannot be read from {str(path)!a}: {why}") from None


def _jose() -> Any:
    """Load the library when something is signed: that takes longer than to load all the rest of a client."""
    from joserfc import errors, jwk, jwt  # noqa: PLC0415

    return SimpleNamespace(errors=errors, jwk=jwk, jwt=jwt)


def _class(kind: str) -> Any:
    """Find the class of keys of one type."""
    return getattr(_jose().jwk, f"{kind}Key")


def _suits(key: Any, size: str | int) -> bool:
    if isinstance(size, str):
        return bool(key.curve_name == size)
    return bool(key.private_key.key_size >= size)
