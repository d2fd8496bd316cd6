"""What every widget of the app reaches: the host, the signs, and a way to give commands that may fail."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

from textual.app import App
from textual.content import Content
from textual.dom import DOMNode
from textual.notifications import SeverityLevel

from splice.host.asked import Answer
from splice.host.items import Call, Item
from splice.host.terminal import drawn
from splice.host.terminal.drawn import Part
from splice.host.terminal.glyphs import Glyphs
from splice.host.terminal.hosted import REFUSED, Hosted


class Face(App[int]):
    """The app, as its widgets see it."""

    host: Hosted
    glyphs: Glyphs
    is_moving: bool = True
    """Marks turn; not where the user wants no movement."""
    guard: float = 0.4
    """Seconds after a dialog opens, or closes, in which letters do nothing."""

    def text(self, text: str, style: str = "") -> Content:
        """Draw a text of others; its line ends stay."""
        return drawn.shown(text, style, ascii=self.glyphs.is_ascii)

    def line(self, text: str, style: str = "") -> Content:
        """Draw a text of others on one line."""
        return drawn.line(text, style, ascii=self.glyphs.is_ascii)

    def tell(self, text: str, severity: SeverityLevel = "information") -> None:
        """Say a short word at the edge of the screen. It goes by itself."""
        self.notify(self.text(text).plain, severity=severity, markup=False, timeout=5)

    def do(
        self,
        command: Coroutine[Any, Any, Any],
        then: Callable[[Any], None] | None = None,
        otherwise: Callable[[], None] | None = None,
    ) -> None:
        """Give a command to the host; `then` gets what came of it. If it is refused, the user reads why."""
        self.run_worker(self._done(command, then, otherwise), exit_on_error=True)

    async def _done(
        self,
        command: Awaitable[Any],
        then: Callable[[Any], None] | None,
        otherwise: Callable[[], None] | None,
    ) -> None:
        try:
            result = await command
        except REFUSED as error:
            self.tell(f"Not done: {error}", "error")
            if otherwise is not None:
                otherwise()
            return
        if then is not None and self.is_running:
            then(result)

    def now(self, command: Callable[[], Any]) -> Any:
        """Give a command that is done at once."""
        try:
            return command()
        except REFUSED as error:
            self.tell(f"Not done: {error}", "error")
            return None

    def give(self, question: str, answer: Answer) -> None:
        """Answer a question."""
        raise NotImplementedError

    def leaf(self, question: str, by: int) -> None:
        """Open the question before or after another one."""
        raise NotImplementedError

    def call(self, id: str) -> Call | None:
        """Find a call on the board."""
        return self.host.board.get(id, Call)

    def show_view(self, name: str, *, pick: str = "") -> None:
        """Show a view: `servers`. `pick` is the id of what the cursor goes to."""
        raise NotImplementedError

    def scroll_chat(self, key: str) -> None:
        """Scroll the chat, from where the user writes."""
        raise NotImplementedError

    def last_said(self) -> str:
        """Return what the user said last."""
        raise NotImplementedError

    def compose_text(self, text: str) -> None:
        """Put a text into the composer."""
        raise NotImplementedError

    def open_prompt(self, id: str, arguments: dict[str, str], rest: str = "") -> None:
        """Open the form of a prompt."""
        raise NotImplementedError


class Shows:
    """A part of the screen that follows the board."""

    def follow(self, items: list[Item], gone: list[str], *, everything: bool) -> None:
        """Take what changed: items as they are now, and ids of those that are gone."""
        raise NotImplementedError


def touches(kinds: tuple[str, ...], items: list[Item], gone: list[str]) -> bool:
    """Tell whether items of some kinds, by the beginning of their ids, are among those that changed or went."""
    return any(each.id.startswith(kinds) for each in items) or any(each.startswith(kinds) for each in gone)


def face(widget: DOMNode) -> Face:
    """Find the app of a widget."""
    return cast("Face", widget.app)


__all__ = ["Face", "Part", "Shows", "face", "touches"]
