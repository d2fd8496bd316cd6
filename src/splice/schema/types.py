"""A Python type as JSON Schema, and as something msgspec decodes.

`Types.read` walks an annotation once and gives both. Classes that are objects in JSON go to `$defs` under their own
names, so they may refer to themselves; everything else stands where it is used. Titles that only repeat a name are
left out.

JSON Schema 2020-12: https://json-schema.org/draft/2020-12
"""

import datetime as dt
import decimal
import enum
import functools
import re
import types
import typing
import uuid
from collections import abc
from typing import Any, Literal, TypeVar, Union, cast

import msgspec
from msgspec import UNSET

from splice.schema.choices import enumeration, literal
from splice.schema.docstrings import parse
from splice.schema.fields import Notes, notes
from splice.schema.foreign import adapter, is_foreign, plain_json, tidy
from splice.schema.limits import limited, native
from splice.schema.markers import conversion, first_of, marker
from splice.schema.records import Record, record, shadow
from splice.schema.shape import Schema, Shape, decodes, name_of

Mode = Literal["validation", "serialization"]

_BASE64: Schema = {"type": "string", "contentEncoding": "base64"}
_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    bytes: _BASE64,
    bytearray: _BASE64,
    dt.datetime: {"type": "string", "format": "date-time"},
    dt.date: {"type": "string", "format": "date"},
    dt.time: {"type": "string", "format": "time"},
    dt.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    msgspec.Raw: {},
}
_DECIMAL: dict[str, Schema] = {
    "validation": {"anyOf": [{"type": "number"}, {"type": "string", "format": "decimal"}]},
    "serialization": {"type": "string", "format": "decimal"},
}
_ARRAYS: dict[Any, Any] = dict.fromkeys(
    (list, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable), list
) | {
    set: set,
    abc.Set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
}
_ANYTHING = (Any, object)
_OBJECTS = (dict, abc.Mapping, abc.MutableMapping)
_UNIONS = (Union, types.UnionType)
_WRAPPERS = ("Required", "NotRequired", "ReadOnly", "Final")


