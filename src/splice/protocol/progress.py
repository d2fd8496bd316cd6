"""Notifications about a request that still runs: how far it is, and that nobody waits for it any more.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
"""

from typing import Annotated, TypeAlias

from splice.protocol.jsonrpc import RequestId
from splice.protocol.methods import Note
from splice.protocol.versions import V2025_03_26, Since
from splice.protocol.wire import NoteParams

ProgressToken: TypeAlias = RequestId


class CancelledParams(NoteParams, kw_only=True):
    """Params of `notifications/cancelled`: the sender wants no answer any more."""

    request_id: RequestId | None = None
    """To which request. Every version but 2025-11-25 requires it."""

    reason: str | None = None
    """Why, for logs."""


class ProgressParams(NoteParams, kw_only=True):
    """Params of `notifications/progress`."""

    progress_token: ProgressToken
    """The token that the request gave."""

    progress: float
    """How far it is. It only ever grows."""

    total: float | None = None
    """How far it goes, when that is known."""

    message: Annotated[str | None, Since(V2025_03_26)] = None
    """The step being done, for people."""


CANCELLED = Note(name="notifications/cancelled", params=CancelledParams)
PROGRESS = Note(name="notifications/progress", params=ProgressParams)
