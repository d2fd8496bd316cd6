"""Controls of a form: one for each kind of field, with what is wrong written under it."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, DescendantBlur
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from splice.host.asked import Json
from splice.host.asking.forms import Field, read, written
from splice.host.terminal import drawn
from splice.host.terminal.face import face
from splice.host.terminal.line import Line
from splice.host.terminal.rows import Rows
from splice.host.terminal.words import elements, hidden
from splice.host.text import parted

MOST_ROWS = 6
"""How many choices are seen at once."""

AREAS = ("long", "json")
TICKS = ("tick", "switch")


class SafeArea(TextArea):
    """Text that may be of others. What cannot be seen is drawn as a sign of one column, and stays what it is."""

    def __init__(
        self, text: str = "", *, compact: bool = True, id: str | None = None, read_only: bool = False, classes: str = ""
    ) -> None:
        super().__init__(
            text, compact=compact, id=id, read_only=read_only, classes=classes, tab_behavior="focus", soft_wrap=True
        )

    def on_mount(self) -> None:
        """Let the cursor stand still where the user wants no movement."""
        self.cursor_blink = face(self).is_moving

    def get_line(self, line_index: int) -> Text:
        """Draw a line."""
        found = parted(self.document.get_line(line_index))
        return Text(
            "".join("\ufffd" * len(part) if is_hidden else part for part, is_hidden in found), end="", no_wrap=True
        )


class Tick(Static, can_focus=True):
    """Yes or no."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,enter", "flip", "Change", show=False)]

    class Changed(Message):
        """It was changed."""

    def __init__(self, label: Content, *, value: bool) -> None:
        super().__init__(classes="tick")
        self._label = label
        self.value = value

    def on_mount(self) -> None:
        """Draw it."""
        self._draw()

    def _draw(self) -> None:
        glyphs = face(self).glyphs
        mark = (glyphs.picked, "$accent") if self.value else (glyphs.unpicked, "$edge")
        self.update(drawn.row(mark, " ", self._label))

    def action_flip(self) -> None:
        """Change it."""
        self.value = not self.value
        self._draw()
        self.post_message(self.Changed())

    def on_click(self, event: Click) -> None:
        """Change it."""
        event.stop()
        self.action_flip()


class Options(Rows):
    """Choices, of which one or several may be picked."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "choose", "Pick", show=False)]

    def __init__(self, labels: list[str], picked: set[int], *, is_many: bool) -> None:
        super().__init__(self._row, id="options")
        self._labels, self.picked, self._is_many = labels, picked, is_many

    def on_mount(self) -> None:
        """Show so many rows as there are, up to a bound."""
        self.styles.height = min(len(self._labels), MOST_ROWS)
        self.set_count(len(self._labels))

    def _row(self, row: int, width: int) -> Content:
        face_ = face(self)
        mark = (face_.glyphs.picked, "$accent") if row in self.picked else (face_.glyphs.unpicked, "$edge")
        return drawn.row(mark, " ", face_.line(self._labels[row][:width]))

    def action_choose(self) -> None:
        """Pick the row of the cursor, or leave it."""
        if self._is_many or self.cursor in self.picked:
            self.picked ^= {self.cursor}
        else:
            self.picked = {self.cursor}
        self.refresh()
        self.post_message(Tick.Changed())


class NumberInput(Line):
    """A number: up and down change it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(1)", show=False),
        Binding("down", "step(-1)", show=False),
    ]

    def action_step(self, by: int) -> None:
        """Change the number."""
        try:
            self.value = f"{float(self.value or 0) + by:g}"
        except ValueError:
            return


class FieldBox(Vertical):
    """A field: its name and what it is for, the control, and what is wrong."""

    class Left(Message):
        """The user went on to something else."""

        def __init__(self, box: "FieldBox") -> None:
            super().__init__()
            self.box = box

    def __init__(self, field: Field, value: Json) -> None:
        super().__init__(classes="field")
        self.field = field
        self._first = value

    def compose(self) -> ComposeResult:
        """Make the control."""
        field = self.field
        if field.kind not in TICKS:
            yield Static(self._label(), classes="label")
        yield self._control()
        yield Static(classes="wrong")

    def _label(self) -> Content:
        face_, field = face(self), self.field
        needed = ("  required", "$wait") if field.is_required else ("", "")
        told = face_.line(f" {face_.glyphs.dot} ".join(filter(None, (field.description, field.hint))), "$muted")
        name = face_.line(field.title, "bold" if field.kind not in TICKS else "")
        return drawn.row(name, "   " if told.plain else "", told, needed)

    def _control(self) -> Widget:
        field, value = self.field, self._first
        if field.kind in TICKS:
            return Tick(self._label(), value=value is True)
        if field.choices:
            chosen = elements(value) if field.kind == "many" else (value,)
            picked = {place for place, (each, _) in enumerate(field.choices) if each in chosen}
            return Options([label for _, label in field.choices], picked, is_many=field.kind == "many")
        text = value if isinstance(value, str) and field.kind != "json" else written(field, value)
        if field.kind in AREAS or hidden(text) or "\n" in text:
            return SafeArea(text, classes="area")
        kind = NumberInput if field.kind in ("integer", "number") else Line
        return kind(text)

    def typed(self) -> Json:
        """Return what stands in the control, as it was typed or picked."""
        for tick in self.query(Tick):
            return None if self.field.kind == "tick" and not tick.value else tick.value
        for options in self.query(Options):
            chosen = [self.field.choices[place][0] for place in sorted(options.picked)]
            return chosen if self.field.kind == "many" else chosen[0] if chosen else ""
        for area in self.query(TextArea):
            return area.text
        return self.query_one(Input).value

    def value(self) -> Json:
        """Read what was typed; None: it is empty. Raises `ValueError` with a sentence."""
        return read(self.field, self.typed())

    def show(self, problem: str) -> None:
        """Say what is wrong, or nothing."""
        glyph = face(self).glyphs.failed
        said = drawn.row((f"{glyph} ", "$error"), face(self).line(f"{problem}.", "$error")) if problem else Content()
        wrong = self.query_one(".wrong", Static)
        wrong.update(said)
        wrong.display = bool(problem)
        self.set_class(bool(problem), "-wrong")

    def on_mount(self) -> None:
        """Nothing is wrong yet."""
        self.show("")

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        """Tell that it was left."""
        event.stop()
        self.post_message(self.Left(self))

    def focus_control(self) -> None:
        """Go to the control."""
        for widget in self.query("Input, TextArea, Tick, Options"):
            widget.focus()
            return
