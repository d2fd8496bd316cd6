"""A user's function: what its signature and the options beside it say, how it is called, and what its result is.

A result is text, JSON, content blocks or files, whatever the function is for.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

import asyncio
import base64
import inspect
import mimetypes
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypedDict, cast, get_args

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from splice.protocol.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    TextContent,
    UnknownContent,
)
from splice.protocol.prompts import GetPromptResult, PromptMessage
from splice.protocol.resources import ReadResourceResult
from splice.protocol.tools import CallToolResult
from splice.protocol.wire import Icon
from splice.schema.functions import Signature
from splice.server.call import Call, InputRequired
from splice.server.context import Context
from splice.server.threads import THREADS

_NULL = Raw(b"null")

Invoke: TypeAlias = Callable[..., Awaitable[Any]]
"""Calls the function."""


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
        place = "file:///unnamed" if isinstance(self.source, bytes) else Path(self.source).resolve().as_uri()
        return EmbeddedResource(resource=contents_of(self.uri or place, self.read(), self.kind()))


OPAQUE: tuple[type, ...] = (
    *get_args(ContentBlock),
    *(Image, Audio, File, CallToolResult, ResourceContents, GetPromptResult, ReadResourceResult),
)
"""Types that speak for themselves: a function that returns them has no output schema."""


class FeatureOptions(TypedDict, total=False):
    """Options that tools, resources and prompts have in common; they win over what the function says."""

    name: str
    """Its name for clients. The function's name by default."""
    title: str
    """For people."""
    description: str
    """The function's docstring by default."""
    icons: list[Icon]
    meta: dict[str, Any]
    """`_meta` of the listed entry."""
    blocking: bool
    """False runs a quick `def` on the event loop instead of a thread. No meaning for `async def`."""


class Handler(Struct, frozen=True, eq=False):
    """A function whose signature was read."""

    name: str
    """The function's name, or its class's."""
    signature: Signature
    invoke: Invoke
    """The function itself if it is async, so that no call of ours stands between."""
    context_name: str | None
    """The parameter that takes the context."""

    @classmethod
    def of(cls, fn: Callable[..., Any], options: FeatureOptions) -> "Handler":
        """Read a function's signature. Raises `TypeError` for one that cannot be called by name."""
        signature = Signature(fn, skip=_is_context, opaque=(*OPAQUE, InputRequired))
        name: str = getattr(fn, "__name__", type(fn).__name__)
        invoke = invoker(fn, is_async=signature.is_async, blocking=options.get("blocking", True))
        return cls(name, signature, invoke, next(iter(signature.injected), None))

    def described(self, options: FeatureOptions, **said: Any) -> dict[str, Any]:
        """Put together the fields of a definition: what the signature says, and the options, which win."""
        description = self.signature.description or None
        fields: dict[str, Any] = {"name": self.name, "description": description, **said, **options}
        fields.pop("blocking", None)
        return fields

    def with_context(self, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        """Add the context, if the function takes one. Raises `InvalidParams` for a state that cannot be trusted."""
        if self.context_name is not None:
            arguments[self.context_name] = Context(call)
        return arguments


def invoker(fn: Callable[..., Any], *, is_async: bool, blocking: bool) -> Invoke:
    """Tell how a function is called: as it is, on a thread, or at once."""
    return fn if is_async else partial(_on_thread if blocking else _here, fn)


async def _here(fn: Callable[..., Any], /, *args: Any, **arguments: Any) -> Any:
    value = fn(*args, **arguments)
    return await value if hasattr(value, "__await__") else value


async def _on_thread(fn: Callable[..., Any], /, *args: Any, **arguments: Any) -> Any:
    try:
        value = await THREADS.run(fn, *args, **arguments)
    except asyncio.CancelledError:
        for each in arguments.values():
            if isinstance(each, Context):
                each.bridge.close()
        raise
    return await value if hasattr(value, "__await__") else value


def _is_context(annotation: Any) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, Context)


def block_of(value: Any) -> ContentBlock | None:
    """Make one content block of a value that is one, or stands for one."""
    if isinstance(value, (Image, Audio, File)):
        return value.block()
    if isinstance(value, ResourceContents):
        return EmbeddedResource(resource=value)
    return value if isinstance(value, (ContentBlock, UnknownContent)) else None


def tool_result(value: Any, dump: Callable[[Any], Any], *, structured: bool, wrap: bool) -> CallToolResult:
    """Make a tool's result of what its function returned.

    `structured` says that the tool has an output schema, `wrap` that its JSON must become an object for this version.
    """
    if isinstance(value, str) and not structured:
        return CallToolResult(content=[TextContent(text=value)])
    if isinstance(value, CallToolResult):
        return replace(value)
    blocks = None if structured else _blocks(value)
    if blocks is not None:
        return CallToolResult(content=blocks)
    json = dump(value)
    shown: Any = _NULL if json is None else json  # None would be left out
    text = value if isinstance(value, str) else msgspec.json.encode(json).decode()
    content: list[ContentBlock] = [TextContent(text=text)]
    if not structured and not isinstance(json, dict):
        return CallToolResult(content=content)
    return CallToolResult(content=content, structured_content={"result": json} if wrap else shown)


def _blocks(value: Any) -> list[ContentBlock] | None:
    """Make content blocks of one such value or a list with at least one; its other items become text or JSON text."""
    if value is None:
        return []
    items: Sequence[Any] = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else [value]
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
    if isinstance(value, (bytes, bytearray)):
        mime_type = mime_type or "application/octet-stream"
        text = None
        if mime_type.startswith("text/"):
            with suppress(UnicodeDecodeError):
                text = value.decode()
        blob = _base64(value) if text is None else None
        return ResourceContents(uri=uri, mime_type=mime_type, text=text, blob=blob)
    usual = "text/plain" if isinstance(value, str) else "application/json"
    return ResourceContents(uri=uri, mime_type=mime_type or usual, text=_as_text(value).text)


def resource_result(uri: str, value: Any, mime_type: str | None) -> ReadResourceResult:
    """Make the result of reading a resource of what its function returned."""
    if isinstance(value, ReadResourceResult):
        return replace(value)
    if isinstance(value, list) and value and all(isinstance(item, ResourceContents) for item in cast("Any", value)):
        return ReadResourceResult(contents=cast("list[ResourceContents]", value))
    return ReadResourceResult(contents=[contents_of(uri, value, mime_type)])


def prompt_result(value: Any, description: str | None) -> GetPromptResult:
    """Make a prompt's result of what its function returned: text, a message, or a list of either."""
    if isinstance(value, GetPromptResult):
        return replace(value)
    items: Sequence[Any] = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else [value]
    return GetPromptResult(messages=[_message(item) for item in items], description=description)


def _message(value: Any) -> PromptMessage:
    if isinstance(value, PromptMessage):
        return value
    return PromptMessage(role="user", content=block_of(value) or _as_text(value))


def _base64(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode()
