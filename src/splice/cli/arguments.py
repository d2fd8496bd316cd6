"""`key=value` on a command line, and answers typed at a prompt, as the JSON a schema asks for.

Numbers, booleans, lists and objects are read as what the schema says; whatever it says nothing about stays text.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, cast

from splice.cli.outcomes import USAGE, Stop

MAX_REFERENCES = 16
"""How many `$ref` in a row are followed; more than this is a circle."""

MALFORMED = (AttributeError, KeyError, RecursionError, TypeError)
"""Raised when a schema that a server sent is none: reading it whole beforehand would be a second reader of schemas."""


def pairs(words: Iterable[str]) -> dict[str, str]:
    """Split `key=value` words. Raises `Stop`."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise Stop(USAGE, f"{word!r} is not of the form key=value")
        if key in found:
            raise Stop(USAGE, f"{key} is given twice; a list is written as JSON: {key}='[1, 2]'")
        found[key] = value
    return found


def json_object(text: str) -> dict[str, Any]:
    """Read arguments given as JSON, or from stdin for `-`. Raises `Stop`."""
    try:
        value = json.loads(sys.stdin.read() if text == "-" else text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise Stop(USAGE, f"the arguments are no JSON: {error}") from error
    if not isinstance(value, dict):
        raise Stop(USAGE, "the arguments must be a JSON object, such as '{\"key\": 1}'")
    return cast("dict[str, Any]", value)


def typed(texts: dict[str, str], schema: dict[str, Any]) -> dict[str, Any]:
    """Read each value as the type that the object schema gives its key. Raises `Stop`."""
    properties = schema.get("properties", {})
    values: dict[str, Any] = {}
    for key, text in texts.items():
        try:
            values[key] = read(text, properties.get(key, {"type": "string"}), schema)
        except ValueError as error:
            raise Stop(USAGE, f"{key}: {error}") from error
    return values


def read(text: str, schema: Any, root: dict[str, Any]) -> Any:
    """Read one value. Raises `ValueError` that says what was expected."""
    schema = resolved(schema, root)
    choices = _choices(schema)
    if choices:
        return _chosen(text, choices)
    kinds = kinds_of(schema, root)
    for kind in kinds or _READERS:
        if kind in _READERS:
            with suppress(ValueError):
                return _READERS[kind](text)
    if not kinds or "string" in kinds:
        return text
    raise ValueError(f"expected {' or '.join(kinds)}, got {text!r}")


def kinds_of(schema: Any, root: dict[str, Any]) -> list[str]:
    """List the JSON types a schema allows; none means any."""
    schema = resolved(schema, root)
    said = schema.get("type")
    if said is not None:
        return [said] if isinstance(said, str) else list(said)
    if choices := _choices(schema):
        return list(dict.fromkeys(_kind_of(each) for each in choices))
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return list(dict.fromkeys(kind for branch in branches for kind in kinds_of(branch, root)))


def choices_of(schema: Any, root: dict[str, Any]) -> list[Any]:
    """List the values a schema allows, if it names them."""
    return _choices(resolved(schema, root))


def titles_of(schema: dict[str, Any]) -> dict[Any, str]:
    """Tell the titles of the choices that have one: beside each, or in `enumNames` up to 2025-06-18."""
    titled = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    found = {each["const"]: str(each["title"]) for each in titled if "const" in each and "title" in each}
    return found or dict(zip(schema.get("enum", ()), map(str, schema.get("enumNames", ())), strict=False))


def _choices(schema: dict[str, Any]) -> list[Any]:
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return list(schema["enum"])
    titled = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    if titled and all(isinstance(each, dict) and "const" in each for each in titled):
        return [each["const"] for each in titled]
    return []


def _chosen(text: str, choices: list[Any]) -> Any:
    written = {each if isinstance(each, str) else json.dumps(each): each for each in choices}
    if text in written:
        return written[text]
    raise ValueError(f"expected one of {', '.join(written)}, got {text!r}")


def resolved(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    """Follow references inside the document; what cannot be followed allows anything."""
    for _ in range(MAX_REFERENCES):
        if not isinstance(schema, dict):
            return {}
        found = cast("dict[str, Any]", schema)
        reference = found.get("$ref")
        if not isinstance(reference, str):
            return found
        schema = _pointed(reference, root)
    return {}


def _pointed(reference: str, root: dict[str, Any]) -> Any:
    found: Any = root if reference.startswith("#") else None
    for part in reference.lstrip("#").split("/")[1:]:
        if not isinstance(found, dict):
            return None
        found = cast("dict[str, Any]", found).get(part.replace("~1", "/").replace("~0", "~"))
    return found


def _null(text: str) -> None:
    if text != "null":
        raise ValueError


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


def _number(text: str) -> int | float:
    value = json.loads(text, parse_constant=_null)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError
    return value


def _integer(text: str) -> int:
    value = _number(text)
    if value != int(value):
        raise ValueError
    return int(value)


def _of(kind: type) -> Callable[[str], Any]:
    def reader(text: str) -> Any:
        value = json.loads(text)
        if not isinstance(value, kind):
            raise ValueError  # noqa: TRY004 - caught like every other text that does not fit
        return value

    return reader


_READERS: dict[str, Callable[[str], Any]] = {
    "null": _null,
    "boolean": _boolean,
    "integer": _integer,
    "number": _number,
    "array": _of(list),
    "object": _of(dict),
}
"""What is text is read by none of these, and taken when none of these fits."""


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return kinds[type(value)]
