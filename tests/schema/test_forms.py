"""Forms are flat, and their answers become models."""

import dataclasses
import datetime as dt
import enum
import re
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pydantic
import pytest

from schema.models import Address, Box, Color, Movie, Pair
from splice.schema.forms import check_form, filled, form_schema, read_form
from splice.schema.schemas import BadArguments
from support.tables import rows


@dataclasses.dataclass
class Booking:
    """Not for the client.

    Attributes:
        guests: How many.
    """

    guests: Annotated[int, msgspec.Meta(ge=1, le=9)]
    color: Color
    note: str | None
    day: dt.date | None = None
    tags: list[Literal["x", "y"]] = dataclasses.field(default_factory=list)
    ok: bool = False
    price: float = 1.5


BOOKING = {
    "type": "object",
    "properties": {
        "guests": {"type": "integer", "minimum": 1, "maximum": 9, "description": "How many."},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "note": {"type": "string"},
        "day": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "default": []},
        "ok": {"type": "boolean", "default": False},
        "price": {"type": "number", "default": 1.5},
    },
    "required": ["guests", "color"],
}


class Contact(pydantic.BaseModel):
    name: str = pydantic.Field(min_length=2, title="Your name")
    color: Color = Color.RED
    nick: str | None = None
    kind: Literal["person"] = "person"
    site: Annotated[str, msgspec.Meta(description="x")] = "a"


class Struct(msgspec.Struct):
    id: Annotated[str, pydantic.Field(json_schema_extra={"format": "email"})]
    when: dt.datetime | None = None
    pick: Literal["a"] | None = None


def test_a_form() -> None:
    assert form_schema(Booking) == BOOKING
    assert form_schema(Booking) is form_schema(Booking)


def test_a_form_of_pydantic() -> None:
    assert form_schema(Contact) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2, "title": "Your name"},
            "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "nick": {"type": "string"},
            "kind": {"type": "string", "enum": ["person"], "default": "person"},
            "site": {"type": "string", "default": "a"},
        },
        "required": ["name"],
    }


def test_other_forms() -> None:
    assert form_schema(Struct)["properties"] == {
        "id": {"type": "string", "format": "email"},
        "when": {"type": "string", "format": "date-time"},
        "pick": {"type": "string", "enum": ["a"]},
    }
    assert form_schema(Movie)["required"] == ["title"]
    given = {"type": "object", "properties": {}}
    assert form_schema(given) is given


def test_answers_become_models() -> None:
    assert read_form(Booking, {"guests": 2.0, "color": "red", "day": "2026-01-02", "extra": 1}) == Booking(
        2, Color.RED, None, dt.date(2026, 1, 2)
    )
    assert read_form(Booking, {"guests": 2, "color": "red", "note": "n", "tags": ["x"]}).tags == ["x"]
    assert read_form(Contact, {"name": "ab"}) == Contact(name="ab")
    assert read_form(Movie, {"title": "M"}) == {"title": "M"}


@pytest.mark.parametrize(
    ("model", "content", "message"),
    [
        (Booking, {}, "guests: required, but missing\ncolor: required, but missing"),
        (Booking, {"guests": 1}, "color: required, but missing"),
        (Booking, {"guests": 0, "color": "red"}, "guests: it is less than the minimum of 1, got 0"),
        (Booking, {"guests": 1, "color": "green"}, 'color: expected one of "red", "blue", got "green"'),
        (Booking, {"guests": 1, "color": "red", "tags": ["z"]}, 'tags[0]: expected one of "x", "y", got "z"'),
        (
            Contact,
            {"name": 3, "color": "no"},
            'name: expected string, got 3\ncolor: expected one of "red", "blue", got "no"',
        ),
    ],
)
def test_answers_that_do_not_fit(model: type[Any], content: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArguments) as caught:
        read_form(model, content)
    assert str(caught.value) == message


class Nested(TypedDict):
    home: Address


class Listed(TypedDict):
    names: list[str]


class Numbers(TypedDict):
    pick: Literal[1, 2]


class Mapped(TypedDict):
    more: dict[str, str]


class Either(TypedDict):
    value: int | str


class Loose(TypedDict):
    value: Any


@pytest.mark.parametrize("model", [Nested, Listed, Numbers, Mapped, Either, Loose, Box[Address]])
def test_forms_are_flat(model: Any) -> None:
    with pytest.raises(TypeError, match=r"choices of texts and lists of such choices$"):
        form_schema(model)


