"""The difference of two definitions: nothing of it is lost, and no text makes it slow."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.host.items import Change
from splice.host.tools.words import MAX_CHANGES, MAX_SHOWN, Budget, compare, difference

TEXT = st.text("ab \n", max_size=60)


@given(TEXT, TEXT)
def test_both_texts_can_be_read_out_of_the_difference(old: str, new: str) -> None:
    words = compare(old, new, Budget())
    assert "".join(text for sign, text in words if sign != "+") == old
    assert "".join(text for sign, text in words if sign != "-") == new


def test_words_that_stayed_are_kept() -> None:
    assert compare("Send a mail to somebody.", "Send a mail to me and somebody.", Budget()) == [
        (" ", "Send a mail to "),
        ("+", "me and "),
        (" ", "somebody."),
    ]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"name": "a"}, {"name": "a"}, []),
        ({"name": "a"}, {"name": "a", "title": "T"}, [Change("title", [("+", "T")])]),
        ({"a": {"b": "x", "c": 1}}, {"a": {"b": "x"}}, [Change("a.c", [("-", "1")])]),
        ({"a": {"b": "x y"}}, {"a": {"b": "x z"}}, [Change("a.b", [(" ", "x "), ("-", "y"), ("+", "z")])]),
        ({"a": "1"}, {"a": 1}, [Change("a", [("-", '"1"'), ("+", "1")])]),
        ({"a": ["x", "y"]}, {"a": ["x"]}, [Change("a", [("-", '["x", "y"]'), ("+", '["x"]')])]),
        (
            {"a": [{"b": 1}]},
            {"a": {"0": {"b": 1}}},
            [Change("a.0.b", [("+", "1")]), Change("a.0.b", [("-", "1")])],
        ),
        ({"a": {}}, {"a": {"b": {}}}, [Change("a.b", [("+", "{}")]), Change("a", [("-", "{}")])]),
        ({"a.b": "x"}, {"a": {"b": "x"}}, [Change("a.b", [("+", "x")]), Change("a.b", [("-", "x")])]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, [Change("a.0.b", [("-", "1"), ("+", "2")])]),
    ],
)
def test_each_part_that_is_not_as_it_was_is_named(before: Any, after: Any, changes: list[Change]) -> None:
    assert difference(before, after) == changes


def test_what_is_not_shown_is_counted() -> None:
    many = difference({}, {f"part{number}": number for number in range(MAX_CHANGES + 3)})
    assert many[-1] == Change("", [("+", "3 more parts changed")])
    [change] = difference({"a": "short"}, {"a": "x" * (MAX_SHOWN + 7)})
    assert change.words[1][1].endswith("\u2026 and 7 more characters")


@pytest.mark.parametrize("letters", ["ab", "abcdefghijklmnop"])
def test_long_texts_are_compared_in_bounded_time(letters: str) -> None:
    """To the end, this comparison would take longer than any test may: what is left of the budget ends it."""
    chosen = random.Random(1)
    texts = [" ".join(chosen.choices(letters, k=40_000 + each)) for each in range(2)]
    budget = Budget()
    changes = difference({str(n): texts[0] for n in range(8)}, {str(n): texts[1] for n in range(8)}, budget)
    assert len(changes) == 8
    assert budget.left <= 0
