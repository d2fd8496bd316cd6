"""Classes that are objects in JSON: what their fields are, and how to build one.

Structs, dataclasses, attrs classes, TypedDicts and NamedTuples are decoded by msgspec itself as long as it knows the
type of every field. Where it does not, a Struct of the same shape is decoded first (`shadow`).
"""

import sys
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import msgspec
from msgspec import NODEFAULT, UNSET, Struct

from splice.schema.markers import Convert, conversion


class Field(Struct, frozen=True):
    """One member of a record."""

    name: str
    type: Any
    key: str
    """Its name in JSON."""
    argument: str
    """Its name when the class is called."""
    required: bool = True
    default: Any = UNSET
    """What to show as default; absent too when each instance makes its own."""


class Record(Struct, frozen=True):
    """A class that is an object in JSON, or an array of fixed places."""

    cls: Any
    fields: tuple[Field, ...]
    places: bool = False
    """An array in JSON, its members known by place."""
    closed: bool = False
    """Unknown members are refused."""
    tag_field: str | None = None
    tag: str | int | None = None


def record(kind: Any) -> Record | None:
    """Describe a class or a generic class with its arguments; None for what is no record."""
    cls = typing.get_origin(kind) or kind
    if not isinstance(cls, type):
        return None
    for fits, describe in _KINDS:
        if fits(cls):
            return describe(kind, cls)
    return None


def shadow(of: Record, wires: list[Any]) -> Convert:
    """Give the conversion from a JSON value to `of`, with fields of the types in `wires`."""
    fields = [
        (field.name, wire) if field.required else (field.name, wire, UNSET)
        for field, wire in zip(of.fields, wires, strict=True)
    ]
    struct = msgspec.defstruct(
        of.cls.__name__,
        fields,
        rename={field.name: field.key for field in of.fields},
        array_like=of.places,
        kw_only=not of.places,
        forbid_unknown_fields=of.closed,
        tag_field=of.tag_field,
        tag=of.tag,
    )
    decode = conversion(struct)

    def build(value: Any) -> Any:
        decoded = decode(value)
        given = {field.argument: getattr(decoded, field.name) for field in of.fields}
        return of.cls(**{name: value for name, value in given.items() if value is not UNSET})

    return build


def _hints(kind: Any, cls: type) -> dict[str, Any]:
    """Resolve the annotations of a class; put the arguments of a generic class in their places."""
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{cls.__name__}: the name {error.name!r} in its annotations is not known in its module"
        ) from None
    parameters = cast("tuple[TypeVar, ...]", getattr(cls, "__parameters__", ()))
    chosen: dict[Any, Any] = dict(zip(parameters, typing.get_args(kind), strict=False))
    return {name: _fill(hint, chosen) for name, hint in hints.items()} if chosen else hints


def _fill(hint: Any, chosen: Mapping[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return chosen.get(hint, hint)
    open_ = cast("tuple[Any, ...]", getattr(hint, "__parameters__", ()))
    return hint[tuple(chosen.get(parameter, parameter) for parameter in open_)] if open_ else hint


def _struct(kind: Any, cls: type) -> Record:
    config = cast("type[Struct]", cls).__struct_config__
    fields = tuple(
        Field(
            each.name, each.type, each.encode_name, each.name, each.required, _shown(each.default, each.default_factory)
        )
        for each in msgspec.structs.fields(kind)
    )
    return Record(cls, fields, config.array_like, config.forbid_unknown_fields, config.tag_field, config.tag)


def _dataclass(kind: Any, cls: type) -> Record:
    hints = _hints(kind, cls)
    missing = cast("Any", sys.modules["dataclasses"]).MISSING
    fields: list[Field] = []
    for name, each in cast("dict[str, Any]", getattr(cls, "__dataclass_fields__")).items():  # noqa: B009 - type checkers do not know the attribute
        if not each.init or each._field_type.name != "_FIELD":  # noqa: SLF001 - the only mark of ClassVar and InitVar
            continue
        default, factory = (NODEFAULT if given is missing else given for given in (each.default, each.default_factory))
        required = default is NODEFAULT and factory is NODEFAULT
        fields.append(Field(name, hints[name], name, name, required, _shown(default, factory)))
    return Record(cls, tuple(fields))


def _attrs(kind: Any, cls: type) -> Record:
    hints = _hints(kind, cls)
    fields: list[Field] = []
    for each in cast("Any", cls).__attrs_attrs__:
        factory = getattr(each.default, "factory", NODEFAULT)
        required = getattr(each.default, "name", None) == "NOTHING"
        default = NODEFAULT if required or factory is not NODEFAULT else each.default
        fields.append(
            Field(each.name, hints.get(each.name, Any), each.name, each.alias, required, _shown(default, factory))
        )
    return Record(cls, tuple(fields))


def _typed_dict(kind: Any, cls: type) -> Record:
    required = set(cast("Any", cls).__required_keys__)
    fields: list[Field] = []
    for name, hint in _hints(kind, cls).items():
        mark = getattr(typing.get_origin(hint), "_name", None)
        needed = mark == "Required" or (mark != "NotRequired" and name in required)
        fields.append(Field(name, hint, name, name, needed))
    return Record(cls, tuple(fields))


def _named_tuple(kind: Any, cls: type) -> Record:
    hints, defaults = _hints(kind, cls), cast("dict[str, Any]", cast("Any", cls)._field_defaults)
    fields = tuple(
        Field(name, hints.get(name, Any), name, name, name not in defaults, defaults.get(name, UNSET))
        for name in cast("Any", cls)._fields
    )
    return Record(cls, fields, places=True, closed=True)


def _shown(default: Any, factory: Any) -> Any:
    if factory is list or factory is dict or factory is set:
        return cast("Any", factory)()
    return UNSET if default is NODEFAULT else default


_KINDS: tuple[tuple[Callable[[type], bool], Callable[[Any, type], Record]], ...] = (
    (lambda cls: issubclass(cls, Struct), _struct),
    (lambda cls: hasattr(cls, "__dataclass_fields__"), _dataclass),
    (lambda cls: hasattr(cls, "__attrs_attrs__"), _attrs),
    (lambda cls: hasattr(cls, "__required_keys__") and issubclass(cls, dict), _typed_dict),
    (lambda cls: hasattr(cls, "_fields") and issubclass(cls, tuple), _named_tuple),
)
