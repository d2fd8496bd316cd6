"""A list of any length: only the rows that can be seen are drawn."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from splice.host.terminal import drawn

Draw = Callable[[int, int], Content]
"""Draws the row of a number, so wide."""


class Rows(ScrollView, can_focus=True):
    """Rows with a cursor. It says where the cursor went, and which row was chosen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "move(-1_000_000_000)", "First", show=False),
        Binding("end", "move(1_000_000_000)", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    class Moved(Message):
        """The cursor is on another row."""

        def __init__(self, rows: "Rows") -> None:
            super().__init__()
            self.rows = rows

    class Chosen(Message):
        """A row was chosen."""

        def __init__(self, rows: "Rows") -> None:
            super().__init__()
            self.rows = rows

    def __init__(self, draw: Draw, *, id: str) -> None:
        super().__init__(id=id, classes="rows")
        self._draw = draw
        self.count = 0
        self.cursor = 0

    def set_count(self, count: int) -> None:
        """Show so many rows; those that are seen are drawn anew."""
        self.count = count
        self.cursor = max(0, min(self.cursor, count - 1))
        self.virtual_size = Size(self.size.width, count)
        self.refresh()

    def go(self, row: int) -> None:
        """Move the cursor."""
        self.cursor = max(0, min(row, self.count - 1))
        top, height = round(self.scroll_offset.y), self.size.height
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif height and self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)
        self.refresh()
        self.post_message(self.Moved(self))

    def render_line(self, y: int) -> Strip:
        """Draw a line of the screen."""
        width, row = self.size.width, y + round(self.scroll_offset.y)
        if row >= self.count:
            return Strip.blank(width, self.visual_style.rich_style)
        is_cursor = row == self.cursor
        style = self.get_visual_style("rows--cursor") if is_cursor else self.visual_style
        content = drawn.fit(self._draw(row, width), width)
        return Visual.to_strips(self, content, width, 1, style, apply_selection=False)[0]

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        self.go(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by pages."""
        self.go(self.cursor + by * max(1, self.size.height - 1))

    def action_choose(self) -> None:
        """Choose the row of the cursor."""
        if self.count:
            self.post_message(self.Chosen(self))

    def on_click(self, event: Click) -> None:
        """Move to a row; a second click chooses it."""
        row = event.y + round(self.scroll_offset.y)
        if row < self.count:
            is_there = row == self.cursor
            self.go(row)
            if is_there:
                self.action_choose()
