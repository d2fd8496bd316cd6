"""A question of the board, answered by words."""

from collections.abc import Awaitable, Callable
from typing import Any

from splice.host.asked import (
    Answer,
    Approval,
    Completion,
    Form,
    Goon,
    ResultReview,
    RootsAsked,
    Sampling,
    Trust,
    Visit,
)
from splice.host.terminal import deciding, serving
from splice.host.terminal.talk import Here

_WAYS: dict[type, Callable[[Here, Any], Awaitable[Answer | None]]] = {
    Approval: deciding.approve,
    Trust: deciding.trust,
    Goon: deciding.go_on,
    ResultReview: deciding.review_result,
    RootsAsked: deciding.name_roots,
    Form: serving.fill_form,
    Visit: serving.visit,
    Sampling: serving.review_sampling,
    Completion: serving.review_completion,
}


async def answer(here: Here) -> Answer | None:
    """Ask until there is an answer; None: the user wants to decide later. Raises `Over`."""
    return await _WAYS[type(here.question.asked)](here, here.question.asked)
