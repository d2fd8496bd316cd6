"""Markers let msgspec decode what it does not know."""

from typing import Any

import msgspec
import pytest

from splice.schema.markers import conversion, decode_hook, first_of, marker
from splice.schema.problems import Problem, Refused


def double(value: Any) -> Any:
    if not isinstance(value, int):
        raise Refused(Problem((), "expected integer", value))
    return value * 2


Double: Any = marker("Double", double)


def test_a_marker_decodes_with_its_function() -> None:
    decoder = msgspec.json.Decoder(dict[str, list[Double]], dec_hook=decode_hook)
    assert decoder.decode(b'{"a":[1,2]}') == {"a": [2, 4]}


def test_a_conversion_tells_where() -> None:
    Outer: Any = marker("Outer", conversion(list[Double]))  # noqa: N806 - it stands for a type
    with pytest.raises(Refused) as caught:
        conversion(tuple[int, list[Outer]])([1, [[1], [2, "x"]]])
    assert caught.value.problems == (Problem((1, 1, 1), "expected integer", "x"),)
    with pytest.raises(Refused) as caught:
        conversion(dict[int, int])({"1": 2, "x": 3})
    assert str(caught.value) == "expected integer as a key"


def test_the_first_type_that_fits_is_taken() -> None:
    choose = first_of([int, str])
    assert [choose(1), choose("a")] == [1, "a"]
    with pytest.raises(Refused) as caught:
        choose([])
    assert caught.value.problems == (Problem((), "expected integer or string"),)


def test_of_several_types_the_nearest_says_what_is_wrong() -> None:
    with pytest.raises(Refused) as caught:
        first_of([int, dict[str, list[int]]])({"a": ["x"]})
    assert [problem.text for problem in caught.value.problems] == ["expected integer"]
