"""The schema of whatever msgspec decodes, beyond what `test_types.py` tells of single types."""

import dataclasses
import enum
import pathlib
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypedDict

import attrs
import msgspec
import pydantic
import pytest
import typing_extensions

from schema.models import Address
from splice.schema.annotations import NotJSON
from splice.schema.schemas import Schema
from splice.schema.types import Types, with_default

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]  # it is meant not to exist


class Color(enum.Enum):
    """What to paint with.

    In any light.
    """

    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Mixed(enum.Enum):
    ONE = 1
    YES = True
    TEXT = "1"
    HALF = 0.5
    NOTHING = None


class Bits(enum.Flag):
    A = 1
    B = 2


@pytest.mark.parametrize(
    ("kind", "schema", "fits"),
    [
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, {"a": "a"}),
        (Literal[3, 1], {"type": "integer", "enum": [3, 1]}, {1: 1}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}, {"a": "a", 1: 1, None: None}),  # noqa: PYI061 - it is what is tested
        (Literal[True], {"type": "boolean", "enum": [True]}, {True: True}),
        (
            Color,
            {"type": "string", "enum": ["red", "blue"], "description": "What to paint with.\n\nIn any light."},
            {"red": Color.RED},
        ),
        (Level, {"type": "integer", "enum": [1, 5]}, {5: Level.HIGH}),
        (Mixed, {"$ref": "#/$defs/Mixed"}, {1: Mixed.ONE, "1": Mixed.TEXT, 0.5: Mixed.HALF, None: Mixed.NOTHING}),
        (Bits, {"type": "integer"}, {3: Bits.A | Bits.B}),
    ],
)
def test_choices(kind: Any, schema: dict[str, Any], fits: dict[Any, Any]) -> None:
    shape = Types().read(kind)
    assert shape.schema == schema
    for given, wanted in fits.items():
        found = shape.decode(msgspec.json.encode(given))
        assert found == wanted
        assert type(found) is type(wanted)


def test_true_is_not_one() -> None:
    with pytest.raises(ValueError, match=r"True|bool"):
        Types().read(Literal[True]).decode(b"1")


def written(kind: Any) -> Schema:
    """Write one class."""
    writer = Types()
    name = writer.write(msgspec.inspect.type_info(kind))["$ref"].removeprefix("#/$defs/")
    return writer.defs[name]


@dataclasses.dataclass
class Odd:
    here: int
    shared: ClassVar[int] = 3


@attrs.define
class Plain:
    x: int = 3
    made: dict[str, int] = attrs.field(factory=lambda: {"a": 1})


class Old(TypedDict, total=False):
    a: int
    b: typing_extensions.Required[str]


class Newer(typing_extensions.TypedDict):
    a: int
    b: typing_extensions.NotRequired[Literal["z", "y"]]


@pytest.mark.parametrize(
    ("kind", "names", "required"),
    [
        (Odd, ["here"], ["here"]),
        (Plain, ["x", "made"], None),
        (Old, ["a", "b"], ["b"]),
        (Newer, ["a", "b"], ["a"]),
    ],
)
def test_fields(kind: Any, names: list[str], required: list[str] | None) -> None:
    schema = written(kind)
    assert sorted(schema["properties"]) == sorted(names)
    assert schema.get("required") == required


def test_words_beside_fields_are_kept() -> None:
    @dataclasses.dataclass
    class Said:
        plain: Annotated[int, "Plain."]
        other: Annotated[list[Annotated[str, pydantic.Field(description="Item.")]], pydantic.Field(title="Other")]
        order: Literal["b", "a"]

    assert written(Said)["properties"] == {
        "plain": {"type": "integer", "description": "Plain."},
        "other": {"type": "array", "items": {"type": "string", "description": "Item."}, "title": "Other"},
        "order": {"type": "string", "enum": ["b", "a"]},
    }


def test_a_field_may_be_any_iterable() -> None:
    @dataclasses.dataclass
    class Endless:
        items: Iterable[int]

    assert written(Endless)["properties"] == {"items": {"type": "array", "items": {"type": "integer"}}}
    shape = Types().read(Endless)
    assert shape.decode(b'{"items":[1]}') == Endless([1])
    with pytest.raises(ValueError, match="Expected `int`"):
        shape.decode(b'{"items":["x"]}')


@dataclasses.dataclass
class Limits:
    sizes: list[Annotated[int, pydantic.Field(ge=3)]]


def test_limits_of_fields_that_msgspec_would_not_check(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match=r"^limits of its fields need `msgspec.Meta`, or pydantic"):
        written(Limits)
    assert Types().read(Limits).schema == {"$ref": "#/$defs/Limits"}
    monkeypatch.delitem(sys.modules, "pydantic")
    with pytest.raises(TypeError, match=r"^Limits cannot be expressed in JSON Schema: limits of its fields need"):
        Types().read(Limits)


def test_classes_of_pydantic_are_left_to_it() -> None:
    @pydantic.dataclasses.dataclass
    class Stored:
        size: int

    with pytest.raises(TypeError):
        written(Stored)

    class Order(msgspec.Struct):
        to: Address

    assert written(Order)["properties"] == {"to": {"$ref": "#/$defs/Address"}}
    shape = Types().read(Order)
    assert shape.decode(b'{"to":{"street":"s","number":1}}') == Order(Address(street="s", number=1))


def test_classes_that_json_has_nothing_like() -> None:
    with pytest.raises(NotJSON, match=r"^complex cannot be expressed in JSON Schema$"):
        Types().write(msgspec.inspect.type_info(complex))
    with pytest.raises(NotJSON):
        Types().read(list[Literal[Color.RED]])


@dataclasses.dataclass
class Lost:
    missing: "Missing"


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(TypeError, match=r"^Lost: the name 'Missing' in its annotations is not known in its module"):
        Types().read(Lost)


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        (Annotated[int, msgspec.Meta(ge=1, lt=9)], {"minimum": 1, "exclusiveMaximum": 9}),
        (Annotated[float, msgspec.Meta(gt=1, le=9)], {"exclusiveMinimum": 1, "maximum": 9}),
        (Annotated[int, msgspec.Meta(multiple_of=3)], {"multipleOf": 3}),
        (Annotated[str, msgspec.Meta(min_length=2, pattern="^a")], {"minLength": 2, "pattern": "^a"}),
        (Annotated[bytes, msgspec.Meta(max_length=2)], {"maxLength": 4}),
        (Annotated[list[int], msgspec.Meta(max_length=1)], {"maxItems": 1}),
        (Annotated[dict[str, int], msgspec.Meta(min_length=1)], {"minProperties": 1}),
    ],
)
def test_limits(kind: Any, limits: dict[str, Any]) -> None:
    schema = Types().read(kind).schema
    assert {key: value for key, value in schema.items() if key in limits} == limits


def test_keys_leave_no_trace_in_other_schemas() -> None:
    types = Types("serialization")
    types.read(dict[Annotated[str, "Name."], pathlib.Path])
    assert types.read(str).schema == {"type": "string"}


@pytest.mark.parametrize(
    ("default", "schema"),
    [
        (None, {"default": None}),
        (Color.RED, {"default": "red"}),
        (pathlib.Path("a"), {"default": "a"}),
        (float("inf"), {}),
        (object(), {}),
        (msgspec.NODEFAULT, {}),
    ],
)
def test_defaults_are_shown_if_json_has_them(default: Any, schema: Schema) -> None:
    assert with_default({}, default) == schema
