"""A view that is a list with a detail: beside it, or below it where there is little room."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from splice.host.items import Item
from splice.host.terminal import drawn
from splice.host.terminal.face import Face, Shows, face, touches
from splice.host.terminal.hints import Hints
from splice.host.terminal.keys import bindings
from splice.host.terminal.rows import Rows

AnItem = TypeVar("AnItem", bound=Item)


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
            yield self.headed()
            yield Rows(self.draw_row, id=f"{self.id}-rows")
        with VerticalScroll(classes="detail", can_focus=False):
            yield Hints(classes="told")

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

    def headed(self) -> Static:
        """Make the line with the names of the columns."""
        return Static(Content.styled(self.heading, "$muted"), classes="columns")

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


@dataclass(frozen=True)
class Column(Generic[AnItem]):
    """A column of a table of items."""

    name: str
    width: int
    """With the space after it; the last column gets what is left."""
    cell: Callable[[AnItem], Content]
    key: Callable[[AnItem], Any]
    """What it is sorted by."""


class Headings(Static):
    """The names of the columns. A click on one sorts by it."""

    class Chosen(Message):
        """A column was chosen."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, known: list[tuple[str, int]]) -> None:
        super().__init__(classes="columns")
        self._known = known

    def draw(self, place: int | None, sign: str) -> None:
        """Draw them; the one that sorts has a sign."""
        cells: list[tuple[Content, int]] = []
        for at, (name, wide) in enumerate(self._known):
            sorts = at == place
            cells.append((drawn.row((f"{name} {sign}" if sorts else name, "bold" if sorts else "$muted")), wide))
        self.update(columns(sum(wide for _, wide in self._known) + len(sign) + 12, *cells))

    def on_click(self, event: Click) -> None:
        """Say which column was chosen."""
        event.stop()
        left = event.x
        for place, (_, wide) in enumerate(self._known):
            left -= wide
            if left < 0 or place == len(self._known) - 1:
                self.post_message(self.Chosen(place))
                return


class Table(Panel, Generic[AnItem]):
    """A panel of items of the board in columns, by which it can be sorted. The cursor stays on its item."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("table")

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.items: list[AnItem] = []
        self._columns = self.columns()
        self._sorts: int | None = None
        self._is_reversed = False

    def columns(self) -> list[Column[AnItem]]:
        """Make the columns."""
        raise NotImplementedError

    def taken(self) -> list[AnItem]:
        """Take the items from the board, in the order in which they matter."""
        raise NotImplementedError

    def headed(self) -> Static:
        """Make the names of the columns."""
        return Headings([(each.name, each.width) for each in self._columns])

    @property
    def here(self) -> AnItem | None:
        """The item of the cursor."""
        return self.items[self.rows.cursor] if self.rows.cursor < len(self.items) else None

    def load(self) -> int:
        """Take the items, and stay on the one where the cursor is."""
        here = self.here
        self.items = self.taken()
        if self._sorts is not None:
            self.items.sort(key=self._columns[self._sorts].key, reverse=self._is_reversed)
        glyphs = self.face.glyphs
        self.query_one(Headings).draw(self._sorts, glyphs.up if self._is_reversed else glyphs.down)
        places = {each.id: place for place, each in enumerate(self.items)}
        if here is not None and places.get(here.id, self.rows.cursor) != self.rows.cursor:
            self.call_after_refresh(self.rows.go, places[here.id])
            self.rows.cursor = places[here.id]
        return len(self.items)

    def go_to(self, id: str) -> None:
        """Move the cursor to an item."""
        for place, each in enumerate(self.items):
            if each.id == id:
                self.rows.go(place)

    def draw_row(self, row: int, width: int) -> Content:
        """Draw an item."""
        item = self.items[row]
        return columns(width, *((each.cell(item), each.width) for each in self._columns))

    def detail(self, row: int) -> Content:
        """Draw all of an item."""
        return self.told(self.items[row])

    def told(self, item: AnItem) -> Content:
        """Draw all of an item."""
        raise NotImplementedError

    def on_headings_chosen(self, event: Headings.Chosen) -> None:
        """Sort by a column; chosen again, the other way."""
        event.stop()
        self._is_reversed = event.place == self._sorts and not self._is_reversed
        self._sorts = event.place
        self.refill()

    def action_sort(self, by: int) -> None:
        """Sort by the column before or after; beyond the last stands the order in which they came."""
        known = [None, *range(len(self._columns))]
        self._sorts = known[(known.index(self._sorts) + by) % len(known)]
        self._is_reversed = False
        self.refill()

    def action_reverse(self) -> None:
        """Sort the other way."""
        self._is_reversed = self._sorts is not None and not self._is_reversed
        self.refill()


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
