"""The context: everything a handler can do with it, in every version that has it."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pydantic
import pytest
from msgspec import Raw

from splice import Client, Context, Elicited, InputRequired, Server
from splice.errors import LocalProtocolError, MissingClientCapability, ResourceNotFound, RPCError, ToolError
from splice.protocol.content import TextContent, ToolUseContent
from splice.protocol.jsonrpc import Request, Response, encode
from splice.protocol.notifications import LOGGING_LEVELS
from splice.protocol.questions import (
    CreateMessageParams,
    ElicitParams,
    ModelHint,
    ModelPreferences,
    SamplingMessage,
    ToolChoice,
)
from splice.protocol.tools import Tool
from splice.protocol.versions import FACTS, VERSIONS
from splice.rules.principal import Principal
from support.caller import ALL, ASKING, CANCEL, DECLINE, LEGACY, MODERN, Caller, Hand, accept, fixed, said, text_of
from support.joined import Joined
from support.tables import rows
from support.waiting import until
from support.wire import JSON

Handler = Callable[[Context], Awaitable[Any]]
SAMPLING = [version for version in VERSIONS if FACTS[version].sampling_tools]
URL = [version for version in VERSIONS if FACTS[version].url_elicitation]


def serving(handler: Handler, **options: Any) -> Server:
    """Make a server with one tool, `run`."""
    server = Server("s", **options)

    async def run(ctx: Context) -> Any:
        return await handler(ctx)

    server.add_tool(run)
    return server


async def calling(handler: Handler, version: str, *answers: JSON, can: JSON = ALL, **options: Any) -> Caller:
    return await Caller(serving(handler, **options), version, can=can, answers=fixed(*answers)).open()


# Who is asking.


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_handler_knows_who_asks_what(version: str) -> None:
    seen: list[Any] = []

    async def handler(ctx: Context) -> str:
        seen.append(ctx)
        return ctx.version

    caller = await calling(handler, version)
    caller.principal, caller.headers = "ada", {"x-a": "b"}
    assert await caller.text("run") == version
    (ctx,) = seen
    assert ctx.method == "tools/call"
    assert ctx.params.name == "run"
    assert ctx.request_id == caller.last.request.id if caller.last else False
    assert ctx.principal == Principal(subject="ada")
    assert ctx.headers == {"x-a": "b"}
    assert ctx.lifespan is None
    assert ctx.client.info.name == "tests"
    assert ctx.client.capabilities.roots is not None


# Progress.


@pytest.mark.parametrize("version", VERSIONS)
async def test_progress_goes_to_whoever_asked_for_it_and_only_grows(version: str) -> None:
    async def handler(ctx: Context) -> str:
        for value in (1, 3, 2, 3, 4.5, float("nan"), 4, float("inf")):
            await ctx.progress(value, 10, "step")
        await ctx.progress(5, float("inf"))
        return "done"

    caller = await calling(handler, version)
    await caller.call("run")
    assert caller.notes == []
    for token in ("text", 0, 7):
        caller.notes.clear()
        await caller.call("run", token=token)
        assert caller.progress() == [1, 3, 4.5, 5]
        assert {each["params"]["progressToken"] for each in caller.notes} == {token}
        first, last = caller.notes[0]["params"], caller.notes[-1]["params"]
        assert first["total"] == 10
        assert ("message" in first) == (VERSIONS.index(version) >= 1)
        assert "total" not in last


@pytest.mark.parametrize("version", ASKING)
async def test_progress_does_not_run_backwards_when_the_handler_runs_again(version: str) -> None:
    async def handler(ctx: Context) -> str:
        await ctx.report_progress(1, 3)
        await ctx.report_progress(2, 3, "asking")
        await ctx.elicit("Sure?")
        await ctx.report_progress(3, 3)
        return "done"

    caller = await calling(handler, version, accept())
    assert await caller.text("run", token="t") == "done"
    assert caller.progress() == [1, 2, 3]


@pytest.mark.parametrize("version", VERSIONS)
async def test_nothing_is_told_after_the_reply(version: str) -> None:
    late = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []

    async def handler(ctx: Context) -> str:
        async def straggler() -> None:
            await late.wait()
            await ctx.progress(2)
            await ctx.info("late")

        tasks.append(asyncio.create_task(straggler()))
        await ctx.progress(1)
        return "done"

    caller = await calling(handler, version)
    caller.level = "debug"
    await caller.call("run", token=1)
    late.set()
    await asyncio.gather(*tasks)
    assert caller.progress() == [1]
    assert caller.logged() == []


# Logging.


@pytest.mark.parametrize("version", LEGACY)
async def test_a_session_hears_from_the_level_it_set(version: str) -> None:
    async def handler(ctx: Context) -> str:
        for level in LOGGING_LEVELS:
            await ctx.log(level, {"at": level})
        return ""

    caller = await calling(handler, version)
    await caller.call("run")
    assert [each["level"] for each in caller.logged()] == list(LOGGING_LEVELS[1:])
    for place, level in enumerate(LOGGING_LEVELS):
        caller.notes.clear()
        assert await caller.result("logging/setLevel", {"level": level}) == {}
        await caller.call("run")
        assert [each["level"] for each in caller.logged()] == list(LOGGING_LEVELS[place:])
    assert caller.logged()[0] == {"level": "emergency", "logger": "s", "data": {"at": "emergency"}}
    assert (await caller.error("logging/setLevel", {"level": "loud"}))["code"] == -32602


@pytest.mark.parametrize("version", MODERN)
async def test_a_modern_request_hears_from_the_level_it_names_and_else_nothing(version: str) -> None:
    async def handler(ctx: Context) -> str:
        await ctx.debug("d")
        await ctx.info("i", logger="mine")
        await ctx.warning(["w"])
        await ctx.error(None)
        return ""

    caller = await calling(handler, version)
    await caller.call("run")
    assert caller.logged() == []
    caller.level = "info"
    await caller.call("run")
    assert [(each["level"], each["logger"], each["data"]) for each in caller.logged()] == [
        ("info", "mine", "i"),
        ("warning", "s", ["w"]),
        ("error", "s", None),
    ]
    assert (await caller.error("logging/setLevel", {"level": "info"}))["code"] == -32601


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_log_message_that_is_no_json_fails_the_handler_alone(version: str) -> None:
    async def handler(ctx: Context) -> str:
        await ctx.error(object())
        return ""

    caller = await calling(handler, version)
    caller.level = "debug"
    result = await caller.call("run")
    assert result["isError"]
    assert "TypeError" in text_of(result)


async def test_a_level_that_does_not_exist_fails_the_handler() -> None:
    async def handler(ctx: Context) -> str:
        await ctx.log("loud", "x")  # type: ignore[arg-type]  # that is the point
        return ""

    assert (await (await calling(handler, LEGACY[0])).call("run"))["isError"]


# Asking: forms.


@dataclass
class Person:
    name: str
    age: int = 30


class PersonStruct(msgspec.Struct):
    name: str
    age: int = 30


class PersonModel(pydantic.BaseModel):
    name: str
    age: int = 30


class PersonDict(TypedDict):
    name: str


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@rows("version", ASKING)
@rows("form", [Person, PersonStruct, PersonModel, PersonDict, SCHEMA])
async def test_a_form_is_asked_and_its_answer_typed(version: str, form: Any) -> None:
    answers: list[Any] = []

    async def handler(ctx: Context) -> str:
        answers.append(await ctx.elicit("Who?", form))
        return "done"

    caller = await calling(handler, version, accept(name="Ada"))
    assert await caller.text("run") == "done"
    ((method, params),) = caller.asked
    assert method == "elicitation/create"
    assert params["message"] == "Who?"
    assert params.get("mode") == ("form" if FACTS[version].url_elicitation else None)
    assert params["requestedSchema"]["properties"]["name"]["type"] == "string"
    (answer,) = answers
    assert answer.accepted
    assert answer.action == "accept"
    expected = {"name": "Ada"} if form in (SCHEMA, PersonDict) else form(name="Ada", age=30)
    assert answer.data == expected
    assert type(answer.data) is type(expected)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


ONE_VALUE: list[tuple[Any, JSON, JSON, Any]] = [
    (str, {"type": "string"}, "Ada", "Ada"),
    (int, {"type": "integer"}, 3, 3),
    (float, {"type": "number"}, 3, 3.0),
    (bool, {"type": "boolean"}, False, False),
    (Literal["a", "b"], {"enum": ["a", "b"]}, "b", "b"),
    (Colour, {"enum": ["red", "blue"]}, "blue", Colour.BLUE),
    (Annotated[int, msgspec.Meta(ge=1)], {"type": "integer", "minimum": 1}, 3, 3),
    (date, {"type": "string", "format": "date"}, "2026-01-02", date(2026, 1, 2)),
]


SEVERAL: tuple[Any, JSON, JSON, Any] = (list[Literal["a", "b"]], {"type": "array"}, ["a"], ["a"])
"""A list of choices, which forms have since 2025-11-25; `tests/protocol/test_narrow.py` has what goes before."""


@rows(
    ("schema", "shown", "said", "data", "version"),
    [(*each, version) for version in ASKING for each in [*ONE_VALUE, *([SEVERAL] * FACTS[version].rich_forms)]],
)
async def test_one_value_may_be_asked_for(schema: Any, shown: JSON, said: JSON, data: Any, version: str) -> None:
    answers: list[Any] = []

    async def handler(ctx: Context) -> str:
        answers.append(await ctx.elicit("Which?", schema))
        return "done"

    caller = await calling(handler, version, accept(value=said))
    assert await caller.text("run") == "done"
    asked = caller.asked[0][1]["requestedSchema"]
    assert asked["properties"]["value"].items() >= shown.items()
    assert asked["required"] == ["value"]
    assert answers == [Elicited("accept", data)]
    caller = await calling(handler, version, accept(value={"no": "such value"}))
    assert (await caller.error("tools/call", {"name": "run"}))["code"] == -32602


@rows("version", ASKING)
@rows(
    ("answer", "read"),
    [
        (accept(), Elicited("accept", None)),
        ({"action": "accept"}, Elicited("accept", None)),
        (DECLINE, Elicited("decline")),
        (CANCEL, Elicited("cancel")),
    ],
)
async def test_a_plain_yes_may_be_asked_for(answer: JSON, read: Any, version: str) -> None:
    answers: list[Any] = []

    async def handler(ctx: Context) -> str:
        answers.append(await ctx.elicit("Delete it?"))
        return "done"

    caller = await calling(handler, version, answer)
    await caller.text("run")
    assert caller.asked[0][1]["requestedSchema"] == {"type": "object", "properties": {}}
    assert answers == [read]
    assert answers[0].accepted == (answer["action"] == "accept")


@pytest.mark.parametrize("version", ASKING)
@pytest.mark.parametrize("answer", [DECLINE, CANCEL, {"action": "decline", "content": {"name": "x"}}], ids=str)
async def test_a_user_may_refuse(version: str, answer: JSON) -> None:
    async def handler(ctx: Context) -> str:
        answer = await ctx.elicit("Who?", Person)
        assert answer.content is None
        assert not answer.accepted
        with pytest.raises(ToolError, match=r"The user was asked and did not answer: (decline|cancel)"):
            _ = answer.data
        return answer.action

    assert await (await calling(handler, version, answer)).text("run") == answer["action"]


@rows("version", ASKING)
@rows(
    "answer",
    [accept(), accept(name=1), accept(name="x", age="old"), {"action": "accept"}, {"action": "maybe"}, {}, [], "yes"],
)
async def test_an_answer_that_does_not_fit_is_the_clients_mistake(version: str, answer: JSON) -> None:
    async def handler(ctx: Context) -> str:
        await ctx.elicit("Who?", Person)
        raise AssertionError

    caller = await calling(handler, version, answer)
    assert (await caller.error("tools/call", {"name": "run"}))["code"] == -32602


@pytest.mark.parametrize("version", ASKING)
@pytest.mark.parametrize("answer", [accept(), accept(name=1), {"action": "accept"}], ids=str)
async def test_an_answer_to_a_form_written_by_hand_is_checked_too(version: str, answer: JSON) -> None:
    caller = await calling(lambda ctx: ctx.elicit("Who?", SCHEMA), version, answer)
    error = await caller.error("tools/call", {"name": "run"})
    assert error["code"] == -32602
    assert "name" in error["message"]


@pytest.mark.parametrize("version", ASKING)
async def test_a_schema_that_is_none_is_the_authors_mistake(version: str) -> None:
    caller = await calling(lambda ctx: ctx.elicit("Who?", {"type": "no such type"}), version, accept())
    assert (await caller.call("run"))["isError"]
    assert caller.asked == []


@rows("version", URL)
@rows(
    "url",
    ["", "x", "//host", "https://", "https://a b", "https://a\nb", "mailto", "https://é", "javascript://x", "ftp://a"],
)
@pytest.mark.requirement(382)
async def test_what_is_no_url_is_the_authors_mistake(version: str, url: str) -> None:
    caller = await calling(lambda ctx: ctx.elicit_url("Go", url), version, accept())
    assert (await caller.call("run"))["isError"]
    assert caller.asked == []


@pytest.mark.parametrize("version", URL)
@pytest.mark.requirement(358, 359, 382)
async def test_a_question_returned_is_checked_as_one_that_is_asked(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Requirements 358, 359 and 382."""
    used = SamplingMessage(role="assistant", content=ToolUseContent(id="1", name="t", input={}))
    for question, told in (
        (ElicitParams(mode="url", message="Go", url="not a url"), "'not a url' is not an absolute URL"),
        (CreateMessageParams(messages=[used], max_tokens=1), "uses ['1'] are due at the end, not of []"),
    ):

        async def handler(ctx: Context, question: Any = question) -> Any:
            return InputRequired({"k": question})

        caller = await calling(handler, version)
        assert (await caller.error("tools/call", {"name": "run"}))["code"] == -32603
        assert caller.asked == []
        assert told in caplog.text


