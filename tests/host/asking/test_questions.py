"""One queue of questions: none is lost, the first answer counts, and nobody answers by waiting."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from splice.host.asked import (
    Answer,
    Approval,
    Asked,
    Completion,
    Decision,
    Filled,
    Form,
    Goon,
    ResultReview,
    Reviewed,
    RootsAsked,
    Sampling,
    Trust,
    Visit,
)
from splice.host.asking.answers import WrongAnswer
from splice.host.asking.questions import MAX_WAITING, Questions
from splice.host.asking.unattended import Answers
from splice.host.board import Board
from splice.host.items import Question
from support.asking import asked_of
from support.tables import rows

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"seat": {"type": "string", "enum": ["aisle"]}},
    "required": ["seat"],
}
APPROVAL = Approval("call:1", "tool:travel/book", "no rule", "The model, in turn 1")
GRAVE = Approval("call:1", "tool:travel/book", "no rule", "The model, in turn 1", may_always=False)
FORM = Form("Which seat?", SCHEMA)
NIGHTS = Form("?", {**SCHEMA, "properties": {**SCHEMA["properties"], "nights": {"type": "integer"}}})
VISIT = Visit("Log in", "https://a.example/x", "a.example")
SAMPLING = Sampling("", [], "demo", ["demo"], "the only one", max_tokens=100, cap=200)
COMPLETION = Completion("Hello", "demo", "endTurn")
USING = Completion("Hello", "demo", "toolUse", uses=[{}])
TRUST = Trust("uvx x", ["uvx", "x"], "mcp.json", "/tmp")
ROOTS = RootsAsked(["file:///a"])

Body = Callable[[Board, Questions], Coroutine[Any, Any, None]]


def _run(body: Body, unattended: Answers | None = None) -> None:
    async def main() -> None:
        board = Board()
        async with asyncio.timeout(5):
            await body(board, Questions(board, unattended))

    asyncio.run(main())


def test_two_at_once_are_both_answered_and_numbered() -> None:
    async def body(board: Board, questions: Questions) -> None:
        one = asyncio.create_task(questions.ask("travel", FORM, chat="chat:1"))
        two = asyncio.create_task(questions.ask("mail", APPROVAL))
        first, second = await asked_of(questions, 2)
        assert [(each.number, each.server, each.chat) for each in (first, second)] == [
            (1, "travel", "chat:1"),
            (2, "mail", ""),
        ]
        assert questions.answer(second.id, Decision("deny"), "web") == ""
        assert await two == (Decision("deny"), "web")
        assert board.all(Question) == [first]
        assert questions.answer(first.id, Filled("accept", {"seat": "aisle"}), "terminal") == ""
        assert await one == (Filled("accept", {"seat": "aisle"}), "terminal")
        assert board.all(Question) == []

    _run(body)


def test_the_first_answer_counts_and_the_second_is_told() -> None:
    async def body(_: Board, questions: Questions) -> None:
        asking = asyncio.create_task(questions.ask("travel", APPROVAL))
        [item] = await asked_of(questions, 1)
        assert questions.answer(item.id, Decision("once"), "terminal") == ""
        assert questions.answer(item.id, Decision("deny"), "web") == "terminal"
        assert await asking == (Decision("once"), "terminal")
        with pytest.raises(WrongAnswer, match="no such question"):
            questions.answer("question:99", Decision("deny"), "web")

    _run(body)


@rows(
    ("asked", "answer", "said"),
    [
        (APPROVAL, Filled("accept"), "takes Decision, not Filled"),
        (APPROVAL, Decision("once", arguments=[1]), "JSON object"),
        (APPROVAL, Decision("once", arguments={"a": object()}), "not JSON"),
        (APPROVAL, Decision("once", arguments={"a": "x" * 8_000_000}), "too long"),
        (GRAVE, Decision("chat"), "only be allowed once"),
        (GRAVE, Decision("server"), "only be allowed once"),
        (FORM, Decision("once"), "takes Filled, not Decision"),
        (FORM, Filled("accept", {"seat": "roof"}), "seat: Choose one: aisle"),
        (FORM, Filled("accept"), "seat: Choose one: aisle"),
        (FORM, Filled("accept", [1]), "JSON object"),
        (VISIT, Filled("accept", {"a": 1}), "no content"),
        (SAMPLING, Reviewed("again"), "no answer of a model yet"),
        (SAMPLING, Reviewed("once", text="x"), "no answer of a model yet"),
        (SAMPLING, Reviewed("once", model="other"), "other may not be chosen"),
        (SAMPLING, Reviewed("once", max_tokens=201), "at most 200 tokens"),
        (SAMPLING, Reviewed("once", max_tokens=-1), "at most 200 tokens"),
        (COMPLETION, Reviewed("always"), "allowed once"),
        (USING, Reviewed("once", text="x"), "cannot be edited"),
        (TRUST, Decision("server"), "once or deny"),
        (TRUST, Decision("once", arguments={}), "no arguments"),
        (Goon("25 calls"), Decision("chat"), "once or deny"),
        (ResultReview("call:1"), Decision("tool"), "once or deny"),
        (ResultReview("call:1"), Decision("once", arguments={}), "is text"),
        (ROOTS, Filled("accept", {"uris": ["file:///b"]}), "folders of the question"),
        (ROOTS, Filled("accept", {"uris": "file:///a"}), "folders of the question"),
        (ROOTS, Filled("accept"), "folders of the question"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_the_question_waits(asked: Asked, answer: Answer, said: str) -> None:
    async def body(_: Board, questions: Questions) -> None:
        asking = asyncio.create_task(questions.ask("travel", asked))
        [item] = await asked_of(questions, 1)
        with pytest.raises(WrongAnswer, match=said):
            questions.answer(item.id, answer, "web")
        assert questions.waiting() == [item]
        questions.withdraw(item.id, "the server crashed")
        assert (await asking)[1] == "host"

    _run(body)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (APPROVAL, Decision("cancel", reason="travel crashed")),
        (FORM, Filled("cancel")),
        (VISIT, Filled("cancel")),
        (SAMPLING, Reviewed("deny")),
        (COMPLETION, Reviewed("deny")),
        (TRUST, Decision("cancel", reason="travel crashed")),
    ],
)
def test_a_withdrawn_question_is_cancelled_and_a_late_answer_is_told(asked: Asked, answer: Answer) -> None:
    async def body(_: Board, questions: Questions) -> None:
        asking = asyncio.create_task(questions.ask("travel", asked))
        other = asyncio.create_task(questions.ask("mail", asked))
        [item, __] = await asked_of(questions, 2)
        questions.withdraw_all("travel", "travel crashed")
        assert await asking == (answer, "host")
        assert questions.answer(item.id, answer, "web") == "Withdrawn: travel crashed"
        assert len(questions.waiting()) == 1
        questions.close()
        assert (await other)[1] == "host"
        assert (await questions.ask("mail", asked))[1] == "host"

    _run(body)


def test_who_asks_no_longer_takes_the_question_back() -> None:
    async def body(board: Board, questions: Questions) -> None:
        asking = asyncio.create_task(questions.ask("travel", FORM))
        [item] = await asked_of(questions, 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert board.all(Question) == []
        assert questions.answer(item.id, Filled("decline"), "web").startswith("Withdrawn")

    _run(body)


def test_drafts_are_on_the_board() -> None:
    async def body(board: Board, questions: Questions) -> None:
        asking = [asyncio.create_task(questions.ask("travel", each)) for each in (FORM, VISIT)]
        form, visit = await asked_of(questions, 2)
        questions.draft(form.id, {"seat": "ai"})
        questions.opened(visit.id)
        shown = [each.asked for each in questions.waiting()]
        assert shown == [Form("Which seat?", SCHEMA, draft={"seat": "ai"}), Visit(*VISIT_FIELDS, is_opened=True)]
        for bad in (visit.id, form.id):
            with pytest.raises(WrongAnswer):
                questions.draft(bad, "x" * 1_000_000)
        with pytest.raises(WrongAnswer, match="not JSON"):
            questions.draft(form.id, {"seat": "\ud800"})
        questions.draft("question:99", {})
        questions.close()
        await asyncio.gather(*asking)

    _run(body)


VISIT_FIELDS = (VISIT.message, VISIT.url, VISIT.host)


def test_a_server_cannot_bury_the_user() -> None:
    async def body(_: Board, questions: Questions) -> None:
        asking = [asyncio.create_task(questions.ask("travel", FORM)) for _ in range(MAX_WAITING)]
        await asked_of(questions, MAX_WAITING)
        assert await questions.ask("travel", FORM) == (Filled("cancel"), "host")
        questions.close()
        await asyncio.gather(*asking)

    _run(body)


def _refuses(_: str, asked: Asked) -> Answer | None:
    if asked == Goon("x"):
        raise RuntimeError("no")
    return None


async def _late(_: str, __: Asked) -> Answer | None:
    return Filled("accept", {"seat": "aisle"})


@rows(
    ("prepared", "asked", "answer"),
    [
        ({"form": {"seat": "aisle", "other": 1}}, FORM, Filled("accept", {"seat": "aisle"})),
        ({"form": {"seat": "roof"}}, FORM, Filled("decline")),
        ({"form": {"seat": "Aisle", "nights": "3"}}, NIGHTS, Filled("accept", {"seat": "aisle", "nights": 3})),
        ({"form": {"seat": "aisle", "nights": "x"}}, NIGHTS, Filled("decline")),
        ({"travel form": False, "form": {"seat": "aisle"}}, FORM, Filled("decline")),
        (_late, FORM, Filled("accept", {"seat": "aisle"})),
        ({}, FORM, Filled("decline")),
        ({"visit": True}, VISIT, Filled("accept")),
        ({"sampling": True}, SAMPLING, Reviewed("once", max_tokens=100)),
        ({"sampling": 50}, SAMPLING, Reviewed("once", max_tokens=50)),
        ({"sampling": True}, COMPLETION, Reviewed("once")),
        ({}, SAMPLING, Reviewed("deny")),
        ({"approval": "chat"}, APPROVAL, Decision("chat")),
        ({"trust": False}, TRUST, Decision("deny")),
        ({"roots": ["file:///a", "file:///b"]}, ROOTS, Filled("accept", {"uris": ["file:///a"]})),
        ({"goon": "often"}, Goon("25 calls"), Decision("deny", reason="Nobody is here to answer this question.")),
        (_refuses, APPROVAL, Decision("deny", reason="Nobody is here to answer this question.")),
        (_refuses, Goon("x"), Decision("deny", reason="Nobody is here to answer this question.")),
    ],
)
def test_where_nobody_watches_what_was_prepared_answers_and_the_rest_is_refused(
    prepared: Any, asked: Asked, answer: Answer
) -> None:
    async def body(board: Board, questions: Questions) -> None:
        assert await questions.ask("travel", asked) == (answer, "policy")
        assert board.all(Question) == []

    _run(body, Answers(prepared))


def test_a_run_tells_what_was_refused_and_why() -> None:
    answers = Answers({"form": {"seat": "roof"}})

    async def body(_: Board, questions: Questions) -> None:
        await questions.ask("travel", FORM)
        await questions.ask("", Goon("25 calls"))

    _run(body, answers)
    assert list(map(str, answers.refusals)) == [
        "travel: the prepared answer does not fit: seat: Choose one: aisle",
        "the host: nothing was prepared for its goon",
    ]


def test_prepared_answers_name_their_kind() -> None:
    with pytest.raises(ValueError, match="'seat' is not a kind of question; there are approval"):
        Answers({"seat": "aisle"})
