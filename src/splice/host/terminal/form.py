"""A server asks the user to fill in a form."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from splice.host.asked import Filled, Form, Json
from splice.host.asking.forms import BadForm, fields
from splice.host.terminal import drawn, words
from splice.host.terminal.asking import Asking
from splice.host.terminal.dialog import Choice, para
from splice.host.terminal.formed import Formed
from splice.host.terminal.keys import bindings


class FormDialog(Asking[Form]):
    """A form: sent after a review, if it has more than one field."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("form")
    place = "form"
    guarded = frozenset({"send", "decline", "cancel"})
    _reviewed: dict[str, Json] | None = None
    _warned = False

    def count(self) -> int | None:
        """Count its fields; None: it cannot be shown, so it cannot be sent."""
        try:
            return len(fields(self.asked.schema))
        except BadForm:
            return None

    def state(self) -> Content:
        """Draw how long it is."""
        return drawn.row((f"{words.counted(self.count() or 0, 'field')}   ", "$muted"), super().state())

    def heading(self) -> Content:
        """Draw who asks."""
        return self.marked(self.server(), (" asks you", "bold"), self.during(self.asked.call))

    def warnings(self) -> Iterable[Widget]:
        """Quote the message, and warn of fields that ask for secrets."""
        yield Static(self.face.text(self.asked.message), classes="quote")
        for name in self.asked.secrets:
            said = f"{name} looks like a secret. Servers must not ask for secrets this way."
            yield para(drawn.row((self.face.glyphs.failed, "$error"), "  ", self.face.line(said, "$error")))

    def told(self) -> Iterable[Widget]:
        """Make the fields."""
        try:
            yield Formed(self.asked.schema, self.kept.values or words.members(self.asked.draft))
        except BadForm as error:
            yield para(self.face.line(str(error), "$error"))

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        count = self.count()
        if count is not None and (self._warned or not self.asked.secrets):
            is_last = self._reviewed is not None or count < 2
            yield Choice("Send" if is_last else "Review and send", "send")
        yield Choice("Decline", "decline")
        yield Choice("Cancel the call", "cancel")

    async def action_send(self) -> None:
        """Check all; show all that will be sent; then send it."""
        if self.asked.secrets and not self._warned:
            self._warned = True
            await self.foot()
            return
        if self._reviewed is not None:
            self.give(Filled("accept", self._reviewed))
            return
        for form in self.query(Formed):
            values = form.check_all()
            if values is None:
                return
            if len(form.fields) < 2:
                self.give(Filled("accept", values))
                return
            self._reviewed = values
            form.display = False
            self.set_focus(None)
            await self.body.mount(para(drawn.row(("Review\n\n", "bold"), form.review(values)), "review"))
            await self.foot()

    def action_decline(self) -> None:
        """Decline it."""
        self.give(Filled("decline"))

    def action_cancel(self) -> None:
        """Cancel the call that asks."""
        self.give(Filled("cancel"))

    def action_back(self) -> None:
        """Leave the review, the field, or the dialog."""
        if self._reviewed is None:
            super().action_back()
            return
        self._reviewed = None
        self.query(".review").remove()
        self.query_one(Formed).display = True
        self.call_later(self.foot)

    def keep(self) -> None:
        """Keep what was typed, here and for other faces."""
        super().keep()
        for form in self.query(Formed):
            self.kept.values = form.typed()
            values, _ = form.values()
            self.face.now(partial(self.face.host.draft, self.question.id, values))
