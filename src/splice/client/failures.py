"""Error responses as exceptions."""

from msgspec import UNSET

from splice.errors import RPCError
from splice.protocol.jsonrpc import Failure


def error_of(response: Failure) -> RPCError:
    """Make the exception that stands for an error response."""
    error = response.error
    return RPCError.received(error.code, error.message, None if error.data is UNSET else error.data)
