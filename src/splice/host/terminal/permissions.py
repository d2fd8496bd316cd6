"""The user's rules: deny first, then ask, then allow. One is revoked at once, and brought back."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from splice.host.items import Rule
from splice.host.terminal import drawn, words
from splice.host.terminal.asides import AskLine
from splice.host.terminal.hosted import Effect
from splice.host.terminal.keys import bindings
from splice.host.terminal.panels import Column, Table, facts

_ORDER = ("deny", "ask", "allow")
_EFFECTS: dict[str, Effect] = {"deny": "deny", "ask": "ask", "allow": "allow"}


class PermissionsPanel(Table[Rule]):
    """The view of F7."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("permissions")
    kinds = ("rule:",)

    def __init__(self) -> None:
        super().__init__(id="permissions")
        self._revoked: list[str] = []

    def columns(self) -> list[Column[Rule]]:
        """Make the columns."""
        return [
            Column("  What", 25, self._what, lambda each: each.what),
            Column("Rule", 7, lambda each: Content(each.effect), lambda each: _ORDER.index(each.effect)),
            Column("How long", 11, lambda each: Content(_long(each)), lambda each: each.scope),
            Column("Since", 9, lambda each: Content.styled(words.day(each.made), "$muted"), lambda each: each.made),
            Column("Used", 7, lambda each: Content(str(each.uses)), lambda each: each.uses),
        ]

    def taken(self) -> list[Rule]:
        """Take the rules."""
        rules = self.face.host.board.all(Rule)
        return sorted(rules, key=lambda each: (_ORDER.index(each.effect), each.what, each.id))

    def _what(self, each: Rule) -> Content:
        glyphs = self.face.glyphs
        signs = {"deny": (glyphs.denied, "$muted"), "ask": (glyphs.wait, "$wait"), "allow": (glyphs.done, "$success")}
        sign = (glyphs.asleep, "$edge") if each.void else signs[each.effect]
        return drawn.row(sign, " ", self.face.line(each.what))

    def told(self, item: Rule) -> Content:
        """Draw what a rule means."""
        face, each = self.face, item
        title = drawn.row(face.line(each.what, "bold"), (f"  {each.effect}, {_long(each)}", "$muted"))
        void = [self.face.line(f"It no longer counts: {each.void}.", "$wait")] if each.void else []
        known = facts(
            ("Given", Content(words.day(each.made))),
            ("Last used", Content(words.clock(each.used) if each.used else "never")),
            ("Used", Content(words.counted(each.uses, "time"))),
        )
        said = "A tool that changes asks again. So does any tool that acts, once text from outside came into the turn."
        return drawn.rows([title, *void, Content(), known, Content(), Content(said)])

    def nothing(self) -> Content:
        """Say what it means that there are no rules."""
        undo = drawn.row("\n\n", drawn.keys(("u", "brings back what you revoked"))) if self._revoked else ""
        new = drawn.row("\n\n", drawn.keys(("n", "makes one")))
        return drawn.row(("There are no rules: every call that acts is asked.", "$muted"), new, undo)

    def action_revoke(self) -> None:
        """Take it back at once."""
        if (each := self.here) is not None:
            self._revoked.append(each.id)
            self.face.now(lambda: self.face.host.revoke(each.id))
            self.face.tell(f"Revoked: {each.effect} {each.what}. u brings it back.")

    def action_new(self) -> None:
        """Make a lasting rule."""
        self._ask("", lambda effect, what: self.face.now(lambda: self.face.host.grant(effect, what)))

    def action_edit(self) -> None:
        """Put another rule in the place of this one."""
        if (old := self.here) is not None:

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


def _long(rule: Rule) -> str:
    return "this chat" if rule.scope == "chat" else "always"
