"""A user's function: what its signature and the options beside it say, how it is called, and what its result is.

A result is text, JSON, content blocks or files, whatever the function is for.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypedDict, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from splice.protocol.content import (
    ContentBlock,
    EmbeddedResource,
    ResourceContents,
    Role,
    TextContent,
    UnknownContent,
)
from splice.protocol.prompts import GetPromptResult, PromptMessage
from splice.protocol.resources import ReadResourceResult
from splice.protocol.tools import CallToolResult
from splice.protocol.wire import Icon, Named
from splice.schema.annotations import UNIONS, is_annotated
from splice.schema.foreign import encode_hook
from splice.schema.functions import Signature
from splice.schema.near import meant
from splice.server.call import Call, InputRequired
from splice.server.context import Context
from splice.server.definitions import checked
from splice.server.media import BINARY, Audio, File, Image, Media, contents_of_bytes
from splice.server.threads import Threads

_NULL = Raw(b"null")
_OURS = ("blocking", "timeout", "validate")
"""Options that are not fields of a definition."""

D = TypeVar("D", bound=Named)

Invoke: TypeAlias = Callable[..., Awaitable[Any]]
"""Calls the function."""


OPAQUE: tuple[type, ...] = (
    *get_args(ContentBlock),
    *(Media, CallToolResult, ResourceContents, GetPromptResult, ReadResourceResult),
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
    def of(
        cls,
        fn: Callable[..., Any],
        options: FeatureOptions,
        threads: Threads,
        known: type[FeatureOptions] = FeatureOptions,
    ) -> "Handler":
        """Read a function's signature.

        Raises `TypeError` for one that cannot be called by name, and for options that are not among those of `known`.
        """
        there = known.__annotations__
        for option in options.keys() - there.keys():
            raise TypeError(f"there is no option {option!r}; there are {', '.join(there)}{meant(option, there)}")
        signature = Signature(fn, skip=_is_context, opaque=(*OPAQUE, InputRequired))
        name: str = getattr(fn, "__name__", type(fn).__name__)
        invoke = invoker(fn, is_async=signature.is_async, blocking=options.get("blocking", True), threads=threads)
        return cls(name, signature, invoke, next(iter(signature.injected), None))

    def define(self, kind: type[D], options: FeatureOptions, **said: Any) -> D:
        """Make a definition of what the signature says, and the options, which win. Raises `ValueError`."""
        description = self.signature.description or None
        fields: dict[str, Any] = {"name": self.name, "description": description, **said, **options}
        return checked(kind(**{name: value for name, value in fields.items() if name not in _OURS}))

    def with_context(self, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        """Add the context, if the function takes one. Raises `InvalidParams` for a state that cannot be trusted."""
        if self.context_name is not None:
            arguments[self.context_name] = Context(call)
        return arguments


def invoker(fn: Callable[..., Any], *, is_async: bool, blocking: bool, threads: Threads) -> Invoke:
    """Tell how a function is called: as it is, on one of the threads, or at once."""
    return fn if is_async else partial(_on_thread, threads, fn) if blocking else partial(_here, fn)


async def _here(fn: Callable[..., Any], /, *args: Any, **arguments: Any) -> Any:
    value = fn(*args, **arguments)
    return await value if hasattr(value, "__await__") else value


async def _on_thread(threads: Threads, fn: Callable[..., Any], /, *args: Any, **arguments: Any) -> Any:
    try:
        value = await threads.run(fn, *args, **arguments)
    except asyncio.CancelledError:
        for each in arguments.values():
            if isinstance(each, Context):
                each.bridge.close()
        raise
    return await value if hasattr(value, "__await__") else value


async def loaded(value: Any, threads: Threads) -> Any:
    """Read the files that a result names, on a thread: neither a slow disk nor a pipe may stop the event loop."""
    items = _items(value)
    if not any(isinstance(each, Media) and not isinstance(each.source, bytes) for each in items):
        return value
    read = await threads.run(lambda: [each.loaded() if isinstance(each, Media) else each for each in items])
    return read if items is value else read[0]


def _items(value: Any) -> Sequence[Any]:
    """Give the items of a list or tuple; anything else is its only item."""
    return cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else [value]


def _is_context(annotation: Any) -> bool:
    if is_annotated(annotation) or get_origin(annotation) in UNIONS:
        return any(map(_is_context, get_args(annotation)))
    kind = get_origin(annotation) or annotation
    return inspect.isclass(kind) and issubclass(kind, Context)


def block_of(value: Any) -> ContentBlock | None:
    """Make one content block of a value that is one, or stands for one. What is embedded has a MIME type."""
    if isinstance(value, (Image, Audio, File)):
        return value.block()
    if isinstance(value, ResourceContents):
        value = EmbeddedResource(resource=value)
    if isinstance(value, EmbeddedResource) and value.resource.mime_type is None:
        usual = BINARY if value.resource.text is None else "text/plain"
        return replace(value, resource=replace(value.resource, mime_type=usual))
    return value if isinstance(value, (ContentBlock, UnknownContent)) else None


def tool_result(value: Any, dump: Callable[[Any], Any], *, structured: bool | None) -> CallToolResult:
    """Make a tool's result of what its function returned.

    `structured` says that the tool has an output schema, None that it wants no structured content even for a dict.
    """
    if isinstance(value, str) and not structured:
        return CallToolResult(content=[TextContent(text=value)])
    blocks = None if structured else _blocks(value)
    if blocks is not None:
        return CallToolResult(content=blocks)
    json = dump(value)
    text = value if isinstance(value, str) else msgspec.json.encode(json).decode()
    content: list[ContentBlock] = [TextContent(text=text)]
    if not structured and (structured is None or not isinstance(json, dict)):
        return CallToolResult(content=content)
    return CallToolResult(content=content, structured_content=_NULL if json is None else json)  # None would be left out


def _blocks(value: Any) -> list[ContentBlock] | None:
    """Make content blocks of one such value or a list with at least one; its other items become text or JSON text."""
    if value is None:
        return []
    items = _items(value)
    found = [block_of(item) for item in items]
    if not any(found):
        return None
    return [block or _as_text(item) for block, item in zip(found, items, strict=True)]


def _as_text(value: Any) -> TextContent:
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=encode_hook).decode()
    return TextContent(text=text)


def error_result(text: str) -> CallToolResult:
    """Make the result that tells the model why a tool failed."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def contents_of(uri: str, value: Any, mime_type: str | None) -> ResourceContents:
    """Make a resource's contents of text, bytes or any JSON value."""
    if isinstance(value, ResourceContents):
        return value
    if isinstance(value, Media):
        return contents_of_bytes(uri, value.read(), mime_type or value.kind())
    if isinstance(value, (bytes, bytearray)):
        return contents_of_bytes(uri, value, mime_type or BINARY)
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
    """Make a prompt's result of what its function returned: text, a message, or a list of either.

    Raises `TypeError` for messages that are none.
    """
    if isinstance(value, GetPromptResult):
        return replace(value, messages=[_message(each) for each in value.messages])
    return GetPromptResult(messages=[_message(item) for item in _items(value)], description=description)


def _message(value: Any) -> PromptMessage:
    if not isinstance(value, PromptMessage):
        return PromptMessage(role="user", content=block_of(value) or _as_text(value))
    content = block_of(value.content)
    if content is None or value.role not in get_args(Role):
        raise TypeError(f"a PromptMessage is of user or assistant, its content a block such as TextContent: {value}")
    return replace(value, content=content)
