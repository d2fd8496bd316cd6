"""The token that the guarded server of the bench takes. Driver and server derive the same key, which guards nothing."""

import time

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jwt
from joserfc.jwk import ECKey

ISSUER, AUDIENCE = "https://issuer.bench.invalid", "https://bench.invalid/mcp"

_PRIVATE = ec.derive_private_key(7**50, ec.SECP256R1())
PUBLIC = _PRIVATE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
"""The key that checks it, as PEM."""


def signed() -> str:
    """Sign a token that is good for a day."""
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "bench", "exp": int(time.time()) + 86_400}
    return jwt.encode({"alg": "ES256"}, claims, ECKey.import_key(_PRIVATE))
