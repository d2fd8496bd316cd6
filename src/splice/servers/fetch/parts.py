"""A part of a page: where it begins and ends, and what is said behind it.

A part of Markdown may begin or end within code, or behind the backslash that makes text of what follows. Then the part
has the beginning or the end of that code, too: else what is an example in the page would be an image in the part.
"""

import re

_FENCE = "```\n"
"""Begins a block of code. What begins code within a line has no line end behind it."""

_FENCES = re.compile(r"^(?:[ >*]|\d+\.)*```[^`\n]*$", re.MULTILINE)
_ENDS_IN_BACKSLASH = re.compile(r"(?<!\\)\\(?:\\\\)*\Z")
_RUN = re.compile(r"\\.|`+")


def shown(text: str, start: int, length: int, missing: str, *, is_markdown: bool = False) -> str:
    """Cut a part out of a text, and say how to get what follows it, or what is missing at its end."""
    stop = start + length
    if start >= len(text):
        told = "" if start else missing
        return f"<error>{told or 'No more content available.'}</error>"
    if stop < len(text):
        missing = f"Content truncated. Call the fetch tool with a start_index of {stop} to get more content."
    part = _whole(text, start, stop) if is_markdown else text[start:stop]
    return part + (f"\n\n<error>{missing}</error>" if missing else "")


def _whole(text: str, start: int, stop: int) -> str:
    """Cut a part out of Markdown, with the code whole that it begins or ends in."""
    while start > 0 and text[start - 1] == "`" == text[start]:
        start -= 1
    while 0 < stop < len(text) and text[stop - 1] == "`" == text[stop]:
        stop += 1
    lead, rest = _open_code(text, start), _open_code(text, stop)
    if lead:
        lead += " " * (lead != _FENCE and text[start] == "`")
    elif _ENDS_IN_BACKSLASH.search(text[max(start - 1000, 0) : start]):
        lead = "\\"
    if rest:
        rest = "\n```" if rest == _FENCE else " " * (text[stop - 1] == "`") + rest
    return lead + text[start:stop] + rest


def _open_code(text: str, end: int) -> str:
    """Find what began the code that a place in Markdown is in; empty outside of code."""
    if len(_FENCES.findall(text, 0, end)) % 2:
        return _FENCE
    begin = text.rfind("\n", 0, end) + 1
    at = end if _FENCES.match(text, begin, end) else begin
    while found := _RUN.search(text, at, end):
        at = found.end()
        if (run := found[0]).startswith("`"):
            closing = re.compile(f"(?<!`){run}(?!`)").search(text, at, end)
            if closing is None:
                return run
            at = closing.end()
    return ""
