"""Which question is open, and what was typed into those that wait."""

import time
from typing import Any

from splice.host.items import Question
from splice.host.terminal.asking import Asking
from splice.host.terminal.dialogs import dialog_for
from splice.host.terminal.face import Face
from splice.host.terminal.keeping import Kept


class Questions:
    """The questions of the board, as far as this face has shown them."""

    def __init__(self, app: Face) -> None:
        self._app = app
        self._kept: dict[str, Kept] = {}
        self._set_aside: set[str] = set()
        self._opened: Asking[Any] | None = None
        self.closed = 0.0
        """When a dialog closed last: letters do nothing for a moment."""

    def waiting(self) -> list[Question]:
        """List the questions that wait, the oldest first."""
        return sorted(self._app.host.board.all(Question), key=lambda each: each.number)

    def open(self, question: Question) -> None:
        """Open the dialog of a question."""
        self._set_aside.discard(question.id)
        kept = self._kept.setdefault(question.id, Kept())
        self._opened = dialog_for(question, kept)
        self._app.push_screen(self._opened, lambda _: self._left(question))

    def _left(self, question: Question) -> None:
        self.closed = time.monotonic()
        if self._app.host.board.get(question.id, Question) is not None:
            self._set_aside.add(question.id)

    def put_aside(self) -> None:
        """Keep what was typed into the question that is open, for the user goes elsewhere: it opens when asked for."""
        showing = self.showing()
        if showing is not None and not showing.is_over:
            showing.keep()
            self._set_aside.add(showing.question.id)

    def showing(self) -> Asking[Any] | None:
        """Return the question that is open."""
        return self._opened if self._opened in self._app.screen_stack else None

    def answered(self, question: str) -> None:
        """Show the next one, after one was answered."""
        self._kept.pop(question, None)
        rest = [each for each in self.waiting() if each.id != question]
        if rest and self.showing() is None:
            self.open(rest[0])

    def leaf(self, question: str, by: int) -> None:
        """Open the one before or after another one."""
        waiting = self.waiting()
        place = next((place for place, each in enumerate(waiting) if each.id == question), 0)
        if waiting:
            self.open(waiting[(place + by) % len(waiting)])

    def changed(self) -> None:
        """Show what is open as it is now; close it, if it is on the board no more."""
        showing = self.showing()
        if showing is None:
            return
        question = self._app.host.board.get(showing.question.id, Question)
        if question is None:
            showing.withdraw()
        else:
            showing.call_later(showing.put, question)

    def fresh(self) -> Question | None:
        """Return the oldest one that the user has not set aside."""
        return next((each for each in self.waiting() if each.id not in self._set_aside), None)
