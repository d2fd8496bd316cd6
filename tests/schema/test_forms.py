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
from splice.schema.forms import apply_defaults, form_schema, read_form
from splice.schema.schemas import BadArguments


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


def test_defaults_are_filled_in() -> None:
    assert apply_defaults(BOOKING, {"ok": True, "guests": 1}) == {"ok": True, "guests": 1, "tags": [], "price": 1.5}
    assert apply_defaults({}, {"a": 1}) == {"a": 1}
