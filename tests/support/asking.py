"""Questions of the host, waited for by tests."""

import asyncio

from splice.host.asking.questions import Questions
from splice.host.items import Question

TURNS = 1_000
"""How often the event loop turns until a question that does not come is missing."""


async def asked_of(questions: Questions, count: int = 1) -> list[Question]:
    """Let the event loop turn until so many questions wait."""
    for _ in range(TURNS):
        if len(questions.waiting()) >= count:
            return questions.waiting()
        await asyncio.sleep(0)
    raise AssertionError(f"{len(questions.waiting())} questions wait, not {count}")
