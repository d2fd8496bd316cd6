"""Tokens and API keys that are written down: for tests, small teams, and machines that call each other.

    Auth(StaticTokens({"sha256:9f86d0…": "ada"}))
    Auth(APIKeys({os.environ["SHOP_KEY"]: "shop"}))

Only their hashes are kept, under a key that is new in each process: how long a comparison takes tells nothing.
"""

import hashlib
import hmac
import os
import re
from collections.abc import Mapping
from typing import Any

from splice.auth.guard.refused import Refusals
from splice.auth.signed import Refused
from splice.rules.http.headers import check_header
from splice.rules.principal import Principal

MIN_LENGTH = 8
"""How short a token may be. A good one has 32 random bytes."""

_HASHED = re.compile(r"sha256:[0-9a-fA-F]{64}")


class StaticTokens:
    """Access tokens by name: token -> `Principal`, or the name of one.

    In the place of a token there may be ``sha256:`` and its SHA-256 in hexadecimal digits. Raises `TypeError` for what
    is no such mapping, and `ValueError` for tokens that can be guessed, or not be sent.
    """

    def __init__(self, tokens: Mapping[str, Principal | str]) -> None:
        if not _are_pairs(tokens):
            how = f"{type(self).__name__}({{os.environ['SHOP_KEY']: 'shop'}})"
            raise TypeError(f"{type(self).__name__} takes a dict from text to a Principal or its name: {how}")
        if not tokens:
            raise ValueError(f"{type(self).__name__} takes at least one: nobody could call")
        self._key = os.urandom(32)
        self._refusals = Refusals()
        self._principals = {
            self._kept(self._digest(token)): Principal(subject=who) if isinstance(who, str) else who
            for token, who in tokens.items()
        }

    async def verify(self, token: str) -> Principal | None:
        """Tell whose token it is."""
        found = self._principals.get(self._kept(hashlib.sha256(token.encode()).digest()))
        if found is None:
            self._refusals.tell(Refused("it is none of those that %s was given", type(self).__name__))
        return found

    def _digest(self, token: str) -> bytes:
        """Give the hash of a token that may be written as one already. Raises `ValueError`; no message shows it."""
        if _HASHED.fullmatch(token):
            return bytes.fromhex(token.partition(":")[2])
        if token.startswith("sha256:"):
            raise ValueError("a hashed token is `sha256:` and 64 hexadecimal digits")
        if len(token) < MIN_LENGTH or not token.isascii() or not token.isprintable() or " " in token:
            how = "python -c 'import secrets; print(secrets.token_urlsafe())' makes one"
            raise ValueError(f"a token has {MIN_LENGTH} or more characters that a header can carry, no blanks; {how}")
        return hashlib.sha256(token.encode()).digest()

    def _kept(self, digest: bytes) -> bytes:
        return hmac.digest(self._key, digest, "sha256")


def _are_pairs(given: Any) -> bool:
    pairs: Any = given.items() if hasattr(given, "items") else [(None, None)]
    return all(isinstance(token, str) and isinstance(who, (str, Principal)) for token, who in pairs)


class APIKeys(StaticTokens):
    """API keys, sent in a header of their own: key -> `Principal`, or the name of one. Hashes as for tokens."""

    def __init__(self, keys: Mapping[str, Principal | str], header: str = "X-API-Key") -> None:
        super().__init__(keys)
        check_header(header, "")
        if header.lower() in ("authorization", "cookie"):
            raise ValueError(f"APIKeys are sent in a header of their own, not {header}; StaticTokens are bearer tokens")
        self.header = header
        """The header that carries the key."""
