"""Every exception this package raises, and every error code it knows.

    MCPError
    ├── TransportError                  bytes could not be moved
    │   ├── ConnectionClosed            the peer is gone; for a child process: its exit code and last words
    │   │   ├── ConnectFailed           ...and was never reached
    │   │   └── SessionLost             ...and has forgotten the session; up to 2025-11-25 only
    │   ├── HTTPRefused                 an HTTP status, or a body, that is not MCP
    │   └── RequestTimeout              no answer in the time the caller gave
    ├── ProtocolError                   a message broke the rules
    │   ├── LocalProtocolError          ...and we were about to send it
    │   │   └── Unanswered              ...a question of the server's has no answer, so its call was given up
    │   └── RemoteProtocolError         ...and the peer sent it
    ├── RPCError                        a JSON-RPC error, received from a peer or raised to answer one
    │   ├── ParseError                  -32700  not JSON
    │   ├── InvalidRequest              -32600  JSON, but not a request we may answer
    │   ├── MethodNotFound              -32601
    │   ├── InvalidParams               -32602
    │   ├── InternalError               -32603
    │   ├── ResourceNotFound            -32002  before 2026-07-28; -32602 from there on
    │   ├── HeaderMismatch              -32020  an HTTP header contradicts the body
    │   ├── MissingClientCapability     -32021
    │   ├── UnsupportedProtocolVersion  -32022
    │   └── URLElicitationRequired      -32042  2025-11-25 only
    └── ToolError                       a tool failed; the model gets to read why

https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
"""

from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH = -32020
MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_PROTOCOL_VERSION = -32022
URL_ELICITATION_REQUIRED = -32042


class MCPError(Exception):
    """The root of every error this package raises."""


class TransportError(MCPError):
    """Bytes could not be moved."""

    may_have_run: bool = True
    """The request may have been carried out. If not, sending it again does no harm."""
    retry_after: float = 0.0
    """How many seconds the server asks to wait before."""


class ConnectionClosed(TransportError):
    """The peer is gone; every pending request fails with this."""


class ConnectFailed(ConnectionClosed):
    """The server was never reached: no such program, address or host, nothing listens there, or it was gone before."""

    may_have_run = False


class SessionLost(ConnectionClosed):
    """The server has forgotten the session, and a new one too, or a call was running in it. Up to 2025-11-25 only."""

    may_have_run = False

    def __init__(self, message: str, status: int = 404) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status that said so."""


class HTTPRefused(TransportError):
    """The server answered with an HTTP status, or a body, that is not a response to the request."""

    def __init__(self, message: str, status: int, response: Any = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status."""
        self.response = response
        """The JSON-RPC error in the body of a 5xx, or of a 429, a `Failure`. It answers this request only; None: there
        was none."""


class RequestTimeout(TransportError):
    """No answer arrived in the time the caller gave; the request was cancelled."""


class ProtocolError(MCPError):
    """A message broke the rules of the protocol."""


class LocalProtocolError(ProtocolError):
    """We were about to break the rules; nothing was sent."""


class Unanswered(LocalProtocolError):
    """The server asks for something before it goes on, and nothing here answers, or what does refuses to."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the rules."""


class RPCError(MCPError):
    """A JSON-RPC error response, received from a peer or raised to answer one.

    Raise a subclass inside a handler and the peer receives its code, message and data. An error received from a
    peer is raised as the class of this module that has its code, or as plain `RPCError` when none has. Subclasses of
    users are never made of what a peer sent.
    """

    code: int = INTERNAL_ERROR
    is_foreign: bool = False
    """A peer sent it. A handler that lets it pass did not raise it for its own client to read."""
    status: int | None = None
    """The HTTP status that a request gets which it ends before anything was sent; None: the one of its code."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """The headers that go with that status, names in lower case."""

    def __init_subclass__(cls, *, code: int | None = None, **options: Any) -> None:
        """Give the subclass its `code`; without one it has that of its base."""
        super().__init_subclass__(**options)
        if code is not None:
            cls.code = code

    def __init__(self, message: str, data: Any = None, *, code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data
        if code is not None:
            self.code = code

    @classmethod
    def received(cls, code: int, message: str, data: Any = None) -> "RPCError":
        """Build the exception that stands for an error a peer sent."""
        error = _BY_CODE.get(code, RPCError)(message, data, code=code)
        error.is_foreign = True
        return error


class ParseError(RPCError, code=PARSE_ERROR):
    """The message that arrived is not JSON, or not UTF-8."""


class InvalidRequest(RPCError, code=INVALID_REQUEST):
    """The message that arrived is JSON, but not a request that may be answered here and now."""


class MethodNotFound(RPCError, code=METHOD_NOT_FOUND):
    """The method does not exist in this protocol version, or its capability was not declared."""


class InvalidParams(RPCError, code=INVALID_PARAMS):
    """The params do not have the shape that the method asks for."""


class InternalError(RPCError, code=INTERNAL_ERROR):
    """The receiver failed through no fault of the sender."""


class ResourceNotFound(RPCError, code=RESOURCE_NOT_FOUND):
    """No resource has this URI. The code on the wire depends on the protocol version."""


class HeaderMismatch(RPCError, code=HEADER_MISMATCH):
    """An HTTP header is missing, malformed or contradicts the body."""


class MissingClientCapability(RPCError, code=MISSING_CLIENT_CAPABILITY):
    """The request needs a capability that the client did not declare."""


class UnsupportedProtocolVersion(RPCError, code=UNSUPPORTED_PROTOCOL_VERSION):
    """The request names a protocol version that the server does not speak."""


class URLElicitationRequired(RPCError, code=URL_ELICITATION_REQUIRED):
    """The user has to visit a URL before the request can succeed (2025-11-25 only).

    `data` is `{"elicitations": [{"mode": "url", "message": ..., "url": ..., "elicitationId": ...}]}`. Without it
    this raises `TypeError`, but for an error that a peer sent.
    """

    elicitations: tuple[Any, ...] = ()
    """What the user has to visit, each an `ElicitParams` whose URL was checked. Of an error that a client raises."""

    def __init__(self, message: str, data: Any = None, *, code: int | None = None) -> None:
        if code is None and not (isinstance(data, dict) and data.get("elicitations")):  # pyright: ignore[reportUnknownMemberType]  # any JSON may stand there
            raise TypeError('URLElicitationRequired needs data={"elicitations": [...]}: the URLs to be visited')
        super().__init__(message, data, code=code)


class ToolError(MCPError):
    """A tool failed. Raise it with a message for the model: it arrives word for word."""


_BY_CODE: dict[int, type[RPCError]] = {kind.code: kind for kind in RPCError.__subclasses__()}
"""The classes above, and never one of a user's."""
