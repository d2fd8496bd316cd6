"""Enums and literals: a value out of a list."""

import enum
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from splice.schema.docstrings import parse
from splice.schema.markers import marker
from splice.schema.problems import Problem, Refused
from splice.schema.shape import Schema, Shape

Plain: TypeAlias = str | int | float | bool | list[Any] | None
"""What a choice looks like in JSON."""

_NAMES: dict[type, str] = {str: "string", int: "integer", bool: "boolean", float: "number", type(None): "null"}


def literal(kind: Any, values: Sequence[Any]) -> Shape:
    """Read `Literal[...]`; enum members and booleans may be among its values."""
    plain = [msgspec.to_builtins(value) for value in values]
    if all(value is None or type(value) in (int, str) for value in values):
        return Shape(kind, _schema(plain))
    return Shape(_one_of("Literal", plain, values), _schema(plain))


def enumeration(kind: type[enum.Enum]) -> Shape:
    """Read an enum class. Members are named by their values, as in JSON everywhere."""
    if issubclass(kind, enum.Flag):
        return Shape(kind, {"type": "integer"})
    members = list(kind)
    plain = [msgspec.to_builtins(member) for member in members]
    native = any(all(type(value) is base for value in plain) for base in (str, int))
    schema = _schema(plain)
    description = parse(kind.__dict__.get("__doc__")).description
    if description and description != "An enumeration.":
        schema["description"] = description
    return Shape(kind if native else _one_of(kind.__name__, plain, members), schema)


def _schema(plain: Sequence[Plain]) -> Schema:
    types = list(dict.fromkeys(_NAMES.get(type(value), "") for value in plain))
    named: Schema = {"type": types[0]} if len(types) == 1 and types[0] else {}
    return named | {"enum": list(plain)}


def _one_of(name: str, plain: Sequence[Any], values: Sequence[Any]) -> Any:
    """Find a value by its JSON text, in which 1 and true differ."""
    by_text = {msgspec.json.encode(text): value for text, value in zip(plain, values, strict=True)}

    def choose(given: Any) -> Any:
        try:
            return by_text[msgspec.json.encode(given)]
        except KeyError:
            offered = ", ".join(text.decode() for text in by_text)
            raise Refused(Problem((), f"expected one of {offered}", given)) from None

    return marker(name, choose)
