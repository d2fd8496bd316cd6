"""URIs, and URI templates: which values a URI holds. Knows nothing of MCP.

`match` is the inverse of RFC 6570's expansion, as far as there is one; its time grows with the length of the URI alone,
whatever the URI holds: each part of the template is sought once and what it took is never given back, because the
regular expressions made here are atomic throughout. Nothing here expands.

How a URI is taken apart:

- `{x}` takes one or more characters, never `/`, `?` or `#`; `{+x}` takes anything; each takes as little as it can, but
  the last variable of the path takes all that is left, up to the text behind it. If one is a `{+x}` or `{/x*}`, so is
  the last: where it ends is found from the end.
- `{.x}` and `{/x}` may be absent, and so are `{?x}` and `{&x}` at the end. The names of a query may come in any order;
  a name that the template does not know, or that comes with two values, is not a match.
- `{;x}`, `{#x}` and `{x:3}` are refused.
- Values are percent-decoded, which is when an encoded slash becomes a slash: it never splits a value in two. A value
  that stands for one part of a path must stay one: `.`, `..` and those with a slash or backslash in them are not a
  match. `{+x}`, `{/x*}` and queries take anything, `..` too: there the handler has to look.

https://www.rfc-editor.org/rfc/rfc3986
https://www.rfc-editor.org/rfc/rfc6570
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

_PART = re.compile(r"[^{]+|\{(?P<operator>[+./?&]?)(?P<variables>[^}]*)(?P<end>\}?)")
_VARIABLE = re.compile(r"((?:\w|%[0-9A-Fa-f]{2})(?:\.?(?:\w|%[0-9A-Fa-f]{2}))*)(\*)?", re.ASCII)
_NOT_LITERAL = re.compile(r'[\x00-\x20"<>\\^`|}\ud800-\udfff]')
_NOT_RESERVED = re.compile(r"[^A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")
_CHARACTER = "(?:[A-Za-z0-9._~:@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(?://(?:{_CHARACTER}*+|(?:{_CHARACTER}*@)?\[[0-9A-Fa-f:.]+\](?::[0-9]*)?)(?=[/?#]|\Z))?"
    rf"(?:{_CHARACTER}|/)*+(?:\?(?:{_CHARACTER}|[/?])*+)?(?:#(?:{_CHARACTER}|[/?])*+)?"
)

_HOST = r"\[[0-9A-Fa-f:.]+\]|[^/?#@:\[\]\\\x00-\x20\x7f-\U0010ffff]+"
_WEB = re.compile(rf"(?i:https?)://(?:{_HOST})(?::[0-9]{{0,5}})?(?:[/?#][!-~]*)?")
# A backslash would be a slash to a browser, and part of the host to us.


def is_uri(text: str) -> bool:
    """Tell whether a text is an absolute URI, with or without a fragment, as RFC 3986 has it."""
    return _URI.fullmatch(text) is not None


def is_web(text: str) -> bool:
    """Tell whether a text is an absolute URL of http or https that names a host, and neither user nor password."""
    return _WEB.fullmatch(text) is not None


def shown_url(url: str) -> str:
    """Leave out user, password, query and fragment: they may be secrets. Of what is not a URL nothing is shown."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "what is no URL"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


class _Run(NamedTuple):
    """Where one variable stands in a URI."""

    name: str
    operator: str
    """Of its expression; a `?` is followed by `&`, as in a URI."""
    explode: bool
    lead: str
    """The text before it; a run with a lead may be absent."""
    takes: str
    """A pattern for each of its characters."""

    @property
    def is_segment(self) -> bool:
        """Its value is one part of a path; else it takes anything, across the parts."""
        return self.takes.startswith("[^/")


_Element: TypeAlias = str | _Run


class UriTemplate:
    """A URI template.

    Raises `ValueError` when the text is not one, saying where it is wrong, and when no URI can be taken apart by it.
    """

    def __init__(self, text: str) -> None:
        elements = list(_parse(text))
        if why := _why_unmatchable(elements):
            raise ValueError(f"no URI can be matched to {text!r}: {why}")
        runs = [each for each in elements if isinstance(each, _Run)]
        self.variables: tuple[str, ...] = tuple(dict.fromkeys(run.name for run in runs))
        """The names of the variables, in the order of the text."""
        self._query = {run.name: run for run in runs if run.operator in ("?", "&")}
        _, mark, written = "".join(each for each in elements if isinstance(each, str)).partition("?")
        if twice := self._query.keys() & {item.partition("=")[0] for item in written.split("&")}:
            raise ValueError(f"no URI can be matched to {text!r}: {min(twice)} is a text and a variable of its query")
        self._literals = len(mark) + written.count("&")
        path = [each for each in elements if not _tail(each)]
        self._suffix = str(path.pop()) if path and isinstance(path[-1], str) else ""
        self._path = [each for each in path if isinstance(each, _Run)]
        if self._path and self._path[-1].is_segment and not all(run.is_segment for run in self._path):
            raise ValueError(f"no URI can be matched to {text!r}: behind {{+...}} and {{/...*}}, no {{...}} can follow")
        pieces = [_piece(element, path[place + 1 :]) for place, element in enumerate(path)]
        self._pattern = re.compile("".join(pieces) + r"\Z", re.DOTALL)

    def match(self, uri: str) -> dict[str, str] | None:
        """Find the values with which the template gives `uri`; None when there are none.

        Variables that the URI leaves out are not in the result.
        """
        rest = uri if uri.isascii() else _escape(uri)
        found: list[tuple[_Run, str | None]] = []
        if self._query:
            path, _, query = rest.partition("?")
            if query.count("&") >= len(self._query) + self._literals:
                return None
            items = [item.partition("=") for item in query.split("&")] if query else []
            found += [(self._query[name], value) for name, _, value in items if name in self._query]
            literals = ["".join(item) for item in items if item[0] not in self._query]
            if len(literals) != self._literals:
                return None
            rest = f"{path}?{'&'.join(literals)}" if literals else path
        place = self._pattern.match(rest.removesuffix(self._suffix)) if rest.endswith(self._suffix) else None
        return None if place is None else _values([*zip(self._path, place.groups(), strict=True), *found])


