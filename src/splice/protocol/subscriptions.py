"""Changes of what a server offers, and how a client says which of them it wants to hear of.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from typing import ClassVar

from splice.protocol.methods import Method, Note
from splice.protocol.versions import V2026_07_28, Since
from splice.protocol.wire import NoteParams, Params, Result, Span, Wire


class ResourceUpdatedParams(NoteParams, kw_only=True):
    """Params of `notifications/resources/updated`."""

    uri: str
    """Which resource. It may be a part of the one subscribed to."""


class ListChangedParams(NoteParams, kw_only=True):
    """Params of `notifications/{tools,prompts,resources}/list_changed`."""


class SubscriptionFilter(Wire, kw_only=True):
    """Which notifications are wanted, or honoured."""

    span: ClassVar[Span] = (Since(V2026_07_28),)

    tools_list_changed: bool | None = None
    """The list of tools has changed."""

    prompts_list_changed: bool | None = None
    """The list of prompts has changed."""

    resources_list_changed: bool | None = None
    """The list of resources has changed."""

    resource_subscriptions: list[str] | None = None
    """One of these resources has changed."""


class ListenParams(Params, kw_only=True):
    """Params of `subscriptions/listen`."""

    span: ClassVar[Span] = (Since(V2026_07_28),)

    notifications: SubscriptionFilter
    """The notifications that are wanted."""


class ListenResult(Result, kw_only=True):
    """The result of `subscriptions/listen`: the server has ended it. `meta` names the subscription."""

    span: ClassVar[Span] = (Since(V2026_07_28),)


class AcknowledgedParams(NoteParams, kw_only=True):
    """Params of `notifications/subscriptions/acknowledged`: the first message of a subscription."""

    span: ClassVar[Span] = (Since(V2026_07_28),)

    notifications: SubscriptionFilter
    """The part of it that the server will honour."""


SUBSCRIPTIONS_LISTEN = Method(name="subscriptions/listen", params=ListenParams, result=ListenResult, since=V2026_07_28)
ACKNOWLEDGED = Note(name="notifications/subscriptions/acknowledged", params=AcknowledgedParams, since=V2026_07_28)
TOOLS_CHANGED = Note(name="notifications/tools/list_changed", params=ListChangedParams)
PROMPTS_CHANGED = Note(name="notifications/prompts/list_changed", params=ListChangedParams)
RESOURCES_CHANGED = Note(name="notifications/resources/list_changed", params=ListChangedParams)
RESOURCE_UPDATED = Note(name="notifications/resources/updated", params=ResourceUpdatedParams)

LISTS = {"tools": TOOLS_CHANGED, "prompts": PROMPTS_CHANGED, "resources": RESOURCES_CHANGED}
"""The lists that may change. The capability of that name has `list_changed`, the filter `<name>_list_changed`."""
