"""Content: what tools return, prompts contain and models say.

A block is one of several Structs, told apart by `type`. Binary data is base64 text all the way.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from splice.protocol.versions import V2025_03_26, V2025_06_18, V2025_11_25, Since
from splice.protocol.wire import Hints, LaterMeta, Meta, Named, Span

Role = Literal["user", "assistant"]


class Annotations(Hints, kw_only=True):
    """Hints about whom something is for and how much it matters."""

    audience: list[Role] | None = None
    """For the user, the model or both."""

    priority: float | None = None
    """From 0, may be left out, to 1, is needed."""

    last_modified: Annotated[str | None, Since(V2025_06_18)] = None
    """When it changed last, in ISO 8601."""


class Block(LaterMeta, kw_only=True):
    """A part of what is said or returned, with hints."""

    annotations: Annotations | None = None
    """Whom it is for."""


class BinaryBlock(Block, kw_only=True):
    """A block of bytes."""

    data: str
    """The bytes in base64."""

    mime_type: str
    """Their format."""


class TextContent(Block, tag_field="type", tag="text", kw_only=True):
    """Text."""

    type: ClassVar[Literal["text"]] = "text"

    text: str
    """The text itself."""


class ImageContent(BinaryBlock, tag_field="type", tag="image", kw_only=True):
    """A picture."""

    type: ClassVar[Literal["image"]] = "image"


class AudioContent(BinaryBlock, tag_field="type", tag="audio", kw_only=True):
    """A recording."""

    type: ClassVar[Literal["audio"]] = "audio"
    span: ClassVar[Span] = (Since(V2025_03_26),)


class NamedData(Named, kw_only=True):
    """Data that a server offers, or a family of such."""

    mime_type: str | None = None
    """The format, of all in a family."""

    annotations: Annotations | None = None
    """Whom it is for."""


class ResourceDescription(NamedData, kw_only=True):
    """A resource without its contents."""

    uri: str
    """Where to read it."""

    size: int | None = None
    """Its size in bytes, before base64."""


class ResourceLink(ResourceDescription, tag_field="type", tag="resource_link", kw_only=True):
    """A resource by reference. The server need not list it."""

    type: ClassVar[Literal["resource_link"]] = "resource_link"
    span: ClassVar[Span] = (Since(V2025_06_18),)


class ResourceContents(LaterMeta, kw_only=True):
    """The contents of a resource: exactly one of `text` and `blob`."""

    uri: str
    """Which resource, or which part of it."""

    mime_type: str | None = None
    """Its format."""

    text: str | None = None
    """The contents, when they are text."""

    blob: str | None = None
    """The contents in base64, when they are not."""

    def __post_init__(self) -> None:
        """Refuse contents that are both text and not, or neither."""
        if (self.text is None) is (self.blob is None):
            raise ValueError("Resource contents need exactly one of `text` and `blob`")


class EmbeddedResource(Block, tag_field="type", tag="resource", kw_only=True):
    """A resource with its contents."""

    type: ClassVar[Literal["resource"]] = "resource"

    resource: ResourceContents
    """Its contents."""


class UnknownContent(dict[str, Any]):
    """A block of a type that this package does not know, as it came; it is passed on unchanged."""

    @property
    def type(self) -> str:
        """Its type."""
        return str(self["type"])


_Known: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

if TYPE_CHECKING:
    ContentBlock: TypeAlias = _Known | UnknownContent
else:
    ContentBlock = _Known
# A block of what tools return and prompts contain. In msgspec a union of Structs has no place for another class, so an
# unknown block does not fit at first; `splice.protocol.lenient` puts it in.


class ToolUseContent(Meta, tag_field="type", tag="tool_use", kw_only=True):
    """The model wants a tool to be called."""

    type: ClassVar[Literal["tool_use"]] = "tool_use"
    span: ClassVar[Span] = (Since(V2025_11_25),)

    id: str
    """The result repeats it."""

    name: str
    """Which tool."""

    input: dict[str, Any]
    """Its arguments."""


class ToolResultContent(Meta, tag_field="type", tag="tool_result", kw_only=True):
    """The result of the tool that the model wanted to be called."""

    type: ClassVar[Literal["tool_result"]] = "tool_result"
    span: ClassVar[Span] = (Since(V2025_11_25),)

    tool_use_id: str
    """The `id` of the call."""

    content: list[ContentBlock]
    """The content that the tool returned."""

    structured_content: Any = None
    """The same as JSON; an object before 2026-07-28."""

    is_error: bool = False
    """The tool failed."""


SamplingBlock: TypeAlias = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
"""A block of a message to or from a model."""
