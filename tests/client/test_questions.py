"""What a server asks, and the functions that answer: as requests, and as questions of a result."""

import asyncio
import dataclasses
import datetime as dt
import enum
import re
from pathlib import Path
from typing import Any

import msgspec
import pydantic
import pytest

from splice import Client, Context, Server
from splice.client.notices import Notices
from splice.client.questions import (
    CAN,
    MAX_QUESTIONS,
    MAX_VISITS,
    AnyRoot,
    ElicitAnswer,
    Question,
    Questions,
    Roots,
)
from splice.errors import InternalError, LocalProtocolError, RemoteProtocolError, RPCError, Unanswered
from splice.protocol.capabilities import ClientCapabilities
from splice.protocol.content import TextContent, ToolResultContent, ToolUseContent
from splice.protocol.jsonrpc import Notification, Request, Success, raw
from splice.protocol.methods import Method
from splice.protocol.questions import CreateMessageResult, ElicitParams, ElicitResult, InputRequest, Root
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE, LATEST_MODERN
from splice.protocol.wire import Params, Result
from splice.rules.extensions import Extension, Served
from support.tables import rows

ABSENT: Any = object()
FORM = {
    "message": "?",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 3}},
    },
}
URL = {"mode": "url", "message": "?", "url": "https://h/", "elicitationId": "1"}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 5}


def chapter(
    on_elicit: Any = None,
    on_sample: Any = None,
    roots: Any = None,
    can: Any = None,
    on_elicit_complete: Any = None,
    extensions: Any = (),
) -> Questions:
    return Questions(
        {
            "on_elicit": on_elicit,
            "on_sample": on_sample,
            "roots": roots,
            "can": can,
            "on_elicit_complete": on_elicit_complete,
            "extensions": extensions,
        }
    )


async def ask(questions: Questions, method: str, params: Any = ABSENT, version: str = LATEST_HANDSHAKE) -> Any:
    sent = None if params is ABSENT else raw(params)
    response = await questions.answer(Request("q", method, sent), FACTS[version])
    assert response.id == "q"
    if isinstance(response, Success):
        return msgspec.to_builtins(response.result)
    return response.error.code, response.error.message


def elicit(answer: Any) -> Questions:
    return chapter(lambda _: answer, None, None)


@pytest.mark.requirement(375)
def test_what_is_declared_follows_from_the_handlers() -> None:
    def declared(questions: Questions) -> Any:
        capabilities = ClientCapabilities()
        questions.declare(capabilities)
        return msgspec.to_builtins(capabilities)

    assert declared(chapter(None, None, None)) == {}
    assert declared(elicit(None)) == {"elicitation": {"form": {}}}
    assert declared(chapter(None, lambda _: None, None)) == {"sampling": {}}
    assert declared(chapter(lambda _: None, lambda _: None, None, CAN)) == {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}, "context": {}},
    }
    assert declared(chapter(None, None, ())) == {"roots": {"listChanged": True}}


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "roots/list", "tools/list", "x"])
@pytest.mark.requirement(346)
async def test_what_was_not_declared_is_not_found(method: str) -> None:
    assert (await ask(chapter(None, None, None), method, {}))[0] == -32601


async def test_what_the_version_lacks_is_not_found() -> None:
    assert (await ask(elicit("accept"), "elicitation/create", FORM, "2025-03-26"))[0] == -32601


@pytest.mark.requirement(260)
async def test_ping_is_always_answered() -> None:
    assert await ask(chapter(None, None, None), "ping") == {}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"name": "Ann"}, {"action": "accept", "content": {"name": "Ann", "age": 3}}),
        ({"age": 5}, {"action": "accept", "content": {"age": 5}}),
        ("accept", {"action": "accept", "content": {"age": 3}}),
        ("decline", {"action": "decline"}),
        ("cancel", {"action": "cancel"}),
        (None, {"action": "decline"}),
        (
            ElicitResult(action="accept", content={"name": "B"}),
            {"action": "accept", "content": {"name": "B", "age": 3}},
        ),
        (ElicitResult(action="decline", content={"name": "B"}), {"action": "decline"}),
        (ElicitResult(action="cancel", meta={"a": 1}), {"action": "cancel", "_meta": {"a": 1}}),
    ],
)
@pytest.mark.requirement(378)
async def test_what_a_form_may_be_answered_with(answer: Any, expected: Any) -> None:
    assert await ask(elicit(answer), "elicitation/create", FORM) == expected


