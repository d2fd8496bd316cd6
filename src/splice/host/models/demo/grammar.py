"""The commands that always mean the same: ``call server.tool key=value``, ``read URI``, ``ask me``, ``help``.

call weather.checkWeather city=Paris date=tomorrow then read travel://preferences/europe
/tool weather__checkWeather {"city": "Paris"}
checkWeather(city="Paris")
"""

import re
from typing import Any, Literal, NamedTuple

import msgspec

from splice.host.models.demo.fields import Field, fields_of, mapping
from splice.host.models.demo.slots import Arguments, coerced
from splice.types import Tool

_CALL = re.compile(r"(?:/?call\s+|/tool\s+)([\w./:-]{1,200})(?:\s+(.*))?$", re.IGNORECASE | re.DOTALL)
_FUNCTION = re.compile(r"([A-Za-z_][\w./-]{1,200})\((.*)\)\s*\.?$", re.DOTALL)
_READ = re.compile(
    r"read\s+(?:([\w-]+)\s+)?([a-z][a-z0-9+.-]{1,30}:(?!\s)\S+)(?:\s+(?:from|of)\s+([\w-]+))?$", re.IGNORECASE
)
_ASK = re.compile(r"ask me\s+(?!before\b|first\b)(.+)$", re.IGNORECASE | re.DOTALL)
_HELP = re.compile(r"(?:/?help|\?|what can you do)\s*[?.!]?$", re.IGNORECASE)
_THEN = re.compile(r"\s*(?:[;\n]|,?\s+(?:and\s+)?then\s|^then\s)\s*", re.IGNORECASE)
_MARKS = re.compile(rf"[\[{{(\])}}\"]|(?<=[=\s,(\[])'|'(?=[\s,)\]]|$)|{_THEN.pattern}", re.IGNORECASE)
_PAIR = re.compile(
    r"([\w.$-]{1,100})\s*[=:]\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[\[{].*?[\]}](?=\s*(?:,|$|\s[\w-]+\s*=))|[^\s,]+)",
    re.DOTALL,
)


class Command(NamedTuple):
    """A command, and the text that belongs to it."""

    verb: Literal["call", "read", "ask", "help"]
    name: str = ""
    rest: str = ""


def parse(text: str) -> list[Command]:
    """Read a text as commands, one after the other; none if any part of it is not a command."""
    found: list[Command] = []
    for part in _parts(text.strip()):
        command = _command(part.strip())
        if command is None:
            return []
        found.append(command)
    return found


def arguments_of(tool: Tool, rest: str) -> Arguments:
    """Read the arguments of a call: a JSON object, or pairs; what the schema calls a string stays one."""
    value = _json(rest)
    if isinstance(value, dict):
        return dict(mapping(value))
    fields = {each.name.casefold(): each for each in fields_of(tool)}
    return dict(_argument(fields, match[1], match[2]) for match in _PAIR.finditer(rest))


def _command(text: str) -> Command | None:
    if _HELP.match(text):
        return Command("help")
    if match := _CALL.match(text):
        return Command("call", match[1], match[2] or "")
    if match := _READ.match(text):
        return Command("read", match[1] or match[3] or "", match[2])
    if match := _ASK.match(text):
        return Command("ask", "", match[1].strip())
    match = _FUNCTION.match(text)
    return Command("call", match[1], match[2]) if match else None


def _parts(text: str) -> list[str]:
    """Divide at "then", at semicolons and line ends; not within quotation marks or brackets."""
    parts, at, depth, quote = list[str](), 0, 0, ""
    for match in _MARKS.finditer(text[:20_000]):
        mark = match[0]
        if mark == quote or (not quote and mark in {'"', "'"}):
            quote = "" if quote else mark
        elif quote or mark == "'":
            continue
        elif mark in "[{(":
            depth += 1
        elif mark in "])}":
            depth = max(depth - 1, 0)
        elif not depth:
            parts.append(text[at : match.start()])
            at = match.end()
    return [each for each in [*parts, text[at:]] if each.strip()]


def _argument(fields: dict[str, Field], name: str, typed: str) -> tuple[str, Any]:
    field = fields.get(name.casefold())
    is_quoted = typed[:1] in {'"', "'"}
    if field is None or field.kind in {"array", "object"}:
        value = _json(typed)
        return (field.name if field else name), typed.strip("'") if value is None else value
    text = str(_json(typed) if typed[:1] == '"' else typed.strip("'")) if is_quoted else typed
    value = coerced(field, text)
    return field.name, text if value is None else value


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, RecursionError):
        return None
