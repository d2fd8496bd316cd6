"""The chat: what was said, the calls between, and the host's own lines, in the order of their numbers."""

from dataclasses import dataclass, field
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message as Told
from textual.widget import Widget
from textual.widgets import Static

from splice.host.items import Call, Item, Message, Model, Prompt, Server
from splice.host.terminal import drawn, pictures, words
from splice.host.terminal.calls import CallRow, Group
from splice.host.terminal.face import Face, Shows, face
from splice.host.terminal.keys import bindings

MOST = 400
"""How many messages and calls are drawn; the chat begins with the newest of them."""


class Said(Vertical, can_focus=True):
    """A message, or a line of the host."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("message")

    def __init__(self, message: Message) -> None:
        super().__init__(classes=f"said -{message.role}")
        self.message = message
        self._who = Static(classes="who")
        self._text = Static(classes="text")
        self._drawn = 0

    def compose(self) -> ComposeResult:
        """Make who said it, and the text."""
        if self.message.role != "host":
            yield self._who
        yield self._text

    def on_mount(self) -> None:
        """Draw it."""
        self.put(self.message)

    def put(self, message: Message) -> None:
        """Take the message as it is now."""
        came = message.images[self._drawn :]
        self.message = message
        if self.is_attached:
            face_ = face(self)
            self._drawn += len(came)
            self.mount(*pictures.of_urls(came))
            is_said = message.is_ai or message.role == "user" or words.says_no_ai(message.model)
            no_ai = "" if is_said else f" {face_.glyphs.dot} no AI"
            self._who.update(drawn.row(face_.line(words.speaker(message), "bold"), (no_ai, "$muted")))
            self._text.update(drawn.rows(self._lines(face_)))

    def _lines(self, face_: Face) -> list[Content]:
        message = self.message
        if message.role == "host":
            server = face_.host.board.get(f"server:{message.server}", Server)
            is_down = server is not None and server.state in ("crashed", "failed")
            mark = drawn.row((face_.glyphs.failed, "$error"), " ") if is_down else Content()
            return [drawn.row(mark, face_.text(message.text, "$muted"))]
        lines = [face_.text(message.text)] if message.text else []
        if message.attached:
            names = f" {face_.glyphs.dot} ".join(each.name or each.uri for each in message.attached)
            lines.append(drawn.row(("with  ", "$muted"), face_.line(names)))
        if message.images:
            lines.append(Content.styled(words.counted(len(message.images), "image"), "$muted"))
        if message.stop:
            lines.append(face_.line(f"stopped: {message.stop}", "$wait"))
        return lines

    def action_copy_message(self) -> None:
        """Copy it as it was written."""
        face(self).copy(self.message.text, "the message")


@dataclass
class Found:
    """What has the words in it that were looked for, and where the user is among it."""

    words: str = ""
    parts: list[Said | CallRow] = field(default_factory=list[Said | CallRow])
    at: int = 0


class Start(Static):
    """The empty chat: three things to type, and which model answers."""

    def draw(self, face_: Face) -> None:
        """Draw what there is now."""
        board = face_.host.board
        models = board.all(Model)
        chosen = next((each for each in models if each.is_chosen), None)
        found = next((each for each in models if each.is_found), None)
        prompt = next(iter(board.all(Prompt)), None)
        lines = [
            drawn.row((face_.glyphs.splice, "bold $accent"), "  ", ("Splice", "bold")),
            Content(),
            Content("Chat with a model that uses your MCP servers. You see and allow all it does."),
            Content(),
        ]
        palette = face_.signs.of("app.palette")
        typed = [
            (
                f"/{prompt.name}" if prompt else "/",
                (prompt.title or prompt.description) if prompt else "choose a prompt",
            ),
            ("@", "give it a resource"),
            (palette, "everything else"),
        ]
        for what, told in typed:
            lines.append(drawn.row(drawn.fit(face_.line(what, "bold $accent"), 17), face_.line(told, "$muted")))
        lines.append(Content())
        if chosen is not None:
            no_ai = "follows rules." if words.says_no_ai(chosen.label) else "follows rules; no AI runs."
            said = f"{chosen.label} {'answers.' if chosen.is_ai else no_ai}"
            lines.append(face_.line(said, "$muted"))
        if found is not None:
            lines.append(
                drawn.row((palette, "bold $accent"), " picks ", face_.line(f"{found.label}, {found.where}."), "")
            )
        self.update(drawn.rows(lines))


class Chat(VerticalScroll, Shows, can_focus=False):
    """The open chat. It stays at its end, unless the user scrolled away from it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("chat")

    class Below(Told):
        """Something new is below what is seen, or no more."""

        def __init__(self, *, is_new: bool) -> None:
            super().__init__()
            self.is_new = is_new

    def __init__(self) -> None:
        super().__init__(id="chat")
        self._follows = True
        self._found = Found()
        self._shown: dict[str, Said | CallRow] = {}
        self._items: dict[str, Message | Call] = {}
        self._last = -1

    def compose(self) -> ComposeResult:
        """Begin with the empty chat."""
        yield Start(id="start")

    def follow(self, items: list[Item], gone: list[str], *, everything: bool) -> None:
        """Show what changed, and stay at the end unless the user scrolled. Out of order, all is drawn anew."""
        if everything:
            self._items.clear()
        removed = [self._items.pop(each) for each in gone if each in self._items]
        fresh = [each for each in items if isinstance(each, Message | Call)]
        self._items.update({each.id: each for each in fresh})
        if self._follows:
            self.call_after_refresh(self._stay)
        elif fresh:
            self.post_message(self.Below(is_new=True))
        added = sorted((each for each in fresh if each.id not in self._shown), key=number)
        if everything or removed or (added and number(added[0]) < self._last):
            self._rebuild()
        else:
            for item in fresh:
                if item.id in self._shown:
                    self._put(item)
            for item in added:
                self._add(item)
        self.call_after_refresh(self._look)
        self.query_one(Start).display = not self._items
        if not self._items:
            self.query_one(Start).draw(face(self))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow what comes, if the user is at the end."""
        super().watch_scroll_y(old_value, new_value)
        if self.size.height:
            self._follows = new_value >= self.max_scroll_y - 1
            if self._follows:
                self.post_message(self.Below(is_new=False))

    def on_call_row_long(self, event: CallRow.Long) -> None:
        """Show where a long call begins, and follow no more: its end says little."""
        event.row.scroll_visible(top=True, animate=False, immediate=True)
        self._follows = False

    def on_resize(self) -> None:
        """Stay at the end, when there is less room or more."""
        self.call_after_refresh(self._stay)

    def _put(self, item: Message | Call) -> None:
        match self._shown[item.id], item:
            case CallRow() as row, Call() as call:
                row.put(call)
            case Said() as said, Message() as message:
                said.put(message)
            case _:
                self._rebuild()

    def _add(self, item: Message | Call) -> None:
        self._last = number(item)
        if isinstance(item, Message):
            self._shown[item.id] = said = Said(item)
            self.mount(said)
            return
        last = self.children[-1] if self.children else None
        if not isinstance(last, Group):
            last = Group(classes="calls")
            self.mount(last)
        row = CallRow(item)
        self._shown[item.id] = row
        last.mount(row)

    def _rebuild(self) -> None:
        for widget in list(self.children):
            if not isinstance(widget, Start):
                widget.remove()
        self._shown.clear()
        self._last = -1
        parts: list[Widget] = []
        for item in sorted(self._items.values(), key=number)[-MOST:]:
            self._last = number(item)
            if isinstance(item, Message):
                self._shown[item.id] = said = Said(item)
                parts.append(said)
                continue
            self._shown[item.id] = row = CallRow(item)
            last = parts[-1] if parts else None
            if isinstance(last, Group):
                last.compose_add_child(row)
            else:
                group = Group(classes="calls")
                group.compose_add_child(row)
                parts.append(group)
        self.mount(*parts)

    def _look(self) -> None:
        for group in self.query(Group):
            group.look([row.call for row in group.children if isinstance(row, CallRow)])

    def _stay(self) -> None:
        """Stay at the end, unless the user went elsewhere meanwhile."""
        if self._follows:
            self.call_after_refresh(self._end)

    def _end(self) -> None:
        if self._follows:
            self.scroll_end(animate=False, immediate=True)

    def to_end(self) -> None:
        """Scroll to the end, once what is new was laid out."""
        self._follows = True
        self.call_after_refresh(self._stay)

    def turn_page(self, key: str) -> None:
        """Scroll by a page, to the beginning or to the end, as a key of these names says."""
        if key == "end":
            self.to_end()
        elif key == "home":
            self.scroll_to(y=0, animate=False)
        else:
            by = self.size.height - 2
            self.scroll_relative(y=by if key == "pagedown" else -by, animate=False)

    def turn_marks(self) -> None:
        """Let the marks of calls that run turn on."""
        for row in self._shown.values():
            if isinstance(row, CallRow) and row.call.state == "running" and row.is_mounted:
                row.line.refresh()

    def runs(self) -> bool:
        """Tell whether a call runs."""
        return any(isinstance(each, Call) and each.state == "running" for each in self._items.values())

    def find(self, words_: str) -> None:
        """Go to the newest message or call that has these words in it."""
        shown = self._shown.values()
        self._found = Found(words_, [each for each in shown if words_.casefold() in _read(each).casefold()])
        self.action_again(0)

    def action_again(self, by: int) -> None:
        """Go to the one before or after it."""
        found, face_ = self._found, face(self)
        there = [each for each in found.parts if each.is_attached]
        if not there:
            face_.tell(f"Not in this chat: {found.words}" if found.words else "^F finds words in this chat.")
            return
        found.at = max(0, min(len(there) - 1, found.at + by)) if by else len(there) - 1
        there[found.at].focus()
        there[found.at].scroll_visible(animate=False)
        face_.tell(f"{found.at + 1} of {len(there)}: n older, N newer.")

    def last_said(self) -> str:
        """Return what the user said last."""
        own = [each for each in self._items.values() if isinstance(each, Message) and each.role == "user"]
        return max(own, key=number).text if own else ""


def _read(part: Said | CallRow) -> str:
    if isinstance(part, Said):
        return part.message.text
    call = part.call
    return " ".join([call.server, call.tool, words.about(call), *(block.text for block in call.result)])


def number(item: Message | Call) -> int:
    """Messages and calls share their numbers."""
    key = item.id.partition(":")[2]
    return int(key) if key.isdecimal() else 0
