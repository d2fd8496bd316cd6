r"""Text of others on this terminal: shown, never obeyed.

What a server says may hold escape sequences that rewrite the screen, and characters that reverse the direction of
reading or cannot be seen. They are written out instead (`\x1b`, `\u202e`).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

_ALLOWED = "\n\t\u200c\u200d"
"""Line ends and tabs; and the two joiners, which scripts and emoji need, where they do."""

_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories: controls, formats (bidi among them), lone surrogates, line and paragraph separators."""

_STRAY = re.compile(
    "(?:(?<![\u0600-\u109f\u1780-\u18af\u2190-\u2bff\ua840-\uabff\ufb50-\ufdff\ufe0f\ufe70-\ufefc\U0001e900-\U0001e95f"
    "\U0001f000-\U0001faff])[\u200c\u200d]|(?<![0-9#*\xa9\xae\u203c-\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]|"
    "[\u034f\u17b4\u17b5\ufe00-\ufe0d])[\u200c\u200d\ufe00-\ufe0f]*"
)
"""Joiners that join nothing, and selectors that select nothing: a text can be hidden in a row of them."""

_BLANK = re.compile("[\u115f\u1160\u2800\u3164\uffa0\u180b-\u180f\U000e0100-\U000e01ef]")
"""Letters that are drawn as nothing, and selectors that can carry hidden text."""


def safe(text: str) -> str:
    """Write out every character that a terminal would obey, or a reader could not see."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = "".join(_written_out(each) if _is_unsafe(each) else each for each in text)
    return _STRAY.sub(lambda found: _written_out(found[0]), text)


def one_line(text: str) -> str:
    """Make text safe and one line of it, for names and headings."""
    if text.isascii() and text.isprintable() and "  " not in text:  # as most are
        return text.strip()
    return " ".join(safe(text).split())


def whole(text: str) -> str:
    """Join halves of characters (surrogates) that belong together; one without the other becomes U+FFFD.

    Terminals and models cut text within a character. Such text can be shown, and neither kept nor sent.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def unseen(text: str) -> int:
    """Count the characters that a reader could not see, or a terminal would obey."""
    if text.isascii() and text.isprintable():
        return 0
    return sum(map(len, _STRAY.findall(text))) + sum(map(_is_unsafe, text.replace("\r\n", "\n")))


def listed(message: str, known: Iterable[str]) -> str:
    """Add what there is to a message that says what there is not."""
    joint = " There are" if message.endswith((".", "?", "!")) else "; there are"
    return f"{message}{joint} {', '.join(map(one_line, known))}"


def as_json(value: Any) -> str:
    """Write a value as JSON for people and programs: indented, and safe on a terminal without losing anything."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if text.isascii() and "\x7f" not in text:  # the other controls are escaped by JSON itself
        return text
    text = "".join(_escaped(each) if _is_unsafe(each) else each for each in text)
    return _STRAY.sub(lambda found: _escaped(found[0]), text)


def parted(text: str) -> Iterator[tuple[str, bool]]:
    """Part a text into what can be seen and what `safe` would write out: each part, and whether it is hidden."""
    text = text.replace("\r\n", "\n")
    strays = {at for found in _STRAY.finditer(text) for at in range(*found.span())}
    marked = ((each, at in strays or _is_unsafe(each)) for at, each in enumerate(text))
    for is_hidden, part in groupby(marked, itemgetter(1)):
        yield "".join(each for each, _ in part), is_hidden


def size(count: int) -> str:
    """Write a number of bytes."""
    return f"{count} bytes" if count < 10_000 else f"{count / 1024:,.0f} KiB"


def _is_unsafe(character: str) -> bool:
    return (character not in _ALLOWED and unicodedata.category(character) in _UNSEEN) or bool(_BLANK.match(character))


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _escaped(character: str) -> str:
    """Escape a character the way JSON does; such characters stand only inside of strings."""
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
