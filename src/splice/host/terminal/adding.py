"""A server is added in three steps: what was typed, its name, and exactly what would run. Nothing is started by it."""

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from splice.host.config.entering import NotRead, Typed, typed
from splice.host.items import Server
from splice.host.looks import Look
from splice.host.terminal import drawn
from splice.host.terminal.asides import AskLine
from splice.host.terminal.dialog import Choice, Dialog, para
from splice.host.terminal.face import Face
from splice.host.terminal.keys import bindings
from splice.host.terminal.running import what_it_may, what_runs


def add(app: Face, text: str = "") -> None:
    """Ask for servers, and let the user look at each before it is added."""

    def said(source: str | None) -> None:
        if not source:
            return
        try:
            made = typed(source, taken=[each.name for each in app.host.board.all(Server)])
        except NotRead as error:
            app.tell(f"{error}.", "warning")
            add(app, source)
            return
        if len(made) == 1:
            name, entry = made[0].name, made[0].entry
            app.push_screen(
                AskLine(Content("Its name here"), name), lambda called: _look(app, [Typed(called or "", entry)])
            )
        else:
            _look(app, made)

    app.push_screen(AskLine(Content("A command, an address that begins with https://, or JSON"), text), said)


def _look(app: Face, made: list[Typed]) -> None:
    """Show the first, and then the others."""
    if not made or not made[0].name.strip():
        return
    name, entry = made[0].name, made[0].entry
    look = app.now(lambda: app.host.review_server(name, entry))
    if look is not None:
        app.push_screen(LookDialog(look, name, entry), lambda _: _look(app, made[1:]))


class LookDialog(Dialog):
    """Exactly what would run. `a` adds it; it starts when it is needed."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("look")
    place = "look"
    guarded = frozenset({"add"})

    def __init__(self, look: Look, name: str, entry: dict[str, Any]) -> None:
        super().__init__()
        self._look, self._called, self._entry = look, name, entry

    def heading(self) -> Content:
        """Draw which server."""
        return drawn.row(("Add ", "bold"), self.face.line(self._look.name, "bold"))

    def warnings(self) -> Iterable[Widget]:
        """Say what adding means, or why it cannot be."""
        did = "started" if not self._look.asked.is_remote else "connected"
        yield para(Content.styled(f"{what_it_may(self._look.asked)} It is {did} when it is needed, not now.", "$muted"))
        problem = self._problem()
        if problem:
            yield para(self.face.line(f"{problem}.", "$error"))

    def _problem(self) -> str:
        known = f"There is a server {self._look.name} already" if self._look.is_known else ""
        return known or self._look.problem.rstrip(".")

    def told(self) -> Iterable[Widget]:
        """Show the exact command."""
        yield para(drawn.rows(what_runs(self.face, self._look.asked)))

    def choices(self) -> Iterable[Widget]:
        """Make the choice."""
        if not self._problem():
            yield Choice("Add it", "add", allows=True)

    def action_add(self) -> None:
        """Add it."""
        if not self._problem():
            face, name = self.face, self._called
            self.dismiss(None)
            face.do(face.host.add_server(name, self._entry), lambda _: face.tell(f"Added: {name}."))
