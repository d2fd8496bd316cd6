"""What stands beside a type is read whoever wrote it."""

from typing import Annotated, Any

import annotated_types as at
import pydantic
import pytest
from msgspec import Meta
from typing_extensions import Doc

from splice.schema.fields import Header, Notes, is_pydantic_field, notes


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ([], Notes()),
        (["about"], Notes(description="about")),
        ([Doc("about")], Notes(description="about")),
        ([Header("Region")], Notes(header="Region")),
        (
            [Meta(ge=1, title="T", description="d", examples=[2], extra_json_schema={"x": 1})],
            Notes(title="T", description="d", examples=[2], extra={"x": 1}, limits={"ge": 1}),
        ),
        ([at.Ge(1), at.Lt(5)], Notes(limits={"ge": 1, "lt": 5}, by_msgspec=False)),
        ([at.Interval(gt=0, le=9)], Notes(limits={"gt": 0, "le": 9}, by_msgspec=False)),
        ([at.Len(1, 3)], Notes(limits={"min_length": 1, "max_length": 3}, by_msgspec=False)),
        ([at.MultipleOf(2)], Notes(limits={"multiple_of": 2}, by_msgspec=False)),
        ([at.Predicate(str.islower), object(), 3], Notes()),
        (
            [pydantic.Field(ge=1, pattern="^a", strict=True, description="d", json_schema_extra={"x": 1})],
            Notes(description="d", limits={"ge": 1, "pattern": "^a"}, extra={"x": 1}, by_msgspec=False),
        ),
        ([pydantic.Field(json_schema_extra=lambda _: None)], Notes()),
        ([pydantic.Field(discriminator="kind")], Notes(needs_pydantic=True)),
        ([pydantic.Field(max_digits=3)], Notes(needs_pydantic=True)),
        ([pydantic.BeforeValidator(str)], Notes(needs_pydantic=True)),
        ([pydantic.Strict()], Notes()),
    ],
)
def test_metadata_is_read(metadata: list[Any], expected: Notes) -> None:
    assert notes(metadata) == expected


def test_what_a_schema_repeats() -> None:
    assert notes(["about", Header("Region"), Meta(title="T", extra_json_schema={"x": 1})]).schema() == {
        "title": "T",
        "description": "about",
        "x-mcp-header": "Region",
        "x": 1,
    }


def test_pydantic_fields_are_known_by_their_looks() -> None:
    assert is_pydantic_field(pydantic.Field())
    assert not is_pydantic_field(Annotated)


@pytest.mark.parametrize("name", ["", "a b", "ü", "a\r\nb", "a:b"])
def test_a_header_name_is_a_token(name: str) -> None:
    with pytest.raises(ValueError, match="can be in a header name"):
        Header(name)
