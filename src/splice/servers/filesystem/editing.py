"""Edits of a text, and what they change, as a diff."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from splice import ToolError
from splice.servers.filesystem.paths import shown

CONTEXT = 4
"""How many lines are shown around a change."""

MAX_QUOTED = 500
"""How many characters of a text that was not found are repeated."""


def edited(text: str, edits: Iterable[tuple[str, str]]) -> str:
    """Replace one text after the other. Lines keep the ends that they have. Raises `ToolError` for one not found."""
    is_windows = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    if is_windows:
        text = text.replace("\r\n", "\n")
    for edit in edits:
        old, new = (each.replace("\r\n", "\n") if is_windows else each for each in edit)
        text = _replaced(text, old, new)
    return text.replace("\n", "\r\n") if is_windows else text


def _replaced(text: str, old: str, new: str) -> str:
    if not old and text:
        raise ToolError("oldText is empty. Name the text to replace, or use write_file.")
    if old in text:
        return text.replace(old, new, 1)
    lines, wanted = text.split("\n"), old.removesuffix("\n").split("\n")
    bare, sought = [line.strip() for line in lines], [line.strip() for line in wanted]
    if any(sought):
        for at in range(len(lines) - len(wanted) + 1):
            if bare[at : at + len(wanted)] == sought:
                lines[at : at + len(wanted)] = _indented(new, old, wanted[0], lines[at])
                return "\n".join(lines)
    raise ToolError(f"Could not find exact match for edit:\n{old[:MAX_QUOTED]}{'...' * (len(old) > MAX_QUOTED)}")


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
    for group in SequenceMatcher(None, left, right).get_grouped_opcodes(CONTEXT):
        (_, first, _, second, _), (_, _, last, _, end) = group[0], group[-1]
        yield f"@@ -{_range(first + start, last + start)} +{_range(second + start, end + start)} @@"
        for kind, a, b, c, d in group:
            if kind == "equal":
                yield from _marked(" ", left[a:b])
            else:
                yield from _marked("-", left[a:b])
                yield from _marked("+", right[c:d])


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