async def test_handlers_may_be_async_and_see_the_question() -> None:
    seen: list[ElicitParams] = []

    async def answer(params: ElicitParams) -> ElicitAnswer:
        seen.append(params)
        return "accept"

    assert await ask(chapter(answer, None, None, CAN), "elicitation/create", URL) == {"action": "accept"}
    assert seen[0].url == "https://h/"


@pytest.mark.requirement(389)
@pytest.mark.parametrize(("can", "version"), [(CAN, "2025-06-18"), ((), LATEST_HANDSHAKE)])
async def test_a_mode_that_was_not_declared(can: Any, version: str) -> None:
    questions = chapter(lambda _: "accept", None, None, can)
    code, message = await ask(questions, "elicitation/create", URL, version)
    assert code == -32602
    assert "URL" in message


@pytest.mark.parametrize("params", [ABSENT, {}, {"message": 5}, {"message": "?"}, [], None])
async def test_malformed_questions(params: Any) -> None:
    assert (await ask(elicit("accept"), "elicitation/create", params))[0] == -32602


@pytest.mark.parametrize("answer", [5, "maybe", [1]])
async def test_an_answer_that_is_none(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert await ask(elicit(answer), "elicitation/create", FORM) == (-32603, "The client's handler failed: TypeError")
    assert "on_elicit returned" in caplog.text


@pytest.mark.parametrize("answer", [5, ["x"], {"role": "assistant"}], ids=str)
async def test_a_samples_answer_that_is_none(answer: Any) -> None:
    questions = chapter(None, lambda _: answer, None)
    asked = InputRequest(method="sampling/createMessage", params=raw(SAMPLE))
    with pytest.raises(
        TypeError,
        match=r"^on_sample returned .*; return text, content blocks, a CreateMessageResult, or None to refuse$",
    ):
        await answer_all(questions, a=asked)


@pytest.mark.parametrize(("protocol", "chain"), [("legacy", 1), ("modern", 0)])
async def test_in_one_process_the_cause_of_a_bad_form_is_chained(protocol: str, chain: int) -> None:
    server = Server("s")

    @server.tool
    async def ask_age(ctx: Context) -> str:
        return str((await ctx.elicit("Age?", int)).data)

    async with Client(server, protocol=protocol, on_elicit=lambda _: {"value": "old"}) as client:
        with pytest.raises((InternalError, LocalProtocolError)) as told:
            await client.call_tool("ask_age")
    cause = told.value.__cause__ if chain else told.value
    assert isinstance(cause, LocalProtocolError)
    assert "value: expected integer" in str(cause)


@pytest.mark.requirement(346)
async def test_a_handler_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Any) -> None:
        raise RuntimeError("secret")

    answer = await ask(chapter(None, fail, None), "sampling/createMessage", SAMPLE)
    assert answer == (-32603, "The client's handler failed: RuntimeError")
    assert "secret" in caplog.text


async def test_a_handler_that_refuses_in_its_own_words() -> None:
    def refuse(_: Any) -> None:
        raise RPCError("not today", code=-1)

    assert await ask(chapter(refuse, None, None), "elicitation/create", FORM) == (-1, "not today")


async def test_what_a_model_said() -> None:
    questions = chapter(None, lambda params: f"{params.max_tokens} tokens", None)
    assert await ask(questions, "sampling/createMessage", SAMPLE) == {
        "role": "assistant",
        "content": {"type": "text", "text": "5 tokens"},
        "model": "unknown",
        "stopReason": "endTurn",
    }
    whole = CreateMessageResult(role="assistant", content=TextContent(text="hi"), model="m")
    assert (await ask(chapter(None, lambda _: whole, None), "sampling/createMessage", SAMPLE))["model"] == "m"


@pytest.mark.requirement(364)
async def test_the_user_does_not_want_a_model_to_be_asked() -> None:
    assert (await ask(chapter(None, lambda _: None, None), "sampling/createMessage", SAMPLE))[0] == -1


@pytest.mark.parametrize("more", [{"tools": []}, {"toolChoice": {"mode": "auto"}}])
@pytest.mark.requirement(369)
async def test_sampling_with_tools_was_not_declared(more: Any) -> None:
    questions = chapter(None, lambda _: "x", None)
    code, message = await ask(questions, "sampling/createMessage", {**SAMPLE, **more})
    assert code == -32602
    assert "tools" in message


