"""Proofs that a client has the key its tokens are bound to (DPoP, RFC 9449 section 4.3 and 8).

A proof is a JWT for one request: its key, method and address. It is taken once, within a few minutes of when it was
made. If nonces are wanted, it must hold one of ours that is a few minutes old at most.
"""

import hashlib
import hmac
import time
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey
from msgspec import Struct

from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Records, digest
from splice.auth.issuer.web import Request

ALGORITHMS = ("ES256", "EdDSA")
PROOF_SECONDS = 300.0
"""How far the clock of a client may be away, and how long a proof may have been on its way."""

PROOF_RATE, PROOF_BURST = 50.0, 1000.0
"""How many proofs a second are taken, and how many at once after a pause: anybody can make them, and each is kept."""

NONCE_SECONDS = 300
MAX_PROOF_CHARS = 4096

_KINDS: dict[Any, type[ECKey | OKPKey]] = {"EC": ECKey, "OKP": OKPKey}
_REGISTRY = jws.JWSRegistry(algorithms=list(ALGORITHMS))


class _Claims(Struct):
    jti: str
    htm: str
    htu: str
    iat: float
    nonce: str | None = None


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
        claims, thumbprint = _read(proof)
        if claims.htm != request.method or _plain(claims.htu) != _plain(url):
            raise _bad("it is for another method or address")
        if not abs(self._clock() - claims.iat) <= PROOF_SECONDS:
            raise _bad("it is too old, or from the future: check the clock")
        if self._wants_nonce and not self._is_nonce(claims.nonce or ""):
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


def _read(proof: str) -> tuple[_Claims, str]:
    """Read a proof and check its signature by the key in it. Raises `Refused`."""
    if len(proof) > MAX_PROOF_CHARS:
        raise _bad(f"it has more than {MAX_PROOF_CHARS} characters")
    try:
        header = jws.extract_compact(proof.encode("ascii")).headers()
        jwk: Any = header.get("jwk")
        if header.get("typ") != "dpop+jwt" or header.get("alg") not in ALGORITHMS or not isinstance(jwk, dict):
            raise _bad(f"its header must have typ dpop+jwt, an alg of {', '.join(ALGORITHMS)}, and the jwk")
        if "d" in jwk:
            raise _bad("it publishes a private key: make a new one")
        key = _KINDS[jwk["kty"]].import_key(cast("dict[str, Any]", jwk))
        claims = msgspec.convert(jwt.decode(proof, key, registry=_REGISTRY).claims, _Claims)
        return claims, key.thumbprint()
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise _bad("it is not a JWT with jti, htm, htu, iat and a signature by the key in it") from None


def _plain(url: str) -> tuple[str, str, str]:
    """Return what counts of an address: not its query, nor its fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", "", ""
    return parts.scheme.lower(), parts.netloc.lower(), parts.path or "/"


def _bad(why: str) -> Refused:
    return Refused("invalid_dpop_proof", f"The DPoP proof does not hold: {why}")
