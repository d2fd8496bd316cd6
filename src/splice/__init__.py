"""The Model Context Protocol in Python, whole: server, client and tools for all five protocol versions.

Names are imported when they are first used, so that a program loads only the half it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from splice.client.client import Client as Client
    from splice.client.notices import Change as Change
    from splice.client.questions import Question as Question
    from splice.client.targets import HTTPServer as HTTPServer
    from splice.client.targets import StdioServer as StdioServer
    from splice.errors import ConnectFailed as ConnectFailed
    from splice.errors import ConnectionClosed as ConnectionClosed
    from splice.errors import HTTPRefused as HTTPRefused
    from splice.errors import InternalError as InternalError
    from splice.errors import InvalidParams as InvalidParams
    from splice.errors import InvalidRequest as InvalidRequest
    from splice.errors import LocalProtocolError as LocalProtocolError
    from splice.errors import MCPError as MCPError
    from splice.errors import MethodNotFound as MethodNotFound
    from splice.errors import MissingClientCapability as MissingClientCapability
    from splice.errors import ProtocolError as ProtocolError
    from splice.errors import RemoteProtocolError as RemoteProtocolError
    from splice.errors import RequestTimeout as RequestTimeout
    from splice.errors import ResourceNotFound as ResourceNotFound
    from splice.errors import RPCError as RPCError
    from splice.errors import SessionLost as SessionLost
    from splice.errors import ToolError as ToolError
    from splice.errors import TransportError as TransportError
    from splice.errors import UnsupportedProtocolVersion as UnsupportedProtocolVersion
    from splice.rules.extensions import Extension as Extension
    from splice.rules.extensions import Heard as Heard
    from splice.rules.extensions import Served as Served
    from splice.rules.sessions import Session as Session
    from splice.schema.annotations import Header as Header
    from splice.schema.forms import form_schema as form_schema
    from splice.server.asking import Ask as Ask
    from splice.server.asking import Elicited as Elicited
    from splice.server.call import Answer as Answer
    from splice.server.call import Call as Call
    from splice.server.call import InputRequired as InputRequired
    from splice.server.call import Middleware as Middleware
    from splice.server.context import Context as Context
    from splice.server.results import Audio as Audio
    from splice.server.results import File as File
    from splice.server.results import Image as Image
    from splice.server.server import Server as Server
    from splice.server.sources import Entry as Entry
    from splice.server.sources import Filtered as Filtered
    from splice.server.sources import Local as Local
    from splice.server.sources import Prefixed as Prefixed
    from splice.server.sources import Source as Source
    from splice.transports.base import Exchange as Exchange
    from splice.transports.base import Link as Link
    from splice.transports.base import Outgoing as Outgoing
    from splice.transports.base import Receiver as Receiver
    from splice.transports.base import Sender as Sender
    from splice.transports.base import Service as Service
    from splice.transports.http.routes import HTTPRequest as HTTPRequest

_HOMES = {
    "splice.client.client": ("Client",),
    "splice.client.notices": ("Change",),
    "splice.client.questions": ("Question",),
    "splice.client.targets": ("HTTPServer", "StdioServer"),
    "splice.errors": (
        "ConnectFailed",
        "ConnectionClosed",
        "HTTPRefused",
        "InternalError",
        "InvalidParams",
        "InvalidRequest",
        "LocalProtocolError",
        "MCPError",
        "MethodNotFound",
        "MissingClientCapability",
        "ProtocolError",
        "RPCError",
        "RemoteProtocolError",
        "RequestTimeout",
        "ResourceNotFound",
        "SessionLost",
        "ToolError",
        "TransportError",
        "UnsupportedProtocolVersion",
    ),
    "splice.rules.extensions": ("Extension", "Heard", "Served"),
    "splice.rules.sessions": ("Session",),
    "splice.schema.forms": ("form_schema",),
    "splice.schema.annotations": ("Header",),
    "splice.server.asking": ("Ask", "Elicited"),
    "splice.server.call": ("Answer", "Call", "InputRequired", "Middleware"),
    "splice.server.context": ("Context",),
    "splice.server.results": ("Audio", "File", "Image"),
    "splice.server.server": ("Server",),
    "splice.server.sources": ("Entry", "Filtered", "Local", "Prefixed", "Source"),
    "splice.transports.base": ("Exchange", "Link", "Outgoing", "Receiver", "Sender", "Service"),
    "splice.transports.http.routes": ("HTTPRequest",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

# One table says both where a name lives and that it is public.
__all__ = sorted([*_HOME_OF, "__version__"])  # noqa: PLE0605  # pyright: ignore[reportUnsupportedDunderAll]  # a guard compares the two


def __getattr__(name: str) -> Any:
    """Import a public name from where it lives."""
    if name == "__version__":
        return import_module("importlib.metadata").version("splice")
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'splice' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