async def test_roots_in_every_form(tmp_path: Path) -> None:
    given: list[AnyRoot] = [Root(uri="file:///a", name="a"), "file:///b", str(tmp_path), tmp_path]
    here = {"uri": tmp_path.as_uri()}
    expected = [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b"}, here, here]

    async def later() -> list[AnyRoot]:
        return given

    forms: list[Roots] = [given, lambda: given, later]
    for roots in forms:
        assert await ask(chapter(None, None, roots), "roots/list", {}) == {"roots": expected}
    assert await ask(chapter(None, None, []), "roots/list") == {"roots": []}


async def answer_all(questions: Questions, **asked: InputRequest) -> Any:
    answers = await questions.answer_all(asked, FACTS[LATEST_MODERN])
    return {key: msgspec.json.decode(answer) for key, answer in answers.items()}


async def test_questions_of_a_result_are_answered_by_the_same_functions() -> None:
    asked = {"a": InputRequest(method="elicitation/create", params=raw(FORM)), "b": InputRequest(method="roots/list")}
    answers = await answer_all(chapter(lambda _: "accept", None, ["file:///r"]), **asked)
    assert answers == {"a": {"action": "accept", "content": {"age": 3}}, "b": {"roots": [{"uri": "file:///r"}]}}


@pytest.mark.parametrize("method", ["elicitation/create", "ping", "x"])
async def test_a_question_of_a_result_that_nothing_answers(method: str) -> None:
    with pytest.raises(Unanswered, match=f"asks for {method}, which nothing here answers"):
        await answer_all(chapter(None, None, None), a=InputRequest(method=method))


@pytest.mark.parametrize(
    ("questions", "method", "params"),
    [
        (elicit(None), "elicitation/create", {}),
        (chapter(None, lambda _: None, None), "sampling/createMessage", SAMPLE),
        (chapter(None, lambda _: "x", None), "sampling/createMessage", {**SAMPLE, "tools": []}),
    ],
)
async def test_a_question_of_a_result_that_is_refused_is_no_error_of_the_servers(
    questions: Questions, method: str, params: Any
) -> None:
    with pytest.raises(Unanswered, match=f"{method} was not answered: ") as caught:
        await answer_all(questions, a=InputRequest(method=method, params=raw(params)))
    assert isinstance(caught.value.__cause__, RPCError)
    assert not isinstance(caught.value, RPCError)


class EchoParams(Params, kw_only=True):
    text: str


class EchoResult(Result, kw_only=True):
    text: str


ECHO = Method(name="example/echo", params=EchoParams, result=EchoResult)


async def test_an_extension_answers_its_own_method_in_both_forms() -> None:
    seen: list[Question] = []

    async def echo(question: Question) -> EchoResult:
        seen.append(question)
        return EchoResult(text=question.params.text)

    extension = Extension[Question]("com.example/echo", settings={"loud": True}, methods=[Served(ECHO, echo)])
    request = raw({"text": "hi", "more": 1})
    questions = chapter(extensions=[extension])
    response = await questions.answer(Request(1, ECHO.name, request), FACTS[LATEST_HANDSHAKE])
    assert response == Success(1, EchoResult(text="hi"))
    assert await answer_all(questions, a=InputRequest(method=ECHO.name, params=request)) == {"a": {"text": "hi"}}
    assert [bytes(question.raw or b"") for question in seen] == [bytes(request)] * 2
    assert {question.row for question in seen} == {ECHO}
    assert [question.facts.version for question in seen] == [LATEST_HANDSHAKE, LATEST_MODERN]


@pytest.mark.parametrize(
    ("roots", "error", "said"),
    [
        ("/home", TypeError, "roots are a list of places, not the text '/home'"),
        (["https://h/"], ValueError, "such as Path.as_uri() writes, not 'https://h/'"),
        (
            [Root(uri="data:x")],
            ValueError,
            "a root is a path or a file:// URI, such as Path.as_uri() writes, not 'data:x'",
        ),
        *(([uri], ValueError, f"not {uri!r}") for uri in ("file:///a b", "file://[", "file:///%zz")),
        *(([uri], ValueError, f"not {uri!r}") for uri in ("file:///a/../b", "file:///a/%2E%2e/b")),
        *(([place], ValueError, f"not {place!r}") for place in (5, {"uri": "file:///a"})),
    ],
)
@pytest.mark.requirement(345, 347)
async def test_odd_roots_are_refused_where_they_are_given(roots: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        chapter(None, None, roots)
    with pytest.raises(error, match=re.escape(said)):
        await answer_all(chapter(None, None, lambda: roots), a=InputRequest(method="roots/list"))


# What a server may not ask, and what may not be answered.


def use(id: str) -> Any:
    return {"type": "tool_use", "id": id, "name": "t", "input": {}}


def used(id: str) -> Any:
    return {"type": "tool_result", "toolUseId": id, "content": []}


TEXT = {"type": "text", "text": "?"}
USES, USED = {"role": "assistant", "content": [use("1"), use("2")]}, {"role": "user", "content": [used("1"), used("2")]}


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([USES, {"role": "user", "content": [used("1"), used("2"), TEXT]}], "mixed with other content in messages[1]"),
        ([USES, {"role": "user", "content": used("1")}], "uses ['1', '2'] are due in messages[1], not of ['1']"),
        ([USES, {"role": "user", "content": TEXT}, USED], "uses ['1', '2'] are due in messages[1], not of []"),
        ([USED], "uses [] are due in messages[0], not of ['1', '2']"),
        ([USES], "uses ['1', '2'] are due at the end, not of []"),
    ],
)
@pytest.mark.requirement(358, 359, 364)
async def test_a_conversation_whose_tools_are_out_of_balance_reaches_no_model(messages: Any, said: str) -> None:
    seen: list[Any] = []
    questions = chapter(None, seen.append, None)
    code, message = await ask(questions, "sampling/createMessage", {**SAMPLE, "messages": messages})
    assert (code, seen) == (-32602, [])
    assert said in message


