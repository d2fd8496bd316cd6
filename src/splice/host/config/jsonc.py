"""JSON with comments and trailing commas, as configuration files are written: read, and edited in place.

What is read must be JSON otherwise: no name twice in an object, no NaN, no lone surrogates. Errors name the line and
the column. An edit changes the members that it is about; comments, order and indentation of the rest stay.

https://code.visualstudio.com/docs/languages/json#_json-with-comments
"""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

from msgspec import Struct

MAX_BYTES = 4 * 2**20
"""The largest file that is read."""

MAX_DEPTH = 100

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
    r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null|[][{}:,]"
)


class BadConfiguration(ValueError):
    """A file, or an entry in it, cannot be used. The message says why, for people."""


class Node(Struct):
    """A value, and where it stands in the text."""

    value: Any
    start: int
    end: int
    members: "list[Member]" = []
    """Of an object."""


class Member(Struct):
    """A member of an object."""

    name: str
    start: int
    node: Node
    comma: int = -1
    """Where the comma after it stands; -1: there is none."""


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def text_of(path: Path) -> str:
    """Read the text of a file. Raises `BadConfiguration`."""
    try:
        is_special = path.exists() and not path.is_file()  # a pipe would be waited for
        data = b"" if is_special else _bytes_of(path)
        text = data.decode("utf-8-sig")
    except UnicodeError as error:
        raise BadConfiguration("cannot read it: it is not UTF-8") from error
    except OSError as error:
        raise BadConfiguration(f"cannot read it: {error.strerror}") from error
    if is_special:
        raise BadConfiguration("it is not a regular file")
    return text


def _bytes_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 4)


def decode(text: str) -> Any:
    """Read a text; an empty one is an empty object. Raises `BadConfiguration`."""
    return parse(text).value