@pytest.mark.parametrize("version", LEGACY[2:])
@pytest.mark.requirement(91)
async def test_a_client_that_never_answers_is_not_waited_for_for_ever(
    version: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Requirement 91."""
    monkeypatch.setattr("splice.server.call.ASK_SECONDS", 0.01)

    class Silent(Hand):
        async def ask(self, method: str, params: JSON) -> Response:
            del method, params
            await asyncio.Event().wait()
            raise AssertionError

    caller = await calling(lambda ctx: ctx.roots(), version)
    request = Request(5, "tools/call", Raw(b'{"name":"run"}'))
    async with asyncio.timeout(5):
        response = await caller.server.service.handle(Silent(caller, request))
    assert b"RequestTimeout" in encode(response)
    assert "The client did not answer roots/list within 0.01 s" in caplog.text


@pytest.mark.parametrize("version", ASKING)
async def test_a_form_that_cannot_be_shown_is_the_authors_mistake(version: str) -> None:
    @dataclass
    class Nested:
        person: Person

    async def handler(ctx: Context) -> str:
        await ctx.elicit("Who?", Nested)
        return ""

    result = await (await calling(handler, version)).call("run")
    assert result["isError"]
    assert "TypeError" in text_of(result)


@pytest.mark.parametrize("version", LEGACY[2:])
async def test_an_error_in_place_of_an_answer_reaches_the_handler(version: str) -> None:
    async def handler(ctx: Context) -> str:
        try:
            await ctx.elicit("Who?", Person)
        except RPCError as error:
            return f"{error.code} {error.message} {error.data}"
        raise AssertionError

    caller = await calling(handler, version, RPCError("no", {"a": 1}, code=-1))
    assert await caller.text("run") == "-1 no {'a': 1}"


@pytest.mark.parametrize("version", URL)
async def test_a_user_is_sent_to_a_url(version: str) -> None:
    async def handler(ctx: Context) -> str:
        answer = await ctx.elicit_url("Sign in", "https://example.com/sign-in", key="sign-in")
        assert answer.content is None
        return answer.action

    caller = await calling(handler, version, {"action": "accept"})
    assert await caller.text("run") == "accept"
    ((method, params),) = caller.asked
    assert (method, params["mode"], params["url"]) == ("elicitation/create", "url", "https://example.com/sign-in")
    assert ("elicitationId" in params) == (version in LEGACY)


# Asking: the model, the roots.


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_model_is_asked(version: str) -> None:
    async def handler(ctx: Context) -> str:
        reply = await ctx.sample("Hello", max_tokens=5, system_prompt="Be brief.", temperature=0.5)
        return f"{reply.model}: {reply.text}"

    caller = await calling(handler, version, said("Hi"))
    assert await caller.text("run") == "test: Hi"
    ((method, params),) = caller.asked
    assert method == "sampling/createMessage"
    assert params["messages"] == [{"role": "user", "content": {"type": "text", "text": "Hello"}}]
    assert (params["maxTokens"], params["systemPrompt"], params["temperature"]) == (5, "Be brief.", 0.5)


@pytest.mark.parametrize("version", [LEGACY[-1], MODERN[-1]])
@pytest.mark.parametrize(
    ("given", "hints"),
    [
        ("claude", [{"name": "claude"}]),
        (["claude", "gpt"], [{"name": "claude"}, {"name": "gpt"}]),
        (ModelPreferences(hints=[ModelHint(name="x")]), [{"name": "x"}]),
    ],
    ids=str,
)
async def test_models_may_be_preferred_by_name(given: Any, hints: JSON, version: str) -> None:
    caller = await calling(lambda ctx: ctx.sample("Hello", model_preferences=given), version, said("Hi"))
    await caller.call("run")
    assert caller.asked[0][1]["modelPreferences"] == {"hints": hints}


async def test_an_option_of_sampling_that_does_not_exist_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    options: Any = {"temprature": 1}
    caller = await calling(lambda ctx: ctx.sample("Hello", **options), MODERN[-1])
    assert (await caller.call("run"))["isError"]
    assert "temprature" in caplog.text


@pytest.mark.parametrize("version", SAMPLING)
async def test_a_model_may_be_offered_tools(version: str) -> None:
    async def handler(ctx: Context) -> str:
        messages = [SamplingMessage(role="user", content=[TextContent(text="a"), TextContent(text="b")])]
        tools = [Tool(name="t", input_schema={"type": "object"})]
        reply = await ctx.sample(messages, tools=tools, tool_choice=ToolChoice(mode="required"))
        return str(reply.stop_reason)

    answer = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}],
        "model": "m",
        "stopReason": "toolUse",
    }
    caller = await calling(handler, version, answer)
    assert await caller.text("run") == "toolUse"
    assert caller.asked[0][1]["tools"][0]["name"] == "t"
    assert caller.asked[0][1]["toolChoice"] == {"mode": "required"}


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_roots_are_listed(version: str) -> None:
    async def handler(ctx: Context) -> str:
        return ",".join(root.uri for root in await ctx.roots())

    caller = await calling(handler, version, {"roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "b"}]})
    assert await caller.text("run") == "file:///a,file:///b"


# What the client did not declare.

QUESTIONS: dict[str, tuple[Handler, JSON, JSON]] = {
    "form": (lambda ctx: ctx.elicit("?", Person), {}, {"elicitation": {"form": {}}}),
    "form, but only urls": (
        lambda ctx: ctx.elicit("?", Person),
        {"elicitation": {"url": {}}},
        {"elicitation": {"form": {}}},
    ),
    "url": (lambda ctx: ctx.elicit_url("?", "https://a.example"), {"elicitation": {}}, {"elicitation": {"url": {}}}),
    "sample": (lambda ctx: ctx.sample("?"), {}, {"sampling": {}}),
    "sample with tools": (lambda ctx: ctx.sample("?", tools=[]), {"sampling": {}}, {"sampling": {"tools": {}}}),
    "roots": (lambda ctx: ctx.roots(), {}, {"roots": {}}),
}


@rows("name", QUESTIONS)
@rows("version", VERSIONS)
async def test_a_question_the_client_cannot_answer_is_the_specified_error_and_never_a_hang(
    name: str, version: str
) -> None:
    handler, can, required = QUESTIONS[name]
    caller = await calling(handler, version, can=can)
    if version in LEGACY:  # it has no error for this, and what has no code of its own agents do not show to the model
        result = await caller.call("run")
        assert result["isError"]
        assert "did not declare" in result["content"][0]["text"]
    else:
        error = await caller.error("tools/call", {"name": "run"})
        assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": required})
    assert caller.asked == []


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_handler_may_do_without(version: str) -> None:
    async def handler(ctx: Context) -> str:
        try:
            await ctx.roots()
        except MissingClientCapability:
            return "did without"
        raise AssertionError

    assert await (await calling(handler, version, can={})).text("run") == "did without"


@pytest.mark.parametrize("version", LEGACY[:2])
async def test_versions_without_forms_have_none_whatever_the_client_says(version: str) -> None:
    caller = await calling(lambda ctx: ctx.elicit("?", Person), version)
    assert (await caller.call("run"))["isError"]


# Several questions.


@pytest.mark.parametrize("version", ASKING)
async def test_one_question_after_the_other_in_both_eras(version: str) -> None:
    runs = 0

    async def handler(ctx: Context) -> str:
        nonlocal runs
        runs += 1
        first = await ctx.elicit("First?", Person)
        second = await ctx.sample(f"Second to {first.data.name if first.accepted else '-'}?")
        third = await ctx.roots()
        return f"{first.data.name if first.accepted else '-'} {second.text} {len(third)}"

    caller = await calling(handler, version, accept(name="Ada"), said("yes"), {"roots": []})
    assert await caller.text("run") == "Ada yes 0"
    assert len(caller.asked) == 3
    assert runs == (4 if caller.modern else 1)
    assert caller.rounds == runs


@pytest.mark.parametrize("version", ASKING)
async def test_keys_name_questions_whatever_their_order(version: str) -> None:
    async def handler(ctx: Context) -> str:
        first = await ctx.elicit("A?", PersonDict, key="a")
        second = await ctx.elicit("B?", PersonDict, key="b")
        again = await ctx.elicit("A?", PersonDict, key="a")
        assert first.data
        assert second.data
        assert again.data
        return f"{first.data['name']} {second.data['name']} {again.data['name']}"

    caller = await calling(handler, version, accept(name="1"), accept(name="2"))
    assert await caller.text("run") == "1 2 1"
    assert len(caller.asked) == 2


@pytest.mark.parametrize("version", ASKING)
async def test_two_questions_under_one_key_are_the_authors_mistake(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(ctx: Context) -> str:
        await ctx.elicit("A?", PersonDict, key="k")
        await ctx.elicit("B?", PersonDict, key="k")
        raise AssertionError

    caller = await calling(handler, version, *[accept(name="x")] * 9)
    result = await caller.call("run")
    assert result["isError"]
    assert "two questions have the key 'k'" in caplog.text


@pytest.mark.parametrize("version", ASKING)
@pytest.mark.parametrize("how", ["gather", "group"])
async def test_questions_may_be_asked_at_once(version: str, how: str) -> None:
    async def handler(ctx: Context) -> str:
        questions = [ctx.elicit(f"{number}?", PersonDict, key=f"k{number}") for number in range(3)]
        if how == "gather":
            answers = await asyncio.gather(*questions)
        else:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(question) for question in questions]
            answers = [task.result() for task in tasks]
        return " ".join(answer.data["name"] for answer in answers if answer.accepted)

    def answer(_method: str, params: JSON) -> JSON:
        return accept(name=f"to {params['message']}")

    caller = await Caller(serving(handler), version, answers=answer).open()
    assert await caller.text("run") == "to 0? to 1? to 2?"
    assert len(caller.asked) == 3
    if caller.modern and how == "group":
        assert caller.rounds == 2


@pytest.mark.parametrize("version", MODERN)
async def test_a_failure_beside_a_question_is_told(version: str) -> None:
    async def handler(ctx: Context) -> str:
        async def fails() -> None:
            raise ResourceNotFound("gone")

        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.roots())
            group.create_task(fails())
        raise AssertionError

    caller = await calling(handler, version)
    error = await caller.error("tools/call", {"name": "run"})
    assert error["message"] == "gone"


# Doing things once.


@pytest.mark.parametrize("version", ASKING)
async def test_what_is_done_once_is_not_done_again(version: str) -> None:
    done: list[int] = []

    def charge(amount: int) -> dict[str, int]:
        done.append(amount)
        return {"receipt": len(done)}

    async def charge_async(amount: int) -> list[int]:
        done.append(amount)
        return [amount]

    async def handler(ctx: Context) -> str:
        await ctx.elicit("Sure?", PersonDict)
        first = await ctx.once(charge, 5)
        second = await ctx.once(charge_async, 7, key="second")
        await ctx.elicit("Really?", PersonDict)
        return f"{first} {second}"

    caller = await calling(handler, version, accept(name="a"), accept(name="b"))
    assert await caller.text("run") == "{'receipt': 1} [7]"
    assert done == [5, 7]


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_cannot_be_kept_cannot_be_done_once(version: str) -> None:
    async def handler(ctx: Context) -> str:
        await ctx.once(object)
        return ""

    assert (await (await calling(handler, version)).call("run"))["isError"]


# From a thread.


@pytest.mark.parametrize("version", ASKING)
async def test_a_def_handler_uses_the_context_too(version: str) -> None:
    server = Server("s")

    @server.tool
    def run(ctx: Context) -> str:
        ctx.wait(ctx.progress(1))
        answer = ctx.wait(ctx.elicit("Who?", Person))
        ctx.wait(ctx.progress(2))
        return answer.data.name if answer.accepted else answer.action

    caller = await Caller(server, version, answers=fixed(accept(name="Ada"))).open()
    assert await caller.text("run", token=1) == "Ada"
    assert caller.progress()[-1] == 2


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_error_comes_back_to_the_thread(version: str) -> None:
    server = Server("s")

    @server.tool
    def run(ctx: Context) -> str:
        try:
            ctx.wait(ctx.roots())
        except MissingClientCapability:
            return "did without"
        raise AssertionError

    assert await (await Caller(server, version, can={}).open()).text("run") == "did without"


async def test_a_cancelled_request_lets_go_of_its_thread_and_of_its_question() -> None:
    server, ends, gate = Server("s"), list[str](), threading.Event()

    @server.tool
    def run(ctx: Context) -> str:
        try:
            ctx.wait(ctx.elicit("Who?", Person))
        except asyncio.CancelledError:
            ends.append("waited no more")
        try:
            ctx.wait(ctx.info("more"))
        except asyncio.CancelledError:
            ends.append("could not go on")
        gate.set()
        return "nobody reads this"

    asking = asyncio.Event()

    async def on_elicit(_: ElicitParams) -> None:
        asking.set()
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("asked no more")

    async with Client(Joined(server), protocol=LEGACY[-1], on_elicit=on_elicit, timeout=5) as client:
        calling = asyncio.create_task(client.call_tool("run"))
        await asking.wait()
        calling.cancel()
        await until(gate.is_set)
        await until(lambda: len(ends) == 3)
    assert sorted(ends) == ["asked no more", "could not go on", "waited no more"]


async def test_waiting_on_the_loop_itself_is_refused_instead_of_hanging_for_ever() -> None:
    async def handler(ctx: Context) -> str:
        ctx.wait(ctx.info("never"))
        return ""

    result = await (await calling(handler, LEGACY[0])).call("run")
    assert result["isError"]


# Reading one's own resources, telling of changes.


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_handler_reads_resources_of_its_own_server(version: str) -> None:
    async def handler(ctx: Context) -> str:
        (contents,) = await ctx.read_resource("data://x/7")
        try:
            await ctx.read_resource("data://nope")
        except ResourceNotFound:
            return str(contents.text)
        raise AssertionError

    server = serving(handler)

    @server.resource("data://x/{n}")
    async def x(n: int, ctx: Context) -> str:
        return f"{n} for {ctx.method}"

    assert await (await Caller(server, version).open()).text("run") == "7 for tools/call"


@pytest.mark.parametrize("version", ASKING)
async def test_a_resource_may_ask_while_a_tool_reads_it(version: str) -> None:
    async def handler(ctx: Context) -> str:
        first = await ctx.elicit("Tool?", PersonDict)
        (contents,) = await ctx.read_resource("data://x")
        return f"{first.data and first.data['name']} {contents.text}"

    server = serving(handler)

    @server.resource("data://x")
    async def x(ctx: Context) -> str:
        answer = await ctx.elicit("Resource?", PersonDict)
        return answer.data["name"] if answer.data else ""

    caller = await Caller(server, version, answers=fixed(accept(name="t"), accept(name="r"))).open()
    assert await caller.text("run") == "t r"


async def test_a_resource_that_asks_by_hand_cannot_be_read_by_a_handler() -> None:
    async def handler(ctx: Context) -> str:
        try:
            await ctx.read_resource("data://x")
        except LocalProtocolError as error:
            return str(error)
        raise AssertionError

    server = serving(handler)

    def asking(ctx: Context) -> InputRequired:
        return InputRequired({"q": None})

    server.add_resource(asking, "data://x")
    assert "data://x" in await (await Caller(server).open()).text("run")


CHANGES: list[tuple[Handler, str]] = [
    (lambda ctx: ctx.notify_tools_changed(), "notifications/tools/list_changed"),
    (lambda ctx: ctx.notify_prompts_changed(), "notifications/prompts/list_changed"),
    (lambda ctx: ctx.notify_resources_changed(), "notifications/resources/list_changed"),
]


@pytest.mark.parametrize(("handler", "method"), CHANGES, ids=[method for _, method in CHANGES])
@pytest.mark.parametrize("version", LEGACY)
async def test_a_session_hears_of_changes(handler: Handler, method: str, version: str) -> None:
    server = serving(handler)
    server.add_prompt(lambda: "p", name="p")
    server.add_resource(lambda: "a", "data://a")
    caller = await Caller(server, version).open()
    await caller.call("run")
    assert caller.pushed == [{"jsonrpc": "2.0", "method": method}]
    assert caller.notes == []


@pytest.mark.parametrize("version", LEGACY)
async def test_a_session_hears_of_the_resources_it_subscribed_to(version: str) -> None:
    server = serving(lambda ctx: ctx.notify_resource_updated("data://a"))
    server.add_resource(lambda: "a", "data://a")
    caller = await Caller(server, version).open()
    await caller.call("run")
    assert caller.pushed == []
    assert await caller.result("resources/subscribe", {"uri": "data://a"}) == {}
    await caller.call("run")
    assert caller.pushed == [
        {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "data://a"}}
    ]
    assert await caller.result("resources/unsubscribe", {"uri": "data://a"}) == {}
    assert await caller.result("resources/unsubscribe", {"uri": "data://never"}) == {}
    await caller.call("run")
    assert len(caller.pushed) == 1


# By hand.


@pytest.mark.parametrize("version", ASKING)
async def test_a_handler_may_ask_several_questions_by_hand(version: str) -> None:
    runs = 0

    async def handler(ctx: Context) -> Any:
        nonlocal runs
        runs += 1
        if not ctx.answers:
            assert ctx.state == ""
            form = ElicitParams(message="Who?", requested_schema=SCHEMA)
            return InputRequired({"who": form, "where": None}, state="halfway")
        assert ctx.state == "halfway"
        return f"{ctx.answers['who']['content']['name']} {len(ctx.answers['where']['roots'])}"

    caller = await calling(handler, version, accept(name="Ada"), {"roots": []})
    assert await caller.text("run") == "Ada 0"
    assert runs == 2
    assert [method for method, _ in caller.asked] == ["elicitation/create", "roots/list"]


@pytest.mark.parametrize("version", ASKING)
async def test_what_was_asked_and_done_before_is_kept_when_a_handler_asks_by_hand(version: str) -> None:
    done: list[str] = []

    async def handler(ctx: Context) -> Any:
        first = await ctx.elicit("First?", PersonDict)
        await ctx.once(done.append, "once")
        if "hand" not in ctx.answers:
            return InputRequired({"hand": None}, state="s")
        last = await ctx.elicit("Last?", PersonDict)
        return f"{first.data and first.data['name']} {last.data and last.data['name']}"

    caller = await calling(handler, version, accept(name="a"), {"roots": []}, accept(name="z"))
    assert await caller.text("run") == "a z"
    assert done == ["once"]
    assert len(caller.asked) == 3


@pytest.mark.parametrize("version", VERSIONS)
async def test_asking_by_hand_needs_the_capability_too(version: str) -> None:
    async def handler(_: Context) -> Any:
        return InputRequired({"where": None})

    caller = await calling(handler, version, can={})
    error = await caller.error("tools/call", {"name": "run"})
    assert error["code"] == FACTS[version].code_of(-32021)


@pytest.mark.parametrize("version", LEGACY)
async def test_a_handler_that_never_stops_asking_is_stopped(version: str) -> None:
    async def handler(_: Context) -> Any:
        return InputRequired({"where": None})

    caller = await Caller(serving(handler), version, answers=lambda _m, _p: {"roots": []}).open()
    assert (await caller.error("tools/call", {"name": "run"}))["code"] == -32603
    assert len(caller.asked) == 16
