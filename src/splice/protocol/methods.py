"""The method table: one typed row for each request and each notification.

A row knows who sends it, in which versions, what its params and its result are, and what the HTTP layer, the
cache and the capability check need to know. Its decoders are compiled when they are first used.

The methods a server sends exist until 2025-11-25; since then they are asked for in an `InputRequiredResult`,
which uses the same params and results.

https://modelcontextprotocol.io/specification/2026-07-28/basic
"""

from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct

from splice.protocol import input as asked
from splice.protocol import lifecycle, notifications, prompts, resources, tasks, tools
from splice.protocol.versions import V2025_06_18, V2025_11_25, V2026_07_28, VERSIONS, exists

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)

Side = Literal["client", "server", "both"]


class Method(Struct, Generic[P, R], frozen=True, dict=True, kw_only=True, eq=False):
    """One request."""

    name: str
    """What the message says."""

    params: type[P]
    """The Struct of its params."""

    result: type[R]
    """The Struct of its complete result."""

    side: Side
    """Who sends it."""

    since: str | None = None
    """The first version that has it."""

    until: str | None = None
    """The last version that has it."""

    may_ask: bool = False
    """Its result may be an `InputRequiredResult`."""

    cacheable: bool = False
    """Its result may be cached."""

    named_by: Literal["name", "uri"] | None = None
    """The field of its params that the `Mcp-Name` header repeats."""

    paged: bool = False
    """It answers one page at a time."""

    capability: str | None = None
    """The capability its receiver must have declared, as a dotted path."""

    @cached_property
    def versions(self) -> frozenset[str]:
        """The versions that have it."""
        return _versions(self.since, self.until)

    @cached_property
    def params_decoder(self) -> msgspec.json.Decoder[P]:
        """Reads its params."""
        return msgspec.json.Decoder(self.params)

    @cached_property
    def result_decoder(self) -> msgspec.json.Decoder[R]:
        """Reads its complete result."""
        return msgspec.json.Decoder(self.result)

    def exists(self, version: str) -> bool:
        """Tell whether `version` has it."""
        return version in self.versions


class Note(Struct, Generic[P], frozen=True, dict=True, kw_only=True, eq=False):
    """One notification."""

    name: str
    """What the message says."""

    params: type[P]
    """The Struct of its params."""

    side: Side
    """Who sends it."""

    since: str | None = None
    """The first version that has it."""

    until: str | None = None
    """The last version that has it."""

    @cached_property
    def versions(self) -> frozenset[str]:
        """The versions that have it."""
        return _versions(self.since, self.until)

    @cached_property
    def params_decoder(self) -> msgspec.json.Decoder[P]:
        """Reads its params."""
        return msgspec.json.Decoder(self.params)

    def exists(self, version: str) -> bool:
        """Tell whether `version` has it."""
        return version in self.versions


def _versions(since: str | None, until: str | None) -> frozenset[str]:
    return frozenset(version for version in VERSIONS if exists(version, since, until))


INITIALIZE = Method(
    name="initialize",
    params=lifecycle.InitializeParams,
    result=lifecycle.InitializeResult,
    side="client",
    until=V2025_11_25,
)
PING = Method(name="ping", params=lifecycle.NoParams, result=lifecycle.EmptyResult, side="both", until=V2025_11_25)
DISCOVER = Method(
    name="server/discover",
    params=lifecycle.NoParams,
    result=lifecycle.DiscoverResult,
    side="client",
    since=V2026_07_28,
    cacheable=True,
)
TOOLS_LIST = Method(
    name="tools/list",
    params=lifecycle.PageParams,
    result=tools.ListToolsResult,
    side="client",
    cacheable=True,
    paged=True,
    capability="tools",
)
TOOLS_CALL = Method(
    name="tools/call",
    params=tools.CallToolParams,
    result=tools.CallToolResult,
    side="client",
    may_ask=True,
    named_by="name",
    capability="tools",
)
RESOURCES_LIST = Method(
    name="resources/list",
    params=lifecycle.PageParams,
    result=resources.ListResourcesResult,
    side="client",
    cacheable=True,
    paged=True,
    capability="resources",
)
RESOURCES_TEMPLATES_LIST = Method(
    name="resources/templates/list",
    params=lifecycle.PageParams,
    result=resources.ListResourceTemplatesResult,
    side="client",
    cacheable=True,
    paged=True,
    capability="resources",
)
RESOURCES_READ = Method(
    name="resources/read",
    params=resources.ReadResourceParams,
    result=resources.ReadResourceResult,
    side="client",
    may_ask=True,
    cacheable=True,
    named_by="uri",
    capability="resources",
)
RESOURCES_SUBSCRIBE = Method(
    name="resources/subscribe",
    params=resources.SubscribeParams,
    result=lifecycle.EmptyResult,
    side="client",
    until=V2025_11_25,
    capability="resources.subscribe",
)
RESOURCES_UNSUBSCRIBE = Method(
    name="resources/unsubscribe",
    params=resources.UnsubscribeParams,
    result=lifecycle.EmptyResult,
    side="client",
    until=V2025_11_25,
    capability="resources.subscribe",
)
SUBSCRIPTIONS_LISTEN = Method(
    name="subscriptions/listen",
    params=notifications.ListenParams,
    result=notifications.ListenResult,
    side="client",
    since=V2026_07_28,
)
PROMPTS_LIST = Method(
    name="prompts/list",
    params=lifecycle.PageParams,
    result=prompts.ListPromptsResult,
    side="client",
    cacheable=True,
    paged=True,
    capability="prompts",
)
PROMPTS_GET = Method(
    name="prompts/get",
    params=prompts.GetPromptParams,
    result=prompts.GetPromptResult,
    side="client",
    may_ask=True,
    named_by="name",
    capability="prompts",
)
COMPLETE = Method(
    name="completion/complete",
    params=prompts.CompleteParams,
    result=prompts.CompleteResult,
    side="client",
    capability="completions",
)
SET_LEVEL = Method(
    name="logging/setLevel",
    params=notifications.SetLevelParams,
    result=lifecycle.EmptyResult,
    side="client",
    until=V2025_11_25,
    capability="logging",
)
CREATE_MESSAGE = Method(
    name="sampling/createMessage",
    params=asked.CreateMessageParams,
    result=asked.CreateMessageResult,
    side="server",
    until=V2025_11_25,
    capability="sampling",
)
ROOTS_LIST = Method(
    name="roots/list",
    params=lifecycle.NoParams,
    result=asked.ListRootsResult,
    side="server",
    until=V2025_11_25,
    capability="roots",
)
ELICIT = Method(
    name="elicitation/create",
    params=asked.ElicitParams,
    result=asked.ElicitResult,
    side="server",
    since=V2025_06_18,
    until=V2025_11_25,
    capability="elicitation",
)
TASKS_GET = Method(
    name="tasks/get",
    params=tasks.TaskParams,
    result=tasks.TaskResult,
    side="both",
    since=V2025_11_25,
    until=V2025_11_25,
    capability="tasks",
)
TASKS_RESULT = Method(
    name="tasks/result",
    params=tasks.TaskParams,
    result=tasks.TaskPayloadResult,
    side="both",
    since=V2025_11_25,
    until=V2025_11_25,
    capability="tasks",
)
TASKS_CANCEL = Method(
    name="tasks/cancel",
    params=tasks.TaskParams,
    result=tasks.TaskResult,
    side="both",
    since=V2025_11_25,
    until=V2025_11_25,
    capability="tasks.cancel",
)
TASKS_LIST = Method(
    name="tasks/list",
    params=lifecycle.PageParams,
    result=tasks.ListTasksResult,
    side="both",
    since=V2025_11_25,
    until=V2025_11_25,
    paged=True,
    capability="tasks.list",
)

