"""Whatever is said beside a type reaches msgspec, or pydantic, which takes the types that only it knows."""

import pathlib
import sys
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Generic, Literal, Required, TypeVar

import annotated_types as at
import msgspec
import pydantic
import pytest
from msgspec import Meta
from typing_extensions import Doc, TypeAliasType

from schema.models import Address, Limited, Person, Point, Stored, User
from splice.schema.annotations import (
    Header,
    Notes,
    decode_hook,
    encode_hook,
    for_msgspec,
    for_pydantic,
    is_path,
    is_pydantic,
    is_pydantic_field,
    name_of,
    notes,
    pydantic_schema,
    strict_adapter,
)
from support.tables import rows

T = TypeVar("T")
Alias = TypeAliasType("Alias", list[Annotated[int, at.Ge(1)]])
AT_LEAST_ONE = Annotated[int, Meta(ge=1)]
ORDERED = Annotated[Literal["b", "a"], Meta(extra_json_schema={"enum": ["b", "a"]})]


class Box(Generic[T]):
    pass


@rows(
    ("metadata", "expected"),
    [
        ([], Notes()),
        (["about"], Notes({"description": "about"})),
        ([Doc("about")], Notes({"description": "about"})),
        ([Header("Region")], Notes({"x-mcp-header": "Region"})),
        (
            [Meta(ge=1, title="T", description="d", examples=[2], extra_json_schema={"x": 1})],
            Notes({"title": "T", "description": "d", "examples": [2], "x": 1}, {"ge": 1}),
        ),
        ([at.Ge(1), at.Lt(5)], Notes(limits={"ge": 1, "lt": 5})),
        ([at.Interval(gt=0, le=9)], Notes(limits={"gt": 0, "le": 9})),
        ([at.Len(1, 3)], Notes(limits={"min_length": 1, "max_length": 3})),
        ([at.MultipleOf(2)], Notes(limits={"multiple_of": 2})),
        ([at.Predicate(str.islower), object(), 3], Notes()),
        (
            [pydantic.Field(ge=1, description="d", json_schema_extra={"x": 1})],
            Notes({"description": "d", "x": 1}, {"ge": 1}),
        ),
        ([pydantic.Field(json_schema_extra=lambda _: None)], Notes()),
    ],
)
def test_metadata_is_read(metadata: list[Any], expected: Notes) -> None:
    assert notes(metadata) == expected


@pytest.mark.parametrize(
    "said", [pydantic.Field(discriminator="kind"), pydantic.Field(max_digits=3), pydantic.BeforeValidator(str)]
)
def test_what_only_pydantic_can_do(said: Any) -> None:
    with pytest.raises(TypeError, match=r"needs pydantic, which is not imported$"):
        notes([said])


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (int, int),
        (list[int], list[int]),
        (Annotated[int, at.Ge(1)], AT_LEAST_ONE),
        (dict[str, Annotated[int, pydantic.Field(ge=1)]], dict[str, AT_LEAST_ONE]),
        (Annotated[int, at.Ge(1)] | None, AT_LEAST_ONE | None),
        (
            Annotated[str, "About.", Header("A")],
            Annotated[str, Meta(extra_json_schema={"description": "About.", "x-mcp-header": "A"})],
        ),
        (Literal["b", "a"], ORDERED),
        (Required[Literal["b", "a"]], ORDERED),
        (Iterable, list),
        (Iterable[int], list[int]),
        (Alias, list[AT_LEAST_ONE]),
    ],
)
def test_annotations_for_msgspec(kind: Any, wanted: Any) -> None:
    assert for_msgspec(kind) == wanted


@pytest.mark.parametrize(
    "kind",
    [
        Annotated[str, pydantic.AfterValidator(str)],
        list[Annotated[int, at.Ge("x")]],
        Annotated[int, at.Ge(1), at.Gt(2)],
    ],
)
def test_annotations_that_are_beyond_msgspec(kind: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        for_msgspec(kind)


def test_annotations_for_pydantic() -> None:
    after = pydantic.AfterValidator(str.upper)
    kind = for_pydantic(list[Annotated[str, Meta(min_length=2), "About.", after]], pydantic.Field)
    adapter = pydantic.TypeAdapter(kind)
    assert adapter.json_schema()["items"] == {"type": "string", "minLength": 2, "description": "About."}
    assert adapter.validate_python(["ab"]) == ["AB"]
    with pytest.raises(ValueError, match="at least 2"):
        adapter.validate_python(["a"])


def test_pydantic_fields_are_known_by_their_looks() -> None:
    assert is_pydantic_field(pydantic.Field())
    assert not is_pydantic_field(Annotated)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (int, "int"),
        (Box[int], "Box_int"),
        (Box[list[Box[str]]], "Box_list_Box_str"),
        (Any, "Any"),
        (int | str, "int | str"),
        (Annotated[int, 3], "int"),
    ],
)
def test_names(kind: Any, name: str) -> None:
    assert name_of(kind) == name


