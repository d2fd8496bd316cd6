"""Docstrings, taken apart: the description of a function, and one for each of its parameters.

Google, NumPy and Sphinx style are understood, and told apart section by section.
"""

import re
from inspect import cleandoc
from typing import NamedTuple

_HEADING = r"^(?P<margin> *)(?:(?:keyword |other )?(?:args|arguments|parameters)|params|attributes) *"
_DEEPER = r" *\n|(?P=margin) +\S.*\n"
_NAMES = r"\*{0,2}\w+(?: *, *\*{0,2}\w+)*"
_FIELD = r":(?:param|parameter|arg|argument|key|keyword)\b"

_GOOGLE = (
    rf"{_HEADING}: *\n(?P<items>(?:{_DEEPER})*)",
    r"\*{0,2}(?P<names>\w+)\s*(?:\([^)]*(?:\([^)]*\)[^)]*)*\))?\s*:\s*(?P<text>.*)",
)
_NUMPY = (
    # An underlined line is the heading of the next section.
    rf"{_HEADING}\n *-+ *\n(?P<items>(?:(?:{_DEEPER}| *{_NAMES} *(?::.*)?\n)(?! *-+ *\n))*)",
    rf"(?P<names>{_NAMES})\s*(?::.*)?(?P<text>)",
)
_SPHINX = (
    rf"^(?P<margin> *)(?P<items>(?:{_FIELD}|:r?type\b)[^:\n]*:.*\n(?:{_DEEPER})*)",
    rf"(?:{_FIELD}(?P<names>[^:]*)|:r?type\b[^:]*):\s*(?P<text>.*)",
)
"""Each style: what a section about parameters looks like, and what an item in it does."""


class Doc(NamedTuple):
    """A docstring, taken apart."""

    description: str
    """Everything but the sections about parameters."""
    parameters: dict[str, str]


def parse(text: str | None) -> Doc:
    """Take a docstring apart."""
    rest, parameters = cleandoc(text or "") + "\n", dict[str, str]()
    for style, item in (_GOOGLE, _NUMPY, _SPHINX):
        section = re.compile(style, re.IGNORECASE | re.MULTILINE)
        for found in section.finditer(rest):
            _read(found["items"].splitlines(), item, parameters)
        rest = section.sub("", rest)
    # Where a section went, one empty line is enough.
    return Doc(re.sub(r"\n{3,}", "\n\n", rest).strip(), parameters)


def _read(section: list[str], form: str, parameters: dict[str, str]) -> None:
    """Read the items of a section, each of which may go on in lines that are indented further."""
    margin = min((_indent(line) for line in section if line.strip()), default=0)
    names: list[str] = []
    for line in section:
        text = line.strip()
        if _indent(line) == margin and (item := re.fullmatch(form, text)):
            # Sphinx may put a type before the name.
            names = [name.split()[-1].lstrip("*") for name in (item["names"] or "").split(",") if name.strip()]
            parameters.update(dict.fromkeys(names, ""))
            text = item["text"]
        for name in names:
            parameters[name] = f"{parameters[name]} {text}".strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
