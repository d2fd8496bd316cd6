"""What every widget of the app reaches: the host, the signs, and a way to give commands that may fail."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import cached_property
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
from splice.host.terminal.hosted import REFUSED, Hosted, Page
from splice.host.terminal.keys import Signs
from splice.host.terminal.saying import Saying

ADDRESS_SECONDS = 60
"""How long the address of the page stands: it has to be copied."""


class Face(App[int]):
    """The app, as its widgets see it."""

    host: Hosted
    glyphs: Glyphs
    signs: Signs
    """How keys are drawn."""
    is_moving: bool = True
    """Marks turn; not where the user wants no movement."""
    page: Page | None = None
    """Opens the web page of this host, where there can be one."""
    address: str = ""
    """Where that page is, if it is open already; the user finds it when the app starts."""
    guard: float = 0.4
    """Seconds after a dialog opens, or closes, in which letters do nothing."""

    def on_mount(self) -> None:
        """Say where the page is."""
        if self.address:
            self.tell_address(self.address)

    def text(self, text: str, style: str = "") -> Content:
        """Draw a text of others; its line ends stay."""
        return drawn.shown(text, style, ascii=self.glyphs.is_ascii)

    def line(self, text: str, style: str = "") -> Content:
        """Draw a text of others on one line."""
        return drawn.line(text, style, ascii=self.glyphs.is_ascii)

    def tell(self, text: str, severity: SeverityLevel = "information") -> None:
        """Say a short word at the edge of the screen. It goes by itself."""
        self.notify(self.text(text).plain, severity=severity, markup=False, timeout=5)

    def tell_address(self, address: str) -> None:
        """Say where the page of this host is, on a line of its own, and for as long as it takes to go there."""
        told = f"The same is at\n{self.text(address).plain}\nIt opens one browser, once."
        self.notify(told, markup=False, timeout=ADDRESS_SECONDS)

    def copy(self, text: str, what: str) -> None:
        """Put a text on the clipboard of the terminal, over ssh too, and say so."""
        self.copy_to_clipboard(text)
        self.tell(f"Copied: {what}.")

    @cached_property
    def drawing(self) -> asyncio.Lock:
        """Is held while a picture is drawn: a large one takes 200 MB meanwhile, so there is one at a time."""
        return asyncio.Lock()

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

    def say(self, saying: Saying) -> None:
        """Say something, now or when the turn is over."""
        raise NotImplementedError

    def show_view(self, name: str, *, pick: str = "") -> None:
        """Show a view: `servers`. `pick` is the id of what the cursor goes to."""
        raise NotImplementedError

    def action_scroll_chat(self, key: str) -> None:
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