UNWRITTEN: Any = Callable[[int], int]


def test_without_pydantic_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pydantic")
    with pytest.raises(TypeError, match=r"^it might be known to pydantic, which is not imported$"):
        strict_adapter(Limited)


@pytest.mark.parametrize("kind", [User | Point, list[User]])
def test_types_that_pydantic_does_not_know(kind: Any) -> None:
    with pytest.raises(RuntimeError):
        strict_adapter(kind)


def test_types_that_json_does_not_know() -> None:
    with pytest.raises(RuntimeError):
        pydantic_schema(strict_adapter(UNWRITTEN), "validation", "")


def test_dataclasses_are_strict_and_models_choose_for_themselves() -> None:
    validate = strict_adapter(Limited | Address).validate_json
    assert validate('{"size":3}') == Limited(3)
    assert validate('{"street":"s","number":"3"}') == Address(street="s", number=3)
    with pytest.raises(ValueError, match="valid integer"):
        validate('{"size":"3"}')


def test_bytes_are_base64_as_everywhere() -> None:
    assert strict_adapter(list[bytes]).validate_json('["aGk="]') == [b"hi"]


def test_definitions_get_a_suffix() -> None:
    schema, defs = pydantic_schema(strict_adapter(list[Address]), "validation", "2")
    assert schema == {"type": "array", "items": {"$ref": "#/$defs/Address2"}}
    assert list(defs) == ["Address2"]


def test_serialization_has_a_schema_of_its_own() -> None:
    class Computed(pydantic.BaseModel):
        side: int

        @pydantic.computed_field
        def area(self) -> int:
            return self.side**2

    _, defs = pydantic_schema(strict_adapter(Computed), "serialization", "")
    assert defs["Computed"]["required"] == ["side", "area"]


class Text(str):
    __slots__ = ()


class Number(float):
    pass


def test_classes_of_pydantic_are_known_by_their_methods() -> None:
    assert all(map(is_pydantic, (Address, Stored, pydantic.HttpUrl)))
    assert not is_pydantic(int)
    assert is_path(pathlib.Path)
    assert not is_path(str)


def test_decoding() -> None:
    assert decode_hook(Address, {"street": "s", "number": 1}) == Address(street="s", number=1)
    assert decode_hook(pathlib.Path, "a") == pathlib.Path("a")
    assert decode_hook(object, [1]) == [1]
    assert decode_hook(Iterable[bytes], ["aGk="]) == [b"hi"]
    with pytest.raises(ValueError, match="Expected `str`"):
        decode_hook(pathlib.Path, 3)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Address(street="s", number=1), {"street": "s", "number": 1}),
        (
            [Person(home=Address(street="s", number=1), shoeSize=40)],
            [{"home": {"street": "s", "number": 1}, "friend": None, "shoeSize": 40}],
        ),
        (pathlib.Path("a/b"), "a/b"),
        (Text("t"), "t"),
        (Number(1.5), 1.5),
        (pydantic.HttpUrl("http://a/"), "http://a/"),
        ({1: {2}}, {"1": [2]}),
        (b"hi", "aGk="),
    ],
)
def test_everything_is_written_as_json(value: Any, plain: Any) -> None:
    assert msgspec.to_builtins(value, str_keys=True, enc_hook=encode_hook) == plain


def test_values_that_json_does_not_have() -> None:
    with pytest.raises(TypeError, match=r"^object cannot be written as JSON$"):
        encode_hook(object())
    assert msgspec.json.encode(pathlib.Path("d"), enc_hook=encode_hook) == b'"d"'


def test_titles_that_only_repeat_a_name_are_left_out() -> None:
    class Plain(pydantic.BaseModel):
        a_b: int
        titled: int = pydantic.Field(title="Mine", default=3)

    class Named(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(title="A name")

    _, defs = pydantic_schema(strict_adapter(tuple[Plain, Named]), "validation", "")
    assert defs["Plain"]["properties"] == {
        "a_b": {"type": "integer"},
        "titled": {"type": "integer", "title": "Mine", "default": 3},
    }
    assert "title" not in defs["Plain"]
    assert defs["Named"]["title"] == "A name"
