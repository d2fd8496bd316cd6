"""The schema says exactly what decoding does: a value fits one if and only if it fits the other."""

import datetime as dt
import functools
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Literal

import annotated_types as at
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schema.models import Box, Cat, Color, Dog, Limited, LimitedTree, Movie, Pair, Point, Row, User
from splice.schema import functions
from splice.schema.functions import dump
from splice.schema.schemas import BadArguments
from splice.schema.validate import Mismatch, validator
from support.tables import rows

Signature = functools.partial(functions.Signature, skip=lambda _: False, opaque=())

KINDS: list[Any] = [
    *(int, float, str, bool, None, Any, list, dict, list[int], dict[str, float], tuple[int, ...], tuple[int, str]),
    *(int | None, int | str, list[int] | None, float | str | None, bool | int, dict[str, int] | list[str]),
    *(Literal["a", "b"], Literal[1, 2], Literal["a", 1] | None, Literal[True], Color, dict[Literal["a"], int]),
    *(Annotated[int, msgspec.Meta(ge=1, le=5)], Annotated[float, at.Gt(1.5)], Annotated[int | None, at.Lt(3)]),
    *(Annotated[str, at.Len(1, 2)], Annotated[str, msgspec.Meta(pattern="^a")], Annotated[list[int], at.MinLen(2)]),
    *(Annotated[dict[str, int], at.MaxLen(1)], Annotated[int, at.MultipleOf(2)], list[Annotated[int, at.Ge(1)]]),
    *(
        Point,
        Movie,
        Pair,
        Row,
        User,
        Limited,
        LimitedTree,
        Box[int],
        Point | None,
        Cat | Dog,
        list[Movie],
        Point | Movie,
    ),
]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.sampled_from([0.5, 1.0, 1.5, 2.5, -1.0])
    | st.sampled_from("abx")
)
NAMES = st.sampled_from(
    [
        "a",
        "b",
        "x",
        "y",
        "tags",
        "title",
        "year",
        "rating",
        "userName",
        "logCount",
        "size",
        "name",
        "content",
        "more",
        "type",
        "legs",
        "lives",
        "branches",
        "tree",
    ]
)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["red", "cat", "dog", "ab"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
NEAR: dict[Any, st.SearchStrategy[Any]] = {
    Point: st.fixed_dictionaries({"x": SCALARS}, optional={"y": SCALARS, "tags": st.lists(SCALARS, max_size=2)}),
    Movie: st.fixed_dictionaries({"title": SCALARS}, optional={"year": SCALARS, "rating": SCALARS}),
    User: st.fixed_dictionaries({"userName": SCALARS | st.just("ab")}, optional={"logCount": SCALARS, "x": SCALARS}),
    Limited: st.fixed_dictionaries({"size": SCALARS}, optional={"name": SCALARS}),
    LimitedTree: st.fixed_dictionaries(
        {"size": st.integers(2, 4)},
        optional={
            "branches": st.lists(st.fixed_dictionaries({"tree": st.none() | st.fixed_dictionaries({"size": SCALARS})}))
        },
    ),
    Box[int]: st.fixed_dictionaries({"content": SCALARS, "more": st.lists(SCALARS, max_size=2)}),
    Cat | Dog: st.fixed_dictionaries(
        {"type": st.sampled_from(["cat", "dog", "cow"])}, optional={"legs": SCALARS, "lives": SCALARS}
    ),
}


def taking(kind: Any) -> functions.Signature:
    def take(value: Any) -> None:
        pass

    take.__annotations__["value"] = kind
    return Signature(take)


def fits(check: Callable[[Any], object], value: Any) -> bool:
    try:
        check(value)
    except (BadArguments, Mismatch):
        return False
    return True


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=20)
@given(data=st.data())
def test_schema_and_decoding_agree(kind: Any, data: st.DataObject) -> None:
    signature = taking(kind)
    value = data.draw(NEAR[kind] | VALUES if kind in NEAR else VALUES)
    arguments = {"value": value}
    decodes = fits(signature.arguments, msgspec.json.encode(arguments))
    validates = fits(validator(signature.input_schema).check, arguments)
    if kind == Cat | Dog:  # decoding takes a tag that is left out for the first one that fits
        assert decodes or not validates
    else:
        assert decodes == validates, signature.input_schema


@pytest.mark.parametrize(
    "kind", [Point, Movie, Pair, User, Limited, Box[int], dict[str, Color], list[Row], dt.date, uuid.UUID]
)
def test_results_fit_their_schema(kind: Any) -> None:
    results: dict[Any, Any] = {
        Point: Point(1, tags=["a"]),
        Movie: {"title": "M", "year": 3},
        Pair: Pair(1),
        User: User("ab"),
        Limited: Limited(3),
        Box[int]: Box(1, [2]),
        dict[str, Color]: {"a": Color.RED},
        list[Row]: [Row(1)],
        dt.date: dt.date(2026, 1, 2),
        uuid.UUID: uuid.UUID(int=1),
    }

    def give() -> Any:
        return results[kind]

    give.__annotations__["return"] = kind
    signature = Signature(give)
    assert signature.output_schema is not None
    validator(signature.output_schema).check(dump(give()))


@rows("kind", KINDS)
def test_schemas_are_valid(kind: Any) -> None:
    validator(taking(kind).input_schema)
