"""Limits on values: by msgspec where it knows them for a type, by a check afterwards where it does not."""

import operator
from collections.abc import Callable, Mapping
from typing import Annotated, Any, cast

import msgspec

from splice.schema.markers import conversion, marker
from splice.schema.problems import Problem, Refused
from splice.schema.shape import Schema, Shape, decodes

_NUMBERS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {
    "string": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}
_CHECKS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "ge": (">=", operator.ge),
    "gt": (">", operator.gt),
    "le": ("<=", operator.le),
    "lt": ("<", operator.lt),
    "multiple_of": ("a multiple of", lambda value, step: value % step == 0),
    "min_length": ("of length >=", lambda value, length: len(value) >= length),
    "max_length": ("of length <=", lambda value, length: len(value) <= length),
}


def limited(shape: Shape, limits: Mapping[str, Any]) -> Shape:
    """Give a type with limits.

    Raises `TypeError` for limits that no value of the type could be held against.
    """
    return native(shape, limits) or Shape(
        marker("Limited", _checked(shape.wire, limits)), _described(shape.schema, limits)
    )


def native(shape: Shape, limits: Mapping[str, Any]) -> Shape | None:
    """Give a type with limits that msgspec checks itself, or None."""
    try:
        wire = cast("Any", Annotated)[shape.wire, msgspec.Meta(**limits)]
    except (TypeError, ValueError):
        return None
    return Shape(wire, _described(shape.schema, limits)) if decodes(wire) else None


def _checked(wire: Any, limits: Mapping[str, Any]) -> Callable[[Any], Any]:
    unknown = limits.keys() - _CHECKS.keys()
    if unknown:
        raise TypeError(f"{', '.join(sorted(unknown))} does not fit the type")
    decode = conversion(wire)

    def check(given: Any) -> Any:
        value = decode(given)
        for name, limit in limits.items():
            words, holds = _CHECKS[name]
            if not holds(value, limit):
                raise Refused(Problem((), f"expected a value {words} {limit}"))
        return value

    return check


def _described(schema: Schema, limits: Mapping[str, Any]) -> Schema:
    known = _LENGTHS.get(schema.get("type", ""), _NUMBERS)
    said = {
        known[name]: limit for name, limit in limits.items() if name in known and isinstance(limit, (int, float, str))
    }
    if schema.get("contentEncoding") == "base64":
        said = {name: 4 * ((int(length) + 2) // 3) for name, length in said.items()}
    return schema | said
