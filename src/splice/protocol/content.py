"""Content: what tools return, prompts contain and models say.

A block is one of several Structs, told apart by `type`. Binary data is base64 text all the way.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType, field

from splice.protocol.lifecycle import Icon, Span
from splice.protocol.versions import V2025_03_26, V2025_06_18, V2025_11_25, Since

Role = Literal["user", "assistant"]


class Annotations(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Hints about whom something is for and how much it matters."""

    audience: list[Role] | UnsetType = UNSET
    """For the user, the model or both."""

    priority: float | UnsetType = UNSET
    """From 0, may be left out, to 1, is needed."""

    last_modified: Annotated[str | UnsetType, Since(V2025_06_18)] = UNSET
    """When it changed last, in ISO 8601."""


class TextContent(Struct, tag_field="type", tag="text", rename="camel", omit_defaults=True, kw_only=True):
    """Text."""

    type: ClassVar[Literal["text"]] = "text"

    text: str
    """The text itself."""

    annotations: Annotations | UnsetType = UNSET
    """Whom it is for."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


class ImageContent(Struct, tag_field="type", tag="image", rename="camel", omit_defaults=True, kw_only=True):
    """A picture."""

    type: ClassVar[Literal["image"]] = "image"

    data: str
    """The picture in base64."""

    mime_type: str
    """Its format."""

    annotations: Annotations | UnsetType = UNSET
    """Whom it is for."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


class AudioContent(Struct, tag_field="type", tag="audio", rename="camel", omit_defaults=True, kw_only=True):
    """A recording."""

    type: ClassVar[Literal["audio"]] = "audio"
    span: ClassVar[Span] = (Since(V2025_03_26),)

    data: str
    """The recording in base64."""

    mime_type: str
    """Its format."""

    annotations: Annotations | UnsetType = UNSET
    """Whom it is for."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


class ResourceLink(Struct, tag_field="type", tag="resource_link", rename="camel", omit_defaults=True, kw_only=True):
    """A resource by reference. The server need not list it."""

    type: ClassVar[Literal["resource_link"]] = "resource_link"
    span: ClassVar[Span] = (Since(V2025_06_18),)

    uri: str
    """Where to read it."""

    name: str
    """Its name for programs."""

    title: str | UnsetType = UNSET
    """Its name for people. `name` is shown when it is absent."""

    description: str | UnsetType = UNSET
    """What it is, for the model."""

    mime_type: str | UnsetType = UNSET
    """Its format."""

    size: int | UnsetType = UNSET
    """Its size in bytes, before base64."""

    annotations: Annotations | UnsetType = UNSET
    """Whom it is for."""

    icons: Annotated[list[Icon] | UnsetType, Since(V2025_11_25)] = UNSET
    """The same picture in several sizes and themes."""

    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


class ResourceContents(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What is in a resource: exactly one of `text` and `blob`."""

    uri: str
    """Which resource, or which part of it."""

    mime_type: str | UnsetType = UNSET
    """Its format."""

    text: str | UnsetType = UNSET
    """The contents, when they are text."""

    blob: str | UnsetType = UNSET
    """The contents in base64, when they are not."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""

    def __post_init__(self) -> None:
        """Refuse contents that are both text and not, or neither."""
        if (self.text is UNSET) is (self.blob is UNSET):
            raise ValueError("Resource contents need exactly one of `text` and `blob`")


class EmbeddedResource(Struct, tag_field="type", tag="resource", rename="camel", omit_defaults=True, kw_only=True):
    """A resource with its contents."""

    type: ClassVar[Literal["resource"]] = "resource"

    resource: ResourceContents
    """What is in it."""

    annotations: Annotations | UnsetType = UNSET
    """Whom it is for."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


ContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
"""What tools return and prompts contain."""


class ToolUseContent(Struct, tag_field="type", tag="tool_use", rename="camel", omit_defaults=True, kw_only=True):
    """The model wants a tool to be called."""

    type: ClassVar[Literal["tool_use"]] = "tool_use"
    span: ClassVar[Span] = (Since(V2025_11_25),)

    id: str
    """The result repeats it."""

    name: str
    """Which tool."""

    input: dict[str, Any]
    """Its arguments."""

    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


class ToolResultContent(Struct, tag_field="type", tag="tool_result", rename="camel", omit_defaults=True, kw_only=True):
    """What the tool that the model wanted has returned."""

    type: ClassVar[Literal["tool_result"]] = "tool_result"
    span: ClassVar[Span] = (Since(V2025_11_25),)

    tool_use_id: str
    """The `id` of the call."""

    content: list[ContentBlock]
    """What the tool returned."""

    structured_content: Any = UNSET
    """The same as JSON; an object before 2026-07-28."""

    is_error: bool | UnsetType = UNSET
    """The tool failed."""

    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


SamplingBlock: TypeAlias = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
"""What messages to and from a model contain."""
