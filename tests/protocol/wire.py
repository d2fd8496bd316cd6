"""What the tests of the wire types share: round trips, and values of any type out of nothing."""

import inspect
import json
import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st
from msgspec import NODEFAULT, Raw, Struct
from msgspec.structs import FieldInfo, fields

from splice import protocol
from splice.protocol import content
from splice.protocol import questions as asked
from splice.protocol.methods import Method, Note
from splice.protocol.versions import FACTS, covers
from splice.protocol.wire import Wire

S = TypeVar("S", bound=Struct)

SAMPLING_CONTENT: Any = get_type_hints(asked.Spoken, include_extras=True)["content"]
LISTS: tuple[object, ...] = get_args(SAMPLING_CONTENT)[-1].__metadata__
"""Since when several blocks may stand where one does."""

BASES = {"Wire", "Meta", "LaterMeta", "Named", "Hints", "ResourceDescription", "Spoken"}
BASES |= {"Block", "BinaryBlock", "Capabilities", "NamedData", "QuestionParams"}
"""Bases without a name on the wire."""


def stable(kind: type[S], value: Any) -> S:
    """Read a JSON value as `kind`, and see that writing it gives the same value again."""
    read = msgspec.json.decode(json.dumps(value), type=kind)
    assert json.loads(msgspec.json.encode(read)) == value
    return read


def modules() -> list[ModuleType]:
    """All modules of the protocol package."""
    return [import_module(each.name) for each in pkgutil.iter_modules(protocol.__path__, "splice.protocol.")]


def wire_types() -> dict[str, type[Wire]]:
    """All Structs of the specification, by name."""
    return {
        name: kind
        for module in modules()
        for name, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Wire) and kind.__module__ == module.__name__ and name not in BASES
    }


def methods() -> dict[str, Method[Any, Any]]:
    """Find the rows of all requests, by name."""
    return {row.name: row for row in all_rows() if isinstance(row, Method)}


def notes() -> dict[str, Note[Any]]:
    """Find the rows of all notifications, by name."""
    return {row.name: row for row in all_rows() if not isinstance(row, Method)}


def all_rows() -> list[Note[Any]]:
    """All rows of the protocol package, each once."""
    named = [each for module in modules() for each in vars(module).items() if not each[0].startswith("_")]
    found = {id(row): row for _, row in named if isinstance(row, Note)}
    return list(found.values())


def span_of(kind: type[Struct]) -> tuple[object, ...]:
    return getattr(kind, "span", ())


def marks_of(field: FieldInfo) -> tuple[object, ...]:
    return field.type.__metadata__ if get_origin(field.type) is Annotated else ()


def foreign(value: Any, version: str) -> Iterator[str]:
    """Name everything at any depth of a value that `version` does not have."""
    if isinstance(value, list):
        for item in value:
            yield from foreign(item, version)
    if not isinstance(value, Struct):
        return
    for field in fields(value):
        inner = getattr(value, field.name)
        where = f"{type(value).__name__}.{field.name}"
        if inner is not None and not covers(marks_of(field), version):
            yield where
        for item in inner if isinstance(inner, list) else [inner]:
            if isinstance(item, Struct) and not covers(span_of(type(item)), version):
                yield f"{where}: {type(item).__name__}"
        yield from foreign(inner, version)
        if field.type is SAMPLING_CONTENT and isinstance(inner, list) and not covers(LISTS, version):
            yield f"{where}: a list"
    structured = getattr(value, "structured_content", None)
    if not (FACTS[version].any_structured_content or structured is None or isinstance(structured, dict)):
        yield f"{type(value).__name__}.structured_content: not an object"


WORD = st.sampled_from(["", "x", "\u2028\U0001f600"])
JSON = st.sampled_from([None, True, 0, "x", [1, {"a": None}], {"a": [1]}])

PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: WORD,
    int: st.sampled_from([0, -1, 2**63]),
    float: st.sampled_from([0.0, 0.5, -1e300]),
    bool: st.booleans(),
    type(None): st.none(),
    Any: JSON,
    Raw: st.just(Raw(b'{"a": 1}')),
}

ALWAYS: dict[type[Struct], dict[str, st.SearchStrategy[Any]]] = {
    asked.ElicitParams: {"requested_schema": st.just({"type": "object"}), "url": st.just("https://a.example/")},
    asked.InputRequiredResult: {"request_state": WORD},
    content.ResourceContents: {"text": WORD, "blob": st.none()},
}
"""What a type insists on beyond its fields."""


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Make values of any type that our fields have."""
    if annotation in PLAIN:
        return PLAIN[annotation]
    match get_origin(annotation), get_args(annotation):
        case None, _:
            made = instances(annotation)
        case origin, arguments if origin is Literal:
            made = st.sampled_from(arguments)
        case origin, (item,) if origin is list:
            made = st.lists(values(item), max_size=2)
        case origin, (_, item) if origin is dict:
            made = st.dictionaries(WORD, values(item), max_size=2)
        case origin, (inner, *_) if origin is Annotated:
            made = values(inner)
        case _, members:
            made = st.one_of(*map(values, members))
    return made


@cache
def instances(kind: type[S]) -> st.SearchStrategy[S]:
    """Make Structs."""
    return st.builds(kind, **({field.name: any_of(field) for field in fields(kind)} | ALWAYS.get(kind, {})))


def any_of(field: FieldInfo) -> st.SearchStrategy[Any]:
    made = values(field.type)
    return made if field.default is NODEFAULT else st.just(field.default) | made
