"""An input whose value a server completes: asked after a pause, shown under it, chosen with the arrows and Tab."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from splice.host.terminal import drawn
from splice.host.terminal.face import face
from splice.host.terminal.hosted import REFUSED
from splice.host.terminal.line import Line

PAUSE_SECONDS = 0.15
"""How long typing has to pause before a server is asked."""

MOST = 6
"""How many values are shown."""

Complete = Callable[[str], Awaitable[list[str]]]


class Completing(Vertical):
    """An input and the values that a server offers for it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
    ]

    class Changed(Message):
        """The value is another one."""

    def __init__(self, name: str, value: str, complete: Complete) -> None:
        super().__init__(classes="completing")
        self.key = name
        self._first, self._complete = value, complete
        self._offered: list[str] = []
        self._at = 0
        self._timer: Timer | None = None
        self._asked = 0

    def compose(self) -> ComposeResult:
        """Make the input, and the place of what is offered."""
        yield Line(self._first)
        yield Static(classes="menu")

    def on_mount(self) -> None:
        """Nothing is offered yet."""
        self._show([])

    @property
    def value(self) -> str:
        """What was typed."""
        return self.query_one(Input).value

    def on_input_changed(self, event: Input.Changed) -> None:
        """Ask the server after a pause."""
        event.stop()
        self.post_message(self.Changed())
        typed = event.value.casefold()
        self._show([each for each in self._offered if each.casefold().startswith(typed) and each != event.value])
        if self._timer is not None:
            self._timer.stop()
        if self.query_one(Input).has_focus:
            self._timer = self.set_timer(PAUSE_SECONDS, self._ask)

    def _ask(self) -> None:
        self._asked += 1
        asked = self._asked

        def show(values: list[str]) -> None:
            if asked == self._asked and self.is_attached:
                self._show([each for each in values if each != self.value])

        face(self).do(self._offers(self.value), show)

    async def _offers(self, value: str) -> list[str]:
        try:
            return await self._complete(value)
        except REFUSED:
            return []  # typing goes on without offers

    def _show(self, values: list[str]) -> None:
        self._offered, self._at = values, 0
        self._draw()

    def _draw(self) -> None:
        lines: list[Content] = []
        for place, value in enumerate(self._offered[:MOST]):
            shown = drawn.row(" ", face(self).line(value), " ")
            lines.append(shown.stylize("$fill on $accent") if place == self._at else shown)
        if len(self._offered) > MOST:
            lines.append(Content.styled(f" and {len(self._offered) - MOST} more", "$muted"))
        menu = self.query_one(".menu", Static)
        menu.update(drawn.rows(lines))
        menu.display = bool(lines)

    def action_move(self, by: int) -> None:
        """Go to another value that is offered."""
        if self._offered:
            self._at = (self._at + by) % min(MOST, len(self._offered))
            self._draw()

    def on_key(self, event: Key) -> None:
        """Take the value with Tab; leave them all with Esc."""
        if not self._offered or event.key not in ("tab", "escape"):
            return
        event.stop()
        event.prevent_default()
        if event.key == "tab":
            input_ = self.query_one(Input)
            with self.prevent(Input.Changed):
                input_.value = self._offered[self._at]
                input_.cursor_position = len(input_.value)
            self.post_message(self.Changed())
        self._asked += 1
        self._show([])
