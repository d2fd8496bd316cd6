"""A Python type as JSON Schema, and as something that decodes.

msgspec does both by itself for most types; what it decodes is written from what `msgspec.inspect` tells of it. Any
other type is left to pydantic as a whole, if the user's code imports it; failing that, the members of a union are tried
one after the other.

`msgspec.json.schema_components` was tried first. It sorts the values of enums and literals, forgets `format` for dates,
and fails at defaults that need a hook; none of that can be mended afterwards.

Classes that are objects in JSON go to `$defs` under their own names, so they may refer to themselves.

JSON Schema 2020-12: https://json-schema.org/draft/2020-12
"""

import enum
import math
import re
from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect as mi

from splice.schema import annotations, docstrings, schemas

Record: TypeAlias = mi.StructType | mi.DataclassType | mi.TypedDictType | mi.NamedTupleType

_FIXED: dict[type[mi.Type], schemas.Schema] = {
    mi.AnyType: {},
    mi.RawType: {},
    mi.NoneType: schemas.NULL,
    mi.BoolType: {"type": "boolean"},
    mi.IntType: {"type": "integer"},
    mi.FloatType: {"type": "number"},
    mi.StrType: {"type": "string"},
    **{kind: {"type": "string", "contentEncoding": "base64"} for kind in (mi.BytesType, mi.ByteArrayType)},
    mi.DateTimeType: {"type": "string", "format": "date-time"},
    mi.DateType: {"type": "string", "format": "date"},
    mi.TimeType: {"type": "string", "format": "time"},
    mi.TimeDeltaType: {"type": "string", "format": "duration"},
    mi.UUIDType: {"type": "string", "format": "uuid"},
    mi.DecimalType: {"type": "string", "format": "decimal"},
}
_LIMITS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
_COUNTS = {
    kind: _LIMITS | {"min_length": f"min{noun}", "max_length": f"max{noun}"}
    for kind, noun in (("string", "Length"), ("array", "Items"), ("object", "Properties"))
}


class Shape(NamedTuple):
    """A type: what msgspec decodes, with `decode_hook`, and the schema."""

    wire: Any
    schema: schemas.Schema

    def decode(self, json: bytes) -> Any:
        """Decode one value.

        Raises `ValueError`, or `RecursionError` for a value that nests too deeply.
        """
        return msgspec.json.decode(json, type=self.wire, dec_hook=annotations.decode_hook)


class Types:
    """Reads the types of one schema document."""

    def __init__(self, mode: Literal["validation", "serialization"] = "validation") -> None:
        self.mode = mode
        self.defs: dict[str, schemas.Schema] = {}
        """The definitions that the schemas share."""
        self.names: dict[Any, str] = {}
        """Under which name a class is defined."""

    def read(self, kind: Any) -> Shape:
        """Find out how to describe and decode a type.

        Raises `TypeError` for a type that JSON cannot carry.
        """
        if isinstance(kind, type) and kind in schemas.NAMES:
            return Shape(kind, {"type": schemas.NAMES[kind]})  # most parameters are so simple
        reasons: list[Exception] = []
        for way in (self._native, self._by_pydantic, self._first_of):
            before = self.defs.copy(), self.names.copy()
            try:
                return way(kind)
            except annotations.NotJSON:
                raise
            except (TypeError, ValueError, RuntimeError) as error:  # pydantic raises the last
                reasons.append(error)
                self.defs, self.names = before
            except NameError as error:
                raise annotations.unknown_name(annotations.name_of(kind), error) from None
        reason, _, _ = str(reasons[0]).partition("\n")
        raise TypeError(f"{annotations.name_of(kind)} cannot be expressed in JSON Schema: {reason}")

    def write(self, kind: mi.Type) -> schemas.Schema:
        """Write what msgspec tells of a type. Raises `TypeError`."""
        if (fixed := _FIXED.get(type(kind))) is not None:
            return _limited(fixed, kind)
        return _WRITERS[type(kind)](self, kind)

    def adopt(self, model: Any) -> schemas.Schema:
        """Write the type of an adapter of pydantic's; its definitions get a number if their names are taken."""
        written = (annotations.pydantic_schema(model, self.mode, number) for number in _numbers())
        fits = (each for each in written if all(self.defs.get(name, one) == one for name, one in each[1].items()))
        schema, defs = next(fits)
        self.defs |= defs
        return schema

    def _native(self, kind: Any) -> Shape:
        wire = annotations.for_msgspec(kind)
        return Shape(wire, self.write(mi.type_info(wire)))

    def _by_pydantic(self, kind: Any) -> Shape:
        model = annotations.strict_adapter(kind)
        return Shape(annotations.left_to(model.validate_json), self.adopt(model))

    def _first_of(self, kind: Any) -> Shape:
        """Take the first member of a union that fits."""
        said = annotations.notes(getattr(kind, "__metadata__", ()))
        inner = annotations.bare(kind)
        if get_origin(inner) not in annotations.UNIONS or said.limits:
            raise TypeError
        members = [self.read(member) for member in get_args(inner)]

        def convert(json: bytes) -> Any:
            for member in members:
                try:
                    return member.decode(json)
                except ValueError:
                    continue
            raise ValueError("fits none of several types")

        return Shape(annotations.left_to(convert), schemas.any_of([member.schema for member in members]) | said.words)


