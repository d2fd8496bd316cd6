"""Forms for elicitation: flat objects of text, numbers, booleans and choices.

A form is declared as a dataclass, a Struct, a TypedDict, an attrs class or a pydantic model; any other type is what a
form of one field holds. Its schema is the small part of JSON Schema that clients must be able to show; what does not
fit is refused when the question is asked. A client holds the forms of others against the same rule, and what was filled
in against the form.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from splice.schema.annotations import name_of
from splice.schema.schemas import Schema, is_object, object_of, resolved, whole, without_null
from splice.schema.types import Shape, Types

MAX_FIELDS = 100
"""How many fields a form of a server's may have: a person fills it in."""

MAX_CHOICES = 1_000
"""How many choices a field may have. There are some 600 time zones, and fewer countries."""

_FORMATS = ("email", "uri", "date", "date-time")
_HOLD = "forms hold text, numbers, booleans, choices of texts and lists of such choices"
_PRIMITIVES = ("string", "number", "integer", "boolean")


class _Form(msgspec.Struct, frozen=True):
    """A form and its model."""

    schema: Schema
    shape: Shape
    empty: dict[str, None]
    """Values given to the model for fields that were left empty: null."""
    is_one: bool
    """The model is no form: it is what the one field of the form holds, `value`."""


def form_schema(model: type[Any] | dict[str, Any] | list[Any]) -> dict[str, Any]:
    """Give the schema that asks for a model; a schema of an object, written by hand, is passed on as it is.

    Raises `TypeError` for a model that is not a flat form, `ValueError` for a schema that is not valid.
    """
    if isinstance(model, list):
        raise TypeError(f"{model!r} is not a form: declare a class with fields, or a choice, Literal[...]")
    if not isinstance(model, dict):
        return _form(cast("Any", model)).schema
    fields = model.get("properties")
    flat = is_object(fields) and all(is_object(each) and _is_field(each) for each in fields.values())
    if model.get("type") != "object" or not flat:
        raise TypeError(f'{model} is not a form: a schema is {{"type": "object", "properties": {{...}}}}; {_HOLD}')
    _check_by(model)
    return model


def read_form(model: Any, content: Mapping[str, Any]) -> Any:
    """Build the model from what the user filled in; what fits a schema written by hand is given as it is.

    Raises `ValueError`: `BadArguments`, or `Mismatch`.
    """
    if isinstance(model, dict):
        _check_by(cast("Schema", model))(content)
        return content
    form = _form(model)
    try:
        value = form.shape.decode(msgspec.json.encode(whole(form.empty | dict(content))))
    except ValueError as error:
        from splice.schema.validate import bad_arguments  # noqa: PLC0415 - most answers fit

        raise bad_arguments(form.schema, whole(dict(content)), error, {}) from None
    return value.value if form.is_one else value


def check_form(form: Schema, *, lists: bool) -> None:
    """Check a form that a server made, before anybody sees it; `lists`: its version has lists of choices.

    Raises `ValueError`.
    """
    _check_by(form)  # first: after that, all words of it have the right types
    fields = form.get("properties")
    if form.get("type", "object") != "object" or not is_object(fields) or len(fields) > MAX_FIELDS:
        raise ValueError(f'a form is {{"type": "object", "properties": {{...}}}} of at most {MAX_FIELDS} fields')
    for name, field in fields.items():
        if not _is_shown(field, lists=lists):
            raise ValueError(f"its field {name!r} is not one that forms have; {_HOLD}, lists not in every version")
    defaults = {name: field["default"] for name, field in fields.items() if field.get("default") is not None}
    if defaults:
        try:
            _check_by({word: value for word, value in form.items() if word != "required"})(defaults)
        except ValueError as error:
            raise ValueError(f"its defaults do not fit: {error}") from None


def filled(form: Schema, content: Mapping[str, Any]) -> dict[str, Any]:
    """Add the defaults of fields that were left empty, and check all of it.

    A form without fields asks for a yes, and takes no content. Raises `ValueError`: `Mismatch`.
    """
    properties = cast("dict[str, Schema]", form["properties"])
    defaults = [(name, each.get("default")) for name, each in properties.items()]
    given = [*defaults, *content.items()] if properties else []
    values = {name: value for name, value in given if value is not None}
    _check_by(form | {"additionalProperties": False})(values)
    return values


@functools.lru_cache(maxsize=256)
def _form(model: Any) -> _Form:
    types = Types()
    shape = types.read(model)
    root = resolved(shape.schema, types.defs)
    is_one = _is_field(root)
    if is_one:
        shape = types.read(msgspec.defstruct(name_of(model), [("value", model)]))
        root = resolved(shape.schema, types.defs)
    if root.get("type") != "object" or "properties" not in root:
        raise TypeError(f"{model!r} is not a form: declare a class with fields; {_HOLD}")
    fields = {name: resolved(each, types.defs) for name, each in cast("dict[str, Schema]", root["properties"]).items()}
    needed: list[str] = root.get("required", [])
    # A field that may be null may be left empty.
    required = [name for name in needed if without_null(fields[name]) is fields[name]]
    properties: dict[str, Schema] = {}
    for name, whole_field in fields.items():
        schema = resolved(without_null(whole_field), types.defs)
        if not _is_field(schema):
            raise TypeError(f"{name_of(model)}.{name}: {_HOLD}")
        properties[name] = _tidied(schema)
    return _Form(object_of(properties, required), shape, dict.fromkeys(set(needed) - set(required)), is_one)


def _check_by(schema: Schema) -> Callable[[Any], None]:
    from splice.schema.validate import validator  # noqa: PLC0415 - most models are classes

    return validator(schema, formats=True).check


def _is_shown(field: Any, *, lists: bool) -> bool:
    """Tell whether a form of others may have a field: also one that may be null, and lists of any text."""
    if is_object(field) and all(map(is_object, field.get("anyOf", ()))):
        field = without_null(field)
    if is_object(field) and not all(map(_is_short, (field, field.get("items")))):
        return False
    if not is_object(field) or field.get("type") != "array":
        return is_object(field) and _is_field(field)
    return lists and (_is_field(field) or (is_object(items := field.get("items")) and items.get("type") == "string"))


def _is_short(schema: Any) -> bool:
    """Tell whether a field, or the items of one, has no more choices than a person can look through."""
    return not is_object(schema) or all(len(schema.get(word, ())) <= MAX_CHOICES for word in ("enum", "oneOf", "anyOf"))


def _is_field(schema: Schema) -> bool:
    if schema.get("type") == "array":
        return is_object(items := schema.get("items")) and _is_choice(items)
    return _is_choice(schema) or (schema.get("type") in _PRIMITIVES and "enum" not in schema)


def _is_choice(schema: Schema) -> bool:
    titled = cast("list[Any]", schema.get("oneOf", schema.get("anyOf", [schema])))
    choices: list[Any] = schema.get("enum", [is_object(option) and option.get("const") for option in titled])
    return 0 < len(choices) <= MAX_CHOICES and all(isinstance(choice, str) for choice in choices)


def _tidied(schema: Schema) -> Schema:
    """Write a field with the words that clients know."""
    tidy = {word: value for word, value in schema.items() if word not in ("const", "contentEncoding", "uniqueItems")}
    if "const" in schema:
        tidy["enum"] = [schema["const"]]
    unknown = {"format": tidy.get("format") not in _FORMATS, "default": tidy.get("default") is None}
    return {word: value for word, value in tidy.items() if not unknown.get(word)}
