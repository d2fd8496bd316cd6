"""Whatever is said beside a type reaches msgspec, or pydantic."""

from collections.abc import Iterable
from typing import Annotated, Any, Generic, Literal, Required, TypeVar

import annotated_types as at
import pydantic
import pytest
from msgspec import Meta
from typing_extensions import Doc, TypeAliasType

from splice.schema.annotations import (
    Header,
    Notes,
    for_msgspec,
    for_pydantic,
    is_pydantic_field,
    name_of,
    notes,
)

T = TypeVar("T")
Alias = TypeAliasType("Alias", list[Annotated[int, at.Ge(1)]])
AT_LEAST_ONE = Annotated[int, Meta(ge=1)]
ORDERED = Annotated[Literal["b", "a"], Meta(extra_json_schema={"enum": ["b", "a"]})]


class Box(Generic[T]):
    pass


@pytest.mark.parametrize(
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
