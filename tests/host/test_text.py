"""Text of servers is shown, never obeyed."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from splice.host.text import as_json, one_line, safe, size, unseen
from support.tables import rows


@rows(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("from\r\nWindows", "from\nWindows"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("back\rwards", "back\\rwards"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("line\u2028separator", "line\\u2028separator"),
        ("\ufeffmark", "\\ufeffmark"),
        ("hidden\U000e0041", "hidden\\U000e0041"),
        ("\u00e9\u4e2d\U0001f468\u200d\U0001f469", "\u00e9\u4e2d\U0001f468\u200d\U0001f469"),
        ("\ud800", "\\ud800"),
        ("git\u200dhub", "git\\u200dhub"),
        (
            "\u0645\u06cc\u200c\u062e \u2764\ufe0f\u200d\U0001f525 1\ufe0f",
            "\u0645\u06cc\u200c\u062e \u2764\ufe0f\u200d\U0001f525 1\ufe0f",
        ),
        ("a\ufe0f\u200c\ufe01 \U0001f525\u200d\u200d", "a\\ufe0f\\u200c\\ufe01 \U0001f525\u200d\\u200d"),
    ],
)
def test_a_terminal_is_not_told_what_to_do(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_a_name_stays_on_its_line() -> None:
    assert one_line("a\n  b\tc\x1b") == "a b c\\x1b"


@given(st.text())
def test_nothing_unsafe_is_left(text: str) -> None:
    left = {unicodedata.category(each) for each in safe(text) if each not in "\n\t\u200c\u200d"}
    assert left.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})
    assert safe(safe(text)) == safe(text)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_json_is_safe_and_says_the_same(value: dict[str, str | int | None]) -> None:
    try:
        text = as_json(value)
    except UnicodeEncodeError:  # a lone surrogate cannot be on the wire
        return
    assert json.loads(text) == value
    assert safe(text) == text


def test_json_escapes_what_a_terminal_obeys() -> None:
    assert as_json({"a": "\x1b\u202e\U000e0041\u00e9"}) == '{\n  "a": "\\u001b\\u202e\\udb40\\udc41\u00e9"\n}'


def test_sizes() -> None:
    assert size(70) == "70 bytes"
    assert size(20480) == "20 KiB"


def test_a_text_that_is_hidden_in_joiners_and_selectors_is_counted() -> None:
    assert unseen("plain" + "\u200c\u200d" * 8 + "\ufe00\ufe01") == 18
    assert unseen("\u0645\u06cc\u200c\u062e \U0001f468\u200d\U0001f469") == 0
