"""Glob patterns over paths, one name at a time: a search goes only where something can still match.

`*`, `?` and `[...]` stand for characters of one name, `**` for any number of names, `{a,b}` for either. Matching
never goes back further than to the last `*`, so no pattern takes long.
"""

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from typing import TypeAlias

from splice import ToolError
from splice.servers.filesystem.paths import cut

MAX_PATTERN = 1_000
MAX_CHOICES = 100
"""How many patterns those of one argument may stand for, by their braces: each is tried on each name."""

MAX_CHARACTERS = 20_000
"""How long all of them may be together."""

States: TypeAlias = frozenset[tuple[int, int]]
"""How far the names so far have come: in which choice, before which part of it."""

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class Glob:
    """A pattern, or several: what matches one of them matches. Raises `ToolError` for one that is too long."""

    def __init__(self, patterns: Iterable[str], *, anywhere: bool = False) -> None:
        """Read patterns. `anywhere`: one without a slash or a star is a name at any depth."""
        choices = [choice for pattern in patterns for choice in _choices(pattern)]
        if len(choices) > MAX_CHOICES:
            raise ToolError(f"With all their braces, patterns stand for at most {MAX_CHOICES}, not {len(choices)}")
        if sum(map(len, choices)) > MAX_CHARACTERS:
            raise ToolError(f"With all their braces, patterns have at most {MAX_CHARACTERS} characters")
        self._choices = [
            _parts(f"**/{choice}" if anywhere and "/" not in choice and "*" not in choice else choice)
            for choice in choices
        ]
        self.start = self._reached((number, 0) for number in range(len(self._choices)))

    def step(self, states: States, name: str) -> States:
        """Go on by one name of a path."""
        reached: set[tuple[int, int]] = set()
        for number, at in states:
            parts = self._choices[number]
            if at == len(parts):
                continue
            part = parts[at]
            if part is None:
                reached.add((number, at))
            elif part(name):
                reached.add((number, at + 1))
        return self._reached(reached) if reached else frozenset()

    def matches(self, states: States) -> bool:
        """Tell whether the names so far are a match."""
        return any(at == len(self._choices[number]) for number, at in states)

    def goes_on(self, states: States) -> bool:
        """Tell whether something below may match."""
        return any(at < len(self._choices[number]) for number, at in states)

    def _reached(self, states: Iterable[tuple[int, int]]) -> States:
        """Add what is reached by `**` that stands for nothing."""
        found: set[tuple[int, int]] = set()
        for number, start in states:
            parts, at = self._choices[number], start
            found.add((number, at))
            while at < len(parts) and parts[at] is None:
                at += 1
                found.add((number, at))
        return frozenset(found)


def _choices(pattern: str) -> list[str]:
    """Write out the braces of a pattern."""
    if len(pattern) > MAX_PATTERN:
        raise ToolError(f"A pattern has at most {MAX_PATTERN} characters, not {len(pattern)}")
    done: list[str] = []
    left = [pattern]
    while left:
        each = left.pop()
        if (found := _BRACES.search(each)) is None:
            done.append(each)
        else:
            left += [each[: found.start()] + choice + each[found.end() :] for choice in found[1].split(",")]
        if len(left) + len(done) > MAX_CHOICES:
            raise ToolError(f"The braces of a pattern stand for at most {MAX_CHOICES} others: {cut(pattern)}")
    return done


def _parts(pattern: str) -> list[Callable[[str], object] | None]:
    """Read the parts of one pattern; None is a `**`."""
    names = [part for part in pattern.split("/") if part not in {"", "."}]
    parts: list[Callable[[str], object] | None] = [
        None if part == "**" else re.compile(translate(part.replace("[^", "[!"))).match
        for part, before in zip(names, ["", *names], strict=False)
        if not part == before == "**"
    ]
    if parts and parts[-1] is None:  # what is below, not the directory itself
        parts.append(re.compile("").match)
    return parts
