"""Real servers ask, in both eras: forms, pages, models and folders, answered by one person."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

from splice import Client, Context, Server
from splice.host.asked import Answer, Asked, Completion, Filled, Form, Reviewed, RootsAsked, Sampling, Visit
from splice.host.asking.elicitation import Elicitation
from splice.host.asking.permissions import Permissions
from splice.host.asking.policy import Policy
from splice.host.asking.questions import Questions
from splice.host.asking.roots import Roots
from splice.host.asking.sampling import Limits, Samplings
from splice.host.board import Board
from splice.host.models.base import Model
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN
from support.asking import asked_of
from support.talking import Parrot


class Known:
    """What sampling knows of the host."""

    def models(self) -> Sequence[Model]:
        return [Parrot()]

    def own_model(self) -> str:
        return "demo"

    def limits(self, server: str) -> Limits:
        del server
        return Limits()

    def said_in(self, chat: str) -> str:
        return chat

    def record(self, kind: str, server: str, **facts: Any) -> None:
        """Keep nothing."""


def _server() -> Server:
    server = Server("travel")

    @server.tool
    async def book(context: Context) -> str:
        """Book a trip."""
        seat = await context.elicit("Which seat?", Literal["window", "aisle"])
        paid = await context.elicit_url("Pay", "https://pay.example/1")
        said = await context.sample("Which flight?", max_tokens=20)
        folders = await context.roots()
        return f"{seat.data}, {paid.action}, {said.text}, {[root.name for root in folders]}"

    return server


def _answer(asked: Asked) -> Answer:
    match asked:
        case Form():
            return Filled("accept", {"value": "aisle"})
        case Visit():
            return Filled("accept")
        case Sampling() | Completion():
            return Reviewed("once")
        case RootsAsked():
            return Filled("accept", {"uris": asked.known})
        case _:
            raise AssertionError(asked)


@pytest.mark.parametrize("version", [LATEST_HANDSHAKE, LATEST_MODERN])
async def test_everything_a_server_asks_is_a_question_to_one_person(version: str, tmp_path: Path) -> None:
    board = Board()
    questions = Questions(board)
    roots = Roots(board, questions)
    roots.add(tmp_path, name="Trip")
    samplings = Samplings(board, questions, Policy(Permissions(board)), Known())
    client = Client(
        _server(),
        protocol=version,
        on_elicit=partial(Elicitation(board, questions).elicit, "travel"),
        on_sample=partial(samplings.sample, "travel"),
        roots=partial(roots.tell, "travel"),
        can=["elicitation.url"],
    )
    kinds: list[type[Asked]] = []
    async with asyncio.timeout(5), client:
        calling = asyncio.create_task(client.call_tool("book", {}))
        for _ in range(5):
            [question] = await asked_of(questions)
            kinds.append(type(question.asked))
            questions.answer(question.id, _answer(question.asked), "terminal")
        result = await calling
    assert result.text == "aisle, accept, Answer 1, ['Trip']"
    assert kinds == [Form, Visit, Sampling, Completion, RootsAsked]
