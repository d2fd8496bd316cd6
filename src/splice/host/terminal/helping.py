"""One page of keys: those of the place the user is in on top."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

from splice.host.terminal import drawn
from splice.host.terminal.dialog import Dialog, para
from splice.host.terminal.keys import LEAVING, SEEING, SENDING

TWO_COLUMNS = 72
"""From so many columns of the screen keys stand in two columns."""

WIDEST = 86
"""How wide both columns are at most."""

OWN = {
    "chat": ("call", "chat"),
    "servers": ("servers", "table"),
    "tools": ("tools", "table"),
    "permissions": ("permissions", "table"),
}
"""The places whose keys act in a view, where there are several."""


class Help(Dialog):
    """The keys."""

    place: ClassVar[str] = "help"

    def __init__(self, view: str) -> None:
        super().__init__()
        self._view = view

    def heading(self) -> Content:
        """Draw the title."""
        return Content.styled("Keys", "bold")

    def told(self) -> Iterable[Widget]:
        """List the keys."""
        signs = self.face.signs
        own = signs.help(*OWN.get(self._view, (self._view,)))
        parts = [
            ("Calls and what was found" if self._view == "chat" else self._view.title(), own),
            ("Everywhere", [*SENDING, *LEAVING, *signs.help("app")]),
            ("Questions", [*signs.help("approval", "question"), *SEEING]),
        ]
        for title, keys in parts:
            yield para(drawn.rows([Content.styled(title, "$muted"), *self._lines(keys), Content()]))

    def _lines(self, keys: Sequence[tuple[str, str]]) -> list[Content]:
        """Draw keys, in two columns if there is room; long ones have a line of their own."""
        lines = [drawn.row((key.ljust(11), "bold $accent"), what) for key, what in keys]
        room = min(WIDEST, self.face.size.width - 8) // 2
        if self.face.size.width < TWO_COLUMNS:
            return lines
        short, long = ([each for each in lines if (each.cell_length < room) == fits] for fits in (True, False))
        half = (len(short) + 1) // 2
        pairs = zip_longest(short[:half], short[half:], fillvalue=Content())
        return [*(drawn.row(drawn.fit(left, room), right) for left, right in pairs), *long]
