"""JSON Schema of whatever msgspec decodes by itself, written from what `msgspec.inspect` tells of it.

`msgspec.json.schema_components` was tried first. It sorts the values of enums and literals, forgets `format` for dates,
says that decimals are text only, and fails at defaults that need a hook; none of that can be mended afterwards.

Classes that are objects in JSON go to `$defs` under their own names, so they may refer to themselves.

JSON Schema 2020-12: https://json-schema.org/draft/2020-12
"""

import enum
import itertools
import math
import re
import typing
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import inspect as mi

from splice.schema.annotations import NotJSON, for_msgspec, name_of
from splice.schema.docstrings import parse
from splice.schema.foreign import adapter, encode_hook, is_path, is_pydantic, pydantic_schema
from splice.schema.schemas import NAMES, NULL, Schema, any_of, described

Mode: TypeAlias = Literal["validation", "serialization"]
Record: TypeAlias = mi.StructType | mi.DataclassType | mi.TypedDictType | mi.NamedTupleType

_BASE64: Schema = {"type": "string", "contentEncoding": "base64"}
_FIXED: dict[type[mi.Type], Schema] = {
    mi.AnyType: {},
    mi.RawType: {},
    mi.NoneType: NULL,
    mi.BoolType: {"type": "boolean"},
    mi.IntType: {"type": "integer"},
    mi.FloatType: {"type": "number"},
    mi.StrType: {"type": "string"},
    mi.BytesType: _BASE64,
    mi.ByteArrayType: _BASE64,
    mi.DateTimeType: {"type": "string", "format": "date-time"},
    mi.DateType: {"type": "string", "format": "date"},
    mi.TimeType: {"type": "string", "format": "time"},
    mi.TimeDeltaType: {"type": "string", "format": "duration"},
    mi.UUIDType: {"type": "string", "format": "uuid"},
}
_DECIMAL: Schema = {"type": "string", "format": "decimal"}
_LIMITS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
_LENGTHS = {
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}


class Writer:
    """Writes types as JSON Schema, into one document."""

    def __init__(self, mode: Mode = "validation") -> None:
        self.mode: Mode = mode
        self.defs: dict[str, Schema] = {}
        """The definitions that the schemas share."""
        self.names: dict[Any, str] = {}
        """Under which name a class is defined."""

    def write(self, kind: mi.Type) -> Schema:
        """Write what msgspec tells of a type. Raises `TypeError`."""
        if (fixed := _FIXED.get(type(kind))) is not None:
            return _limited(fixed, kind)
        return _WRITERS[type(kind)](self, kind)

    def adopt(self, model: Any) -> Schema:
        """Write the type of an adapter of pydantic's; its definitions get a number if their names are taken."""
        suffix = ""
        while True:
            schema, defs = pydantic_schema(model, self.mode, suffix)
            if all(self.defs.get(name, each) == each for name, each in defs.items()):
                self.defs |= defs
                return schema
            suffix = str(int(suffix or 1) + 1)


def with_default(schema: Schema, default: Any) -> Schema:
    """Add a default, if there is one that JSON can carry. None can be one; `NODEFAULT` is none."""
    try:
        plain = msgspec.to_builtins(default, str_keys=True, enc_hook=encode_hook)
    except (TypeError, ValueError):
        return schema
    finite = not isinstance(plain, float) or math.isfinite(plain)
    return schema | {"default": plain} if finite else schema


def _decimal(to: Writer, _: mi.DecimalType) -> Schema:
    return _DECIMAL if to.mode == "serialization" else {"anyOf": [{"type": "number"}, _DECIMAL]}


def _array(to: Writer, kind: mi.CollectionType) -> Schema:
    unique = {"uniqueItems": True} if isinstance(kind, mi.SetType | mi.FrozenSetType) else {}
    items = to.write(kind.item_type)
    return _limited({"type": "array"} | ({"items": items} if items else {}) | unique, kind)


def _places(to: Writer, kind: mi.TupleType) -> Schema:
    items = [to.write(item) for item in kind.item_types]
    return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}


def _mapping(to: Writer, kind: mi.DictType) -> Schema:
    keys, values = dict(to.write(kind.key_type)), to.write(kind.value_type)
    names = {"pattern": "^-?[0-9]+$"} if keys.pop("type", None) == "integer" else keys
    schema = {"type": "object", "additionalProperties": values, "propertyNames": names}
    return _limited({word: value for word, value in schema.items() if value}, kind)


def _enumeration(cls: type[enum.Enum]) -> Schema:
    if issubclass(cls, enum.Flag):
        return {"type": "integer"}
    said = parse(cls.__dict__.get("__doc__")).description
    schema = _choices([msgspec.to_builtins(member) for member in cls])
    return schema if said == "An enumeration." else described(schema, said)


def _custom(to: Writer, kind: mi.CustomType) -> Schema:
    if kind.cls is object:
        return {}
    if is_path(kind.cls):
        return {"type": "string", "format": "path"}
    if not is_pydantic(kind.cls):
        raise NotJSON(kind.cls)
    return to.adopt(adapter(kind.cls))


