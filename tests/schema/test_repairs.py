"""What is repaired in arguments, what is not, and how it is told."""

import functools
import json
from typing import Any, Literal

import msgspec
import pytest

from splice.schema import functions
from splice.schema.repairs import MAX_SHOWN, MAX_SIZE, MAX_TOLD, repaired
from support.tables import rows

Signature = functools.partial(functions.Signature, skip=lambda _: False, opaque=())


class Point(msgspec.Struct):
    x: int
    tags: list[str] = []


def repair(kind: Any, value: Any) -> tuple[Any, Any]:
    def fn(a: Any) -> None: ...

    fn.__annotations__["a"] = kind
    schema = Signature(fn).input_schema
    new, repairs = repaired(schema, json.dumps({"a": value}).encode())
    return json.loads(new)["a"], [(each["path"], each["from"], each["to"]) for each in repairs]


@rows(
    ("kind", "value", "new"),
    [
        (int, "5", 5),
        (int, "5.0", 5),
        (float, "5", 5),
        (float, "-1.5e3", -1500),
        (bool, "true", True),
        (int | None, "5", 5),
        (list[int], "[1, 2]", [1, 2]),
        (list[str], '["a"]', ["a"]),
        (dict[str, int], '{"b": 1}', {"b": 1}),
        (Point, '{"x": 1}', {"x": 1}),
        (list[int], 5, [5]),
        (list[str], "a", ["a"]),
        (list[Point], {"x": 1}, [{"x": 1}]),
        (list[int], "5", ["5"]),
    ],
)
def test_one_repair(kind: Any, value: Any, new: Any) -> None:
    found, repairs = repair(kind, value)
    if (kind, value) == (list[int], "5"):  # a value in a list, and then that value
        assert (found, len(repairs)) == ([5], 2)
    else:
        assert (found, [path for path, _, _ in repairs]) == (new, ["a"])


@rows(
    ("kind", "value"),
    [
        (str, "5"),
        (str, 5),
        (int | str, "5"),
        (Any, "5"),
        (int, "five"),
        (int, "NaN"),
        (int, "1.5"),
        (int, "true"),
        (bool, "True"),
        (bool, 1),
        (int, True),
        (int | None, "null"),
        (list[int], None),
        (list[int], "x"),
        (list[list[int]], 5),
        (dict[str, int], "[1]"),
        (Literal["a", "b"], "c"),
        (int, "[" * 5_000),
    ],
)
def test_what_stays_as_it_is(kind: Any, value: Any) -> None:
    assert repair(kind, value) == (value, [])


def test_repairs_go_deep_and_name_their_paths() -> None:
    found, repairs = repair(list[Point], ['{"x": "7", "tags": "t"}', {"x": 1}])
    assert found == [{"x": 7, "tags": ["t"]}, {"x": 1}]
    assert repairs == [
        ("a[0]", '"{\\"x\\": \\"7\\", \\"tags\\": \\"t\\"}"', '{"x":"7","tags":"t"}'),
        ("a[0].x", '"7"', "7"),
        ("a[0].tags", '"t"', '["t"]'),
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
        {"properties": {"a": {"$ref": "elsewhere"}}},
        {"properties": {"a": True}, "additionalProperties": False},
        {"properties": {"a": {"anyOf": [True, 5]}}},
        {"properties": {"a": {"type": ["string", "null"]}}},
        {},
    ],
    ids=str,
)
def test_schemas_that_tell_nothing(schema: Any) -> None:
    assert repaired(schema, b'{"a":"5"}') == (b'{"a":"5"}', [])


def test_what_is_large_is_not_looked_through_and_reports_are_short() -> None:
    schema = {"properties": {"a": {"items": {"type": "integer"}}}}
    large = json.dumps({"a": ["5"] * MAX_SIZE}).encode()
    assert repaired(schema, large) == (large, [])
    _, repairs = repaired(schema | {"type": "object"}, b'{"a":"[5]"}')
    assert repairs == []  # its type is not said
    numbers = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    _, repairs = repaired(numbers, json.dumps({"a": ["5"] * 1_000}).encode())
    assert len(repairs) == MAX_TOLD
    _, repairs = repaired(numbers, json.dumps({"a": json.dumps([1] * 1_000)}).encode())
    assert [len(each["from"]) for each in repairs] == [MAX_SHOWN]


def test_null_stands_beside_what_is_repaired() -> None:
    new, repairs = repair(dict[str, int | None], {"none": None, "five": "5"})
    assert (new, repairs) == ({"none": None, "five": 5}, [("a.five", '"5"', "5")])


def test_what_is_told_of_long_names_is_short() -> None:
    new, repairs = repair(dict[str, list[int]], {"A" * 50_000: ["1"] * 1_000})
    assert new == {"A" * 50_000: [1] * 1_000}
    assert len(repairs) == MAX_TOLD
    assert all(len(path) <= MAX_SHOWN for path, _, _ in repairs)
