"""What is said about a type beside it: descriptions, limits, headers.

`Annotated[int, ...]` may carry plain strings, `msgspec.Meta`, `annotated_types`, `typing_extensions.Doc`, pydantic's
`Field(...)` and our `Header`. They are told apart by the attributes they have, so none of these libraries is imported.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from msgspec import Meta, Struct, field

LIMITS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Header(Struct, frozen=True):
    """Mark: clients repeat this argument in the HTTP header `Mcp-Param-<name>`, for those who route requests.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
    """

    name: str

    def __post_init__(self) -> None:
        """Refuse what cannot be part of a header name."""
        if not _TOKEN.fullmatch(self.name):
            raise ValueError(f"Header({self.name!r}): only letters, digits and !#$%&'*+-.^_`|~ can be in a header name")


class Notes(Struct):
    """Everything that was said beside one type."""

    description: str | None = None
    title: str | None = None
    examples: list[Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    """More members for the JSON Schema, as the author wrote them."""
    header: str | None = None
    limits: dict[str, Any] = field(default_factory=dict)
    by_msgspec: bool = True
    """All limits came from `msgspec.Meta`."""
    needs_pydantic: bool = False
    """Something was said that only pydantic knows how to do."""

    def schema(self) -> dict[str, Any]:
        """Give what a JSON Schema can repeat, but for the limits."""
        said = {"title": self.title, "description": self.description, "examples": self.examples}
        members = {name: value for name, value in said.items() if value}
        if self.header is not None:
            members["x-mcp-header"] = self.header
        return members | self.extra


def is_pydantic_field(value: object) -> bool:
    """Tell whether `value` is what pydantic's `Field(...)` returns."""
    return type(value).__name__ == "FieldInfo" and hasattr(value, "metadata") and hasattr(value, "default_factory")


def notes(metadata: Iterable[Any]) -> Notes:
    """Read the metadata of an `Annotated`. What says nothing to us is passed over, as `Annotated` wants it."""
    found = Notes()
    for item in metadata:
        _read(item, found)
    return found


def _read(item: Any, found: Notes) -> None:
    if isinstance(item, str):
        found.description = item
    elif isinstance(item, Header):
        found.header = item.name
    elif is_pydantic_field(item):
        _read_words(item, found)
        found.needs_pydantic |= getattr(item, "discriminator", None) is not None
        for constraint in item.metadata:
            _read(constraint, found)
    elif type(item).__module__.partition(".")[0] == "pydantic":
        _read_pydantic(item, found)
    elif hasattr(item, "__iter__"):
        for constraint in item:
            _read(constraint, found)
    else:
        _read_words(item, found)
        _read_limits(item, found)


def _read_words(item: Any, found: Notes) -> None:
    found.title = getattr(item, "title", None) or found.title
    found.description = getattr(item, "description", None) or getattr(item, "documentation", None) or found.description
    found.examples = getattr(item, "examples", None) or found.examples
    for name in ("extra_json_schema", "json_schema_extra"):
        extra = getattr(item, name, None)
        if isinstance(extra, Mapping):
            found.extra.update(cast("Mapping[str, Any]", extra))


def _read_limits(item: Any, found: Notes) -> None:
    for name in LIMITS:
        if (limit := getattr(item, name, None)) is not None and not callable(limit):
            found.limits[name] = limit
            found.by_msgspec &= isinstance(item, Meta)


def _read_pydantic(item: Any, found: Notes) -> None:
    """Read pydantic's own constraints: a pattern we can do ourselves, strictness we have anyway."""
    members: dict[str, Any] = getattr(item, "__dict__", {"": item})
    said = {name for name, value in members.items() if value is not None}
    if said <= {"pattern", "strict"}:
        _read_limits(item, found)
    else:
        found.needs_pydantic = True
