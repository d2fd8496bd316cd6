"""Sealed text: what a server hands to a client to bring back later, and nobody else can read or change.

A token is `key id | nonce | AES-256-GCM(expiry | payload)`, url-safe. What it is bound to (who asked, and what was
asked) is authenticated with it but not in it. Keys form a ring: the first one seals, every one opens, so a key can
be exchanged without breaking what is under way: put the new one first, drop the old one when its tokens expired.

What need not be hidden, and does not expire, is signed: `HMAC-SHA256(bound | payload) | payload`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

import hashlib
import hmac
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
"""The shortest secret that is taken as a key."""

SECRET_CHARACTERS = 16
"""The shortest text that a key is derived from."""

TTL_SECONDS = 600.0
"""How long a token can be opened."""

_ID_BYTES = 8
_NONCE_BYTES = 12
_SEALED_FROM = _ID_BYTES + _NONCE_BYTES
_EXPIRY_BYTES = 8
_SIGNATURE_BYTES = 16


class SealBroken(ValueError):  # says what happened, as all our errors do
    """The text is not ours, not for this purpose, changed, or too old. Which of these, is nobody's business."""

    def __init__(self) -> None:
        super().__init__("not a valid token, or an expired one")


class Sealer:
    """Seals and opens with a ring of keys; with none given, one is made that lives as long as the process."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        if any(len(key) < KEY_BYTES for key in keys):
            raise ValueError(f"a key must have at least {KEY_BYTES} bytes, from a source of randomness")
        self.is_shared = bool(keys)
        """Other processes may have the keys too: they were given, not made here."""
        self._ring = list(keys) or [os.urandom(KEY_BYTES)]

    @cached_property
    def _ciphers(self) -> "dict[bytes, AESGCM]":
        """Key id -> cipher. Built when first needed: the library takes longer to load than all the rest of a server."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  # see the docstring

        return {_derive(key, b"id", _ID_BYTES): AESGCM(_derive(key, b"aes", KEY_BYTES)) for key in self._ring}

    def seal(self, payload: bytes, bound: bytes, now: float) -> str:
        """Seal `payload` for whoever can name `bound` again before it expires."""
        nonce = os.urandom(_NONCE_BYTES)
        expiry = int((now + TTL_SECONDS) * 1000).to_bytes(_EXPIRY_BYTES, "big")
        key_id, cipher = next(iter(self._ciphers.items()))
        return _to_text(key_id + nonce + cipher.encrypt(nonce, expiry + payload, bound))

    def sign(self, payload: bytes, bound: bytes) -> str:
        """Sign `payload`, which others may read, for whoever can name `bound` again: always the same text."""
        return _to_text(_signature(self._ring[0], payload, bound) + payload)

    def signed(self, text: str, bound: bytes) -> bytes:
        """Return what was signed with one of the keys. Raises `SealBroken`."""
        token = _to_bytes(text)
        signature, payload = token[:_SIGNATURE_BYTES], token[_SIGNATURE_BYTES:]
        if not any(hmac.compare_digest(signature, _signature(key, payload, bound)) for key in self._ring):
            raise SealBroken
        return payload

    def open(self, text: str, bound: bytes, now: float) -> bytes:
        """Return the payload. Raises `SealBroken`."""
        token, ciphers = _to_bytes(text), self._ciphers
        key_id, nonce, sealed = token[:_ID_BYTES], token[_ID_BYTES:_SEALED_FROM], token[_SEALED_FROM:]
        try:
            content = ciphers[key_id].decrypt(nonce, sealed, bound)
        except Exception:  # noqa: BLE001  # the library's own class would have to be imported to be named
            raise SealBroken from None
        if int.from_bytes(content[:_EXPIRY_BYTES], "big") <= now * 1000:
            raise SealBroken
        return content[_EXPIRY_BYTES:]


def key_of(secret: str, name: str) -> bytes:
    """Derive a key from a secret text, by HKDF with SHA-256. Raises `ValueError`, naming it, if it is too short."""
    if len(secret) < SECRET_CHARACTERS:
        raise ValueError(f"{name} must have at least {SECRET_CHARACTERS} characters, from a source of randomness")
    extracted = hmac.digest(bytes(KEY_BYTES), secret.encode(), "sha256")
    return hmac.digest(extracted, b"splice requestState\x01", "sha256")


def _derive(key: bytes, purpose: bytes, size: int) -> bytes:
    return hashlib.blake2b(key, digest_size=size, person=b"splice." + purpose).digest()


def _signature(key: bytes, payload: bytes, bound: bytes) -> bytes:
    said = len(bound).to_bytes(8, "big") + bound + payload
    return hmac.digest(_derive(key, b"sign", KEY_BYTES), said, "sha256")[:_SIGNATURE_BYTES]


def _to_text(token: bytes) -> str:
    return urlsafe_b64encode(token).rstrip(b"=").decode()


def _to_bytes(text: str) -> bytes:
    """Read a token. Of all spellings of the same bytes, one is accepted. Raises `SealBroken`."""
    with suppress(ValueError):
        token = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if _to_text(token) == text:
            return token
    raise SealBroken
