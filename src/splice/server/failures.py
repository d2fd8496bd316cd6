"""What of a handler's failure leaves the server.

`ToolError` and JSON-RPC errors are meant for the peer and pass as they are. Of every other exception the server's
policy decides what a model or client reads; the log gets all of it, under the same reference.
"""

import logging
import os
from collections.abc import Iterator
from typing import Literal, TypeAlias, cast

from splice.rules.journal import Suspend

ErrorPolicy: TypeAlias = Literal["type", "message", "hidden"]
"""What others read of an unexpected exception: its type, its type and message, or nothing."""

log = logging.getLogger("splice.server")


def culprit(error: BaseException) -> BaseException:
    """Find what went wrong in the tasks of one handler: the one failure beside their questions, else all of it."""
    failures = [leaf for leaf in leaves(error) if not isinstance(leaf, Suspend)]
    return failures[0] if len(failures) == 1 else error


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions in a group of them, at any depth; one that is no group is the only one."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        for inner in group.exceptions:
            yield from leaves(inner)
    else:
        yield error


def report(what: str, error: BaseException, policy: ErrorPolicy) -> str:
    """Log an unexpected exception and return what may be told of it: one short line with a reference into the log."""
    reference = os.urandom(4).hex()
    log.error("%s failed (reference %s)", what, reference, exc_info=error)
    name = type(error).__name__
    told = {"type": f": {name}", "message": f": {name}: {error}" if str(error) else f": {name}", "hidden": ""}[policy]
    return f"{what} failed{told} (reference {reference})"
