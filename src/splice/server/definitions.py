"""Definitions of tools, resources and prompts, checked when they are added: what is listed is what clients can read.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
https://modelcontextprotocol.io/specification/2026-07-28/basic#meta
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from splice.protocol.tools import Tool
from splice.protocol.uri import is_uri
from splice.protocol.wire import META_RULE, Named, is_meta

D = TypeVar("D", bound=Named)

_TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_MIME_TYPE = re.compile(r"[\w.+-]+/[\w.+*-]+\s*(?:;.*)?", re.ASCII)
_NOT_LITERAL = re.compile(r"\{[^}]*\}|[^\x00-\x7f]")
_RULES: dict[str, tuple[Callable[[Any], object], str]] = {
    "name": (len, "a name"),
    "meta": (is_meta, META_RULE),
    "uri": (is_uri, "a URI; write one such as notes://today, and other characters as %20"),
    "uri_template": (
        lambda text: text.startswith("{") or is_uri(_NOT_LITERAL.sub("x", text)),
        "a template of URIs; write one such as notes://{day}",
    ),
    "mime_type": (_MIME_TYPE.fullmatch, "a MIME type; write one such as text/plain"),
    "src": (lambda src: is_uri(src) and src.startswith(("https:", "http:", "data:")), "an https: or data: URI"),
    "priority": (lambda priority: 0 <= priority <= 1, "a priority: it is between 0 and 1"),
}
"""What the fields of a definition, its annotations and its icons must be."""


def checked(definition: D) -> D:
    """Give a definition as its clients will read it. Raises `ValueError` for settings that they could not take."""
    what = f"{type(definition).__name__.lower()} {definition.name!r}"
    text = msgspec.json.encode(definition)
    try:
        read = msgspec.json.decode(text, type=type(definition))
    except msgspec.ValidationError as error:
        raise ValueError(f"{what}: {error}") from None
    given, known = msgspec.json.decode(text), msgspec.json.decode(msgspec.json.encode(read))
    lost = [name for name in given if given[name] != known.get(name)]
    problems = [*(f"{name} has members that no client knows" for name in lost), *_problems(read)]
    if problems:
        raise ValueError(f"{what}: {'; '.join(problems)}")
    return read


def _problems(definition: Any) -> Iterator[str]:
    if isinstance(definition, Tool) and not _TOOL_NAME.fullmatch(definition.name):
        yield f"its name= has 1 to 128 characters of A-Z a-z 0-9 _ - . /, not {definition.name[:200]!r}"
    for part in (definition, getattr(definition, "annotations", None), *(definition.icons or ())):
        for name, (fits, wanted) in _RULES.items():
            value = getattr(part, name, None)
            if value is not None and not fits(value):
                yield f"{value!r} is not {wanted}"
