"""What the host asks besides calls: commands to start, bounds of a turn, results to read, folders to name."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from splice.host.asked import Decision, Filled, Goon, ResultReview, RootsAsked, Trust
from splice.host.terminal import drawn
from splice.host.terminal.asides import AskLine, Folders
from splice.host.terminal.asking import Asking
from splice.host.terminal.dialog import Choice, para
from splice.host.terminal.inputs import Options
from splice.host.terminal.keys import bindings
from splice.host.terminal.running import what_it_may, what_runs


class TrustDialog(Asking[Trust]):
    """May this command be started? Enter does nothing; `t` trusts it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("trust")
    place = "trust"
    guarded = frozenset({"trust", "deny"})

    def heading(self) -> Content:
        """Draw which server."""
        what = "use" if self.asked.is_remote else "start"
        return self.marked(
            (f"{'Your file' if self.asked.is_own else 'This folder'} wants to {what} ", "bold"), self.server()
        )

    def warnings(self) -> Iterable[Widget]:
        """Say what trusting means."""
        named = " was edited while Splice ran, maybe by a program." if self.asked.is_own else " names it."
        rest = "Splice starts nothing before you say so, and asks again when a command changes."
        rest = f"{named} {what_it_may(self.asked)} {rest}"
        yield para(drawn.row(self.face.line(self.asked.source, "bold"), (rest, "$muted")))

    def told(self) -> Iterable[Widget]:
        """Show the exact command, and what is new in it."""
        face, asked = self.face, self.asked
        if asked.before is None:
            lines = [drawn.row(("new      ", "$wait"), self.server()), Content()]
        else:
            lines = [
                drawn.row(("changed  ", "$error"), self.server(), ("  trusted before as something else", "$muted"))
            ]
            old = [face.line(word, "$muted") for mark, word in asked.before if mark != "+"]
            new = [face.line(word, "bold $wait" if mark == "+" else "") for mark, word in asked.before if mark != "-"]
            lines.append(drawn.row(("- ", "$error"), Content(" ").join(old)))
            lines.append(drawn.row(("+ ", "$success"), Content(" ").join(new)))
            lines.append(Content())
        lines += what_runs(face, asked)
        yield para(drawn.rows(lines))

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        yield Choice("Trust it", "trust", allows=True)
        yield Choice("Not now", "deny")

    def action_trust(self) -> None:
        """Trust this exact command."""
        self.give(Decision("once"))

    def action_deny(self) -> None:
        """Go on without it."""
        self.give(Decision("deny"))


class YesNoDialog(Asking[Goon | ResultReview]):
    """Asks whether a long turn goes on, or the model may read a result."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("goon")
    place = "goon"
    guarded = frozenset({"once", "deny"})

    def heading(self) -> Content:
        """Draw what is asked."""
        if isinstance(self.asked, Goon):
            return self.marked(("Go on?", "bold"))
        return self.marked(("May the model read this result?", "bold"), self.during(self.asked.call))

    def told(self) -> Iterable[Widget]:
        """Show what it is about."""
        if isinstance(self.asked, Goon):
            yield para(self.face.line(f"{self.asked.what}."))
            return
        call = self.face.call(self.asked.call)
        for block in call.result if call else ():
            yield Static(self.face.text(block.text or f"{block.type} {block.mime_type}"), classes="quote")

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        yield Choice("Yes", "once", allows=True)
        yield Choice("No", "deny")

    def action_once(self) -> None:
        """Say yes."""
        self.give(Decision("once"))

    def action_deny(self) -> None:
        """Say no."""
        self.give(Decision("deny"))


class RootsDialog(Asking[RootsAsked]):
    """Asks which folders a server may know."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("folders")
    place = "folders"
    guarded = frozenset({"once", "deny"})

    def heading(self) -> Content:
        """Draw who asks."""
        return self.marked(self.server(), (" asks which folders it may work in", "bold"))

    def warnings(self) -> Iterable[Widget]:
        """Say what it means."""
        yield para(Content.styled("A wish, not a wall: the server can read what you can read.", "$muted"))

    def told(self) -> Iterable[Widget]:
        """List the folders; all are picked at first, and so is one that was added since."""
        known = self.asked.known
        left = self.kept.values.get("left", set())
        self._listed = list(known)
        yield Options(known, {at for at, uri in enumerate(known) if uri not in left}, is_many=True)

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        yield Choice("Tell it", "once", allows=True)
        yield Choice("Add a folder", "add")
        yield Choice("Decline", "deny")

    def keep(self) -> None:
        """Keep what was not picked."""
        super().keep()
        self.kept.values["left"] = set(self._listed) - set(self._picked())

    def _picked(self) -> list[str]:
        return [self._listed[place] for place in sorted(self.query_one(Options).picked)]

    def action_once(self) -> None:
        """Tell it the folders that are picked."""
        self.give(Filled("accept", {"uris": self._picked()}))

    def action_add(self) -> None:
        """Add a folder by its path; the question then names it too."""

        def add(path: str | None) -> None:
            if path:
                self.face.do(self.face.host.add_root(path))

        self.face.push_screen(AskLine(Content("Which folder may it work in"), suggester=Folders()), add)

    async def changed(self) -> None:
        """Show folders that were added, here or in another face."""
        self.keep()
        await self.body.remove_children()
        await self.body.mount(*self.told())
        self.look()

    def action_deny(self) -> None:
        """Decline."""
        self.give(Filled("decline"))
