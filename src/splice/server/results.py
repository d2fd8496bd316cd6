"""What a handler returned, as the specification's results: text, JSON, content blocks, files.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

import base64
import mimetypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import msgspec
from msgspec import UNSET, Struct

from splice.protocol.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from splice.protocol.prompts import GetPromptResult, PromptMessage
from splice.protocol.resources import ReadResourceResult
from splice.protocol.tools import CallToolResult
from splice.schema.values import is_array

BLOCKS = (TextContent, ImageContent, AudioContent, EmbeddedResource, ResourceLink)


class _Media(Struct, frozen=True):
    """Bytes, or the path of a file that holds them."""

    source: bytes | str | Path
    mime_type: str | None = None
    usual: ClassVar[str] = "application/octet-stream"

    def read(self) -> bytes:
        return self.source if isinstance(self.source, bytes) else Path(self.source).read_bytes()

    def kind(self) -> str:
        """Tell the MIME type: as given, else what the path says, else the usual one."""
        guessed = None if isinstance(self.source, bytes) else mimetypes.guess_type(self.source)[0]
        return self.mime_type or guessed or self.usual


class Image(_Media, frozen=True):
    """An image for a result: its bytes or its path. Without a MIME type it is a PNG, or what the path says."""

    usual: ClassVar[str] = "image/png"

    def block(self) -> ImageContent:
        """Build the content block."""
        return ImageContent(data=_base64(self.read()), mime_type=self.kind())


class Audio(_Media, frozen=True):
    """A sound for a result: its bytes or its path. Without a MIME type it is a WAV, or what the path says."""

    usual: ClassVar[str] = "audio/wav"

    def block(self) -> AudioContent:
        """Build the content block."""
        return AudioContent(data=_base64(self.read()), mime_type=self.kind())


class File(_Media, frozen=True):
    """A file embedded in a result, as a resource: text where its bytes are UTF-8 and its type is text, else a blob."""

    uri: str | None = None

    def block(self) -> EmbeddedResource:
        """Build the content block."""
        uri = self.uri or (
            "file:///unnamed" if isinstance(self.source, bytes) else Path(self.source).resolve().as_uri()
        )
        return EmbeddedResource(resource=contents_of(uri, self.read(), self.kind()))


OPAQUE: tuple[type, ...] = (
    *BLOCKS,
    Image,
    Audio,
    File,
    CallToolResult,
    ResourceContents,
    GetPromptResult,
    ReadResourceResult,
)
"""Types that speak for themselves: a function that returns them has no output schema."""


def block_of(value: Any) -> ContentBlock | None:
    """Make one content block of a value that is one, or stands for one."""
    if isinstance(value, BLOCKS):
        return value
    if isinstance(value, (Image, Audio, File)):
        return value.block()
    if isinstance(value, ResourceContents):
        return EmbeddedResource(resource=value)
    return None


def tool_result(value: Any, dump: Callable[[Any], Any], *, structured: bool, wrap: bool) -> CallToolResult:
    """Make a tool's result of what its function returned.

    `structured` says that the tool has an output schema, `wrap` that its JSON must become an object for this version.
    """
    if isinstance(value, str) and not structured:
        return CallToolResult(content=[TextContent(text=value)])
    if isinstance(value, CallToolResult):
        return msgspec.structs.replace(value)
    if not structured:
        if value is None:
            return CallToolResult(content=[])
        blocks = _blocks(value)
        if blocks is not None:
            return CallToolResult(content=blocks)
    json = dump(value)
    text = value if isinstance(value, str) else msgspec.json.encode(json).decode()
    content: list[ContentBlock] = [TextContent(text=text)]
    if not structured and not isinstance(json, dict):
        return CallToolResult(content=content)
    return CallToolResult(content=content, structured_content={"result": json} if wrap else json)


def _blocks(value: Any) -> list[ContentBlock] | None:
    """Make content blocks of one such value or a list with at least one; its other items become text or JSON text."""
    single = block_of(value)
    if single is not None:
        return [single]
    if not isinstance(value, (list, tuple)):
        return None
    items = cast("Sequence[Any]", value)
    found = [block_of(item) for item in items]
    if not any(found):
        return None
    return [block or _as_text(item) for block, item in zip(found, items, strict=True)]


def _as_text(value: Any) -> TextContent:
    return TextContent(text=value if isinstance(value, str) else msgspec.json.encode(value).decode())


def error_result(text: str) -> CallToolResult:
    """Make the result that tells the model why a tool failed."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def contents_of(uri: str, value: Any, mime_type: str | None) -> ResourceContents:
    """Make a resource's contents of text, bytes or any JSON value."""
    if isinstance(value, ResourceContents):
        return value
    if isinstance(value, (Image, Audio, File)):
        return contents_of(uri, value.read(), mime_type or value.kind())
    if isinstance(value, str):
        return ResourceContents(uri=uri, mime_type=mime_type or "text/plain", text=value)
    if isinstance(value, (bytes, bytearray)):
        kind = mime_type or "application/octet-stream"
        text = _decoded(bytes(value)) if kind.startswith("text/") else None
        return ResourceContents(
            uri=uri,
            mime_type=kind,
            text=UNSET if text is None else text,
            blob=_base64(value) if text is None else UNSET,
        )
    return ResourceContents(
        uri=uri, mime_type=mime_type or "application/json", text=msgspec.json.encode(value).decode()
    )


def resource_result(uri: str, value: Any, mime_type: str | None) -> ReadResourceResult:
    """Make the result of reading a resource of what its function returned."""
    if isinstance(value, ReadResourceResult):
        return msgspec.structs.replace(value)
    if is_array(value) and value and all(isinstance(item, ResourceContents) for item in value):
        return ReadResourceResult(contents=value)
    return ReadResourceResult(contents=[contents_of(uri, value, mime_type)])


def prompt_result(value: Any, description: str | None) -> GetPromptResult:
    """Make a prompt's result of what its function returned: text, a message, or a list of either."""
    if isinstance(value, GetPromptResult):
        return msgspec.structs.replace(value)
    items: Sequence[Any] = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else [value]
    messages = [_message(item) for item in items]
    return GetPromptResult(messages=messages, description=UNSET if description is None else description)


def _message(value: Any) -> PromptMessage:
    if isinstance(value, PromptMessage):
        return value
    return PromptMessage(role="user", content=block_of(value) or _as_text(value))


def _base64(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode()


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
