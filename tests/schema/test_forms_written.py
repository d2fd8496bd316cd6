"""Forms written by hand: every kind of field that a revision has, what is none of them, and the answers to them."""

from typing import Any

import pytest

from splice.schema.forms import form_schema, read_form
from splice.schema.schemas import BadArguments
from support.tables import rows

COLOURS = [{"const": "#f00", "title": "Red"}, {"const": "#00f", "title": "Blue"}]

FIELDS: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "text": (
        {"type": "string", "minLength": 2, "maxLength": 3, "default": "ab"},
        ["ab", "abc"],
        ["a", "abcd", 1, None],
    ),
    "email": ({"type": "string", "format": "email"}, ["a@example.com"], ["a", ""]),
    "uri": ({"type": "string", "format": "uri"}, ["https://a.example"], ["not a uri"]),
    "date": ({"type": "string", "format": "date"}, ["2026-01-31"], ["2026-02-31", "soon"]),
    "time": ({"type": "string", "format": "date-time"}, ["2026-01-31T10:00:00Z"], ["2026-01-31"]),
    "number": ({"type": "number", "minimum": 0, "maximum": 1, "default": 0.5}, [0, 0.5, 1.0], [-0.1, 2, "1", True]),
    "integer": ({"type": "integer", "minimum": 1}, [1, 7], [0, 1.5, "1"]),
    "boolean": ({"type": "boolean", "default": True}, [True, False], ["true", 1, 0]),
    "choice": ({"type": "string", "enum": ["s", "l"], "default": "s"}, ["s", "l"], ["m", 1]),
    "named": ({"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]}, ["s"], ["Small"]),
    "titled": ({"type": "string", "oneOf": COLOURS, "default": "#f00"}, ["#f00"], ["Red"]),
    "several": (
        {"type": "array", "items": {"type": "string", "enum": ["s", "l"]}, "minItems": 1, "maxItems": 2},
        [["s"], ["s", "l"]],
        [[], ["s", "l", "s"], ["m"], "s", [["s"]]],
    ),
    "several titled": ({"type": "array", "items": {"anyOf": COLOURS}, "default": ["#f00"]}, [[], ["#00f"]], [["Red"]]),
}


def form(field: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": field}, "required": ["x"]}


@pytest.mark.requirement(520)
@rows("kind", FIELDS)
def test_every_kind_is_asked_as_it_is_and_its_answer_checked(kind: str) -> None:
    field, good, bad = FIELDS[kind]
    asked = form(field)
    assert form_schema(asked) is asked
    for value in good:
        assert read_form(asked, {"x": value}) == {"x": value}
    for value in bad:
        with pytest.raises(ValueError, match="x"):
            read_form(asked, {"x": value})
    with pytest.raises(ValueError, match="x"):
        read_form(asked, {})


@pytest.mark.requirement(520)
@rows(
    "field",
    [
        {"type": "object", "properties": {}},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"type": "object"}},
        {"type": "array"},
        {"type": ["string", "null"]},
        {"type": "null"},
        {"type": "integer", "enum": [1, 2]},
        {"enum": []},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"$ref": "#/$defs/x"},
        {},
        True,
        "string",
    ],
)
def test_what_no_client_can_show_is_not_asked(field: Any) -> None:
    with pytest.raises(TypeError, match=r"is not a form: .*choices of texts and lists of such choices$"):
        form_schema(form(field))


def test_a_form_of_nothing_asks_for_a_yes() -> None:
    empty: dict[str, Any] = {"type": "object", "properties": {}}
    assert read_form(form_schema(empty), {}) == {}


def test_an_answer_to_a_model_names_the_field() -> None:
    with pytest.raises(BadArguments, match=r"^value: "):
        read_form(int, {"value": "many"})
