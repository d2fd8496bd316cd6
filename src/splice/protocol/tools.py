"""Tools: functions a server offers to the model.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Raw

from splice.protocol import jsonrpc, wire
from splice.protocol.content import ContentBlock, TextContent
from splice.protocol.methods import Method
from splice.protocol.versions import V2025_03_26, V2025_06_18, V2025_11_25, Since, Until


class ToolAnnotations(wire.Hints, kw_only=True):
    """Hints about what a tool does. Not to be relied on unless the server is trusted."""

    span: ClassVar[wire.Span] = (Since(V2025_03_26),)

    title: str | None = None
    """A name for people; `Tool.title` goes before it."""

    read_only_hint: bool | None = None
    """It changes nothing. False when absent."""

    destructive_hint: bool | None = None
    """It may destroy what it changes. True when absent."""

    idempotent_hint: bool | None = None
    """Calling it again with the same arguments changes nothing more. False when absent."""

    open_world_hint: bool | None = None
    """It reaches beyond the server, such as to the web. True when absent."""


class ToolExecution(wire.Hints, kw_only=True):
    """How a tool may be called."""

    span: ClassVar[wire.Span] = (Since(V2025_11_25), Until(V2025_11_25))

    task_support: Literal["forbidden", "optional", "required"] | None = None
    """Whether as a task. Forbidden when absent."""


class TaskMetadata(wire.Wire, kw_only=True):
    """In the params of a request: run it as a task. The other types of tasks come when tasks are served."""

    span: ClassVar[wire.Span] = (Since(V2025_11_25), Until(V2025_11_25))

    ttl: int | None = None
    """For how many milliseconds the result should be kept."""


class Tool(wire.Named, kw_only=True):
    """One entry of `tools/list`.

    The model calls it by its name: it should be 1 to 128 of ``A-Z a-z 0-9 _ - .``, and unique on the server.
    """

    input_schema: dict[str, Any]
    """JSON Schema of the arguments, always an object."""

    output_schema: Annotated[dict[str, Any] | None, Since(V2025_06_18)] = None
    """JSON Schema of `structured_content`; of an object before 2026-07-28."""

    annotations: Annotated[ToolAnnotations | None, Since(V2025_03_26)] = None
    """Hints about what it does."""

    execution: Annotated[ToolExecution | None, Since(V2025_11_25), Until(V2025_11_25)] = None
    """How it may be called."""


class ListToolsResult(wire.PageResult, kw_only=True):
    """The result of `tools/list`."""

    tools: list[Tool]
    """This page of them."""


class CallToolParams(wire.RetryParams, kw_only=True):
    """Params of `tools/call`."""

    name: str
    """Which tool."""

    arguments: jsonrpc.MaybeRaw = None
    """Its arguments, not yet read."""

    task: Annotated[TaskMetadata | None, Since(V2025_11_25), Until(V2025_11_25)] = None
    """Run it as a task."""

    def __post_init__(self) -> None:
        """Read null as absent."""
        if self.meta is not None and self.meta == jsonrpc.NULL:
            self.meta = None
        if self.arguments is not None and self.arguments == jsonrpc.NULL:
            self.arguments = None


class CallToolResult(wire.Result, kw_only=True):
    """The result of `tools/call`."""

    assumed: ClassVar[dict[str, Raw]] = {"content": Raw(b"[]")}

    content: list[ContentBlock]
    """The content that the model gets to see."""

    structured_content: Annotated[Any, Since(V2025_06_18)] = None
    """The same as JSON; an object before 2026-07-28. `Raw(b"null")` sends null; both null and absent arrive as None."""

    is_error: bool = False
    """The tool failed, and `content` says why."""

    @property
    def text(self) -> str:
        """All text blocks, a line each."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextContent))


TOOLS_LIST = Method(name="tools/list", params=wire.PageParams, result=ListToolsResult)
TOOLS_CALL = Method(name="tools/call", params=CallToolParams, result=CallToolResult, may_ask=True, named_by="name")
