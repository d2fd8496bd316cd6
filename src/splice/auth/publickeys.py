"""Public keys, as PEM, JWK or JWK set: each with the algorithms of its own kind.

Private parts and secrets that both sides know are left out, or refused.

https://www.rfc-editor.org/rfc/rfc7517
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OctKey, OKPKey, RSAKey

RSA_BITS = 2048

_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_CURVES = {"P-256": ("ES256",), "P-384": ("ES384",), "P-521": ("ES512",), "Ed25519": ("Ed25519", "EdDSA")}
ALGORITHMS = frozenset((*_RSA, *(name for names in _CURVES.values() for name in names)))
"""Those of public keys: whoever can check a token by one of them still cannot make one."""

Key: TypeAlias = RSAKey | ECKey | OKPKey
GivenKey: TypeAlias = Mapping[str, Any] | str | bytes
"""A JWK, a JWK set, or PEM."""
GivenKeysOrOne: TypeAlias = Sequence[GivenKey] | GivenKey


def algorithms_of(key: Key) -> tuple[str, ...]:
    """List what a key can be used with; nothing where it is too weak, or meant for something else."""
    said = key.as_dict(private=False)
    if said.get("use", "sig") != "sig":
        return ()
    if isinstance(key, RSAKey):
        suits: tuple[str, ...] = _RSA if key.public_key.key_size >= RSA_BITS else ()
    else:
        suits = _CURVES.get(str(said.get("crv")), ())
    return tuple(each for each in suits if said.get("alg", each) == each)


def read_keys(given: GivenKeysOrOne) -> list[Key]:
    """Read public keys. Raises `ValueError` for what is none, which is not shown."""
    found = list[Key]()
    for each in [given] if isinstance(given, (Mapping, str, bytes)) else given:
        text = each.decode() if isinstance(each, bytes) else each
        said: Any = json.loads(text) if isinstance(text, str) and text.lstrip().startswith("{") else text
        members: Any = cast("Any", said).get("keys", [said]) if isinstance(said, Mapping) else [said]
        listed = cast("Sequence[Any]", members) if isinstance(members, list) else ()
        for member in listed or [None]:
            key = read_key(member)
            if key is None or not algorithms_of(key):
                what = "a public key: RSA of 2048 bits, EC or Ed25519, as PEM, JWK or JWK set"
                raise ValueError(f"keys= of JWTVerifier takes {what}; secrets that both sides know are not taken")
            found.append(key)
    return found


def read_key(member: Any) -> Key | None:
    """Read the public part of one key; None for any other."""
    try:
        if isinstance(member, str):
            kinds: tuple[Any, ...] = RSAKey, ECKey, OKPKey
            for kind in kinds:
                try:
                    key: Any = kind.import_key(member)
                    break
                except (JoseError, ValueError, TypeError):
                    continue
            else:
                return None
        else:
            key = JWKRegistry.import_key(dict(member))
        if isinstance(key, OctKey):
            return None
        return cast("Key", cast("Any", type(key)).import_key(key.as_dict(private=False)))
    except (Warning, JoseError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None
