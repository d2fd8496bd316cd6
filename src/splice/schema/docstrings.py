"""What a docstring says about a function, and about each of its parameters.

Google, NumPy and Sphinx style are understood, and told apart section by section.
"""

import inspect
import re
from typing import NamedTuple

_SECTIONS = {
    "args",
    "arguments",
    "parameters",
    "params",
    "attributes",
    "keyword args",
    "keyword arguments",
    "other parameters",
}
_GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*(?:\([^)]*\)[^)]*)*\))?\s*:\s*(.*)")
_NUMPY_ITEM = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_SPHINX_ITEM = re.compile(r":(?:param|parameter|arg|argument|key|keyword|type|rtype)\b\s*([^:]*):\s*(.*)")


class Doc(NamedTuple):
    """A docstring, taken apart."""

    description: str
    """Everything but the sections about parameters."""
    parameters: dict[str, str]


def parse(text: str | None) -> Doc:
    """Take a docstring apart."""
    if not text:
        return Doc("", {})
    lines = inspect.cleandoc(text).split("\n")
    if len(lines) == 1 and not lines[0].startswith(":"):
        return Doc(lines[0], {})
    kept: list[str] = []
    parameters: dict[str, str] = {}
    place = 0
    while place < len(lines):
        for take in (_google, _numpy, _sphinx):
            if (end := take(lines, place, parameters)) > place:
                place = end
                break
        else:
            kept.append(lines[place])
            place += 1
    return Doc(_tidy(kept), parameters)


def _google(lines: list[str], start: int, parameters: dict[str, str]) -> int:
    """Read `Args:` and what is indented below it; return where it ends."""
    heading = lines[start]
    if not heading.endswith(":") or heading[:-1].strip().lower() not in _SECTIONS:
        return start
    end = _end_of_block(lines, start + 1, _indent(heading))
    block = [line for line in lines[start + 1 : end] if line.strip()]
    margin = min(map(_indent, block), default=0)
    name = ""
    for line in block:
        item = _GOOGLE_ITEM.match(line.strip()) if _indent(line) == margin else None
        if item:
            name = item[1]
            parameters[name] = item[2]
        elif name:
            parameters[name] = f"{parameters[name]} {line.strip()}".strip()
    return end


def _numpy(lines: list[str], start: int, parameters: dict[str, str]) -> int:
    """Read an underlined `Parameters` section; return where it ends."""
    rule = lines[start + 1].strip() if start + 1 < len(lines) else ""
    if lines[start].strip().lower() not in _SECTIONS or not rule or set(rule) != {"-"}:
        return start
    margin, place = _indent(lines[start]), start + 2
    names: list[str] = []
    while place < len(lines) and not _is_numpy_heading(lines, place):
        line = lines[place]
        place += 1
        if not line.strip():
            continue
        if _indent(line) > margin:
            for name in names:
                parameters[name] = f"{parameters[name]} {line.strip()}".strip()
        elif item := _NUMPY_ITEM.fullmatch(line.strip()):
            names = [name.strip(" *") for name in item[1].split(",")]
            parameters.update(dict.fromkeys(names, ""))
        else:
            return place - 1
    return place


def _is_numpy_heading(lines: list[str], place: int) -> bool:
    rule = lines[place + 1].strip() if place + 1 < len(lines) else ""
    return bool(lines[place].strip()) and len(rule) > 2 and set(rule) == {"-"}


def _sphinx(lines: list[str], start: int, parameters: dict[str, str]) -> int:
    """Read one `:param name: text` and the lines that continue it; return where it ends."""
    item = _SPHINX_ITEM.match(lines[start].strip())
    if not item:
        return start
    end = start + 1
    while end < len(lines) and lines[end].strip() and _indent(lines[end]) > _indent(lines[start]):
        end += 1
    words = item[1].split()
    if words and not lines[start].lstrip().startswith((":type", ":rtype")):
        parameters[words[-1].lstrip("*")] = " ".join(
            [item[2], *(line.strip() for line in lines[start + 1 : end])]
        ).strip()
    return end


def _end_of_block(lines: list[str], start: int, margin: int) -> int:
    end = start
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > margin):
        end += 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _tidy(lines: list[str]) -> str:
    """Join what is left; where a section went, one empty line is enough."""
    return re.sub(r"\n\s*\n\s*\n+", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()
