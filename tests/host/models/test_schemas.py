"""Schemas of any server are made plain enough for every provider."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from splice.host.models.schemas import MAX_BYTES, Names, portable, portable_name
from splice.types import Tool
from support.tables import rows


def plain(schema: Any, **options: bool) -> tuple[dict[str, Any], str]:
    made = portable(Tool(name="t", input_schema=schema), **options)
    return made.schema, " ".join(made.notes)


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}, "additionalProperties": True}


@rows(
    ("given", "made", "note"),
    [
        ({}, {"type": "object", "properties": {}}, ""),
        ({"type": "array"}, {"type": "object", "properties": {}}, "does not take an object"),
        ({"type": ["object", "null"]}, {"type": "object", "properties": {}}, ""),
        ({"properties": {"a": {"type": "string"}}}, of(a={"type": "string"}), ""),
        (of(a={"$ref": "#/$defs/x"}) | {"$defs": {"x": {"type": "integer"}}}, of(a={"type": "integer"}), ""),
        (of(a={"$ref": "https://x.example/y", "type": "string"}), of(a={"type": "string"}), "another document"),
        (of(a={"$ref": "#/$defs/gone"}), of(a={}), "leads nowhere"),
        (of(a={"$ref": 7}), of(a={}), "another document"),
        (of(a={"oneOf": [{"const": 1}, True]}), of(a={"anyOf": [{"enum": [1]}, {}]}), "any may"),
        (of(a={"allOf": [{"type": "string"}, {"minLength": 2}]}), of(a={"type": "string", "minLength": 2}), ""),
        (of(a={"type": "array"}), of(a={"type": "array", "items": {}}), ""),
        (
            of(a={"type": "array", "prefixItems": [{"type": "string"}], "items": False}),
            of(a={"type": "array", "items": {"anyOf": [{"type": "string"}]}}),
            "by their place",
        ),
        (of(a={"type": "string", "if": {}, "then": {}}), of(a={"type": "string"}), "not told of if. The"),
        (of(a={"type": "string", "pattern": "(?=x)"}), of(a={"type": "string"}), "pattern"),
        (of(a={"minimum": "low", "type": "odd", "enum": []}), of(a={}), "minimum"),
        (of(a=False, b=True), of(b={}), ""),
        (
            {"type": "object", "anyOf": [of(a={}) | {"required": ["a"]}, of(b={}) | {"required": ["a"]}]},
            {"type": "object", "properties": {"b": {}, "a": {}}, "required": ["a"], "additionalProperties": False},
            "properties of all",
        ),
        ({"$ref": "#/$defs/n", "$defs": {"n": NODE}}, NODE | {"properties": {"next": {}}}, "contains itself"),
        ({"$ref": "#"}, {"type": "object", "properties": {}}, "contains itself"),
    ],
)
def test_a_schema_is_made_plain(given: Any, made: Any, note: str) -> None:
    schema, notes = plain(given)
    assert schema == made
    assert note in notes


def test_no_schema_is_too_deep_or_too_large() -> None:
    deep: Any = {"type": "string"}
    for _ in range(300):
        deep = {"type": "object", "properties": {"a": deep}}
    doubling = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    wide = of(**{f"p{n}": {"description": "long " * 100} for n in range(2_000)})
    for hostile in (
        deep,
        {"$ref": "#/$defs/d0", "$defs": doubling},
        of(a={"$ref": "#/$defs/d0"}) | {"$defs": doubling},
    ):
        schema, notes = plain(hostile)
        assert len(json.dumps(schema)) < 2 * MAX_BYTES
        assert notes
    assert plain(wide) == ({"type": "object", "properties": {}}, plain(wide)[1])


def test_odd_property_names_go_where_they_are_refused() -> None:
    given = of(**{"ok.a-b": {}, "not ok": {}}) | {"required": ["not ok", "ok.a-b"]}
    schema, notes = plain(given, has_plain_keys=True)
    assert (list(schema["properties"]), schema["required"]) == (["ok.a-b"], ["ok.a-b"])
    assert "unusual" in notes
    assert plain(given)[0] == given


@given(st.text(max_size=80), st.text(max_size=80))
def test_names_are_plain_and_stay_different(first: str, second: str) -> None:
    made = [portable_name(first), portable_name(second)]
    assert all(0 < len(name) <= 64 and name.isascii() for name in made)
    assert (made[0] == made[1]) is (first == second)
    names = Names([Tool(name=first, input_schema={})])
    assert names.back(made[0]) == first
    assert names.back("other!") == "other!"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["string", "object", "#/$defs/a", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "allOf", "$ref", "$defs", "a", "required", "oneOf", "enum"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "$defs", "$ref", "allOf", "oneOf"]), JSON, max_size=5))
def test_no_schema_breaks_it(schema: dict[str, Any]) -> None:
    assert plain(schema)[0]["type"] == "object"
