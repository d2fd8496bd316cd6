"""One tool of a server in its two forms: for the model, short and clean; for the user, whole, as it came."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from splice.host import items
from splice.host.tools.lint import strip
from splice.schema.schemas import is_array, is_object
from splice.types import Prompt, Tool

MAX_DESCRIPTION = 2048
"""How many characters of a description, or of a server's instructions, the model gets. The user sees all."""

_TEXTS = ("description", "title", "$comment")
"""Members of a schema that may be cut: no value depends on them."""
_BYTES_PER_TOKEN = 4

GOES_OUTSIDE = "goes outside"
"""The claim of a tool whose results hold text from outside."""


def tokens(tool: Tool) -> int:
    """Estimate what a definition takes of a model's window."""
    return tokens_of(msgspec.json.encode([tool.name, tool.description, tool.input_schema]))


def tokens_of(text: str | bytes) -> int:
    """Estimate how many tokens a text is: a quarter of its bytes, whatever the script."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return -(-len(data) // _BYTES_PER_TOKEN)


def for_model(tool: Tool, called: str, *, is_clean: bool = False) -> Tool:
    """Write a tool for the model: under its name for it, without characters that cannot be seen, and not too long.

    `is_clean` says that it is known of the schema that nothing is left out of it.
    """
    hints = tool.annotations
    return Tool(
        name=called,
        title=None if tool.title is None else cut(strip(tool.title)),
        description=None if tool.description is None else cut(strip(tool.description)),
        input_schema=tool.input_schema if is_clean else _clean(tool.input_schema),
        annotations=None if hints is None else replace(hints, title=None),
    )


def cut(text: str) -> str:
    """Cut a text of a definition for the model, which is told."""
    more = len(text) - MAX_DESCRIPTION
    return text if more <= 0 else f"{text[:MAX_DESCRIPTION]} [cut; {more} more characters]"


def cuts(where: str, text: str) -> list[items.Finding]:
    """Tell the user what of a text the model does not get."""
    if len(text) <= MAX_DESCRIPTION:
        return []
    return [items.Finding(where, f"is cut for the model, which gets {MAX_DESCRIPTION:,} of {len(text):,} characters")]


def for_user(server: str, tool: Tool, shown: Tool) -> items.Tool:
    """Write a tool for the board; ``shown`` is what the model gets."""
    hints = tool.annotations
    reads_only = hints is not None and hints.read_only_hint is True
    return items.Tool(
        id=f"tool:{server}/{tool.name}",
        server=server,
        name=tool.name,
        called=shown.name,
        title=tool.title or (hints.title if hints else None) or "",
        description=tool.description or "",
        claims=list(_claims(tool)),
        may_delete=not reads_only and (hints is None or hints.destructive_hint is not False),
        goes_outside=hints is None or hints.open_world_hint is not False,
        reads_only=reads_only,
        schema=tool.input_schema,
        output_schema=tool.output_schema,
        tokens=tokens(shown),
    )


def prompt_for_user(server: str, prompt: Prompt) -> items.Prompt:
    """Write a prompt for the board."""
    return items.Prompt(
        id=f"prompt:{server}/{prompt.name}",
        server=server,
        name=prompt.name,
        title=prompt.title or "",
        description=prompt.description or "",
        arguments=[
            items.PromptField(each.name, each.title or "", each.description or "", each.required is True)
            for each in prompt.arguments or ()
        ],
    )


def _claims(tool: Tool) -> Iterator[str]:
    hints = tool.annotations
    if hints is None:
        return
    if hints.read_only_hint:
        yield "reads only"
    elif hints.destructive_hint is not None:
        yield "may delete" if hints.destructive_hint else "deletes nothing"
    if hints.idempotent_hint:
        yield "repeatable"
    if hints.open_world_hint is not None:
        yield GOES_OUTSIDE if hints.open_world_hint else "stays inside"


def _clean(value: Any, member: str = "") -> Any:
    if isinstance(value, str):
        return cut(strip(value)) if member in _TEXTS else strip(value)
    if is_object(value):
        return {strip(key): _clean(each, key) for key, each in value.items()}
    return [_clean(each) for each in value] if is_array(value) else value
