"""Taking a URI apart by a template, in time that grows with the length of the URI alone.

Each part of the template is sought once and what it took is never given back: the regular expressions made here are
atomic throughout, so there is nothing to backtrack into.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from splice.protocol.uri_parts import Expression, Parts, Variable, escape, unescape


class _Run(NamedTuple):
    """Where one variable stands in the path of a URI."""

    variable: Variable
    excluded: str
    """Characters that end it."""
    lead: str = ""
    """What stands before it; a run with a lead may be absent."""
    optional_equals: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it takes anything, across segments."""
        return "/" not in self.excluded


_Element: TypeAlias = str | _Run


def why_unmatchable(parts: Parts) -> str:
    """Say why no URI can be taken apart by a template; empty when it can be done."""
    for place, part in enumerate(parts):
        if isinstance(part, str):
            continue
        later = parts[place + 1 :]
        if part.operator in tuple("?&#") and not all(
            isinstance(each, Expression) and each.operator in tuple("&#") for each in later
        ):
            return f"{{{part.operator}...}} must stand at the end"
        if part.operator in tuple(";?&") and any(variable.explode for variable in part.variables):
            return f"{{{part.operator}...*}} stands for more than text"
    for before, after in pairwise(_elements(parts)):
        if isinstance(before, _Run) and isinstance(after, _Run) and not after.lead:
            return f"nothing stands between {before.variable.name} and {after.variable.name}"
    return ""


def _elements(parts: Parts) -> list[_Element]:
    """Turn the part of a template before query and fragment into literals and runs."""
    elements: list[_Element] = []
    for part in parts:
        if isinstance(part, str):
            elements.append(part)
        elif part.operator not in tuple("?&#"):
            elements += _runs(part)
    return elements


def _runs(expression: Expression) -> Iterator[_Element]:
    operator, several = expression.operator, len(expression.variables) > 1
    for place, variable in enumerate(expression.variables):
        if operator == "+":
            if place:
                yield ","
            yield _Run(variable, "," if several and place < len(expression.variables) - 1 else "")
        elif operator == "":
            yield _Run(variable, "/?#," if several else "/?#", "," if place else "")
        elif operator == ".":
            yield _Run(variable, "/?#." if several else "/?#", ".")
        elif operator == "/":
            yield _Run(variable, "?#" if variable.explode else "/?#", "/")
        else:
            yield _Run(variable, "/?#;", f";{variable.name}", optional_equals=True)


class Matcher:
    """Takes URIs apart: the fragment and the query first, then the rest from both ends."""

    def __init__(self, parts: Parts) -> None:
        tail = [part for part in parts if isinstance(part, Expression) and part.operator in tuple("?&#")]
        self._fragment = next((part.variables for part in tail if part.operator == "#"), None)
        self._query = [variable for part in tail if part.operator != "#" for variable in part.variables]
        self._mark = next((part.operator for part in tail if part.operator != "#"), "")
        elements = _elements(parts)
        literals = "".join(element for element in elements if isinstance(element, str))
        self._literal_marks = literals.partition("?")[2].count("&")
        open_ = [place for place, element in enumerate(elements) if isinstance(element, _Run) and element.is_open]
        middle = open_[-1] if open_ else len(elements)
        last = elements[-1] if len(elements) > 1 and not open_ else None
        self._suffix = last if isinstance(last, str) else ""
        if self._suffix:
            middle = len(elements) - 1
        self._middle = elements[middle] if open_ else None
        self._left = _Side(elements[:middle], whole=not open_)
        self._right = _Side(elements[middle + 1 :][::-1], whole=False, backwards=True)

    def match(self, uri: str) -> dict[str, str] | None:
        """Find the values in a URI."""
        try:
            rest = uri if uri.isascii() else escape(uri, reserved=True)
        except UnicodeEncodeError:
            return None
        found: list[tuple[Variable, str | None]] = []
        if self._fragment is not None:
            rest, mark, fragment = rest.partition("#")
            if mark:
                texts = fragment.split(",", len(self._fragment) - 1)
                found += zip(self._fragment, texts, strict=False)
        if self._query:
            cut = self._cut_query(rest)
            if cut is None:
                return None
            rest, values = cut
            found += values
        if not rest.endswith(self._suffix):
            return None
        return self._match_path(rest[: len(rest) - len(self._suffix)], found)

    def _cut_query(self, rest: str) -> tuple[str, list[tuple[Variable, str | None]]] | None:
        """Cut off the query; None when there is something wrong with it."""
        if self._mark == "?":
            rest, _, query = rest.partition("?")
            items = query.split("&") if query else []
        else:
            path, mark, query = rest.partition("?")
            literal = query.split("&")
            items = literal[self._literal_marks + 1 :]
            rest = path + mark + "&".join(literal[: self._literal_marks + 1])
        known = {variable.name: variable for variable in self._query}
        values: list[tuple[Variable, str | None]] = []
        for item in items:
            name, _, text = item.partition("=")
            variable = known.pop(name, None)
            if variable is None:
                return None
            values.append((variable, text))
        return rest, values

    def _match_path(self, path: str, found: list[tuple[Variable, str | None]]) -> dict[str, str] | None:
        left = self._left.match(path)
        right = self._right.match(path[::-1])
        if left is None or right is None:
            return None
        found = [*left[1], *found, *right[1]]
        if isinstance(self._middle, _Run):
            if left[0] + right[0] > len(path):
                return None
            text = path[left[0] : len(path) - right[0]]
            if not _fits_middle(self._middle, text):
                return None
            if text:
                found.append((self._middle.variable, text.removeprefix(self._middle.lead)))
        return _values(found, self._middle)


