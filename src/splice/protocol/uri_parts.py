"""The grammar of URI templates: literals and expressions, and how characters are escaped.

https://www.rfc-editor.org/rfc/rfc6570#section-2
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

_EXPRESSION = re.compile(r"([+#./;?&]?)([^+#./;?&].*)")
_VARIABLE = re.compile(r"((?:\w|%[0-9A-Fa-f]{2})(?:\.?(?:\w|%[0-9A-Fa-f]{2}))*)(\*|:[1-9][0-9]{0,3})?", re.ASCII)
_NOT_LITERAL = re.compile(r'[\x00-\x20"<>\\^`|}]')
_NOT_UNRESERVED = re.compile(r"[^A-Za-z0-9._~-]+")
_NOT_RESERVED = re.compile(r"(?:%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-])+")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")


class Variable(NamedTuple):
    """A variable as an expression mentions it."""

    name: str
    explode: bool
    prefix: int | None


class Expression(NamedTuple):
    """What stands between braces."""

    operator: str
    variables: tuple[Variable, ...]


Parts: TypeAlias = Sequence[str | Expression]


def parse(text: str) -> Iterator[str | Expression]:
    """Cut a template into literals, encoded as they appear in URIs, and expressions."""
    place = 0
    while place < len(text):
        start = text.find("{", place)
        literal = text[place:] if start < 0 else text[place:start]
        if bad := _NOT_LITERAL.search(literal):
            raise _malformed(text, place + bad.start(), f"{bad[0]!r} must not stand outside of an expression")
        if literal:
            yield escape(literal, reserved=True)
        if start < 0:
            return
        end = text.find("}", start)
        if end < 0:
            raise _malformed(text, start, "the expression is not closed")
        yield _parse_expression(text, start, text[start + 1 : end])
        place = end + 1


def _parse_expression(text: str, start: int, inside: str) -> Expression:
    found = _EXPRESSION.fullmatch(inside)
    if found is None:
        raise _malformed(text, start, "the expression names no variable")
    variables: list[Variable] = []
    for spec in found[2].split(","):
        variable = _VARIABLE.fullmatch(spec)
        if variable is None:
            raise _malformed(text, start, f"{spec!r} is no variable")
        modifier = variable[2] or ""
        prefix = int(modifier[1:]) if modifier.startswith(":") else None
        variables.append(Variable(variable[1], modifier == "*", prefix))
    return Expression(found[1], tuple(variables))


def _malformed(text: str, place: int, why: str) -> ValueError:
    return ValueError(f"not a URI template: {text!r}, at {place}: {why}")


def escape(text: str, *, reserved: bool) -> str:
    """Percent-encode what may not stand in a URI; `reserved` characters are kept, and so are escapes."""
    pattern = _NOT_RESERVED if reserved else _NOT_UNRESERVED
    return pattern.sub(lambda found: "%" + found[0].encode().hex("%").upper(), text)


def unescape(text: str) -> str | None:
    """Decode percent escapes; None when they are malformed or not UTF-8."""
    if "%" not in text:
        return text
    if _BAD_ESCAPE.search(text):
        return None
    try:
        return _ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), text)
    except UnicodeDecodeError:
        return None
