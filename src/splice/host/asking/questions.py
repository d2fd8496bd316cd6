"""One queue of all that is asked, which any face answers; the first answer counts.

A question stands on the board until it is answered or withdrawn. It waits for as long as it takes: nothing is ever
answered by a timeout. Several wait at once, each with its number.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from splice.host.asked import Answer, Asked, By, Form, Json, Visit, call_in
from splice.host.asking.answers import Check, WrongAnswer, cancelled, check_answer, refused
from splice.host.asking.stopwatches import Stopwatches
from splice.host.board import Board
from splice.host.items import Question

MAX_REMEMBERED = 1_000
"""Of how many questions that are over it is known who answered."""

MAX_DRAFT_BYTES = 1_000_000

MAX_WAITING = 100
"""How many questions of one server may wait at once. More are cancelled: nobody could answer them."""

HOST: By = "host"


class Unattended(Protocol):
    """Answers in place of a person, where there is none."""

    def refuse(self, server: str, asked: Asked, why: str) -> None:
        """Note that a question was refused."""
        ...

    async def answer(self, server: str, asked: Asked) -> Answer | None:
        """Answer, or give None to refuse. Never waits for a person."""
        ...


class _Waiting(Struct, frozen=True):
    future: "asyncio.Future[tuple[Answer, By]]"
    check: Check | None


class Questions:
    """Asks, and takes answers. It belongs to one event loop."""

    def __init__(
        self, board: Board, unattended: Unattended | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._board = board
        self._unattended = unattended
        self._clock = clock
        self._number = 0
        self._waiting: dict[str, _Waiting] = {}
        self._over: OrderedDict[str, str] = OrderedDict()
        self._is_closed = False
        self.stopwatches = Stopwatches()
        """The time of calls, which stands still while a question about them waits."""

    async def ask(self, server: str, asked: Asked, *, chat: str = "", check: Check | None = None) -> tuple[Answer, By]:
        """Put a question on the board and wait for its answer.

        `check` refuses answers by a `ValueError`, as those of the wrong type are: the question goes on waiting. Being
        cancelled takes the question back. One that is withdrawn gets the answer of somebody who went away, by `HOST`.
        """
        if self._unattended is not None:
            return await self._by_policy(self._unattended, server, asked, check)
        crowd = sum(each.server == server for each in self._board.all(Question))
        if self._is_closed or (server and crowd >= MAX_WAITING):
            return cancelled(asked), HOST
        self._number += 1
        id = f"question:{self._number}"
        future: asyncio.Future[tuple[Answer, By]] = asyncio.get_running_loop().create_future()
        self._waiting[id] = _Waiting(future, check)
        item = Question(id=id, server=server, chat=chat, asked=asked, at=self._clock(), number=self._number)
        self._board.put(item)
        try:
            with self.stopwatches.stopped(server, call_in(asked)):
                return await future
        finally:
            self._end(id, "Withdrawn: who asked no longer waits")

    def answer(self, id: str, answer: Answer, by: By) -> str:
        """Answer a question; returns who answered it before, or why it was withdrawn, and else nothing.

        Raises `WrongAnswer` if the answer does not fit: the question goes on waiting.
        """
        waiting, item = self._waiting.get(id), self._board.get(id, Question)
        if waiting is None or item is None:
            if id in self._over:
                return self._over[id]
            raise WrongAnswer("There is no such question.")
        check_answer(item.asked, answer)
        if waiting.check is not None:
            try:
                waiting.check(answer)
            except WrongAnswer:
                raise
            except ValueError as error:
                raise WrongAnswer(str(error)) from None
        self._settle(id, answer, by, by)
        return ""

    def ended(self, id: str) -> str:
        """Tell who answered a question, or why it was withdrawn; empty: it waits, or is long over."""
        return self._over.get(id, "")

    def withdraw(self, id: str, why: str) -> None:
        """Take a question back, because who asked is gone or asks no more. Nothing happens if it is over."""
        item = self._board.get(id, Question)
        if item is not None and id in self._waiting:
            self._settle(id, cancelled(item.asked, why), HOST, f"Withdrawn: {why}")

    def withdraw_all(self, server: str, why: str) -> None:
        """Take back all that a server asked."""
        for item in self.waiting():
            if item.server == server:
                self.withdraw(item.id, why)

    def draft(self, id: str, value: Json) -> None:
        """Keep what was filled in so far, for other faces and after a reload. Nothing happens if it is over.

        Raises `WrongAnswer` if it is no draft of a form.
        """
        item = self._board.get(id, Question)
        if item is None or id not in self._waiting:
            return
        if not isinstance(item.asked, Form):
            raise WrongAnswer("Only forms keep drafts.")
        try:
            size = len(msgspec.json.encode(value))
        except (TypeError, ValueError, RecursionError):
            raise WrongAnswer("The draft holds something that is not JSON.") from None
        if size > MAX_DRAFT_BYTES:
            raise WrongAnswer("The draft is too long.")
        self._board.put(replace(item, asked=replace(item.asked, draft=value)))

    def opened(self, id: str) -> None:
        """Note that the address of a visit was opened."""
        item = self._board.get(id, Question)
        if item is not None and isinstance(item.asked, Visit):
            self._board.put(replace(item, asked=replace(item.asked, is_opened=True)))

    def waiting(self) -> list[Question]:
        """List what waits, the oldest first."""
        return sorted(self._board.all(Question), key=lambda item: item.number)

    def close(self) -> None:
        """Cancel all questions, and those that are still asked."""
        self._is_closed = True
        for item in self.waiting():
            self.withdraw(item.id, "the host ended")

    def _settle(self, id: str, answer: Answer, by: By, told: str) -> None:
        waiting = self._waiting[id]
        self._end(id, told)
        if not waiting.future.done():
            waiting.future.set_result((answer, by))

    def _end(self, id: str, told: str) -> None:
        if self._waiting.pop(id, None) is not None:
            self._over[id] = told
            if len(self._over) > MAX_REMEMBERED:
                self._over.popitem(last=False)
            self._board.drop(id)

    async def _by_policy(
        self, unattended: Unattended, server: str, asked: Asked, check: Check | None
    ) -> tuple[Answer, By]:
        """Answer at once. An answer that does not fit is a refusal, which says why."""
        answer = await unattended.answer(server, asked)
        if answer is None:
            return refused(asked, "Nobody is here to answer this question."), "policy"
        try:
            check_answer(asked, answer)
            if check is not None:
                check(answer)
        except ValueError as error:
            unattended.refuse(server, asked, f"the prepared answer does not fit: {error}")
            return refused(asked, f"The prepared answer does not fit: {error}"), "policy"
        return answer, "policy"
