"""Who calls: what authentication found out about the sender of a request.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Principal(Struct, kw_only=True, eq=False, repr_omit_defaults=True):
    """Somebody who was authenticated. Two are the same when issuer, subject and client are, whatever the token."""

    subject: str
    """The name of the caller, unique at its issuer: of a user, or of a program that acts for itself."""
    issuer: str = ""
    """Who vouches for that; empty: this server itself."""
    client: str = ""
    """The id of the program that the caller uses, where it is known."""
    scopes: frozenset[str] = frozenset()
    """What the caller may do."""
    expires: float | None = None
    """When that ends, in seconds since 1970; None: never."""
    claims: Mapping[str, Any] = {}
    """What else is known, such as the claims of a token."""

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Principal) and str(self) == str(other))

    def __ne__(self, other: object) -> bool:  # a Struct has one of its own
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return json.dumps([self.issuer, self.subject, self.client])
