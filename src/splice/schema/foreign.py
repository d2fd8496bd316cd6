"""Types that msgspec leaves to others: paths, iterables, and everything of pydantic's.

pydantic is never imported here. A class of its own proves that the user's code has imported it already.
"""

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, NewType, cast

import msgspec

from splice.schema.annotations import for_msgspec, for_pydantic
from splice.schema.schemas import Schema

_MARKS = ("__get_pydantic_core_schema__", "__pydantic_validator__")


def is_pydantic(kind: Any) -> bool:
    """Tell whether a class is decoded by pydantic: a model, one of its dataclasses, or one of its types."""
    return any(hasattr(kind, mark) for mark in _MARKS)


def is_path(kind: Any) -> bool:
    """Tell whether a class is one for paths."""
    return hasattr(kind, "__fspath__")


@functools.lru_cache(maxsize=512)
def adapter(kind: Any) -> Any:
    """Give pydantic's adapter of a class of its own. How strict it is, the class decides."""
    return cast("Any", sys.modules["pydantic"]).TypeAdapter(kind)


def strict_adapter(kind: Any) -> Any:
    """Give pydantic's adapter for any type, as strict as msgspec is, except with models that set this themselves.

    Raises `TypeError` if it is not imported; for a type that it does not know either, it raises `RuntimeError`.
    """
    pydantic = cast("Any", sys.modules.get("pydantic"))
    if pydantic is None:
        raise TypeError("it might be known to pydantic, which is not imported")
    # A new type of it, because an adapter takes no configuration for a dataclass as such.
    new = cast("Any", NewType)("new", for_pydantic(kind, pydantic.Field))
    return pydantic.TypeAdapter(new, config={"strict": True, "val_json_bytes": "base64", "ser_json_bytes": "base64"})


def pydantic_schema(of: Any, mode: str, suffix: str) -> tuple[Schema, dict[str, Schema]]:
    """Give the schema of an adapter, and its definitions, all named with `suffix`.

    Raises what pydantic raises for a type that JSON cannot carry: `RuntimeError`.
    """
    # Titles that only repeat a name are left out.
    generator = cast("Any", sys.modules["pydantic.json_schema"]).GenerateJsonSchema
    plain = type("Untitled", (generator,), {"field_title_should_be_set": _never})
    make, template = cast("Any", type(of)).json_schemas, f"#/$defs/{{model}}{suffix}"
    schemas, rest = make([(0, mode, of)], ref_template=template, schema_generator=plain)
    defs: dict[str, Schema] = rest.get("$defs", {})
    for name, schema in defs.items():
        if schema.get("title") == name:
            del schema["title"]
    return schemas[0, mode], {name + suffix: schema for name, schema in defs.items()}


def _never(*_: object) -> bool:
    return False


class Foreign(type):
    """Types that `decode_hook` decodes from their JSON by a function of their own, whatever comes of it."""

    from_json: Callable[[bytes], Any]

    def __instancecheck__(cls, instance: object) -> bool:
        """Let msgspec take every value for one of this type."""
        return True


def left_to(from_json: Callable[[bytes], Any]) -> Foreign:
    """Make a type that msgspec leaves to `from_json`, which raises `ValueError`."""
    return Foreign("Left", (), {"from_json": staticmethod(from_json)})


def decode_hook(kind: Any, value: Any) -> Any:
    """Decode what msgspec does not: the `dec_hook` of every decoder in this package."""
    return _decoding(kind)(value)


@functools.lru_cache(maxsize=512)
def _decoding(kind: Any) -> Callable[[Any], Any]:
    if isinstance(kind, Foreign):
        return lambda value: kind.from_json(msgspec.json.encode(value))
    if is_pydantic(kind):
        return cast("Callable[[Any], Any]", adapter(kind).validate_python)
    if is_path(kind):
        return lambda value: kind(msgspec.convert(value, str))
    if (several := for_msgspec(kind)) is not kind:  # it is an `Iterable`
        return lambda value: msgspec.convert(value, several, str_keys=True, dec_hook=decode_hook)
    return lambda value: value


def encode_hook(value: Any) -> Any:
    """Encode what msgspec does not: written JSON, models, paths, subclasses of builtins, what pydantic knows."""
    if is_pydantic(type(value)):
        return adapter(cast("Any", type(value))).dump_python(value, mode="json", by_alias=True)
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)
    if isinstance(value, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", value))
    for base in (str, int, float):
        if isinstance(value, base):
            return base(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
