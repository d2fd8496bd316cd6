"""Proofs that a client has the key its tokens are bound to (DPoP, RFC 9449 section 4.3 and 8).

A proof is a JWT for one request: its key, method and address. It is taken once, within a few minutes of when it was
made. If nonces are wanted, it must hold one of ours that is a few minutes old at most.
"""

import hashlib
import hmac
import time
from collections.abc import Callable

from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Records, digest
from splice.auth.issuer.web import Request
from splice.auth.proofs import PROOF_SECONDS, checked_proof
from splice.auth.signed import Refused as NoProof

ALGORITHMS = ("ES256", "Ed25519", "EdDSA")
PROOF_RATE, PROOF_BURST = 50.0, 1000.0
"""How many proofs a second are taken, and how many at once after a pause: anybody can make them, and each is kept."""

NONCE_SECONDS = 300


class Proofs:
    """Checks the proofs that come with requests."""

    def __init__(
        self, records: Records, secret: str, *, nonces: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        self._records = records
        self._secret = secret.encode()
        self._wants_nonce = nonces
        self._clock = clock

    async def check(self, request: Request, url: str) -> str | None:
        """Return the thumbprint of the key that a request to `url` proves; None without a proof. Raises `Refused`."""
        proof = request.header("dpop")
        if proof is None:
            return None
        try:
            claims, thumbprint = checked_proof(proof, request.method, [url], self._clock(), ALGORITHMS)
        except NoProof as error:
            raise _bad(str(error)) from None
        if self._wants_nonce and not self._is_nonce(claims.nonce):
            headers = [("dpop-nonce", self.nonce())]
            raise Refused("use_dpop_nonce", "The proof needs the nonce in DPoP-Nonce", headers=headers)
        if await self._records.wait("proofs", rate=PROOF_RATE, burst=PROOF_BURST):
            raise Refused("temporarily_unavailable", "Too many proofs at once: try again", status=503)
        if not await self._records.first("proof", digest(f"{thumbprint} {claims.jti}"), ttl=2 * PROOF_SECONDS):
            raise _bad("it was used already")
        return thumbprint

    def nonce(self) -> str:
        """Return a nonce to be put into the next proofs."""
        return self._nonce(int(self._clock() // NONCE_SECONDS))

    def _nonce(self, number: int) -> str:
        return hmac.new(self._secret, f"nonce {number}".encode(), hashlib.sha256).hexdigest()[:32]

    def _is_nonce(self, nonce: str) -> bool:
        number = int(self._clock() // NONCE_SECONDS)
        told = nonce.encode(errors="surrogatepass")
        return any(hmac.compare_digest(self._nonce(each).encode(), told) for each in (number, number - 1))


def _bad(why: str) -> Refused:
    return Refused("invalid_dpop_proof", f"The DPoP proof does not hold: {why}")
