"""What a person typed into a field as a JSON value, and a JSON value as it would be typed."""

from collections.abc import Callable
from datetime import date, datetime, time

import msgspec

from splice.host.asked import Json
from splice.host.asking import findings
from splice.host.asking.fields import Field
from splice.schema.schemas import is_array

_YES = ("true", "yes", "on", "y", "1")
_NO = ("false", "no", "off", "n", "0")


def read(field: Field, typed: Json) -> Json:
    """Read what was typed, or chosen; None: the field was left empty. Raises `ValueError` with a sentence."""
    if field.kind == "many":
        return _many(field, typed)
    if not isinstance(typed, str):
        return typed
    if field.kind in ("text", "long") and typed:
        return typed
    if not (text := typed.strip()):
        return None
    if field.kind == "one":
        return _choice(field, text)
    try:
        return _READERS.get(field.kind, str)(text)
    except (ValueError, OverflowError):
        raise ValueError(findings.wrong(field, text) or f"This is not JSON{findings.such_as('json', '')}") from None


def written(field: Field, value: Json) -> str:
    """Write a value as a person would type it. `read` gives it back."""
    if value is None:
        return ""
    if field.kind == "many" and is_array(value):
        return ", ".join(written(msgspec.structs.replace(field, kind="one"), each) for each in value)
    if field.kind == "one":
        return next((label for known, label in field.choices if known == value), str(value))
    if field.kind == "json":
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _many(field: Field, typed: Json) -> Json:
    """Read choices: a list of values or labels, or a text with commas between them. Choosing none leaves it empty."""
    parts = typed.split(",") if isinstance(typed, str) else typed if is_array(typed) else [typed]
    chosen = [
        _choice(field, each.strip() if isinstance(each, str) else each) for each in parts if each not in ("", None)
    ]
    return chosen or (None if not field.is_required or field.min_items else [])


def _choice(field: Field, typed: Json) -> Json:
    """Find a choice by its value, its label, or, if it is not text, by how it is written in JSON."""
    for value, _ in field.choices:
        if typed == value and isinstance(typed, bool) == isinstance(value, bool):
            return value
    wanted = typed.casefold() if isinstance(typed, str) else None
    for value, label in field.choices:
        if wanted == label.casefold() or (not isinstance(value, str) and typed == msgspec.json.encode(value).decode()):
            return value
    raise ValueError(findings.wrong(field, typed))


def _boolean(text: str) -> bool:
    if text.casefold() not in (*_YES, *_NO):
        raise ValueError(text)
    return text.casefold() in _YES


def _number(text: str) -> float:
    value = msgspec.json.decode(text, type=float)
    return int(text) if text.lstrip("-").isdigit() else value


def _moment(text: str) -> str:
    """Read a date with a time. Without a zone it is the time of this computer, which is what a person means."""
    moment = datetime.fromisoformat(text)
    if len(text) <= len("2026-01-31"):
        raise ValueError(text)
    return (moment if moment.tzinfo else moment.astimezone()).isoformat(timespec="seconds")


def _time(text: str) -> str:
    moment = time.fromisoformat(text)
    today = datetime.now().astimezone()
    return text if moment.tzinfo else moment.replace(tzinfo=today.tzinfo).isoformat("seconds")


_READERS: dict[str, Callable[[str], Json]] = {
    "tick": _boolean,
    "switch": _boolean,
    "integer": int,
    "number": _number,
    "date": lambda text: date.fromisoformat(text).isoformat(),
    "datetime": _moment,
    "time": _time,
    "json": msgspec.json.decode,
}
