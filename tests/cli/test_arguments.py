"""`key=value` becomes what the schema asks for."""

import io
from typing import Any

import pytest

from splice.cli.arguments import json_object, kinds_of, pairs, read, typed
from splice.cli.outcomes import USAGE, Stop
from support.tables import rows

ROOT: dict[str, Any] = {
    "$defs": {"count": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}, "a/b": {"type": "null"}}
}


@rows(
    ("text", "schema", "value"),
    [
        ("5", {"type": "integer"}, 5),
        ("-5", {"type": "integer"}, -5),
        ("2.0", {"type": "integer"}, 2),
        ("2.5", {"type": "number"}, 2.5),
        ("1e3", {"type": "number"}, 1000),
        ("true", {"type": "boolean"}, True),
        ("False", {"type": "boolean"}, False),
        ("null", {"type": "null"}, None),
        ("5", {"type": "string"}, "5"),
        ("", {"type": "string"}, ""),
        ("a=b", {"type": "string"}, "a=b"),
        ("[1, 2]", {"type": "array"}, [1, 2]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("null", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ("5", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5),
        ("5", {"type": ["integer", "string"]}, 5),
        ("five", {"type": ["integer", "string"]}, "five"),
        ("null", {"type": "string"}, "null"),
        ("5", {}, 5),
        ("five", {}, "five"),
        ("5", True, 5),
        ("5", {"$ref": "#/$defs/count"}, 5),
        ("5", {"$ref": "#/$defs/loop"}, 5),
        ("null", {"$ref": "#/$defs/a~1b"}, None),
        ("5", {"$ref": "https://example.com/schema"}, 5),
        ("red", {"enum": ["red", "green"]}, "red"),
        ("2", {"enum": [1, 2]}, 2),
        ("x", {"const": "x"}, "x"),
        ("b", {"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}, "b"),
    ],
)
def test_a_value_is_read_as_its_schema_says(text: str, schema: Any, value: Any) -> None:
    found = read(text, schema, ROOT)
    assert found == value
    assert isinstance(found, bool) == isinstance(value, bool)


@pytest.mark.parametrize(
    ("text", "schema", "expected"),
    [
        ("many", {"type": "integer"}, "expected integer, got 'many'"),
        ("2.5", {"type": "integer"}, "expected integer"),
        ("NaN", {"type": "number"}, "expected number"),
        ("1e999", {"type": "integer"}, "expected integer"),
        ("true", {"type": "number"}, "expected number"),
        ("yes", {"type": "boolean"}, "expected boolean"),
        ("[1", {"type": "array"}, "expected array"),
        ("{}", {"type": "array"}, "expected array"),
        ("x", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "expected integer or null"),
        ("blue", {"enum": ["red", 1]}, "expected one of red, 1, got 'blue'"),
    ],
)
def test_what_does_not_fit_is_told(text: str, schema: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        read(text, schema, ROOT)


def test_kinds_of_choices() -> None:
    choices: list[Any] = [None, True, 1, 1.5, "x", [], {}]
    assert kinds_of({"enum": choices}, {}) == ["null", "boolean", "integer", "number", "string", "array", "object"]


def test_arguments_of_a_tool() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
    assert typed({"a": "1", "b": "2", "c": "3"}, schema) == {"a": 1, "b": "2", "c": "3"}
    with pytest.raises(Stop, match="a: expected integer") as caught:
        typed({"a": "x"}, schema)
    assert caught.value.code == USAGE


@pytest.mark.parametrize("words", [["a"], ["=1"], ["a=1", "a=2"]])
def test_words_that_are_no_pairs(words: list[str]) -> None:
    with pytest.raises(Stop):
        pairs(words)


@pytest.mark.parametrize("text", ["[1]", "nonsense", "", '{"a":', "[" * 100_000])
def test_json_that_is_no_object(text: str) -> None:
    with pytest.raises(Stop):
        json_object(text)


def test_json_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"a": 1}'))
    assert json_object("-") == {"a": 1}
