"""What is wrong with a value, and where: found by msgspec, by a model of the user's, or by a check of ours.

All of it is put in JSON's words here, because a model on the other side reads it.
"""

import re
from typing import Any, TypeAlias, cast

from msgspec import UNSET, Struct

Path: TypeAlias = tuple[str | int, ...]

SOMEWHERE = "[...]"
"""The step of a path that msgspec does not tell: some key of a dict."""

_JSON_NAMES = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}
_FIXED = {
    "Invalid RFC3339 encoded datetime": "expected a date and time such as 2026-01-31T09:30:00Z",
    "Invalid RFC3339 encoded date": "expected a date such as 2026-01-31",
    "Invalid RFC3339 encoded time": "expected a time such as 09:30:00",
    "Invalid ISO8601 duration": "expected a duration such as PT1H30M",
    "Invalid UUID": "expected a UUID",
    "Invalid base64 encoded string": "expected text in base64",
    "Invalid decimal string": "expected a decimal number",
}
_BY_PYDANTIC = {
    "missing": "required, but missing",
    "extra_forbidden": "unknown member",
    "model_type": "expected object",
    "model_attributes_type": "expected object",
    "dataclass_type": "expected object",
    "dict_type": "expected object",
    "list_type": "expected array",
    "string_type": "expected string",
    "int_type": "expected integer",
    "int_parsing": "expected integer",
    "float_type": "expected number",
    "float_parsing": "expected number",
    "bool_type": "expected boolean",
    "bool_parsing": "expected boolean",
}
_MEMBER = re.compile(r"Object (missing required|contains unknown) field `(.*)`")
_KIND = re.compile(r"`([^`]*)`")
_STEP = re.compile(r"\[(\d+)\]|\[\.\.\.\]|\.?([^.\[]+)")


class Problem(Struct, frozen=True):
    """One thing wrong with a value."""

    path: Path
    text: str
    value: Any = UNSET
    """What was found there, when it is known."""

    def under(self, path: Path) -> "Problem":
        """Give the same problem, seen from further out."""
        return Problem(path + self.path, self.text, self.value)


class Refused(ValueError):
    """A value does not fit a type."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.text for problem in problems))
        self.problems = problems


def problems_of(error: BaseException) -> list[Problem]:
    """Take an error of a decode or of a conversion apart."""
    text, path = _cut(str(error))
    cause = error if isinstance(error, Refused) else error.__cause__
    if isinstance(cause, Refused):
        return [problem.under(() if cause is error else path) for problem in cause.problems]
    if member := _MEMBER.fullmatch(text):
        missing = member[1].startswith("missing")
        return [Problem((*path, member[2]), "required, but missing" if missing else "unknown member")]
    return [Problem(path, _translated(text))]


def problems_of_foreign(error: ValueError) -> list[Problem]:
    """Take an error of pydantic's apart, or of anything that tells `errors()` as it does."""
    found = cast("list[dict[str, Any]]", cast("Any", error).errors())
    return [_foreign(one) for one in found]


def _foreign(found: dict[str, Any]) -> Problem:
    kind, text = str(found["type"]), str(found["msg"]).removeprefix("Value error, ")
    text = _BY_PYDANTIC.get(kind) or text.replace("Input should be ", "expected ", 1)
    value = UNSET if kind in ("missing", "extra_forbidden") else found["input"]
    return Problem(tuple(found["loc"]), text, value)


def _cut(message: str) -> tuple[str, Path]:
    """Cut msgspec's message into what and where: ``Expected `int`, got `str` - at `$.a[0]` ``."""
    text, found, place = message.rpartition(" - at `")
    if not found:
        return message, ()
    text += " as a key" if place.startswith("key` in `") else ""
    steps = _STEP.finditer(place.removesuffix("`").rpartition("$")[2])
    return text, tuple(int(step[1]) if step[1] else step[2] or SOMEWHERE for step in steps)


def _translated(text: str) -> str:
    """Put msgspec's words into JSON's."""
    if text in _FIXED:
        return _FIXED[text]
    if not text.startswith("Expected `"):
        return text
    wanted, _, got = text.removeprefix("Expected ").partition(", got `")
    as_key = " as a key" if got.endswith(" as a key") else ""
    return "expected " + _KIND.sub(_kinds, wanted).replace(" that's a", ", a") + as_key


def _kinds(found: re.Match[str]) -> str:
    return " or ".join(_JSON_NAMES.get(kind, kind) for kind in found[1].split(" | "))
