"""Arguments that do not fit, told in a line each: where, what was expected, what came.

The model reads these lines and tries again, so they speak JSON's language and not Python's.
"""

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from splice.schema.problems import SOMEWHERE, Path, Problem, problems_of
from splice.schema.shape import Schema
from splice.schema.values import is_object

MAX_LINES = 10
MAX_VALUE = 80


class BadArguments(ValueError):
    """Values do not fit the types that were declared for them. The text is short and written for a model."""


def bad_arguments(problems: Iterable[Problem]) -> BadArguments:
    """Build the exception, one line for each problem."""
    lines = [line(problem) for problem in problems]
    if len(lines) > MAX_LINES:
        lines[MAX_LINES:] = [f"... and {len(lines) - MAX_LINES} more"]
    return BadArguments("\n".join(lines))


def line(problem: Problem, whole: str = "arguments") -> str:
    """Write one problem; `whole` is what to call the value itself."""
    got = "" if problem.value is msgspec.UNSET else f", got {_short(problem.value)}"
    return f"{_written(problem.path) or whole}: {problem.text}{got}"


def explained(error: Exception, value: Any, schema: Schema, defs: dict[str, Schema]) -> list[Problem]:
    """Say what is wrong with `value`, from the error that decoding it gave and the schema it was meant to fit."""
    return [_complete(_with_choices(problem, schema, defs), value) for problem in problems_of(error)]


def _with_choices(problem: Problem, schema: Schema, defs: dict[str, Schema]) -> Problem:
    if not problem.text.startswith("Invalid enum value"):
        return problem
    choices = ", ".join(dict.fromkeys(_choices(schema, problem.path, defs)))
    return Problem(problem.path, f"expected one of {choices}" if choices else "not one of the values allowed")


def _complete(problem: Problem, value: Any) -> Problem:
    """Add the value that was found at the place, unless it is known or cannot be told."""
    if problem.value is not msgspec.UNSET or problem.text in ("required, but missing", "unknown member"):
        return problem
    for step in problem.path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return problem
    return Problem(problem.path, problem.text, value)


def _choices(schema: Schema, path: Path, defs: dict[str, Schema]) -> list[str]:
    """Collect the values that a schema allows at a place, as JSON."""
    if (name := schema.get("$ref")) is not None:
        return _choices(defs[name.removeprefix("#/$defs/")], path, defs)
    found = [choice for option in schema.get("anyOf", ()) for choice in _choices(option, path, defs)]
    if not path:
        return found + [msgspec.json.encode(choice).decode() for choice in schema.get("enum", ())]
    inner = _step(schema, path[0])
    return found + (_choices(inner, path[1:], defs) if is_object(inner) else [])


def _step(schema: Schema, step: str | int) -> Any:
    if isinstance(step, int):
        places = cast("list[Any]", schema.get("prefixItems", []))
        return places[step] if step < len(places) else schema.get("items")
    return schema.get("properties", {}).get(step) or schema.get("additionalProperties")


def _written(path: Path) -> str:
    written = ""
    for step in path:
        bracketed = isinstance(step, int) or step == SOMEWHERE
        written += (f"[{step}]" if isinstance(step, int) else step) if bracketed else f".{step}"
    return written.removeprefix(".")


def _short(value: Any) -> str:
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}..."