async def test_a_conversation_with_balanced_tools_reaches_the_model() -> None:
    messages = [{"role": "user", "content": TEXT}, USES, USED, {"role": "assistant", "content": TEXT}]
    answer = await ask(chapter(None, lambda _: "x", None), "sampling/createMessage", {**SAMPLE, "messages": messages})
    assert answer["content"] == {"type": "text", "text": "x"}


AGE = {"type": "object", "properties": {"age": {"type": "integer"}, "nick": {"type": "string"}}, "required": ["age"]}


@pytest.mark.parametrize(("content", "said"), [({"age": "old"}, "age: expected integer"), ({}, "age: required")])
async def test_a_form_is_checked_before_it_is_sent(content: Any, said: str, caplog: pytest.LogCaptureFixture) -> None:
    form = {"message": "?", "requestedSchema": AGE}
    with pytest.raises(LocalProtocolError, match=f"on_elicit filled in what the form does not take: {said}"):
        await answer_all(elicit(content), a=InputRequest(method="elicitation/create", params=raw(form)))
    assert (await ask(elicit(content), "elicitation/create", form))[0] == -32603
    assert said in caplog.text


async def test_a_field_left_empty_is_not_sent() -> None:
    form = {"message": "?", "requestedSchema": AGE}
    answer = await ask(elicit({"age": 5, "nick": None}), "elicitation/create", form)
    assert answer == {"action": "accept", "content": {"age": 5}}


@pytest.mark.requirement(347)
async def test_a_path_leads_where_it_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    there = {"uri": (tmp_path / "there").as_uri()}
    answer = await ask(chapter(None, None, ["../there", Path("../there"), "a/../../there/"]), "roots/list")
    assert answer == {"roots": [there, there, there]}


@pytest.mark.parametrize("fail", [lambda: 1 / 0, lambda: None, lambda: ["https://h/"]], ids=["raises", "none", "odd"])
async def test_roots_that_cannot_be_told(fail: Any, caplog: pytest.LogCaptureFixture) -> None:
    code, message = await ask(chapter(None, None, fail), "roots/list")
    assert code == -32603
    assert message.startswith("The client's handler failed: ")
    assert "the handler of roots/list failed" in caplog.text
    with pytest.raises((ZeroDivisionError, TypeError, ValueError)):
        await answer_all(chapter(None, None, fail), a=InputRequest(method="roots/list"))


async def test_a_form_that_nobody_can_fill_in_is_refused() -> None:
    form = {"message": "?", "requestedSchema": {"type": "banana"}}
    asked: list[ElicitParams] = []
    code, message = await ask(chapter(asked.append, None, None), "elicitation/create", form)
    assert (code, asked) == (-32602, [])
    assert message.startswith("Invalid params: the form cannot be used: ")


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_lists_of_choices_come_with_a_version(version: str) -> None:
    field = {"type": "array", "items": {"type": "string", "enum": ["a"]}}
    form = {"message": "?", "requestedSchema": {"type": "object", "properties": {"f": field}}}
    answer = await ask(elicit({"f": ["a"]}), "elicitation/create", form, version)
    if FACTS[version].rich_forms:
        assert answer == {"action": "accept", "content": {"f": ["a"]}}
    else:
        assert answer[0] == -32602


