"""Small dialogs on top of a question: a line to type, a key to press, arguments to edit. Esc goes back to it."""

import asyncio
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import ClassVar

import msgspec
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from splice.host.asked import Json
from splice.host.asking.forms import BadForm, check
from splice.host.terminal import drawn, words
from splice.host.terminal.face import face
from splice.host.terminal.formed import Formed
from splice.host.terminal.hints import Hints
from splice.host.terminal.inputs import SafeArea
from splice.host.terminal.keys import bindings
from splice.host.terminal.line import Line
from splice.host.text import as_json

MAX_ENTRIES = 5_000
"""How many entries of a folder are looked at."""


class Folders(Suggester):
    """Proposes the path of a folder while it is typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Propose the first folder that begins like this."""
        return await asyncio.to_thread(_folder, value) if "/" in value else None


def _folder(typed: str) -> str | None:
    parent, _, start = typed.rpartition("/")
    try:
        found = islice(os.scandir(Path(f"{parent}/").expanduser()), MAX_ENTRIES)
        names = sorted(each.name for each in found if each.name.startswith(start) and each.is_dir())
    except (OSError, RuntimeError, ValueError):
        return None
    names = [each for each in names if start or not each.startswith(".")]
    return f"{parent}/{names[0]}/" if names else None


class AskLine(ModalScreen[str | None]):
    """Asks for a line."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", show=False)]

    def __init__(self, title: Content, text: str = "", *, suggester: Suggester | None = None) -> None:
        super().__init__()
        self._title, self._text, self._suggester = title, text, suggester

    def compose(self) -> ComposeResult:
        """Make the line."""
        with Vertical(id="aside"):
            yield Static(self._title)
            yield Line(self._text, suggester=self._suggester)
            takes = [("Right", "takes what is proposed")] if self._suggester else []
            yield Hints(drawn.keys(("Enter", "go on"), *takes, ("Esc", "back")))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the line."""
        self.dismiss(event.value.strip())

    def action_back(self) -> None:
        """Go back."""
        self.dismiss(None)


class AskKey(ModalScreen[str | None]):
    """Asks for one of a few keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", show=False)]

    def __init__(self, title: Content, known: dict[str, str]) -> None:
        super().__init__()
        self._title, self._known = title, known

    def compose(self) -> ComposeResult:
        """Make the lines."""
        with Vertical(id="aside"):
            yield Static(self._title)
            for key, word in self._known.items():
                yield Static(drawn.row((key, "bold $accent"), "  ", face(self).line(word)))
            yield Hints(drawn.keys(("Esc", "back")))

    def on_key(self, event: Key) -> None:
        """Take a key."""
        if event.character in self._known:
            event.stop()
            self.dismiss(event.character)

    def action_back(self) -> None:
        """Go back."""
        self.dismiss(None)


class EditArguments(ModalScreen[Json]):
    """The arguments of a call as a form of the tool's schema, or as JSON."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False),
        *bindings("arguments"),
    ]

    def __init__(self, schema: Json, arguments: Json) -> None:
        super().__init__()
        self._schema, self._arguments = schema, arguments
        self._is_json = False

    def compose(self) -> ComposeResult:
        """Make the form."""
        with Vertical(id="sheet", classes="-aside"):
            yield Static(drawn.row(("Edit the arguments", "bold"), "\n"))
            yield VerticalScroll(*self._controls(), id="body", can_focus=False)
            yield Static(id="problem")
            yield Hints(drawn.keys(("^S", "use them"), ("^R", "form or JSON"), ("Esc", "back")))

    def _controls(self) -> Iterable[Widget]:
        if not self._is_json:
            try:
                form = Formed(self._schema, words.members(self._arguments), for_tool=True)
            except BadForm:
                form = None
            if form is not None and form.fields:
                yield form
                return
        self._is_json = True
        yield SafeArea(as_json(self._arguments), classes="json")

    def _read(self) -> Json:
        """Return the arguments as they stand here; None: something is wrong, which is said."""
        for form in self.query(Formed):
            known = {field.name for field in form.fields}
            others = {name: value for name, value in words.members(self._arguments).items() if name not in known}
            values = form.check_all()
            return None if values is None else others | values
        try:
            arguments = msgspec.json.decode(self.query_one(SafeArea).text)
        except msgspec.DecodeError as error:
            self._say(f"This is not JSON: {error}")
            return None
        wrong = check(self._schema or {}, words.members(arguments), for_tool=True)
        self._say("; ".join(f"{name}: {why}" for name, why in wrong.items()))
        return None if wrong else arguments

    def _say(self, problem: str) -> None:
        self.query_one("#problem", Static).update(face(self).line(problem, "$error"))

    def action_use(self) -> None:
        """Go back with them."""
        arguments = self._read()
        if arguments is not None:
            self.dismiss(arguments)

    async def action_turn(self) -> None:
        """Change between form and JSON."""
        arguments = self._read()
        if arguments is not None:
            self._arguments, self._is_json = arguments, not self._is_json
            body = self.query_one("#body", VerticalScroll)
            await body.remove_children()
            await body.mount(*self._controls())

    def action_back(self) -> None:
        """Leave the field, or else go back without them."""
        if self.focused is not None:
            self.set_focus(None)
        else:
            self.dismiss(None)
