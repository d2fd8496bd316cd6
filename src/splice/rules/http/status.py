"""HTTP statuses of JSON-RPC errors.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from collections.abc import Sequence

from splice import errors

_STATUS = {
    errors.METHOD_NOT_FOUND: 404,
    errors.PARSE_ERROR: 400,
    errors.INVALID_REQUEST: 400,
    errors.INVALID_PARAMS: 400,
    errors.HEADER_MISMATCH: 400,
    errors.MISSING_CLIENT_CAPABILITY: 400,
    errors.UNSUPPORTED_PROTOCOL_VERSION: 400,
}


def status_of(code: int) -> int:
    """Choose the status of an error response to a request that belongs to no session. Within a session it is 200."""
    return _STATUS.get(code, 200)


class Refusal(Exception):  # an answer, not a failure
    """Ends the handling of an HTTP request with a status and a JSON-RPC error."""

    def __init__(self, status: int, error: errors.RPCError, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error
        self.headers = headers
