"""The resource picker: by server and address, with a search, a preview, and templates that a server completes."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from splice.host.items import Context, Server
from splice.host.terminal import drawn, words
from splice.host.terminal.completing import Complete, Completing
from splice.host.terminal.composer import Composer, Offer, fits
from splice.host.terminal.hints import Hints
from splice.host.terminal.hosted import Listed
from splice.host.terminal.keys import bindings
from splice.host.terminal.line import Line
from splice.host.terminal.panels import Panel
from splice.host.terminal.pictures import MOST as MOST_PICTURES
from splice.host.terminal.pictures import Picture
from splice.host.terminal.rows import Rows
from splice.host.terminal.templates import expand, variables
from splice.host.text import size
from splice.types import ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ResourceTemplateReference

PREVIEW = 20_000
"""How many characters of a resource are drawn."""

HEAD = 256
"""How many bytes are drawn of what is no text."""


@dataclass(frozen=True)
class Entry:
    """A row of the tree: a server, a resource, a template, or a problem."""

    server: str
    name: str
    uri: str = ""
    resource: Resource | None = None
    template: ResourceTemplate | None = None
    problem: str = ""


class ResourcesPanel(Panel):
    """The view of F5."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("resources"),
        Binding("escape", "leave", "Back", show=False),
    ]
    kinds = ("server:", "context:")

    def __init__(self) -> None:
        super().__init__(id="resources")
        self._listings: dict[str, Listed] = {}
        self._asked: set[str] = set()
        self.lines: list[Entry] = []
        self._opened = ""
        """The address, or template, of the row that was opened last."""
        self._contents: list[ResourceContents] = []

    def compose(self) -> ComposeResult:
        """Make search, tree, sum and preview."""
        with Vertical(classes="list"):
            yield Line(placeholder="Search names and addresses", classes="search")
            yield Rows(self.draw_row, id="resources-rows")
            yield Hints(classes="sum")
        with VerticalScroll(classes="detail", can_focus=False):
            yield Vertical(id="template")
            yield Hints(classes="told")
            yield Vertical(id="pictures")

    def load(self) -> int:
        """Ask servers that were not asked yet, and make rows of what is known."""
        self._ask_new()
        self.lines = list(self._tree())
        self._sum()
        return len(self.lines)

    def _ask_new(self) -> None:
        for server in self.face.host.board.all(Server):
            if (server.resources or server.templates) and server.name not in self._asked:
                self._asked.add(server.name)
                self._ask(server.name)

    def _ask(self, server: str) -> None:
        def heard(listed: Listed) -> None:
            self._listings[server] = listed
            if self.is_attached:
                self.refill()
                for composer in self.screen.query(Composer):
                    composer.want()

        self.face.do(self.face.host.resources(server), heard)

    def _tree(self) -> Iterator[Entry]:
        searched = self.query_one(".search", Input).value
        for server, listed in sorted(self._listings.items()):
            lines = [Entry(server, each.title or each.name, each.uri, resource=each) for each in listed.resources]
            lines += [
                Entry(server, each.title or each.name, each.uri_template, template=each) for each in listed.templates
            ]
            found = [each for each in lines if fits(f"{each.name} {each.uri}", searched)]
            if found or listed.problem:
                yield Entry(server, server)
                yield from sorted(found, key=lambda each: (each.template is not None, each.uri))
            if listed.problem:
                yield Entry(server, "", problem=listed.problem)

    def offers(self) -> list[Offer]:
        """List what `@` offers; asks servers that were not asked yet."""
        self._ask_new()
        found: list[Offer] = []
        for server, listed in self._listings.items():
            found += [
                Offer("@", f"{server} {each.uri}", _path(each.uri), f"{each.name} {server}")
                for each in listed.resources
            ]
        return found

    def _picked(self) -> set[str]:
        context = self.face.host.board.get("context:now", Context)
        return {each.uri for each in context.attached} if context else set()

    def _sum(self) -> None:
        context = self.face.host.board.get("context:now", Context)
        attached = context.attached if context else []
        tokens = words.count(sum(each.tokens for each in attached))
        glyphs = self.face.glyphs
        glyph = (glyphs.picked, "$accent") if attached else (glyphs.unpicked, "$edge")
        changed = sum(each.is_stale for each in attached)
        stale = drawn.row((f"  {changed} changed since  ", "$wait"), drawn.keys(("u", "reads anew"))) if changed else ""
        told = drawn.row(glyph, f" {len(attached)} picked", (f"  about {tokens} tokens", "$muted"), stale)
        self.query_one(".sum", Static).update(told)

    def draw_row(self, row: int, width: int) -> Content:
        """Draw a row of the tree."""
        face, each = self.face, self.lines[row]
        if each.problem:
            return drawn.row(("  ! ", "$wait"), face.line(each.problem[:width], "$muted"))
        if not each.uri:
            listed = self._listings[each.server]
            count = len(listed.resources) + len(listed.templates)
            return drawn.row(face.line(each.server, "bold"), (f"  {count}", "$muted"))
        if each.template is not None:
            mark = (face.glyphs.template, "$accent")
        elif each.uri in self._picked():
            mark = (face.glyphs.picked, "$accent")
        else:
            mark = (face.glyphs.unpicked, "$edge")
        return drawn.row("  ", mark, " ", face.line(_path(each.uri)))

    def detail(self, row: int) -> Content:
        """Draw what is known of a row; its text is read when it is opened."""
        each = self.lines[row]
        if each.uri != self._opened:
            self._close()
        face = self.face
        about = each.resource or each.template
        if about is None:
            return face.line(each.problem or each.server, "bold")
        kind = "template" if each.template else "resource"
        whose = f"{kind} of {each.server}{f' {face.glyphs.dot} {about.mime_type}' if about.mime_type else ''}"
        title = drawn.row(face.line(each.name, "bold"), "  ", face.line(whose, "$muted"))
        told = [title, face.line(each.uri, "$muted"), face.text(about.description or "")]
        return drawn.rows([*told, *(self._read(content) for content in self._contents)])

    def _read(self, content: ResourceContents) -> Content:
        """Draw what was read: text, or the first bytes of what is none; pictures stand below."""
        if content.text is not None:
            return drawn.row("\n", self.face.text(content.text[:PREVIEW]))
        return Content() if _is_image(content) else Content(f"\n{_hex(content.blob or '')}")

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Open a row: read the resource, or fill in the template."""
        event.stop()
        each = self.lines[self.rows.cursor]
        self._close()
        self._opened = each.uri
        if each.resource is not None:
            self._preview(each, each.uri)
        elif each.template is not None:
            self._open_template(each.server, each.template)

    def _preview(self, line: Entry, uri: str) -> None:
        """Read a resource and show it, if the row is still open by then."""

        def show(result: ReadResourceResult) -> None:
            if self._opened == line.uri:
                self._contents = result.contents
                images = [content for content in result.contents if _is_image(content)][:MOST_PICTURES]
                self.query_one("#pictures").remove_children()
                self.query_one("#pictures").mount(*(_picture(content) for content in images))
                self.draw_detail()

        self.face.do(self.face.host.read(line.server, uri), show)

    def _close(self) -> None:
        """Show no more what was opened."""
        self._opened, self._contents = "", []
        self.query_one("#template").remove_children()
        self.query_one("#pictures").remove_children()

    def _open_template(self, server: str, template: ResourceTemplate) -> None:
        place = self.query_one("#template", Vertical)
        place.remove_children()
        for name in variables(template.uri_template):
            place.mount(Static(self.face.line(name, "$muted"), classes="label"))
            place.mount(Completing(name, "", self._completer(server, template, name)))
        place.mount(Static(classes="address"))
        self.call_after_refresh(self._focus_template)

    def _focus_template(self) -> None:
        for box in self.query(Completing):
            box.query_one(Input).focus()
            break
        self._address()

    def _completer(self, server: str, template: ResourceTemplate, name: str) -> Complete:
        async def complete(value: str) -> list[str]:
            known = {box.key: box.value for box in self.query(Completing) if box.key != name and box.value}
            ref = ResourceTemplateReference(uri=template.uri_template)
            return await self.face.host.complete(server, ref, name, value, known)

        return complete

    def _address(self) -> str:
        each = self.lines[self.rows.cursor]
        values = {box.key: box.value for box in self.query(Completing)}
        uri = expand(each.uri, values)
        for shown in self.query(".address").results(Static):
            whole = all(values.values())
            keys = (
                drawn.keys(("Enter", "adds it to the chat")) if whole else Content.styled("not complete yet", "$wait")
            )
            shown.update(drawn.row(("reads  ", "$muted"), self.face.line(uri), "\n", keys))
        return uri if all(values.values()) else ""

    def on_completing_changed(self, event: Completing.Changed) -> None:
        """Show the address that the values make."""
        event.stop()
        self._address()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search."""
        if event.input.has_class("search"):
            self.refill()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the tree; or take the address of a template."""
        event.stop()
        if event.input.has_class("search"):
            self.rows.focus()
        elif uri := self._address():
            each = self.lines[self.rows.cursor]
            self.face.do(self.face.host.attach(each.server, uri))
            self._preview(each, uri)
            self.rows.focus()

    def action_pick(self) -> None:
        """Give a resource to the chat, or take it away again."""
        each = self.lines[self.rows.cursor] if self.lines else None
        if each is None or each.resource is None:
            return
        if each.uri in self._picked():
            uri = each.uri
            self.face.now(lambda: self.face.host.detach(uri))
        else:
            self.face.do(self.face.host.attach(each.server, each.uri))

    def action_anew(self) -> None:
        """Read anew what is attached and changed since; the server tells when it does."""
        context = self.face.host.board.get("context:now", Context)
        stale = [each.uri for each in context.attached if each.is_stale] if context else []
        for uri in stale:
            self.face.do(self.face.host.refresh(uri))
        if not stale:
            self.face.tell("Nothing that is picked has changed since.")

    def action_search(self) -> None:
        """Go to the search."""
        self.query_one(".search", Input).focus()

    def action_leave(self) -> None:
        """Leave a field; or go back to the chat."""
        if isinstance(self.screen.focused, Input):
            self.rows.focus()
        else:
            self.face.show_view("chat")


def _is_image(content: ResourceContents) -> bool:
    return content.text is None and (content.mime_type or "").startswith("image/")


def _picture(content: ResourceContents) -> Picture:
    blob = content.blob or ""
    return Picture(blob, f"{content.mime_type}, {size(len(blob) * 3 // 4)}")


def _path(uri: str) -> str:
    return uri.partition("://")[2] or uri


def _hex(blob: str) -> str:
    try:
        data = base64.b64decode(blob)
    except ValueError:
        return "Bytes that are not base64."
    lines = [data[at : at + 16].hex(" ") for at in range(0, min(len(data), HEAD), 16)]
    return "\n".join([f"{len(data):,} bytes", *lines])
