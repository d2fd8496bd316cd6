"""What a function gives back: whether it has a JSON Schema, and which."""

import typing
from typing import Any

import msgspec

from splice.schema.shape import Schema
from splice.schema.types import Types


def output_schema(kind: Any, opaque: tuple[type, ...]) -> Schema | None:
    """Describe the result of a function that is annotated with `kind`.

    None for nothing, for plain text, for the types in `opaque` wherever they occur in it, and for what JSON cannot
    carry: such results are shown, but have no structure to promise.
    """
    if kind is None or _holds(kind, opaque):
        return None
    types = Types("serialization")
    try:
        schema = types.read(kind).schema
    except TypeError:
        return None
    if not schema or _is_text(schema) or _is_any_list(schema):
        return None
    root = _rooted(schema, types.defs)
    return root | {"$defs": types.defs} if types.defs else root


def _holds(kind: Any, opaque: tuple[type, ...]) -> bool:
    origin = typing.get_origin(kind)
    if any(each is kind or each is origin for each in opaque):
        return True
    if origin is None:
        return isinstance(kind, type) and kind is not Any and issubclass(kind, opaque)
    return any(_holds(inner, opaque) for inner in typing.get_args(kind))


def _is_text(schema: Schema) -> bool:
    members: list[Schema] = schema.get("anyOf", [schema])
    return all(
        member.keys() <= {"type", "description"} and member.get("type") in ("string", "null") for member in members
    )


def _is_any_list(schema: Schema) -> bool:
    """Tell whether a list promises nothing of its items: they may well be content."""
    return schema.get("type") == "array" and not schema.get("items") and not schema.get("prefixItems")


def _rooted(schema: Schema, defs: dict[str, Schema]) -> Schema:
    """Put the definition of the result itself at the root, where clients look for `type`."""
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name not in defs:
        return schema
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    root = defs[name] | beside
    if f'"#/$defs/{name}"' not in msgspec.json.encode(defs).decode():
        del defs[name]
    return root
