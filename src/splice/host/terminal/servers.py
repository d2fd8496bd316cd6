"""The servers: state, protocol, tools, how they are started; why one is not well, and its last words."""

from typing import ClassVar, Literal

from textual.binding import BindingType
from textual.content import Content

from splice.host.items import Server
from splice.host.terminal import adding, drawn, words
from splice.host.terminal.asides import AskKey
from splice.host.terminal.keys import bindings
from splice.host.terminal.panels import Column, Table, facts

LAST_LINES = 200
"""How many lines of output are drawn."""

LAST_MESSAGES = 50
MOST_SHOWN = 2_000
"""How many messages are drawn, and characters of each."""


class ServersPanel(Table[Server]):
    """The view of F3."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("servers")
    kinds = ("server:", "output:")

    def __init__(self) -> None:
        super().__init__(id="servers")
        self._shows: Literal["", "output", "messages"] = ""

    def columns(self) -> list[Column[Server]]:
        """Make the columns."""
        return [
            Column("  Server", 13, self._marked, lambda each: each.name),
            Column("State", 10, self._state, words.state),
            Column(
                "Protocol", 12, lambda each: self.face.line(each.protocol or "-", "$muted"), lambda each: each.protocol
            ),
            Column("Tools", 8, lambda each: Content(str(each.tools) if each.tools else "-"), lambda each: each.tools),
            Column("Started by", 0, lambda each: self.face.line(each.runs), lambda each: each.runs),
        ]

    def taken(self) -> list[Server]:
        """Take the servers."""
        return sorted(self.face.host.board.all(Server), key=lambda each: (each.hue, each.name))

    def _marked(self, each: Server) -> Content:
        mark, style = self.face.glyphs.server(each.state)
        return drawn.row((mark, style), " ", self.face.line(each.name))

    def _state(self, each: Server) -> Content:
        _, style = self.face.glyphs.server(each.state)
        quiet = {"ready": "", "asleep": "$muted", "off": "$muted"}
        return Content.styled(words.state(each), quiet.get(each.state, style))

    def told(self, item: Server) -> Content:
        """Draw all that is known of a server, or what it wrote."""
        face, each = self.face, item
        _, style = face.glyphs.server(each.state)
        since = f" since {words.day(each.since)}" if each.since else ""
        lines = [drawn.row(face.line(each.name, "bold"), "  ", (f"{words.state(each)}{since}", style))]
        if each.word:
            lines.append(face.text(each.word))
        if self._shows:
            written = self._written(each) if self._shows == "output" else self._messages(each)
            return drawn.rows([*lines, Content(), *written])
        if each.last_words:
            lines += [Content(), Content.styled("Its last words on stderr", "$muted")]
            lines += [drawn.row((f"{face.glyphs.rule} ", "$line"), face.line(line)) for line in each.last_words]
        if each.held:
            lines += [
                Content(),
                drawn.row((face.glyphs.wait, "$wait"), f" {words.counted(each.held, 'tool')} changed; F4 shows."),
            ]
        known = facts(
            ("Calls itself", face.line(each.title)),
            ("Started by", face.line(each.runs)),
            ("From", face.line(each.source)),
            ("Offers", face.line(self._offers(each))),
            ("Can", face.line(", ".join(each.capabilities))),
            ("Says", face.text(each.instructions)),
        )
        return drawn.rows([*lines, Content(), known])

    def _offers(self, each: Server) -> str:
        counts = {
            "tool": each.tools,
            "resource": each.resources,
            "template": each.templates,
            "prompt": each.prompts,
        }
        seen = ", as it last ran" if each.is_remembered else ""
        return ", ".join(words.counted(count, name) for name, count in counts.items() if count) + seen

    def _written(self, each: Server) -> list[Content]:
        written = list(self.face.host.output(each.name))[-LAST_LINES:]
        lines: list[Content] = []
        for line in written:
            source = f"{words.clock(line.at)} {line.level or line.source} "
            lines.append(drawn.row((source, "$muted"), self.face.line(line.text)))
        return lines or [Content.styled("It wrote nothing.", "$muted")]

    def _messages(self, each: Server) -> list[Content]:
        lines: list[Content] = []
        for one in list(self.face.host.messages(each.name))[-LAST_MESSAGES:]:
            sign = self.face.glyphs.to if one.direction == "to" else "from"
            lines.append(drawn.row((f"{words.clock(one.at)} {sign} ", "$muted"), self.face.line(one.text[:MOST_SHOWN])))
            if one.cut or len(one.text) > MOST_SHOWN:
                lines.append(Content.styled("  … it is longer", "$muted"))
        return lines or [Content.styled("No messages went to it or came from it yet.", "$muted")]

    def action_add(self) -> None:
        """Add one: what would run is shown first."""
        adding.add(self.face)

    def action_remove(self) -> None:
        """Remove it, once the user said so again."""
        if (each := self.here) is None:
            return

        def answered(key: str | None) -> None:
            if key == "y":
                self.face.do(self.face.host.remove_server(each.name))

        title = drawn.row("Remove ", self.face.line(each.name, "bold"), "? Its calls are cancelled.")
        told = "stops it, and takes it out of your own file; what other files name comes back with the next reload"
        self.face.push_screen(AskKey(title, {"y": told}), answered)

    def action_restart(self) -> None:
        """Start it anew."""
        if each := self.here:
            self.face.do(self.face.host.restart_server(each.name))

    def action_stop(self) -> None:
        """Stop it; it starts again when it is needed."""
        if each := self.here:
            self.face.do(self.face.host.stop_server(each.name))

    def action_switch(self) -> None:
        """Switch it on or off."""
        if each := self.here:
            name, is_off = each.name, each.state == "off"
            self.face.now(lambda: self.face.host.switch_server(name, is_off))

    def action_login(self) -> None:
        """Log in to it."""
        if each := self.here:
            self.face.do(self.face.host.log_in(each.name))

    def action_logs(self) -> None:
        """Show what it wrote, or what is known of it."""
        self._show("output")

    def action_messages(self) -> None:
        """Show the messages to it and from it, or what is known of it."""
        self._show("messages")

    def _show(self, what: Literal["output", "messages"]) -> None:
        self._shows = "" if self._shows == what else what
        self.draw_detail()
        if self._shows:
            self.call_after_refresh(self.query_one(".detail").scroll_end, animate=False)