class Size(enum.Enum):
    SMALL = "s"


@dataclasses.dataclass
class AsDataclass:
    day: dt.date
    size: Size
    note: str | None = None


class AsStruct(msgspec.Struct, rename="lower"):
    DAY: dt.date
    SIZE: Size


class AsModel(pydantic.BaseModel):
    day: dt.date
    its_size: Size = pydantic.Field(alias="size")


DAY = dt.date(2026, 7, 28)
FILLED: list[Any] = [
    AsDataclass(DAY, Size.SMALL),
    AsStruct(DAY, Size.SMALL),
    AsModel(day=DAY, size=Size.SMALL),
    {"day": DAY, "size": Size.SMALL},
    ElicitResult(action="accept", content={"day": "2026-07-28", "size": "s"}),
]


@pytest.mark.parametrize("filled", FILLED, ids=lambda it: type(it).__name__)
async def test_a_form_may_be_filled_in_by_an_object(filled: Any) -> None:
    fields = {
        "day": {"type": "string", "format": "date"},
        "size": {"type": "string", "enum": ["s"]},
        "note": {"type": "string"},
    }
    form = {"message": "?", "requestedSchema": {"type": "object", "properties": fields, "required": ["day"]}}
    answer = await ask(elicit(filled), "elicitation/create", form)
    assert answer == {"action": "accept", "content": {"day": "2026-07-28", "size": "s"}}


# URLs.


@rows(
    "url",
    [
        "",
        "example.com",
        "/sign-in",
        "ftp://a.example",
        "javascript:alert(1)",
        " https://a.example",
        "https://",
        "https:///path",
        "https://user:password@a.example",
        "https://good.example@a.example/",
        "https://good.example\\@a.example/",
        "https://a.example\\.good.example/",
        "https://a.example/\n",
        "data:text/html,x",
        "file:///etc/passwd",
    ],
)
@pytest.mark.requirement(382, 405)
async def test_nobody_is_sent_to_such_a_url(url: str) -> None:
    asked: list[ElicitParams] = []
    questions = chapter(asked.append, None, None, CAN)
    code, message = await ask(questions, "elicitation/create", {**URL, "url": url})
    assert (code, asked) == (-32602, [])
    assert "`url` must be" in message
    with pytest.raises(Unanswered, match="`url` must be"):
        await answer_all(questions, a=InputRequest(method="elicitation/create", params=raw({**URL, "url": url})))


@pytest.mark.parametrize(
    "url", ["https://a.example", "HTTP://a.example:1?x", "https://a.example/@x#y", "http://[::1]/"]
)
async def test_urls_that_may_be_visited(url: str) -> None:
    questions = chapter(lambda _: "accept", None, None, CAN)
    assert await ask(questions, "elicitation/create", {**URL, "url": url}) == {"action": "accept"}


@pytest.mark.requirement(385)
async def test_the_end_of_a_visit_is_told_once_with_its_question() -> None:
    told: list[ElicitParams] = []
    questions = chapter(lambda _: "accept", None, None, CAN, told.append)
    notices = Notices(None, None, [questions])
    for id in ("wanted", "open"):
        await ask(questions, "elicitation/create", {**URL, "elicitationId": id})
    await answer_all(questions, a=InputRequest(method="elicitation/create", params=raw({**URL, "elicitationId": None})))
    for id in ("unheard-of", "wanted", "wanted", ""):
        note = Notification("notifications/elicitation/complete", raw({"elicitationId": id}))
        await notices.hear(note, LATEST_HANDSHAKE)
    assert [each.elicitation_id for each in told] == ["wanted"]
    assert told[0].url == URL["url"]


async def test_only_so_many_visits_are_remembered() -> None:
    told: list[ElicitParams] = []
    questions = chapter(lambda _: "accept", None, None, CAN, told.append)
    for id in range(MAX_VISITS + 1):
        questions.expect(ElicitParams(mode="url", message="?", url="https://a.example", elicitation_id=str(id)))
    for id in (0, 1):
        note = Notification("notifications/elicitation/complete", raw({"elicitationId": str(id)}))
        await Notices(None, None, [questions]).hear(note, LATEST_HANDSHAKE)
    assert [each.elicitation_id for each in told] == ["1"]


