"""Lines out and lines in: what line mode says and hears. A line is never written over."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from splice.host.board import Board
from splice.host.items import Question
from splice.host.terminal.hosted import Hosted
from splice.host.terminal.marks import plain

Write = Callable[[str], None]


class Over(Exception):
    """There is nothing more to read: the user closed the terminal, or the pipe ended."""


class Talk:
    """Writes lines, and reads them from a queue that `hear` fills."""

    def __init__(self, write: Write, *, guard: float = 0.4) -> None:
        self._write = write
        self._guard = guard
        self._lines: asyncio.Queue[tuple[float, str | None]] = asyncio.Queue()
        self._kept: list[str] = []
        self._is_asking = False

    def hear(self, line: str | None) -> None:
        """Take a line that the user wrote; None: there will be no more."""
        self._lines.put_nowait((time.monotonic(), line))

    def tell(self, line: str) -> None:
        """Write a line. What cannot be seen in it is marked."""
        if self._is_asking:
            self._write("\n")
            self._is_asking = False
        self._write(plain(line).replace("\n", " ") + "\n")

    async def ask(self, words: str) -> str:
        """Ask for a line. One that was written before it could be read as an answer is kept: it is a message.

        Raises `Over`.
        """
        while not self._lines.empty():
            _, early = self._lines.get_nowait()
            self._keep(early)
        asked = time.monotonic()
        while True:
            self._write(plain(words) + " ")
            self._is_asking = True
            at, line = await self._lines.get()
            self._is_asking = False
            if line is not None and at - asked >= self._guard:
                return line.strip()
            self._keep(line)
            self.tell("That came before the question could be read; it is no answer.")

    async def choose(self, *options: str, again: Callable[[], None]) -> str:
        """Ask for one of some words, or its first letter. An empty line shows the question again. Raises `Over`."""
        while True:
            line = await self.ask(f"Answer {', '.join(options[:-1])} or {options[-1]}:")
            for option in options:
                if line.lower() in (option, option[0]):
                    return option
            if line:
                aside = " Say later to go on without an answer." if "later" in options else ""
                self.tell(f"{line} is none of these words.{aside}")
            else:
                again()

    async def next(self) -> str:
        """Wait for a line. Raises `Over`."""
        if self._kept:
            return self._kept.pop(0)
        _, line = await self._lines.get()
        if line is None:
            self.hear(None)  # it stays over
            raise Over
        return line.strip()

    def _keep(self, line: str | None) -> None:
        if line is None:
            self.hear(None)
            raise Over
        self._kept.append(line.strip())


@dataclass(frozen=True)
class Here:
    """A question, and where it is asked."""

    talk: Talk
    host: Hosted
    question: Question

    @property
    def board(self) -> Board:
        """What is shown."""
        return self.host.board

    @property
    def name(self) -> str:
        """Which of the questions that wait this is."""
        waiting = sorted(self.board.all(Question), key=lambda each: each.number)
        place = next((place for place, each in enumerate(waiting, 1) if each.id == self.question.id), 1)
        return f"Question {place} of {max(1, len(waiting))}"


def listen(talk: Talk) -> None:
    """Read stdin on a thread, as it may be a file, a pipe or a terminal, and reading blocks."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        try:
            for line in sys.stdin:
                loop.call_soon_threadsafe(talk.hear, line.rstrip("\n"))
            loop.call_soon_threadsafe(talk.hear, None)
        except (RuntimeError, ValueError):
            return  # the loop is closed, or stdin is

    threading.Thread(target=read, daemon=True, name="lines").start()
