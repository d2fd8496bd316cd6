"""Changes of the board as lines: one for each event, in words, with a full stop."""

import time
from collections.abc import Callable, Iterator

from splice.host.board import Batch
from splice.host.items import Call, Chat, Item, Message, Notice, Server
from splice.host.terminal import words

PROGRESS_SECONDS = 5.0
"""How often a running call is spoken of."""

_OVER = {"done", "failed", "denied", "cancelled", "crashed", "timeout"}


class Spoken:
    """Remembers what was said of each item, so that nothing is said twice."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[str, int] = {}
        self._told: dict[str, str] = {}
        self._progress: dict[str, float] = {}
        self._numbers: dict[str, int] = {}
        self._turn = 0
        self._chat = ""

    def lines(self, batch: Batch) -> Iterator[str]:
        """Write what changed. Items of a kind that is asked for by a command say nothing."""
        for event in sorted(batch.events, key=lambda event: _place(event.item)):
            if isinstance(event.item, Message):
                yield from self._message(event.item)
            elif isinstance(event.item, Call):
                yield from self._call(event.item)
            elif isinstance(event.item, Notice | Server | Chat):
                yield from self._other(event.item)

    def _message(self, item: Message) -> Iterator[str]:
        said = self._said.get(item.id, 0)
        end = len(item.text) if item.is_done else item.text.rfind("\n") + 1
        if end <= said and item.id in self._said:
            return
        fresh = item.text[said:end].strip("\n")
        if fresh:
            first, *rest = (line for line in fresh.split("\n") if line.strip())
            yield f"{_who(item)}: {first}" if not said else f"  {first}"
            yield from (f"  {line}" for line in rest)
        if item.is_done or fresh:
            self._said[item.id] = end
        if item.attached and not said:
            yield f"Attached: {', '.join(each.uri for each in item.attached)}."
        if item.is_done and item.stop:
            yield f"{_who(item)} stopped: {item.stop}."

    def _call(self, item: Call) -> Iterator[str]:
        if item.turn != self._turn:
            self._turn = item.turn
            self._numbers.clear()
        number = self._numbers.setdefault(item.id, len(self._numbers) + 1)
        name = f"Tool {number}, {item.server} {item.tool}".replace("  ", " ")
        if item.state in _OVER and self._told.get(item.id) != item.state:
            self._told[item.id] = item.state
            yield f"{name}: {_ended(item)}"
        elif item.state == "running" and item.progress is not None:
            now = self._clock()
            if now - self._progress.get(item.id, now - PROGRESS_SECONDS) >= PROGRESS_SECONDS:
                self._progress[item.id] = now
                yield f"{name}: {words.progress(item)}."

    def _other(self, item: Notice | Server | Chat) -> Iterator[str]:
        if isinstance(item, Notice):
            yield f"Note: {item.text}"
        elif isinstance(item, Server):
            told = self._told.get(item.id)
            self._told[item.id] = item.state
            if item.state != told and item.state in ("crashed", "failed", "login"):
                yield f"Server {item.name}: {words.state(item)}. {item.word}".rstrip()
        elif item.is_open and item.id != self._chat:
            if self._chat:
                yield f"Chat open: {item.title}."
            self._chat = item.id


def _place(item: Item | None) -> int:
    """Messages and calls share their numbers: they are told in this order."""
    key = item.id.partition(":")[2] if isinstance(item, Message | Call) else ""
    return int(key) if key.isdecimal() else -1


def _who(item: Message) -> str:
    is_said = item.role != "model" or item.is_ai or words.says_no_ai(item.model)
    no_ai = "" if is_said else ", no AI"
    return words.speaker(item) + no_ai


def _ended(item: Call) -> str:
    spent = f" in {item.seconds:.1f} seconds" if item.seconds is not None else ""
    why = f" {words.allowed(item)}." if item.trail else ""
    word = f" {item.word}." if item.word and item.state != "done" and item.word not in why else ""
    state = "denied" if item.state == "denied" else words.STATES[item.state]  # the trail says by whom
    return f"{state}{spent}.{word}{why}".replace("..", ".")
