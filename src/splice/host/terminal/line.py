"""A line of text to be typed. Its cursor stands still where the user wants no movement."""

import re

from textual.events import Paste
from textual.suggester import Suggester
from textual.widgets import Input

from splice.host.terminal.face import face


class Line(Input):
    """The input that all of the app uses: compact, and nothing is marked when it gets the focus."""

    def __init__(
        self, value: str = "", *, placeholder: str = "", classes: str = "", suggester: Suggester | None = None
    ) -> None:
        super().__init__(value, placeholder, classes=classes, suggester=suggester, compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        """Blink, or not."""
        self.cursor_blink = face(self).is_moving

    def on_paste(self, event: Paste) -> None:
        """Make one line of several: a line's end, and the backslash by which a shell goes on after it, is a blank."""
        event.stop()
        event.prevent_default()
        self.replace(re.sub(r"\\?[\r\n]+\s*", " ", event.text.strip("\r\n")), *self.selection)