def _record(to: Writer, kind: Record) -> Schema:
    """Write a class with fields into the definitions, and refer to it."""
    if is_pydantic(kind.cls):
        raise TypeError(f"{name_of(kind.cls)} is for pydantic to decode, whole")
    if kind.cls not in to.names:
        name = to.names[kind.cls] = _free(name_of(kind.cls), to.defs)
        to.defs[name] = {}
        to.defs[name] = _definition(to, kind)
    return {"$ref": f"#/$defs/{to.names[kind.cls]}"}


def _definition(to: Writer, kind: Record) -> Schema:
    cls = typing.get_origin(kind.cls) or kind.cls
    doc, hints = parse(_own_doc(cls)), typing.get_type_hints(cls, include_extras=True)
    members: dict[str, Schema] = {}
    required: list[str] = []
    if isinstance(kind, mi.StructType) and kind.tag_field is not None:
        members[kind.tag_field] = {"enum": [kind.tag]}
        required.append(kind.tag_field)
    for field in kind.fields:
        if not _is_taken(cls, field.name):
            continue
        schema = described(to.write(_seen(field, hints.get(field.name, Any))), doc.parameters.get(field.name))
        members[field.encode_name] = with_default(schema, _default(field))
        if field.required:
            required.append(field.encode_name)
    said: Schema = {"description": doc.description} if doc.description else {}
    closed = getattr(kind, "forbid_unknown_fields", isinstance(kind, mi.NamedTupleType))
    if isinstance(kind, mi.NamedTupleType) or getattr(kind, "array_like", False):
        return said | _array_of(members, required, closed=closed)
    schema = said | {"type": "object", "properties": members} | ({"required": required} if required else {})
    return schema | ({"additionalProperties": False} if closed else {})


_WRITERS: dict[type[mi.Type], Callable[[Writer, Any], Schema]] = {
    mi.Metadata: lambda to, kind: to.write(kind.type) | (kind.extra_json_schema or {}),
    mi.DecimalType: _decimal,
    **dict.fromkeys((mi.ListType, mi.VarTupleType, mi.SetType, mi.FrozenSetType), _array),
    mi.TupleType: _places,
    mi.DictType: _mapping,
    mi.UnionType: lambda to, kind: any_of([to.write(member) for member in kind.types]),
    mi.LiteralType: lambda _, kind: _choices(list(kind.values)),
    mi.EnumType: lambda _, kind: _enumeration(kind.cls),
    mi.CustomType: _custom,
    **dict.fromkeys((mi.StructType, mi.DataclassType, mi.TypedDictType, mi.NamedTupleType), _record),
}


def _limited(schema: Schema, kind: mi.Type) -> Schema:
    """Add the limits that msgspec checks."""
    words = _LIMITS | _LENGTHS.get(schema.get("type", ""), {})
    said = {word: getattr(kind, name) for name, word in words.items() if getattr(kind, name, None) is not None}
    if "contentEncoding" in schema:
        said = {word: 4 * ((length + 2) // 3) for word, length in said.items()}
    return schema | said


def _choices(plain: list[Any]) -> Schema:
    kinds = {NAMES[type(value)] for value in plain}
    return ({"type": kinds.pop()} if len(kinds) == 1 else {}) | {"enum": plain}


def _array_of(members: dict[str, Schema], required: list[str], *, closed: bool) -> Schema:
    """Describe fields known by their places: those with a default can only be left out from the end."""
    needed = max((place for place, name in enumerate(members, 1) if name in required), default=0)
    schema: Schema = {"type": "array", "prefixItems": list(members.values()), "minItems": needed}
    return schema | ({"maxItems": len(members)} if closed else {})


def _seen(field: mi.Field, hint: Any) -> mi.Type:
    """Give the type of a field, with everything said beside it, of which msgspec sees only its own `Meta`."""
    seen = for_msgspec(hint, in_class=True)
    # For a type variable, msgspec knows what it stands for.
    is_open = isinstance(hint, TypeVar) or bool(getattr(hint, "__parameters__", ()))
    return field.type if seen is hint or is_open else mi.type_info(seen)


def _is_taken(cls: Any, name: str) -> bool:
    """Tell whether a field can be given: not so those that a dataclass fills itself."""
    fields: dict[str, Any] = getattr(cls, "__dataclass_fields__", {})
    return name not in fields or fields[name].init


def _default(field: mi.Field) -> Any:
    if field.default_factory in (list, dict, set):
        return cast("Any", field.default_factory)()
    return field.default


def _own_doc(cls: Any) -> str | None:
    """Give the docstring its author wrote, not the one that `dataclass` or `NamedTuple` makes up."""
    doc = cls.__dict__.get("__doc__")
    made_up = isinstance(doc, str) and doc.startswith((f"{cls.__name__}(", "Method generated by attrs"))
    return None if made_up else doc


def _free(name: str, taken: dict[str, Schema]) -> str:
    """Find a name for a definition that needs no escaping in a reference."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).rstrip("_")
    numbered = (f"{name}{number}" for number in itertools.count(2))
    return next(each for each in itertools.chain([name], numbered) if each not in taken)
