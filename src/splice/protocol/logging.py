"""Log messages of a server, and from which severity on a client wants them.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
"""

from typing import Any, ClassVar, Literal, get_args

from splice.protocol.methods import Method, Note
from splice.protocol.versions import V2025_11_25, Until
from splice.protocol.wire import EmptyResult, NoteParams, Params, Span

LoggingLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

LOGGING_LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)
"""All levels, the least severe first."""


class LogParams(NoteParams, kw_only=True):
    """Params of `notifications/message`: a log message."""

    level: LoggingLevel
    """How severe it is."""

    logger: str | None = None
    """The part of the server that speaks."""

    data: Any
    """The message: any JSON."""


class SetLevelParams(Params, kw_only=True):
    """Params of `logging/setLevel`."""

    span: ClassVar[Span] = (Until(V2025_11_25),)

    level: LoggingLevel
    """Log messages of this severity and above are wanted."""


SET_LEVEL = Method(name="logging/setLevel", params=SetLevelParams, result=EmptyResult, until=V2025_11_25)
LOG_MESSAGE = Note(name="notifications/message", params=LogParams)
