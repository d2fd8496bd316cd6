"""What a version lacks is left out, before a value is sent to a peer that speaks it.

`narrow` reads the marks of the types (`Since`, `Until`, `span`), once per type and version. Fields the version
lacks are cleared at any depth. A content block it lacks becomes text that names what was left out, and where it
allows one block only, several become several messages or one text. What needs no change is returned as it is,
and nothing is changed in place.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from operator import is_
from types import UnionType
from typing import Annotated, Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from msgspec import UNSET, Struct
from msgspec.structs import fields, replace

from splice.protocol.content import (
    AudioContent,
    ImageContent,
    ResourceLink,
    SamplingBlock,
    TextContent,
    ToolResultContent,
    ToolUseContent,
)
from splice.protocol.input import SamplingMessage
from splice.protocol.versions import Since, Until, exists

T = TypeVar("T")

Step: TypeAlias = Callable[[Any], Any]
"""Leaves out of a value what one version lacks."""

LaterBlock: TypeAlias = AudioContent | ResourceLink | ToolUseContent | ToolResultContent
"""The content blocks that some version lacks."""


def narrow(value: T, version: str) -> T:
    """Leave out of a Struct what `version` lacks. Anything but a Struct is returned as it is.

    Raises `ValueError` for a version this package does not know, and for what cannot be said without the part that
    is missing: an elicitation by URL before there was any.
    """
    kind: type = type(value)
    step = _class_step(kind, version)
    return value if step is None else step(value)


def covers(marks: Iterable[object], version: str) -> bool:
    """Tell whether what carries these marks exists in `version`. What is no mark does not count."""
    since = (mark.version for mark in marks if isinstance(mark, Since))
    until = (mark.version for mark in marks if isinstance(mark, Until))
    return exists(version, next(since, None), next(until, None))


@cache
def _class_step(kind: type, version: str) -> Step | None:
    """Compile the step for a class, or None when the version has all of it."""
    if not issubclass(kind, Struct):
        return None
    if issubclass(kind, LaterBlock) and not covers(kind.span, version):
        return partial(_as_text, version=version)
    gone: list[str] = []
    steps: list[tuple[str, Step]] = []
    for field in fields(kind):
        if not covers(_marks(field.type), version):
            gone.append(field.name)
        elif (step := _type_step(field.type, version)) is not None:
            steps.append((field.name, step))
    return partial(_struct, gone, steps) if gone or steps else None


def _type_step(annotation: Any, version: str) -> Step | None:
    """Compile the step for a field, an item or a member of a union."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_step(arguments[0], version)
    if origin is list:
        return _list_step(arguments[0], version)
    if origin is Union or origin is UnionType:
        return _union_step(arguments, version)
    if isinstance(annotation, type) and _class_step(annotation, version) is not None:
        return partial(narrow, version=version)
    return None


def _list_step(item: Any, version: str) -> Step | None:
    step = _type_step(item, version)
    if step is None:
        return None
    return partial(_messages if item is SamplingMessage else _list, step)


def _union_step(members: tuple[Any, ...], version: str) -> Step | None:
    """Compile the step for a union of Structs and, perhaps, a list that not every version allows."""
    one = partial(narrow, version=version)
    if not all(covers(_marks(member), version) for member in members):
        return partial(_one_block, one)
    plain = [get_args(member)[0] if get_origin(member) is Annotated else member for member in members]
    steps = {get_origin(member): step for member in plain if (step := _type_step(member, version)) is not None}
    return partial(_one_or_list, one, steps.get(list, one)) if steps else None


def _marks(annotation: Any) -> tuple[object, ...]:
    return annotation.__metadata__ if get_origin(annotation) is Annotated else ()


def _struct(gone: list[str], steps: list[tuple[str, Step]], value: Any) -> Any:
    changes: dict[str, Any] = {name: UNSET for name in gone if getattr(value, name) is not UNSET}
    for name, step in steps:
        old = getattr(value, name)
        new = step(old)
        if new is not old:
            changes[name] = new
    return replace(value, **changes) if changes else value


def _list(step: Step, items: list[Any]) -> list[Any]:
    new = [step(item) for item in items]
    return items if all(map(is_, items, new)) else new


def _one_or_list(one: Step, several: Step, value: Any) -> Any:
    return several(value) if isinstance(value, list) else one(value)


def _messages(step: Step, messages: list[SamplingMessage]) -> list[SamplingMessage]:
    """Give each block a message of its own."""
    if any(isinstance(message.content, list) for message in messages):
        messages = [replace(message, content=block) for message in messages for block in message.blocks]
    return _list(step, messages)


def _one_block(step: Step, content: Any) -> Any:
    """Make one block of several: a text."""
    if not isinstance(content, list):
        return step(content)
    blocks: list[SamplingBlock] = list(map(step, cast("list[SamplingBlock]", content)))
    if len(blocks) == 1:
        return blocks[0]
    return TextContent(
        text="\n".join(block.text if isinstance(block, TextContent) else _note(block) for block in blocks)
    )


def _as_text(block: LaterBlock, version: str) -> TextContent:
    """Put a text in the place of a block that `version` lacks."""
    annotations = block.annotations if isinstance(block, AudioContent | ResourceLink) else UNSET
    return narrow(TextContent(text=_note(block), annotations=annotations), version)


def _note(block: LaterBlock | ImageContent) -> str:
    """Say for the reader what was left out."""
    match block:
        case ImageContent() | AudioContent():
            what = block.mime_type
        case ResourceLink():
            what = f"{block.name}, {block.uri}"
        case ToolUseContent():
            what = f"{block.name}, {block.id}"
        case _:
            what = block.tool_use_id
    return f"[{block.type} left out: {what}]"
