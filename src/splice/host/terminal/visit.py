"""A server asks the user to open an address in a browser. Nothing is fetched before the user says so."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from splice.host.asked import Filled, Visit
from splice.host.terminal import drawn
from splice.host.terminal.asking import Asking
from splice.host.terminal.dialog import Choice, para
from splice.host.terminal.keys import bindings


class VisitDialog(Asking[Visit]):
    """An address: whole, its host bold, and what may deceive about it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("visit")
    place = "visit"
    guarded = frozenset({"open", "decline", "done", "cancel"})

    def heading(self) -> Content:
        """Draw who asks."""
        what = " wants you to log in" if self.asked.is_login else " asks you to open an address"
        return self.marked(self.server(), (what, "bold"), self.during(self.asked.call))

    def warnings(self) -> Iterable[Widget]:
        """Say what may deceive."""
        for each in self.asked.warnings:
            yield para(self.warning(self.face.line(each)))

    def told(self) -> Iterable[Widget]:
        """Show the message and the address."""
        face, asked = self.face, self.asked
        yield para(face.text(asked.message, "$muted"))
        before, host, after = asked.url.partition(asked.host) if asked.host else (asked.url, "", "")
        address = drawn.row(face.line(before, "$muted"), face.line(host, "bold"), face.line(after))
        yield para(drawn.row("\n", address, "\n"))
        yield para(Content.styled("Nothing was fetched. Your browser opens it only when you say so.", "$muted"))

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        if self._was_there:
            yield Choice("I am done", "done")
        yield Choice("Open it again" if self._was_there else "Open in the browser", "open", allows=True)
        yield Choice("Copy the address", "copy")
        yield Choice("Decline", "decline")
        yield Choice("Cancel", "cancel")

    @property
    def _was_there(self) -> bool:
        """The address was opened, here or in another face, or copied to be opened."""
        return self.asked.is_opened or bool(self.kept.values.get("copied"))

    def action_open(self) -> None:
        """Open the address, and wait until the user is done there."""
        self.face.do(self.face.host.visit(self.question.id))

    async def action_copy(self) -> None:
        """Copy the address."""
        self.face.copy(self.asked.url, "the address")
        self.kept.values["copied"] = True
        await self.foot()

    async def changed(self) -> None:
        """Take it that the address was opened."""
        await self.foot()

    def action_done(self) -> None:
        """Say that it was done."""
        if self._was_there:
            self.give(Filled("accept"))

    def action_decline(self) -> None:
        """Decline it."""
        self.give(Filled("decline"))

    def action_cancel(self) -> None:
        """Cancel it."""
        self.give(Filled("cancel"))
