"""Prompts: messages, arguments, failures."""
# ruff: noqa: ARG005 - what parameters are called is all that counts of them

import asyncio
import threading
from typing import Annotated, Any

import pydantic
import pytest

from splice import Context, Image, InputRequired, Local, Server, ToolError
from splice.errors import InvalidParams
from splice.protocol.completion import Completion
from splice.protocol.content import TextContent
from splice.protocol.prompts import GetPromptResult, Prompt, PromptMessage
from splice.protocol.versions import VERSIONS
from splice.protocol.wire import Icon
from support.caller import ASKING, LEGACY, MODERN, Caller, accept, fixed
from support.tables import rows
from support.wire import JSON

NEWEST = VERSIONS[-1]


def text(value: str, role: str = "user") -> JSON:
    return {"role": role, "content": {"type": "text", "text": value}}


async def test_decorated_with_and_without_parentheses_and_listed_with_all_it_says() -> None:
    server = Server("s")

    @server.prompt
    def bare(code: Annotated[str, "What to look at"], language: str = "python") -> str:
        """Review code."""
        return f"{language}: {code}"

    @server.prompt(name="other", title="T", description="D", icons=[Icon(src="data:,")], meta={"a": 1})
    def named() -> str:
        return "x"

    assert bare("x") == "python: x"
    caller = await Caller(server, NEWEST).open()
    first, second = (await caller.result("prompts/list"))["prompts"]
    assert first == {
        "name": "bare",
        "description": "Review code.",
        "arguments": [
            {"name": "code", "description": "What to look at", "required": True},
            {"name": "language", "required": False},
        ],
    }
    assert second == {
        "name": "other",
        "title": "T",
        "description": "D",
        "icons": [{"src": "data:,"}],
        "_meta": {"a": 1},
    }
    result = await caller.result("prompts/get", {"name": "bare", "arguments": {"code": "1+1"}})
    assert result["messages"] == [text("python: 1+1")]
    assert result["description"] == "Review code."


MESSAGES: list[tuple[Any, list[JSON]]] = [
    ("text", [text("text")]),
    (["a", PromptMessage(role="assistant", content=TextContent(text="b"))], [text("a"), text("b", "assistant")]),
    (("a", "b"), [text("a"), text("b")]),
    ([], []),
    ({"a": 1}, [text('{"a":1}')]),
    (Image(b"x"), [{"role": "user", "content": {"type": "image", "data": "eA==", "mimeType": "image/png"}}]),
    (TextContent(text="t"), [text("t")]),
    (GetPromptResult(messages=[], description="mine"), []),
]


@rows(("value", "messages"), MESSAGES)
@rows("version", [LEGACY[0], NEWEST])
async def test_messages_of_every_kind(value: Any, messages: list[JSON], version: str) -> None:
    server = Server("s")

    @server.prompt
    async def prompt() -> Any:
        return value

    result = await (await Caller(server, version).open()).result("prompts/get", {"name": "prompt"})
    assert result["messages"] == messages
    assert result.get("description") == ("mine" if isinstance(value, GetPromptResult) else None)


@pytest.mark.parametrize(
    ("sent", "got"),
    [({"n": "5"}, (5, True)), ({"n": "-1", "flag": "false"}, (-1, False))],
)
async def test_arguments_are_text_and_become_what_the_function_wants(sent: JSON, got: Any) -> None:
    server, received = Server("s"), []

    @server.prompt
    def prompt(n: int, flag: bool = True) -> str:
        received.append((n, flag))
        return ""

    await (await Caller(server).open()).result("prompts/get", {"name": "prompt", "arguments": sent})
    assert received == [got]


