"""What stands around the views: tabs and meter, servers at the left, the chat's own at the right, what waits, keys."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.widgets import Static

from splice.host.asked import Approval
from splice.host.items import Chat, Context, Item, Message, Meter, Model, Question, Root, Rule, Server, Tool
from splice.host.terminal import drawn, words
from splice.host.terminal.face import Face, Shows, face, touches
from splice.host.terminal.hints import Hints
from splice.host.terminal.keys import VIEWS

NEARLY_FULL = 0.8


class Tab(Static):
    """The name of a view: a click shows it."""

    def __init__(self, view: str) -> None:
        super().__init__(view.title(), id=f"tab-{view}", classes="tab")
        self.view = view

    def on_click(self, event: Click) -> None:
        """Show it; where there is room for one tab only, open the palette."""
        event.stop()
        if self.screen.has_class("-tiny"):
            face(self).simulate_key("ctrl+p")
        else:
            face(self).show_view(self.view)


class Top(Horizontal, Shows):
    """Tabs, the model, and how full its window is."""

    def compose(self) -> ComposeResult:
        """Make them."""
        yield Static(drawn.row((face(self).glyphs.splice, "bold $accent")), id="mark")
        for view in VIEWS[:-1]:
            yield Tab(view)
        yield Static(id="model")
        yield Static(id="meter")

    def follow(self, items: list[Item], gone: list[str], *, everything: bool) -> None:
        """Draw the model and the meter."""
        if not everything and not touches(("model:", "meter:"), items, gone):
            return
        board = face(self).host.board
        model = next((each for each in board.all(Model) if each.is_chosen), None)
        self.query_one("#model", Static).update(face(self).line(words.label(model), "$muted"))
        meter = board.get("meter:now", Meter) or Meter(id="meter:now")
        used = meter.conversation + meter.definitions + meter.resources + meter.results
        is_full = meter.window > 0 and used >= NEARLY_FULL * meter.window
        of = (f" / {words.count(meter.window)}" if meter.window else " tokens", "$muted")
        said = drawn.row("nearly full  " if is_full else "", words.count(used), of)
        shown = said.stylize("$wait") if is_full else said
        self.query_one("#meter", Static).update(shown if used or meter.window else Content())

    def here(self, view: str) -> None:
        """Mark the tab of a view."""
        for tab in self.query(Tab):
            tab.set_class(tab.view == view, "-here")


class Side(Static, Shows):
    """The servers, at the left."""

    def follow(self, items: list[Item], gone: list[str], *, everything: bool) -> None:
        """Draw them."""
        if not everything and not touches(("server:", "tool:"), items, gone):
            return
        face_ = face(self)
        lines = [Content.styled("Servers", "$muted"), Content()]
        servers = sorted(face_.host.board.all(Server), key=lambda each: each.hue)
        for server in servers:
            mark, style = face_.glyphs.server(server.state)
            name = drawn.fit(face_.line(server.name, "" if server.state == "ready" else "$muted"), 9)
            is_calm = server.state in ("ready", "asleep")
            word = str(server.tools) if is_calm else words.state(server)
            lines.append(drawn.row((mark, style), " ", name, (word.rjust(7), "$muted" if is_calm else style)))
        tools = face_.host.board.all(Tool)
        tokens = sum(each.tokens for each in tools if each.is_on)
        lines += [Content(), Content.styled(f"{len(tools)} tools, {words.count(tokens)}\ntokens", "$muted")]
        self.update(drawn.rows(lines))


class Beside(Static, Shows):
    """What belongs to this chat, at the right: what is attached, what is allowed, folders."""

    def follow(self, items: list[Item], gone: list[str], *, everything: bool) -> None:
        """Draw it."""
        if not everything and not touches(("context:", "rule:", "root:"), items, gone):
            return
        face_, board = face(self), face(self).host.board
        lines = [Content.styled("In this chat", "$muted"), Content()]
        context = board.get("context:now", Context)
        for each in context.attached if context else ():
            lines.append(drawn.row("- ", face_.line(each.name or each.uri)))
            stale = ", changed since" if each.is_stale else ""
            lines.append(face_.line(f"  {each.server}, {words.count(each.tokens)} tokens{stale}", "$muted"))
        if not context or not context.attached:
            lines.append(drawn.row(("@", "bold $accent"), (" gives it a resource", "$muted")))
        allowed = [each for each in board.all(Rule) if each.scope == "chat" and each.effect == "allow"]
        lines += [Content(), Content.styled("Allowed in this chat", "$muted"), Content()]
        lines += [face_.line(each.what) for each in allowed] or [Content.styled("nothing", "$muted")]
        roots = board.all(Root)
        if roots:
            lines += [Content(), Content.styled("Folders", "$muted"), Content()]
            lines += [face_.line(each.name or each.uri) for each in roots]
        self.update(drawn.rows(lines))


class Queue(Static, Shows):
    """What waits for the user, and whether something new is below: there only when one of them is so."""

    _is_new = False

    def follow(self, items: list[Item], gone: list[str], *, everything: bool) -> None:
        """Draw it."""
        if not everything and not touches(("question:",), items, gone):
            return
        face_ = face(self)
        waiting = sorted(face_.host.board.all(Question), key=lambda each: each.number)
        self.set_class(bool(waiting), "-waits")
        self.display = bool(waiting) or self._is_new
        if not waiting:
            self.update(self._below(face_, 0))
            return
        count = f"{len(waiting)} wait{'s' * (len(waiting) == 1)} for you"
        parts: list[drawn.Part] = [(face_.glyphs.wait, "$wait"), " ", (count, "bold")]
        for each in waiting[:3]:
            parts += ["   ", self._what(each), " ", face_.line(each.server, "$muted")]
        if len(waiting) > 3:
            parts.append((f"   and {len(waiting) - 3} more", "$muted"))
        told = drawn.row(*parts)
        self.update(drawn.row(told, self._below(face_, told.cell_length)))

    def below(self, *, is_new: bool) -> None:
        """Say that something new is below what is seen of the chat, or no more."""
        if is_new != self._is_new:
            self._is_new = is_new
            self.follow([], [], everything=True)

    def _below(self, face_: Face, used: int) -> Content:
        """Draw that, at the right, if there is room."""
        told = drawn.row((f"{face_.glyphs.down} new below, ", "$muted"), ("End", "bold $accent"))
        room = face_.size.width - 4 - used
        return told.pad_left(room - told.cell_length) if self._is_new and room > told.cell_length else Content()

    def _what(self, question: Question) -> Content:
        asked = question.asked
        if isinstance(asked, Approval):
            call = face(self).call(asked.call)
            return face(self).line(call.tool if call else asked.tool.rpartition("/")[2])
        names = {"Form": "form", "Visit": "address", "Sampling": "model", "Completion": "answer", "Trust": "trust"}
        return Content(names.get(type(asked).__name__, "question"))

    async def on_click(self) -> None:
        """Open the first question."""
        await face(self).run_action("answer")


class Footer(Hints, Shows):
    """At most six keys, only those that work now."""

    view = "chat"

    def follow(self, items: list[Item], gone: list[str], *, everything: bool) -> None:
        """Draw it anew when a question comes or goes, a turn begins or ends."""
        if everything or any(isinstance(each, Question | Chat | Message) for each in items) or gone:
            self.show(self.view)

    def show(self, view: str) -> None:
        """Draw the keys of a view."""
        self.view = view
        board = face(self).host.board
        signs = face(self).signs
        first = [(signs.of("app.answer"), "answer")] if board.all(Question) else []
        if view == "chat" and any(each.is_busy for each in board.all(Chat) if each.is_open):
            first.append(("Esc", "stop"))
        is_empty = view == "chat" and not board.all(Message)
        *known, help_ = [*first, *signs.foot("start" if is_empty else view)]
        known = [*known[:5], help_]
        width = max(20, face(self).size.width - 4)
        while len(known) > 2 and drawn.keys(*known).cell_length > width:
            known.pop(len(known) // 2)
        self.update(drawn.keys(*known))
