"""Where the user writes: Enter sends; `/`, `@` and `#` offer prompts, resources and tools at the start of a word."""

import re
from dataclasses import dataclass

from textual.content import Content
from textual.events import Key, Paste
from textual.message import Message

from splice.host.items import Prompt, Tool
from splice.host.terminal import drawn
from splice.host.terminal.face import Face, face
from splice.host.terminal.inputs import SafeArea
from splice.host.terminal.rows import Rows

MOST = 8
"""How many offers are seen."""

LONG_PASTE = 20
"""Pasted text of more lines is one word in the composer, and sent whole."""

_WORD = re.compile(r"(?:^|\s)([/@#])(\S*)$")


@dataclass(frozen=True)
class Offer:
    """Something that can be taken: a prompt, a resource or a tool."""

    sign: str
    id: str
    """Of the prompt or the tool; of a resource its server, a space and its address."""
    name: str
    told: str = ""


class Offers(Rows):
    """What fits the word that is being written."""

    def __init__(self) -> None:
        super().__init__(self._row, id="offers")
        self.offers: list[Offer] = []

    def show(self, offers: list[Offer]) -> None:
        """Show offers, or nothing."""
        if offers == self.offers:
            return
        self.offers = offers
        self.display = bool(offers)
        self.styles.height = min(MOST, len(offers))
        self.cursor = 0
        self.set_count(len(offers))

    def _row(self, row: int, width: int) -> Content:
        offer = self.offers[row]
        name = face(self).line(f"{offer.sign}{offer.name}")
        return drawn.row(" ", drawn.fit(name, min(36, width // 2)), " ", face(self).line(offer.told, "$muted"))


class Composer(SafeArea):
    """The text that is being written."""

    class Sent(Message):
        """The user sent it."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Wanted(Message):
        """The user wrote a sign and a word: offers are wanted, or none."""

        def __init__(self, sign: str, word: str) -> None:
            super().__init__()
            self.sign, self.word = sign, word

    class Taken(Message):
        """The user took an offer."""

        def __init__(self, offer: Offer) -> None:
            super().__init__()
            self.offer = offer

    def __init__(self) -> None:
        super().__init__(id="say")
        self.invite(is_busy=False)
        self.highlight_cursor_line = False
        self._pasted: dict[str, str] = {}

    def invite(self, *, is_busy: bool) -> None:
        """Say what can be written."""
        words = "Write, or  /  for prompts   @  for resources   #  for tools"
        self.placeholder = "Write on: it is sent when this turn is over" if is_busy else words

    @property
    def offers(self) -> Offers:
        """The offers above it."""
        return self.screen.query_one(Offers)

    def whole(self) -> str:
        """Return the text, with what was pasted into it."""
        text = self.text
        for word, pasted in self._pasted.items():
            text = text.replace(word, pasted)
        return text

    def empty(self) -> None:
        """Begin anew."""
        self._pasted.clear()
        self.load_text("")

    def on_key(self, event: Key) -> None:
        """Take the keys that write nothing."""
        if (self.offers.display and self._choose(event.key)) or self._act(event.key):
            event.stop()
            event.prevent_default()

    def _choose(self, key: str) -> bool:
        if key in ("up", "down"):
            self.offers.action_move(1 if key == "down" else -1)
        elif key in ("tab", "enter"):
            self.take(self.offers.offers[self.offers.cursor])
        elif key == "escape":
            self.offers.show([])
        return key in ("up", "down", "tab", "enter", "escape")

    def _act(self, key: str) -> bool:
        if key == "enter":
            if self._unfold():
                return True
            if self.text.strip():
                self.post_message(self.Sent(self.whole()))
        elif key in ("ctrl+j", "alt+enter", "shift+enter"):
            self.insert("\n")
        elif key in ("pageup", "pagedown") or (key in ("home", "end") and not self.text):
            face(self).action_scroll_chat(key)
        elif key == "up" and not self.text:
            self.load_text(face(self).last_said())
            self.move_cursor(self.document.end)
        else:
            return False
        return True

    def _unfold(self) -> bool:
        """Show the whole of the pasted text that the cursor is in."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        for word, pasted in self._pasted.items():
            start = line.find(word)
            if 0 <= start <= column < start + len(word):
                del self._pasted[word]
                self.replace(pasted, (row, start), (row, start + len(word)))
                return True
        return False

    def take(self, offer: Offer) -> None:
        """Put an offer in the place of the word."""
        self.offers.show([])
        row, column = self.cursor_location
        found = _WORD.search(self.document.get_line(row)[:column])
        start = (row, found.start(1)) if found else (row, column)
        written = "" if offer.sign == "@" else f"{offer.sign}{offer.name} "
        self.replace(written, start, (row, column))
        self.post_message(self.Taken(offer))

    def on_text_area_changed(self) -> None:
        """See whether a word begins with a sign."""
        self.want()

    def want(self) -> None:
        """Ask for what fits the word at the cursor, if it begins with a sign."""
        row, column = self.cursor_location
        found = _WORD.search(self.document.get_line(row)[:column])
        at_start = found is not None and (found[1] != "/" or (row == 0 and found.start(1) == 0))
        if found is not None and at_start:
            self.post_message(self.Wanted(found[1], found[2]))
        else:
            self.post_message(self.Wanted("", ""))

    def on_paste(self, event: Paste) -> None:
        """Make one word of a long text. Terminals send the ends of lines as carriage returns."""
        text = "\n".join(event.text.splitlines())
        lines = text.count("\n") + 1
        if lines > LONG_PASTE:
            event.stop()
            event.prevent_default()
            word = f"[{lines} lines pasted{', again' * len(self._pasted)}]"
            self._pasted[word] = text
            self.insert(word)


def fits(name: str, word: str) -> bool:
    """Tell whether all letters of a word come in a name, in their order."""
    letters = iter(name.casefold())
    return all(each in letters for each in word.casefold())


def ranked(offers: list[Offer], word: str) -> list[Offer]:
    """List the offers that fit a word: first those that begin with it, then those that hold it."""
    found = [each for each in offers if fits(each.name, word) or word.casefold() in each.told.casefold()]
    wanted = word.casefold()

    def rank(offer: Offer) -> tuple[bool, bool]:
        name = offer.name.casefold()
        return not name.startswith(wanted), wanted not in name

    return sorted(found, key=rank)


def prompt_offers(face_: Face) -> list[Offer]:
    """List the prompts. One whose name several servers have is offered with its server."""
    known = face_.host.board.all(Prompt)
    names = [each.name for each in known]
    return [
        Offer(
            "/",
            each.id,
            each.name if names.count(each.name) == 1 else f"{each.server}/{each.name}",
            f"{each.title or each.description} {face_.glyphs.dot} {each.server}",
        )
        for each in known
    ]


def tool_offers(face_: Face) -> list[Offer]:
    """List the tools that the model may get."""
    return [
        Offer("#", each.id, f"{each.server}/{each.name}", each.title or each.description)
        for each in face_.host.board.all(Tool)
        if each.is_on and each.held is None
    ]
