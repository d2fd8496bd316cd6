"""Docstrings, taken apart: the description of a function, and one for each of its parameters.

Google, NumPy and Sphinx style are understood, and told apart section by section.
"""

import inspect
import re
from itertools import takewhile
from typing import NamedTuple

_SECTION = re.compile(r"((keyword |other )?(args|arguments|parameters)|params|attributes)\s*(:?)", re.IGNORECASE)
_RULE = re.compile("-+")
_GOOGLE_ITEM = re.compile(r"\*{0,2}(?P<names>\w+)\s*(?:\([^)]*(?:\([^)]*\)[^)]*)*\))?\s*:\s*(?P<text>.*)")
_NUMPY_ITEM = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?(?P<text>)")
_SPHINX_ITEM = re.compile(
    r":(?:(?:param|parameter|arg|argument|key|keyword)\b(?P<names>[^:]*)|(?:type|rtype)\b[^:]*):\s*(?P<text>.*)"
)


class Doc(NamedTuple):
    """A docstring, taken apart."""

    description: str
    """Everything but the sections about parameters."""
    parameters: dict[str, str]


def parse(text: str | None) -> Doc:
    """Take a docstring apart."""
    lines = inspect.cleandoc(text or "").split("\n")
    kept: list[str] = []
    parameters: dict[str, str] = {}
    while lines:
        head, item, section = _section(lines)
        if item is None:
            kept.append(lines[0].rstrip())
        else:
            _read(section, item, parameters)
        del lines[: head + len(section)]
    # Where a section went, one empty line is enough.
    return Doc(re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip(), parameters)


def _section(lines: list[str]) -> tuple[int, re.Pattern[str] | None, list[str]]:
    """Find the section about parameters that begins here: the length of its heading, how items look, and its lines."""
    margin, found = _indent(lines[0]), _SECTION.fullmatch(lines[0].strip())
    if found and found[4]:
        return 1, _GOOGLE_ITEM, list(takewhile(lambda line: not line.strip() or _indent(line) > margin, lines[1:]))
    if found and _is_rule(lines, 1):
        section = list(takewhile(lambda line: _is_numpy(line, margin), lines[2:]))
        if section and _is_rule(lines, 2 + len(section)):
            section.pop()  # it is the heading of the next section
        return 2, _NUMPY_ITEM, section
    if _SPHINX_ITEM.fullmatch(lines[0].strip()):
        more = takewhile(lambda line: line.strip() and _indent(line) > margin, lines[1:])
        return 0, _SPHINX_ITEM, [lines[0], *more]
    return 1, None, []


def _read(section: list[str], form: re.Pattern[str], parameters: dict[str, str]) -> None:
    """Read the items of a section, each of which may go on in lines that are indented further."""
    margin = min((_indent(line) for line in section if line.strip()), default=0)
    names: list[str] = []
    for line in section:
        text = line.strip()
        if _indent(line) == margin and (item := form.fullmatch(text)):
            # Sphinx may put a type before the name.
            names = [name.split()[-1].lstrip("*") for name in (item["names"] or "").split(",") if name.strip()]
            parameters.update(dict.fromkeys(names, ""))
            text = item["text"]
        for name in names:
            parameters[name] = f"{parameters[name]} {text}".strip()


def _is_numpy(line: str, margin: int) -> bool:
    """Tell whether a line belongs to a section in NumPy's style: an item, or what is said of it."""
    return not line.strip() or _indent(line) > margin or _NUMPY_ITEM.fullmatch(line.strip()) is not None


def _is_rule(lines: list[str], place: int) -> bool:
    return place < len(lines) and _RULE.fullmatch(lines[place].strip()) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
