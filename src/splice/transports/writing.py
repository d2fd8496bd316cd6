"""Responses as bytes: whatever a handler put into a result, its request gets an answer.

https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
"""

import logging

from splice.errors import InternalError
from splice.protocol.jsonrpc import Failure, Response, encode, failure

log = logging.getLogger("splice.transport")


def written(response: Response) -> bytes:
    """Write a response as JSON; if it cannot be, write that instead."""
    try:
        return encode(response)
    except Exception as error:  # noqa: BLE001 - a user's object may raise anything while it is being written
        return encode(unwritable(response, error))


def unwritable(response: Response, error: Exception) -> Failure:
    """Build the response that goes out in place of one that is no JSON, and log why."""
    log.error("the result of request %r is no JSON", response.id, exc_info=error)
    return failure(response.id, InternalError(f"Internal error: the result is no JSON ({error})"))