class Size(enum.Enum):
    SMALL = 1


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (list[int], "list[int] is not a form: declare a class with fields; forms hold text"),
        (list[str], "list[str] is not a form"),
        (dict[str, int], "dict[str, int] is not a form"),
        (Pair, "Pair'> is not a form"),
        (
            Size,
            "<enum 'Size'> is not a form: declare a class with fields; forms hold text, numbers",
        ),
        (Literal[1, 2], "typing.Literal[1, 2] is not a form"),
        (["a", "b"], "['a', 'b'] is not a form: declare a class with fields, or a choice, Literal[...]"),
        ({"a": "string"}, '{\'a\': \'string\'} is not a form: a schema is {"type": "object", "properties": {...}}'),
        ({"type": "object", "properties": ["a"]}, "is not a form: a schema is"),
    ],
    ids=str,
)
def test_what_is_not_a_form(model: Any, said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(said)):
        form_schema(model)


def test_choices_with_titles() -> None:
    class Titled(msgspec.Struct):
        one: Annotated[str, msgspec.Meta(extra_json_schema={"oneOf": [{"const": "a", "title": "A"}]})]

    assert form_schema(Titled)["properties"]["one"]["oneOf"] == [{"const": "a", "title": "A"}]


# Forms that others made, as a client sees them.


def test_defaults_are_filled_in() -> None:
    given = {"color": "red", "ok": True, "guests": 1, "day": None}
    assert filled(BOOKING, given) == {"color": "red", "ok": True, "guests": 1, "tags": [], "price": 1.5}
    assert filled({"type": "object", "properties": {}}, {"a": 1}) == {}  # a question that wants a yes


TITLED = [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]
MAYBE = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}


def form_of(field: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"f": field}, **more}


@pytest.mark.requirement(411)
@rows(
    ("field", "fits", "unfit", "said"),
    [
        ({"type": "string"}, ["", "x"], [1, True, ["x"], {}], "f: expected string"),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab"], ["a"], "shorter than 2"),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["abc"], ["abcd"], "longer than 3"),
        ({"type": "string", "pattern": "^[a-z]+$"}, ["ab"], ["A"], "^[a-z]+$"),
        ({"type": "string", "format": "email"}, ["a@b.example"], ["a"], "f: expected email"),
        ({"type": "string", "format": "uri"}, ["https://a.example/"], ["a b"], "f: expected uri"),
        ({"type": "string", "format": "date"}, ["2026-07-28"], ["28.7.2026"], "f: expected date such as"),
        ({"type": "string", "format": "date-time"}, ["2026-07-28T01:02:03Z"], ["now"], "f: expected date-time such as"),
        ({"type": "string", "format": "of our own"}, ["x"], [1], "f: expected string"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, [1, 3, 2.0], [0], "minimum of 1"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, [1], [4], "maximum of 3"),
        ({"type": "integer"}, [-1], [1.5, "1", True], "f: expected integer"),
        ({"type": "number", "minimum": 0}, [0, 0.5], ["1", True], "f: expected number"),
        ({"type": "boolean"}, [True, False], [1, "true"], "f: expected boolean"),
        ({"type": "string", "enum": ["a", "b"]}, ["a"], ["c", ""], 'f: expected one of "a", "b", got'),
        ({"type": "string", "enum": ["a"], "enumNames": ["A"]}, ["a"], ["A"], 'f: expected one of "a", got "A"'),
        ({"type": "string", "oneOf": TITLED}, ["#f00"], ["Red", ""], 'f: expected one of "#f00", "#0f0", got'),
        (MAYBE, ["x"], [1], "f: expected string or null, got 1"),
    ],
)
def test_what_each_kind_of_field_takes(field: Any, fits: list[Any], unfit: list[Any], said: str) -> None:
    for lists in (True, False):
        check_form(form_of(field), lists=lists)
    for value in fits:
        assert filled(form_of(field), {"f": value}) == {"f": value}
    for value in unfit:
        with pytest.raises(ValueError, match=re.escape(said)):
            filled(form_of(field), {"f": value})


