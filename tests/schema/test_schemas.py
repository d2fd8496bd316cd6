"""JSON values are told apart, and schemas put together."""

import pytest

from splice.schema.schemas import (
    NULL,
    Schema,
    any_of,
    described,
    is_array,
    is_object,
    meant,
    resolved,
    whole,
    without_null,
)

TEXT, INTEGER = {"type": "string"}, {"type": "integer"}


def test_kinds() -> None:
    assert is_object({})
    assert not is_object([])
    assert is_array([])
    assert not is_array({})


def test_whole_floats_become_integers() -> None:
    assert repr(whole({"a": [1.0, 1.5, "x", None, {"b": -2.0}]})) == "{'a': [1, 1.5, 'x', None, {'b': -2}]}"
    assert whole(float("inf")) == float("inf")


@pytest.mark.parametrize(
    ("members", "schema"),
    [
        ([NULL, TEXT], {"anyOf": [TEXT, NULL]}),
        ([TEXT, TEXT], TEXT),
        ([TEXT, {}], {}),
    ],
)
def test_unions(members: list[Schema], schema: Schema) -> None:
    assert any_of(members) == schema


def test_descriptions() -> None:
    assert described(TEXT, "About.") == {"type": "string", "description": "About."}
    assert described(TEXT, "") is TEXT
    assert described({"description": "Mine."}, "Yours.") == {"description": "Mine."}


def test_null_is_left_out() -> None:
    more = {"title": "A"}
    assert without_null({"anyOf": [TEXT, NULL]} | more) == TEXT | more
    for schema in (TEXT | more, {"anyOf": [TEXT, INTEGER, NULL]}, {"anyOf": [TEXT]}, {"anyOf": [NULL]}):
        assert without_null(schema) is schema


def test_references_are_resolved() -> None:
    defs = {"A": INTEGER | {"title": "a"}}
    assert resolved({"$ref": "#/$defs/A", "title": "mine"}, defs) == {"type": "integer", "title": "mine"}
    assert resolved(TEXT, defs) is TEXT


def test_near_names_are_told_and_others_are_not() -> None:
    assert meant("sttats", ["stats", "echo"]) == ". Did you mean 'stats'?"
    assert meant("stat1", ["stat2", "stat3", "stat4", "stat5"]).count("or") == 2
    assert meant("zzz", ["stats", "echo"]) == ""
    assert meant("a", []) == ""
    assert meant("stats" * 1_000_000, ["stats"]) == ""
