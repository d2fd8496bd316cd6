"""May this call run? Everything that is sent is shown, and allowing waits until all of it was seen."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from splice.host.asked import Approval, Decision, Json
from splice.host.items import Call, Question, Server, Tool
from splice.host.terminal import drawn, words
from splice.host.terminal.asides import AskKey, AskLine, EditArguments
from splice.host.terminal.asking import Asking
from splice.host.terminal.dialog import Choice, pair, para
from splice.host.terminal.hints import Hints
from splice.host.terminal.keys import bindings
from splice.host.text import as_json


class ApprovalDialog(Asking[Approval]):
    """A call that waits."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("approval")
    place = "approval"
    guarded = frozenset({"once", "chat", "always", "edit", "deny", "why", "same"})

    @property
    def call(self) -> Call | None:
        """The call."""
        return self.face.call(self.asked.call)

    @property
    def tool(self) -> Tool | None:
        """The tool."""
        return self.face.host.board.get(self.asked.tool, Tool)

    @property
    def called(self) -> str:
        """The name of the tool."""
        return self.call.tool if self.call else self.asked.tool.rpartition("/")[2]

    @property
    def arguments(self) -> Json:
        """The arguments as they would be sent."""
        return self.kept.values.get("arguments", self.call.arguments if self.call else {})

    @property
    def edited(self) -> Json:
        """The user's own arguments, if there are any."""
        return self.kept.values.get("arguments")

    def heading(self) -> Content:
        """Draw which tool of whom."""
        face, tool, name = self.face, self.tool, self.called
        mark = (face.glyphs.failed, "$error") if self.asked.is_grave else (face.glyphs.wait, "$wait")
        title = tool.title if tool and tool.title else name
        return drawn.row(
            mark, "  ", face.line(title, "bold"), "  ", face.line(f"{self.question.server} / {name}", "$muted")
        )

    def warnings(self) -> Iterable[Widget]:
        """Say who asks, what the server says of the tool, and what to look at."""
        face, asked = self.face, self.asked
        server = face.host.board.get(f"server:{self.question.server}", Server)
        who, comma, when = asked.asker.partition(", ")
        lines = [
            drawn.row(
                face.line(f"{who} asks{comma}{when}.", "$muted"),
                (" Runs ", "$muted"),
                face.line(server.runs if server else ""),
            )
        ]
        lines.append(face.line(words.claims(self.tool)))
        lines.append(Content())
        if asked.loud or asked.is_grave:
            said = asked.loud or "The server says that it may delete, or cannot be undone."
            lines.append(drawn.row((face.glyphs.failed, "$error"), "  ", face.line(said, "$error")))
        hidden = words.hidden(self.arguments)
        if hidden:
            count = f"{hidden} hidden character{'s' * (hidden > 1)} in "
            names = [name for name, each in words.members(self.arguments).items() if words.hidden({name: each})]
            told = drawn.row(count, face.line(", ".join(names), "bold"), ", shown as they are sent.")
            lines.append(self.warning(told))
        if asked.why:
            lines.append(self.warning(drawn.row("Asked because: ", face.line(asked.why))))
        yield para(drawn.rows(lines))

    def told(self) -> Iterable[Widget]:
        """Make the arguments."""
        yield Hints(self._lead(), classes="para lead", id="lead")
        yield from self._arguments()

    def _lead(self) -> Content:
        count = len(words.members(self.arguments))
        edited = ("   edited", "$accent") if self.edited is not None else ("", "")
        of = self.face.signs.of
        known = [(of("approval.raw"), "Raw JSON")]
        if self.asked.before is not None:
            known.append((of("approval.changed"), "Changed since last call"))
        return drawn.row((f"Arguments {count}", "bold"), edited, "   ", drawn.keys(*known), "\n")

    def _arguments(self) -> Iterable[Widget]:
        face, form = self.face, self.kept.values.get("form", "")
        if form == "raw":
            yield para(face.text(as_json(self.arguments)), "argument")
            return
        before = words.members(self.asked.before)
        for name, value in words.members(self.arguments).items():
            shown = face.text("\n".join(words.lines_of(value)))
            if form == "changed" and before.get(name) != value:
                old = face.line(words.short(before[name]), "$muted") if name in before else Content("nothing")
                shown = drawn.row(("changed from ", "$wait"), old, "\n", shown)
            yield pair(face.line(name, "$muted"), shown, "argument")

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        yield Static("Allow ", classes="lead")
        yield Choice("Once", "once", allows=True)
        if self._may_lastingly():
            yield Choice("This chat", "chat", allows=True)
            yield Choice("Always…", "always", allows=True)
        yield Choice("Edit", "edit")
        yield Choice("Deny", "deny")
        yield Choice("Say why", "why")
        if count := len(self._equal()):
            yield Choice(f"All {count + 1}", "same", allows=True)

    def _may_lastingly(self) -> bool:
        return self.asked.may_always and not self.asked.is_grave

    def _equal(self) -> list[Question]:
        """List the other questions about the same tool and the same arguments."""
        found: list[Question] = []
        for other in self.waiting():
            if (
                other.id != self.question.id
                and isinstance(other.asked, Approval)
                and other.asked.tool == self.asked.tool
            ):
                call = self.face.call(other.asked.call)
                if call is not None and call.arguments == self.arguments and not self.asked.is_grave:
                    found.append(other)
        return found

    def action_once(self) -> None:
        """Allow this call. A tool that may delete wants its name typed."""
        if not self.asked.is_grave:
            self.give(Decision("once", arguments=self.edited))
            return
        name = self.called

        def typed(text: str | None) -> None:
            if text == name:
                self.give(Decision("once", arguments=self.edited))
            elif text is not None:
                self.face.tell("That is not its name, so nothing is allowed.", "warning")

        self.face.push_screen(AskLine(drawn.row("Type ", self.face.line(name, "bold"), " to allow it once")), typed)

    def action_chat(self) -> None:
        """Allow the tool until the chat ends."""
        if self._may_lastingly():
            self.give(Decision("chat", arguments=self.edited))

    def action_always(self) -> None:
        """Ask for how much to allow always."""
        if not self._may_lastingly():
            return
        server, name = self.question.server, self.called

        def picked(key: str | None) -> None:
            if key is not None:
                self.give(Decision("tool" if key == "t" else "server", arguments=self.edited))

        known = {"t": f"this tool: allow {server}/{name}", "s": f"all tools of {server}: allow {server}/*"}
        self.face.push_screen(AskKey(Content("Always"), known), picked)

    def action_deny(self) -> None:
        """Deny it."""
        self.give(Decision("deny"))

    def action_why(self) -> None:
        """Deny it, with a reason for the model."""

        def said(text: str | None) -> None:
            if text is not None:
                self.give(Decision("deny", text))

        self.face.push_screen(AskLine(Content("Deny, and tell the model why")), said)

    def action_same(self) -> None:
        """Allow this call, and those that are equal."""
        for other in self._equal():
            self.face.give(other.id, Decision("once"))
        self.give(Decision("once", arguments=self.edited))

    def action_edit(self) -> None:
        """Edit the arguments."""

        def edited(arguments: Json) -> None:
            if arguments is not None:
                self.kept.values["arguments"] = arguments
                self._again()

        self.face.push_screen(EditArguments(self.tool.schema if self.tool else {}, self.arguments), edited)

    def action_raw(self) -> None:
        """Show the arguments as JSON, or as lines."""
        self._form("raw")

    def action_changed(self) -> None:
        """Show what is not as in the last call."""
        if self.asked.before is not None:
            self._form("changed")

    def _form(self, form: str) -> None:
        self.kept.values["form"] = "" if self.kept.values.get("form") == form else form
        self._again()

    def _again(self) -> None:
        self.query_one("#lead", Static).update(self._lead())
        body = self.body
        for widget in body.query(".argument"):
            widget.remove()
        body.mount(*self._arguments())
        self.call_after_refresh(self.look)
