"""Types have names that people and `$defs` can bear."""

from typing import Any, Generic, TypeVar

import pytest

from splice.schema.shape import Shape, decodes, name_of

T = TypeVar("T")


class Box(Generic[T]):
    pass


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (int, "int"),
        (Box[int], "Box_int"),
        (Box[list[Box[str]]], "Box_list_Box_str"),
        (Any, "Any"),
        (int | str, "int | str"),
    ],
)
def test_names(kind: Any, name: str) -> None:
    assert name_of(kind) == name


def test_what_msgspec_decodes() -> None:
    assert decodes(int | str)
    assert not decodes(list[int] | set[int])


def test_null() -> None:
    assert Shape(type(None), {}).is_null
    assert not Shape(int, {}).is_null
