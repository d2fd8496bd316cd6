"""Which results are described, and how."""

from typing import Annotated, Any, Literal, Union

import pytest

from schema.models import Address, Person, Point, Tree
from splice.schema.results import output_schema


class Content:
    pass


class Image(Content):
    pass


OPAQUE = (Content,)


@pytest.mark.parametrize(
    "kind",
    [
        *(None, type(None), Any, object, str, str | None, Annotated[str, "Words."], complex, list, list[Any], tuple),
        *(Content, Image, list[Image], tuple[Image, ...], int | Image, Union[str, list[Image]], Annotated[Image, "x"]),  # noqa: UP007 - it is what is tested
    ],
)
def test_results_without_a_schema(kind: Any) -> None:
    assert output_schema(kind, OPAQUE) is None


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (int, {"type": "integer"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (dict, {"type": "object"}),
        (dict[str, Any], {"type": "object"}),
        (Literal["a"], {"type": "string", "enum": ["a"]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    ],
)
def test_results_with_a_schema(kind: Any, schema: dict[str, Any]) -> None:
    assert output_schema(kind, OPAQUE) == schema


def test_the_definition_of_the_result_stands_at_the_root() -> None:
    schema = output_schema(Point, ())
    assert schema is not None
    assert schema["type"] == "object"
    assert "$defs" not in schema
    described = output_schema(Annotated[Point, "Where."], ())
    assert described is not None
    assert described["description"] == "Where."
    for recursive in (Tree, Person):
        schema = output_schema(recursive, ())
        assert schema is not None
        assert schema["type"] == "object"
        assert schema["$defs"][recursive.__name__]["properties"] == schema["properties"]
    addresses = output_schema(list[Address], ())
    assert addresses is not None
    assert addresses["items"] == {"$ref": "#/$defs/Address"}