def with_default(schema: schemas.Schema, default: Any) -> schemas.Schema:
    """Add a default, if there is one that JSON can carry. None can be one; `NODEFAULT` is none."""
    try:
        plain = msgspec.to_builtins(default, str_keys=True, enc_hook=annotations.encode_hook)
    except (TypeError, ValueError):
        return schema
    finite = not isinstance(plain, float) or math.isfinite(plain)
    return schema | {"default": plain} if finite else schema


def _array(to: Types, kind: mi.CollectionType) -> schemas.Schema:
    unique = {"uniqueItems": True} if isinstance(kind, mi.SetType | mi.FrozenSetType) else {}
    items = to.write(kind.item_type)
    return _limited({"type": "array"} | ({"items": items} if items else {}) | unique, kind)


def _places(to: Types, kind: mi.TupleType) -> schemas.Schema:
    items = [to.write(item) for item in kind.item_types]
    return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}


def _mapping(to: Types, kind: mi.DictType) -> schemas.Schema:
    keys, values = dict(to.write(kind.key_type)), to.write(kind.value_type)
    names = {"pattern": "^-?[0-9]+$"} if keys.pop("type", None) == "integer" else keys
    schema = {"type": "object", "additionalProperties": values, "propertyNames": names}
    return _limited({word: value for word, value in schema.items() if value}, kind)


def _choices(plain: list[Any]) -> schemas.Schema:
    kinds = {schemas.NAMES[type(value)] for value in plain}
    return ({"type": kinds.pop()} if len(kinds) == 1 else {}) | {"enum": plain}


def _enumeration(_: Types, kind: mi.EnumType) -> schemas.Schema:
    if issubclass(kind.cls, enum.Flag):
        return {"type": "integer"}
    schema = _choices([msgspec.to_builtins(member) for member in kind.cls])
    return schemas.described(schema, docstrings.parse(kind.cls.__dict__.get("__doc__")).description)


def _custom(to: Types, kind: mi.CustomType) -> schemas.Schema:
    if kind.cls is object:
        return {}
    if annotations.is_path(kind.cls):
        return {"type": "string", "format": "path"}
    if not annotations.is_pydantic(kind.cls):
        raise annotations.NotJSON(kind.cls)
    return to.adopt(annotations.adapter(kind.cls))


