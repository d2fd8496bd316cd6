"""Opening a conversation, and what every request, result and notification has in common.

The shared bases are here: `Params` and `NoteParams` carry `_meta`, `Result` says what kind of result it is,
`CacheableResult` and `PageResult` add what lists need. A field says since and until when it exists; a type that
does not exist in every version says so in its class variable `span`.

https://modelcontextprotocol.io/specification/2026-07-28/basic
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from msgspec import UNSET, Struct, UnsetType, field

from splice.protocol.jsonrpc import RequestId
from splice.protocol.versions import V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28, Since, Until

META_PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
META_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
META_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"

Span: TypeAlias = tuple[Since | Until, ...]
"""The marks of a type: since and until when it exists."""

ProgressToken: TypeAlias = RequestId

LoggingLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

LOGGING_LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)
"""All levels, the least severe first."""

CacheScope = Literal["public", "private"]


class Icon(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A picture for people. Only `https:` and `data:` sources should ever be fetched."""

    span: ClassVar[Span] = (Since(V2025_11_25),)

    src: str
    """The URI of the picture."""

    mime_type: str | UnsetType = UNSET
    """Overrides what the source says about itself."""

    sizes: list[str] | UnsetType = UNSET
    """Such as ``48x48``, or ``any`` for a picture that scales."""

    theme: Literal["light", "dark"] | UnsetType = UNSET
    """The background it was drawn for; any when absent."""


