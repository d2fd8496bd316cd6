"""Servers ask the user: by forms that are checked on both ways, and by pages that nobody opens unasked."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from splice import InvalidParams
from splice.host.asked import Filled, Form, Visit
from splice.host.asking.answers import WrongAnswer
from splice.host.asking.elicitation import Elicitation
from splice.host.asking.questions import Questions
from splice.host.asking.unattended import Answers
from splice.host.board import Board
from splice.host.items import Call, Question
from splice.types import ElicitParams, ElicitResult
from support.asking import asked_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"seat": {"type": "string", "enum": ["aisle"]}, "nights": {"type": "integer", "default": 7}},
    "required": ["seat"],
}
FORM = ElicitParams(message="Which seat?", requested_schema=SCHEMA)


def _run(
    body: Callable[[Board, Questions, Elicitation], Coroutine[Any, Any, None]],
    *,
    answers: Answers | None = None,
    opens: Callable[[str], object] = lambda _: pytest.fail("nobody asked to open it"),
) -> None:
    async def main() -> None:
        board = Board()
        questions = Questions(board, answers)
        elicitation = Elicitation(board, questions, opens=opens, known=lambda _: ["mail.example"])
        async with asyncio.timeout(5):
            await body(board, questions, elicitation)

    asyncio.run(main())


def _url(url: str) -> ElicitParams:
    return ElicitParams(mode="url", message="Log in", url=url, elicitation_id="1")


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (
            Filled("accept", {"seat": "aisle", "nights": None}),
            ElicitResult(action="accept", content={"seat": "aisle"}),
        ),
        (
            Filled("accept", {"seat": "aisle", "nights": 2}),
            ElicitResult(action="accept", content={"seat": "aisle", "nights": 2}),
        ),
        (Filled("decline", {"seat": "aisle"}), ElicitResult(action="decline")),
        (Filled("cancel"), ElicitResult(action="cancel")),
    ],
)
def test_a_form_is_answered(answer: Filled, result: ElicitResult) -> None:
    async def body(board: Board, questions: Questions, elicitation: Elicitation) -> None:
        board.put(Call(id="call:7", chat="chat:1", turn=1, server="travel", tool="book", state="running"))
        board.put(Call(id="call:8", chat="chat:1", turn=1, server="mail", tool="send", state="running"))
        asking = asyncio.create_task(elicitation.elicit("travel", FORM))
        [item] = await asked_of(questions)
        assert (item.server, item.chat) == ("travel", "chat:1")
        assert item.asked == Form("Which seat?", SCHEMA, call="call:7")
        with pytest.raises(WrongAnswer, match="seat: Choose one: aisle"):
            questions.answer(item.id, Filled("accept", {"seat": "roof"}), "web")
        questions.answer(item.id, answer, "web")
        assert await asking == result

    _run(body)


def test_a_form_without_fields_asks_for_a_yes() -> None:
    async def body(_: Board, questions: Questions, elicitation: Elicitation) -> None:
        params = ElicitParams(message="Go on?", requested_schema={"type": "object", "properties": {}})
        asking = asyncio.create_task(elicitation.elicit("travel", params))
        [item] = await asked_of(questions)
        questions.answer(item.id, Filled("accept"), "web")
        assert await asking == ElicitResult(action="accept", content={})

    _run(body)


def test_with_several_calls_nobody_can_tell_which_one_asks() -> None:
    async def body(board: Board, questions: Questions, elicitation: Elicitation) -> None:
        for number in (1, 2):
            board.put(Call(id=f"call:{number}", chat="chat:1", turn=1, server="travel", tool="book", state="running"))
        asking = [
            asyncio.create_task(elicitation.elicit("travel", FORM)),
            asyncio.create_task(elicitation.elicit("travel", FORM, calls=["call:2"])),
        ]
        shown = [item.asked for item in await asked_of(questions, 2)]
        assert [each.call for each in shown if isinstance(each, Form)] == ["", "call:2"]
        questions.close()
        assert await asyncio.gather(*asking) == [ElicitResult(action="cancel")] * 2

    _run(body)


@pytest.mark.parametrize(
    ("message", "properties", "secrets"),
    [
        ("Hello", {"password": {"type": "string"}, "name": {"type": "string"}}, ["password"]),
        ("Give me your API key", {"value": {"type": "string"}}, ["value"]),
        ("Give me your API key", {"sure": {"type": "boolean"}}, []),
        ("Hello", {"x": {"type": "string", "title": "One-time code"}}, ["x"]),
    ],
)
def test_fields_that_ask_for_secrets_are_named(message: str, properties: dict[str, Any], secrets: list[str]) -> None:
    async def body(_: Board, questions: Questions, elicitation: Elicitation) -> None:
        params = ElicitParams(message=message, requested_schema={"type": "object", "properties": properties})
        asking = asyncio.create_task(elicitation.elicit("travel", params))
        [item] = await asked_of(questions)
        assert isinstance(item.asked, Form)
        assert item.asked.secrets == secrets
        questions.close()
        await asking

    _run(body)


def test_what_cannot_be_shown_is_refused_before_anybody_sees_it() -> None:
    async def body(board: Board, _: Questions, elicitation: Elicitation) -> None:
        with pytest.raises(InvalidParams, match="form cannot be shown"):
            await elicitation.elicit("travel", ElicitParams(message="?", requested_schema={"type": "string"}))
        for url in ("file:///etc/passwd", "javascript:alert(1)", "https://", "https://a.example/" + "x" * 8_000):
            with pytest.raises(InvalidParams, match="not the address of a page"):
                await elicitation.elicit("travel", _url(url))
        assert board.all(Question) == []

    _run(body)


def test_a_page_is_opened_only_when_the_user_says_so_and_finished_when_they_do() -> None:
    opened: list[str] = []

    async def body(_: Board, questions: Questions, elicitation: Elicitation) -> None:
        asking = asyncio.create_task(elicitation.elicit("mail", _url("https://mai1.example/login?state=1")))
        [item] = await asked_of(questions)
        assert item.asked == Visit(
            "Log in",
            "https://mai1.example/login?state=1",
            "mai1.example",
            ["it imitates mail.example, and is another host"],
            loud="This host imitates another one.",
            is_new=True,
        )
        assert opened == []
        await elicitation.open(item.id)
        assert opened == ["https://mai1.example/login?state=1"]
        [item] = questions.waiting()
        assert isinstance(item.asked, Visit)
        assert item.asked.is_opened
        assert not asking.done()
        questions.answer(item.id, Filled("accept"), "web")
        assert await asking == ElicitResult(action="accept")
        with pytest.raises(WrongAnswer, match="no page to open"):
            await elicitation.open(item.id)

    _run(body, opens=opened.append)


def test_a_host_is_new_until_the_user_went_there_for_the_same_server() -> None:
    async def body(_: Board, questions: Questions, elicitation: Elicitation) -> None:
        elicitation.has_sent = lambda server, host: (server, host) == ("mail", "pay.example")
        news: dict[str, bool] = {}
        for server, url in (
            ("travel", "https://pay.example/"),
            ("mail", "https://pay.example/"),
            ("mail", "https://mail.example/"),  # the host of a configured server
        ):
            asking = asyncio.create_task(elicitation.elicit(server, _url(url)))
            [item] = await asked_of(questions)
            assert isinstance(item.asked, Visit)
            news[f"{server} {url}"] = item.asked.is_new
            questions.answer(item.id, Filled("decline"), "web")
            await asking
        assert list(news.values()) == [True, False, False]

    _run(body)


def test_without_a_browser_the_user_is_told_and_may_go_there_alone() -> None:
    async def body(_: Board, questions: Questions, elicitation: Elicitation) -> None:
        asking = asyncio.create_task(elicitation.elicit("mail", _url("https://mail.example/")))
        [item] = await asked_of(questions)
        with pytest.raises(WrongAnswer, match="Copy the address"):
            await elicitation.open(item.id)
        [item] = questions.waiting()
        assert isinstance(item.asked, Visit)
        assert item.asked.is_opened
        questions.answer(item.id, Filled("accept"), "web")
        assert await asking == ElicitResult(action="accept")

    _run(body, opens=lambda _: False)


def test_where_nobody_watches_forms_are_answered_by_what_was_prepared() -> None:
    async def body(_: Board, __: Questions, elicitation: Elicitation) -> None:
        assert await elicitation.elicit("travel", FORM) == ElicitResult(action="accept", content={"seat": "aisle"})
        assert await elicitation.elicit("mail", _url("https://mail.example/")) == ElicitResult(action="decline")

    _run(body, answers=Answers({"form": {"seat": "aisle"}}))
