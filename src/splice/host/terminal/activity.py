"""What happened: the log, the newest first. Only what is seen is read and drawn, so that any length scrolls evenly."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from splice.host.items import Log, Server
from splice.host.terminal import drawn, recorded, words
from splice.host.terminal.hints import Hints
from splice.host.terminal.hosted import Recorded
from splice.host.terminal.keys import bindings
from splice.host.terminal.line import Line
from splice.host.terminal.panels import Panel, columns, facts
from splice.host.terminal.rows import Rows
from splice.host.text import as_json

PAGE = 200
"""How many records are read at once."""

MOST_FOUND = 2_000
"""How many records a filter finds."""


class ActivityPanel(Panel):
    """The view of F6."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("activity")
    kinds = ("log:",)
    heading = "Time        Server   What                   Why"

    def __init__(self) -> None:
        super().__init__(id="activity")
        self._pages: dict[int, list[Recorded]] = {}
        self._found: list[Recorded] | None = None
        self._count = 0
        self._shows_raw = False

    def compose(self) -> ComposeResult:
        """Make a filter above the list."""
        with Vertical(classes="list"):
            yield Line(placeholder="Filter: words, server:travel, is:denied", classes="search")
            yield Static(Content.styled(self.heading, "$muted"), classes="columns")
            yield Rows(self.draw_row, id="activity-rows")
        with VerticalScroll(classes="detail", can_focus=False):
            yield Hints(classes="told")

    def load(self) -> int:
        """See how long the log is; pages are read when they are seen."""
        log = self.face.host.board.get("log:now", Log)
        count = log.count if log else 0
        if count != self._count:
            self._pages.clear()
        self._count = count
        return len(self._found) if self._found is not None else count

    def record(self, row: int) -> Recorded | None:
        """Return the record of a row: the newest is the first."""
        if self._found is not None:
            return self._found[row] if row < len(self._found) else None
        page, place = divmod(row, PAGE)
        if page not in self._pages:
            before = self._count - page * PAGE + 1
            self._pages[page] = list(self.face.host.activity.read(before=before, count=PAGE))
        return self._pages[page][place] if place < len(self._pages[page]) else None

    def draw_row(self, row: int, width: int) -> Content:
        """Draw a record."""
        each = self.record(row)
        if each is None:
            return Content()
        face, told = self.face, recorded.told(each)
        mark = (face.glyphs.failed, "$error") if told.is_bad else (face.glyphs.done, "$success")
        return columns(
            width,
            (Content.styled(words.clock(each.at), "$muted"), 10),
            (drawn.row(mark), 2),
            (face.line(each.server, "$muted"), 9),
            (face.line(recorded.what(each.kind, told)), 23),
            (face.line(told.word, "$muted"), 24),
            (Content.styled(recorded.took(each), "$muted"), 8),
        )

    def detail(self, row: int) -> Content:
        """Draw all of a record."""
        each = self.record(row)
        if each is None:
            return Content()
        face, told = self.face, recorded.told(each)
        place = (f"  number {each.number}", "$muted")
        title = drawn.row(face.line(each.kind, "bold"), "  ", face.line(each.server, "$muted"), place)
        if self._shows_raw:
            return drawn.rows([title, Content(), face.text(as_json(dict(each.facts)))])
        known = facts(*((name, face.text(value)) for name, value in recorded.facts(each, told)))
        return drawn.rows([title, face.line(recorded.line(each, told.text)), Content(), known])

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Show the record raw, or told."""
        event.stop()
        self._shows_raw = not self._shows_raw
        self.draw_detail()

    def action_copy(self) -> None:
        """Copy the command that repeats a call, or a record as JSON."""
        each = self.record(self.rows.cursor)
        if each is not None and each.kind == "call" and each.server:
            server = self.face.host.board.get(f"server:{each.server}", Server)
            self.face.copy(
                words.command(server, words.short(each.facts.get("tool", "")), each.facts.get("arguments")),
                "the command",
            )
        elif each is not None:
            self.face.copy(as_json(dict(each.facts)), "the record")

    def action_filter(self) -> None:
        """Go to the filter."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Filter."""
        event.stop()
        text = event.value.strip()
        self._found = list(self._filtered(text)) if text else None
        self.rows.cursor = 0
        self.refill()
        self.rows.focus()

    def _filtered(self, text: str) -> Iterator[Recorded]:
        server, state, others = "", "", list[str]()
        for word in text.split():
            if word.startswith("server:"):
                server = word.removeprefix("server:")
            elif word.startswith("is:"):
                state = word.removeprefix("is:")
            else:
                others.append(word)
        for each in self.face.host.activity.read(count=MOST_FOUND, server=server, words=" ".join(others)):
            if not state or state in (each.facts.get("state"), each.facts.get("decision"), each.kind):
                yield each
