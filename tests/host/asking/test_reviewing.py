"""A result that the user looks at first."""

import asyncio

import pytest

from splice.host.asked import Decision, ResultReview
from splice.host.asking.questions import Questions
from splice.host.asking.reviewing import review
from splice.host.board import Board
from support.asking import asked_of


@pytest.mark.parametrize(
    ("decision", "is_given", "text", "reason", "said"),
    [
        (Decision("once"), True, None, "", "Let the model read the result"),
        (Decision("once", arguments="short"), True, "short", "", "Edited what the model reads"),
        (Decision("deny", "private"), False, None, "private", "Kept the result from the model"),
        (Decision("cancel"), False, None, "", "Kept the result from the model"),
    ],
)
async def test_the_user_passes_edits_or_keeps_it(
    decision: Decision, is_given: bool, text: str | None, reason: str, said: str
) -> None:
    questions = Questions(Board())
    reviewing = asyncio.create_task(review(questions, "call:1", "web", "chat:1"))
    [question] = await asked_of(questions)
    assert question.asked == ResultReview("call:1")
    questions.answer(question.id, decision, "web")
    reviewed = await reviewing
    assert (reviewed.is_given, reviewed.text, reviewed.reason) == (is_given, text, reason)
    assert (reviewed.step.who, reviewed.step.what) == ("you, in the browser", said)
