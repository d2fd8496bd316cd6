"""Which model answers, which folders servers are told of, and what is set."""

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from splice.host.items import Model, Root, Settings
from splice.host.terminal import drawn, words
from splice.host.terminal.asides import AskLine
from splice.host.terminal.panels import Panel, facts
from splice.host.terminal.rows import Rows


@dataclass(frozen=True)
class Entry:
    """A row: a model, or a folder."""

    model: Model | None = None
    root: Root | None = None


class SettingsPanel(Panel):
    """The view of F8."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "find", "Find models", show=False),
        Binding("n", "add", "Add a folder", show=False),
        Binding("x", "remove", "Remove the folder", show=False),
    ]
    kinds = ("model:", "root:", "settings:")
    heading = "Models and folders"

    def __init__(self) -> None:
        super().__init__(id="settings")
        self.items: list[Entry] = []

    def load(self) -> int:
        """Take models and folders."""
        board = self.face.host.board
        self.items = [Entry(model=each) for each in sorted(board.all(Model), key=lambda each: each.id)]
        self.items += [Entry(root=each) for each in sorted(board.all(Root), key=lambda each: each.uri)]
        return len(self.items)

    def draw_row(self, row: int, width: int) -> Content:
        """Draw a model or a folder."""
        face, each = self.face, self.items[row]
        if each.root is not None:
            return drawn.row(("folder ", "$muted"), face.line(each.root.name or each.root.uri))
        model = each.model
        is_chosen = model is not None and model.is_chosen
        mark = (face.glyphs.picked, "$accent") if is_chosen else (face.glyphs.unpicked, "$edge")
        where = model.where if model else ""
        return drawn.row(mark, " ", face.line(words.label(model)), "  ", face.line(where[:width], "$muted"))

    def detail(self, row: int) -> Content:
        """Draw what is known of it, and what is set."""
        face, each = self.face, self.items[row]
        if each.root is not None:
            told = "A wish, not a wall: servers can read what you can read."
            name = face.line(each.root.uri, "bold")
            known = drawn.rows([name, Content.styled(told, "$muted"), drawn.keys(("x", "remove"))])
        else:
            model = each.model or Model(id="", label="")
            window = words.count(model.window) if model.window else ""
            known = facts(
                ("Model", face.line(words.label(model))),
                ("Where", face.line(model.where)),
                ("Provider", face.line(model.provider)),
                ("Window", Content(window)),
            )
        values = face.host.board.get("settings:now", Settings)
        known_values = values.values.items() if values else ()
        lines = [(name[:11], face.line(words.short(value))) for name, value in known_values]
        return drawn.rows([known, Content(), facts(*lines), Content(), drawn.keys(("n", "adds a folder"))])

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Choose the model."""
        event.stop()
        model = self.items[self.rows.cursor].model
        if model is not None:
            self.face.do(self.face.host.choose_model(model.id))

    def action_find(self) -> None:
        """Look for models on this computer."""
        self.face.do(self.face.host.find_models())

    def action_add(self) -> None:
        """Tell servers of a folder."""

        def add(path: str | None) -> None:
            if path:
                self.face.do(self.face.host.add_root(path))

        self.face.push_screen(AskLine(Content("Which folder may servers work in")), add)

    def action_remove(self) -> None:
        """Tell servers of a folder no more."""
        root = self.items[self.rows.cursor].root if self.items else None
        if root is not None:
            self.face.do(self.face.host.remove_root(root.uri))
