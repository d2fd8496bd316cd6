"""Edits of a text, and what they change, as a diff."""

import time
from collections.abc import Iterable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate

from splice import ToolError
from splice.servers.filesystem.paths import shown

CONTEXT = 4
"""How many lines are shown around a change."""

MAX_SECONDS = 20.0
"""How long the edits of one call may take together."""

MAX_STEPS = 20_000_000
"""How many pairs of lines a diff compares, in some two seconds. What is left then is shown as replaced."""

MAX_QUOTED = 500
"""How many characters of a text that was not found are repeated."""


def edited(text: str, edits: Iterable[tuple[str, str]]) -> str:
    """Replace one text after the other. Lines keep the ends that they have. Raises `ToolError` for one not found."""
    is_windows = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    if is_windows:
        text = text.replace("\r\n", "\n")
    until = time.monotonic() + MAX_SECONDS
    for edit in edits:
        if time.monotonic() > until:
            raise ToolError(
                f"So many edits took longer than {MAX_SECONDS:g} s. Nothing was changed; make fewer at once."
            )
        old, new = (each.replace("\r\n", "\n") if is_windows else each for each in edit)
        text = _replaced(text, old, new)
    return text.replace("\n", "\r\n") if is_windows else text


def _replaced(text: str, old: str, new: str) -> str:
    if not old and text:
        raise ToolError("oldText is empty. Name the text to replace, or use write_file.")
    if old in text:
        return text.replace(old, new, 1)
    lines, wanted = text.split("\n"), old.removesuffix("\n").split("\n")
    bare, sought = _bare(lines), _bare(wanted)
    found = bare.find(sought) if sought.strip() else -1
    if found >= 0:
        at = bare.count("\n", 0, found)
        lines[at : at + len(wanted)] = _indented(new, old, wanted[0], lines[at])
        return "\n".join(lines)
    raise ToolError(f"Could not find exact match for edit:\n{old[:MAX_QUOTED]}{'...' * (len(old) > MAX_QUOTED)}")


def _bare(lines: Iterable[str]) -> str:
    """Join lines without their white space, so that a search for whole lines takes no longer than the text is long."""
    return "\n".join(("", *(line.strip() for line in lines), ""))


def _indented(new: str, old: str, said: str, found: str) -> list[str]:
    """Move new lines as far as the old ones stand from where they were said to stand."""
    told, is_at = _indent(said), _indent(found)
    lines = (new.removesuffix("\n") if old.endswith("\n") else new).split("\n")
    if told == is_at:
        return lines
    return [is_at + line[len(told) :] if line.startswith(told) and line.strip() else line for line in lines]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def diff(path: str, before: str, after: str) -> str:
    """Write a unified diff in a fence that nothing in it closes."""
    old, new = _lines(before), _lines(after)
    name = shown(path)
    head = [f"Index: {name}", "=" * 67, f"--- {name}\toriginal", f"+++ {name}\tmodified"]
    text = "\n".join([*head, *_hunks(old, new)]) + "\n"
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}diff\n{text}{fence}\n\n"


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    same = _common(old, new)
    rest = _common(old[same:][::-1], new[same:][::-1])
    start = max(0, same - CONTEXT)
    left, right = old[start : len(old) - max(0, rest - CONTEXT)], new[start : len(new) - max(0, rest - CONTEXT)]
    for group in _Matcher(None, left, right).get_grouped_opcodes(CONTEXT):
        (_, first, _, second, _), (_, _, last, _, end) = group[0], group[-1]
        yield f"@@ -{_range(first + start, last + start)} +{_range(second + start, end + start)} @@"
        for kind, a, b, c, d in group:
            if kind == "equal":
                yield from _marked(" ", left[a:b])
            else:
                yield from _marked("-", left[a:b])
                yield from _marked("+", right[c:d])


class _Matcher(SequenceMatcher[str]):
    """Finds what is the same, within `MAX_STEPS`: lines that come again and again would take it hours."""

    a: Sequence[str]
    b: Sequence[str]
    b2j: dict[str, list[int]]

    def get_matching_blocks(self) -> list[Match]:
        """List what is the same, in order."""
        a, b = self.a, self.b
        steps = [0, *accumulate(len(self.b2j.get(line, ())) + 1 for line in a)]
        left, blocks, budget = [(0, len(a), 0, len(b))], [Match(len(a), len(b), 0)], MAX_STEPS
        while left:
            part = alo, ahi, blo, bhi = left.pop()
            budget -= steps[ahi] - steps[alo]
            if budget < 0:
                break
            found = self.find_longest_match(*part)
            if found.size:
                blocks.append(found)
                left += [(found.a + found.size, ahi, found.b + found.size, bhi), (alo, found.a, blo, found.b)]
        return sorted(blocks)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Count how many lines at the beginning are the same."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _range(start: int, end: int) -> str:
    return f"{start + (end > start)},{end - start}"


def _marked(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _lines(text: str) -> list[str]:
    """Cut at newlines only: `splitlines` cuts at many more."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
