"""One page of keys: those of the place the user is in on top."""

from collections.abc import Iterable

from textual.content import Content
from textual.widget import Widget

from splice.host.terminal import drawn
from splice.host.terminal.dialog import Dialog, para
from splice.host.terminal.keys import CALLS, FOOTERS, GENERAL, QUESTIONS, Keys


class Help(Dialog):
    """The keys."""

    def __init__(self, view: str) -> None:
        super().__init__()
        self._view = view

    def heading(self) -> Content:
        """Draw the title."""
        return Content.styled("Keys", "bold")

    def told(self) -> Iterable[Widget]:
        """List the keys."""
        parts: list[tuple[str, Keys]] = [("Everywhere", GENERAL), ("Questions", QUESTIONS), ("Calls", CALLS)]
        if self._view not in ("chat", "start"):
            parts.insert(0, (self._view.title(), FOOTERS[self._view]))
        for title, keys in parts:
            lines = [drawn.row((key.ljust(12), "bold $accent"), what) for key, what in keys]
            yield para(drawn.rows([Content.styled(title, "$muted"), *lines, Content()]))
