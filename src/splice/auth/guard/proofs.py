"""DPoP: a token that is bound to a key is taken from whoever proves, with each request, to have that key.

https://www.rfc-editor.org/rfc/rfc9449#section-4.3
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Collection, Sequence
from hmac import compare_digest
from time import time
from typing import Any
from urllib.parse import urlsplit

from splice.auth.guard.claims import members
from splice.auth.guard.refused import Refused
from splice.auth.guard.signed import claims_by, header_of
from splice.auth.publickeys import algorithms_of, read_keys
from splice.rules.principal import Principal

PROOF_SECONDS = 300
"""How old a proof may be, or how far in the future."""

MAX_PROOFS = 100_000
"""How many proofs are remembered, so that none is used twice; the oldest is forgotten first."""

MAX_PROOF_BYTES = 8192


def bound_to(principal: Principal) -> str | None:
    """Tell the thumbprint of the key that a token is bound to; empty where it is bound in a way that is not known."""
    bound: Any = principal.claims.get("cnf")
    if not bound:
        return None
    thumbprint = members(bound).get("jkt")
    return thumbprint if isinstance(thumbprint, str) else ""


class Proofs:
    """Checks proofs, and remembers them."""

    def __init__(self, limit: int = MAX_PROOFS) -> None:
        self._limit = limit
        self._seen: dict[bytes, float] = {}
        """Until when a proof is not to be taken again, by its hash; the oldest first."""

    def prove(self, sent: Sequence[bytes], token: str, thumbprint: str, method: str, urls: Collection[str]) -> bool:
        """Tell whether the `DPoP` header proves that its sender has the key, for this request and this token."""
        if len(sent) != 1 or len(sent[0]) > MAX_PROOF_BYTES or not thumbprint:
            return False
        try:
            key, claims = _read(sent[0].decode("latin-1"))
        except (Refused, ValueError):
            return False
        now, at, id = time(), claims.get("iat"), claims.get("jti")
        digest = urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
        if not isinstance(at, (int, float)) or isinstance(at, bool) or not abs(now - at) <= PROOF_SECONDS:
            return False
        if claims.get("htm") != method or _plain(claims.get("htu")) not in {_plain(url) for url in urls}:
            return False
        if not compare_digest(str(claims.get("ath")).encode(), digest.encode()):
            return False
        is_new = isinstance(id, str) and bool(id) and compare_digest(key.encode(), thumbprint.encode())
        return is_new and self._is_new(hashlib.sha256(f"{key} {id}".encode()).digest(), now)

    def _is_new(self, proof: bytes, now: float) -> bool:
        while self._seen and (len(self._seen) >= self._limit or next(iter(self._seen.values())) < now):
            del self._seen[next(iter(self._seen))]
        if proof in self._seen:
            return False
        self._seen[proof] = now + 2 * PROOF_SECONDS
        return True


def _read(text: str) -> tuple[str, dict[str, Any]]:
    """Check a proof by the key that it brings along; returns the key's thumbprint. Raises `Refused`, `ValueError`."""
    header = header_of(text)
    jwk = members(header.get("jwk"))
    if header.get("typ") != "dpop+jwt" or jwk.keys() & {"d", "k", "p"}:
        raise Refused("it is no proof")
    (key,) = read_keys([jwk])
    algorithm = header.get("alg")
    claims = claims_by([key], text, algorithm) if algorithm in algorithms_of(key) else None
    if claims is None:
        raise Refused("its key has not signed it")
    return key.thumbprint(), claims


def _plain(url: object) -> str | None:
    """Write a URL so that equal ones compare equal, without query and fragment."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        port = None if parts is None else parts.port
    except ValueError:
        return None
    if parts is None or parts.hostname is None:
        return None
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    return f"{parts.scheme}://{parts.hostname}:{port or usual}{parts.path.rstrip('/')}"
