"""Types that describe themselves, above all pydantic's.

They are known by their methods (`model_validate`, `__get_pydantic_core_schema__`). pydantic is never imported here: a
type that needs it proves that the user's code has imported it already.
"""

import functools
import math
import os
import sys
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from splice.schema.markers import Convert
from splice.schema.problems import Refused, problems_of_foreign
from splice.schema.values import is_array, is_object

_MARKS = ("model_validate", "__get_pydantic_core_schema__", "__pydantic_validator__")


def is_foreign(kind: Any) -> bool:
    """Tell whether a class describes itself, as pydantic's models and types do."""
    return any(map(functools.partial(hasattr, kind), _MARKS))


def adapter(kind: Any) -> Any:
    """Give the model itself, or what pydantic offers for its types that are no models."""
    if hasattr(kind, "model_validate"):
        return _Model(kind)
    pydantic = cast("Any", sys.modules.get("pydantic"))
    if pydantic is None:
        raise TypeError(f"{kind!r} needs pydantic, which is not imported")
    return _Adapted(pydantic.TypeAdapter(kind))


class _Model:
    """A class with `model_validate`, `model_json_schema` and `model_dump`."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def convert(self, value: Any) -> Any:
        """Build an instance."""
        return _telling(self._kind.model_validate, value)

    def schema(self, mode: str) -> dict[str, Any]:
        """Give the JSON Schema."""
        return cast("dict[str, Any]", self._kind.model_json_schema(mode=mode))


class _Adapted:
    """A type that pydantic knows, though it is no model."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def convert(self, value: Any) -> Any:
        """Build an instance."""
        return _telling(self._kind.validate_python, value)

    def schema(self, mode: str) -> dict[str, Any]:
        """Give the JSON Schema."""
        return cast("dict[str, Any]", self._kind.json_schema(mode=mode))


def _telling(validate: Convert, value: Any) -> Any:
    """Run a foreign validation; let its findings keep their places."""
    try:
        return validate(value)
    except ValueError as error:
        if not hasattr(error, "errors"):
            raise
        raise Refused(*problems_of_foreign(error)) from None


def plain_json(value: Any) -> Any:
    """Turn any value into what JSON is made of.

    Raises `TypeError` or `ValueError` for what JSON cannot carry, among it infinity and NaN.
    """
    plain = msgspec.to_builtins(value, str_keys=True, enc_hook=encode_hook)
    if isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError(f"JSON has no {plain}")
    return plain


def tidy(schema: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Clean a schema that somebody else made: no titles that repeat a name, and references by their new `names`."""
    return cast("dict[str, Any]", _tidy(schema, None, names))


def _tidy(value: Any, name: str | None, names: Mapping[str, str]) -> Any:
    if is_array(value):
        return [_tidy(item, None, names) for item in value]
    if not is_object(value):
        return value
    clean: dict[str, Any] = {}
    for key, inner in value.items():
        if key == "title" and isinstance(inner, str) and name is not None and _repeats(inner, name):
            continue
        if key in ("properties", "$defs", "patternProperties") and is_object(inner):
            clean[key] = {each: _tidy(member, each, names) for each, member in inner.items()}
        elif key == "$ref":
            clean[key] = names.get(inner, inner)
        else:
            clean[key] = inner if key in ("default", "examples", "enum", "const") else _tidy(inner, None, names)
    return clean


def _repeats(title: str, name: str) -> bool:
    return title.replace(" ", "").lower() == name.replace("_", "").replace(" ", "").lower()


def encode_hook(value: Any) -> Any:
    """Encode what msgspec does not: models, paths, subclasses of builtins, and whatever pydantic knows."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", value))
    for base in (str, int, float):
        if isinstance(value, base):
            return base(value)
    if is_foreign(value):
        return cast("Any", sys.modules["pydantic"]).TypeAdapter(type(value)).dump_python(value, mode="json")
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