@rows("version", VERSIONS)
@rows(
    "params",
    [
        {"name": "nope"},
        {"name": "prompt"},
        {"name": "prompt", "arguments": {"n": "x"}},
        {"name": "prompt", "arguments": {"n": "1", "bogus": "1"}},
        {"name": "prompt", "arguments": {"n": 1}},
        {"name": "prompt", "arguments": []},
        {},
    ],
)
async def test_a_wrong_name_and_wrong_arguments_are_invalid(version: str, params: JSON) -> None:
    server = Server("s")

    @server.prompt
    def prompt(n: int) -> str:
        return str(n)

    caller = await Caller(server, version).open()
    assert (await caller.error("prompts/get", params))["code"] == -32602


async def test_a_failure_is_internal_and_a_tool_error_tells_why() -> None:
    server = Server("s", errors="hidden")

    @server.prompt
    def prompt(kind: str) -> str:
        raise (ToolError("why") if kind == "told" else ValueError("secret"))

    caller = await Caller(server).open()
    told = await caller.error("prompts/get", {"name": "prompt", "arguments": {"kind": "told"}})
    assert (told["code"], told["message"]) == (-32603, "why")
    other = await caller.error("prompts/get", {"name": "prompt", "arguments": {"kind": "x"}})
    assert other["code"] == -32603
    assert "secret" not in other["message"]


@pytest.mark.parametrize("version", ASKING)
async def test_a_prompt_may_ask(version: str) -> None:
    server = Server("s")

    @server.prompt
    async def prompt(ctx: Context, topic: str) -> Any:
        answer = await ctx.elicit("Tone?", {"type": "object", "properties": {"tone": {"type": "string"}}})
        if not ctx.answers.get("roots"):
            return InputRequired({"roots": None})
        return f"{topic} {answer.data}"

    caller = await Caller(server, version, answers=fixed(accept(tone="dry"), {"roots": []})).open()
    result = await caller.result("prompts/get", {"name": "prompt", "arguments": {"topic": "rain"}})
    assert result["messages"] == [text("rain {'tone': 'dry'}")]


@pytest.mark.parametrize("version", MODERN)
async def test_a_failure_beside_a_question_is_told_alone(version: str) -> None:
    server = Server("s")

    @server.prompt
    async def prompt(ctx: Context) -> str:
        async def fails() -> None:
            raise InvalidParams("mine")

        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.roots())
            group.create_task(fails())
        return ""

    assert (await (await Caller(server, version).open()).error("prompts/get", {"name": "prompt"}))["message"] == "mine"


def test_a_prompt_can_be_removed() -> None:
    server = Server("s")
    server.add_prompt(lambda: "", name="p")
    with pytest.raises(ValueError, match="'p'"):
        server.add_prompt(lambda: "", name="p")
    server.remove_prompt("p")
    with pytest.raises(KeyError):
        server.remove_prompt("p")


# Completion: values for the arguments of prompts and templates.


def with_completions() -> Server:
    server = Server("s")

    @server.prompt
    def review(language: str, style: str = "") -> str:
        return ""

    @server.resource("data://{city}")
    def city(city: str) -> str:
        return city

    @server.completion("review", "language")
    def languages(value: str) -> list[str]:
        return [each for each in ("python", "pascal", "rust") if each.startswith(value)]

    @server.completion("review", "style")
    async def styles(value: str, known: dict[str, str]) -> list[str]:
        return [f"{known.get('language', '?')} {value}"]

    @server.completion("data://{city}", "city")
    def cities(value: str) -> list[int]:
        return list(range(250))

    return server


PROMPT = {"type": "ref/prompt", "name": "review"}


