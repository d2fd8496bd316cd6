"""Notifications, and how a client says which of them it wants.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
"""

from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Struct, UnsetType

from splice.protocol.jsonrpc import RequestId
from splice.protocol.lifecycle import LoggingLevel, NoteParams, Params, ProgressToken, Result, Span
from splice.protocol.versions import V2025_03_26, V2025_11_25, V2026_07_28, Since, Until


class CancelledParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/cancelled`: the sender wants no answer any more."""

    request_id: RequestId | UnsetType = UNSET
    """To which request. Every version but 2025-11-25 requires it."""

    reason: str | UnsetType = UNSET
    """Why, for logs."""


class ProgressParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/progress`."""

    progress_token: ProgressToken
    """The token that the request gave."""

    progress: float
    """How far it is. It only ever grows."""

    total: float | UnsetType = UNSET
    """How far it goes, when that is known."""

    message: Annotated[str | UnsetType, Since(V2025_03_26)] = UNSET
    """What is being done, for people."""


class LogParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/message`: a log message."""

    level: LoggingLevel
    """How severe it is."""

    logger: str | UnsetType = UNSET
    """Which part of the server speaks."""

    data: Any
    """What it says: any JSON."""


class ResourceUpdatedParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/resources/updated`."""

    uri: str
    """Which resource. It may be a part of the one subscribed to."""


class ListChangedParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/{tools,prompts,resources}/list_changed`."""


class InitializedParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/initialized`: the client is ready."""

    span: ClassVar[Span] = (Until(V2025_11_25),)


class RootsListChangedParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/roots/list_changed`."""

    span: ClassVar[Span] = (Until(V2025_11_25),)


class ElicitationCompleteParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/elicitation/complete`: the user did what was to be done at the URL."""

    span: ClassVar[Span] = (Since(V2025_11_25), Until(V2025_11_25))

    elicitation_id: str
    """Which elicitation."""


class SetLevelParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `logging/setLevel`."""

    span: ClassVar[Span] = (Until(V2025_11_25),)

    level: LoggingLevel
    """Log messages of this severity and above are wanted."""


class SubscriptionFilter(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Which notifications are wanted, or honoured."""

    span: ClassVar[Span] = (Since(V2026_07_28),)

    tools_list_changed: bool | UnsetType = UNSET
    """The list of tools has changed."""

    prompts_list_changed: bool | UnsetType = UNSET
    """The list of prompts has changed."""

    resources_list_changed: bool | UnsetType = UNSET
    """The list of resources has changed."""

    resource_subscriptions: list[str] | UnsetType = UNSET
    """One of these resources has changed."""


class ListenParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `subscriptions/listen`."""

    span: ClassVar[Span] = (Since(V2026_07_28),)

    notifications: SubscriptionFilter
    """What is wanted."""


class ListenResult(Result, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `subscriptions/listen`: the server has ended it. `meta` names the subscription."""

    span: ClassVar[Span] = (Since(V2026_07_28),)


class AcknowledgedParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/subscriptions/acknowledged`: the first message of a subscription."""

    span: ClassVar[Span] = (Since(V2026_07_28),)

    notifications: SubscriptionFilter
    """What of it the server will honour."""
