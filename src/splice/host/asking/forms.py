"""A flat schema as fields, for the forms of servers and the arguments of tools: the same in all faces.

A schema comes from a server, so it may be malformed or hostile: `fields` and `check` say one problem then, and
never crash. Whether values fit is decided by the validator alone. The host only says it in its own words.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from splice.host.asked import Json
from splice.host.asking import findings
from splice.host.asking.fields import Field, Kind
from splice.host.asking.typed import read, written
from splice.host.secrecy import is_secret
from splice.schema.forms import MAX_CHOICES, MAX_FIELDS, check_form
from splice.schema.schemas import Schema, cut, is_array, is_object
from splice.schema.validate import Problem, validator

__all__ = ["BadForm", "Field", "Kind", "check", "fields", "read", "written"]

LONG = 200
"""Text that may be longer than this gets an area of several lines."""

MAX_NAME = 200
MAX_DESCRIPTION = 2_000
MAX_REFERENCES = 8
"""How many references in a row are followed in the schema of a tool."""

_FORMATS: dict[str, Kind] = {
    "email": "email", "uri": "uri", "date": "date", "date-time": "datetime", "time": "time",
}  # fmt: skip
_TYPES: dict[str, Kind] = {"boolean": "switch", "integer": "integer", "number": "number"}
_LIMITS = {
    "string": ("minLength", "maxLength"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
}


class BadForm(ValueError):
    """A schema cannot be shown as a form. The text is one sentence for the user."""


def fields(schema: Json, *, for_tool: bool = False) -> list[Field]:
    """List the fields of a form, or with `for_tool` the arguments of a tool, whose shapes may be any.

    Raises `BadForm`.
    """
    if not for_tool:
        try:
            check_form(schema if is_object(schema) else {"type": schema}, lists=True)
        except (ValueError, RecursionError) as error:
            raise BadForm(f"The form cannot be shown: {cut(str(error), MAX_NAME)}") from None
    properties = schema.get("properties", {}) if is_object(schema) else None
    if not is_object(properties) or len(properties) > MAX_FIELDS:
        raise BadForm(f"The schema is not an object of at most {MAX_FIELDS} fields, so it has no form.")
    if any(len(name) > MAX_NAME for name in properties):
        raise BadForm(f"A field has a name of more than {MAX_NAME} characters, so it has no form.")
    needed: Any = schema.get("required")
    required = [each for each in needed if isinstance(each, str)] if is_array(needed) else []
    return [
        _field(name, _flat(each, schema), is_required=name in required, for_tool=for_tool)
        for name, each in properties.items()
    ]


def check(schema: Json, values: Mapping[str, Json], *, for_tool: bool = False) -> dict[str, str]:
    """Say for each field what is wrong with its value; empty: all is well. The key of what is about all is empty."""
    try:
        known = {field.name: field for field in fields(schema, for_tool=for_tool)}
    except BadForm as error:
        if not for_tool:
            return {"": str(error)}
        known = {}
    closed = schema if for_tool else schema | {"additionalProperties": False}
    given = {name: value for name, value in values.items() if for_tool or value is not None}
    try:
        problems = validator(closed, formats=not for_tool).problems(given)
    except (ValueError, RecursionError) as error:
        return {"": f"The values cannot be checked: {cut(str(error), MAX_NAME)}"}
    found: dict[str, str] = {}
    for problem in problems:
        name = str(problem.path[0]) if problem.path else ""
        found.setdefault(name, _sentence(known.get(name), problem, given))
    return found


def _sentence(field: Field | None, problem: Problem, given: Mapping[str, Json]) -> str:
    inner = problem.path[1:]
    if field is None or (inner and field.kind != "many"):
        return f"{findings.place(inner)}{problem.text}"
    if field.name not in given:
        return findings.missing(field.kind, field.choices, findings.such_as(field.kind, findings.example_of(field)))
    return findings.wrong(field, given[field.name]) or problem.text


def _field(name: str, schema: Schema, *, is_required: bool, for_tool: bool) -> Field:
    default = schema.get("default")
    kind = _kind(schema)
    if kind == "switch" and is_required and default is None and not for_tool:
        kind = "tick"
    title, description = _text(schema, "title", MAX_NAME), _text(schema, "description", MAX_DESCRIPTION)
    least, most = _LIMITS.get(str(schema.get("type")), ("", ""))
    pattern = schema.get("pattern")
    field = Field(
        name=name,
        title=title or name,
        description=description,
        kind=kind,
        is_required=is_required,
        default=default,
        choices=list(_choices(schema.get("items") if kind == "many" else schema)) if kind in ("one", "many") else [],
        min=_number(schema, least),
        max=_number(schema, most),
        min_items=_count(schema, "minItems"),
        max_items=_count(schema, "maxItems"),
        pattern=pattern if isinstance(pattern, str) and kind in ("text", "long") else "",
        is_secret=kind not in ("tick", "switch", "one", "many") and is_secret(name, title, description),
        example=_example(schema),
        schema=dict(schema) if kind == "json" and schema else None,
    )
    return replace(field, hint=findings.hint(field))


def _kind(schema: Schema) -> Kind:
    if any(_choices(schema)):
        return "one"
    kind = str(schema.get("type"))
    if kind == "array":
        return "many" if any(_choices(schema.get("items"))) else "json"
    longest = _number(schema, "maxLength")
    if kind == "string" and longest is not None and longest > LONG:
        return "long"
    return _FORMATS.get(str(schema.get("format")), "text") if kind == "string" else _TYPES.get(kind, "json")


def _choices(schema: Any) -> Iterator[tuple[Json, str]]:
    """List what may be chosen; nothing if a schema is no choice."""
    if not is_object(schema):
        return
    titled = schema.get("oneOf", schema.get("anyOf"))
    if is_array(titled) and all(is_object(each) and "const" in each for each in titled):
        for option in titled[:MAX_CHOICES]:
            yield option["const"], _text(option, "title", MAX_NAME) or _label(option["const"])
        return
    named: Any = schema.get("enum", [schema["const"]] if "const" in schema else None)
    labels: Any = schema.get("enumNames")
    for place, value in enumerate(named[:MAX_CHOICES] if is_array(named) else ()):
        label = labels[place] if is_array(labels) and place < len(labels) else None
        yield value, cut(label, MAX_NAME) if isinstance(label, str) and label else _label(value)


def _flat(schema: Any, whole: Schema) -> Schema:
    """Follow references, and leave null out, as far as a field needs it; what is no schema becomes an empty one."""
    for _ in range(MAX_REFERENCES):
        if not is_object(schema):
            return {}
        reference = schema.get("$ref")
        members = schema.get("anyOf")
        others = [each for each in members if each != {"type": "null"}] if is_array(members) else []
        if isinstance(reference, str):
            schema = _rest(schema, "$ref", _target(reference, whole))
        elif len(others) == 1 and members != others:
            schema = _rest(schema, "anyOf", others[0])
        else:
            break
    types = schema.get("type") if is_object(schema) else None
    real = [each for each in types if each != "null"] if is_array(types) else []
    return _rest(schema, "type", {"type": real[0]}) if len(real) == 1 else schema if is_object(schema) else {}


def _rest(schema: Schema, word: str, other: Any) -> Any:
    """Put another schema in the place of a word of one."""
    return other | {key: value for key, value in schema.items() if key != word} if is_object(other) else {}


def _target(reference: str, whole: Schema) -> Any:
    """Find a definition of the same schema."""
    _, _, path = reference.partition("#/")
    container, _, name = path.partition("/")
    definitions = whole.get(container)
    return definitions.get(name) if is_object(definitions) else None


def _text(schema: Schema, word: str, most: int) -> str:
    value = schema.get(word)
    return cut(value, most) if isinstance(value, str) else ""


def _number(schema: Schema, word: str) -> float | None:
    value = schema.get(word)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_number else None


def _count(schema: Schema, word: str) -> int | None:
    value = _number(schema, word)
    return None if value is None else int(value)


def _example(schema: Schema) -> str:
    given = schema.get("examples")
    return _label(given[0]) if is_array(given) and given else ""


def _label(value: Json) -> str:
    return cut(value if isinstance(value, str) else msgspec.json.encode(value).decode(), MAX_NAME)
