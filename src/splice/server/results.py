"""What a function returned, as content: text, JSON, blocks, and files, which are read when the result is made.

An image, a sound or a file is bytes, or a path. `block_of` says what any value is in the result of a tool or a prompt,
`contents_of` what it is in that of a resource.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

import base64
import mimetypes
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, TypedDict, Unpack, cast, get_args

import msgspec
from msgspec.structs import replace

from splice.protocol import content, prompts, resources, tools
from splice.rules.options import Option, checked, option_table
from splice.schema.annotations import encode_hook

BINARY = "application/octet-stream"


Data: TypeAlias = bytes | str | Path
"""Bytes, or the path of a file that holds them."""


class ByName(TypedDict, total=False):
    """What may be said by name."""

    data: Annotated[bytes | None, Option(bytes, "bytes")]
    path: Annotated[str | Path | None, Option((str, Path), "the path of a file")]
    format: Annotated[str | None, Option(str, "text such as 'png'")]
    """Short for a MIME type."""


_BY_NAME = option_table(ByName)


class Media:
    """Bytes, or the path of a file that holds them."""

    usual: ClassVar[str] = BINARY

    def __init__(self, source: Data | None = None, mime_type: str | None = None, **named: Unpack[ByName]) -> None:
        """Take bytes or a path, as the first argument or by name, and a MIME type or a `format`.

        Raises `TypeError` for none or two of them, `ValueError` for a MIME type that is not one, or of another family:
        an image is not a sound.
        """
        said = checked(type(self).__name__, named, _BY_NAME)
        given = [each for each in (source, said.get("data"), said.get("path")) if each is not None]
        if len(given) != 1:
            raise TypeError(f"{type(self).__name__} takes bytes or a path: once, as the first argument, data= or path=")
        self.source: Data = given[0]
        family, form = self.usual.partition("/")[0], said.get("format")
        if mime_type is None and form is not None:
            named_type = form if "/" in form else mimetypes.guess_type(f"x.{form}")[0]
            mime_type = (named_type or f"{family}/{form}").replace("/x-", "/")
        guessed = None if isinstance(self.source, bytes) else mimetypes.guess_type(self.source)[0]
        self.mime_type: str = mime_type or guessed or self.usual
        """As given, else what the path says, else the usual one."""
        if ("/" if self.usual == BINARY else f"{family}/") not in self.mime_type:
            what = f"{type(self).__name__} takes a MIME type such as {self.usual}, not {self.mime_type!r}"
            raise ValueError(f"{what}; say mime_type= or format=, or send it as File")

    def read(self) -> bytes:
        """Read the file. Raises `OSError`, also for what is not a regular file: a pipe may never end."""
        if isinstance(self.source, bytes):
            return self.source
        path = Path(self.source)
        if path.exists() and not path.is_file():
            raise OSError(f"{path.name} is not a regular file")
        return path.read_bytes()


class Image(Media):
    """An image for a result: its bytes or its path. Without a MIME type it is a PNG, or what the path says."""

    usual: ClassVar[str] = "image/png"

    def block(self) -> content.ImageContent:
        """Build the content block."""
        return content.ImageContent(data=_base64(self.read()), mime_type=self.mime_type)


class Audio(Media):
    """A sound for a result: its bytes or its path. Without a MIME type it is a WAV, or what the path says."""

    usual: ClassVar[str] = "audio/wav"

    def block(self) -> content.AudioContent:
        """Build the content block."""
        return content.AudioContent(data=_base64(self.read()), mime_type=self.mime_type)


class File(Media):
    """A file embedded in a result, as a resource: text where its bytes are UTF-8 and its type is text, else a blob."""

    def __init__(
        self, source: Data | None = None, mime_type: str | None = None, uri: str | None = None, **named: Unpack[ByName]
    ) -> None:
        """Take what `Media` takes, and the URI; by default that of the path, of which a relative one gives its name."""
        super().__init__(source, mime_type, **named)
        path = Path("unnamed" if isinstance(self.source, bytes) else self.source)
        self.uri = uri or (path if path.is_absolute() else Path("/", path.name)).as_uri()

    def block(self) -> content.EmbeddedResource:
        """Build the content block."""
        return content.EmbeddedResource(resource=contents_of(self.uri, self))


def _base64(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode()


CONTENT: tuple[type, ...] = (*get_args(content.ContentBlock), content.UnknownContent, content.ResourceContents, Media)
"""Types of values that are content, or stand for it."""

OPAQUE = (*CONTENT, tools.CallToolResult, prompts.GetPromptResult, resources.ReadResourceResult)
"""Types that speak for themselves: a function that returns them has no output schema."""


def items_of(value: Any) -> Sequence[Any]:
    """Give the items of a list or tuple; anything else is its only item."""
    return cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else (value,)


def names_files(value: Any) -> bool:
    """Tell whether files are to be read for a result: on a thread, as a slow disk may not stop the event loop."""
    if isinstance(value, str):
        return False
    return any(isinstance(each, Media) and not isinstance(each.source, bytes) for each in items_of(value))


def text_of(value: Any) -> str:
    """Write a value as text, which is JSON unless it is text already."""
    return value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=encode_hook).decode()


def block_of(value: Any) -> content.ContentBlock:
    """Make a content block of any value; one that is not `CONTENT` becomes text. What is embedded has a MIME type."""
    if not isinstance(value, CONTENT):
        return content.TextContent(text=text_of(value))
    if isinstance(value, (Image, Audio, File)):
        return value.block()
    if isinstance(value, content.ResourceContents):
        value = content.EmbeddedResource(resource=value)
    if isinstance(value, content.EmbeddedResource) and value.resource.mime_type is None:
        usual = BINARY if value.resource.text is None else "text/plain"
        value = replace(value, resource=replace(value.resource, mime_type=usual))
    return cast("content.ContentBlock", value)


def contents_of(uri: str, value: Any, mime_type: str | None = None) -> content.ResourceContents:
    """Make a resource's contents of any value. Bytes are text where the type is text and they are UTF-8."""
    if isinstance(value, content.ResourceContents):
        return value
    if isinstance(value, Media):
        value, mime_type = value.read(), mime_type or value.mime_type
    if not isinstance(value, (bytes, bytearray)):
        usual = "text/plain" if isinstance(value, str) else "application/json"
        return content.ResourceContents(uri=uri, mime_type=mime_type or usual, text=text_of(value))
    if mime_type is not None and mime_type.startswith("text/"):
        with suppress(UnicodeDecodeError):
            return content.ResourceContents(uri=uri, mime_type=mime_type, text=value.decode())
    return content.ResourceContents(uri=uri, mime_type=mime_type or BINARY, blob=_base64(value))