def _record(to: Types, kind: Record) -> schemas.Schema:
    """Write a class with fields into the definitions, and refer to it."""
    if annotations.is_pydantic(kind.cls):
        raise TypeError(f"{annotations.name_of(kind.cls)} is for pydantic to decode, whole")
    if kind.cls not in to.names:
        # A name that needs no escaping in a reference.
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", annotations.name_of(kind.cls)).rstrip("_")
        name = next(plain + number for number in _numbers() if plain + number not in to.defs)
        to.names[kind.cls] = name
        to.defs[name] = {}
        to.defs[name] = _definition(to, kind)
    return {"$ref": f"#/$defs/{to.names[kind.cls]}"}


def _definition(to: Types, kind: Record) -> schemas.Schema:
    cls = get_origin(kind.cls) or kind.cls
    doc, hints = docstrings.parse(_own_doc(cls)), get_type_hints(cls, include_extras=True)
    required = [field.encode_name for field in kind.fields if field.required]
    members: dict[str, schemas.Schema] = {}
    if isinstance(kind, mi.StructType) and kind.tag_field is not None:
        members[kind.tag_field] = {"enum": [kind.tag]}
        required.insert(0, kind.tag_field)
    for field in kind.fields:
        schema = schemas.described(to.write(_seen(field, hints.get(field.name, Any))), doc.parameters.get(field.name))
        made = cast("Any", field.default_factory)() if field.default_factory in (list, dict, set) else field.default
        members[field.encode_name] = with_default(schema, made)
    closed = getattr(kind, "forbid_unknown_fields", isinstance(kind, mi.NamedTupleType))
    if isinstance(kind, mi.NamedTupleType) or getattr(kind, "array_like", False):
        # Fields known by their places: those with a default can only be left out from the end.
        needed = max((place for place, name in enumerate(members, 1) if name in required), default=0)
        schema = {"type": "array", "prefixItems": list(members.values()), "minItems": needed}
        schema |= {"maxItems": len(members)} if closed else {}
    else:
        schema = schemas.object_of(members, required, closed=closed)
    return schemas.described(schema, doc.description)


_WRITERS: dict[type[mi.Type], Callable[[Types, Any], schemas.Schema]] = {
    mi.Metadata: lambda to, kind: to.write(kind.type) | (kind.extra_json_schema or {}),
    **dict.fromkeys((mi.ListType, mi.VarTupleType, mi.SetType, mi.FrozenSetType), _array),
    mi.TupleType: _places,
    mi.DictType: _mapping,
    mi.UnionType: lambda to, kind: schemas.any_of([to.write(member) for member in kind.types]),
    mi.LiteralType: lambda _, kind: _choices(list(kind.values)),
    mi.EnumType: _enumeration,
    mi.CustomType: _custom,
    **dict.fromkeys(get_args(Record), _record),
}


def _limited(schema: schemas.Schema, kind: mi.Type) -> schemas.Schema:
    """Add the limits that msgspec checks."""
    words = _COUNTS.get(schema.get("type", ""), _LIMITS)
    said = {word: getattr(kind, name) for name, word in words.items() if getattr(kind, name, None) is not None}
    if "contentEncoding" in schema:
        said = {word: 4 * ((length + 2) // 3) for word, length in said.items()}
    return schema | said


def _seen(field: mi.Field, hint: Any) -> mi.Type:
    """Give the type of a field, with everything said beside it, of which msgspec sees only its own `Meta`."""
    seen = annotations.for_msgspec(hint, in_class=True)
    # For a type variable, msgspec knows what it stands for.
    is_open = isinstance(hint, TypeVar) or bool(getattr(hint, "__parameters__", ()))
    return field.type if seen is hint or is_open else mi.type_info(seen)


def _own_doc(cls: Any) -> str | None:
    """Give the docstring its author wrote, not the one that `dataclass` or `NamedTuple` makes up."""
    doc = cls.__dict__.get("__doc__")
    made_up = isinstance(doc, str) and doc.startswith((f"{cls.__name__}(", "Method generated by attrs"))
    return None if made_up else doc


def _numbers() -> Iterator[str]:
    """List what may follow a name that is taken: nothing, 2, 3 and so on."""
    return chain([""], map(str, count(2)))
