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

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from splice.protocol.uri_matching import Matcher, why_unmatchable
from splice.protocol.uri_parts import Expression, Variable, escape, parse

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


class UriTemplate:
    """A URI template. Raises `ValueError` when the text is none, saying where it is wrong."""

    __slots__ = ("_matcher", "_parts", "text", "unmatchable", "variables")

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = list(parse(text))
        names = [variable.name for part in self._parts if isinstance(part, Expression) for variable in part.variables]
        self.variables: tuple[str, ...] = tuple(dict.fromkeys(names))
        """The names of the variables, in the order of the text."""
        self.unmatchable = why_unmatchable(self._parts)
        """Why no URI can be taken apart by this template; empty when it can."""
        self._matcher = None if self.unmatchable else Matcher(self._parts)

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


def _expand(expression: Expression, values: Mapping[str, Value]) -> str:
    operator = _OPERATORS[expression.operator]
    given = [_expand_variable(operator, variable, values.get(variable.name)) for variable in expression.variables]
    pieces = [piece for piece in given if piece is not None]
    return operator.first + operator.separator.join(pieces) if pieces else ""


def _expand_variable(operator: _Operator, variable: Variable, value: Value) -> str | None:
    if value is None:
        return None
    if isinstance(value, (str, int, float)):
        text = _text(value)[: variable.prefix]
        return _named(operator, variable.name, escape(text, reserved=operator.reserved))
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
        return [(escape(key, reserved=reserved), escape(_text(item), reserved=reserved)) for key, item in items]
    return [(None, escape(_text(item), reserved=reserved)) for item in value]


def _named(operator: _Operator, name: str, text: str) -> str:
    if not operator.named:
        return text
    return f"{name}={text}" if text else f"{name}{operator.if_empty}"


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