INITIALIZED = Note(
    name="notifications/initialized", params=notifications.InitializedParams, side="client", until=V2025_11_25
)
CANCELLED = Note(name="notifications/cancelled", params=notifications.CancelledParams, side="both")
PROGRESS = Note(name="notifications/progress", params=notifications.ProgressParams, side="both")
LOG_MESSAGE = Note(name="notifications/message", params=notifications.LogParams, side="server")
TOOLS_CHANGED = Note(name="notifications/tools/list_changed", params=notifications.ListChangedParams, side="server")
PROMPTS_CHANGED = Note(name="notifications/prompts/list_changed", params=notifications.ListChangedParams, side="server")
RESOURCES_CHANGED = Note(
    name="notifications/resources/list_changed", params=notifications.ListChangedParams, side="server"
)
RESOURCE_UPDATED = Note(
    name="notifications/resources/updated", params=notifications.ResourceUpdatedParams, side="server"
)
ACKNOWLEDGED = Note(
    name="notifications/subscriptions/acknowledged",
    params=notifications.AcknowledgedParams,
    side="server",
    since=V2026_07_28,
)
ROOTS_CHANGED = Note(
    name="notifications/roots/list_changed",
    params=notifications.RootsListChangedParams,
    side="client",
    until=V2025_11_25,
)
ELICITATION_COMPLETE = Note(
    name="notifications/elicitation/complete",
    params=notifications.ElicitationCompleteParams,
    side="server",
    since=V2025_11_25,
    until=V2025_11_25,
)
TASK_STATUS = Note(
    name="notifications/tasks/status",
    params=tasks.TaskStatusParams,
    side="both",
    since=V2025_11_25,
    until=V2025_11_25,
)

_METHODS: tuple[Method[Any, Any], ...] = (
    INITIALIZE,
    PING,
    DISCOVER,
    TOOLS_LIST,
    TOOLS_CALL,
    RESOURCES_LIST,
    RESOURCES_TEMPLATES_LIST,
    RESOURCES_READ,
    RESOURCES_SUBSCRIBE,
    RESOURCES_UNSUBSCRIBE,
    SUBSCRIPTIONS_LISTEN,
    PROMPTS_LIST,
    PROMPTS_GET,
    COMPLETE,
    SET_LEVEL,
    CREATE_MESSAGE,
    ROOTS_LIST,
    ELICIT,
    TASKS_GET,
    TASKS_RESULT,
    TASKS_CANCEL,
    TASKS_LIST,
)
_NOTES: tuple[Note[Any], ...] = (
    INITIALIZED,
    CANCELLED,
    PROGRESS,
    LOG_MESSAGE,
    TOOLS_CHANGED,
    PROMPTS_CHANGED,
    RESOURCES_CHANGED,
    RESOURCE_UPDATED,
    ACKNOWLEDGED,
    ROOTS_CHANGED,
    ELICITATION_COMPLETE,
    TASK_STATUS,
)

CLIENT_METHODS: dict[str, Method[Any, Any]] = {row.name: row for row in _METHODS if row.side != "server"}
"""What a client may send, by name."""

SERVER_METHODS: dict[str, Method[Any, Any]] = {row.name: row for row in _METHODS if row.side != "client"}
"""What a server may send, by name."""

NOTES: dict[str, Note[Any]] = {row.name: row for row in _NOTES}
"""All notifications, by name."""
