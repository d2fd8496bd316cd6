"""The tools: on or off, what their servers say of them, what they cost. One that changed is held back."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from splice.host.items import Change, Tool
from splice.host.terminal import drawn, words
from splice.host.terminal.panels import Panel, columns
from splice.host.text import as_json

_STYLES = {" ": "", "-": "$error", "+": "bold $success"}


class ToolsPanel(Panel):
    """The view of F4."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "switch", "On, off", show=False),
        Binding("y", "accept", "Accept the change", show=False),
        Binding("n", "refuse", "Keep it off", show=False),
        Binding("v", "schema", "Schema", show=False),
    ]
    kinds = ("tool:",)
    heading = "  Tool               Server   Says of itself      Tokens"

    def __init__(self) -> None:
        super().__init__(id="tools")
        self.items: list[Tool] = []
        self._shows_schema = False

    def load(self) -> int:
        """Take the tools; those that are held back come first."""
        tools = self.face.host.board.all(Tool)
        self.items = sorted(tools, key=lambda each: (each.held is None, each.server, each.name))
        return len(self.items)

    def go_to(self, id: str) -> None:
        """Move to a tool."""
        for place, each in enumerate(self.items):
            if each.id == id:
                self.rows.go(place)

    def draw_row(self, row: int, width: int) -> Content:
        """Draw a tool."""
        face, each = self.face, self.items[row]
        glyphs = face.glyphs
        mark = (glyphs.wait, "$wait") if each.held is not None else (glyphs.picked, "$accent")
        if each.held is None and not each.is_on:
            mark = (glyphs.unpicked, "$edge")
        says = face.line(", ".join(each.claims) or "nothing", "" if each.claims else "$muted")
        if each.held is not None:
            says = Content.styled("changed, held back", "$wait")
        elif each.may_delete and each.claims:
            says = says.stylize("$error")
        return columns(
            width,
            (drawn.row(mark, " ", face.line(each.name, "" if each.is_on else "$muted")), 21),
            (face.line(each.server, "$muted"), 9),
            (says, 20),
            (Content(str(each.tokens) if each.is_on else "off"), 7),
        )

    def detail(self, row: int) -> Content:
        """Draw all of a tool, or what changed in it."""
        face, each = self.face, self.items[row]
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

    def _here(self) -> Tool | None:
        return self.items[self.rows.cursor] if self.items else None

    def action_switch(self) -> None:
        """Switch it on or off."""
        if (each := self._here()) is not None:
            id, is_on = each.id, each.is_on
            self.face.now(lambda: self.face.host.switch_tool(id, not is_on))

    def action_accept(self) -> None:
        """Accept it as it is now."""
        if (each := self._here()) is not None and each.held is not None:
            id = each.id
            self.face.now(lambda: self.face.host.accept_tool(id))

    def action_refuse(self) -> None:
        """Keep a tool that changed off."""
        if (each := self._here()) is not None and each.held is not None:
            id = each.id
            self.face.now(lambda: self.face.host.switch_tool(id, False))

    def action_schema(self) -> None:
        """Show its schema, or not."""
        self._shows_schema = not self._shows_schema
        self.draw_detail()
