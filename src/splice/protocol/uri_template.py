"""URI templates: from values to a URI, and back.

`expand` is RFC 6570 in full (all four levels). `match` is its inverse as far as there is one; its time grows with the
length of the URI alone, whatever the URI holds, because each part of the template is sought once and never given back.

How a URI is taken apart:

- `{x}` takes one or more characters, never `/`, `?` or `#`; `{+x}` takes anything; each takes as little as it can, but
  the last `{+x}` or `{/x*}` takes all that is left.
- `{.x}`, `{/x}` and `{;x}` may be absent, and so are `{?x}`, `{&x}` and `{#x}` at the end. The names of a query may
  come in any order; a name that the template does not know, or that comes twice, is no match.
- Values are percent-decoded, which is when an encoded slash becomes a slash: it never splits a value in two. Neither
  does the matcher judge values: a handler that takes `..` for a parent directory has to see to that itself.

https://www.rfc-editor.org/rfc/rfc6570
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

Scalar: TypeAlias = str | int | float | bool
Value: TypeAlias = Scalar | Sequence[Scalar] | Mapping[str, Scalar] | None
"""What a variable can stand for. None, and an empty list or mapping, leave it out."""


class _Operator(NamedTuple):
    """One row of the table in RFC 6570, appendix A."""

    first: str
    separator: str
    named: bool = False
    if_empty: str = ""
    reserved: bool = False


_OPERATORS = {
    "": _Operator("", ","),
    "+": _Operator("", ",", reserved=True),
    "#": _Operator("#", ",", reserved=True),
    ".": _Operator(".", "."),
    "/": _Operator("/", "/"),
    ";": _Operator(";", ";", named=True),
    "?": _Operator("?", "&", named=True, if_empty="="),
    "&": _Operator("&", "&", named=True, if_empty="="),
}
_EXPRESSION = re.compile(r"([+#./;?&]?)([^+#./;?&].*)")
_VARIABLE = re.compile(r"((?:\w|%[0-9A-Fa-f]{2})(?:\.?(?:\w|%[0-9A-Fa-f]{2}))*)(\*|:[1-9][0-9]{0,3})?", re.ASCII)
_NOT_LITERAL = re.compile(r'[\x00-\x20"<>\\^`|}]')
_NOT_UNRESERVED = re.compile(r"[^A-Za-z0-9._~-]+")
_NOT_RESERVED = re.compile(r"(?:%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-])+")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")


class _Variable(NamedTuple):
    name: str
    explode: bool
    prefix: int | None


class _Expression(NamedTuple):
    operator: str
    variables: tuple[_Variable, ...]


class UriTemplate:
    """A URI template. Raises `ValueError` when the text is none, saying where it is wrong."""

    __slots__ = ("_matcher", "_parts", "text", "unmatchable", "variables")

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = list(_parse(text))
        names = [variable.name for part in self._parts if isinstance(part, _Expression) for variable in part.variables]
        self.variables: tuple[str, ...] = tuple(dict.fromkeys(names))
        """The names of the variables, in the order of the text."""
        self.unmatchable = _why_unmatchable(self._parts)
        """Why no URI can be taken apart by this template; empty when it can."""
        self._matcher = None if self.unmatchable else _Matcher(self._parts)

    def __repr__(self) -> str:
        return f"UriTemplate({self.text!r})"

    def expand(self, values: Mapping[str, Value]) -> str:
        """Build a URI. Variables without a value are left out as the RFC says."""
        return "".join(part if isinstance(part, str) else _expand(part, values) for part in self._parts)

    def match(self, uri: str) -> dict[str, str] | None:
        """Find the values with which the template gives `uri`; None when there are none.

        Variables that the URI leaves out are not in the result.
        """
        return None if self._matcher is None else self._matcher.match(uri)


def _parse(text: str) -> Iterator[str | _Expression]:
    """Cut a template into literals, encoded as they appear in URIs, and expressions."""
    place = 0
    while place < len(text):
        start = text.find("{", place)
        literal = text[place:] if start < 0 else text[place:start]
        if bad := _NOT_LITERAL.search(literal):
            raise _malformed(text, place + bad.start(), f"{bad[0]!r} must not stand outside of an expression")
        if literal:
            yield _escape(literal, reserved=True)
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
            raise _malformed(text, start, f"{spec!r} is no variable")
        modifier = variable[2] or ""
        prefix = int(modifier[1:]) if modifier.startswith(":") else None
        variables.append(_Variable(variable[1], modifier == "*", prefix))
    return _Expression(found[1], tuple(variables))


def _malformed(text: str, place: int, why: str) -> ValueError:
    return ValueError(f"not a URI template: {text!r}, at {place}: {why}")


def _expand(expression: _Expression, values: Mapping[str, Value]) -> str:
    operator = _OPERATORS[expression.operator]
    given = [_expand_variable(operator, variable, values.get(variable.name)) for variable in expression.variables]
    pieces = [piece for piece in given if piece is not None]
    return operator.first + operator.separator.join(pieces) if pieces else ""


def _expand_variable(operator: _Operator, variable: _Variable, value: Value) -> str | None:
    if value is None:
        return None
    if isinstance(value, (str, int, float)):
        text = _text(value)[: variable.prefix]
        return _named(operator, variable.name, _escape(text, reserved=operator.reserved))
    if not value:
        return None
    if variable.prefix is not None:
        raise ValueError(f"{variable.name}:{variable.prefix} is for text, not for {type(value).__name__}")
    pairs = _pairs(value, reserved=operator.reserved)
    if not variable.explode:
        return _named(operator, variable.name, ",".join(piece for pair in pairs for piece in pair if piece is not None))
    items = [
        (
            _named(operator, variable.name, text)
            if key is None
            else f"{key}{'=' if text else operator.if_empty or '='}{text}"
        )
        for key, text in pairs
    ]
    return operator.separator.join(items)


def _pairs(value: Sequence[Scalar] | Mapping[str, Scalar], *, reserved: bool) -> list[tuple[str | None, str]]:
    if isinstance(value, Mapping):
        items = value.items()
        return [(_escape(key, reserved=reserved), _escape(_text(item), reserved=reserved)) for key, item in items]
    return [(None, _escape(_text(item), reserved=reserved)) for item in value]


def _named(operator: _Operator, name: str, text: str) -> str:
    if not operator.named:
        return text
    return f"{name}={text}" if text else f"{name}{operator.if_empty}"


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _escape(text: str, *, reserved: bool) -> str:
    pattern = _NOT_RESERVED if reserved else _NOT_UNRESERVED
    return pattern.sub(lambda found: "%" + found[0].encode().hex("%").upper(), text)


def _unescape(text: str) -> str | None:
    """Decode percent escapes; None when they are malformed or not UTF-8."""
    if "%" not in text:
        return text
    if _BAD_ESCAPE.search(text):
        return None
    try:
        return _ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), text)
    except UnicodeDecodeError:
        return None


# --- matching ---------------------------------------------------------------------------------------------------------


class _Run(NamedTuple):
    """Where one variable stands in the path of a URI."""

    variable: _Variable
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
_Parts: TypeAlias = Sequence[str | _Expression]


def _why_unmatchable(parts: _Parts) -> str:
    for place, part in enumerate(parts):
        if isinstance(part, str):
            continue
        later = parts[place + 1 :]
        if part.operator in tuple("?&#") and not all(
            isinstance(each, _Expression) and each.operator in tuple("&#") for each in later
        ):
            return f"{{{part.operator}...}} must stand at the end"
        if part.operator in tuple(";?&") and any(variable.explode for variable in part.variables):
            return f"{{{part.operator}...*}} stands for more than text"
    for before, after in pairwise(_elements(parts)):
        if isinstance(before, _Run) and isinstance(after, _Run) and not after.lead:
            return f"nothing stands between {before.variable.name} and {after.variable.name}"
    return ""


def _elements(parts: _Parts) -> list[_Element]:
    """Turn the part of a template before query and fragment into literals and runs."""
    elements: list[_Element] = []
    for part in parts:
        if isinstance(part, str):
            elements.append(part)
        elif part.operator not in tuple("?&#"):
            elements += _runs(part)
    return elements


def _runs(expression: _Expression) -> Iterator[_Element]:
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


class _Matcher:
    """Takes URIs apart: the fragment and the query first, then the rest from both ends."""

    def __init__(self, parts: _Parts) -> None:
        tail = [part for part in parts if isinstance(part, _Expression) and part.operator in tuple("?&#")]
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
        rest = uri if uri.isascii() else _escape(uri, reserved=True)
        found: list[tuple[_Variable, str | None]] = []
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

    def _cut_query(self, rest: str) -> tuple[str, list[tuple[_Variable, str | None]]] | None:
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
        values: list[tuple[_Variable, str | None]] = []
        for item in items:
            name, _, text = item.partition("=")
            variable = known.pop(name, None)
            if variable is None:
                return None
            values.append((variable, text))
        return rest, values

    def _match_path(self, path: str, found: list[tuple[_Variable, str | None]]) -> dict[str, str] | None:
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


def _values(found: list[tuple[_Variable, str | None]], middle: _Element | None) -> dict[str, str] | None:
    """Decode what was found; a variable that occurs twice must have one value."""
    values: dict[str, str] = {}
    for variable, text in found:
        if text is None:
            continue
        value = _unescape(text)
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

    def match(self, text: str) -> tuple[int, list[tuple[_Variable, str | None]]] | None:
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
