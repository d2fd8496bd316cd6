"""Tokens that were verified, remembered for a while by their hash: nobody finds a token here."""

import hashlib
from time import time

from splice.rules.principal import Principal

MAX_TOKENS = 10_000
"""How many tokens a verifier remembers; the oldest is forgotten first. One takes about a kilobyte."""


class Remembered:
    """Verified tokens, until they expire, and no longer than `seconds`."""

    def __init__(self, seconds: float | None = None, limit: int = MAX_TOKENS) -> None:
        self._seconds = seconds
        self._limit = limit
        self._all: dict[bytes, tuple[Principal, float]] = {}

    def get(self, token: str) -> Principal | None:
        """Give the principal of a token that is remembered."""
        key = _hash(token)
        found = self._all.get(key)
        if found is None:
            return None
        principal, until = found
        if time() < until:
            return principal
        del self._all[key]
        return None

    def add(self, token: str, principal: Principal) -> None:
        """Remember a token."""
        until = float("inf") if self._seconds is None else time() + self._seconds
        if principal.expires is not None:
            until = min(until, principal.expires)
        self._all.pop(key := _hash(token), None)
        self._all[key] = principal, until
        if len(self._all) > self._limit:
            del self._all[next(iter(self._all))]


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
