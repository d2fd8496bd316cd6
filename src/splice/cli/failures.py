"""How a command that failed is told: a line on stderr, with `--json` an object on stdout, with `--debug` the traceback.

What is logged and what stands in tracebacks may hold text of a peer, so both are escaped as all else is.
"""

import logging
import sys
from collections.abc import Iterator
from traceback import FrameSummary, TracebackException
from typing import Any

from splice import RPCError
from splice.cli.outcomes import USAGE, Stop
from splice.host.text import as_json, safe

_PLUMBING = ("/click/", "/asyncio/", "/importlib/", "<frozen ", "/cli/entry.py", "/cli/__main__.py")
"""Where frames come from that tell nobody what went wrong."""


class _Escaped(logging.Formatter):
    """Writes records as Python does when nobody configured logging, and lets no terminal obey them."""

    def format(self, record: logging.LogRecord) -> str:
        return safe(super().format(record))


def escape_logs() -> None:
    """Escape log records, unless the server that we run has configured logging itself."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Escaped())


def tell(error: Exception, *, debug: bool, json: bool) -> None:
    """Tell why a command ends."""
    known = isinstance(error, Stop)
    message = str(error) if known else f"unexpected {type(error).__name__}: {error}"
    if debug:
        print(trace(error.__cause__ or error if known else error), end="", file=sys.stderr)
    if json and not (isinstance(error, Stop) and error.shown):
        print(as_json({"error": described(error)}))
        sys.stdout.flush()
    hint = "" if debug or known else "; --debug shows where"
    print(f"splice: {safe(message)}{hint}", file=sys.stderr)
    if isinstance(error, Stop) and error.said and not debug:
        print(error.said, file=sys.stderr)


def tell_note(text: str) -> None:
    """Tell something beside the result."""
    print(f"splice: {safe(text)}", file=sys.stderr, flush=True)


def described(error: BaseException) -> dict[str, Any]:
    """Describe an error for programs: its type and message; code and data if it is a JSON-RPC error."""
    cause = error.__cause__ if isinstance(error, Stop) else error
    if isinstance(cause, RPCError):
        return {"type": type(cause).__name__, "message": cause.message, "code": cause.code, "data": cause.data}
    if cause is None:
        kind = "UsageError" if isinstance(error, Stop) and error.code == USAGE else "Error"
        return {"type": kind, "message": str(error)}
    return {"type": type(cause).__name__, "message": str(error)}


def trace(error: BaseException) -> str:
    """Write the traceback of an error, without the frames of what called whom to get there."""
    written = TracebackException.from_exception(error)
    for each in _chain(written):
        each.stack[:] = [frame for frame in each.stack if not _is_plumbing(frame)]
    return safe("".join(written.format()))


def _chain(error: TracebackException | None) -> Iterator[TracebackException]:
    if error is not None:
        yield error
        for inner in (error.__cause__, error.__context__, *(error.exceptions or ())):
            yield from _chain(inner)


def _is_plumbing(frame: FrameSummary) -> bool:
    return any(each in frame.filename.replace("\\", "/") for each in _PLUMBING)