# Models that use tools.

TOOL = {"name": "add", "inputSchema": {"type": "object"}}
OFFER = {**SAMPLE, "tools": [TOOL, {**TOOL, "name": "sub"}]}


def tool_use(id: str = "1", name: str = "add") -> ToolUseContent:
    return ToolUseContent(id=id, name=name, input={})


def said_by(*blocks: Any, stop: str | None = None) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=list(blocks), model="m", stop_reason=stop)


@pytest.mark.requirement(354, 360)
@rows("version", [LATEST_HANDSHAKE, LATEST_MODERN])
@rows(
    ("choice", "answer", "stop"),
    [
        (None, "no need", "endTurn"),
        ("auto", tool_use(), "toolUse"),
        ("required", [tool_use(), tool_use("2", "sub")], "toolUse"),
        ("required", [TextContent(text="I add"), tool_use()], "toolUse"),
        ("none", TextContent(text="done"), "endTurn"),
        ("auto", said_by(tool_use(), stop="maxTokens"), "maxTokens"),
    ],
)
async def test_a_model_may_use_the_tools_it_is_offered(choice: Any, answer: Any, stop: str, version: str) -> None:
    questions = chapter(None, lambda _: answer, None, ["sampling.tools"])
    params = {**OFFER, **({"toolChoice": {"mode": choice}} if choice else {})}
    if version == LATEST_HANDSHAKE:
        result = await ask(questions, "sampling/createMessage", params)
    else:
        asked = InputRequest(method="sampling/createMessage", params=raw(params))
        result = (await answer_all(questions, a=asked))["a"]
    assert result["stopReason"] == stop


@pytest.mark.requirement(359, 360)
@pytest.mark.parametrize(
    ("more", "answer", "told"),
    [
        ({}, tool_use(name="div"), "tools offered are add, sub"),
        ({}, [tool_use(), tool_use()], "each use has its own id"),
        ({}, ToolResultContent(tool_use_id="1", content=[]), "tools offered are add, sub"),
        ({}, said_by(TextContent(text="x"), stop="toolUse"), "0 tools are used"),
        ({"toolChoice": {"mode": "required"}}, "no", "0 tools are used, but toolChoice is required"),
        ({"toolChoice": {"mode": "none"}}, tool_use(), "1 tools are used, but toolChoice is none"),
        ({"tools": None}, tool_use(), "tools offered are none"),
    ],
    ids=str,
)
async def test_what_a_model_may_not_do_with_tools(more: Any, answer: Any, told: str) -> None:
    questions = chapter(None, lambda _: answer, None, ["sampling.tools"])
    asked = InputRequest(method="sampling/createMessage", params=raw({**OFFER, **more}))
    with pytest.raises(LocalProtocolError, match=f"on_sample answered what the request does not allow: .*{told}"):
        await answer_all(questions, a=asked)


async def test_tools_exist_since_a_version() -> None:
    questions = chapter(None, lambda _: "x", None, CAN)
    assert (await ask(questions, "sampling/createMessage", OFFER, "2025-06-18"))[0] == -32602
    assert (await ask(questions, "sampling/createMessage", SAMPLE, "2025-06-18"))["model"] == "unknown"


# Several questions.


async def test_questions_are_asked_in_order_and_after_a_failure_no_more() -> None:
    seen: list[Any] = []

    async def on_elicit(params: ElicitParams) -> Any:
        seen.append(params.message)
        await asyncio.sleep(0)
        if params.message == "b":
            raise KeyError("mine")
        return "accept"

    questions = chapter(on_elicit, lambda _: seen.append("sampled"), None)
    asked = {
        key: InputRequest(method="elicitation/create", params=raw({**FORM, "message": key})) for key in ("a", "b", "c")
    }
    with pytest.raises(KeyError, match="mine"):
        await answer_all(questions, **asked, d=InputRequest(method="sampling/createMessage", params=raw(SAMPLE)))
    assert seen == ["a", "b"]


async def test_too_many_questions_are_none() -> None:
    asked = {str(number): InputRequest(method="roots/list") for number in range(MAX_QUESTIONS + 1)}
    with pytest.raises(RemoteProtocolError, match="asks 101 questions at once, more than 100"):
        await answer_all(chapter(None, None, []), **asked)
