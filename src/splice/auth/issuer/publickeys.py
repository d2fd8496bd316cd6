"""The public keys of a client that somebody adds by hand: as PEM, as a JWK, or as a JWK set (RFC 7517)."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from splice.auth.issuer.authentication import ALGORITHMS
from splice.auth.publickeys import algorithms_of, read_keys

PublicKeys: TypeAlias = Mapping[str, Any] | str | bytes
"""PEM or JSON as text, or a JWK or JWK set."""

_TAKES = "public keys as PEM text, a JWK, or a JWK set {'keys': [...]}; EC of P-256 or P-384, Ed25519, RSA of 2048 bits"


def read_public(given: PublicKeys) -> dict[str, Any]:
    """Return a JWK set. Raises `ValueError` for what has a private key in it, or is none; no message shows it."""
    if _is_private(given):
        raise ValueError("jwks= has a private key in it, which is for the client alone: give the public half of it")
    try:
        keys = read_keys([given])
    except (ValueError, TypeError, RecursionError):
        keys = []
    if not keys or not all(set(algorithms_of(key)) & set(ALGORITHMS) for key in keys):
        raise ValueError(f"jwks= takes {_TAKES}")
    return {"keys": [key.as_dict(private=False) for key in keys]}


def _is_private(given: PublicKeys) -> bool:
    """Tell whether there is a private part, however it is written."""
    if isinstance(given, str | bytes):
        text = given if isinstance(given, bytes) else given.encode(errors="replace")
        if b"PRIVATE KEY" in text:
            return True
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            return False
    if not isinstance(given, Mapping):
        return False
    said: Any = cast("Any", given).get("keys")
    members: Any = cast("Any", said) if isinstance(said, list) else [given]
    return any(isinstance(each, Mapping) and "d" in each for each in members)
