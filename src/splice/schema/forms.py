"""Forms for elicitation: flat objects of text, numbers, booleans and choices.

A form is declared as a dataclass, a Struct, a TypedDict, an attrs class or a pydantic model. Its schema is the small
part of JSON Schema that clients must be able to show; what does not fit is refused when the question is asked.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
"""

import functools
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from splice.schema.markers import conversion
from splice.schema.problems import Refused
from splice.schema.refusals import BadArguments, bad_arguments, explained
from splice.schema.shape import Schema, name_of
from splice.schema.types import Types
from splice.schema.values import whole

__all__ = ["BadArguments", "apply_defaults", "form_schema", "read_form"]

Form = TypeVar("Form")

_FORMATS = ("email", "uri", "date", "date-time")
_PRIMITIVES = ("string", "number", "integer", "boolean")


class _Form(Struct, frozen=True):
    """A form and its model."""

    schema: Schema
    wire: Any
    empty: dict[str, Any]
    """What the model must be given for fields that may be left empty."""


def form_schema(model: type[Any] | dict[str, Any]) -> dict[str, Any]:
    """Give the schema that asks for a model; a schema written by hand is passed on as it is.

    Raises `TypeError` for a model that is no flat form.
    """
    return model if isinstance(model, dict) else _form(model).schema


def read_form(model: type[Form], content: Mapping[str, Any]) -> Form:
    """Build the model from what the user filled in.

    Raises `BadArguments`.
    """
    form = _form(model)
    given = form.empty | dict(content)
    try:
        return cast("Form", conversion(form.wire)(given))
    except Refused as first:
        error = first
    try:
        return cast("Form", conversion(form.wire)(whole(given)))
    except Refused:
        raise bad_arguments(explained(error, given, form.schema, {})) from None


def apply_defaults(schema: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in the defaults of the fields that were left out."""
    properties = cast("dict[str, Schema]", schema.get("properties", {}))
    missing = {name: each["default"] for name, each in properties.items() if name not in content and "default" in each}
    return missing | dict(content)


def _form(model: type[Any]) -> _Form:
    return _cached_form(cast("Hashable", model))


@functools.lru_cache(maxsize=256)
def _cached_form(model: Any) -> _Form:
    types = Types()
    shape = types.read(model)
    root = _resolved(shape.schema, types.defs)
    if root.get("type") != "object" or "properties" not in root:
        raise TypeError(f"{name_of(model)} is no form: declare a class with fields")
    needed = set(cast("list[str]", root.get("required", [])))
    properties: dict[str, Schema] = {}
    required: list[str] = []
    empty: dict[str, Any] = {}
    for name, given in cast("dict[str, Schema]", root["properties"]).items():
        schema, nullable = _without_null(_resolved(given, types.defs), types.defs)
        if not _is_field(schema):
            raise TypeError(
                f"{name_of(model)}.{name}: forms hold text, numbers, booleans, choices and lists of choices"
            )
        properties[name] = _tidied(schema)
        if name in needed:
            (empty.update({name: None}) if nullable else required.append(name))
    form: Schema = {"type": "object", "properties": properties}
    return _Form(form | ({"required": required} if required else {}), shape.wire, empty)


def _resolved(schema: Schema, defs: Mapping[str, Schema]) -> Schema:
    """Put the definition in the place of a reference."""
    if (name := schema.get("$ref")) is None:
        return schema
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return defs[name.removeprefix("#/$defs/")] | beside


def _without_null(schema: Schema, defs: Mapping[str, Schema]) -> tuple[Schema, bool]:
    """Leave null out: a field that may be null may be left empty."""
    options = cast("list[Schema]", schema.get("anyOf", []))
    others = [option for option in options if option.get("type") != "null"]
    if len(others) != 1 or len(options) == 1:
        return schema, False
    beside = {key: value for key, value in schema.items() if key != "anyOf"}
    return _resolved(others[0], defs) | beside, True


def _is_field(schema: Schema) -> bool:
    if schema.get("type") == "array":
        items = cast("Any", schema.get("items"))
        return isinstance(items, dict) and _is_choice(cast("Schema", items))
    return _is_choice(schema) or (schema.get("type") in _PRIMITIVES and "enum" not in schema)


def _is_choice(schema: Schema) -> bool:
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    titled = cast("list[Schema]", schema.get("oneOf", schema.get("anyOf", [])))
    choices = choices or [option.get("const") for option in titled]
    return bool(choices) and all(isinstance(choice, str) for choice in choices)


def _tidied(schema: Schema) -> Schema:
    """Write a field with the words that clients know."""
    tidy = dict(schema)
    if "const" in tidy:
        tidy["enum"] = [tidy.pop("const")]
    if tidy.get("format") not in _FORMATS:
        tidy.pop("format", None)
    if tidy.get("default", msgspec.UNSET) is None:
        del tidy["default"]
    for word in ("contentEncoding", "uniqueItems"):
        tidy.pop(word, None)
    return tidy
