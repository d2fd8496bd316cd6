"""What the client shows: who does what, one step after the other, in colour where there is a terminal.

Everything that comes from a server is a stranger's text: it is shown without control characters, and cut.
"""

import textwrap

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
    "model": "yellow",
    "heard": "green",
    "forecaster": "red",
    "✓": "bold green",
    "✗": "bold red",
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
        self._out.print(Text(textwrap.fill(note, self._width), "dim"))

    def step(self, text: str) -> None:
        """Begin a step of the story."""
        self._steps += 1
        self._out.print(Text(f"\n{self._steps:>2}  {text}", "bold"))

    def say(self, who: str, text: object, style: str = "") -> None:
        """Tell what somebody does or says."""
        for number, line in enumerate(self._lines(text)):
            name = (f"{'' if number else who:>{MARGIN - 1}} ", STYLES.get(who, ""))
            self._out.print(Text.assemble(name, (line, style)))

    def call(self, server: str, name: str, arguments: str = "") -> None:
        """Tell what is asked of a server."""
        first, *rest = self._lines(f"{name} {arguments}".rstrip())
        words = (first[: len(name)], "bold"), first[len(name) :]
        self._out.print(Text.assemble((f"{server:>{MARGIN - 1}} ", STYLES.get(server, "")), *words))
        for line in rest:
            self.say("", line)

    def answer(self, text: object) -> None:
        """Tell what came of it."""
        for number, line in enumerate(self._lines(text, indent=2)):
            self.say("", f"{'  ' if number else '→ '}{line}", "dim")

    def ask(self, text: object) -> None:
        """Put a question, and leave the cursor behind it."""
        lines = [f"{'':{MARGIN}}{line}" for line in self._lines(text)]
        self._out.print(Text("\n".join(lines), STYLES["user"]), end=" ")

    def unasked(self) -> None:
        """Go to a new line: nobody answers."""
        self._out.print()

    def check(self, what: str, *, ok: bool) -> None:
        """Tell whether something is as it should be."""
        self.say("✓" if ok else "✗", what)

    def _lines(self, text: object, indent: int = 0) -> list[str]:
        width = max(20, self._width - MARGIN - indent)
        wrapped = (textwrap.wrap(line, width, break_on_hyphens=False) or [""] for line in plain(text).split("\n"))
        return [line for lines in wrapped for line in lines]
