"""What does not fit is told in a line, in JSON's words."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from splice.schema.markers import decode_hook
from splice.schema.problems import Problem
from splice.schema.refusals import bad_arguments, explained, line
from splice.schema.types import Types


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem((), "expected object", 3), "arguments: expected object, got 3"),
        (Problem(("a", 0, "b", "[...]"), "bad", None), "a[0].b[...]: bad, got null"),
        (Problem((0,), "bad"), "[0]: bad"),
        (Problem(("a",), "bad", "x" * 200), f'a: bad, got "{"x" * 79}...'),
        (Problem(("a",), "bad", 1j), "a: bad, got 1j"),
        (Problem(("a",), "bad", UNSET), "a: bad"),
    ],
)
def test_a_line(problem: Problem, text: str) -> None:
    assert line(problem) == text


def test_there_are_only_so_many_lines() -> None:
    text = str(bad_arguments(Problem((str(number),), "bad") for number in range(15)))
    assert text.splitlines()[-2:] == ["9: bad", "... and 5 more"]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("dict[str, list[Literal['a', 1]]]", {"k": ["x"]}, [Problem(("[...]", 0), 'expected one of "a", 1')]),
        ("tuple[Literal['a'], Literal['b']]", ["a", "x"], [Problem((1,), 'expected one of "b"', "x")]),
        ("list[Literal['a', 'b'] | None]", ["x"], [Problem((0,), 'expected one of "a", "b"', "x")]),
        ("list[Movie]", [{"title": 1}], [Problem((0, "title"), "expected string", 1)]),
        ("list[Movie]", [{}], [Problem((0, "title"), "required, but missing")]),
        ("list[Paint]", [{"color": "x"}], [Problem((0, "color"), 'expected one of "red", "blue"', "x")]),
        ("list[User]", [{"x": 1}], [Problem((0, "x"), "unknown member")]),
        ("dict[Literal['a'], int]", {"b": 1}, [Problem((), "not one of the values allowed", {"b": 1})]),
    ],
)
def test_explaining(kind: str, value: Any, expected: list[Problem]) -> None:
    from typing import Literal

    from schema.models import Movie, Paint, User

    types = Types()
    shape = types.read(eval(kind, {"Literal": Literal, "Movie": Movie, "Paint": Paint, "User": User}))
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(msgspec.json.encode(value), type=shape.wire, dec_hook=decode_hook)
    assert explained(caught.value, value, shape.schema, types.defs) == expected
