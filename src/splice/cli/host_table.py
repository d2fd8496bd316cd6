"""Tables without lines, and colours: for people on a terminal, and tab separated, uncut and plain in a pipe."""

import os
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import TextIO

import click

GAP = 2
LEAST = 8
"""How narrow the widest column may become."""


def has_colours(stream: TextIO) -> bool:
    """Tell whether a stream shows colours: it is a terminal, and nobody objects."""
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def painted(text: str, style: str, stream: TextIO) -> str:
    """Colour text for a stream, with the terminal's own colours: ``red``, ``cyan``, ``dim``, ``bold``; or not."""
    if not style or not has_colours(stream):
        return text
    if style in ("dim", "bold"):
        return click.style(text, **{style: True})
    return click.style(text, fg=style)


def width_of(text: str) -> int:
    """Count the cells that a terminal needs for a text."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


def cut(text: str, width: int) -> str:
    """Cut a text to so many cells."""
    if width_of(text) <= width:
        return text
    kept = ""
    for each in text:
        if width_of(kept + each) > width - 1:
            break
        kept += each
    return f"{kept}…"


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    marks: Sequence[tuple[str, str]] = (),
    has_header: bool = True,
) -> None:
    """Print rows; cells are safe already, and of one line. A mark is a sign before a row with its colour."""
    out = sys.stdout
    if not out.isatty():
        for each in (headings, *rows) if has_header else rows:
            print("\t".join(each))
        return
    widths = [max(map(width_of, column)) for column in zip(headings, *rows, strict=True)]
    spare = shutil.get_terminal_size().columns - 4 - sum(widths) - GAP * (len(widths) - 1)
    if spare < 0:
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] = max(LEAST, widths[widest] + spare)
    if has_header:
        print(painted(f"    {_line(headings, widths)}", "dim", out))
    for number, row in enumerate(rows):
        mark, style = marks[number] if marks else (" ", "")
        print(f"  {painted(mark, style, out)} {_line(row, widths)}")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    fitted = (cut(cell, width) for cell, width in zip(cells, widths, strict=True))
    padded = (cell + " " * (width - width_of(cell)) for cell, width in zip(fitted, widths, strict=True))
    return (" " * GAP).join(padded).rstrip()