async def completed(version: str, ref: JSON, name: str, value: str, context: JSON = None) -> JSON:
    caller = await Caller(with_completions(), version).open()
    params: dict[str, JSON] = {"ref": ref, "argument": {"name": name, "value": value}}
    result = await caller.result("completion/complete", params if context is None else {**params, "context": context})
    return result["completion"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_arguments_are_completed(version: str) -> None:
    assert await completed(version, PROMPT, "language", "p") == {"values": ["python", "pascal"]}
    assert await completed(version, PROMPT, "language", "zz") == {"values": []}
    assert await completed(version, PROMPT, "style", "x") == {"values": ["? x"]}
    known = {"arguments": {"language": "rust"}}
    assert await completed(version, PROMPT, "style", "x", known) == {"values": ["rust x"]}


async def test_at_most_a_hundred_values_are_told() -> None:
    completion = await completed(NEWEST, {"type": "ref/resource", "uri": "data://{city}"}, "city", "")
    assert completion["values"] == [str(number) for number in range(100)]
    assert completion["total"] == 250
    assert completion["hasMore"] is True


async def test_what_nothing_completes_has_no_values() -> None:
    assert await completed(NEWEST, PROMPT, "nope", "") == {"values": []}


@pytest.mark.parametrize(
    "ref", [{"type": "ref/prompt", "name": "nope"}, {"type": "ref/resource", "uri": "data://nope/{x}"}], ids=str
)
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_reference_to_nothing_is_invalid(ref: JSON, version: str) -> None:
    caller = await Caller(with_completions(), version).open()
    params = {"ref": ref, "argument": {"name": "a", "value": ""}}
    assert (await caller.error("completion/complete", params))["code"] == -32602


@pytest.mark.parametrize("ref", [{"type": "ref/other", "name": "x"}, {}, None, "review"])
async def test_a_reference_of_another_kind_is_invalid(ref: JSON) -> None:
    caller = await Caller(with_completions()).open()
    params = {"ref": ref, "argument": {"name": "a", "value": ""}}
    assert (await caller.error("completion/complete", params))["code"] == -32602


@pytest.mark.parametrize(
    ("returned", "values"), [("one", ["one"]), (None, []), ((1, 2), ["1", "2"]), ({"k": 1}, ["k"])]
)
async def test_what_a_completion_returns_becomes_values(returned: Any, values: list[str]) -> None:
    server = Server("s")
    server.add_prompt(lambda a: "", name="p")
    server.completion("p", "a")(lambda value: returned)
    caller = await Caller(server).open()
    params = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}
    assert (await caller.result("completion/complete", params))["completion"] == {"values": values}


async def test_completions_run_where_all_handlers_do() -> None:
    server, here = Server("s"), threading.get_ident()
    server.add_prompt(lambda a, b: "", name="p")

    class Complete:
        async def __call__(self, value: str) -> list[bool]:
            assert value == ""
            return [threading.get_ident() == here]

    server.completion("p", "a")(lambda value: [threading.get_ident() == here])
    server.completion("p", "b")(Complete())
    caller = await Caller(server).open()
    for name, expected in (("a", "False"), ("b", "True")):
        params = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": name, "value": ""}}
        assert (await caller.result("completion/complete", params))["completion"]["values"] == [expected]


async def test_a_whole_completion_passes_as_it_is_and_a_server_without_any_offers_none() -> None:
    server = Server("s")
    server.add_prompt(lambda a: "", name="p")
    caller = await Caller(server).open()
    params = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}
    assert (await caller.error("completion/complete", params))["code"] == -32601

    @server.completion("p", "a")
    async def complete(value: str) -> Completion:
        return Completion(values=["one"], total=9)

    assert (await caller.result("completion/complete", params))["completion"] == {"values": ["one"], "total": 9}
    assert (await Caller(server, MODERN[0]).open()).server.service.home.capabilities().completions == {}


