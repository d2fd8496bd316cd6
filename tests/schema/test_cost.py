"""The work a schema can cause is known before it is used."""

from typing import Any

import pytest

from splice.schema.cost import BadSchema, Cost, OverBudget, cost
from support.tables import rows


def chain(length: int, word: str = "allOf") -> dict[str, Any]:
    """Make a schema in which each definition refers to the next one twice."""
    definitions: dict[str, Any] = {
        f"d{number}": {word: [{"$ref": f"#/$defs/d{number + 1}"}] * 2} for number in range(length)
    }
    return {"$ref": "#/$defs/d0", "$defs": definitions | {f"d{length}": {"type": "integer"}}}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    return schema


def recursive(body: dict[str, Any]) -> dict[str, Any]:
    return {"$ref": "#/$defs/n", "$defs": {"n": body}}


ITSELF = {"$ref": "#/$defs/n"}
PATTERNS = "the schema has more than 200 patterns, or 10000 characters and repetitions of them"


@rows(
    ("schema", "work"),
    [
        ({}, 1),
        ({"type": "object", "properties": {"a": {}, "b": {"items": True}}}, 4),
        ({"prefixItems": [{}, {}], "contains": {}, "not": {}, "if": {}, "then": {}}, 7),
        ({"items": [{}, {}], "additionalItems": False}, 4),
        ({"additionalProperties": {}, "patternProperties": {"a": {}}, "propertyNames": {}}, 4),
        ({"dependencies": {"a": ["b"], "c": {}}, "dependentSchemas": {"a": {}}}, 4),
        ({"anyOf": [{}, True], "unknown": {"allOf": [{}]}, "$defs": {"a": {}}}, 3),
        (chain(3), 30),
        ({"$id": "urn:x", "$ref": "urn:x#/$defs/a", "$defs": {"a": {}}}, 2),
        ({"$ref": "#/$defs/a~1b~0c%25", "$defs": {"a/b~c%": {}}}, 2),
        ({"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}}, 2),
        ({"$dynamicRef": "#there", "$defs": {"a": {"$dynamicAnchor": "there"}}}, 2),
        ({"$ref": "#/anyOf/0", "anyOf": [{}]}, 3),
        ({"properties": 3, "allOf": 3, "patternProperties": 3}, 2),
        ({"enum": ["a", 1, None], "const": "a", "pattern": 3}, 1),
        ({"enum": ["a", {"b": 1}, [2, [3]]]}, 1 + 3 + 4),
        ({"items": {"const": {"a": [1, 2]}}}, 2 + 3),
    ],
)
def test_work(schema: dict[str, Any], work: int) -> None:
    assert cost(schema) == Cost(work, 0)


@pytest.mark.parametrize(
    ("schema", "branching"),
    [
        (recursive({"items": ITSELF}), 1),
        (recursive({"properties": {"l": ITSELF, "r": ITSELF}}), 1),
        (recursive({"anyOf": [{"items": ITSELF}, {"properties": {"l": ITSELF}}]}), 1),
        (recursive({"allOf": [{"properties": {"l": ITSELF}}] * 2}), 2),
        (recursive({"anyOf": [{"items": ITSELF}, {"prefixItems": [ITSELF, ITSELF]}]}), 3),
        (recursive({"properties": {"l": ITSELF}, "patternProperties": {"l": ITSELF}}), 2),
        (recursive({"properties": {"l": {"items": ITSELF}}, "additionalProperties": {"items": ITSELF}}), 2),
        ({"properties": {"a": {"$ref": "#"}, "b": {"not": {"$recursiveRef": "#"}}}}, 1),
        (
            {
                "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"items": {"$ref": "#/$defs/a"}}},
                "$ref": "#/$defs/a",
            },
            1,
        ),
    ],
)
def test_branching(schema: dict[str, Any], branching: int) -> None:
    assert cost(schema).branching == branching


@rows(
    ("schema", "message"),
    [
        (nested(64), "the schema nests deeper than 64 levels"),
        ({"$defs": {str(number): {} for number in range(10_000)}}, "the schema has more than 10000 subschemas"),
        (
            {"items": {"enum": [[number] for number in range(60_000)]}},
            "the schema's references and choices amount to more than 100000 subschemas",
        ),
        (
            {"patternProperties": {str(number): {} for number in range(150)}, "anyOf": [{"pattern": "a"}] * 51},
            PATTERNS,
        ),
        (
            {"properties": {str(number): {"pattern": f"^.{{{10_000 + number}}}$"} for number in range(9)}},
            PATTERNS,
        ),
        (
            {"pattern": "a" * 10_001},
            PATTERNS,
        ),
        (chain(40), "the schema's references and choices amount to more than 100000 subschemas"),
        ({"allOf": [{"$ref": "#"}]}, "a subschema applies itself to the same value, without end"),
        ({"$ref": "http://h/x"}, "the schema refers to http://h/x, outside of itself; nothing is ever fetched"),
        ({"$id": "http://h/x", "$ref": "y"}, "the schema refers to y, outside of itself; nothing is ever fetched"),
        ({"items": {"$dynamicRef": "//h/x"}}, "the schema refers to //h/x, outside of itself; nothing is ever fetched"),
        ({"$ref": "#/$defs/no"}, "the schema refers to #/$defs/no, which it does not have"),
        ({"$ref": "#/type/0", "type": "a"}, "the schema refers to #/type/0, which it does not have"),
        ({"$ref": "#/anyOf/x", "anyOf": [{}]}, "the schema refers to #/anyOf/x, which it does not have"),
        ({"$ref": "#no"}, "the schema refers to #no, which it does not have"),
        ({"$defs": {"a": {"$id": "x"}}}, "a subschema has the $id 'x'; only the whole may have one"),
        ({"$anchor": "a", "$defs": {"a": {"$anchor": "a"}}}, "two subschemas have the anchor 'a'"),
    ],
)
@pytest.mark.requirement(58)
def test_what_is_too_much(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSchema) as caught:
        cost(schema)
    assert str(caught.value) == message
    assert isinstance(caught.value, OverBudget) is ("the schema refers to" not in message)


def test_a_long_way_of_references() -> None:
    definitions: dict[str, Any] = {f"d{number}": {"$ref": f"#/$defs/d{number + 1}"} for number in range(3000)}
    with pytest.raises(OverBudget, match=r"^the schema nests deeper than 64 levels$"):
        cost({"$ref": "#/$defs/d0", "$defs": definitions | {"d3000": {}}})


def test_a_schema_of_the_allowed_depth() -> None:
    assert cost(nested(63)).work == 64
