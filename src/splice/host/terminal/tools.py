"""The tools: on or off, what their servers say of them, what they cost. One that changed is held back."""

from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from splice.host.items import Change, Rule, Tool
from splice.host.terminal import drawn, words
from splice.host.terminal.asks import when
from splice.host.terminal.keys import bindings
from splice.host.terminal.panels import Column, Table
from splice.host.text import as_json

_STYLES = {" ": "", "-": "$error", "+": "bold $success"}


class ToolsPanel(Table[Tool]):
    """The view of F4."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("tools")
    kinds = ("tool:", "rule:")

    def __init__(self) -> None:
        super().__init__(id="tools")
        self._shows_schema = False

    def columns(self) -> list[Column[Tool]]:
        """Make the columns."""
        return [
            Column("  Tool", 21, self._marked, lambda each: each.name),
            Column("Server", 9, lambda each: self.face.line(each.server, "$muted"), lambda each: each.server),
            Column("Says of itself", 18, self._says, lambda each: each.claims),
            Column("Asks", 14, lambda each: Content.styled(self._asks(each), "$muted"), self._asks),
            Column(
                "Tokens", 9, lambda each: Content(str(each.tokens) if each.is_on else "off"), lambda each: each.tokens
            ),
        ]

    def taken(self) -> list[Tool]:
        """Take the tools; those that are held back come first."""
        return sorted(self.face.host.board.all(Tool), key=lambda each: (each.held is None, each.server, each.name))

    def _marked(self, each: Tool) -> Content:
        face = self.face
        mark = (face.glyphs.picked, "$accent") if each.is_on else (face.glyphs.unpicked, "$edge")
        mark = (face.glyphs.wait, "$wait") if each.held is not None else mark
        return drawn.row(mark, " ", face.line(each.name, "" if each.is_on else "$muted"))

    def _says(self, each: Tool) -> Content:
        if each.held is not None:
            return Content.styled("changed", "$wait")
        if not each.claims:
            return Content.styled("nothing", "$muted")
        return self.face.line(", ".join(each.claims), "$error" if each.may_delete else "")

    def _asks(self, each: Tool) -> str:
        return when(each, self.face.host.board.all(Rule))

    def told(self, item: Tool) -> Content:
        """Draw all of a tool, or what changed in it."""
        face, each = self.face, item
        whose = face.line(f"{each.server} / {each.name}", "$muted")
        lines = [drawn.row(face.line(each.title or each.name, "bold"), "  ", whose)]
        if each.held is not None:
            lines += self._held(each, each.held)
        else:
            lines += [face.line(words.claims(each)), Content(), face.text(each.description)]
        if each.findings:
            lines.append(Content())
        for finding in each.findings:
            sign = (face.glyphs.failed, "$error") if finding.is_grave else ("!", "$wait")
            lines.append(drawn.row(sign, " ", face.line(finding.what), "  ", face.line(finding.where, "$muted")))
        if each.resembles:
            lines.append(
                drawn.row(("! ", "$wait"), face.line(f"It looks like {each.resembles}, which is gone: renamed?"))
            )
        if self._shows_schema:
            lines += [Content(), face.text(as_json(each.schema))]
            lines += [Content(), face.text(as_json(each.output_schema))] if each.output_schema is not None else []
        return drawn.rows(lines)

    def _held(self, each: Tool, changes: list[Change]) -> list[Content]:
        face = self.face
        said = "The model cannot use it until you decide. What you always allowed for it no longer counts."
        lines = [Content.styled("changed since you saw it", "$wait"), Content.styled(said, "$muted")]
        for change in changes:
            lines += [Content(), face.line(change.where, "$muted"), self._difference(change)]
        if not changes:
            lines += [Content(), face.text(each.description)]
        return [*lines, Content(), drawn.keys(("y", "accept"), ("n", "keep off"))]

    def _difference(self, change: Change) -> Content:
        parts: list[drawn.Part] = []
        for mark, text in change.words:
            sign = {"-": "[-", "+": "{+"}.get(mark, "")
            end = {"-": "-]", "+": "+}"}.get(mark, "")
            parts += [(sign, "$muted"), self.face.text(text, _STYLES[mark]), (end, "$muted")]
        return drawn.row((f"{self.face.glyphs.rule} ", "$line"), *parts)

    def action_switch(self) -> None:
        """Switch it on or off."""
        if (each := self.here) is not None:
            id, is_on = each.id, each.is_on
            self.face.now(lambda: self.face.host.switch_tool(id, not is_on))

    def action_accept(self) -> None:
        """Accept it as it is now."""
        if (each := self.here) is not None and each.held is not None:
            id = each.id
            self.face.now(lambda: self.face.host.accept_tool(id))

    def action_refuse(self) -> None:
        """Keep a tool that changed off."""
        if (each := self.here) is not None and each.held is not None:
            id = each.id
            self.face.now(lambda: self.face.host.switch_tool(id, False))

    def action_schema(self) -> None:
        """Show its schema, or not."""
        self._shows_schema = not self._shows_schema
        self.draw_detail()
