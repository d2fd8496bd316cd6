"""Errors are put in JSON's words, with the place."""

from typing import Any

import msgspec
import pytest

from splice.schema.problems import Problem, Refused, problems_of, problems_of_foreign


@pytest.mark.parametrize(
    ("message", "path", "text"),
    [
        ("Expected `int`, got `str`", (), "expected integer"),
        (
            "Expected `int | str | null`, got `array` - at `$.a[0].b`",
            ("a", 0, "b"),
            "expected integer or string or null",
        ),
        ("Expected `float` >= 1.5 - at `$[...].x`", ("[...]", "x"), "expected number >= 1.5"),
        ("Expected `str` matching regex '^a' - at `$.a`", ("a",), "expected string matching regex '^a'"),
        ("Expected `int` that's a multiple of 2", (), "expected integer, a multiple of 2"),
        ("Expected `int`, got `str` - at `key` in `$.a`", ("a",), "expected integer as a key"),
        ("Expected `array` of length 2, got 3", (), "expected array of length 2, got 3"),
        ("Invalid UUID - at `$.id`", ("id",), "expected a UUID"),
        ("Invalid RFC3339 encoded date", (), "expected a date such as 2026-01-31"),
        ("Object missing required field `b` - at `$.a`", ("a", "b"), "required, but missing"),
        ("Object contains unknown field `b`", ("b",), "unknown member"),
        ("too bad", (), "too bad"),
    ],
)
def test_what_msgspec_says(message: str, path: tuple[str | int, ...], text: str) -> None:
    assert problems_of(msgspec.ValidationError(message)) == [Problem(path, text)]


def test_a_refusal_keeps_its_problems() -> None:
    refused = Refused(Problem(("x",), "bad", 1), Problem((), "worse"))
    assert str(refused) == "bad; worse"
    assert problems_of(refused) == list(refused.problems)
    outer = msgspec.ValidationError("bad; worse - at `$.a`")
    outer.__cause__ = refused
    assert problems_of(outer) == [Problem(("a", "x"), "bad", 1), Problem(("a",), "worse")]


class ForeignError(ValueError):
    def errors(self) -> list[dict[str, Any]]:
        return [
            {"type": "missing", "loc": ("a", 0), "msg": "Field required", "input": {}},
            {"type": "int_parsing", "loc": ("b",), "msg": "Input should be a valid integer", "input": "x"},
            {"type": "value_error", "loc": (), "msg": "Value error, too odd", "input": 3},
            {"type": "ge", "loc": ("c",), "msg": "Input should be greater than 3", "input": 1},
        ]


def test_what_pydantic_says() -> None:
    assert problems_of_foreign(ForeignError()) == [
        Problem(("a", 0), "required, but missing"),
        Problem(("b",), "expected integer", "x"),
        Problem((), "too odd", 3),
        Problem(("c",), "expected greater than 3", 1),
    ]