def _fits_middle(run: _Run, text: str) -> bool:
    """Tell whether what is between both ends may be the value of the open variable."""
    if any(character in text for character in run.excluded):
        return False
    return text.startswith(run.lead) or not text if run.lead else bool(text)


def _values(found: list[tuple[Variable, str | None]], middle: _Element | None) -> dict[str, str] | None:
    """Decode what was found; a variable that occurs twice must have one value."""
    values: dict[str, str] = {}
    for variable, text in found:
        if text is None:
            continue
        value = unescape(text)
        if value is None or "\0" in value or (variable.prefix is not None and len(value) > variable.prefix):
            return None
        if variable.explode and isinstance(middle, _Run) and middle.lead and value.count("/") != text.count("/"):
            return None
        if values.setdefault(variable.name, value) != value:
            return None
    return values


class _Side:
    """The elements on one side of the open variable, as a regular expression that never gives back what it took."""

    def __init__(self, elements: Sequence[_Element], *, whole: bool, backwards: bool = False) -> None:
        self._variables = [element.variable for element in elements if isinstance(element, _Run)]
        self._backwards = backwards
        pieces = [self._piece(element, elements[place + 1 :], whole=whole) for place, element in enumerate(elements)]
        self._pattern = re.compile("".join(pieces) + (r"\Z" if whole else ""), re.DOTALL)

    def match(self, text: str) -> tuple[int, list[tuple[Variable, str | None]]] | None:
        """Give the length of what was taken, and the values in it."""
        found = self._pattern.match(text)
        if found is None:
            return None
        groups = [group and group[::-1] if self._backwards else group for group in found.groups()]
        return found.end(), list(zip(self._variables, groups, strict=True))

    def _piece(self, element: _Element, after: Sequence[_Element], *, whole: bool) -> str:
        if isinstance(element, str):
            return re.escape(element[::-1] if self._backwards else element)
        characters = f"[^{re.escape(element.excluded)}]" if element.excluded else "."
        ends = "|".join(self._ends(after, whole=whole))
        lazy = f"?(?={ends})" if ends else "+"
        if not element.lead:
            return f"((?>{characters}+{lazy}))"
        lead = re.escape(element.lead[::-1] if self._backwards else element.lead)
        if self._backwards:
            equals = "(?:=|(?<![^;]))" if element.optional_equals else ""
            return f"(?>({characters}*?){equals}{lead})?+"
        equals = "(?:=|(?![^;/?#]))" if element.optional_equals else ""
        return f"(?>{lead}{equals}({characters}*{lazy}))?+"

    def _ends(self, after: Sequence[_Element], *, whole: bool) -> Iterator[str]:
        """List what may come right after a variable; none when only the characters it excludes can end it."""
        for element in after:
            if isinstance(element, str):
                yield re.escape(element[::-1] if self._backwards else element)
                return
            if not element.lead or self._backwards:
                return
            yield re.escape(element.lead)
        if whole:
            yield r"\Z"
