"""Leaves out of a value what a version lacks, before it is sent to a peer that speaks that version.

`narrow` reads the marks of the types (`Since`, `Until`, `span`), once per type and version. Fields the version
lacks are cleared at any depth. A content block it lacks becomes text that names what was left out, and where it
allows one block only, several become several messages or one text. Structured content that may only be an object
becomes one, and a form loses the words it may not have. What needs no change is returned as it is, and nothing is
changed in place.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from collections.abc import Callable
from functools import cache, partial
from operator import is_
from typing import Annotated, Any, TypeAlias, TypeVar, cast, get_args, get_origin

from msgspec import Raw, Struct
from msgspec.structs import fields, replace

from splice.protocol import content, questions, tools, versions

T = TypeVar("T")

Step: TypeAlias = Callable[[Any], Any]
"""Leaves out of a value what one version lacks."""

LaterBlock: TypeAlias = content.AudioContent | content.ResourceLink | content.ToolUseContent | content.ToolResultContent
"""The content blocks that some version lacks."""

_STRUCTURED = (tools.CallToolResult, content.ToolResultContent)


def narrow(value: T, version: str) -> T:
    """Leave out of a Struct what `version` lacks. Anything but a Struct is returned as it is.

    Raises `ValueError` for a version this package does not know, and for what cannot be said without the part that
    is missing: an elicitation by URL before there was any, a form with a list of choices.
    """
    kind: type = type(value)
    step = _step(kind, version)
    return value if step is None else step(value)


@cache
def _step(kind: type, version: str) -> Step | None:
    """Compile the step for a class, or None when the version has all of it."""
    if not issubclass(kind, Struct):
        return None
    if issubclass(kind, LaterBlock) and not versions.covers(kind.span, version):
        return partial(_as_text, version=version)
    gone: list[str] = []
    steps: list[tuple[str, Step]] = []
    for field in fields(kind):
        if not versions.covers(_marks(field.type), version):
            gone.append(field.name)
        elif _lacks(field.type, version):
            steps.append((field.name, partial(_each, version)))
    if issubclass(kind, questions.Spoken) and not versions.FACTS[version].sampling_tools:
        steps.append(("content", _one_block))
    if kind is questions.CreateMessageParams and not versions.FACTS[version].sampling_tools:
        steps.insert(0, ("messages", _messages))
    if kind in _STRUCTURED and "structured_content" not in gone and not versions.FACTS[version].any_structured_content:
        steps.append(("structured_content", _object))
    if kind is questions.ElicitParams and not versions.FACTS[version].rich_forms:
        steps.append(("requested_schema", partial(_plain_form, version)))
    return partial(_struct, gone, steps) if gone or steps else None


def _lacks(annotation: Any, version: str) -> bool:
    """Tell whether a value of this type may hold something that the version lacks."""
    if isinstance(annotation, type):
        return _step(annotation, version) is not None
    inner = [annotation.__origin__] if get_origin(annotation) is Annotated else get_args(annotation)
    return not versions.covers(_marks(annotation), version) or any(_lacks(each, version) for each in inner)


def _marks(annotation: Any) -> tuple[object, ...]:
    return annotation.__metadata__ if get_origin(annotation) is Annotated else ()


def _struct(gone: list[str], steps: list[tuple[str, Step]], value: Any) -> Any:
    changes: dict[str, Any] = {}
    for name in gone:  # a comprehension would be a call of its own
        if getattr(value, name) is not None:
            changes[name] = None
    for name, step in steps:
        old = changes[name] if name in changes else getattr(value, name)
        new = step(old)
        if new is not old:
            changes[name] = new
    return replace(value, **changes) if changes else value


def _each(version: str, value: Struct | list[Any] | None) -> Any:
    if not isinstance(value, list):
        return narrow(value, version)
    new = [narrow(each, version) for each in value]
    return value if all(map(is_, value, new)) else new


def _messages(messages: list[questions.SamplingMessage]) -> list[questions.SamplingMessage]:
    """Give each block a message of its own."""
    if not any(isinstance(message.content, list) for message in messages):
        return messages
    return [replace(message, content=block) for message in messages for block in message.blocks]


def _one_block(several: content.SamplingBlock | list[content.SamplingBlock]) -> content.SamplingBlock:
    """Make one block of several: a text."""
    if not isinstance(several, list):
        return several
    texts = [block.text if isinstance(block, content.TextContent) else _note(block) for block in several]
    return several[0] if len(several) == 1 else content.TextContent(text="\n".join(texts))


def _object(value: Any) -> Any:
    """Wrap JSON in an object, unless it is one."""
    json: object = value  # for type checkers, which `cast` would do by a call
    is_one = json is None or isinstance(json, dict) or (isinstance(json, Raw) and bytes(json).lstrip()[:1] == b"{")
    return value if is_one else {"result": value}


def _plain_form(version: str, form: dict[str, Any] | None) -> dict[str, Any] | None:
    """Ask for the same with plain choices, and with no defaults but those of booleans."""
    fields: Any = form and form.get("properties")
    if form is None or not isinstance(fields, dict):
        return form
    given = cast("dict[str, dict[str, Any]]", fields)
    plain = {word: value for word, value in form.items() if word != "$schema"}
    return plain | {"properties": {name: _plain_field(name, each, version) for name, each in given.items()}}


def _plain_field(name: str, field: dict[str, Any], version: str) -> dict[str, Any]:
    if field.get("type") == "array":
        raise ValueError(f"the form's field {name!r} is a list of choices, which clients of {version} cannot show")
    gone = {"oneOf", *(() if field.get("type") == "boolean" else ("default",))}
    plain = {word: value for word, value in field.items() if word not in gone}
    if choices := field.get("oneOf"):
        plain["enum"] = [choice["const"] for choice in choices]
        plain["enumNames"] = [choice.get("title", choice["const"]) for choice in choices]
    return plain


def _as_text(block: LaterBlock, version: str) -> content.TextContent:
    """Put a text in the place of a block that `version` lacks."""
    return narrow(content.TextContent(text=_note(block), annotations=getattr(block, "annotations", None)), version)


def _note(block: LaterBlock | content.ImageContent) -> str:
    """Say for the reader what was left out."""
    known = [getattr(block, name, None) for name in ("mime_type", "name", "uri", "id", "tool_use_id")]
    return f"[{block.type} left out: {', '.join(each for each in known if each)}]"
