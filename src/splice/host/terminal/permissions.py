"""The user's rules: deny first, then ask, then allow. One is revoked at once, and brought back."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from splice.host.items import Rule
from splice.host.terminal import drawn, words
from splice.host.terminal.asides import AskLine
from splice.host.terminal.hosted import Effect
from splice.host.terminal.panels import Panel, columns, facts

_ORDER = ("deny", "ask", "allow")
_EFFECTS: dict[str, Effect] = {"deny": "deny", "ask": "ask", "allow": "allow"}


class PermissionsPanel(Panel):
    """The view of F7."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "revoke", "Revoke", show=False),
        Binding("u", "undo", "Undo", show=False),
        Binding("n", "new", "New rule", show=False),
        Binding("e", "edit", "Edit", show=False),
    ]
    kinds = ("rule:",)
    heading = "  What                   Rule   How long   Since    Used"

    def __init__(self) -> None:
        super().__init__(id="permissions")
        self.items: list[Rule] = []
        self._revoked: list[str] = []

    def load(self) -> int:
        """Take the rules."""
        rules = self.face.host.board.all(Rule)
        self.items = sorted(rules, key=lambda each: (_ORDER.index(each.effect), each.what, each.id))
        return len(self.items)

    def draw_row(self, row: int, width: int) -> Content:
        """Draw a rule."""
        face, each = self.face, self.items[row]
        signs = {"deny": (face.glyphs.denied, "$muted"), "ask": (face.glyphs.wait, "$wait")}
        return columns(
            width,
            (drawn.row(signs.get(each.effect, (face.glyphs.done, "$success")), " ", face.line(each.what)), 25),
            (Content(each.effect), 7),
            (Content("this chat" if each.scope == "chat" else "always"), 11),
            (Content.styled(words.day(each.made), "$muted"), 9),
            (Content(str(each.uses)), 6),
        )

    def detail(self, row: int) -> Content:
        """Draw what a rule means."""
        face, each = self.face, self.items[row]
        long = "in this chat" if each.scope == "chat" else "always"
        known = facts(
            ("Given", Content(words.day(each.made))),
            ("Last used", Content(words.clock(each.used) if each.used else "never")),
            ("Used", Content(words.counted(each.uses, "time"))),
        )
        told = "A tool that changes asks again. So does any tool that acts, once text from outside came into the turn."
        title = drawn.row(face.line(each.what, "bold"), (f"  {each.effect}, {long}", "$muted"))
        return drawn.rows(
            [title, Content(), known, Content(), Content(told), Content(), drawn.keys(("x", "revoke"), ("e", "edit"))]
        )

    def nothing(self) -> Content:
        """Say what it means that there are no rules."""
        undo = drawn.row("\n\n", drawn.keys(("u", "brings back what you revoked"))) if self._revoked else ""
        new = drawn.row("\n\n", drawn.keys(("n", "makes one")))
        return drawn.row(("There are no rules: every call that acts is asked.", "$muted"), new, undo)

    def action_revoke(self) -> None:
        """Take it back at once."""
        if self.items:
            each = self.items[self.rows.cursor]
            self._revoked.append(each.id)
            self.face.now(lambda: self.face.host.revoke(each.id))
            self.face.tell(f"Revoked: {each.effect} {each.what}. u brings it back.")

    def action_new(self) -> None:
        """Make a lasting rule."""
        self._ask("", lambda effect, what: self.face.now(lambda: self.face.host.grant(effect, what)))

    def action_edit(self) -> None:
        """Put another rule in the place of this one."""
        if self.items:
            old = self.items[self.rows.cursor]

            def replaced(effect: Effect, what: str) -> None:
                if self.face.now(lambda: self.face.host.grant(effect, what)) not in (None, old.id):
                    self.face.now(lambda: self.face.host.revoke(old.id))

            self._ask(f"{old.effect} {old.what}", replaced)

    def _ask(self, text: str, then: Callable[[Effect, str], None]) -> None:
        def said(line: str | None) -> None:
            effect, _, what = (line or "").partition(" ")
            if effect in _EFFECTS and what.strip():
                then(_EFFECTS[effect], what.strip())
            elif line:
                self.face.tell("A rule begins with allow, ask or deny: allow travel/searchFlights.", "warning")

        title = Content("A rule for always: allow, ask or deny; then SERVER/TOOL, SERVER/* or reads SERVER")
        self.face.push_screen(AskLine(title, text), said)

    def action_undo(self) -> None:
        """Bring back what was revoked last."""
        if self._revoked:
            id = self._revoked.pop()
            self.face.now(lambda: self.face.host.restore(id))
