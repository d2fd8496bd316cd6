"""Signed JWTs, taken apart: the header first, then the claims, by a key that was chosen in between.

https://www.rfc-editor.org/rfc/rfc7515
"""

from base64 import urlsafe_b64decode
from collections.abc import Iterable
from typing import Any
from warnings import catch_warnings, simplefilter

import msgspec
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jws import JWSRegistry, deserialize_compact

from splice.auth.publickeys import Key

MAX_HEADER = 8192


class Refused(Exception):
    """Why a token is not good: a constant, with `%` where what the token says belongs, which is escaped and cut."""

    def __init__(self, reason: str, *said: object) -> None:
        super().__init__(reason % said)
        self.reason = reason
        """The constant. There are as many as are written in this package, so counting them takes no more memory."""


def header_of(token: str) -> dict[str, Any]:
    """Read the header, which nothing has confirmed yet. Raises `Refused`."""
    head, *others = token.split(".")
    if len(others) != 2:
        raise Refused("it is no signed JWT")
    try:
        header = _object(urlsafe_b64decode(head + "=" * (-len(head) % 4)) if len(head) <= MAX_HEADER else b"")
    except ValueError:
        raise Refused("it cannot be read") from None
    if "crit" in header:
        raise Refused("its header has parts that are not understood")
    return header


def claims_by(keys: Iterable[Key], token: str, algorithm: str) -> dict[str, Any] | None:
    """Read the claims that one of the keys signed; None when none did. Raises `Refused`."""
    registry = JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    registry.max_header_length = MAX_HEADER
    for key in keys:
        try:
            with catch_warnings():  # EdDSA has a new name, but many issuers use the old one
                simplefilter("ignore", SecurityWarning)
                return _object(deserialize_compact(token, key, [algorithm], registry).payload or b"")
        except (JoseError, ValueError):
            continue
    return None


def _object(data: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Refused("it cannot be read") from None
