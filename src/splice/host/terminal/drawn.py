"""Text of others as content of widgets: never markup, and what cannot be seen in it is a mark on amber."""

from textual.content import Content

from splice.host.terminal.glyphs import Glyphs
from splice.host.terminal.keys import pressed
from splice.host.terminal.marks import parts

MARKED = "$fill on $wait"
"""How a mark is drawn."""

Part = str | tuple[str, str] | Content


def shown(text: str, style: str = "", *, ascii: bool = False) -> Content:
    """Draw a text; its line ends stay."""
    found = [(part, MARKED if is_mark else style) for part, is_mark in parts(text, ascii=ascii) if part]
    return Content.assemble(*found)


def line(text: str, style: str = "", *, ascii: bool = False) -> Content:
    """Draw a text on one line."""
    return shown(" ".join(text.split()), style, ascii=ascii)


def row(*drawn: Part) -> Content:
    """Put parts together: ours, which are as they are written."""
    return Content.assemble(*drawn)


def rows(lines: list[Content]) -> Content:
    """Put lines under each other."""
    return Content("\n").join(lines)


def fit(content: Content, width: int) -> Content:
    """Make a line exactly so wide: cut with an ellipsis, or filled up."""
    cut = content.truncate(max(0, width), ellipsis=True)
    return cut.pad_right(max(0, width - cut.cell_length))


def keys(*known: tuple[str, str]) -> Content:
    """Draw keys with what they do. A click on one presses it."""
    links = [(f"@click=app.press('{pressed(key)}')", key, what) for key, what in known]
    return Content("   ").join(
        [Content.assemble((key, f"bold $accent {click}"), (f" {what}", click)) for click, key, what in links]
    )


def bar(glyphs: Glyphs, done: float, total: float, width: int) -> Content:
    """Draw how far something is."""
    full = round(width * min(1.0, max(0.0, done / total))) if total > 0 else 0
    return Content.assemble((glyphs.bar * full, "$accent"), (glyphs.bar_empty * (width - full), "$line"))
