"""Line mode: one line for each event, questions answered by words. For pipes, screen readers and plain terminals.

Nothing is ever written over. Without a terminal on stdin nobody can answer, so what no rule allows is denied.
"""

import asyncio
import signal
import sys
from contextlib import suppress

from splice.host.asked import Answer
from splice.host.items import Chat, Question
from splice.host.terminal.answering import answer
from splice.host.terminal.hosted import REFUSED, Hosted, Page
from splice.host.terminal.orders import Orders, Quit, is_bare, say
from splice.host.terminal.refusals import refusal
from splice.host.terminal.spoken import Spoken
from splice.host.terminal.talk import Here, Over, Talk, listen

DENIED = 4
"""The exit code when something was denied because nobody could answer."""

_ASK_AGAIN_SECONDS = 0.05
"""How long after a turn the last changes may still come before the end is said."""


class Plain:
    """The conversation of one person, or of a pipe, with the host."""

    def __init__(self, host: Hosted, talk: Talk, *, asks: bool, page: Page | None = None) -> None:
        self._host, self._talk, self._asks = host, talk, asks
        self._orders = Orders(host, talk, page)
        self._spoken = Spoken()
        self._news = asyncio.Event()
        self._later: set[str] = set()
        self._waiting: list[str] = []
        """Messages that were written while a turn ran."""
        self._denied = False

    async def run(self, first: str = "") -> int:
        """Talk until the user leaves, or the input ends; return the exit code. `first` is a line to begin with."""
        if first:
            self._talk.hear(first)
        if self._asks:
            self._talk.tell("Write to the model. /help lists the commands; Ctrl-D ends it, and keeps the chat.")
        watching = asyncio.create_task(self._watch())
        conversing = asyncio.create_task(self._converse())
        try:
            await asyncio.wait({watching, conversing}, return_when=asyncio.FIRST_COMPLETED)
            for task in (watching, conversing):
                if task.done():
                    await task
        finally:
            for task in (watching, conversing):
                task.cancel()
            await asyncio.gather(watching, conversing, return_exceptions=True)
            self._close()
        return DENIED if self._denied else 0

    async def _watch(self) -> None:
        async for batch in self._host.board.watch():
            for line in self._spoken.lines(batch):
                self._talk.tell(line)
            self._refuse_all()
            self._news.set()

    def _refuse_all(self) -> None:
        if self._asks:
            return
        for question in self._host.board.all(Question):
            self._answer(question, refusal(question.asked, "nobody is there to answer"), "policy")
            self._denied = True
            name = question.server or "the host"
            self._talk.tell(f"Denied, as nobody can answer here: {type(question.asked).__name__} of {name}.")

    async def _converse(self) -> None:
        with suppress(Over, Quit):
            while True:
                question = next((each for each in self._open() if each.id not in self._later), None)
                if question is not None and self._asks:
                    await self._put(question)
                    continue
                line = await self._line()
                if line is not None:
                    await self._obey(line)
                elif self._waiting and not self._is_busy():
                    await self._say(self._waiting.pop(0))
        if not self._asks:
            await self._finish()

    async def _line(self) -> str | None:
        """Wait for a line; None: a question came first."""
        self._news.clear()
        reading, news = asyncio.create_task(self._talk.next()), asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait({reading, news}, return_when=asyncio.FIRST_COMPLETED)
            return await reading if reading.done() else None
        finally:
            reading.cancel()
            news.cancel()

    async def _obey(self, line: str) -> None:
        if not line:
            return
        name, _, rest = line.removeprefix("/").partition(" ")
        try:
            if name == "questions":
                self._later.clear()
            if self._is_busy() and not self._asks:
                await self._finish()
            if (line.startswith("/") or is_bare(line, self._host.board)) and await self._orders.obey(name, rest):
                return
        except REFUSED as error:
            self._talk.tell(f"Not done: {error}")
            return
        if name == "unsay" and line.startswith("/"):
            taken = self._waiting.pop() if self._waiting else ""
            self._talk.tell(f"Taken back: {taken}" if taken else "Nothing waits to be sent.")
        elif self._is_busy():
            self._waiting.append(line)
            self._talk.tell("It is sent when this turn is over. /unsay takes it back, /stop stops the turn.")
        else:
            await self._say(line)

    async def _say(self, line: str) -> None:
        try:
            await say(self._host, self._talk, line)
        except REFUSED as error:
            self._talk.tell(f"Not done: {error}")

    async def _put(self, question: Question) -> None:
        """Ask a question, until it is answered, here or elsewhere, or withdrawn."""
        asking = asyncio.create_task(answer(Here(self._talk, self._host, question)))
        try:
            while not asking.done():
                self._news.clear()
                news = asyncio.create_task(self._news.wait())
                await asyncio.wait({asking, news}, return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
                if not asking.done() and self._host.board.get(question.id, Question) is None:
                    how = self._host.ended(question.id) or "elsewhere"
                    self._talk.tell(f"This question is over: {how if ' ' in how else f'answered ({how})'}.")
                    return
            given = await asking
        finally:
            asking.cancel()
        if given is None:
            self._later.add(question.id)
            self._talk.tell("Later. The word questions brings it back.")
        else:
            self._say_answered(given, self._answer(question, given, "terminal"))

    def _say_answered(self, given: Answer, before: str) -> None:
        words = {"once": "Allowed once", "chat": "Allowed in this chat", "deny": "Denied", "accept": "Sent"}
        word = getattr(given, "verdict", "") or getattr(given, "action", "")
        done = words.get(word, {"tool": "Allowed always", "server": "Allowed always"}.get(word, f"Answered: {word}"))
        self._talk.tell(f"Too late: {before} answered before." if before else f"{done}.")

    def _answer(self, question: Question, given: Answer, by: str) -> str:
        try:
            return self._host.answer(question.id, given, by)
        except REFUSED as error:
            self._talk.tell(f"Not done: {error}")
            return ""

    def _open(self) -> list[Question]:
        return sorted(self._host.board.all(Question), key=lambda each: each.number)

    def _is_busy(self) -> bool:
        return any(each.is_busy for each in self._host.board.all(Chat) if each.is_open)

    async def _finish(self) -> None:
        """Wait until the turn is over, and all of it was said."""
        if self._is_busy():
            await self._host.wait()
        await asyncio.sleep(_ASK_AGAIN_SECONDS)

    def _close(self) -> None:
        for question in self._host.board.all(Question):
            self._answer(question, refusal(question.asked, "the user left"), "terminal")

    def interrupt(self) -> asyncio.Task[None] | None:
        """Take Ctrl-C: it stops the turn; without one there is nothing to stop, and None comes back."""
        return asyncio.create_task(self._host.stop()) if self._is_busy() else None


async def run(
    host: Hosted,
    *,
    first: str = "",
    asks: bool | None = None,
    is_kept: bool = True,
    page: Page | None = None,
    address: str = "",
) -> int:
    """Talk on stdin and stdout; return the exit code. `asks`: whether somebody can answer, else seen from stdin.

    Whether the chat `is_kept`, and the `address` of a page, is said by the command, not here. `page` opens the same on
    a web page.
    """
    del is_kept, address
    talk = Talk(_write)
    plain = Plain(host, talk, asks=sys.stdin.isatty() if asks is None else asks, page=page)
    listen(talk)
    running = asyncio.create_task(plain.run(first))
    stopping: list[asyncio.Task[None]] = []

    def interrupt() -> None:
        stopped = plain.interrupt()
        if stopped is None:
            running.cancel()
        else:
            stopping.append(stopped)
            talk.tell("Stopped; the servers were told.")

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        return await running
    except asyncio.CancelledError:
        if not running.cancelled():
            raise
        return 130
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
