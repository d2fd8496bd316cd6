"""What the activity log may keep of arguments and results: no secrets, no long bodies, and a hash of the whole.

A secret is known by the name that stands before it (``password``, ``apiKey``), or by its value: those that the
configuration puts into environments and headers are told to the log.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from splice.host.asked import Json
from splice.host.secrecy import is_secret_name

HIDDEN = "[hidden]"
"""Stands in the place of a secret."""

MIN_SECRET = 6
"""A value shorter than this is looked for under no other name: it would blot out ordinary words."""

MAX_TEXT = 500
"""How many characters of a text are kept, unless bodies are kept whole."""

MAX_DEPTH = 40
"""How deep a value is looked into. What is deeper is left out: recursion has an end."""

_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}")


def digest(value: Json) -> tuple[str, int]:
    """Tell the SHA-256 and the size of a value written as JSON, whose members are sorted."""
    body = msgspec.json.encode(value, order="sorted")
    return hashlib.sha256(body).hexdigest(), len(body)


class Redaction:
    """Takes secrets out of values before they are kept."""

    def __init__(self, *, keeps_bodies: bool = False) -> None:
        self.keeps_bodies = keeps_bodies
        """Long texts are kept whole."""
        self._values: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def hide(self, values: Iterable[str]) -> None:
        """Take these values out of everything, wherever they stand. Short ones are not looked for."""
        known = len(self._values)
        self._values |= {value for value in values if len(value) >= MIN_SECRET}
        if len(self._values) > known:
            longest_first = sorted(self._values, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def text(self, text: str) -> str:
        """Write a text without secrets, and no longer than it is kept."""
        if self._pattern is not None:
            text = self._pattern.sub(HIDDEN, text)
        text = _BEARER.sub(rf"\1 {HIDDEN}", text)
        if len(text) > MAX_TEXT and not self.keeps_bodies:
            return f"{text[:MAX_TEXT]}… ({len(text):,} characters)"
        return text

    def value(self, value: Any, depth: int = 0) -> Json:
        """Write a value of JSON without secrets."""
        if isinstance(value, str):
            return self.text(value)
        if depth > MAX_DEPTH:
            return "…"
        if isinstance(value, Mapping):
            return self._members(cast("Mapping[object, Any]", value), depth)
        if isinstance(value, list | tuple):
            return [self.value(each, depth + 1) for each in cast("Sequence[Any]", value)]
        return value if value is None or isinstance(value, bool | int | float) else self.text(str(value))

    def _members(self, members: Mapping[object, Any], depth: int) -> dict[str, Json]:
        return {
            self.text(str(name)): HIDDEN
            if is_secret_name(str(name)) and isinstance(each, str | int | float) and not isinstance(each, bool)
            else self.value(each, depth + 1)
            for name, each in members.items()
        }
