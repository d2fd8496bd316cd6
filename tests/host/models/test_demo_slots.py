"""What the demo model reads out of a sentence: days, values for fields, yes and no."""

from datetime import date
from typing import Any

import pytest

from splice.host.models.demo import dates
from splice.host.models.demo.slots import fill
from splice.host.models.demo.talk import read_word
from splice.types import Tool
from support.tables import rows

TODAY = date(2027, 6, 9)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on 15 June 2027", ["2027-06-15"]),
        ("from June 15th to the 22nd of June", ["2027-06-15", "2027-06-22"]),
        ("1 May", ["2028-05-01"]),
        ("tomorrow at 2:30 pm", ["2027-06-10", "14:30"]),
        ("day after tomorrow at noon", ["2027-06-11", "12:00"]),
        ("next Friday, this Wednesday, Wednesday", ["2027-06-18", "2027-06-09", "2027-06-16"]),
        ("in 2 weeks, 3 days ago, next week", ["2027-06-23", "2027-06-06", "2027-06-14"]),
        ("2027-06-15T09:30Z", ["2027-06-15T09:30Z"]),
        ("31 June, 2027-13-01, 25:00, in 99999 months, February 30", []),
        ("may 5 of them march on", ["2028-05-05"]),
    ],
)
def test_dates(text: str, found: list[str]) -> None:
    assert [each.value for each in dates.find(text, TODAY)] == found


@rows(
    ("text", "word"),
    [
        ("Yes, please go on.", "yes"),
        ("ok", "yes"),
        ("Sounds good, book it!", "yes"),
        ("try again", "yes"),
        ("no, thank you", "no"),
        ("Stop.", "no"),
        ("don\u2019t do it", "no"),
        ("yes, but take a cheaper hotel", "new"),
        ("ok now list docs", "new"),
        ("no, read README.md", "new"),
        ("please", "new"),
        ("", "new"),
    ],
)
def test_yes_and_no(text: str, word: str) -> None:
    assert read_word(text) == word


def field(**schema: Any) -> Tool:
    return Tool(name="x__y", input_schema={"type": "object", "properties": {"v": schema}, "required": ["v"]})


@rows(
    ("schema", "text", "value"),
    [
        ({"type": "string", "enum": ["celsius", "kelvin"]}, "the heat in celsiuss", "celsius"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "give me three", 3),
        ({"type": "number"}, "about 2.5 of them", 2.5),
        ({"type": ["integer", "null"]}, "about 2.5 of them", None),
        ({"type": "string", "format": "uri"}, "see https://example.org/a?b=c.", "https://example.org/a?b=c"),
        ({"type": "string", "format": "email"}, "to a@example.org, b@example.org", "a@example.org"),
        ({"type": "string", "format": "date-time"}, "next Friday at 3 pm", "2027-06-18T15:00"),
        ({"type": "string", "format": "time"}, "at 9:05 am", "09:05"),
        ({"type": "string"}, 'it is "this one"', "this one"),
        ({"type": "string"}, "v = that", "that"),
        ({"type": "boolean"}, "v=no", False),
        ({"type": "boolean"}, "without v", False),
        ({"type": "string", "enum": [1, {}, "a"]}, "v: 1", 1),
        ({"$ref": "#/$defs/none"}, "nothing here", None),
        ({"type": "object"}, "v={}", None),
    ],
)
def test_fields_take_what_fits_their_kind(schema: dict[str, Any], text: str, value: Any) -> None:
    filled = fill(field(**schema), text, TODAY)
    assert filled.arguments == ({} if value is None else {"v": value})
