"""Enums and literals, of whatever values."""

import enum
from typing import Any, Literal

import pytest

from splice.schema.markers import conversion
from splice.schema.problems import Refused
from splice.schema.types import Types


class Color(enum.Enum):
    """What to paint with.

    In any light.
    """

    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Mixed(enum.Enum):
    ONE = 1
    YES = True
    TEXT = "1"
    HALF = 0.5
    NOTHING = None


class Pair(enum.Enum):
    A = (1, 2)


class Bits(enum.Flag):
    A = 1
    B = 2


@pytest.mark.parametrize(
    ("kind", "schema", "fits"),
    [
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, {"a": "a"}),
        (Literal[3, 1], {"type": "integer", "enum": [3, 1]}, {1: 1}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}, {"a": "a", 1: 1, None: None}),  # noqa: PYI061 - it is what is tested
        (Literal[True], {"type": "boolean", "enum": [True]}, {True: True}),
        (Literal[Color.RED], {"type": "string", "enum": ["red"]}, {"red": Color.RED}),
        (
            Color,
            {"type": "string", "enum": ["red", "blue"], "description": "What to paint with.\n\nIn any light."},
            {"red": Color.RED},
        ),
        (Level, {"type": "integer", "enum": [1, 5]}, {5: Level.HIGH}),
        (Mixed, {"enum": [1, "1", 0.5, None]}, {1: Mixed.ONE, "1": Mixed.TEXT, 0.5: Mixed.HALF, None: Mixed.NOTHING}),
        (Bits, {"type": "integer"}, {3: Bits.A | Bits.B}),
    ],
)
def test_choices(kind: Any, schema: dict[str, Any], fits: dict[Any, Any]) -> None:
    shape = Types().read(kind)
    assert shape.schema == schema
    convert = conversion(shape.wire)
    for given, wanted in fits.items():
        found = convert(given)
        assert found == wanted
        assert type(found) is type(wanted)


def test_true_is_not_one() -> None:
    with pytest.raises(Refused, match=r"^expected one of true$"):
        conversion(Types().read(Literal[True]).wire)(1)
    assert conversion(Types().read(Pair).wire)([1, 2]) is Pair.A