class Types:
    """Reads the types of one schema document; `defs` collects what they share."""

    def __init__(self, mode: Mode = "validation") -> None:
        self.defs: dict[str, Schema] = {}
        self._mode = mode
        self._names: dict[Any, str] = {}
        self._wires: dict[Any, Any] = {}
        self._open: dict[Any, Any] = {}
        self._recursive: set[Any] = set()

    def read(self, kind: Any) -> Shape:
        """Give both forms of a type.

        Raises `TypeError` for a type that JSON cannot carry.
        """
        origin = typing.get_origin(kind)
        if origin is None:
            return self._class(kind) if isinstance(kind, type) and kind not in _ANYTHING else self._special(kind)
        if origin in _UNIONS:
            # A field that may be unset is a field that may be left out.
            args = tuple(arg for arg in typing.get_args(kind) if arg is not msgspec.UnsetType)
            return self._union(kind, args, [self.read(arg) for arg in args])
        if hasattr(kind, "__metadata__"):
            return self._annotated(kind, kind.__origin__, notes(kind.__metadata__))
        if origin is Literal:
            return literal(kind, typing.get_args(kind))
        if getattr(origin, "_name", None) in _WRAPPERS:
            return self.read(typing.get_args(kind)[0])
        return self._container(kind, origin, typing.get_args(kind)) or self._record(kind)

    def _class(self, kind: Any) -> Shape:
        """Read a class."""
        if (plain := _PLAIN.get(kind)) is not None:
            return Shape(kind, dict(plain))
        if kind is decimal.Decimal:
            return Shape(kind, dict(_DECIMAL[self._mode]))
        if is_foreign(kind):
            return self._model(kind)
        if issubclass(kind, enum.Enum):
            return enumeration(kind)
        if hasattr(kind, "__fspath__"):
            return Shape(_path(kind), {"type": "string", "format": "path"})
        return self._container(kind, kind, ()) or self._record(kind)

    def _special(self, kind: Any) -> Shape:
        """Read what is neither a class nor made from one."""
        if kind in _ANYTHING:
            return Shape(Any, {})
        if isinstance(kind, TypeVar):
            return self.read(kind.__bound__ or Any)
        for name in ("__supertype__", "__value__"):
            if hasattr(kind, name):
                return self.read(getattr(kind, name))
        if kind is None:
            return self.read(type(None))
        raise TypeError(f"{name_of(kind)} cannot be expressed in JSON Schema")

    def _container(self, kind: Any, origin: Any, args: tuple[Any, ...]) -> Shape | None:
        if origin in _ARRAYS:
            return self._array(kind, origin, args)
        if origin in _OBJECTS:
            return self._object(kind, args)
        return self._tuple(kind, args) if origin is tuple else None

    def _annotated(self, kind: Any, inner: Any, said: Notes) -> Shape:
        if said.needs_pydantic:
            shape = self._adapted(kind)
        elif not said.limits:
            shape = self.read(inner)
            shape = Shape(kind if shape.wire is inner else shape.wire, shape.schema)
        elif typing.get_origin(inner) in _UNIONS:
            shape = self._limited_union(inner, said.limits)
        else:
            shape = limited(self.read(inner), said.limits)
            if said.by_msgspec and decodes(kind):
                shape = Shape(kind, shape.schema)
        schema = shape.schema if said.header is None else _headed(shape.schema, kind)
        return Shape(shape.wire, schema | said.schema())

    def _limited_union(self, kind: Any, limits: dict[str, Any]) -> Shape:
        """Hold those members against the limits that can be."""
        members = [self.read(arg) for arg in typing.get_args(kind)]
        held = [native(member, limits) or member for member in members]
        if held == members:
            raise TypeError(f"the limits beside {name_of(kind)} fit none of its types")
        return self._union(None, (), held)

    def _array(self, kind: Any, origin: Any, args: tuple[Any, ...]) -> Shape:
        item = self.read(args[0] if args else Any)
        concrete: Any = _ARRAYS[origin]
        same = origin is not abc.Iterable and (not args or item.wire == args[0])
        schema: Schema = {"type": "array"} | ({"items": item.schema} if item.schema else {})
        if concrete is not list:
            schema["uniqueItems"] = True
        return Shape(kind if same else types.GenericAlias(concrete, (item.wire,)), schema)

    def _tuple(self, kind: Any, args: tuple[Any, ...]) -> Shape:
        if not args or args[-1] is Ellipsis:
            item = self.read(args[0] if args else Any)
            schema: Schema = {"type": "array"} | ({"items": item.schema} if item.schema else {})
            return Shape(
                kind if not args or item.wire == args[0] else types.GenericAlias(tuple, (item.wire, ...)), schema
            )
        items = [self.read(arg) for arg in args]
        wires = tuple(item.wire for item in items)
        schema = {
            "type": "array",
            "prefixItems": [item.schema for item in items],
            "items": False,
            "minItems": len(items),
        }
        return Shape(kind if wires == args else types.GenericAlias(tuple, wires), schema)

    def _object(self, kind: Any, args: tuple[Any, ...]) -> Shape:
        if not args:
            return Shape(kind, {"type": "object"})
        key, value = self.read(args[0]), self.read(args[1])
        schema: Schema = {"type": "object"}
        if value.schema:
            schema["additionalProperties"] = value.schema
        if names := _names_schema(key.schema):
            schema["propertyNames"] = names
        same = (key.wire, value.wire) == args
        return Shape(kind if same else types.GenericAlias(dict, (key.wire, value.wire)), schema)

    def _union(self, kind: Any, args: tuple[Any, ...], members: list[Shape]) -> Shape:
        wires = tuple(member.wire for member in members)
        schemas: list[Schema] = []
        for member in sorted(members, key=lambda member: member.is_null):
            if member.schema not in schemas:
                schemas.append(member.schema)
        schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        wire = kind if wires == args else Union[wires]  # noqa: UP007 - made at run time
        return Shape(wire if decodes(wire) else marker("Union", first_of(wires)), {} if {} in schemas else schema)

    def _adapted(self, kind: Any) -> Shape:
        """Leave an annotation to pydantic."""
        model = adapter(kind)
        schema = model.schema(self._mode)
        names = self._adopt(schema.pop("$defs", {}))
        return Shape(marker(name_of(kind), model.convert), tidy(schema, names))

    def _model(self, kind: type) -> Shape:
        """Leave a class to itself; its schema goes to `$defs`."""
        if kind not in self._wires:
            model = adapter(kind)
            schema = model.schema(self._mode)
            definitions: dict[str, Schema] = schema.pop("$defs", {})
            name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
            if not name:
                name = _free(name_of(kind), definitions)
                definitions[name] = schema
            names = self._adopt(definitions)
            self._names[kind] = names.get(f"#/$defs/{name}", name).removeprefix("#/$defs/")
            self._wires[kind] = marker(kind.__name__, model.convert)
        return self._known(kind)

    def _adopt(self, definitions: dict[str, Schema]) -> dict[str, str]:
        """Take over definitions that somebody else made; give the references that had to change."""
        clean = tidy({"$defs": definitions}, {})["$defs"]
        taken = [name for name, schema in clean.items() if self.defs.get(name, schema) != schema]
        chosen = {name: self._place(name, clean[name], definitions) for name in taken}
        changed = {f"#/$defs/{name}": f"#/$defs/{free}" for name, free in chosen.items()}
        for name, schema in tidy({"$defs": definitions}, changed)["$defs"].items():
            self.defs[str(chosen.get(name, name))] = schema
        return changed

    def _place(self, name: str, schema: Schema, besides: dict[str, Schema]) -> str:
        """Find another name for a definition, or the one it already has."""
        number = 2
        while self.defs.get(f"{name}{number}", schema) != schema or f"{name}{number}" in besides:
            number += 1
        return f"{name}{number}"

    def _record(self, kind: Any) -> Shape:
        if kind in self._open:
            self._recursive.add(kind)
            return Shape(self._open[kind], {"$ref": f"#/$defs/{self._names[kind]}"})
        if kind not in self._wires:
            described = record(kind)
            if described is None:
                raise TypeError(f"{name_of(kind)} cannot be expressed in JSON Schema")
            self._define(kind, described)
        return self._known(kind)

    def _convert(self, kind: Any, value: Any) -> Any:
        """Convert to a record whose marker is not made yet, for its own fields."""
        return conversion(self._wires[kind])(value)

    def _known(self, kind: Any) -> Shape:
        return Shape(self._wires[kind], {"$ref": f"#/$defs/{self._names[kind]}"})

    def _define(self, kind: Any, described: Record) -> None:
        """Read the fields of a record: once more when it holds itself and msgspec cannot decode it natively."""
        name = self._names[kind] = _free(name_of(kind), self.defs)
        self.defs[name] = {}
        self._open[kind] = kind
        known = len(self._wires)
        shapes = [self.read(field.type) for field in described.fields]
        native = not any(shape.wire != field.type for shape, field in zip(shapes, described.fields, strict=True))
        if not native and kind in self._recursive:
            for inner in list(self._wires)[known:]:
                del self._wires[inner], self.defs[self._names.pop(inner)]
            self._open[kind] = marker(name, functools.partial(self._convert, kind))
            shapes = [self.read(field.type) for field in described.fields]
        self._wires[kind] = kind if native else marker(name, shadow(described, [shape.wire for shape in shapes]))
        del self._open[kind]
        self.defs[name] = _record_schema(described, [shape.schema for shape in shapes])


