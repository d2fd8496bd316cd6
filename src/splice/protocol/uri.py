"""URIs, and URI templates: which values a URI holds. Knows nothing of MCP.

`match` is the inverse of RFC 6570's expansion, as far as there is one; its time grows with the length of the URI alone,
whatever the URI holds: each part of the template is sought once and what it took is never given back, because the
regular expressions made here are atomic throughout. Nothing here expands.

How a URI is taken apart:

- `{x}` takes one or more characters, never `/`, `?` or `#`; `{+x}` takes anything; each takes as little as it can, but
  the last `{+x}` or `{/x*}` takes all that is left.
- `{.x}`, `{/x}` and `{;x}` may be absent, and so are `{?x}`, `{&x}` and `{#x}` at the end. The names of a query may
  come in any order; a name that the template does not know, or that comes twice, is not a match.
- Values are percent-decoded, which is when an encoded slash becomes a slash: it never splits a value in two. A value
  that stands for one part of a path must stay one: `.`, `..` and those with a slash or backslash in them are not a
  match. `{+x}`, `{/x*}`, queries and fragments take anything, `..` too: there the handler has to look.

https://www.rfc-editor.org/rfc/rfc3986
https://www.rfc-editor.org/rfc/rfc6570
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

_EXPRESSION = re.compile(r"([+#./;?&]?)([^+#./;?&].*)")
_VARIABLE = re.compile(r"((?:\w|%[0-9A-Fa-f]{2})(?:\.?(?:\w|%[0-9A-Fa-f]{2}))*)(\*|:[1-9][0-9]{0,3})?", re.ASCII)
_NOT_LITERAL = re.compile(r'[\x00-\x20"<>\\^`|}]')
_NOT_RESERVED = re.compile(r"(?:%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-])+")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")
_CHARACTER = "(?:[A-Za-z0-9._~:@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(?://(?:{_CHARACTER}*+|(?:{_CHARACTER}*@)?\[[0-9A-Fa-f:.]+\](?::[0-9]*)?)(?=[/?#]|\Z))?"
    rf"(?:{_CHARACTER}|/)*+(?:\?(?:{_CHARACTER}|[/?])*+)?(?:#(?:{_CHARACTER}|[/?])*+)?"
)


def is_uri(text: str) -> bool:
    """Tell whether a text is an absolute URI, with or without a fragment, as RFC 3986 has it."""
    return _URI.fullmatch(text) is not None


class _Variable(NamedTuple):
    """A variable as an expression mentions it."""

    name: str
    explode: bool
    prefix: int | None
    segment: bool
    """Its value is one part of a path."""


class _Expression(NamedTuple):
    """The part of a template between braces."""

    operator: str
    variables: tuple[_Variable, ...]


class _Run(NamedTuple):
    """Where one variable stands in the path of a URI."""

    variable: _Variable
    takes: str
    """A pattern for each of its characters. If it does not exclude the slash, it takes anything, across segments."""
    lead: str = ""
    """The text before it; a run with a lead may be absent."""


_Parts: TypeAlias = Sequence[str | _Expression]
_Element: TypeAlias = str | _Run
_Found: TypeAlias = list[tuple[_Variable, str | None]]


class UriTemplate:
    """A URI template.

    Raises `ValueError` when the text is not one, saying where it is wrong, and when no URI can be taken apart by it.
    """

    def __init__(self, text: str) -> None:
        parts = list(_parse(text))
        expressions = [part for part in parts if isinstance(part, _Expression)]
        names = [variable.name for part in expressions for variable in part.variables]
        self.variables: tuple[str, ...] = tuple(dict.fromkeys(names))
        """The names of the variables, in the order of the text."""
        elements = _elements(parts)
        if why := _why_unmatchable(parts, elements):
            raise ValueError(f"no URI can be matched to {text!r}: {why}")
        self._fragment = next((part.variables for part in expressions if part.operator == "#"), None)
        query = [part for part in expressions if part.operator in ("?", "&")]
        self._query = [variable for part in query for variable in part.variables]
        self._mark = query[0].operator if query else ""
        literals = "".join(element for element in elements if isinstance(element, str))
        self._literal_marks = literals.partition("?")[2].count("&")
        # The last run that takes anything gets what is left when all that follows it has been found from the end.
        open_ends = [end for end, each in enumerate(elements, 1) if isinstance(each, _Run) and "/" not in each.takes]
        literal_end = len(elements) - isinstance(elements[-1] if elements else None, str)
        end = open_ends[-1] if open_ends else literal_end
        self._left, self._right = _Side(elements[:end]), _Side(elements[end:][::-1], backwards=True)

    def match(self, uri: str) -> dict[str, str] | None:
        """Find the values with which the template gives `uri`; None when there are none.

        Variables that the URI leaves out are not in the result.
        """
        try:
            rest = uri if uri.isascii() else _escape(uri)
        except UnicodeEncodeError:
            return None
        found: _Found = []
        if self._fragment is not None:
            rest, mark, fragment = rest.partition("#")
            if mark:
                found += zip(self._fragment, fragment.split(",", len(self._fragment) - 1), strict=False)
        if self._query:
            cut = self._cut_query(rest)
            if cut is None:
                return None
            rest, values = cut
            found += values
        right = self._right.match(rest[::-1])
        left = None if right is None else self._left.match(rest[: len(rest) - right[0]])
        return None if left is None or right is None else _values([*left[1], *found, *right[1]])

    def _cut_query(self, rest: str) -> tuple[str, _Found] | None:
        """Cut off the query; None when there is something wrong with it."""
        path, mark, query = rest.partition("?")
        items = query.split("&") if query else []
        if self._mark == "&":
            literal, items = items[: self._literal_marks + 1], items[self._literal_marks + 1 :]
            path += mark + "&".join(literal)
        known = {variable.name: variable for variable in self._query}
        values: _Found = []
        for item in items:
            name, _, text = item.partition("=")
            variable = known.pop(name, None)
            if variable is None:
                return None
            values.append((variable, text))
        return path, values


class _Side:
    """The elements up to, or after, the one that takes all that is left, as a regular expression."""

    def __init__(self, elements: Sequence[_Element], *, backwards: bool = False) -> None:
        self._variables = [element.variable for element in elements if isinstance(element, _Run)]
        self._backwards = backwards
        pieces = [self._piece(element, elements[place + 1 :]) for place, element in enumerate(elements)]
        self._pattern = re.compile("".join(pieces) + ("" if backwards else r"\Z"), re.DOTALL)

    def match(self, text: str) -> tuple[int, _Found] | None:
        """Give the length of what was taken, and the values in it."""
        found = self._pattern.match(text)
        if found is None:
            return None
        groups = [group and group[::-1] if self._backwards else group for group in found.groups()]
        return found.end(), list(zip(self._variables, groups, strict=True))

    def _piece(self, element: _Element, after: Sequence[_Element]) -> str:
        if isinstance(element, str):
            return self._literal(element)
        ends = "|".join(self._ends(after))
        lazy = f"?(?={ends})" if ends else "+"
        if not element.lead:
            return f"((?>{element.takes}+{lazy}))"
        lead, has_equals = self._literal(element.lead), element.lead.startswith(";")
        if self._backwards:
            equals = "(?:=|(?<![^;]))" if has_equals else ""
            return f"(?>({element.takes}*?){equals}{lead})?+"
        equals = "(?:=|(?![^;/?#]))" if has_equals else ""
        return f"(?>{lead}{equals}({element.takes}*{lazy}))?+"

    def _ends(self, after: Sequence[_Element]) -> Iterator[str]:
        """List what may come right after a variable; none when only the characters it excludes can end it."""
        for element in after:
            if isinstance(element, str):
                yield self._literal(element)
                return
            if not element.lead or self._backwards:
                return
            yield self._literal(element.lead)
        if not self._backwards:
            yield r"\Z"

    def _literal(self, text: str) -> str:
        return re.escape(text[::-1] if self._backwards else text)


def _parse(text: str) -> Iterator[str | _Expression]:
    """Cut a template into literals, encoded as they appear in URIs, and expressions."""
    place = 0
    while place < len(text):
        start = text.find("{", place)
        literal = text[place:] if start < 0 else text[place:start]
        if bad := _NOT_LITERAL.search(literal):
            raise _malformed(text, place + bad.start(), f"{bad[0]!r} must not stand outside of an expression")
        if literal:
            yield _escape(literal)
        if start < 0:
            return
        end = text.find("}", start)
        if end < 0:
            raise _malformed(text, start, "the expression is not closed")
        yield _parse_expression(text, start, text[start + 1 : end])
        place = end + 1


def _parse_expression(text: str, start: int, inside: str) -> _Expression:
    found = _EXPRESSION.fullmatch(inside)
    if found is None:
        raise _malformed(text, start, "the expression names no variable")
    variables: list[_Variable] = []
    for spec in found[2].split(","):
        variable = _VARIABLE.fullmatch(spec)
        if variable is None:
            raise _malformed(text, start, f"{spec!r} is not a variable")
        modifier = variable[2] or ""
        prefix = int(modifier[1:]) if modifier.startswith(":") else None
        segment = found[1] in ("", ".", "/", ";") and modifier != "*"
        variables.append(_Variable(variable[1], modifier == "*", prefix, segment))
    return _Expression(found[1], tuple(variables))


def _malformed(text: str, place: int, why: str) -> ValueError:
    return ValueError(f"not a URI template: {text!r}, at {place}: {why}")


def _why_unmatchable(parts: _Parts, elements: list[_Element]) -> str:
    """Say why no URI can be taken apart by a template; empty when it can be done."""
    tail = ""
    for part in parts:
        operator = "" if isinstance(part, str) else part.operator
        if tail and operator not in ("&", "#"):
            return f"{{{tail}...}} must stand at the end"
        if not isinstance(part, str) and operator in (*";?&", "") and any(each.explode for each in part.variables):
            hint = "" if operator else "; for a value with slashes write {+...}"
            return f"{{{operator}...*}} stands for more than text{hint}"
        tail = tail or (operator if operator in ("?", "&", "#") else "")
    for before, after in pairwise(elements):
        if isinstance(before, _Run) and isinstance(after, _Run) and not after.lead:
            return f"nothing stands between {before.variable.name} and {after.variable.name}"
    return ""


def _elements(parts: _Parts) -> list[_Element]:
    """Turn the part of a template before query and fragment into literals and runs."""
    elements: list[_Element] = []
    for part in parts:
        if isinstance(part, str):
            elements.append(part)
        elif part.operator not in ("?", "&", "#"):
            elements += _runs(part)
    return elements


def _runs(expression: _Expression) -> Iterator[_Element]:
    operator, several = expression.operator, len(expression.variables) > 1
    for place, variable in enumerate(expression.variables):
        if operator == "+":
            if place:
                yield ","
            yield _Run(variable, "[^,]" if several and place < len(expression.variables) - 1 else ".")
        elif operator == "":
            yield _Run(variable, "[^/?#,]" if several else "[^/?#]", "," if place else "")
        elif operator == ".":
            yield _Run(variable, "[^/?#.]" if several else "[^/?#]", ".")
        elif operator == "/":
            yield _Run(variable, "(?:[^?#%]|%(?!2F|2f))" if variable.explode else "[^/?#]", "/")
        else:
            yield _Run(variable, "[^/?#;]", f";{variable.name}")


def _values(found: _Found) -> dict[str, str] | None:
    """Decode what was found; a variable that occurs twice must have one value."""
    values: dict[str, str] = {}
    for variable, text in found:
        if text is None:
            continue
        value = _unescape(text)
        if value is None or "\0" in value or (variable.prefix is not None and len(value) > variable.prefix):
            return None
        if variable.segment and (value in (".", "..") or "/" in value or "\\" in value):
            return None
        if values.setdefault(variable.name, value) != value:
            return None
    return values


def _escape(text: str) -> str:
    """Percent-encode what may not stand in a URI; reserved characters and escapes are kept."""
    return _NOT_RESERVED.sub(lambda found: "%" + found[0].encode().hex("%").upper(), text)


def _unescape(text: str) -> str | None:
    """Decode percent escapes; None when they are malformed or not UTF-8."""
    if _BAD_ESCAPE.search(text):
        return None
    try:
        return _ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), text)
    except UnicodeDecodeError:
        return None
