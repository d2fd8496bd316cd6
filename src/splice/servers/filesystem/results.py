"""What the tools return: text as the model reads it, and a note beside it about what was left out.

The note is never part of the text, so that nobody writes it into a file.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from splice.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    TextContent,
)

DEFAULT_MAX_BYTES = 1_000_000
"""How much text one answer holds: more than most models can read at once."""

DEFAULT_MAX_MEDIA_BYTES = 10_000_000
"""How large a file may be that is sent as a whole."""

DEFAULT_MAX_ENTRIES = 5_000
"""How many files and directories one answer names."""


class Limits(Struct, frozen=True):
    """How much one answer holds."""

    max_bytes: int = DEFAULT_MAX_BYTES
    max_media_bytes: int = DEFAULT_MAX_MEDIA_BYTES
    max_entries: int = DEFAULT_MAX_ENTRIES


class Told(Struct, omit_defaults=True):
    """The answer of most tools."""

    content: str
    """The same as the text."""
    note: str = ""
    """What was left out, and how to get it."""


class Picture(Struct, tag_field="type", tag="image", rename="camel"):
    """An image, its bytes in base64."""

    data: str
    mime_type: str


class Sound(Struct, tag_field="type", tag="audio", rename="camel"):
    """A sound, its bytes in base64."""

    data: str
    mime_type: str


class Blob(Struct, rename="camel"):
    """The bytes of any other file, in base64."""

    uri: str
    mime_type: str
    blob: str


class Embedded(Struct, tag_field="type", tag="resource"):
    """Any other file."""

    resource: Blob


class Media(Struct):
    """The answer of `read_media_file`."""

    content: list[Picture | Sound | Embedded]


def as_read(result: Any) -> Any:
    """Put the text itself where the SDK wrote the whole structured result as JSON."""
    if not isinstance(result, CallToolResult) or result.is_error or result.structured_content is None:
        return result
    said: Any = result.structured_content
    content = said["content"]
    if isinstance(content, str):
        blocks: list[ContentBlock] = [
            TextContent(text=each) for each in (content, said.get("note")) if each is not None
        ]
    else:
        blocks = [_block(each) for each in content]
    return replace(result, content=blocks)


def _block(said: dict[str, Any]) -> ContentBlock:
    match said:
        case {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "blob": blob}}:
            return EmbeddedResource(resource=ResourceContents(uri=uri, mime_type=mime_type, blob=blob))
        case {"type": "audio"}:
            return AudioContent(data=said["data"], mime_type=said["mimeType"])
        case _:
            return ImageContent(data=said["data"], mime_type=said["mimeType"])
