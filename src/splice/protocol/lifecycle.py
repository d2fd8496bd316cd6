"""Opening: how a client and a server agree on a version, and what every modern request repeats of that.

https://modelcontextprotocol.io/specification/2026-07-28/basic
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from typing import Annotated, ClassVar

from msgspec import Raw, field

from splice.protocol import methods, wire
from splice.protocol.capabilities import ClientCapabilities, ServerCapabilities
from splice.protocol.notifications import LoggingLevel, ProgressToken
from splice.protocol.versions import V2025_11_25, V2026_07_28, Since, Until

META_PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
META_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
META_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
_NOBODY = Raw(b'{"name":"","version":""}')
META_SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"


class RequestMeta(wire.Wire, kw_only=True):
    """`_meta` of a request, as far as the specification gives it a meaning."""

    progress_token: ProgressToken | None = None
    """The sender wants to hear of progress under this token."""

    protocol_version: Annotated[str | None, Since(V2026_07_28)] = field(default=None, name=META_PROTOCOL_VERSION)
    """The version this request is written in. Required in every request since 2026-07-28."""

    client_capabilities: Annotated[ClientCapabilities | None, Since(V2026_07_28)] = field(
        default=None, name=META_CLIENT_CAPABILITIES
    )
    """The capabilities of the client for this request. Required in every request since 2026-07-28."""

    client_info: Annotated[wire.Implementation | None, Since(V2026_07_28)] = field(default=None, name=META_CLIENT_INFO)
    """The program that asks."""

    log_level: Annotated[LoggingLevel | None, Since(V2026_07_28)] = field(default=None, name=META_LOG_LEVEL)
    """Log messages of this severity and above are wanted; none when absent."""

    traceparent: str | None = None
    """W3C trace context: the span this request belongs to."""

    tracestate: str | None = None
    """W3C trace context: what vendors add to it."""

    baggage: str | None = None
    """W3C baggage: values that travel along."""

    @classmethod
    def read(cls, meta: Raw | None) -> "RequestMeta":
        """Read the keys that the specification names. Raises `InvalidParams`."""
        return NO_META if meta is None else _META.read_params(meta, "$._meta")


class InitializeParams(wire.Params, kw_only=True):
    """Params of `initialize`: the client introduces itself."""

    span: ClassVar[wire.Span] = (Until(V2025_11_25),)
    assumed: ClassVar[dict[str, Raw]] = {"capabilities": Raw(b"{}"), "clientInfo": _NOBODY}

    protocol_version: str
    """The version the client would like to speak."""

    capabilities: ClientCapabilities
    """Its capabilities."""

    client_info: wire.Implementation
    """The program that it is."""


class InitializeResult(wire.Result, kw_only=True):
    """The server's answer to `initialize`."""

    span: ClassVar[wire.Span] = (Until(V2025_11_25),)
    assumed: ClassVar[dict[str, Raw]] = {"capabilities": Raw(b"{}"), "serverInfo": _NOBODY}

    protocol_version: str
    """The version to speak from now on. The client leaves if it cannot."""

    capabilities: ServerCapabilities
    """The capabilities of the server."""

    server_info: wire.Implementation
    """The program that it is."""

    instructions: str | None = None
    """How to use the server, for the model."""


class DiscoverResult(wire.CacheableResult, kw_only=True):
    """The answer to `server/discover`. Which program it is stands in `meta`."""

    span: ClassVar[wire.Span] = (Since(V2026_07_28),)

    supported_versions: list[str]
    """Every version a request may name."""

    capabilities: ServerCapabilities
    """The capabilities of the server."""

    instructions: str | None = None
    """How to use the server, for the model."""


NO_META = RequestMeta()
_META = methods.Note(name="_meta", params=RequestMeta)

INITIALIZE = methods.Method(name="initialize", params=InitializeParams, result=InitializeResult)
INITIALIZED = methods.Note(name="notifications/initialized", params=wire.NoteParams, until=V2025_11_25)
PING = methods.Method(name="ping", params=wire.NoParams, result=wire.EmptyResult, until=V2025_11_25)
DISCOVER = methods.Method(name="server/discover", params=wire.NoParams, result=DiscoverResult, since=V2026_07_28)
