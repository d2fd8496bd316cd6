"""What the client shows: who does what, one step after the other, in colour where there is a terminal.

Everything that comes from a server is a stranger's text: it is shown without control characters, and cut.
"""

import textwrap
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

WIDTH = 80
"""Columns, unless the terminal has fewer."""

MARGIN = 11
"""Columns on the left for who acts."""

STYLES = {
    "travel": "cyan",
    "weather": "blue",
    "office": "magenta",
    "user": "yellow",
    "script": "yellow",
    "heard": "green",
    "forecaster": "red",
}


def plain(text: object, limit: int = 600) -> str:
    """Make a text harmless, and not too long."""
    shown = "".join(each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}" for each in str(text))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


class Screen:
    """Prints the story."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._out = Console(markup=False, emoji=False, highlight=False, quiet=quiet, soft_wrap=True)
        self._width = min(WIDTH, self._out.width) if self._out.is_terminal else WIDTH
        self._steps = 0

    def title(self, text: str, note: str) -> None:
        """Begin."""
        self._out.print(Text(text, "bold"))
        self._out.print(Text(note, "dim"))

    def step(self, text: str) -> None:
        """Begin a step of the story."""
        self._steps += 1
        self._out.print(Text.assemble("\n", (f"{self._steps:>2}  {text}", "bold")))

    def say(self, who: str, text: object, style: str = "") -> None:
        """Tell what somebody does or says."""
        lines = self._lines(plain(text))
        for number, line in enumerate(lines):
            name = (f"{'' if number else who:>{MARGIN - 1}} ", STYLES.get(who, ""))
            self._out.print(Text.assemble(name, (line, style)))

    def call(self, server: str, name: str, arguments: str = "") -> None:
        """Tell what is asked of a server."""
        first, *rest = self._lines(plain(f"{name} {arguments}".rstrip()))
        head, tail = (first[: len(name)], first[len(name) :])
        self._out.print(Text.assemble((f"{server:>{MARGIN - 1}} ", STYLES.get(server, "")), (head, "bold"), tail))
        for line in rest:
            self._out.print(Text(f"{'':{MARGIN}}{line}"))

    def answer(self, text: object) -> None:
        """Tell what came of it."""
        for number, line in enumerate(self._lines(plain(text), indent=2)):
            self._out.print(Text(f"{'':{MARGIN}}{'  ' if number else '→ '}{line}", "dim"))

    def items(self, lines: Iterable[object]) -> None:
        """Tell several things, one on a line."""
        for line in lines:
            self.answer(line)

    def check(self, what: str, *, ok: bool) -> None:
        """Tell whether something is as it should be."""
        mark = ("✓", "bold green") if ok else ("✗", "bold red")
        lines = self._lines(what)
        self._out.print(Text.assemble(f"{'':{MARGIN - 2}}", mark, f" {lines[0]}"))
        for line in lines[1:]:
            self._out.print(Text(f"{'':{MARGIN}}{line}"))

    def end(self, text: str) -> None:
        """Say the last words."""
        for line in text.splitlines():
            self._out.print(Text(line))

    def _lines(self, text: str, indent: int = 0) -> list[str]:
        width = max(20, self._width - MARGIN - indent)
        wrapped = (textwrap.wrap(line, width, break_on_hyphens=False) or [""] for line in text.split("\n"))
        return [line for lines in wrapped for line in lines]