class Implementation(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Which program speaks, for display and for logs: never a ground for trust."""

    name: str
    """Its name for programs."""

    version: str
    """Its own version, in any scheme."""

    title: Annotated[str | UnsetType, Since(V2025_06_18)] = UNSET
    """Its name for people. `name` is shown when it is absent."""

    description: Annotated[str | UnsetType, Since(V2025_11_25)] = UNSET
    """What it does, for people."""

    website_url: Annotated[str | UnsetType, Since(V2025_11_25)] = UNSET
    """Where to read about it."""

    icons: Annotated[list[Icon] | UnsetType, Since(V2025_11_25)] = UNSET
    """The same picture in several sizes and themes."""


class RootsCapability(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The client can tell its roots."""

    list_changed: Annotated[bool | UnsetType, Until(V2025_11_25)] = UNSET
    """It says when they change."""


class SamplingCapability(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The client can ask a model."""

    context: Annotated[dict[str, Any] | UnsetType, Since(V2025_11_25)] = UNSET
    """It heeds `includeContext` other than ``none``."""

    tools: Annotated[dict[str, Any] | UnsetType, Since(V2025_11_25)] = UNSET
    """The model may be offered tools."""


class ElicitationCapability(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The client can ask its user. Empty means: by forms only."""

    span: ClassVar[Span] = (Since(V2025_06_18),)

    form: Annotated[dict[str, Any] | UnsetType, Since(V2025_11_25)] = UNSET
    """It can show a form."""

    url: Annotated[dict[str, Any] | UnsetType, Since(V2025_11_25)] = UNSET
    """It can send the user to a URL."""


class TasksCapability(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The receiver can run requests as tasks."""

    span: ClassVar[Span] = (Since(V2025_11_25), Until(V2025_11_25))

    list: dict[str, Any] | UnsetType = UNSET
    """`tasks/list` is answered."""

    cancel: dict[str, Any] | UnsetType = UNSET
    """`tasks/cancel` is answered."""

    requests: dict[str, Any] | UnsetType = UNSET
    """Which requests may become tasks, by the parts of their names: ``{"tools": {"call": {}}}``."""


class ClientCapabilities(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What the client can do for the server. A capability is there when its key is, even with nothing inside."""

    experimental: dict[str, Any] | UnsetType = UNSET
    """Whatever is not in the specification, by name."""

    extensions: dict[str, Any] | UnsetType = UNSET
    """Settings of each extension, by its identifier. Named since 2026-07-28; MCP Apps uses it before."""

    roots: RootsCapability | UnsetType = UNSET
    """It can tell its roots."""

    sampling: SamplingCapability | UnsetType = UNSET
    """It can ask a model."""

    elicitation: Annotated[ElicitationCapability | UnsetType, Since(V2025_06_18)] = UNSET
    """It can ask its user."""

    tasks: Annotated[TasksCapability | UnsetType, Since(V2025_11_25), Until(V2025_11_25)] = UNSET
    """It can run the server's requests as tasks."""


class PromptsCapability(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The server offers prompts."""

    list_changed: bool | UnsetType = UNSET
    """It says when their list changes."""


class ResourcesCapability(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The server offers resources."""

    subscribe: bool | UnsetType = UNSET
    """It says when a single resource changes."""

    list_changed: bool | UnsetType = UNSET
    """It says when their list changes."""


class ToolsCapability(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The server offers tools."""

    list_changed: bool | UnsetType = UNSET
    """It says when their list changes."""


class ServerCapabilities(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What the server offers. A capability is there when its key is, even with nothing inside."""

    experimental: dict[str, Any] | UnsetType = UNSET
    """Whatever is not in the specification, by name."""

    extensions: dict[str, Any] | UnsetType = UNSET
    """Settings of each extension, by its identifier. Named since 2026-07-28; MCP Apps uses it before."""

    logging: dict[str, Any] | UnsetType = UNSET
    """It sends log messages."""

    completions: Annotated[dict[str, Any] | UnsetType, Since(V2025_03_26)] = UNSET
    """It completes arguments."""

    prompts: PromptsCapability | UnsetType = UNSET
    """It offers prompts."""

    resources: ResourcesCapability | UnsetType = UNSET
    """It offers resources."""

    tools: ToolsCapability | UnsetType = UNSET
    """It offers tools."""

    tasks: Annotated[TasksCapability | UnsetType, Since(V2025_11_25), Until(V2025_11_25)] = UNSET
    """It can run the client's requests as tasks."""


class RequestMeta(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """`_meta` of a request, as far as the specification gives it a meaning."""

    progress_token: ProgressToken | UnsetType = UNSET
    """The sender wants to hear of progress under this token."""

    protocol_version: Annotated[str | UnsetType, Since(V2026_07_28)] = field(default=UNSET, name=META_PROTOCOL_VERSION)
    """The version this request is written in. Required in every request since 2026-07-28."""

    client_capabilities: Annotated[ClientCapabilities | UnsetType, Since(V2026_07_28)] = field(
        default=UNSET, name=META_CLIENT_CAPABILITIES
    )
    """What the client can do for this request. Required in every request since 2026-07-28."""

    client_info: Annotated[Implementation | UnsetType, Since(V2026_07_28)] = field(default=UNSET, name=META_CLIENT_INFO)
    """Which program asks."""

    log_level: Annotated[LoggingLevel | UnsetType, Since(V2026_07_28)] = field(default=UNSET, name=META_LOG_LEVEL)
    """Log messages of this severity and above are wanted; none when absent."""

    traceparent: str | UnsetType = UNSET
    """W3C trace context: the span this request belongs to."""

    tracestate: str | UnsetType = UNSET
    """W3C trace context: what vendors add to it."""

    baggage: str | UnsetType = UNSET
    """W3C baggage: values that travel along."""


class Params(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What the params of all requests share."""

    meta: RequestMeta | UnsetType = field(default=UNSET, name="_meta")
    """What is said about the request rather than in it."""


class NoParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of a request that takes none."""


class PageParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of a request for one page of a list."""

    cursor: str | UnsetType = UNSET
    """The `next_cursor` of the page before; the first page when absent."""


class NoteParams(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What the params of all notifications share."""

    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")
    """What is said about the notification rather than in it."""


class Result(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What all results share."""

    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")
    """What is said about the result rather than in it."""

    result_type: Annotated[str | UnsetType, Since(V2026_07_28)] = UNSET
    """``complete``, or why this is no full answer. Absent means ``complete``."""


class EmptyResult(Result, rename="camel", omit_defaults=True, kw_only=True):
    """A result that says: done."""


class CacheableResult(Result, rename="camel", omit_defaults=True, kw_only=True):
    """A result that may be kept for a while."""

    ttl_ms: Annotated[int | UnsetType, Since(V2026_07_28)] = UNSET
    """For how many milliseconds; absent and negative both mean: not at all."""

    cache_scope: Annotated[CacheScope | UnsetType, Since(V2026_07_28)] = UNSET
    """Whether others may be served from it. Absent means ``private``."""


class PageResult(CacheableResult, rename="camel", omit_defaults=True, kw_only=True):
    """One page of a list."""

    next_cursor: str | UnsetType = UNSET
    """Asks for the next page. This one is the last when it is absent."""


class InitializeParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `initialize`: the client introduces itself."""

    span: ClassVar[Span] = (Until(V2025_11_25),)

    protocol_version: str
    """The version the client would like to speak."""

    capabilities: ClientCapabilities
    """What it can do for the server."""

    client_info: Implementation
    """Which program it is."""


class InitializeResult(Result, rename="camel", omit_defaults=True, kw_only=True):
    """The server's answer to `initialize`."""

    span: ClassVar[Span] = (Until(V2025_11_25),)

    protocol_version: str
    """The version to speak from now on. The client leaves if it cannot."""

    capabilities: ServerCapabilities
    """What the server offers."""

    server_info: Implementation
    """Which program it is."""

    instructions: str | UnsetType = UNSET
    """How to use the server, for the model."""


class DiscoverResult(CacheableResult, rename="camel", omit_defaults=True, kw_only=True):
    """The answer to `server/discover`. Which program it is stands in `meta`."""

    span: ClassVar[Span] = (Since(V2026_07_28),)

    supported_versions: list[str]
    """Every version a request may name."""

    capabilities: ServerCapabilities
    """What the server offers."""

    instructions: str | UnsetType = UNSET
    """How to use the server, for the model."""