def resource_result(
    uri: str, mime_type: str | None, hints: Mapping[str, Any], value: Any
) -> resources.ReadResourceResult:
    """Make the result of reading a resource of what its function returned; the hints that it gave itself win."""
    if isinstance(value, resources.ReadResourceResult):
        return replace(value, **{name: hint for name, hint in hints.items() if getattr(value, name) is None})
    parts = items_of(value) if isinstance(value, list) else ()
    if parts and all(isinstance(each, content.ResourceContents) for each in parts):
        return resources.ReadResourceResult(contents=[*parts], **hints)
    return resources.ReadResourceResult(contents=[contents_of(uri, value, mime_type)], **hints)


def prompt_result(description: str | None, value: Any) -> prompts.GetPromptResult:
    """Make a prompt's result of what its function returned: text, a message, or a list of either.

    Raises `TypeError` for messages that are none.
    """
    if isinstance(value, prompts.GetPromptResult):
        return replace(value, messages=[_message(each) for each in value.messages])
    return prompts.GetPromptResult(messages=[_message(each) for each in items_of(value)], description=description)


def _message(value: Any) -> prompts.PromptMessage:
    if not isinstance(value, prompts.PromptMessage):
        return prompts.PromptMessage(role="user", content=block_of(value))
    if not isinstance(value.content, CONTENT) or value.role not in get_args(content.Role):
        raise TypeError(f"a PromptMessage is of user or assistant, its content a block such as TextContent: {value}")
    return replace(value, content=block_of(value.content))
