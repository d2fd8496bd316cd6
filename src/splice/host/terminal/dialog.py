"""The sheet over the chat that questions and forms are shown on.

Nothing is decided by reflex: Esc only goes back, Enter never allows, nothing has the focus when it opens, keys act only
after a moment, and what allows acts only once the last line was seen.
"""

import time
from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, Key
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from splice.host.terminal import drawn
from splice.host.terminal.face import Face, face
from splice.host.terminal.hints import Hints

LOOK_SECONDS = 0.2
"""How often a dialog looks whether all of it is seen now: text may wrap anew, and the screen change its size."""


SMALL = (72, 16)
"""Columns and rows below which warnings scroll with the rest: they are seen before anything is allowed either way."""


class Choice(Static, can_focus=True):
    """A button: its key, and what it does."""

    def __init__(self, word: str, action: str, *, allows: bool = False) -> None:
        super().__init__(classes="choice")
        self.word, self.action, self.allows = word, action, allows

    @property
    def key(self) -> str:
        """Its key, as the user has it."""
        screen = self.screen
        return face(self).signs.of(f"{screen.place}.{self.action}") if isinstance(screen, Dialog) else ""

    def draw(self, *, is_armed: bool) -> None:
        """Draw it, in grey as long as it does nothing."""
        style = "$muted" if self.allows and not is_armed else "bold $accent"
        self.update(drawn.row((self.key, style), " ", (self.word, "" if is_armed else "$muted")))

    async def on_click(self, event: Click) -> None:
        """Do it."""
        event.stop()
        await self.screen.run_action(f"screen.{self.action}")

    async def on_key(self, event: Key) -> None:
        """Do it, unless it allows something: that takes its own key."""
        if event.key in ("enter", "space"):
            event.stop()
            if self.allows:
                face(self).tell(f"Enter allows nothing: {self.key} does, or a click.")
            else:
                await self.screen.run_action(f"screen.{self.action}")


class Dialog(ModalScreen[None]):
    """A sheet: a head, a body that scrolls, and choices at its foot."""

    AUTO_FOCUS: ClassVar[str | None] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
        Binding("home", "scroll(-1_000_000)", show=False),
        Binding("end", "scroll(1_000_000)", show=False),
    ]
    leaves = "close"
    """What Esc does, in a word."""
    place: ClassVar[str] = ""
    """Where its keys stand in the table."""
    waits = False
    """It is a question: its frame is amber."""

    guarded: ClassVar[frozenset[str]] = frozenset()
    """Actions that decide something."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False
        self.is_over = False
        """It was answered, here or elsewhere: nothing acts any more."""
        self._opened = time.monotonic()

    @property
    def face(self) -> Face:
        """The app."""
        return face(self)

    def compose(self) -> ComposeResult:
        """Make the sheet."""
        with Vertical(id="sheet", classes="-wait" if self.waits else ""):
            with Horizontal(id="head"):
                yield Static(self.heading(), id="title")
                yield Hints(self.state(), id="state")
            warnings = list(self.warnings())
            is_small = self.face.size.height < SMALL[1] or self.face.size.width < SMALL[0]
            above = Vertical(*([] if is_small else warnings), id="warnings")
            above.display = bool(warnings) and not is_small
            yield above
            yield VerticalScroll(*(warnings if is_small else []), *self.told(), id="body", can_focus=False)
            yield Static(id="more")
            yield Horizontal(*self.choices(), id="foot")

    def heading(self) -> Content:
        """Draw the title."""
        return Content()

    def state(self) -> Content:
        """Draw what stands at the right of the title."""
        return drawn.keys(("Esc", self.leaves))

    def warnings(self) -> Iterable[Widget]:
        """Make what stands above the body, and never scrolls away."""
        return ()

    def told(self) -> Iterable[Widget]:
        """Make the body."""
        return ()

    def choices(self) -> Iterable[Widget]:
        """Make the foot."""
        return ()

    def on_mount(self) -> None:
        """Watch how much was seen, and arm after a moment."""
        body = self.body
        self.watch(body, "scroll_y", self.look, init=False)
        self.watch(body, "virtual_size", self.look, init=False)
        self._opened = time.monotonic()
        self.set_timer(self.face.guard + 0.01, self.look)
        self.set_interval(LOOK_SECONDS, self.look)
        self.call_after_refresh(self.look)

    @property
    def body(self) -> VerticalScroll:
        """The part that scrolls."""
        return self.query_one("#body", VerticalScroll)

    @property
    def is_ready(self) -> bool:
        """Keys act: a moment has passed."""
        return time.monotonic() - self._opened >= self.face.guard

    @property
    def is_armed(self) -> bool:
        """What allows acts."""
        return self.is_ready and self.seen

    def below(self) -> int | None:
        """Count the lines that are still below; None: it is not laid out yet."""
        body = self.body
        if not body.size.height:
            return None
        if not body.children:
            return 0
        last = body.children[-1]
        if last.display and not last.size.width:
            return None
        return max(0, last.virtual_region.bottom - round(body.scroll_offset.y) - body.size.height)

    def look(self) -> None:
        """Draw what depends on how much was seen."""
        if not self.is_mounted or not self.query("#body"):
            return
        below = self.below()
        if below == 0:
            self.seen = True
        more = Content()
        if below:
            is_needed = not self.seen and any(each.allows for each in self.query(Choice))
            then = "shows them, then you can allow" if is_needed else "shows them"
            arrow = f"{self.face.glyphs.down} {below} more line{'s' * (below > 1)}"
            more = drawn.row((arrow, "$wait"), ("  End ", "bold $accent"), (then, "$muted"))
        for static in self.query("#more").results(Static):
            static.update(more)
        for choice in self.query(Choice):
            choice.draw(is_armed=self.is_armed if choice.allows else self.is_ready)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let nothing act by reflex, and nothing that allows before all was seen."""
        if action not in ("back", "scroll") and action in self.guarded:
            if not self.is_ready or self.is_over:
                return False
            if any(each.allows and each.action == action for each in self.query(Choice)):
                return self.is_armed
        return super().check_action(action, parameters)

    def action_scroll(self, by: int) -> None:
        """Scroll the body."""
        self.body.scroll_to(y=max(0, min(self.body.scroll_target_y + by, self.body.max_scroll_y)), animate=False)
        self.call_after_refresh(self.look)

    def action_back(self) -> None:
        """Leave the field, or else the dialog."""
        if isinstance(self.focused, Input | TextArea):
            self.set_focus(None)
        else:
            self.leave()

    def leave(self) -> None:
        """Close without deciding anything."""
        self.dismiss(None)


def para(content: Content, classes: str = "") -> Static:
    """Make a paragraph."""
    return Static(content, classes=f"para {classes}".rstrip())


def pair(name: Content, value: Content, classes: str = "") -> Horizontal:
    """Make a name and a value beside each other."""
    return Horizontal(Static(name, classes="key"), Static(value, classes="value"), classes=f"pair {classes}".rstrip())
