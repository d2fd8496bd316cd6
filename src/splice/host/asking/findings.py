"""What is wrong with a value of a form, and what is allowed, in sentences that a person can act on."""

import msgspec

from splice.host.asked import Json
from splice.host.asking.fields import Field
from splice.schema.schemas import cut, is_array

MAX_LISTED = 6
"""How many choices are named in a sentence."""

MAX_WHOLE = 10**15
"""Numbers beyond are written with an exponent."""

EXAMPLES = {
    "email": "anna@home.example",
    "uri": "https://example.com/page",
    "date": "2026-01-31",
    "datetime": "2026-01-31T09:30",
    "time": "09:30",
    "integer": "3",
    "number": "2.5",
    "json": '{"key": "value"}',
}

_FORMATS = {
    "email": "Not a complete email address: write a name, an @ and a host",
    "uri": "Not a complete address: begin with https:// or the like",
    "date": "Not a date: write year, month and day",
    "datetime": "Not a date with a time: write year, month, day, hour and minute",
    "time": "Not a time: write hour and minute",
}


def such_as(kind: str, example: str) -> str:
    """Write the end of a sentence that shows what is allowed; empty if there is no example of it."""
    shown = example or EXAMPLES.get(kind, "")
    return f", as in {shown}" if shown else ""


def example_of(field: Field) -> str:
    """Give something that a field takes; empty if only its author knows."""
    if field.example or field.kind not in ("integer", "number"):
        return field.example
    known = (field.default, field.min, field.max)
    return next((f"{each:g}" for each in known if isinstance(each, int | float) and not isinstance(each, bool)), "")


def missing(kind: str, choices: list[tuple[Json, str]], example: str) -> str:
    """Say that a field must be filled in."""
    if kind == "tick":
        return "Tick to go on, or decline"
    if kind == "switch":
        return "Choose on or off"
    if choices:
        return f"Choose {'one' if kind == 'one' else 'at least 1'}: {_listed(choices)}"
    return f"Fill this in{example}"


def wrong(field: Field, value: Json) -> str:
    """Say why a value that does not fit does not; empty if only the validator knows."""
    if field.choices:
        return _not_chosen(field, value)
    if field.kind in ("integer", "number"):
        return _not_number(field, value)
    if field.kind in ("tick", "switch"):
        return missing(field.kind, [], "")
    if field.kind != "json":
        return _not_text(field, value)
    return ""


def hint(field: Field) -> str:
    """Say what a field takes."""
    if field.kind == "many":
        return _sentence(_chosen(field))
    if field.kind in ("integer", "number"):
        whole = "a whole number" if field.kind == "integer" else ""
        return _sentence(", ".join(filter(None, (whole, _bounds(field.min, field.max, "")))))
    if field.kind in ("text", "long"):
        return _sentence(_bounds(field.min, field.max, "characters") or such_as("", field.example))
    return _sentence(such_as(field.kind, field.example))


def place(path: tuple[str | int, ...]) -> str:
    """Write where inside of a value something is wrong, as the beginning of a sentence."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{cut(steps.removeprefix('.'), 200)}: " if steps else ""


def _not_chosen(field: Field, value: Json) -> str:
    known = [choice for choice, _ in field.choices]
    if field.kind == "one":
        return f"Choose one: {_listed(field.choices)}"
    if not is_array(value) or any(each not in known for each in value):
        return f"Choose among: {_listed(field.choices)}"
    if len(value) != len({msgspec.json.encode(each) for each in value}):
        return "Choose each only once"
    return f"Choose {_chosen(field)}"


def _not_number(field: Field, value: Json) -> str:
    whole = "whole " if field.kind == "integer" else ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (whole and value != int(value)):
        return f"Must be a {whole}number{such_as(field.kind, example_of(field))}"
    bounds = _bounds(field.min, field.max, "")
    fits = (field.min is None or value >= field.min) and (field.max is None or value <= field.max)
    return "" if fits or not bounds else f"Must be {bounds}"


def _not_text(field: Field, value: Json) -> str:
    if not isinstance(value, str):
        return f"Must be text{such_as(field.kind, field.example)}"
    if field.kind in _FORMATS:
        return _FORMATS[field.kind] + such_as(field.kind, field.example)
    bounds = _bounds(field.min, field.max, "characters")
    if (field.min is not None and len(value) < field.min) or (field.max is not None and len(value) > field.max):
        return f"Must be {bounds}; this is {len(value):,}"
    if field.pattern:
        return f"Must have the form {cut(field.pattern, 100)}{such_as('', field.example)}"
    return ""


def _chosen(field: Field) -> str:
    """Say how many may be chosen."""
    least, most = field.min_items or 0, field.max_items
    if most is None:
        return f"at least {least}" if least else ""
    if least == most:
        return f"exactly {most}"
    return f"between {least} and {most}" if least else f"up to {most}"


def _sentence(text: str) -> str:
    text = text.removeprefix(", ")
    return text[:1].upper() + text[1:]


def _bounds(least: float | None, most: float | None, unit: str) -> str:
    what = f" {unit}" if unit else ""
    if least is not None and most is not None:
        return f"{_written(least)}{what}" if least == most else f"between {_written(least)} and {_written(most)}{what}"
    if least is not None and not (unit == "characters" and least == 0):
        return f"at least {_written(least)}{what}" if unit else f"{_written(least)} or more"
    if most is not None:
        return f"at most {_written(most)}{what}" if unit else f"{_written(most)} or less"
    return ""


def _written(number: float) -> str:
    return f"{int(number):,}" if abs(number) < MAX_WHOLE and number == int(number) else f"{number:g}"


def _listed(choices: list[tuple[Json, str]]) -> str:
    labels = [label for _, label in choices[:MAX_LISTED]]
    return ", ".join(labels) + (f" and {len(choices) - MAX_LISTED} more" if len(choices) > MAX_LISTED else "")
