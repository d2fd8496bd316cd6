"""The result of a call is looked at by the user before the model reads it, where they want that.

They let it pass, keep it from the model, or write what it reads instead.
"""

import time

from msgspec import Struct

from splice.host.asked import Decision, ResultReview
from splice.host.asking.questions import Questions
from splice.host.items import Step
from splice.host.telling import who_of


class ReviewedResult(Struct, frozen=True):
    """What became of a result."""

    is_given: bool
    """False: the model reads that the user kept it back, and `reason`."""
    step: Step
    """For the trail of the call."""
    text: str | None = None
    """What the model reads instead; None: the result as it is."""
    reason: str = ""


async def review(questions: Questions, call: str, server: str, chat: str) -> ReviewedResult:
    """Let the user look at the result of a call, which is on the board already."""
    answer, by = await questions.ask(server, ResultReview(call), chat=chat)
    who, now = who_of(by), time.time()
    if not isinstance(answer, Decision) or answer.verdict != "once":
        reason = answer.reason if isinstance(answer, Decision) else ""
        return ReviewedResult(False, Step(now, who, "Kept the result from the model"), reason=reason)
    if answer.arguments is not None:
        return ReviewedResult(True, Step(now, who, "Edited what the model reads"), answer.arguments)
    return ReviewedResult(True, Step(now, who, "Let the model read the result"))
