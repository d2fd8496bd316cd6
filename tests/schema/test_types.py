"""Every supported type has a schema and decodes, or says why a value does not fit."""

import dataclasses
import datetime as dt
import decimal
import pathlib
import sys
import typing
import uuid
from collections import abc
from collections.abc import Callable
from types import GenericAlias
from typing import Annotated, Any, Literal, NewType, Optional, TypeVar, Union

import annotated_types as at
import msgspec
import pydantic
import pytest
from typing_extensions import TypeAliasType

from schema.models import (
    Address,
    Box,
    Car,
    Cat,
    Circle,
    Color,
    Dog,
    Limited,
    LimitedBranch,
    LimitedTree,
    Movie,
    Pair,
    Person,
    Point,
    Row,
    Square,
    Stored,
    Tree,
    User,
)
from splice.schema.annotations import Header
from splice.schema.types import Shape, Types
from support.tables import rows

UserId = NewType("UserId", int)
Anything = TypeVar("Anything")
Bounded = TypeVar("Bounded", bound=int)
Alias = TypeAliasType("Alias", list[int])

NOW = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
ID = uuid.UUID(int=7)


def decoding(shape: Shape) -> Callable[[Any], Any]:
    return lambda value: shape.decode(msgspec.json.encode(value))


STRING, INTEGER, NUMBER, NULL = ({"type": name} for name in ("string", "integer", "number", "null"))

PLAIN: list[tuple[Any, dict[str, Any], Any, Any]] = [
    (str, STRING, "a", "a"),
    (int, INTEGER, 3, 3),
    (float, NUMBER, 3, 3.0),
    (bool, {"type": "boolean"}, True, True),
    (None, NULL, None, None),
    (Any, {}, {"a": [1]}, {"a": [1]}),
    (object, {}, "x", "x"),
    (bytes, {"type": "string", "contentEncoding": "base64"}, "aGk=", b"hi"),
    (dt.datetime, {"type": "string", "format": "date-time"}, "2026-01-02T03:04:05Z", NOW),
    (dt.date, {"type": "string", "format": "date"}, "2026-01-02", NOW.date()),
    (dt.time, {"type": "string", "format": "time"}, "03:04:05", dt.time(3, 4, 5)),
    (dt.timedelta, {"type": "string", "format": "duration"}, "PT1H", dt.timedelta(hours=1)),
    (uuid.UUID, {"type": "string", "format": "uuid"}, str(ID), ID),
    (decimal.Decimal, {"type": "string", "format": "decimal"}, "1.5", decimal.Decimal("1.5")),
    (pathlib.Path, {"type": "string", "format": "path"}, "/a", pathlib.Path("/a")),
    (list, {"type": "array"}, [1, "a"], [1, "a"]),
    (list[int], {"type": "array", "items": INTEGER}, [1], [1]),
    (abc.Sequence[int], {"type": "array", "items": INTEGER}, [1], [1]),
    (abc.Iterable[int], {"type": "array", "items": INTEGER}, [1], [1]),
    (typing.Iterable[int], {"type": "array", "items": INTEGER}, [1], [1]),
    (typing.List, {"type": "array"}, [1], [1]),  # noqa: UP006 - it is what is tested
    (abc.Iterable, {"type": "array"}, [1], [1]),
    (set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}, [1, 2], {1, 2}),
    (frozenset[str], {"type": "array", "items": STRING, "uniqueItems": True}, ["a"], frozenset("a")),
    (tuple, {"type": "array"}, [1], (1,)),
    (tuple[int, ...], {"type": "array", "items": INTEGER}, [1, 2], (1, 2)),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [INTEGER, STRING], "items": False, "minItems": 2},
        [1, "a"],
        (1, "a"),
    ),
    (dict, {"type": "object"}, {"a": 1}, {"a": 1}),
    (dict[str, int], {"type": "object", "additionalProperties": INTEGER}, {"a": 1}, {"a": 1}),
    (abc.Mapping[str, Any], {"type": "object"}, {"a": 1}, {"a": 1}),
    (
        dict[int, str],
        {"type": "object", "additionalProperties": STRING, "propertyNames": {"pattern": "^-?[0-9]+$"}},
        {"1": "a"},
        {1: "a"},
    ),
    (
        dict[Literal["a"], Any],
        {"type": "object", "propertyNames": {"enum": ["a"]}},
        {"a": 1},
        {"a": 1},
    ),
    (int | str, {"anyOf": [INTEGER, STRING]}, "a", "a"),
    (Optional[int], {"anyOf": [INTEGER, NULL]}, None, None),  # noqa: UP045 - it is what is tested
    (Union[None, int], {"anyOf": [INTEGER, NULL]}, 3, 3),  # noqa: UP007 - it is what is tested
    (int | Any, {}, "x", "x"),
    (dt.datetime | str, {"anyOf": [{"type": "string", "format": "date-time"}, STRING]}, "x", "x"),
    (
        list[int] | set[str],
        {"anyOf": [{"type": "array", "items": INTEGER}, {"type": "array", "items": STRING, "uniqueItems": True}]},
        ["a"],
        {"a"},
    ),
    (list[int] | abc.Sequence[int], {"type": "array", "items": INTEGER}, [1], [1]),
    (UserId, INTEGER, 3, 3),
    (Anything, {}, "x", "x"),
    (Bounded, INTEGER, 3, 3),
    (Alias, {"type": "array", "items": INTEGER}, [1], [1]),
    (Annotated[int, "Years."], {"type": "integer", "description": "Years."}, 3, 3),
    (Annotated[int, msgspec.Meta(ge=1)], {"type": "integer", "minimum": 1}, 3, 3),
    (Annotated[int | None, at.Ge(1)], {"anyOf": [{"type": "integer", "minimum": 1}, NULL]}, None, None),
    (Annotated[str, Header("Region")], {"type": "string", "x-mcp-header": "Region"}, "a", "a"),
    (
        Annotated[int, pydantic.Field(ge=1, title="Age", examples=[3])],
        {"type": "integer", "minimum": 1, "title": "Age", "examples": [3]},
        3,
        3,
    ),
    (Annotated[str, pydantic.StringConstraints(to_upper=True)], STRING, "a", "A"),
    (Annotated[int, pydantic.AfterValidator(lambda value: value + 1)], INTEGER, 1, 2),
    (pydantic.PositiveInt, {"type": "integer", "exclusiveMinimum": 0}, 1, 1),
    (list[Annotated[int, at.Ge(1)]], {"type": "array", "items": {"type": "integer", "minimum": 1}}, [1], [1]),
    (tuple[Annotated[int, at.Ge(1)], ...], {"type": "array", "items": {"type": "integer", "minimum": 1}}, [1], (1,)),
    (msgspec.Raw, {}, None, None),
]


