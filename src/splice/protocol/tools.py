"""Tools: functions a server offers to the model.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, field

from splice.protocol.content import ContentBlock, TextContent
from splice.protocol.lifecycle import Icon, PageResult, Params, Result, Span
from splice.protocol.tasks import TaskMetadata
from splice.protocol.versions import V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28, Since, Until


class ToolAnnotations(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Hints about what a tool does. Not to be relied on unless the server is trusted."""

    span: ClassVar[Span] = (Since(V2025_03_26),)

    title: str | UnsetType = UNSET
    """A name for people; `Tool.title` goes before it."""

    read_only_hint: bool | UnsetType = UNSET
    """It changes nothing. False when absent."""

    destructive_hint: bool | UnsetType = UNSET
    """What it changes may be lost. True when absent."""

    idempotent_hint: bool | UnsetType = UNSET
    """Calling it again with the same arguments changes nothing more. False when absent."""

    open_world_hint: bool | UnsetType = UNSET
    """It reaches beyond the server, such as to the web. True when absent."""


class ToolExecution(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """How a tool may be called."""

    span: ClassVar[Span] = (Since(V2025_11_25), Until(V2025_11_25))

    task_support: Literal["forbidden", "optional", "required"] | UnsetType = UNSET
    """Whether as a task. Forbidden when absent."""


class Tool(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """One entry of `tools/list`."""

    name: str
    """What the model calls. Should be 1 to 128 of ``A-Z a-z 0-9 _ - .``, unique on the server."""

    title: Annotated[str | UnsetType, Since(V2025_06_18)] = UNSET
    """For people. `name` is shown when it is absent."""

    description: str | UnsetType = UNSET
    """What it does, for the model."""

    input_schema: dict[str, Any]
    """JSON Schema of the arguments, always an object."""

    output_schema: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = UNSET
    """JSON Schema of `structured_content`; of an object before 2026-07-28."""

    annotations: Annotated[ToolAnnotations | UnsetType, Since(V2025_03_26)] = UNSET
    """Hints about what it does."""

    execution: Annotated[ToolExecution | UnsetType, Since(V2025_11_25), Until(V2025_11_25)] = UNSET
    """How it may be called."""

    icons: Annotated[list[Icon] | UnsetType, Since(V2025_11_25)] = UNSET
    """The same picture in several sizes and themes."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


class ListToolsResult(PageResult, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `tools/list`."""

    tools: list[Tool]
    """This page of them."""


class CallToolParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `tools/call`."""

    name: str
    """Which tool."""

    arguments: Raw | UnsetType = UNSET
    """Its arguments, not yet read."""

    input_responses: Annotated[dict[str, Raw] | UnsetType, Since(V2026_07_28)] = UNSET
    """What the server asked for last time, by the same keys."""

    request_state: Annotated[str | UnsetType, Since(V2026_07_28)] = UNSET
    """What the server gave last time, byte for byte."""

    task: Annotated[TaskMetadata | UnsetType, Since(V2025_11_25), Until(V2025_11_25)] = UNSET
    """Run it as a task."""


class CallToolResult(Result, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `tools/call`."""

    content: list[ContentBlock]
    """What the model gets to see."""

    structured_content: Annotated[Any, Since(V2025_06_18)] = UNSET
    """The same as JSON; an object before 2026-07-28. None means null, which is not the same as absent."""

    is_error: bool | UnsetType = UNSET
    """The tool failed, and `content` says why."""

    @property
    def text(self) -> str:
        """All text blocks, a line each."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextContent))
