"""What a caller is told that may not do something: the status, and the header that says how to be admitted.

https://www.rfc-editor.org/rfc/rfc6750#section-3
https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar

from splice.errors import RPCError

Fields = tuple[tuple[bytes, bytes], ...]

asked: ContextVar[Callable[..., Fields] | None] = ContextVar("asked", default=None)
"""Writes the challenge of the request that is being answered: takes an error code and scopes."""


class Unauthorized(RPCError, code=401):
    """Nobody knows who calls. The code is HTTP's: those of JSON-RPC are reserved."""

    status = 401


class Forbidden(RPCError, code=403):
    """The caller may not do this; `data` says which scopes it takes. The code is HTTP's."""

    status = 403

    def __init__(self, message: str, scopes: Iterable[str] = ()) -> None:
        needed = sorted(scopes)
        super().__init__(message, {"scopes": needed})
        write = asked.get()
        self.headers = () if write is None else write("insufficient_scope", needed)


class Unavailable(Exception):
    """It cannot be found out who calls, just now."""


def challenge(scheme: str, **params: str | None) -> bytes:
    """Write a challenge; parameters that are None are left out. The values have no quotes and no backslashes."""
    said = ", ".join(f'{name}="{value}"' for name, value in params.items() if value is not None)
    return f"{scheme} {said}".strip().encode("latin-1", "replace")


def words(scopes: Sequence[str]) -> str | None:
    """Write scopes as one parameter; None where there are none."""
    return " ".join(scopes) or None
