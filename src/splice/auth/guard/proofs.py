"""DPoP: a token that is bound to a key is taken from whoever proves, with each request, to have that key.

https://www.rfc-editor.org/rfc/rfc9449#section-4.3
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Collection, Sequence
from hmac import compare_digest
from time import time
from typing import Any

from splice.auth.guard.claims import members
from splice.auth.proofs import PROOF_SECONDS, checked_proof
from splice.auth.publickeys import ALGORITHMS
from splice.auth.signed import Refused
from splice.rules.principal import Principal

MAX_PROOFS = 100_000
"""How many proofs are remembered, so that none is used twice; the oldest is forgotten first."""


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
        if len(sent) != 1 or not thumbprint:
            return False
        now = time()
        try:
            proof, key = checked_proof(sent[0].decode("latin-1"), method, urls, now, ALGORITHMS)
        except Refused:
            return False
        digest = urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
        is_theirs = compare_digest(proof.ath.encode(errors="replace"), digest.encode())
        is_theirs = compare_digest(key.encode(), thumbprint.encode(errors="replace")) and is_theirs
        return is_theirs and self._is_new(hashlib.sha256(f"{key} {proof.jti}".encode(errors="replace")).digest(), now)

    def _is_new(self, proof: bytes, now: float) -> bool:
        while self._seen and (len(self._seen) >= self._limit or next(iter(self._seen.values())) < now):
            del self._seen[next(iter(self._seen))]
        if proof in self._seen:
            return False
        self._seen[proof] = now + 2 * PROOF_SECONDS
        return True