def parse(text: str) -> Node:
    """Read a text, with the places of all members. Raises `BadConfiguration`."""
    if len(text) > MAX_BYTES:
        raise BadConfiguration(f"it has more than {MAX_BYTES // 2**20} MiB")
    return _Parser(text).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def document(self) -> Node:
        self._skip()
        if self.at == len(self.text):
            return Node({}, self.at, self.at)
        node = self._value(0)
        self._skip()
        if self.at < len(self.text):
            self._fail("there is something after the end", self.at)
        return node

    def _fail(self, why: str, at: int) -> NoReturn:
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        raise BadConfiguration(f"line {line}, column {column}: {why}")

    def _skip(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = self.at if match is None else match.end()

    def _token(self, wanted: str) -> str:
        """Take the next token, whose place is `self.at` before."""
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            rest = self.text[self.at : self.at + 1]
            if not rest:
                self._fail(f"the text ends where {wanted} should stand", self.at)
            if rest == '"':
                self._fail("this string does not end on its line, or has a bad escape in it", self.at)
            self._fail("this comment does not end" if self.text.startswith("/*", self.at) else f"not {wanted}", self.at)
        self.at = match.end()
        return match[0]

    def _value(self, depth: int) -> Node:
        start, token = self.at, self._token("a value")
        if depth > MAX_DEPTH:
            self._fail(f"it is nested deeper than {MAX_DEPTH}", start)
        if token.startswith("{"):
            return self._object(start, depth)
        if token.startswith("["):
            return self._array(start, depth)
        return Node(self._scalar(token, start), start, self.at)

    def _scalar(self, token: str, start: int) -> Any:
        if token in ("}", "]", ":", ","):
            self._fail(f"not a value: {token}", start)
        try:
            value: Any = json.loads(token)
        except ValueError:  # an integer of thousands of digits
            self._fail("this number is too long", start)
        if isinstance(value, float) and not math.isfinite(value):
            self._fail("this number is too large", start)
        if isinstance(value, str) and "\\u" in token:
            try:
                value.encode()
            except UnicodeError:
                self._fail("this string has half of a surrogate pair", start)
        return value

    def _object(self, start: int, depth: int) -> Node:
        value: dict[str, Any] = {}
        members: list[Member] = []
        while True:
            self._skip()
            at, token = self.at, self._token("a name in quotes, or }")
            if token.startswith("}"):
                return Node(value, start, self.at, members)
            if not token.startswith('"'):
                self._fail("not a name in quotes", at)
            name = cast("str", self._scalar(token, at))
            if name in value:
                self._fail(f"an object has the name {json.dumps(name[:100])} twice", at)
            self._skip()
            colon = self.at
            if self._token("a colon") != ":":
                self._fail("not a colon", colon)
            self._skip()
            node = self._value(depth + 1)
            value[name] = node.value
            members.append(Member(name, at, node))
            if self._ended("}"):
                return Node(value, start, self.at, members)
            members[-1].comma = self.at - 1

    def _array(self, start: int, depth: int) -> Node:
        values: list[Any] = []
        while True:
            self._skip()
            if self.text.startswith("]", self.at):
                self.at += 1
                return Node(values, start, self.at)
            values.append(self._value(depth + 1).value)
            if self._ended("]"):
                return Node(values, start, self.at)

    def _ended(self, bracket: str) -> bool:
        """Take a comma, or the bracket that ends what is being read."""
        self._skip()
        at, token = self.at, self._token(f"a comma or {bracket}")
        if token not in (bracket, ","):
            self._fail(f"not a comma or {bracket}", at)
        return token == bracket


# Editing.


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Set the member at a path, whose objects are made where they are missing. Raises `BadConfiguration`."""
    root, style = parse(text), _Style(text)
    if root.start == root.end:
        comment = text.strip()
        return (f"{comment}\n" if comment else "") + f"{style.written(_nested(path, value), '')}\n"
    node = root
    for depth, name in enumerate(path):
        if not isinstance(node.value, dict):
            where = ".".join(path[:depth])
            raise BadConfiguration(f"it has no object {where!r}" if where else "it is not an object")
        member = next((each for each in node.members if each.name == name), None)
        if member is None:
            return _applied(text, style.insert(node, name, _nested(path[depth + 1 :], value)))
        if depth + 1 == len(path):
            is_one_line = "\n" not in text[node.start : node.end]
            new = _compact(value) if is_one_line else style.written(value, style.indent_at(member.start))
            return _applied(text, [_Edit(member.node.start, member.node.end, new)])
        node = member.node
    raise ValueError("an empty path")


def remove(text: str, path: Sequence[str]) -> str:
    """Take the member at a path away, with a comment behind it on its line. Raises `BadConfiguration`.

    One that is not there is fine.
    """
    node = parse(text)
    for depth, name in enumerate(path):
        number = next((at for at, each in enumerate(node.members) if each.name == name), None)
        if number is None:
            break
        if depth + 1 == len(path):
            return _applied(text, _removal(text, node, number))
        node = node.members[number].node
    return text


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _applied(text: str, edits: list[_Edit]) -> str:
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda each: each.start):  # of two at one place the first stands first
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


class _Style:
    """How a text is laid out."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
        self.unit = found[1] if found else "  "

    def indent_at(self, at: int) -> str:
        """Return the blanks that the line of a place begins with."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def written(self, value: Any, indent: str) -> str:
        """Write a value over several lines, of which all but the first begin with an indentation."""
        text = json.dumps(value, indent=self.unit, ensure_ascii=False, allow_nan=False)
        return text.replace("\n", self.newline + indent)  # JSON has no line ends inside of strings

    def insert(self, node: Node, name: str, value: Any) -> list[_Edit]:
        """Add a member at the end of an object."""
        text, close = self.text, node.end - 1
        at = node.start + len(text[node.start : close].rstrip())
        last = node.members[-1] if node.members else None
        edits: list[_Edit] = []
        if last is not None and last.comma < 0:
            edits.append(_Edit(last.node.end, last.node.end, ","))
        key = f"{json.dumps(name, ensure_ascii=False)}: "
        if last is not None and "\n" not in text[node.start : node.end]:
            return [*edits, _Edit(at, at, f" {key}{_compact(value)}")]
        outer = self.indent_at(node.start)
        first = node.members[0].start if node.members else -1
        stands_alone = first >= 0 and not text[text.rfind("\n", 0, first) + 1 : first].strip()
        indent = self.indent_at(first) if stands_alone else outer + self.unit
        comma = "," if last is not None and last.comma >= 0 else ""
        end = "" if "\n" in text[at:close] else self.newline + outer
        new = f"{self.newline}{indent}{key}{self.written(value, indent)}{comma}{end}"
        return [*edits, _Edit(at, close if end else at, new)]


def _removal(text: str, node: Node, number: int) -> list[_Edit]:
    """Take away a member; the one before loses its comma if it had none after this one."""
    member = node.members[number]
    start = text.rfind("\n", 0, member.start) + 1
    is_first_on_line = not text[start : member.start].strip()
    if not is_first_on_line:
        start = member.start
    end = max(member.node.end, member.comma + 1)
    rest = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)?(\r?\n)?").match(text, end)
    if rest is not None and rest[1] is not None:
        end = rest.end() if is_first_on_line else rest.start(1)
    elif rest is not None and not is_first_on_line:
        end += len(text[end:]) - len(text[end:].lstrip(" "))
    if not number or member.comma >= 0:
        return [_Edit(start, end, "")]
    comma = node.members[number - 1].comma
    if not is_first_on_line and text[comma + 1 : start].isspace():
        return [_Edit(comma, end, "")]
    return [_Edit(comma, comma + 1, ""), _Edit(start, end, "")]
