"""The user's rules: deny first, then ask, then allow. One is revoked at once, and brought back."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from splice.host.items import Rule
from splice.host.terminal import drawn, words
from splice.host.terminal.panels import Panel, columns, facts

_ORDER = ("deny", "ask", "allow")


class PermissionsPanel(Panel):
    """The view of F7."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "revoke", "Revoke", show=False),
        Binding("u", "undo", "Undo", show=False),
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
            ("Given", Content(f"{words.day(each.made)} {words.clock(each.made)}")),
            ("Last used", Content(words.clock(each.used) if each.used else "never")),
            ("Used", Content(f"{each.uses} times")),
        )
        told = "A tool that changes asks again. So does any tool that acts, once text from outside came into the turn."
        title = drawn.row(face.line(each.what, "bold"), (f"  {each.effect}, {long}", "$muted"))
        return drawn.rows([title, Content(), known, Content(), Content(told), Content(), drawn.keys(("x", "revoke"))])

    def nothing(self) -> Content:
        """Say what it means that there are no rules."""
        undo = drawn.row("\n\n", drawn.keys(("u", "brings back what you revoked"))) if self._revoked else ""
        return drawn.row(("There are no rules: every call that acts is asked.", "$muted"), undo)

    def action_revoke(self) -> None:
        """Take it back at once."""
        if self.items:
            each = self.items[self.rows.cursor]
            self._revoked.append(each.id)
            self.face.now(lambda: self.face.host.revoke(each.id))
            self.face.tell(f"Revoked: {each.effect} {each.what}. u brings it back.")

    def action_undo(self) -> None:
        """Bring back what was revoked last."""
        if self._revoked:
            id = self._revoked.pop()
            self.face.now(lambda: self.face.host.restore(id))
