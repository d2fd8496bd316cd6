"""Limits hold for every type that can be compared, in the schema and in decoding."""

import datetime as dt
import decimal
from typing import Any

import pytest

from splice.schema.limits import limited, native
from splice.schema.markers import conversion
from splice.schema.problems import Refused
from splice.schema.shape import Shape
from splice.schema.types import Types


@pytest.mark.parametrize(
    ("kind", "limits", "schema", "good", "bad", "message"),
    [
        (int, {"ge": 1, "lt": 9}, {"minimum": 1, "exclusiveMaximum": 9}, 1, 0, "expected integer >= 1"),
        (float, {"gt": 1, "le": 9}, {"exclusiveMinimum": 1, "maximum": 9}, 1.5, 1, "expected number > 1.0"),
        (int, {"multiple_of": 3}, {"multipleOf": 3}, 6, 4, "expected integer, a multiple of 3"),
        (
            str,
            {"min_length": 2, "pattern": "^a"},
            {"minLength": 2, "pattern": "^a"},
            "ab",
            "a",
            "expected string of length >= 2",
        ),
        (bytes, {"max_length": 2}, {"maxLength": 4}, "YWI=", "YWJj", "expected bytes of length <= 2"),
        (list[int], {"max_length": 1}, {"maxItems": 1}, [1], [1, 2], "expected array of length <= 1"),
        (dict[str, int], {"min_length": 1}, {"minProperties": 1}, {"a": 1}, {}, "expected object of length >= 1"),
        (decimal.Decimal, {"ge": 1}, {"minimum": 1}, "1", "0.5", "expected a value >= 1"),
        (decimal.Decimal, {"multiple_of": 2}, {"multipleOf": 2}, "4", "3", "expected a value a multiple of 2"),
        (dt.date, {"gt": dt.date(2026, 1, 1)}, {}, "2026-01-02", "2026-01-01", "expected a value > 2026-01-01"),
        (dt.date, {"lt": dt.date(2026, 1, 1)}, {}, "2025-01-02", "2026-01-01", "expected a value < 2026-01-01"),
        (dt.date, {"le": dt.date(2026, 1, 1)}, {}, "2026-01-01", "2026-01-02", "expected a value <= 2026-01-01"),
    ],
)
def test_limits(kind: Any, limits: dict[str, Any], schema: dict[str, Any], good: Any, bad: Any, message: str) -> None:
    plain = Types().read(kind)
    shape = limited(plain, limits)
    assert {key: value for key, value in shape.schema.items() if key not in plain.schema} == schema
    conversion(shape.wire)(good)
    with pytest.raises(Refused) as caught:
        conversion(shape.wire)(bad)
    assert str(caught.value) == message


def test_lengths_are_checked_when_msgspec_cannot() -> None:
    marked = Types().read(list[int] | set[int])
    shape = limited(marked, {"min_length": 1, "max_length": 2})
    assert conversion(shape.wire)([1]) == [1]
    for bad in ([], [1, 2, 3]):
        with pytest.raises(Refused, match="expected a value of length"):
            conversion(shape.wire)(bad)


def test_limits_that_fit_nothing() -> None:
    with pytest.raises(TypeError, match=r"^pattern does not fit the type$"):
        limited(Shape(int, {"type": "integer"}), {"pattern": "a"})
    assert native(Shape(str, {"type": "string"}), {"ge": 1}) is None
    assert native(Shape(str, {"type": "string"}), {"min_length": -1}) is None
