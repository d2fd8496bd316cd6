"""Calls of tools in the chat: one line each, until it is opened."""

import time
from collections.abc import Iterator
from typing import ClassVar

import msgspec
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message as Told
from textual.widget import Widget
from textual.widgets import Static

from splice.host.items import Block, Call, Server
from splice.host.telling import decided
from splice.host.terminal import drawn, pictures, words
from splice.host.terminal.face import Face, face
from splice.host.terminal.keys import bindings

SERVER_WIDTH, TOOL_WIDTH, TOOK_WIDTH, BAR_WIDTH = 9, 21, 9, 16
NARROW = 72
"""Below so many columns the server is left out."""

MOST_SHOWN = 20_000
"""Characters of a result that are drawn; the whole of it is in the activity log."""

OVER = {"done", "failed", "denied", "cancelled", "crashed", "timeout"}


class CallLine(Widget):
    """The line: mark, server, tool, what it is about and what came, time."""

    def __init__(self, call: Call) -> None:
        super().__init__(classes="callline")
        self.call = call

    def render(self) -> Content:
        """Draw the line, as wide as it is."""
        face_, call, width = face(self), self.call, self.size.width
        mark, style = face_.glyphs.call(call.state, int(time.monotonic() * 4) if face_.is_moving else 0)
        is_wide = face_.size.width >= NARROW
        tool_width = TOOL_WIDTH if is_wide else 18
        server = drawn.fit(face_.line(call.server or "Splice", "$muted"), SERVER_WIDTH) if is_wide else Content()
        tool = drawn.fit(face_.line(call.tool), tool_width - 1)
        took = Content.styled(words.took(self._seconds()), "$muted")
        left = drawn.row((mark, style), " ", server, tool, " ")
        rest = width - left.cell_length - TOOK_WIDTH
        return drawn.row(left, drawn.fit(self._told(face_), rest), took.pad_left(TOOK_WIDTH - took.cell_length))

    def _seconds(self) -> float | None:
        call = self.call
        if call.state == "running" and call.began:
            return max(0.0, min(time.time() - call.began, 86_400))
        return call.seconds

    def _told(self, face_: Face) -> Content:
        call = self.call
        if call.state == "running":
            return _progress(face_, call)
        if call.state == "waiting":
            return face_.line(call.word or "waits for you", "$wait")
        if call.state == "queued":
            return face_.line(call.word or "waits", "$muted")
        if call.state != "done":
            return face_.line(call.word or words.STATES[call.state], "$error" if call.state != "denied" else "$muted")
        about, came = words.about(call), words.came(call)
        arrow = f" {face_.glyphs.to} " if about else ""
        return drawn.row(face_.line(about, "$muted"), (arrow, "$muted"), face_.line(came))


def _progress(face_: Face, call: Call) -> Content:
    at = call.progress
    if at is None:
        return face_.line(call.word or words.about(call), "$muted")
    message = face_.line(at.message, "$muted")
    if not at.total:
        return drawn.row(f"{at.done:g} ", message)
    bar = drawn.bar(face_.glyphs, at.done, at.total, BAR_WIDTH)
    return drawn.row(bar, f"  {at.done:g}/{at.total:g} ", message)


class CallRow(Vertical, can_focus=True):
    """A call: its line, and below it all of it once it is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("call"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]
    FORMS = ("Rendered", "Structured", "Raw")

    class Long(Told):
        """A call was opened that takes more than half the screen."""

        def __init__(self, row: "CallRow") -> None:
            super().__init__()
            self.row = row

    def __init__(self, call: Call) -> None:
        super().__init__(classes="call")
        self.call = call
        self.line = CallLine(call)
        self._form = 0
        self._was_opened = False

    def compose(self) -> ComposeResult:
        """Make the line."""
        yield self.line

    def put(self, call: Call) -> None:
        """Take the call as it is now."""
        came = call.result if call.result != self.call.result else []
        self.call = call
        self.line.call = call
        self.line.refresh()
        for detail in self.query(".detail").results(Static):
            detail.update(self._detail())
            self.mount(*pictures.of_blocks(came))

    def on_click(self) -> None:
        """Open it, or close it."""
        self.action_open()

    def action_open(self) -> None:
        """Open it, or close it."""
        opened = self.query(".detail, .picture")
        if opened:
            opened.remove()
        else:
            self.mount(Static(self._detail(), classes="detail"), *pictures.of_blocks(self.call.result))
            self._was_opened = True

    def on_resize(self) -> None:
        """Once opened, tell when it turns out to be longer than half the screen."""
        if self._was_opened and self.size.height > self.screen.size.height // 2:
            self.post_message(self.Long(self))
        self._was_opened = False

    def action_turn(self) -> None:
        """Show the result in another form."""
        self._form = (self._form + 1) % len(self.FORMS)
        self.put(self.call)

    def action_cancel(self) -> None:
        """Cancel this call alone."""
        if self.call.state not in OVER:
            face(self).do(face(self).host.cancel(self.call.id))

    def action_copy(self) -> None:
        """Copy the command that repeats it."""
        call, face_ = self.call, face(self)
        server = face_.host.board.get(f"server:{call.server}", Server)
        face_.copy(words.command(server, call.tool, call.arguments), "the command that repeats this call")

    def _detail(self) -> Content:
        return drawn.rows(list(self._lines(face(self))))

    def _lines(self, face_: Face) -> Iterator[Content]:
        call = self.call
        for step in call.trail:
            yield drawn.row(("Why        ", "$muted"), face_.line(decided(step.what, step.who)))
        if call.asked_arguments is not None:
            yield drawn.row(("Edited     ", "$wait"), face_.line(words.short(call.asked_arguments)))
        for name, value in words.members(call.arguments).items():
            lines = words.lines_of(value)
            yield drawn.row(face_.line(name, "$muted"), "  ", face_.text("\n".join(lines)))
        if call.mismatch:
            yield drawn.row(("! ", "$wait"), face_.line(call.mismatch))
        if call.is_untrusted:
            yield drawn.row(("! ", "$wait"), "Text from outside came into the turn with it.")
        if call.state in OVER:
            size = f"{call.bytes:,} bytes, {words.count(call.tokens)} tokens"
            yield drawn.row(
                (f"{self.FORMS[self._form]}  ", "bold"), (size, "$muted"), ("   v", "bold $accent"), " next form"
            )
            yield from self._result(face_)

    def _result(self, face_: Face) -> Iterator[Content]:
        call = self.call
        if self._form == 0:
            yield from (_block(face_, block) for block in call.result)
        elif self._form == 1:
            yield face_.text("\n".join(words.lines_of(call.structured))[:MOST_SHOWN])
        else:
            raw = msgspec.json.format(msgspec.json.encode(call.structured or call.result), indent=2).decode()
            yield face_.text(raw[:MOST_SHOWN])


def _block(face_: Face, block: Block) -> Content:
    if block.type == "text":
        cut = len(block.text) - MOST_SHOWN
        more = f"\n… {cut:,} more characters" if cut > 0 else ""
        return face_.text(block.text[:MOST_SHOWN] + more)
    told = f"{block.type} {block.mime_type} {block.bytes:,} bytes {block.text}"
    return face_.line(told, "$muted")


class Group(Vertical):
    """Calls that follow each other. The rule at their left is bright while one of them runs."""

    def look(self, calls: list[Call]) -> None:
        """Draw the rule."""
        self.set_class(any(call.state in ("running", "waiting") for call in calls), "-live")
