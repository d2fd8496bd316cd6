"""Which model answers, which folders servers are told of, and what is set: each is a row that can be changed."""

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from splice.host.items import Model, Root
from splice.host.terminal import drawn, settable, words
from splice.host.terminal.asides import AskLine, Folders
from splice.host.terminal.keys import bindings
from splice.host.terminal.panels import Panel, facts
from splice.host.terminal.rows import Rows


@dataclass(frozen=True)
class Entry:
    """A row: a model, a folder, or a setting by its name."""

    model: Model | None = None
    root: Root | None = None
    setting: str = ""


class SettingsPanel(Panel):
    """The view of F8."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("settings")
    kinds = ("model:", "root:", "settings:")
    heading = "Models, folders and settings"

    def __init__(self) -> None:
        super().__init__(id="settings")
        self.items: list[Entry] = []

    def load(self) -> int:
        """Take models, folders and settings."""
        board = self.face.host.board
        self.items = [Entry(model=each) for each in sorted(board.all(Model), key=lambda each: each.id)]
        self.items += [Entry(root=each) for each in sorted(board.all(Root), key=lambda each: each.uri)]
        self.items += [Entry(setting=each) for each in settable.TITLES]
        return len(self.items)

    def draw_row(self, row: int, width: int) -> Content:
        """Draw a model, a folder or a setting."""
        face, each = self.face, self.items[row]
        if each.setting:
            title = drawn.fit(Content.styled(settable.TITLES[each.setting], "$muted"), 24)
            return drawn.row(title, face.line(settable.shown(face.host.board, each.setting)))
        if each.root is not None:
            return drawn.row(("folder ", "$muted"), face.line(each.root.name or each.root.uri))
        model = each.model
        is_chosen = model is not None and model.is_chosen
        mark = (face.glyphs.picked, "$accent") if is_chosen else (face.glyphs.unpicked, "$edge")
        where = model.where if model else ""
        return drawn.row(mark, " ", face.line(words.label(model)), "  ", face.line(where[:width], "$muted"))

    def detail(self, row: int) -> Content:
        """Draw what is known of it, and what can be done."""
        face, each = self.face, self.items[row]
        if each.setting:
            return self._set(each.setting)
        if each.root is not None:
            told = "A wish, not a wall: servers can read what you can read."
            name = face.line(each.root.uri, "bold")
            return drawn.rows([name, Content.styled(told, "$muted"), drawn.keys(("x", "remove"))])
        model = each.model or Model(id="", label="")
        known = facts(
            ("Model", face.line(words.label(model))),
            ("Where", face.line(model.where)),
            ("Provider", face.line(model.provider)),
            ("Window", Content(words.count(model.window) if model.window else "")),
        )
        return drawn.rows([known, Content(), drawn.keys(("n", "adds a folder"))])

    def _set(self, name: str) -> Content:
        face = self.face
        value = settable.now(face.host.board, name)
        is_flag = isinstance(value, bool)
        keys = drawn.keys(("Enter", "turns it" if is_flag else "changes it"), ("x", "back to its default"))
        title = drawn.row((settable.TITLES[name], "bold"), (f"  {name}", "$muted"))
        is_long = isinstance(value, str) and bool(value)
        now = [face.text(value, "$muted"), Content()] if is_long and isinstance(value, str) else []
        return drawn.rows([title, Content(f"It is {settable.must(name)}."), Content(), *now, keys])

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Choose the model, or change the setting."""
        event.stop()
        each = self.items[self.rows.cursor]
        if each.model is not None:
            self.face.do(self.face.host.choose_model(each.model.id))
        elif each.setting:
            self._change(each.setting)

    def _change(self, name: str) -> None:
        """Turn a setting that is yes or no; ask for another value else."""
        value = settable.now(self.face.host.board, name)
        if isinstance(value, bool):
            self.face.do(self.face.host.set(name, not value))
            return

        def typed(text: str | None) -> None:
            if text is not None:
                self.face.do(self.face.host.set(name, settable.value_of(name, text)))

        title = Content(f"{settable.TITLES[name]}: {settable.must(name)}; empty is the default")
        self.face.push_screen(AskLine(title, value if isinstance(value, str) else words.short(value)), typed)

    def action_find(self) -> None:
        """Look for models on this computer."""
        self.face.do(self.face.host.find_models())

    def action_add(self) -> None:
        """Tell servers of a folder."""

        def add(path: str | None) -> None:
            if path:
                self.face.do(self.face.host.add_root(path))

        self.face.push_screen(AskLine(Content("Which folder may servers work in"), suggester=Folders()), add)

    def action_remove(self) -> None:
        """Tell servers of a folder no more; take a setting back to its default."""
        each = self.items[self.rows.cursor] if self.items else Entry()
        if each.root is not None:
            self.face.do(self.face.host.remove_root(each.root.uri))
        elif each.setting:
            self.face.do(self.face.host.set(each.setting, None))
