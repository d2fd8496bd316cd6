"""The servers: state, protocol, tools, how they are started; why one is not well, and its last words."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from splice.host.items import Server
from splice.host.terminal import drawn, words
from splice.host.terminal.panels import Panel, columns, facts

LAST_LINES = 200
"""How many lines of output are drawn."""


class ServersPanel(Panel):
    """The view of F3."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "restart", "Restart", show=False),
        Binding("o", "switch", "On, off", show=False),
        Binding("i", "login", "Log in", show=False),
        Binding("l", "logs", "Logs", show=False),
        Binding("s", "stop", "Stop", show=False),
    ]
    kinds = ("server:", "output:")
    heading = "  Server     State     Protocol    Tools  Started by"

    def __init__(self) -> None:
        super().__init__(id="servers")
        self.items: list[Server] = []
        self._shows_logs = False

    def load(self) -> int:
        """Take the servers."""
        self.items = sorted(self.face.host.board.all(Server), key=lambda each: (each.hue, each.name))
        return len(self.items)

    def go_to(self, id: str) -> None:
        """Move to a server."""
        for place, each in enumerate(self.items):
            if each.id == id:
                self.rows.go(place)

    def draw_row(self, row: int, width: int) -> Content:
        """Draw a server."""
        face, each = self.face, self.items[row]
        mark, style = face.glyphs.server(each.state)
        quiet = "$muted" if each.state in ("asleep", "off", "ready") else style
        return columns(
            width,
            (drawn.row((mark, style), " ", face.line(each.name)), 13),
            (Content.styled(words.state(each), "" if each.state == "ready" else quiet), 10),
            (face.line(each.protocol or "-", "$muted"), 12),
            (Content(str(each.tools) if each.tools else "-"), 7),
            (face.line(each.runs), 0),
        )

    def detail(self, row: int) -> Content:
        """Draw all that is known of a server, or what it wrote."""
        face, each = self.face, self.items[row]
        _, style = face.glyphs.server(each.state)
        since = f" since {words.day(each.since)}" if each.since else ""
        lines = [drawn.row(face.line(each.name, "bold"), "  ", (f"{words.state(each)}{since}", style))]
        if each.word:
            lines.append(face.text(each.word))
        if self._shows_logs:
            return drawn.rows([*lines, Content(), *self._written(each)])
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

    def _here(self) -> Server | None:
        return self.items[self.rows.cursor] if self.items else None

    def action_restart(self) -> None:
        """Start it anew."""
        if each := self._here():
            self.face.do(self.face.host.restart_server(each.name))

    def action_stop(self) -> None:
        """Stop it; it starts again when it is needed."""
        if each := self._here():
            self.face.do(self.face.host.stop_server(each.name))

    def action_switch(self) -> None:
        """Switch it on or off."""
        if each := self._here():
            name, is_off = each.name, each.state == "off"
            self.face.now(lambda: self.face.host.switch_server(name, is_off))

    def action_login(self) -> None:
        """Log in to it."""
        if each := self._here():
            self.face.do(self.face.host.log_in(each.name))

    def action_logs(self) -> None:
        """Show what it wrote, or what is known of it."""
        self._shows_logs = not self._shows_logs
        self.draw_detail()
        if self._shows_logs:
            self.call_after_refresh(self.query_one(".detail").scroll_end, animate=False)
