"""What of a handler's failure leaves the server.

`ToolError` and JSON-RPC errors are meant for the peer and pass as they are. Of every other exception the server's
policy decides what a model or client reads; the log gets all of it, under the same reference.
"""

import logging
import os
from typing import Literal, TypeAlias

ErrorPolicy: TypeAlias = Literal["type", "message", "hidden"]
"""What others read of an unexpected exception: its type, its type and message, or nothing."""

log = logging.getLogger("splice.server")


def report(what: str, error: BaseException, policy: ErrorPolicy) -> str:
    """Log an unexpected exception and return what may be told of it: one short line with a reference into the log."""
    reference = os.urandom(4).hex()
    log.error("%s failed (reference %s)", what, reference, exc_info=error)
    name = type(error).__name__
    told = {"type": f": {name}", "message": f": {name}: {error}" if str(error) else f": {name}", "hidden": ""}[policy]
    return f"{what} failed{told} (reference {reference})"