@rows(("kind", "schema", "given", "wanted"), PLAIN)
def test_types_that_stand_where_they_are_used(kind: Any, schema: dict[str, Any], given: Any, wanted: Any) -> None:
    types = Types()
    shape = types.read(kind)
    assert shape.schema == schema
    assert types.defs == {}
    found = decoding(shape)(given) if kind is not msgspec.Raw else None
    assert found == wanted
    assert type(found) is type(wanted)


def field(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return schema | more


POINT = {
    "description": "A place.",
    "type": "object",
    "properties": {
        "x": field(INTEGER, description="To the right."),
        "y": field(NUMBER, default=0.5),
        "tags": {"type": "array", "items": STRING, "default": []},
    },
    "required": ["x"],
}
ADDRESS = {
    "type": "object",
    "properties": {"street": STRING, "number": field(INTEGER, minimum=1, description="On the door.")},
    "required": ["street", "number"],
}

RECORDS: list[tuple[Any, dict[str, Any], Any, Any]] = [
    (Point, POINT, {"x": 1, "tags": ["a"]}, Point(1, 0.5, ["a"])),
    (
        Limited,
        {
            "description": "Limits that msgspec does not know.",
            "type": "object",
            "properties": {"size": field(INTEGER, minimum=3), "name": field(STRING, default="x")},
            "required": ["size"],
        },
        {"size": 3},
        Limited(3),
    ),
    (
        Tree,
        {
            "description": "Holds itself.",
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
            "required": ["children"],
        },
        {"children": [{"children": []}]},
        Tree([Tree([])]),
    ),
    (
        Movie,
        {
            "type": "object",
            "properties": {
                "title": STRING,
                "year": INTEGER,
                "rating": field(INTEGER, maximum=5, description="Stars."),
            },
            "required": ["title"],
        },
        {"title": "M", "rating": 5},
        {"title": "M", "rating": 5},
    ),
    (
        Pair,
        {"type": "array", "prefixItems": [INTEGER, field(STRING, default="b")], "minItems": 1, "maxItems": 2},
        [1],
        Pair(1),
    ),
    (
        User,
        {
            "type": "object",
            "properties": {
                "userName": field(STRING, minLength=2, description="Who."),
                "logCount": field(INTEGER, default=0),
            },
            "required": ["userName"],
            "additionalProperties": False,
        },
        {"userName": "ab"},
        User("ab"),
    ),
    (
        Cat,
        {"type": "object", "properties": {"type": {"enum": ["cat"]}, "lives": INTEGER}, "required": ["type", "lives"]},
        {"type": "cat", "lives": 9},
        Cat(9),
    ),
    (
        Dog,
        {
            "type": "object",
            "properties": {"type": {"enum": ["dog"]}, "legs": field(INTEGER, minimum=0, default=4)},
            "required": ["type"],
        },
        {"type": "dog", "legs": 3},
        Dog(3),
    ),
    (
        Row,
        {"type": "array", "prefixItems": [INTEGER, field(STRING, default="x")], "minItems": 1, "maxItems": 2},
        [1],
        Row(1),
    ),
    (
        Car,
        {
            "type": "object",
            "properties": {
                "wheels": INTEGER,
                "_owner": field(STRING, default="me"),
                "seats": {"type": "array", "items": STRING, "default": []},
            },
            "required": ["wheels"],
        },
        {"wheels": 4},
        Car(4),
    ),
    (Address, ADDRESS, {"street": "s", "number": 1}, Address(street="s", number=1)),
    (
        Stored,
        {"type": "object", "properties": {"size": field(INTEGER, minimum=3)}, "required": ["size"]},
        {"size": 3},
        Stored(3),
    ),
]


@rows(("kind", "schema", "given", "wanted"), RECORDS)
def test_records_are_defined_once_under_their_names(kind: Any, schema: dict[str, Any], given: Any, wanted: Any) -> None:
    types = Types()
    shape = types.read(list[kind])
    assert shape.schema == {"type": "array", "items": {"$ref": f"#/$defs/{kind.__name__}"}}
    assert types.defs == {kind.__name__: schema}
    assert decoding(shape)([given]) == [wanted]
    assert types.read(kind).schema == {"$ref": f"#/$defs/{kind.__name__}"}
    assert list(types.defs) == [kind.__name__]


def test_records_that_msgspec_decodes_stay_what_they_are() -> None:
    types = Types()
    for kind in (Point, Tree, User, Cat, Pair, Row, Car, list[Point] | None, Cat | int):
        assert types.read(kind).wire == kind


def test_a_generic_class_has_a_definition_for_each_argument() -> None:
    types = Types()
    assert types.read(Box[int]).schema == {"$ref": "#/$defs/Box_int"}
    assert types.read(Box[list[str]]).schema == {"$ref": "#/$defs/Box_list_str"}
    assert types.defs["Box_list_str"]["properties"]["more"] == {
        "type": "array",
        "items": {"type": "array", "items": STRING},
    }
    assert decoding(types.read(Box[int]))({"content": 1, "more": [2]}) == Box(1, [2])
    with pytest.raises(ValueError, match="Expected `int`"):
        decoding(types.read(Box[int]))({"content": "x", "more": [2]})


def test_records_may_hold_themselves_when_pydantic_decodes_them() -> None:
    convert = decoding(Types().read(LimitedTree))
    assert convert({"size": 3, "branches": [{"tree": {"size": 4}}]}) == LimitedTree(3, [LimitedBranch(LimitedTree(4))])
    with pytest.raises(ValueError, match="greater than or equal to 3"):
        convert({"size": 3, "branches": [{}, {"tree": {"size": 4, "branches": [{"tree": {"size": 2}}]}}]})


def test_models_of_pydantic_bring_their_definitions() -> None:
    types = Types()
    assert types.read(Person).schema == {"$ref": "#/$defs/Person"}
    assert types.defs == {
        "Address": ADDRESS,
        "Person": {
            "description": "Somebody.",
            "type": "object",
            "properties": {
                "home": {"$ref": "#/$defs/Address"},
                "friend": {"anyOf": [{"$ref": "#/$defs/Person"}, NULL], "default": None},
                "shoeSize": field(INTEGER, default=40),
            },
            "required": ["home"],
        },
    }
    assert types.read(Address).schema == {"$ref": "#/$defs/Address"}
    assert len(types.defs) == 2


def test_definitions_with_one_name_do_not_get_mixed_up() -> None:
    class Inner:
        class Address(pydantic.BaseModel):
            planet: str

    class Owner(pydantic.BaseModel):
        at: Inner.Address

    class Point(msgspec.Struct):
        z: int

    class Outer:
        class Address(pydantic.BaseModel):
            galaxy: str

    types = Types()
    assert types.read(Address).schema == {"$ref": "#/$defs/Address"}
    assert types.read(Owner).schema == {"$ref": "#/$defs/Owner2"}
    assert types.defs["Owner2"]["properties"]["at"] == {"$ref": "#/$defs/Address2"}
    assert types.read(Outer.Address).schema == {"$ref": "#/$defs/Address3"}
    assert types.read(globals()["Point"]).schema == {"$ref": "#/$defs/Point"}
    assert types.read(Point).schema == {"$ref": "#/$defs/Point2"}
    assert types.read(GenericAlias(tuple, (Point, globals()["Point"]))).schema["prefixItems"] == [
        {"$ref": "#/$defs/Point2"},
        {"$ref": "#/$defs/Point"},
    ]


def test_unions_of_models() -> None:
    types = Types()
    shape = types.read(Address | Point | None)
    convert = decoding(shape)
    assert convert({"x": 1}) == Point(1)
    assert convert({"street": "s", "number": 2}) == Address(street="s", number=2)
    assert convert(None) is None
    with pytest.raises(ValueError, match="should be an object"):
        convert(3)
    told = types.read(Annotated[Circle | Square, pydantic.Field(discriminator="kind")])
    assert decoding(told)({"kind": "square", "side": 2}) == Square(kind="square", side=2)
    assert told.schema["oneOf"] == [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Square"}]


def test_tagged_structs() -> None:
    types = Types()
    assert decoding(types.read(Cat | Tree))({"type": "cat", "lives": 3}) == Cat(3)
    assert decoding(types.read(Cat | Dog))({"type": "dog"}) == Dog()
    assert types.defs.keys() == {"Cat", "Tree", "Dog"}


def test_results_are_described_as_they_leave() -> None:
    types = Types("serialization")
    assert types.read(decimal.Decimal).schema == {"type": "string", "format": "decimal"}

    class Computed(pydantic.BaseModel):
        side: int

        @pydantic.computed_field
        def area(self) -> int:
            return self.side**2

    types.read(Computed)
    assert types.defs["Computed"]["required"] == ["side", "area"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (complex, "complex cannot be expressed in JSON Schema"),
        (type[int], "type cannot be expressed in JSON Schema"),
        (abc.Callable[[], int], "Callable cannot be expressed in JSON Schema"),
        ("Later", "'Later' cannot be expressed in JSON Schema"),
        (list[complex], "complex cannot be expressed in JSON Schema"),
    ],
)
def test_what_json_cannot_carry(kind: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        Types().read(kind)
    assert str(caught.value).startswith(message)


def test_defaults_are_shown_as_json_if_it_has_them() -> None:
    class Defaults(msgspec.Struct):
        color: Color = Color.RED
        home: Address = Address(street="s", number=1)
        path: pathlib.Path = pathlib.Path("a")
        huge: float = float("inf")
        odd: Any = object()
        unset: int | msgspec.UnsetType = msgspec.UNSET
        made: Point = msgspec.field(default_factory=lambda: Point(1))

    types = Types()
    types.read(Defaults)
    properties = types.defs["Defaults"]["properties"]
    assert {name: schema.get("default", ...) for name, schema in properties.items()} == {
        "color": "red",
        "home": {"street": "s", "number": 1},
        "path": "a",
        "huge": ...,
        "odd": ...,
        "unset": ...,
        "made": ...,
    }


@dataclasses.dataclass
class Left:
    x: int


@dataclasses.dataclass
class Right:
    y: str


def test_without_pydantic_the_members_of_a_union_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pydantic")
    types = Types()
    shape = types.read(Left | Right | None)
    assert shape.schema == {"anyOf": [{"$ref": "#/$defs/Left"}, {"$ref": "#/$defs/Right"}, NULL]}
    assert [shape.decode(raw) for raw in (b'{"x":1}', b'{"y":"M"}', b"null")] == [Left(1), Right("M"), None]
    with pytest.raises(ValueError, match=r"^fits none of several types$"):
        shape.decode(b"3")
    assert types.read(Annotated[Left | Right, "Either."]).schema["description"] == "Either."
    with pytest.raises(TypeError):
        types.read(Annotated[Left | Right, at.Ge(1)])
    with pytest.raises(TypeError, match=r"cannot be expressed in JSON Schema: Type unions may not"):
        types.read(list[Left | Right])


def test_the_order_of_a_union_is_the_authors() -> None:
    types = Types()
    assert [types.read(kind).schema["anyOf"][0] for kind in (int | str, str | int)] == [INTEGER, STRING]


def test_annotations_that_have_no_hash() -> None:
    assert Types().read(Annotated[int, ["not", "hashed"], "Many."]).schema == {
        "type": "integer",
        "description": "Many.",
    }


def test_what_failed_leaves_no_trace() -> None:
    types = Types()
    types.read(tuple[Left, Limited])  # msgspec writes `Left`, then leaves all to pydantic
    assert types.names == {}
    assert types.defs.keys() == {"Left", "Limited"}
