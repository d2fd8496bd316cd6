"""A question of the board as a dialog: one at a time is open, the others wait behind it."""

from typing import ClassVar, Generic, TypeVar, cast

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from splice.host.asked import Answer, Asked
from splice.host.items import Question
from splice.host.terminal import drawn
from splice.host.terminal.dialog import Dialog, para
from splice.host.terminal.keeping import Kept
from splice.host.terminal.keys import bindings, pressed

AnAsked = TypeVar("AnAsked", bound=Asked)

GONE_SECONDS = 2.0
"""How long the word stays that a question was answered elsewhere."""


FACES = {"web": "you, on the web page", "terminal": "you, in a terminal", "program": "a program", "policy": "a rule"}
"""Who answers, in words."""


class Asking(Dialog, Generic[AnAsked]):
    """A question of one kind."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("question")
    leaves = "later"
    waits = True

    def __init__(self, question: Question, kept: Kept) -> None:
        super().__init__()
        self.question = question
        self.kept = kept
        """What was typed, how far it was scrolled: it stays while the question waits."""

    @property
    def asked(self) -> AnAsked:
        """What is asked."""
        return cast("AnAsked", self.question.asked)

    def on_mount(self) -> None:
        """Go on where the user was."""
        self.seen = self.kept.seen
        if self.kept.scroll:
            self.call_after_refresh(lambda: self.body.scroll_to(y=self.kept.scroll, animate=False))

    def waiting(self) -> list[Question]:
        """List the questions that wait, this one among them."""
        return sorted(self.face.host.board.all(Question), key=lambda each: each.number)

    def state(self) -> Content:
        """Draw which of the questions this is."""
        waiting = self.waiting()
        place = next((place for place, each in enumerate(waiting, 1) if each.id == self.question.id), 1)
        leave = super().state()
        if len(waiting) < 2:
            return leave
        of = (f" of {len(waiting)}  ", "$muted")
        leaf = [(each, f"bold $accent @click=app.press('{pressed(each)}')") for each in "[]"]
        return drawn.row((str(place), "$wait"), of, leaf[0], " ", leaf[1], "   ", leave)

    def server(self) -> Content:
        """Draw who asks."""
        return self.face.line(self.question.server or "Splice", "bold")

    def during(self, call: str) -> Content:
        """Draw during which call it is asked."""
        found = self.face.call(call)
        return drawn.row(("  during ", "$muted"), self.face.line(found.tool, "$muted")) if found else Content()

    def marked(self, *content: drawn.Part) -> Content:
        """Draw a title with the mark of questions."""
        return drawn.row((self.face.glyphs.wait, "$wait"), "  ", *content)

    def warning(self, content: Content) -> Content:
        """Draw a line that warns."""
        return drawn.row(("!", "bold $wait"), "  ", content)

    def give(self, answer: Answer) -> None:
        """Answer, and close."""
        self.is_over = True
        self.dismiss(None)
        self.face.give(self.question.id, answer)

    def keep(self) -> None:
        """Remember how far the user was."""
        self.kept.seen = self.seen
        self.kept.scroll = self.body.scroll_offset.y

    def leave(self) -> None:
        """Set it aside; it still waits."""
        self.keep()
        self.is_over = True
        self.dismiss(None)

    def action_leaf(self, by: int) -> None:
        """Show another question that waits."""
        waiting = self.waiting()
        if len(waiting) > 1:
            self.leave()
            self.face.leaf(self.question.id, by)

    async def put(self, question: Question) -> None:
        """Take the question as it is now: another face may have opened its address."""
        if question != self.question:
            self.question = question
            await self.changed()

    async def changed(self) -> None:
        """Draw what changed."""

    async def foot(self) -> None:
        """Draw the choices anew."""
        foot = self.query_one("#foot")
        await foot.remove_children()
        await foot.mount(*self.choices())
        self.look()

    def withdraw(self) -> None:
        """Say that it is over, and leave after a moment."""
        if not self.is_over:
            self.is_over = True
            self.query_one("#foot").remove_children()
            self.query_one("#more").remove()
            self.query_one("#head").mount(self.gone(), after=0)
            self.query_one("#title").display = False
            self.set_timer(GONE_SECONDS, self._close)

    def _close(self) -> None:
        """Leave. What `dismiss` returns is not handed on: a screen must not wait for its own end."""
        if self.is_current:
            self.dismiss(None)
        elif self.is_attached:  # under a small dialog of its own
            self.set_timer(GONE_SECONDS, self._close)

    def gone(self) -> Widget:
        """Draw the word that it is over, and by whom."""
        how = self.face.host.ended(self.question.id)
        told = (
            f"It was answered by {FACES[how]}." if how in FACES else how or "It was answered elsewhere, or withdrawn."
        )
        return para(self.warning(drawn.row("This question is over. ", self.face.line(told))))