def _piece(element: _Element, after: Sequence[_Element]) -> str:
    """Write the pattern of one element of the path."""
    if isinstance(element, str):
        return re.escape(element)
    ends = "|".join(_ends(after))
    if not element.lead:
        return f"((?>{element.takes}+?(?={ends})))"
    return f"(?>{re.escape(element.lead)}({element.takes}*?(?={ends})))?+"


def _ends(after: Sequence[_Element]) -> Iterator[str]:
    """List what may come right after a variable."""
    for element in after:
        if isinstance(element, str):
            yield re.escape(element)
            return
        yield re.escape(element.lead)
    yield r"\Z"


def _parse(text: str) -> Iterator[_Element]:
    """Cut a template into literals, encoded as they appear in URIs, and variables."""
    for part in _PART.finditer(text):
        if part["operator"] is None:
            if bad := _NOT_LITERAL.search(part[0]):
                place = part.start() + bad.start()
                raise _malformed(text, place, f"{bad[0]!r} must not stand outside of an expression")
            yield _escape(part[0])
            continue
        if not part["end"]:
            raise _malformed(text, part.start(), "the expression is not closed")
        specs = part["variables"].split(",")
        for place, spec in enumerate(specs):
            found = _VARIABLE.fullmatch(spec)
            if found is None:
                raise _malformed(text, part.start(), f"{spec!r} is not a variable")
            if part["operator"] == "+" and place:
                yield ","
            yield _run(part["operator"], found, place, len(specs))


def _run(operator: str, found: re.Match[str], place: int, count: int) -> _Run:
    name, explode = found.groups()
    lead = {"+": "", "": "," if place else ""}.get(operator, operator)
    if operator == "+":
        takes = "[^,]" if place < count - 1 else "."
    elif operator == "/" and explode:
        takes = "(?:[^?#%]|%(?!2F|2f))"
    elif operator in ("?", "&"):
        takes = "."
    else:
        takes = f"[^/?#{operator or ','}]" if count > 1 else "[^/?#]"
    operator = "&" if operator == "?" and place else operator
    return _Run(name, operator, bool(explode), lead, takes)


def _malformed(text: str, place: int, why: str) -> ValueError:
    return ValueError(f"not a URI template: {text!r}, at {place}: {why}")


def _tail(element: _Element) -> str:
    """Give the operator of what stands in the query; nothing for what stands before."""
    return element.operator if isinstance(element, _Run) and element.operator in ("?", "&") else ""


def _why_unmatchable(elements: list[_Element]) -> str:
    """Say why no URI can be taken apart by a template; empty when it can be done."""
    for before, after in pairwise(("", *elements)):
        if _tail(before) and _tail(after) != "&":
            return f"{{{_tail(before)}...}} must stand at the end"
        if isinstance(after, str):
            continue
        if after.explode and after.operator in ("", "?", "&"):
            hint = "" if after.operator else "; for a value with slashes write {+...}"
            return f"{{{after.operator}...*}} stands for more than text{hint}"
        if isinstance(before, _Run) and not after.lead:
            return f"nothing stands between {before.name} and {after.name}"
    return ""


def _values(found: Iterable[tuple[_Run, str | None]]) -> dict[str, str] | None:
    """Decode what was found, which must be escaped UTF-8; a variable that occurs twice must have one value."""
    values: dict[str, str] = {}
    for run, text in found:
        if text is None:
            continue
        try:
            value = _ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), text)
        except UnicodeDecodeError:
            return None
        if _BAD_ESCAPE.search(text) or "\0" in value:
            return None
        if run.is_segment and (value in (".", "..") or "/" in value or "\\" in value):
            return None
        if values.setdefault(run.name, value) != value:
            return None
    return values


def _escape(text: str) -> str:
    """Percent-encode what may not stand in a URI; reserved characters and escapes are kept.

    A lone surrogate becomes escapes that are not UTF-8.
    """
    return _NOT_RESERVED.sub(lambda found: "%" + found[0].encode(errors="surrogatepass").hex("%").upper(), text)