def _record_schema(of: Record, schemas: list[Schema]) -> Schema:
    doc = parse(_own_doc(of.cls))
    members: dict[str, Schema] = {}
    if of.tag_field is not None:
        members[of.tag_field] = {"enum": [of.tag]}
    for field, schema in zip(of.fields, schemas, strict=True):
        members[field.key] = described(schema, doc.parameters.get(field.name), field.default)
    required = [field.key for field in of.fields if field.required]
    said: Schema = {"description": doc.description} if doc.description else {}
    if of.places:
        # Places with a default can only be left out from the end.
        needed = max((place for place, field in enumerate(of.fields, 1) if field.required), default=0)
        closed: Schema = {"maxItems": len(members)} if of.closed else {}
        return said | {"type": "array", "prefixItems": list(members.values()), "minItems": needed} | closed
    if of.tag_field is not None:
        required.insert(0, of.tag_field)
    schema = said | {"type": "object", "properties": members}
    if required:
        schema["required"] = required
    return schema | ({"additionalProperties": False} if of.closed else {})


def described(schema: Schema, description: str | None, default: Any = UNSET) -> Schema:
    """Add what a docstring says, unless something was said beside the type, and the default if JSON has it."""
    if description and "description" not in schema:
        schema = schema | {"description": description}
    if default is not UNSET:
        try:
            schema = schema | {"default": plain_json(default)}
        except (TypeError, ValueError):
            return schema
    return schema


def _own_doc(cls: Any) -> str | None:
    """Give the docstring its author wrote, not the one that `dataclass` or `NamedTuple` makes up."""
    doc = cls.__dict__.get("__doc__")
    made_up = isinstance(doc, str) and doc.startswith((f"{cls.__name__}(", "Method generated by attrs"))
    return None if made_up else doc


def _names_schema(key: Schema) -> Schema:
    if key.get("type") == "integer":
        return {"pattern": r"^-?[0-9]+$"}
    return {name: value for name, value in key.items() if name != "type"}


def _headed(schema: Schema, kind: Any) -> Schema:
    """Check that a type may be repeated in a header; null is left out of its schema, for there is no header then."""
    members = [member for member in schema.get("anyOf", [schema]) if member.get("type") != "null"]
    if len(members) != 1 or members[0].get("type") not in ("string", "integer", "boolean"):
        raise TypeError(f"Header(...) fits str, int and bool, not {name_of(kind)}")
    return cast("Schema", members[0])


def _path(kind: Any) -> Any:
    text = conversion(str)
    return marker(kind.__name__, lambda value: kind(text(value)))


def _free(name: str, taken: abc.Container[str]) -> str:
    """Find a name for a definition that needs no escaping in a reference."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).rstrip("_")
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}{number}"
    return free
