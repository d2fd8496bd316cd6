"""The open chat: what the model is told of it, what is on the board of it, and both kept in the history."""

import time
from collections.abc import Iterable, Sequence
from itertools import count

from msgspec.structs import replace

from splice.host.board import Board
from splice.host.items import Call, Chat, Message, Notice
from splice.host.records.history import History, HistoryFailed, Kept, Saved
from splice.protocol.content import SamplingBlock
from splice.types import SamplingMessage, TextContent, ToolResultContent, ToolUseContent

UNANSWERED = "This call did not come to its end."
"""What the model is told of a use whose result was lost, because the host ended."""


class Numbers:
    """Numbers for messages, calls and notices: each is given once, and never goes back."""

    def __init__(self) -> None:
        self._next = count(1)

    def new(self) -> int:
        """Give the next one."""
        return next(self._next)

    def start_after(self, last: int) -> None:
        """Give only numbers that are larger."""
        self._next = count(max(last + 1, next(self._next)))


class Conversation:
    """One chat while it is open. `now` tells the time."""

    def __init__(self, saved: Saved, board: Board, history: History, numbers: Numbers) -> None:
        self.id, self.title, self.turn = saved.id, saved.title, saved.turn
        self.messages = mended(history.messages(saved.id))
        """What the model is told: always valid, each use of a tool with its result."""
        self._board, self._history, self._numbers = board, history, numbers
        self._unsaved: dict[str, Kept] = {}
        self._is_failing = False

    def show(self) -> None:
        """Put everything that was said on the board."""
        for item in self._history.items(self.id):
            self._numbers.start_after(int(item.id.rpartition(":")[2]))
            self._board.put(settled(item))

    def hide(self) -> None:
        """Take everything that was said off the board."""
        for item in (*self._board.all(Message), *self._board.all(Call)):
            self._board.drop(item.id)

    def put(self, item: Kept) -> None:
        """Show an item; the next `save` keeps it."""
        self._board.put(item)
        self._unsaved[item.id] = item

    def line(self, text: str, server: str = "") -> None:
        """Say something in the host's own words."""
        said = Message(id=self.next_id("message"), chat=self.id, role="host", text=text, at=time.time(), turn=self.turn)
        self.put(replace(said, server=server))

    def next_id(self, kind: str) -> str:
        """Make the id of a new item."""
        return f"{kind}:{self._numbers.new()}"

    def save(self, messages: Sequence[SamplingMessage] = ()) -> None:
        """Add messages, and keep the items that changed. If the disk refuses, the board says so once."""
        self.messages.extend(messages)
        items, self._unsaved = list(self._unsaved.values()), {}
        try:
            self._history.add(self.id, messages, self.turn)
            self._history.keep(self.id, items)
        except HistoryFailed as error:
            if not self._is_failing:
                self._board.put(Notice(id="notice:history", text=str(error), level="bad"))
            self._is_failing = True

    def mark(self, **fields: object) -> None:
        """Change the chat's own item."""
        if self._board.get(f"chat:{self.id}", Chat) is not None:
            self._board.change(f"chat:{self.id}", **fields)


def mended(messages: Iterable[SamplingMessage]) -> list[SamplingMessage]:
    """Make a conversation valid: each use has its result in the next message, and no result is without its use.

    It is not if a host ended between two writes, or two of them wrote into the same chat.
    """
    whole: list[SamplingMessage] = []
    due: list[str] = []
    for message in messages:
        results = {each.tool_use_id: each for each in message.blocks if isinstance(each, ToolResultContent)}
        if due:
            found = [results.get(id, _lost(id)) for id in due]
            whole.append(SamplingMessage(role="user", content=list[SamplingBlock](found)))
        rest: list[SamplingBlock] = [each for each in message.blocks if not isinstance(each, ToolResultContent)]
        if rest:
            whole.append(message if not results else SamplingMessage(role=message.role, content=rest))
        due = [each.id for each in rest if isinstance(each, ToolUseContent)]
    if due:
        whole.append(SamplingMessage(role="user", content=[_lost(id) for id in due]))
    return whole


def _lost(use: str) -> ToolResultContent:
    return ToolResultContent(tool_use_id=use, content=[TextContent(text=UNANSWERED)], is_error=True)


def settled(item: Kept) -> Kept:
    """Show what was under way when the host ended as ended."""
    if isinstance(item, Call) and item.state in {"waiting", "queued", "running"}:
        return replace(item, state="cancelled", word="the host ended", progress=None)
    if isinstance(item, Message) and not item.is_done:
        return replace(item, is_done=True, stop=item.stop or "the host ended")
    return item
