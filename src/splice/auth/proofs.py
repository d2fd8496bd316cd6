"""DPoP proofs: a JWT for one request, signed by the key whose public half it brings along.

Who was given a token, or asks for one, shows by it that the key is theirs. Whoever takes a proof remembers it, so that
it is taken once; that is not done here.

https://www.rfc-editor.org/rfc/rfc9449#section-4.3
"""

from collections.abc import Collection
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from splice.auth.publickeys import algorithms_of, read_key
from splice.auth.signed import Refused, claims_by, header_of

PROOF_SECONDS = 300.0
"""How old a proof may be, or how far in the future."""

MAX_PROOF_CHARS = 8192


class Proof(Struct):
    """What a proof says."""

    jti: str
    htm: str
    htu: str
    iat: float
    ath: str = ""
    """The hash of the token that it comes with."""
    nonce: str = ""


def checked_proof(
    text: str, method: str, urls: Collection[str], now: float, algorithms: Collection[str]
) -> tuple[Proof, str]:
    """Read a proof for a request of this method to one of `urls`; returns it with the thumbprint of its key.

    Raises `Refused`.
    """
    header = header_of(text) if len(text) <= MAX_PROOF_CHARS else {}
    jwk, algorithm = header.get("jwk"), header.get("alg")
    if header.get("typ") != "dpop+jwt" or not isinstance(jwk, dict) or algorithm not in algorithms:
        raise Refused("its header must have typ dpop+jwt, an alg that is taken here, and the jwk")
    if {"d", "k", "p"} & {*jwk}:
        raise Refused("it publishes a private key: make a new one")
    key = read_key(jwk)
    claims = claims_by([key], text, algorithm) if key is not None and algorithm in algorithms_of(key) else None
    try:
        proof = msgspec.convert(claims, Proof)
    except msgspec.ValidationError:
        raise Refused("it is not a JWT with jti, htm, htu, iat and a signature by the key in it") from None
    if key is None or not proof.jti:
        raise Refused("it has no jti")
    if proof.htm != method or _plain(proof.htu) not in {_plain(url) for url in urls} - {None}:
        raise Refused("it is for another method or address")
    if not abs(now - proof.iat) <= PROOF_SECONDS:
        raise Refused("it is too old, or from the future: check the clock")
    return proof, key.thumbprint()


def _plain(url: str) -> str | None:
    """Write a URL so that equal ones compare equal, without query and fragment; None for what is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}" if parts.hostname else None
