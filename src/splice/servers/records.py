"""Rows of a database as JSON: columns under names of their own, and long values in part."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

MAX_BYTES = 200_000
"""How long the rows of a result may be as JSON, about."""

MAX_CELL = 20_000
"""How many characters of a value, or bytes of one, are shown."""

Shown: TypeAlias = Callable[[Any, int], tuple[Any, bool]]
"""Gives a value as JSON has it, at most so much of it, and says whether it was cut."""


class Record(NamedTuple):
    """A row."""

    values: dict[str, Any]
    cut: int
    """How many of the values are shown in part."""
    size: int
    """How long it is as JSON."""


def record(names: Sequence[str], row: Sequence[Any], shown: Shown) -> Record:
    """Give a row as JSON has it. Where long values do not fit beside each other, each gets its share of the room."""
    whole = _cut(names, row, shown, MAX_CELL)
    return whole if whole.size <= MAX_BYTES else _cut(names, row, shown, min(MAX_CELL, MAX_BYTES // len(row)))


def as_json(value: Any) -> str:
    """Write a value as a model reads it."""
    return json.dumps(value, ensure_ascii=False)


def unique(names: Sequence[str]) -> list[str]:
    """Give columns of one name names of their own: a, a:1, a:2."""
    taken: dict[str, None] = {}
    for name in names:
        candidate, number = name, 0
        while candidate in taken:
            number += 1
            candidate = f"{name}:{number}"
        taken[candidate] = None
    return list(taken)


def _cut(names: Sequence[str], row: Sequence[Any], shown: Shown, most: int) -> Record:
    pairs = [shown(value, most) for value in row]
    values = dict(zip(names, (value for value, _ in pairs), strict=True))
    return Record(values, sum(is_cut for _, is_cut in pairs), len(as_json(values)))
