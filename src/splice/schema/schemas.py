"""JSON values and JSON Schemas, told apart and put together, and the names in them that somebody may have meant."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any, TypeAlias, TypeGuard

Schema: TypeAlias = dict[str, Any]

NULL: Schema = {"type": "null"}

NAMES: dict[type, str] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
"""Types that JSON has itself."""

MAX_LOOKED_AT = 500
"""How many names are compared, and how long the name that nobody knows may be: whoever sends it may mean harm."""

MAX_TOLD = 3


class BadArguments(ValueError):
    """Values do not fit the types that were declared for them. The text is short and written for a model."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a JSON value is an array."""
    return isinstance(value, list)


def whole(value: Any) -> Any:
    """Write 1.0 as 1, everywhere: JSON Schema knows no difference, msgspec does."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if is_object(value):
        return {key: whole(inner) for key, inner in value.items()}
    return [whole(inner) for inner in value] if is_array(value) else value


def cut(text: str, most: int) -> str:
    """Cut a text that may be of a peer's making."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def object_of(properties: dict[str, Schema], required: list[str], *, closed: bool = False) -> Schema:
    """Describe an object; one that is `closed` has no other members."""
    schema: Schema = {"type": "object", "properties": properties} | ({"required": required} if required else {})
    return schema | ({"additionalProperties": False} if closed else {})


def described(schema: Schema, description: str | None) -> Schema:
    """Add what a docstring says, unless the type says more itself."""
    return schema | {"description": description} if description and "description" not in schema else schema


def any_of(members: list[Schema]) -> Schema:
    """Describe a union; null comes last."""
    if {} in members:
        return {}
    different = [each for place, each in enumerate(members) if each not in members[:place]]
    return different[0] if len(different) == 1 else {"anyOf": sorted(different, key=NULL.__eq__)}


def without_null(schema: Schema) -> Schema:
    """Leave null out of a schema that allows it beside one other; any other schema is returned as it is."""
    members: list[Schema] = schema.get("anyOf", [])
    others = [member for member in members if member != NULL]
    if len(others) != 1 or others == members:
        return schema
    return others[0] | {word: value for word, value in schema.items() if word != "anyOf"}


def resolved(schema: Schema, defs: Mapping[str, Schema]) -> Schema:
    """Put the definition in the place of a reference."""
    if (name := schema.get("$ref")) is None:
        return schema
    return defs[name.removeprefix("#/$defs/")] | {word: value for word, value in schema.items() if word != "$ref"}


def meant(name: str, known: Iterable[str]) -> str:
    """Write what follows the message that `name` is not known: the names nearest to it, if any is near."""
    if len(name) > MAX_LOOKED_AT:
        return ""
    near = get_close_matches(name, islice(known, MAX_LOOKED_AT), MAX_TOLD)
    return f". Did you mean {' or '.join(map(repr, near))}?" if near else ""


def choices(schema: Schema, defs: Mapping[str, Schema]) -> list[Any]:
    """List the values that a schema names, as those of `Literal`, `Enum` and `bool` do, but for null."""
    schema = resolved(schema, defs)
    if schema.get("type") == "boolean":
        return [True, False]
    named = schema.get("enum", [schema["const"]] if "const" in schema else [])
    members: list[Schema] = schema.get("anyOf", [])
    return [each for each in named if each is not None] + [each for member in members for each in choices(member, defs)]
