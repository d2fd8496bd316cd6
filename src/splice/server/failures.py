"""How the run of a handler ended badly, and what of it others may read.

`ToolError` and the JSON-RPC errors raised here are meant for the peer and pass as they are. Of every other exception,
an error that another server sent us included, the server's policy decides what a model or client reads; the log gets
all of it, under the same reference.
"""

import asyncio
import logging
import os
from collections.abc import Iterator
from typing import Literal, TypeAlias, cast

from splice.errors import INTERNAL_ERROR, InternalError, RPCError, ToolError
from splice.protocol.jsonrpc import ErrorObject, Failure, RequestId
from splice.protocol.questions import InputRequest
from splice.protocol.versions import Facts
from splice.rules.eras import Suspend

ErrorPolicy: TypeAlias = Literal["type", "message", "hidden"]
"""How much others read of an unexpected exception: its type, its type and message, or nothing."""

log = logging.getLogger("splice.server")


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions in a group, at any depth; an exception that is not a group is the only one."""
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from leaves(inner)
    else:
        yield error


def culprit(error: BaseException) -> BaseException:
    """Find the only real failure in an exception group, ignoring `Suspend`; the group itself if there are several."""
    failures = [leaf for leaf in leaves(error) if not isinstance(leaf, Suspend)]
    return failures[0] if len(failures) == 1 else error


def questions_in(error: BaseException) -> dict[str, InputRequest] | None:
    """Collect the questions that ended a run, of all its tasks; None when anything else ended it too."""
    requests: dict[str, InputRequest] = {}
    for leaf in leaves(error):
        if not isinstance(leaf, Suspend):
            return None
        requests.update(leaf.requests)
    return requests


def ends_the_task(error: BaseException) -> bool:
    """Tell whether an exception must reach the event loop: our own cancellation, Ctrl-C.

    A handler's `sys.exit()` or `GeneratorExit`, or a cancelled future that it awaited, must not.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt)


def is_meant(error: BaseException) -> bool:
    """Tell whether an exception was raised for the caller to read: `ToolError`, or `RPCError` that no peer sent."""
    return isinstance(error, ToolError) or (isinstance(error, RPCError) and not error.is_foreign)


def report(what: str, error: BaseException, policy: ErrorPolicy) -> str:
    """Log an unexpected exception and return what may be told of it: one short line with a reference into the log."""
    reference = os.urandom(4).hex()
    log.error("%s failed (reference %s)", what, reference, exc_info=error)
    name = type(error).__name__
    told = {"type": f": {name}", "message": f": {name}: {error}" if str(error) else f": {name}", "hidden": ""}[policy]
    return f"{what} failed{told} (reference {reference})"


def failure_of(id: RequestId, error: BaseException, facts: Facts | None, what: str, policy: ErrorPolicy) -> Failure:
    """Build the response for an exception. `facts`, once they are known, say which code it has in their version."""
    cause = culprit(error)
    told = cause if is_meant(cause) else InternalError(report(what, cause, policy))
    if not isinstance(told, RPCError):
        told = InternalError(str(cause))
    code = told.code if facts is None else facts.code_of(told.code)
    if code == INTERNAL_ERROR != told.code:
        log.warning("%s: the code %d is reserved, sent as %d; take one outside -32768 to -32000", what, told.code, code)
    response = Failure(ErrorObject(code, told.message, told.data), id)
    response.cause = (isinstance(cause, InternalError) and cause.__cause__) or cause
    return response
