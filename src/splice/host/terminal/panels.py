"""A view that is a list with a detail: beside it, or below it where there is little room."""

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from splice.host.items import Item
from splice.host.terminal.face import Face, Shows, face, touches
from splice.host.terminal.rows import Rows


class Panel(Horizontal, Shows):
    """The list and the detail. It draws only while it is seen."""

    kinds: tuple[str, ...] = ()
    """Beginnings of the ids of the items that it shows."""
    heading = ""
    """Names of the columns."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self._is_stale = True

    @property
    def face(self) -> Face:
        """The app."""
        return face(self)

    @property
    def rows(self) -> Rows:
        """The list."""
        return self.query_one(Rows)

    def compose(self) -> ComposeResult:
        """Make list and detail."""
        with VerticalScroll(classes="list", can_focus=False):
            yield Static(Content.styled(self.heading, "$muted"), classes="columns")
            yield Rows(self.draw_row, id=f"{self.id}-rows")
        with VerticalScroll(classes="detail", can_focus=False):
            yield Static(classes="told")

    def follow(self, items: list[Item], gone: list[str], *, everything: bool) -> None:
        """Draw anew when something of its own changed."""
        if everything or touches(self.kinds, items, gone):
            self._is_stale = True
            if self.is_shown():
                self.refill()

    def is_shown(self) -> bool:
        """Tell whether it is seen now."""
        return self.is_attached and self.display

    def open(self, pick: str = "") -> None:
        """Show it: fill it if something changed, and go to an item."""
        if self._is_stale:
            self.refill()
        if pick:
            self.go_to(pick)
        self.rows.focus()

    def refill(self) -> None:
        """Fill list and detail."""
        self._is_stale = False
        self.rows.set_count(self.load())
        self.draw_detail()

    def draw_detail(self) -> None:
        """Draw the detail of the row of the cursor."""
        rows = self.rows
        told = self.detail(rows.cursor) if rows.count else self.nothing()
        self.query_one(".told", Static).update(told)

    def on_rows_moved(self, event: Rows.Moved) -> None:
        """Draw the detail of another row."""
        event.stop()
        self.draw_detail()

    def load(self) -> int:
        """Take what is on the board; return how many rows there are."""
        raise NotImplementedError

    def go_to(self, id: str) -> None:
        """Move the cursor to an item."""

    def draw_row(self, row: int, width: int) -> Content:
        """Draw a row."""
        raise NotImplementedError

    def detail(self, row: int) -> Content:
        """Draw the detail of a row."""
        raise NotImplementedError

    def nothing(self) -> Content:
        """Draw the detail of an empty list."""
        return Content.styled("Nothing is here yet.", "$muted")


def columns(width: int, *parts: tuple[Content, int]) -> Content:
    """Put cells into columns; the last one gets what is left."""
    done = Content()
    for place, (cell, wide) in enumerate(parts):
        left = width - done.cell_length
        if left <= 0:
            break
        shown = cell.truncate(max(1, (left if place == len(parts) - 1 else min(wide - 1, left))), ellipsis=True)
        done = done + shown.pad_right(max(0, wide - shown.cell_length) if place < len(parts) - 1 else 0)
    return done


def facts(*known: tuple[str, Content]) -> Content:
    """Draw names in grey with their values."""
    wide = max(12, *(len(name) + 2 for name, value in known if value.plain)) if known else 12
    lines = [Content.assemble((name.ljust(wide), "$muted"), value) for name, value in known if value.plain]
    return Content("\n").join(lines)
