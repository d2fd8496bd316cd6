"""What changed between two definitions: part by part, and in each part word by word.

The shortest way from one text to the other is looked for as Myers describes it ("An O(ND) difference algorithm", 1986).
A server may send texts that are long and wholly different, so the search has a budget. Where it runs out, the words in
the middle are shown as gone and new.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Literal, TypeAlias

from splice.host.items import Change
from splice.schema.schemas import is_array, is_object

Sign: TypeAlias = Literal[" ", "-", "+"]
Path: TypeAlias = tuple[str | int, ...]
"""Keys of objects, and places in lists: `"0"` is not 0."""

MAX_CHANGES = 200
"""How many parts of one definition are shown; the rest is counted."""
MAX_SHOWN = 20_000
"""How many characters of one piece are shown; the rest is counted."""
MAX_COMPARED = 200_000
"""Up to how many characters two texts are compared word by word."""

_PART_BUDGET = 100_000
_TOKEN = re.compile(r"\S+\s*|\s+")


class Budget:
    """How many steps comparing may still take: a second for about three million."""

    def __init__(self, left: int = 300_000) -> None:
        self.left = left


def difference(before: Mapping[str, Any], after: Mapping[str, Any], budget: Budget | None = None) -> list[Change]:
    """List the parts of two definitions that are not the same, in the order of the newer one."""
    budget = budget or Budget()
    old, new = (dict(leaves(each)) if each else {} for each in (before, after))
    changed = [path for path in {**new, **old} if _json(old.get(path, ...)) != _json(new.get(path, ...))]
    changes = [
        Change(".".join(map(str, path)), _words(old.get(path), new.get(path), budget)) for path in changed[:MAX_CHANGES]
    ]
    if len(changed) > MAX_CHANGES:
        changes.append(Change("", [("+", f"{len(changed) - MAX_CHANGES} more parts changed")]))
    return changes


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the parts of a JSON value, each with its place. A list of plain values is one part."""
    if is_object(value) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif is_array(value) and any(isinstance(each, list | dict) for each in value):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))
    else:
        yield path, value


def compare(old: str, new: str, budget: Budget) -> list[tuple[Sign, str]]:
    """Tell word by word how one text became another: kept, gone and new."""
    if len(old) + len(new) > MAX_COMPARED:
        return [(sign, _cut(text)) for sign, text in _replaced([old], [new])]
    a, b = _TOKEN.findall(old), _TOKEN.findall(new)
    head = _same(a, b)
    tail = _same(a[head:][::-1], b[head:][::-1])
    middle_a, middle_b = a[head : len(a) - tail], b[head : len(b) - tail]
    middle = _edits(middle_a, middle_b, budget) or list(_replaced(middle_a, middle_b))
    pieces = [*_kept(a[:head]), *middle, *_kept(a[len(a) - tail :])]
    return [(sign, _cut("".join(text for _, text in together))) for sign, together in groupby(pieces, key=_sign)]


def _sign(piece: tuple[Sign, str]) -> Sign:
    return piece[0]


def _words(old: Any, new: Any, budget: Budget) -> list[tuple[Sign, str]]:
    if old is None:
        return [("+", _cut(_shown(new)))]
    if new is None:
        return [("-", _cut(_shown(old)))]
    if isinstance(old, str) and isinstance(new, str):
        return compare(old, new, budget)
    return compare(_json(old), _json(new), budget)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return "" if value is ... else json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    more = len(text) - MAX_SHOWN
    return text if more <= 0 else f"{text[:MAX_SHOWN]} \u2026 and {more} more characters"


def _same(a: list[str], b: list[str]) -> int:
    """Tell how many words are the same at the beginning."""
    return next((at for at, (old, new) in enumerate(zip(a, b, strict=False)) if old != new), min(len(a), len(b)))


def _kept(words: list[str]) -> Iterator[tuple[Sign, str]]:
    if words:
        yield " ", "".join(words)


def _replaced(old: list[str], new: list[str]) -> Iterator[tuple[Sign, str]]:
    if old:
        yield "-", "".join(old)
    if new:
        yield "+", "".join(new)


def _edits(old: list[str], new: list[str], budget: Budget) -> list[tuple[Sign, str]]:
    """Find the fewest words to take out and put in; nothing if the budget does not allow it.

    ``reached`` has for each diagonal how far on the old text so many edits lead; ``trail`` remembers it for each edit.
    """
    reached, trail = {1: 0}, list[dict[int, int]]()
    least = budget.left - _PART_BUDGET
    for edits in range(len(old) + len(new) + 1):
        trail.append(dict(reached))
        for line in range(-edits, edits + 1, 2):
            x = reached[line + 1] if _is_new(reached, line, edits) else reached[line - 1] + 1
            y, start = x - line, x
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            budget.left -= 1 + x - start
            reached[line] = x
            if x >= len(old) and y >= len(new):
                return [*_walked(old, new, trail)][::-1]
        if budget.left < max(least, 0):
            break
    return []


def _is_new(reached: dict[int, int], line: int, edits: int) -> bool:
    """Tell whether a diagonal is better reached by a new word than by one that is gone."""
    return line == -edits or (line != edits and reached[line - 1] < reached[line + 1])


def _walked(old: list[str], new: list[str], trail: list[dict[int, int]]) -> Iterator[tuple[Sign, str]]:
    """Yield the words from the last one to the first."""
    x, y = len(old), len(new)
    for edits in range(len(trail) - 1, -1, -1):
        is_new = _is_new(trail[edits], x - y, edits)
        line = x - y + (1 if is_new else -1)
        before_x = trail[edits][line]
        before_y = before_x - line
        while x > before_x and y > before_y:
            x, y = x - 1, y - 1
            yield " ", old[x]
        if edits:
            yield ("+", new[y - 1]) if is_new else ("-", old[x - 1])
        x, y = before_x, before_y
