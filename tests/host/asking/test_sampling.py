"""Sampling: what goes to the model and what goes back is the user's to see, to edit and to refuse."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from splice import InvalidParams, RPCError
from splice.host.asked import Completion, Reviewed, Sampling
from splice.host.asking.answers import WrongAnswer
from splice.host.asking.permissions import Permissions
from splice.host.asking.policy import Policy
from splice.host.asking.questions import Questions
from splice.host.asking.sampling import Limits, Samplings
from splice.host.asking.unattended import Answers
from splice.host.board import Board
from splice.host.items import Call, Chat, Notice, Question, Rule
from splice.host.models.base import Model, ModelEvent, Stop, Text
from splice.types import CreateMessageParams, CreateMessageResult, SamplingMessage, TextContent, Tool, ToolChoice
from support.asking import asked_of
from support.talking import Parrot
from support.waiting import until


class Desk(Struct):
    """The parts that sampling needs, and what it needs to know."""

    parrot: Parrot
    granted: Limits = Limits()
    recorded: list[tuple[str, str]] = []
    now: float = 0.0

    def models(self) -> Sequence[Model]:
        return [self.parrot, Parrot(id="other", label="Other", is_ai=True)]

    def own_model(self) -> str:
        return "demo"

    def limits(self, server: str) -> Limits:
        assert server == "travel"
        return self.granted

    def said_in(self, chat: str) -> str:
        return f"all that was said in {chat}"

    def record(self, kind: str, server: str, **facts: Any) -> None:
        assert (kind, server) == ("sampling", "travel")
        self.recorded.append((facts["decision"], facts.get("rule", "")))


Body = Callable[[Board, Questions, Samplings, Desk], Coroutine[Any, Any, None]]


def _run(body: Body, path: Path | None = None, *, answers: Answers | None = None, **desk: Any) -> None:
    async def main() -> None:
        board = Board()
        questions = Questions(board, answers)
        around = Desk(Parrot(fails=desk.pop("fails", False)), **desk)
        samplings = Samplings(board, questions, Policy(Permissions(board, path)), around, clock=lambda: around.now)
        board.put(Chat(id="chat:1", title="Trip", is_open=True))
        board.put(Call(id="call:7", chat="chat:1", turn=1, server="travel", tool="find", state="running"))
        async with asyncio.timeout(5):
            await body(board, questions, samplings, around)

    asyncio.run(main())


def _params(**words: Any) -> CreateMessageParams:
    said: list[SamplingMessage] = [SamplingMessage(role="user", content=TextContent(text="Which flight?"))]
    options: dict[str, Any] = {"max_tokens": 100, "system_prompt": "An expert", **words}
    return CreateMessageParams(messages=said, **options)


async def _next(questions: Questions) -> tuple[str, Any]:
    [item] = await asked_of(questions)
    return item.id, item.asked


def test_the_prompt_is_reviewed_then_the_completion() -> None:
    async def body(board: Board, questions: Questions, samplings: Samplings, desk: Desk) -> None:
        params = _params(include_context="allServers", metadata={"user": "anna"}, temperature=0.5)
        asking = asyncio.create_task(samplings.sample("travel", params))
        id, asked = await _next(questions)
        assert asked == Sampling(
            "An expert",
            [{"role": "user", "content": {"type": "text", "text": "Which flight?"}}],
            "demo",
            ["demo", "other"],
            "travel states no wishes, so Demo model is used.",
            max_tokens=100,
            cap=4000,
            temperature=0.5,
            context="allServers",
            rate="1 of 10 in this minute",
            call="call:7",
        )
        assert desk.parrot.told == []
        questions.answer(id, Reviewed("once"), "web")
        id, asked = await _next(questions)
        assert asked == Completion("Answer 1", "Demo model", "endTurn", 3, call="call:7")
        assert not asking.done()
        questions.answer(id, Reviewed("once"), "web")
        result = await asking
        assert result == CreateMessageResult(
            role="assistant",
            content=TextContent(text="Answer 1"),
            model="Demo model (a program, no AI)",
            stop_reason="endTurn",
        )
        [told] = desk.parrot.told
        assert (told.include_context, told.metadata, told.temperature) == (None, None, 0.5)
        assert told.system_prompt == "An expert"
        assert board.all(Rule) == []

    _run(body)


def test_the_user_edits_everything() -> None:
    async def body(_: Board, questions: Questions, samplings: Samplings, desk: Desk) -> None:
        asking = asyncio.create_task(samplings.sample("travel", _params(max_tokens=9_000)))
        id, asked = await _next(questions)
        edited = [{"role": "user", "content": {"type": "text", "text": "Which one?"}}]
        for bad, said in (
            (Reviewed("once"), "at most 4,000 tokens"),
            (Reviewed("once", max_tokens=50, messages=[]), "at least one"),
            (Reviewed("once", max_tokens=50, messages=[{"role": "boss", "content": []}]), "cannot be sent so"),
            (Reviewed("once", max_tokens=50, messages="x"), "cannot be sent so"),
        ):
            with pytest.raises(WrongAnswer, match=said):
                questions.answer(id, bad, "web")
        assert asked.max_tokens == 9_000
        own = Reviewed("once", "demo", "Be brief", edited, 50, shares_chat=True)
        questions.answer(id, own, "web")
        id, _asked = await _next(questions)
        questions.answer(id, Reviewed("again"), "web")
        id, asked = await _next(questions)
        assert asked.text == "Answer 2"
        questions.answer(id, Reviewed("once", text="Take the first."), "web")
        result = await asking
        assert result is not None
        assert result.text == "Take the first."
        told = desk.parrot.told[-1]
        assert (told.max_tokens, msgspec.to_builtins(told.messages)) == (50, edited)
        assert told.system_prompt is not None
        assert told.system_prompt.startswith("Be brief")
        assert told.system_prompt.endswith("all that was said in chat:1")

    _run(body)


class Watcher(Parrot):
    """A parrot that looks at the call for which it speaks."""

    board: Board | None = None
    saw: str = ""

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        call = self.board.get("call:7", Call) if self.board else None
        self.saw = call.word if call else ""
        async for event in Parrot.stream(self, params):
            yield event


def test_while_a_model_answers_the_call_says_so() -> None:
    async def body(board: Board, questions: Questions, samplings: Samplings, desk: Desk) -> None:
        desk.parrot = watcher = Watcher(board=board)
        asking = asyncio.create_task(samplings.sample("travel", _params()))
        id, _asked = await _next(questions)
        questions.answer(id, Reviewed("once"), "web")
        id, _asked = await _next(questions)
        assert watcher.saw == "Demo model writes an answer for travel"
        found = board.get("call:7", Call)
        assert found is not None
        assert found.word == ""
        questions.answer(id, Reviewed("deny"), "web")
        assert await asking is None

    _run(body)


class Slow(Parrot):
    """A parrot that says nothing until it may."""

    may: asyncio.Event = msgspec.field(default_factory=asyncio.Event)

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        self.told.append(params)
        await self.may.wait()
        yield Text("So")
        yield Stop("endTurn")


@pytest.mark.parametrize("labels", [("Demo model", "Other"), ("Demo model", "Demo model")])
@pytest.mark.parametrize("first", [0, 1])
def test_of_two_models_that_answer_for_a_call_it_names_the_one_that_is_left(
    labels: tuple[str, str], first: int
) -> None:
    async def body(board: Board, _: Questions, samplings: Samplings, desk: Desk) -> None:
        samplings._policy.permissions.grant("allow", "sampling travel", chat="")
        models, asking = [Slow(label=label) for label in labels], list[asyncio.Task[Any]]()
        said = [f"{label} writes an answer for travel" for label in labels]

        def word() -> str:
            found = board.get("call:7", Call)
            return "" if found is None else found.word

        for model in models:
            desk.parrot = model
            asking.append(asyncio.create_task(samplings.sample("travel", _params())))
            await until(partial(bool, model.told))
        assert word() == said[1]
        models[first].may.set()
        await asking[first]
        assert word() == said[1 - first]
        models[1 - first].may.set()
        await asking[1 - first]
        assert word() == ""

    _run(body)


def test_denied_then_asked_again_asks_again() -> None:
    async def body(_: Board, questions: Questions, samplings: Samplings, desk: Desk) -> None:
        for number in (1, 2, 3):
            asking = asyncio.create_task(samplings.sample("travel", _params()))
            id, asked = await _next(questions)
            assert isinstance(asked, Sampling)
            assert asked.rate == f"{number} of 10 in this minute"
            questions.answer(id, Reviewed("deny"), "web")
            assert await asking is None
        assert desk.parrot.told == []
        assert desk.recorded == [("denied", "")] * 3

    _run(body)


def test_a_completion_that_is_denied_does_not_go_out() -> None:
    async def body(_: Board, questions: Questions, samplings: Samplings, __: Desk) -> None:
        asking = asyncio.create_task(samplings.sample("travel", _params()))
        id, _asked = await _next(questions)
        questions.answer(id, Reviewed("once"), "web")
        id, _asked = await _next(questions)
        questions.answer(id, Reviewed("deny"), "web")
        assert await asking is None

    _run(body)


@pytest.mark.parametrize(("verdict", "scope"), [("chat", "chat"), ("always", "always")])
def test_what_is_allowed_for_longer_runs_unseen_up_to_the_cap(tmp_path: Path, verdict: Any, scope: str) -> None:
    async def body(board: Board, questions: Questions, samplings: Samplings, desk: Desk) -> None:
        asking = asyncio.create_task(samplings.sample("travel", _params()))
        id, _asked = await _next(questions)
        questions.answer(id, Reviewed(verdict), "web")
        id, _asked = await _next(questions)
        questions.answer(id, Reviewed("once"), "web")
        await asking
        [rule] = board.all(Rule)
        assert (rule.what, rule.scope) == ("sampling travel", scope)
        result = await samplings.sample("travel", _params())
        assert result is not None
        assert result.text == "Answer 2"
        assert desk.recorded == [("allowed", ""), ("allowed", rule.id)]
        above = asyncio.create_task(samplings.sample("travel", _params(max_tokens=4_001)))
        id, _asked = await _next(questions)
        questions.answer(id, Reviewed("deny"), "web")
        assert await above is None

    _run(body, tmp_path / "permissions.json")


def test_a_server_asks_so_often_and_no_more() -> None:
    async def body(board: Board, _: Questions, samplings: Samplings, desk: Desk) -> None:
        for _each in range(2):
            assert await samplings.sample("travel", _params()) is not None
        with pytest.raises(RPCError, match="At most 2 sampling requests in a minute: wait 60 s"):
            await samplings.sample("travel", _params())
        desk.now = 60.0
        assert await samplings.sample("travel", _params()) is not None
        assert desk.recorded[2] == ("limited", "")
        assert board.all(Question) == []

    _run(body, answers=Answers({"sampling": True}), granted=Limits(rate=2))


def test_tools_are_the_servers_and_their_uses_are_shown() -> None:
    async def body(_: Board, questions: Questions, samplings: Samplings, desk: Desk) -> None:
        tools = [Tool(name="forecast", description="The weather", input_schema={"type": "object"})]
        params = _params(tools=tools, tool_choice=ToolChoice(mode="required"), stop_sequences=["END"])
        asking = asyncio.create_task(samplings.sample("travel", params))
        id, asked = await _next(questions)
        assert [each["name"] for each in asked.definitions] == ["forecast"]
        [definition] = asked.definitions
        assert (definition["description"], definition["inputSchema"]) == ("The weather", {"type": "object"})
        assert (asked.tool_choice, asked.stops) == ("required", ["END"])
        questions.answer(id, Reviewed("once"), "web")
        id, asked = await _next(questions)
        assert asked.uses == [{"type": "tool_use", "id": "1", "name": "forecast", "input": {"day": "Monday"}}]
        questions.answer(id, Reviewed("once"), "web")
        result = await asking
        assert result is not None
        assert result.stop_reason == "toolUse"
        assert desk.parrot.told[0].tools == tools

    _run(body)


def test_a_model_that_fails_is_said_to_both_and_the_key_to_neither_server() -> None:
    async def body(board: Board, _: Questions, samplings: Samplings, __: Desk) -> None:
        with pytest.raises(RPCError) as caught:
            await samplings.sample("travel", _params())
        assert caught.value.message == "The model gave no answer. Try again later."
        assert [each.text for each in board.all(Notice)] == [
            "Demo model gave no answer to travel: The key sk-1 is wrong."
        ]

    _run(body, answers=Answers({"sampling": True}), fails=True)


def test_what_cannot_run_is_refused_without_asking() -> None:
    async def body(board: Board, _: Questions, samplings: Samplings, desk: Desk) -> None:
        with pytest.raises(RPCError, match="No model is set up"):
            await samplings.sample("travel", _params())
        desk.granted = Limits()
        for bad in (_params(max_tokens=0), CreateMessageParams(messages=_params().messages * 1001, max_tokens=1)):
            with pytest.raises(InvalidParams):
                await samplings.sample("travel", bad)
        assert board.all(Question) == []

    _run(body, granted=Limits(models=["gone"]))


def test_a_rule_denies_unseen() -> None:
    async def body(board: Board, _: Questions, samplings: Samplings, desk: Desk) -> None:
        rule = samplings._policy.permissions.grant("deny", "sampling *", chat="")
        assert await samplings.sample("travel", _params()) is None
        assert desk.recorded == [("denied", rule.id)]
        assert board.all(Question) == []

    _run(body)


def test_what_is_allowed_in_calls_is_asked_about_outside_of_them(tmp_path: Path) -> None:
    async def body(board: Board, questions: Questions, samplings: Samplings, desk: Desk) -> None:
        rule = samplings._policy.permissions.grant("allow", "sampling travel")
        assert await samplings.sample("travel", _params()) is not None
        board.change("call:7", state="done")
        asking = asyncio.create_task(samplings.sample("travel", _params()))
        id, asked = await _next(questions)
        assert asked.rate == "2 of 10 in this minute, while no call of it runs"
        questions.answer(id, Reviewed("always"), "web")
        id, _ = await _next(questions)
        questions.answer(id, Reviewed("once"), "web")
        assert await asking is not None
        assert await samplings.sample("travel", _params()) is not None
        assert {each.what for each in board.all(Rule)} == {"sampling travel", "sampling outside travel"}
        samplings._policy.permissions.revoke(rule.id)
        samplings._policy.permissions.grant("deny", "sampling travel")
        assert await samplings.sample("travel", _params()) is None  # a denial is for both

    _run(body, tmp_path / "permissions.json")
