"""Schemas of others as fields: what is shown, what is typed, and what is said when it does not fit."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.host.asking.forms import BadForm, Field, check, fields, read, written
from support.tables import rows

BOOKING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "confirm": {"type": "boolean", "title": "Confirm the booking"},
        "seat": {"type": "string", "enum": ["window", "aisle"], "enumNames": ["By the window", "On the aisle"]},
        "room": {"type": "string", "oneOf": [{"const": "sea", "title": "Sea view"}, {"const": "city"}]},
        "email": {"type": "string", "format": "email"},
        "page": {"type": "string", "format": "uri"},
        "arrival": {"type": "string", "format": "date"},
        "pickup": {"type": "string", "format": "date-time"},
        "guests": {"type": "integer", "minimum": 1, "maximum": 4},
        "budget": {"type": "number", "maximum": 3000},
        "code": {"type": "string", "pattern": "^[A-Z]{2}$", "examples": ["ES"]},
        "note": {"type": "string", "minLength": 2, "maxLength": 5},
        "letter": {"type": "string", "maxLength": 2000},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["breakfast", "spa"]}, "maxItems": 1},
        "days": {"type": "array", "items": {"anyOf": [{"const": "mo", "title": "Monday"}]}, "minItems": 1},
        "insured": {"type": "boolean", "default": False},
    },
    "required": ["confirm", "email"],
}
KINDS = "tick one one email uri date datetime integer number text text long many many switch"
FITTING = {"confirm": True, "email": "anna@home.example"}


def _field(name: str) -> Field:
    return next(each for each in fields(BOOKING) if each.name == name)


def test_a_form_has_a_field_of_its_kind_for_each_property() -> None:
    shown = fields(BOOKING)
    assert [field.kind for field in shown] == KINDS.split()
    assert [field.name for field in shown if field.is_required] == ["confirm", "email"]
    assert _field("seat").choices == [("window", "By the window"), ("aisle", "On the aisle")]
    assert _field("room").choices == [("sea", "Sea view"), ("city", "city")]
    assert (_field("confirm").title, _field("email").title) == ("Confirm the booking", "email")
    assert _field("insured").default is False
    assert [field.hint for field in shown if field.hint] == [
        "As in anna@home.example", "As in https://example.com/page", "As in 2026-01-31", "As in 2026-01-31T09:30",
        "A whole number, between 1 and 4", "3,000 or less", "As in ES", "Between 2 and 5 characters",
        "At most 2,000 characters", "Up to 1", "At least 1",
    ]  # fmt: skip


@rows(
    ("name", "value", "said"),
    [
        ("confirm", None, "Tick to go on, or decline"),
        ("email", None, "Fill this in, as in anna@home.example"),
        ("email", "anna@", "Not a complete email address: write a name, an @ and a host, as in anna@home.example"),
        ("page", "home", "Not a complete address: begin with https:// or the like, as in https://example.com/page"),
        ("arrival", "15 June", "Not a date: write year, month and day, as in 2026-01-31"),
        ("seat", "floor", "Choose one: By the window, On the aisle"),
        ("room", "none", "Choose one: Sea view, city"),
        ("guests", 9, "Must be between 1 and 4"),
        ("guests", 1.5, "Must be a whole number, as in 1"),
        ("guests", True, "Must be a whole number, as in 1"),
        ("budget", 3000.5, "Must be 3,000 or less"),
        ("budget", "much", "Must be a number, as in 3000"),
        ("code", "es", "Must have the form ^[A-Z]{2}$, as in ES"),
        ("note", "x", "Must be between 2 and 5 characters; this is 1"),
        ("note", 7, "Must be text"),
        ("letter", "x" * 2001, "Must be at most 2,000 characters; this is 2,001"),
        ("extras", ["breakfast", "spa"], "Choose up to 1"),
        ("extras", ["sauna"], "Choose among: breakfast, spa"),
        ("days", [], "Choose at least 1"),
        ("insured", "on", "Choose on or off"),
        ("more", 1, "unknown name; known are: confirm"),
    ],
)
def test_what_does_not_fit_is_said_at_its_field(name: str, value: Any, said: str) -> None:
    found = check(BOOKING, FITTING | {name: value})
    assert list(found) == [name]
    assert found[name].startswith(said)


def test_all_findings_come_at_once_and_what_fits_has_none() -> None:
    assert check(BOOKING, FITTING | {"seat": "aisle", "confirm": False, "note": None}) == {}
    assert set(check(BOOKING, {"seat": "x", "guests": 0})) == {"confirm", "email", "seat", "guests"}


@rows(
    ("name", "typed", "value"),
    [
        ("confirm", "yes", True),
        ("confirm", False, False),
        ("seat", "on the aisle", "aisle"),
        ("guests", " 3 ", 3),
        ("budget", "2.5", 2.5),
        ("budget", "12", 12),
        ("note", " a ", " a "),
        ("email", " a@b.example ", "a@b.example"),
        ("email", "  ", None),
        ("arrival", "2026-06-15", "2026-06-15"),
        ("pickup", "2026-06-15T10:00:00+02:00", "2026-06-15T10:00:00+02:00"),
        ("extras", "Breakfast, spa", ["breakfast", "spa"]),
        ("extras", ["spa"], ["spa"]),
        ("extras", [], None),
        ("days", "monday", ["mo"]),
    ],
)
def test_what_is_typed_becomes_a_value(name: str, typed: Any, value: Any) -> None:
    assert read(_field(name), typed) == value
    if value is not None:
        assert read(_field(name), written(_field(name), value)) == value


def test_a_time_without_a_zone_is_the_time_of_this_computer() -> None:
    moment = read(_field("pickup"), "2026-06-15 10:00")
    assert check(BOOKING, FITTING | {"pickup": moment}) == {}


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("guests", "three"), ("budget", "1e"), ("budget", "1e999"), ("arrival", "June"), ("pickup", "2026-06-15"),
        ("seat", "roof"), ("extras", "spa, roof"), ("confirm", "perhaps"), ("days", [["mo"]]), ("guests", "9" * 5000),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(name: str, typed: Any) -> None:
    with pytest.raises(ValueError, match=r"^(Must|Not|Choose|Tick)"):
        read(_field(name), typed)


TOOL = {
    "type": "object",
    "properties": {
        "mode": {"$ref": "#/$defs/Mode", "description": "How"},
        "size": {"anyOf": [{"type": "integer", "minimum": 2}, {"type": "null"}], "default": None},
        "deep": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "level": {"enum": [1, 2.5, None, True]},
        "odd": True,
        "sure": {"type": ["boolean", "null"]},
    },
    "required": ["sure"],
    "$defs": {"Mode": {"type": "string", "enum": ["fast", "slow"]}},
}


def test_arguments_of_any_shape_have_a_field() -> None:
    shown = {field.name: field for field in fields(TOOL, for_tool=True)}
    assert [field.kind for field in shown.values()] == ["one", "integer", "json", "json", "one", "json", "switch"]
    assert shown["level"].choices == [(1, "1"), (2.5, "2.5"), (None, "null"), (True, "true")]
    assert read(shown["level"], "true") is True
    assert read(shown["deep"], '{"x": 1}') == {"x": 1}
    with pytest.raises(ValueError, match="not JSON"):
        read(shown["deep"], "{x")
    assert shown["mode"].description == "How"
    endless = {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert [field.kind for field in fields(endless, for_tool=True)] == ["json"]
    assert list(check(endless, {}, for_tool=True)) == [""]
    found = check(TOOL, {"deep": {"x": "y"}, "ids": [1, "2"]}, for_tool=True)
    assert found["deep"] == 'x: expected integer, got "y"'
    assert found["ids"] == '[1]: expected integer, got "2"'
    assert found["sure"] == "Choose on or off"


@rows(
    "schema",
    [
        None, [], "form", {"type": "string"}, {"type": "object", "properties": []}, {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {str(n): {"type": "string"} for n in range(101)}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
        {"type": "object", "properties": {"a": {"type": "string", "minLength": "x"}}},
        {"type": "object", "properties": {"a": {"enum": []}}},
        {"type": "object", "properties": {"a": {"enum": [str(n) for n in range(1001)]}}},
        {"type": "object", "properties": {"a": {"$ref": "https://elsewhere.example/schema"}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "$schema": "https://elsewhere.example"},
        {"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}},
        {"type": "object", "properties": {"a" * 201: {"type": "string"}}},
    ],
)  # fmt: skip
def test_a_form_that_cannot_be_shown_is_one_problem(schema: Any) -> None:
    with pytest.raises(BadForm):
        fields(schema)
    assert list(check(schema, {})) == [""]


def test_a_pattern_that_never_ends_is_bounded() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    assert check(schema, {"a": "a" * 40 + "!"})["a"].startswith("Must have the form ^(a+)+$")


_WORDS = st.sampled_from(["type", "enum", "anyOf", "oneOf", "$ref", "items", "const", "required", "default"])
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner),
    max_leaves=8,
)


@settings(max_examples=20)
@given(st.dictionaries(st.text(max_size=3), _ANY, max_size=3), _ANY)
def test_no_schema_breaks_it(properties: dict[str, Any], needed: Any) -> None:
    schema = {"type": "object", "properties": properties, "required": needed}
    shown = fields(schema, for_tool=True)
    assert [field.name for field in shown] == list(properties)
    check(schema, {"a": 1}, for_tool=True)
    check(schema, {"a": 1})


@rows(
    ("name", "is_secret"),
    [
        ("password", True), ("newPassword", True), ("p\u0430ssword", True), ("API_KEY", True), ("pass\u200bword", True),
        ("creditCard", True), ("otp", True), ("pin", True), ("p4ge", False), ("spinner", False), ("cardinality", False),
        ("key", False), ("tokens", True), ("email", False),
    ],
)  # fmt: skip
def test_fields_that_ask_for_secrets_are_named(name: str, is_secret: bool) -> None:
    [field] = fields({"type": "object", "properties": {name: {"type": "string"}}})
    assert field.is_secret is is_secret