@pytest.mark.parametrize(
    "value",
    [
        PromptMessage(role="user", content="hi"),  # type: ignore[arg-type]  # on purpose
        PromptMessage(role="system", content=TextContent(text="hi")),  # type: ignore[arg-type]  # on purpose
        GetPromptResult(messages=[PromptMessage(role="user", content="hi")]),  # type: ignore[arg-type]  # on purpose
        object(),
    ],
)
async def test_a_message_that_is_none_is_an_error_of_the_server(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")
    server.add_prompt(lambda: value, name="p")
    caller = await Caller(server, MODERN[0]).open()
    error = await caller.error("prompts/get", {"name": "p"})
    assert error["code"] == -32603
    assert "prompts/get failed" in caplog.text


async def test_models_of_pydantic_are_written_as_json() -> None:
    server = Server("s")
    server.add_prompt(lambda: [Note(text="a")], name="p")
    server.add_resource(lambda: [Note(text="a")], "x://notes")
    caller = await Caller(server, MODERN[0]).open()
    (message,) = (await caller.result("prompts/get", {"name": "p"}))["messages"]
    assert message["content"]["text"] == '{"text":"a"}'
    (contents,) = (await caller.result("resources/read", {"uri": "x://notes"}))["contents"]
    assert contents["text"] == '[{"text":"a"}]'


class Note(pydantic.BaseModel):
    text: str


async def test_a_completion_takes_a_context_anywhere() -> None:
    server = Server("s")
    server.add_prompt(lambda a, b, c: f"{a}{b}{c}", name="p")

    @server.completion("p", "a")
    async def first(ctx: Context, typed: str) -> list[str]:
        return [ctx.method, typed]

    @server.completion("p", "b")
    def last(typed: str, known: dict[str, str], more: int = 1, ctx: Context | None = None) -> list[str]:
        assert ctx is not None
        return [typed, known["a"], str(more)]

    @server.completion("p", "c")
    async def second(typed: str, ctx: Context) -> list[str]:
        return [typed, ctx.method]

    caller = await Caller(server, MODERN[0]).open()
    method = "completion/complete"
    for name, values in (("a", [method, "x"]), ("b", ["x", "k", "1"]), ("c", ["x", method])):
        params = {
            "ref": {"type": "ref/prompt", "name": "p"},
            "argument": {"name": name, "value": "x"},
            "context": {"arguments": {"a": "k"}},
        }
        assert (await caller.result("completion/complete", params))["completion"]["values"] == values


def test_what_cannot_be_completed_is_refused_at_once() -> None:
    server = Server("s")
    server.add_prompt(lambda topic: topic, name="review")
    server.add_resource(lambda name: name, "x://{name}")
    nothing = "there is no prompt or resource template 'reveiw' to complete; add it first. Did you mean 'review'?"
    for target, argument, message in (
        ("reveiw", "topic", nothing),
        ("review", "topics", "'review' has no argument 'topics' to complete. Did you mean 'topic'?"),
        ("x://{name}", "id", "'x://{name}' has no argument 'id' to complete"),
    ):
        with pytest.raises(ValueError) as caught:
            server.completion(target, argument)(lambda typed: [typed])
        assert str(caught.value) == message
    with pytest.raises(TypeError, match="a completion takes what was typed, and the arguments that are known"):
        server.completion("review", "topic")(lambda a, b, c: [a, b, c])
    server.add_source("prompts", Local[Prompt]("prompt"))
    server.completion("theirs", "topic")(lambda typed: [typed])


async def test_a_name_may_be_given_by_place_and_a_context_be_optional() -> None:
    server = Server("s")

    @server.tool("sum", title="Sum")
    async def add(a: int, ctx: Context | None = None) -> str:
        return f"{a} {ctx is not None}"

    @server.prompt("greet")
    def greeting(ctx: "Context | None" = None) -> str:
        return f"hello {ctx is not None}"

    caller = await Caller(server, MODERN[0]).open()
    assert await caller.text("sum", {"a": 1}) == "1 True"
    (message,) = (await caller.result("prompts/get", {"name": "greet"}))["messages"]
    assert message["content"]["text"] == "hello True"
    assert (add.__name__, greeting.__name__) == ("add", "greeting")
    (tool,) = (await caller.result("tools/list"))["tools"]
    assert (tool["title"], list(tool["inputSchema"]["properties"])) == ("Sum", ["a"])
