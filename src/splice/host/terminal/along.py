"""What stands over the composer: resources that go along with the next message, and messages that wait for a turn."""

from collections.abc import Callable, Iterator

from textual.content import Content

from splice.host.items import Attached, Chat, Context, Item
from splice.host.terminal import drawn, words
from splice.host.terminal.asides import AskKey
from splice.host.terminal.composer import Composer
from splice.host.terminal.face import Shows, face, touches
from splice.host.terminal.hints import Hints
from splice.host.terminal.saying import Saying

MOST = 3
"""How many messages that wait are drawn."""


class Along(Hints, Shows):
    """It is there only when something goes along, or waits. What waits is said when the turn is over."""

    def __init__(self) -> None:
        super().__init__(id="along")
        self.waiting: list[Saying] = []
        self._is_saying = False

    def say(self, saying: Saying) -> None:
        """Say something; while a turn is under way it waits, under what waits already."""
        if not self._is_busy():
            self._begin(saying)
            return
        both = self.waiting[-1].with_more(saying) if self.waiting else None
        self.waiting = [*self.waiting[:-1], both] if both else [*self.waiting, saying]
        self.draw()

    def follow(self, items: list[Item], gone: list[str], *, everything: bool) -> None:
        """Draw what goes along; say what waits, once the turn is over."""
        if not everything and not touches(("context:", "chat:"), items, gone):
            return
        is_busy = self._is_busy()
        self.screen.query_one(Composer).invite(is_busy=is_busy)
        if self.waiting and not is_busy:
            self._begin(self.waiting.pop(0))
        self.draw()

    def on_resize(self) -> None:
        """Draw it as wide as it is now."""
        self.draw()

    def draw(self) -> None:
        """Draw a line for resources, and one for each message that waits."""
        lines = list(self._lines())
        self.display = bool(lines)
        if lines:
            key = face(self).signs.of("app.off")
            hint = drawn.keys((key, "take off" if self._attached() else "take back"))
            room = max(20, face(self).size.width - 4 - hint.cell_length)
            lines[0] = drawn.row(drawn.fit(lines[0], room - 2), "  ", hint)
        self.update(drawn.rows(lines))

    def _lines(self) -> Iterator[Content]:
        face_ = face(self)
        dot = f" {face_.glyphs.dot} "
        parts = [drawn.row(face_.line(each.name or each.uri), (_size(each), "$muted")) for each in self._attached()]
        if parts:
            yield drawn.row(("with  ", "$muted"), Content(dot).join(parts))
        for each in self.waiting[:MOST]:
            yield drawn.row(("Waits for this turn: ", "$wait"), face_.line(each.line)).truncate(
                max(20, face_.size.width - 4), ellipsis=True
            )
        if len(self.waiting) > MOST:
            yield Content.styled(f"and {len(self.waiting) - MOST} more", "$muted")

    def take_off(self) -> None:
        """Take one off: a resource, or a message, which goes back into the composer. Several are chosen from."""
        face_ = face(self)
        known = {f"{each.name or each.uri}{_size(each)}": self._detaching(each) for each in self._attached()}
        known |= {f"Waits: {words.short(each.line)}": self._taking(each) for each in self.waiting}
        chosen = dict(zip("123456789", known.items(), strict=False))
        if not chosen:
            face_.tell("Nothing goes along, and nothing waits.")
        elif len(chosen) == 1:
            chosen["1"][1]()
        else:
            told = {key: name for key, (name, _) in chosen.items()}

            def take(key: str | None) -> None:
                if key is not None:
                    chosen[key][1]()

            face_.push_screen(AskKey(Content("What to take off"), told), take)

    def _detaching(self, each: Attached) -> Callable[[], None]:
        return lambda: face(self).now(lambda: face(self).host.detach(each.uri))

    def _taking(self, saying: Saying) -> Callable[[], None]:
        def take() -> None:
            if saying in self.waiting:  # else it was said meanwhile
                self.waiting.remove(saying)
                self._back(saying)

        return take

    def _attached(self) -> list[Attached]:
        context = face(self).host.board.get("context:now", Context)
        return context.attached if context is not None else []

    def _is_busy(self) -> bool:
        return self._is_saying or any(each.is_busy for each in face(self).host.board.all(Chat) if each.is_open)

    def _begin(self, saying: Saying) -> None:
        """Say it now. What the host refuses goes back into the composer, with what waits behind it."""

        def said(_: object) -> None:
            self._is_saying = False

        def refused() -> None:
            self._is_saying = False
            behind, self.waiting = self.waiting, []
            self._back(saying, *behind)

        self._is_saying = True
        face(self).do(saying.to(face(self).host), said, refused)

    def _back(self, *sayings: Saying) -> None:
        composer = self.screen.query_one(Composer)
        composer.load_text("\n".join(filter(None, [*(each.line for each in sayings), composer.whole()])))
        composer.move_cursor(composer.document.end)
        self.draw()


def _size(each: Attached) -> str:
    return f" {words.count(each.tokens)} tokens{', changed' if each.is_stale else ''}"
