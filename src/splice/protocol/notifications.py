"""Notifications: of a request that still runs, of what a server logs, and of changes in what it offers.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
"""

from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from splice.protocol import jsonrpc, methods, wire
from splice.protocol.versions import V2025_03_26, V2025_11_25, V2026_07_28, Since, Until

ProgressToken: TypeAlias = jsonrpc.RequestId


class CancelledParams(wire.NoteParams, kw_only=True):
    """Params of `notifications/cancelled`: the sender wants no answer any more."""

    request_id: jsonrpc.RequestId | None = None
    """To which request. Every version but 2025-11-25 requires it."""

    reason: str | None = None
    """Why, for logs."""


class ProgressParams(wire.NoteParams, kw_only=True):
    """Params of `notifications/progress`."""

    progress_token: ProgressToken
    """The token that the request gave."""

    progress: float
    """How far it is. It only ever grows."""

    total: float | None = None
    """How far it goes, when that is known."""

    message: Annotated[str | None, Since(V2025_03_26)] = None
    """The step being done, for people."""


CANCELLED = methods.Note(name="notifications/cancelled", params=CancelledParams)
PROGRESS = methods.Note(name="notifications/progress", params=ProgressParams)


LoggingLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

LOGGING_LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)
"""All levels, the least severe first."""


class LogParams(wire.NoteParams, kw_only=True):
    """Params of `notifications/message`: a log message."""

    level: LoggingLevel
    """How severe it is."""

    logger: str | None = None
    """The part of the server that speaks."""

    data: Any
    """The message: any JSON."""


class SetLevelParams(wire.Params, kw_only=True):
    """Params of `logging/setLevel`."""

    span: ClassVar[wire.Span] = (Until(V2025_11_25),)

    level: LoggingLevel
    """Log messages of this severity and above are wanted."""


SET_LEVEL = methods.Method(name="logging/setLevel", params=SetLevelParams, result=wire.EmptyResult)
LOG_MESSAGE = methods.Note(name="notifications/message", params=LogParams)


class ResourceUpdatedParams(wire.NoteParams, kw_only=True):
    """Params of `notifications/resources/updated`."""

    uri: str
    """Which resource. It may be a part of the one subscribed to."""


class ListChangedParams(wire.NoteParams, kw_only=True):
    """Params of `notifications/{tools,prompts,resources}/list_changed`."""


class SubscriptionFilter(wire.Wire, kw_only=True):
    """Which notifications are wanted, or honoured."""

    span: ClassVar[wire.Span] = (Since(V2026_07_28),)

    tools_list_changed: bool | None = None
    """The list of tools has changed."""

    prompts_list_changed: bool | None = None
    """The list of prompts has changed."""

    resources_list_changed: bool | None = None
    """The list of resources has changed."""

    resource_subscriptions: list[str] | None = None
    """One of these resources has changed."""


class ListenParams(wire.Params, kw_only=True):
    """Params of `subscriptions/listen`."""

    span: ClassVar[wire.Span] = (Since(V2026_07_28),)

    notifications: SubscriptionFilter
    """The notifications that are wanted."""


class ListenResult(wire.Result, kw_only=True):
    """The result of `subscriptions/listen`: the server has ended it. `meta` names the subscription."""

    span: ClassVar[wire.Span] = (Since(V2026_07_28),)


class AcknowledgedParams(wire.NoteParams, kw_only=True):
    """Params of `notifications/subscriptions/acknowledged`: the first message of a subscription."""

    span: ClassVar[wire.Span] = (Since(V2026_07_28),)

    notifications: SubscriptionFilter
    """The part of it that the server will honour."""


SUBSCRIPTIONS_LISTEN = methods.Method(name="subscriptions/listen", params=ListenParams, result=ListenResult)
ACKNOWLEDGED = methods.Note(name="notifications/subscriptions/acknowledged", params=AcknowledgedParams)
TOOLS_CHANGED = methods.Note(name="notifications/tools/list_changed", params=ListChangedParams)
PROMPTS_CHANGED = methods.Note(name="notifications/prompts/list_changed", params=ListChangedParams)
RESOURCES_CHANGED = methods.Note(name="notifications/resources/list_changed", params=ListChangedParams)
RESOURCE_UPDATED = methods.Note(name="notifications/resources/updated", params=ResourceUpdatedParams)

LISTS = {"tools": TOOLS_CHANGED, "prompts": PROMPTS_CHANGED, "resources": RESOURCES_CHANGED}
"""The lists that may change. The capability of that name has `list_changed`, the filter `<name>_list_changed`."""
