"""What the host asks besides calls: commands to start, bounds of a turn, results to read, folders to name."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from splice.host.asked import Decision, Filled, Goon, ResultReview, RootsAsked, Trust
from splice.host.terminal import drawn
from splice.host.terminal.asking import Asking
from splice.host.terminal.dialog import Choice, para
from splice.host.terminal.inputs import Options


class TrustDialog(Asking):
    """May this command be started? Enter does nothing; `t` trusts it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "trust", "Trust it", show=False),
        Binding("n", "deny", "Not now", show=False),
    ]
    guarded = frozenset({"trust", "deny"})

    @property
    def asked(self) -> Trust:
        """What is asked."""
        asked = self.question.asked
        return asked if isinstance(asked, Trust) else Trust("", [], "", "")

    def heading(self) -> Content:
        """Draw which server."""
        return self.marked(("This folder wants to start ", "bold"), self.server())

    def warnings(self) -> Iterable[Widget]:
        """Say what trusting means."""
        said = (
            " names it. It runs as you, with your files and network. Splice starts nothing before you say so, and asks"
        )
        rest = f"{said} again when a command changes."
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
        lines.append(drawn.row(("command  ", "$muted"), face.line(asked.words[0] if asked.words else asked.runs)))
        lines += [drawn.row("         ", face.line(word)) for word in asked.words[1:]]
        lines.append(drawn.row(("in       ", "$muted"), face.line(asked.folder)))
        lines.append(drawn.row(("gets     ", "$muted"), face.line(", ".join(asked.variables) or "no variables")))
        lines += [drawn.row(("ignored  ", "$muted"), face.line(each)) for each in asked.ignored]
        yield para(drawn.rows(lines))

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        yield Choice("t", "Trust it", "trust", allows=True)
        yield Choice("n", "Not now", "deny")

    def action_trust(self) -> None:
        """Trust this exact command."""
        self.give(Decision("once"))

    def action_deny(self) -> None:
        """Go on without it."""
        self.give(Decision("deny"))


class YesNoDialog(Asking):
    """Asks whether a long turn goes on, or the model may read a result."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "once", "Yes", show=False),
        Binding("d", "deny", "No", show=False),
    ]
    guarded = frozenset({"once", "deny"})

    @property
    def asked(self) -> Goon | ResultReview:
        """What is asked."""
        asked = self.question.asked
        return asked if isinstance(asked, Goon | ResultReview) else Goon("")

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
        yield Choice("a", "Yes", "once", allows=True)
        yield Choice("d", "No", "deny")

    def action_once(self) -> None:
        """Say yes."""
        self.give(Decision("once"))

    def action_deny(self) -> None:
        """Say no."""
        self.give(Decision("deny"))


class RootsDialog(Asking):
    """Asks which folders a server may know."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "once", "Tell it", show=False),
        Binding("d", "deny", "Decline", show=False),
    ]
    guarded = frozenset({"once", "deny"})

    @property
    def asked(self) -> RootsAsked:
        """What is asked."""
        asked = self.question.asked
        return asked if isinstance(asked, RootsAsked) else RootsAsked([])

    def heading(self) -> Content:
        """Draw who asks."""
        return self.marked(self.server(), (" asks which folders it may work in", "bold"))

    def warnings(self) -> Iterable[Widget]:
        """Say what it means."""
        yield para(Content.styled("A wish, not a wall: the server can read what you can read.", "$muted"))

    def told(self) -> Iterable[Widget]:
        """List the folders."""
        yield Options(self.asked.known, set(range(len(self.asked.known))), is_many=True)

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        yield Choice("a", "Tell it", "once", allows=True)
        yield Choice("d", "Decline", "deny")

    def action_once(self) -> None:
        """Tell it the folders that are picked."""
        picked = sorted(self.query_one(Options).picked)
        self.give(Filled("accept", {"uris": [self.asked.known[place] for place in picked]}))

    def action_deny(self) -> None:
        """Decline."""
        self.give(Filled("decline"))
