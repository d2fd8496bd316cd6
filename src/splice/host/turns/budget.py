"""How many calls a turn may have, how often the same one, and how many tokens, before the user is asked to go on."""

import asyncio

import msgspec

from splice.host.asked import Decision, Goon, Json
from splice.host.asking.questions import Questions
from splice.host.turns.undone import NotDone


class Budget:
    """The bounds of one turn."""

    def __init__(self, questions: Questions, chat: str, max_calls: int, max_repeats: int, max_tokens: int) -> None:
        self.calls = 0
        self.most = max_calls
        self.is_over = False
        """The user does not want more calls."""
        self._questions, self._chat = questions, chat
        self._step, self._repeats = max_calls, max_repeats
        self._tokens, self._most_tokens, self._more_tokens = 0, max_tokens, max_tokens
        self._same: dict[bytes, int] = {}
        self._asking = asyncio.Lock()

    def spend(self, tokens: int) -> None:
        """Count tokens that a model read or wrote; the next call asks, if they are too many."""
        self._tokens += tokens

    async def take(self, name: str, arguments: Json) -> None:
        """Count a call; at a bound the user is asked whether to go on. Raises `NotDone`."""
        self.calls += 1
        mine = self.calls
        key = msgspec.json.encode([name, arguments], order="sorted")
        self._same[key] = self._same.get(key, 0) + 1
        async with self._asking:  # several calls at the bound are one question
            while not self.is_over and mine > self.most:
                await self._ask(f"{self.most} calls in this turn")
                self.most += self._step
            while not self.is_over and self._tokens > self._most_tokens:
                await self._ask(f"{self._most_tokens:,} tokens in this turn")
                self._most_tokens = self._tokens + self._more_tokens
            if not self.is_over and self._same[key] > self._repeats:
                await self._ask(f"{self._repeats} calls of {name} with the same arguments")
                self._same[key] = 1
        if self.is_over:
            self._refuse()

    async def _ask(self, what: str) -> None:
        answer, _ = await self._questions.ask("", Goon(what=what), chat=self._chat)
        if not isinstance(answer, Decision) or answer.verdict in ("deny", "cancel"):
            self.is_over = True
            self._refuse()

    def _refuse(self) -> None:
        told = "The user does not want more calls in this turn. Answer with what you have."
        raise NotDone("denied", "you did not want more calls", told)
