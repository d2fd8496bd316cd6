"""Classes that are objects in JSON: what is known of them."""

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypedDict, TypeVar

import attrs
import pytest
import typing_extensions
from msgspec import UNSET

from schema.models import Box, Car, Color, Limited, LimitedPair, Movie, Pair, Point, Row, User
from splice.schema.markers import conversion, marker
from splice.schema.problems import Refused
from splice.schema.records import Field, record, shadow

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]  # it is meant not to exist

T = TypeVar("T")


@dataclasses.dataclass
class Odd:
    here: int
    shared: ClassVar[int] = 3


@dataclasses.dataclass
class Lost:
    missing: "Missing"


@attrs.define
class Plain:
    x: int = 3
    made: dict[str, int] = attrs.field(factory=lambda: {"a": 1})


class Old(TypedDict, total=False):
    a: int
    b: typing_extensions.Required[str]


class Newer(typing_extensions.TypedDict):
    a: int
    b: typing_extensions.NotRequired[str]


class Pairs(dict[str, T], Generic[T]):
    pass


def described(kind: Any) -> list[tuple[str, str, bool, Any]]:
    found = record(kind)
    assert found is not None
    return [(field.name, field.key, field.required, field.default) for field in found.fields]


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Point, [("x", "x", True, UNSET), ("y", "y", False, 0.5), ("tags", "tags", False, [])]),
        (Limited, [("size", "size", True, UNSET), ("name", "name", False, "x")]),
        (Odd, [("here", "here", True, UNSET)]),
        (User, [("user_name", "userName", True, UNSET), ("log_count", "logCount", False, 0)]),
        (Car, [("wheels", "wheels", True, UNSET), ("_owner", "_owner", False, "me"), ("seats", "seats", False, [])]),
        (Plain, [("x", "x", False, 3), ("made", "made", False, UNSET)]),
        (Movie, [("title", "title", True, UNSET), ("year", "year", False, UNSET), ("rating", "rating", False, UNSET)]),
        (Old, [("a", "a", False, UNSET), ("b", "b", True, UNSET)]),
        (Newer, [("a", "a", True, UNSET), ("b", "b", False, UNSET)]),
        (Pair, [("first", "first", True, UNSET), ("second", "second", False, "b")]),
        (Row, [("a", "a", True, UNSET), ("b", "b", False, "x")]),
    ],
)
def test_fields(kind: Any, fields: list[tuple[str, str, bool, Any]]) -> None:
    assert described(kind) == fields


def test_a_generic_class_knows_its_arguments() -> None:
    found = record(Box[int])
    assert found is not None
    assert [field.type for field in found.fields] == [int, list[int]]
    bare = record(Box)
    assert bare is not None
    assert isinstance(bare.fields[0].type, TypeVar)


@pytest.mark.parametrize("kind", [int, Color, dict[str, int], Pairs, 3])
def test_what_is_no_record(kind: Any) -> None:
    assert record(kind) is None


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(TypeError, match=r"^Lost: the name 'Missing' in its annotations is not known in its module$"):
        record(Lost)


def test_a_shadow_builds_the_class() -> None:
    limited, pair, car, user = record(Limited), record(LimitedPair), record(Car), record(User)
    assert limited is not None
    assert pair is not None
    assert car is not None
    assert user is not None
    Shout = marker("Shout", str.upper)  # noqa: N806 - it stands for a type
    assert shadow(limited, [int, Shout])({"size": 1, "other": 2}) == Limited(1)
    assert shadow(limited, [int, Shout])({"size": 1, "name": "a"}) == Limited(1, "A")
    assert shadow(pair, [int, Shout])([3]) == LimitedPair(3)
    assert shadow(car, [int, Shout, list[str]])({"wheels": 4, "_owner": "me"}) == Car(4, "ME")
    with pytest.raises(Refused) as caught:
        shadow(user, [str, int])({"userName": "ab", "more": 1})
    assert caught.value.problems[0].path == ("more",)
    with pytest.raises(ValueError, match="must be >= 3"):
        shadow(car, [int, Shout, list[str]])({"wheels": 1})
    with pytest.raises(Refused, match="must be >= 3"):
        conversion(marker("Car", shadow(car, [int, Shout, list[str]])))({"wheels": 1})


def test_a_field_says_enough() -> None:
    assert Field("a", int, "a", "a").required
