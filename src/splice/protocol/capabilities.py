"""Capabilities: what a client and a server can do for each other.

A capability is declared by the presence of its key, even with nothing inside.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from typing import Annotated, Any, ClassVar

from splice.protocol.versions import V2025_03_26, V2025_06_18, V2025_11_25, Since, Until
from splice.protocol.wire import Span, Wire


class RootsCapability(Wire, kw_only=True):
    """The client can tell its roots."""

    list_changed: Annotated[bool | None, Until(V2025_11_25)] = None
    """It says when they change."""


class SamplingCapability(Wire, kw_only=True):
    """The client can ask a model."""

    context: Annotated[dict[str, Any] | None, Since(V2025_11_25)] = None
    """It heeds `includeContext` other than ``none``."""

    tools: Annotated[dict[str, Any] | None, Since(V2025_11_25)] = None
    """The model may be offered tools."""


class ElicitationCapability(Wire, kw_only=True):
    """The client can ask its user. Empty means: by forms only."""

    span: ClassVar[Span] = (Since(V2025_06_18),)

    form: Annotated[dict[str, Any] | None, Since(V2025_11_25)] = None
    """It can show a form."""

    url: Annotated[dict[str, Any] | None, Since(V2025_11_25)] = None
    """It can send the user to a URL."""


class TasksCapability(Wire, kw_only=True):
    """The receiver can run requests as tasks."""

    span: ClassVar[Span] = (Since(V2025_11_25), Until(V2025_11_25))

    list: dict[str, Any] | None = None
    """`tasks/list` is answered."""

    cancel: dict[str, Any] | None = None
    """`tasks/cancel` is answered."""

    requests: dict[str, Any] | None = None
    """Which requests may become tasks, by the parts of their names: ``{"tools": {"call": {}}}``."""


class Capabilities(Wire, kw_only=True):
    """The abilities of either side. A capability is there when its key is, even with nothing inside."""

    experimental: dict[str, Any] | None = None
    """Whatever is not in the specification, by name."""

    extensions: dict[str, Any] | None = None
    """Settings of each extension, by its identifier. Named since 2026-07-28; MCP Apps uses it before."""

    tasks: Annotated[TasksCapability | None, Since(V2025_11_25), Until(V2025_11_25)] = None
    """It can run requests of the other side as tasks."""


class ClientCapabilities(Capabilities, kw_only=True):
    """The abilities of a client."""

    roots: RootsCapability | None = None
    """It can tell its roots."""

    sampling: SamplingCapability | None = None
    """It can ask a model."""

    elicitation: Annotated[ElicitationCapability | None, Since(V2025_06_18)] = None
    """It can ask its user."""


class PromptsCapability(Wire, kw_only=True):
    """The server offers prompts."""

    list_changed: bool | None = None
    """It says when their list changes."""


class ResourcesCapability(Wire, kw_only=True):
    """The server offers resources."""

    subscribe: bool | None = None
    """It says when a single resource changes."""

    list_changed: bool | None = None
    """It says when their list changes."""


class ToolsCapability(Wire, kw_only=True):
    """The server offers tools."""

    list_changed: bool | None = None
    """It says when their list changes."""


class ServerCapabilities(Capabilities, kw_only=True):
    """The abilities of a server."""

    logging: dict[str, Any] | None = None
    """It sends log messages."""

    completions: Annotated[dict[str, Any] | None, Since(V2025_03_26)] = None
    """It completes arguments."""

    prompts: PromptsCapability | None = None
    """It offers prompts."""

    resources: ResourcesCapability | None = None
    """It offers resources."""

    tools: ToolsCapability | None = None
    """It offers tools."""
