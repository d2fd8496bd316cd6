"""Paths as a model writes them: which root one lies below, and the names of the parts from there.

Nothing here looks at the disk, so nothing here decides what may be reached: `handles.py` does.
"""

import json
import os
import posixpath
import re
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import quote, unquote, urlsplit

from splice import ToolError

MAX_SHOWN = 1_000
"""How many characters of a path an error repeats."""

_WINDOWS = re.compile(r"[A-Za-z]:(?:[\\/]|$)|\\\\")
_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""What controls a terminal, turns text around, or is read by a model and seen by nobody."""


class Root(NamedTuple):
    """A directory that is allowed."""

    real: str
    """Its path without symbolic links."""
    given: str
    """Its absolute path as it was named; it may lead over links, as /tmp does on macOS."""


class Place(NamedTuple):
    """A path below a root."""

    root: Root
    parts: list[str]
    """The names from the root on: none of them is empty, `.` or `..`."""
    path: str
    """The absolute path, as a model reads it."""


class Denied(ToolError):
    """A path that is not allowed, whether anything is there or not."""


def shown(text: str) -> str:
    """Write a name so that it is one line, and text: what controls a terminal or is not UTF-8 becomes an escape."""
    return _UNSHOWABLE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # how Python holds a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shown_json(text: str) -> str:
    """Write indented JSON so that the same is escaped in it, as JSON does that: its names stay what they are."""
    return "\n".join(_UNSHOWABLE.sub(lambda found: json.dumps(found[0])[1:-1], line) for line in text.split("\n"))


def cut(text: str) -> str:
    """Write what a peer sent into an error: as one line, and not all of it."""
    return shown(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}...")


def allowed_list(roots: Sequence[Root]) -> str:
    """Name the roots, as errors do."""
    return ", ".join(shown(root.given) for root in roots)


def outside(path: str, roots: Sequence[Root], what: str = "path") -> Denied:
    """Make the error for a path, or a link's target, that no root holds."""
    return Denied(f"Access denied - {what} outside allowed directories: {cut(path)} not in {allowed_list(roots)}")


def places(text: str, roots: Sequence[Root]) -> list[Place]:
    """Find where a path may lie: one place if it is absolute, else one below each root.

    Raises `Denied` where there is none, and for what is not a path here.
    """
    if _WINDOWS.match(text):
        raise Denied(f"Access denied - Windows-style path received on a POSIX host: {cut(text)}")
    if "\0" in text or not _is_text(text):
        raise outside(text, roots)
    wanted = posixpath.expanduser(text) if text == "~" or text.startswith("~/") else text
    if wanted.startswith("/"):
        found = [below(wanted, roots)]
    else:
        found = [below(f"{root.given}/{wanted}", roots) for root in roots]
    kept = [place for place in found if place is not None]
    if not kept:
        absolute = wanted.startswith("/") and wanted is text
        raise outside(normal(text) if absolute else text, roots)
    return kept


def below(path: str, roots: Sequence[Root]) -> Place | None:
    """Find the root that holds an absolute path, by its parts: a directory is not its sibling with a longer name."""
    absolute = normal(path)
    parts = _parts(absolute)
    for root in roots:
        for name in (root.given, root.real):
            base = _parts(name)
            if _composed(parts[: len(base)]) == _composed(base):
                return Place(root, parts[len(base) :], absolute)
    return None


def normal(path: str) -> str:
    """Take `.`, `..` and doubled slashes out of an absolute path, by its text alone."""
    return posixpath.normpath("/" + path.lstrip("/"))


def path_of(uri: str) -> str | None:
    """Read the path in a `file:` URI of this machine; None where it is not one."""
    try:
        scheme, host, path, *_ = urlsplit(uri)
    except ValueError:
        return None
    if scheme != "file" or host not in {"", "localhost"} or not path.startswith("/"):
        return None
    return unquote(path, errors="surrogateescape")


def uri_of(path: str) -> str:
    """Write the `file:` URI of an absolute path."""
    return "file://" + quote(os.fsencode(path))


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _composed(parts: list[str]) -> list[str]:
    """Write names in one form of Unicode, so that both forms of a root's name name it."""
    return [part if part.isascii() else normalize("NFC", part) for part in parts]


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