@pytest.mark.parametrize(
    ("field", "fits", "unfit", "said"),
    [
        ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, [[], ["a", "b"]], ["a"], "expected array"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, [["a"]], [["c"]], 'f[0]: expected one of "a", "b", got "c"'),
        ({"type": "array", "items": {"anyOf": TITLED}}, [["#f00"]], [["Red"]], 'f[0]: expected one of "#f00", "#0f0"'),
        ({"type": "array", "minItems": 1, "items": {"enum": ["a"]}}, [["a"]], [[]], "less than 1 item"),
        ({"type": "array", "maxItems": 1, "items": {"enum": ["a"]}}, [["a"]], [["a", "a"]], "more than 1 item"),
        ({"type": "array", "items": {"type": "string"}}, [["x"]], [[1], [{}]], "f[0]: expected string"),
    ],
    ids=str,
)
def test_lists_of_choices_where_the_version_has_them(field: Any, fits: list[Any], unfit: list[Any], said: str) -> None:
    form = form_of(field)
    check_form(form, lists=True)
    for value in fits:
        assert filled(form, {"f": value}) == {"f": value}
    for value in unfit:
        with pytest.raises(ValueError, match=re.escape(said)):
            filled(form, {"f": value})
    with pytest.raises(ValueError, match="its field 'f' is not one that forms have"):
        check_form(form, lists=False)


def test_nothing_is_sent_that_the_form_does_not_have() -> None:
    form = form_of({"type": "string"}, required=["f"])
    with pytest.raises(ValueError, match=re.escape("ff: unknown name; known are: f. Did you mean 'f'?")):
        filled(form, {"f": "x", "ff": "y"})
    with pytest.raises(ValueError, match="f: required, but missing"):
        filled(form, {"f": None})


NESTED = {"type": "object", "properties": {"a": {"type": "string"}}}


@rows(
    ("form", "said"),
    [
        ({}, "a form is"),
        ({"type": "object"}, "a form is"),
        ({"type": "array", "properties": {}}, "a form is"),
        ({"type": "object", "properties": 5}, "properties"),
        (
            {"type": "object", "properties": {str(each): {"type": "string"} for each in range(101)}},
            "at most 100 fields",
        ),
        ({"$schema": "https://a.example/s", "type": "object", "properties": {}}, "unsupported JSON Schema dialect"),
        *(
            (form_of(field), "its field 'f' is not one that forms have")
            for field in list[Any](
                (
                    True,
                    {},
                    NESTED,
                    {"type": "array", "items": NESTED},
                    {"type": "array", "items": {"type": "integer"}},
                    {"type": "array"},
                    {"type": "null"},
                    {"type": ["string", "object"]},
                    {"anyOf": [NESTED, {"type": "null"}]},
                    {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                    {"anyOf": [True]},
                    {"oneOf": [True, {"const": "a"}]},
                    {"oneOf": [{"const": {}}]},
                    {"allOf": [NESTED]},
                    {"type": "integer", "enum": [1, 2]},
                    {"type": "string", "enum": []},
                    {"enum": [str(each) for each in range(1001)]},
                )
            )
        ),
        *(
            (form_of(field), "its field 'f' is not one that forms have")
            for field in list[Any](
                (
                    {"type": "string", "oneOf": [{"const": str(each)} for each in range(1001)]},
                    {"type": "string", "anyOf": [{"const": str(each)} for each in range(1001)]},
                    {"type": "array", "items": {"type": "string", "enum": [str(each) for each in range(1001)]}},
                )
            )
        ),
        (form_of({"type": "integer", "default": "x"}), 'its defaults do not fit: f: expected integer, got "x"'),
        (form_of({"enum": ["a"], "default": "b"}), 'its defaults do not fit: f: expected one of "a"'),
        (form_of({"$ref": "#/properties/f"}), "applies itself"),
        (form_of({"$ref": "https://a.example/s"}), "nothing is ever fetched"),
        (form_of({"type": "string", "pattern": "("}), "pattern"),
        (form_of({"type": "string", "pattern": "a" * 20_000}), "patterns"),
        (form_of({"type": "string", "minLength": "2"}), "minLength"),
        (form_of({"enum": 5}), "enum"),
        (form_of({"type": "string"}, required="f"), "required"),
    ],
)
def test_forms_that_nobody_should_be_shown(form: Any, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        check_form(form, lists=True)


def test_a_pattern_without_end_ends() -> None:
    """Trying all ways to split the text would take longer than any test may."""
    form = form_of({"type": "string", "pattern": "^(a|a)+$"})
    check_form(form, lists=True)
    with pytest.raises(ValueError, match="f: "):
        filled(form, {"f": "a" * 60 + "b"})
