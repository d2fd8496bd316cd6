"""What a client and a server do together, whatever is between them and whichever version they speak."""

import asyncio
from typing import Any

import pytest

from behaviour.conftest import Connect
from splice import Change, Client
from splice.errors import (
    MISSING_CLIENT_CAPABILITY,
    RESOURCE_NOT_FOUND,
    ConnectionClosed,
    InvalidParams,
    RequestTimeout,
    RPCError,
)
from splice.protocol.narrow import narrow
from splice.protocol.versions import FACTS, VERSIONS, covers
from splice.types import CallToolResult, CreateMessageParams, ElicitParams, ImageContent, LogParams, PromptReference
from support.waiting import settle, until

FORMS = [version for version in VERSIONS if covers(ElicitParams.span, version)]
URLS = [version for version in VERSIONS if FACTS[version].url_elicitation]
LEGACY = [version for version in VERSIONS if not FACTS[version].request_meta]
_JSON = CallToolResult(content=[], structured_content=1)
STRUCTURED = [version for version in VERSIONS if narrow(_JSON, version).structured_content]

forms = pytest.mark.parametrize("version", FORMS, indirect=True)
urls = pytest.mark.parametrize("version", URLS, indirect=True)


@pytest.mark.requirement(67, 68, 75, 76, 77, 81, 87, 264, 285, 299, 315)
async def test_they_agree_on_a_version_and_the_server_says_what_it_is(connect: Connect, version: str) -> None:
    async with connect() as client:
        assert client.protocol_version == version
        assert (client.server_info.name, client.server_info.version) == ("behaving", "3.2.1")
        assert client.instructions == "Behave."
        assert client.capabilities.tools
        assert client.capabilities.resources
        assert client.capabilities.prompts
        assert client.capabilities.logging == {}
        await client.ping()


@pytest.mark.requirement(7, 8, 265, 267, 269, 286, 300, 323, 325, 326, 328)
async def test_everything_offered_is_listed_in_order_page_by_page(connect: Connect) -> None:
    async with connect() as client:
        tools = await client.list_tools()
        assert [tool.name for tool in tools][:4] == ["echo", "add", "person", "picture"]
        assert len({tool.name for tool in tools}) == len(tools) > 8
        assert all(tool.input_schema["type"] == "object" for tool in tools)
        assert [tool.name async for tool in client.tools()] == [tool.name for tool in tools]
        assert [resource.uri for resource in await client.list_resources()] == ["data://motto", "data://bytes"]
        templates = await client.list_resource_templates()
        assert [template.uri_template for template in templates] == ["data://users/{name}"]
        (prompt,) = await client.list_prompts()
        assert [argument.name for argument in prompt.arguments or []] == ["code", "language"]


@pytest.mark.requirement(14, 15, 279, 281, 282, 303)
async def test_tools_give_text_data_pictures_and_reasons(connect: Connect, version: str) -> None:
    async with connect() as client:
        await client.list_tools()
        assert (await client.call_tool("echo", {"text": "\u2028 é \U0001f600 \x00"})).text == "\u2028 é \U0001f600 \x00"
        summed = await client.call_tool("add", {"a": 2**60, "b": 1})
        assert summed.text == str(2**60 + 1)
        person = await client.call_tool("person")
        if version in STRUCTURED:
            plain = FACTS[version].any_structured_content
            assert summed.structured_content == (2**60 + 1 if plain else {"result": 2**60 + 1})
            assert person.structured_content == {"name": "Ada", "age": 30}
        (picture,) = (await client.call_tool("picture")).content
        assert isinstance(picture, ImageContent)
        assert picture.data == "iVBORw=="
        failed = await client.call_tool("fail", {"why": "Because.\nReally."})
        assert failed.is_error
        assert failed.text == "Because.\nReally."
        crashed = await client.call_tool("crash")
        assert crashed.is_error
        assert "ValueError" in crashed.text
        assert "secret" not in crashed.text


@pytest.mark.requirement(14, 22, 291, 292, 294, 305, 311)
async def test_what_does_not_exist_is_an_error_with_the_code_of_the_version(connect: Connect, version: str) -> None:
    async with connect() as client:
        with pytest.raises(InvalidParams):
            await client.call_tool("nope")
        with pytest.raises(RPCError) as caught:
            await client.read_resource("data://nope")
        assert caught.value.code == FACTS[version].code_of(RESOURCE_NOT_FOUND)
        with pytest.raises(InvalidParams):
            await client.get_prompt("nope")
        with pytest.raises(InvalidParams):
            await client.get_prompt("review", {})
        with pytest.raises(InvalidParams):
            await client.complete(PromptReference(name="nope"), "a", "")
        assert (await client.call_tool("echo", {"text": "still here"})).text == "still here"


@pytest.mark.requirement(297, 306)
async def test_resources_are_read_prompts_filled_and_arguments_completed(connect: Connect, version: str) -> None:
    async with connect() as client:
        (motto,) = (await client.read_resource("data://motto")).contents
        assert (motto.text, motto.mime_type) == ("Write it once.", "text/plain")
        (data,) = (await client.read_resource("data://bytes")).contents
        assert data.blob == "AP8="
        (user,) = (await client.read_resource("data://users/a%20b")).contents
        assert (user.uri, user.text) == ("data://users/a%20b", '{"name":"a b"}')
        for nowhere in ("data://users/a%2Fb", "data://users/..", "1x://y"):
            with pytest.raises(RPCError, match="not found"):
                await client.read_resource(nowhere)
        prompt = await client.get_prompt("review", {"code": "1+1", "language": "rust"})
        assert prompt.messages[0].content.text == "Review this rust: 1+1"  # type: ignore[union-attr]  # it is text
        review = PromptReference(name="review")
        assert (await client.complete(review, "language", "p")).values == ["python", "pascal"]
        known = await client.complete(review, "language", "p", {"code": "none"})
        assert known.values == ([] if version in STRUCTURED else ["python", "pascal"])


@pytest.mark.requirement(253, 254, 255, 256, 258)
async def test_progress_comes_in_order_grows_and_ends_with_the_reply(connect: Connect, version: str) -> None:
    heard: list[Any] = []

    def progress(*report: Any) -> None:
        heard.append(report)

    async with connect() as client:
        sent = {"values": [1, 2, 2, 1.5, 3]}
        assert (await client.call_tool("steps", sent, progress=progress)).text == "done"
        message = None if version == VERSIONS[0] else "a step"
        assert heard == [(value, 10, message) for value in (1, 2, 3)]
        assert (await client.call_tool("steps", sent)).text == "done"
        await client.ping()
        assert len(heard) == 3


async def test_logs_are_heard_from_the_level_that_is_wanted(connect: Connect) -> None:
    heard: list[LogParams] = []

    async with connect(on_log=heard.append) as client:
        await client.call_tool("chatter")
        await until(lambda: len(heard) == 2)
        assert [(each.level, each.data, each.logger) for each in heard] == [
            ("info", "low", "behaving"),
            ("error", {"how": "high"}, "mine"),
        ]
        heard.clear()
        await client.set_log_level("error")
        await client.call_tool("chatter")
        await until(lambda: heard)
        await client.ping()
        assert [each.level for each in heard] == ["error"]
        await client.set_log_level("debug")
        await client.call_tool("chatter")
        await until(lambda: len(heard) == 4)


# Questions.


@forms
@pytest.mark.requirement(216, 374, 376, 377, 379, 380, 396)
@pytest.mark.parametrize(
    ("answer", "text"),
    [({"name": "Ada", "age": 36}, "Ada, 36"), ({"name": "Ada"}, "Ada, 30"), ("decline", "decline"), (None, "decline")],
    ids=str,
)
async def test_the_user_is_asked(connect: Connect, version: str, answer: Any, text: str) -> None:
    asked: list[ElicitParams] = []

    def on_elicit(params: ElicitParams) -> Any:
        asked.append(params)
        return answer

    async with connect(on_elicit=on_elicit) as client:
        assert (await client.call_tool("introduce")).text == text
        (params,) = asked
        assert params.message == "Who are you?"
        age = params.requested_schema["properties"]["age"]  # type: ignore[index]  # it is a form
        assert age.get("default") == (30 if FACTS[version].rich_forms else None)


@urls
@pytest.mark.requirement(381, 382)
async def test_the_user_is_sent_to_a_url(connect: Connect) -> None:
    asked: list[ElicitParams] = []

    async def on_elicit(params: ElicitParams) -> Any:
        asked.append(params)
        return "accept"

    async with connect(on_elicit=on_elicit, can=["elicitation.url"]) as client:
        assert (await client.call_tool("sign_in")).text == "accept"
        assert (asked[0].mode, asked[0].url) == ("url", "https://example.com/sign-in")


@pytest.mark.requirement(342, 353, 361)
async def test_the_model_and_the_roots_are_asked(connect: Connect) -> None:
    asked: list[CreateMessageParams] = []

    def on_sample(params: CreateMessageParams) -> str:
        asked.append(params)
        return "short"

    async with connect(on_sample=on_sample, roots=["file:///work", "file:///home"]) as client:
        assert (await client.call_tool("summarize", {"text": "long"})).text == "short"
        assert asked[0].max_tokens == 20
        assert (await client.call_tool("places")).text == "file:///work file:///home"


@forms
@pytest.mark.requirement(213, 232)
async def test_several_questions_one_after_the_other_and_at_once(connect: Connect) -> None:
    async with connect(
        on_elicit=lambda _: {"name": "Ada"}, on_sample=lambda _: "two", roots=["file:///a", "file:///b"]
    ) as client:
        assert (await client.call_tool("everything")).text == "Ada two 2 True"
        assert (await client.call_tool("by_hand")).text == "accept 2"


@pytest.mark.requirement(41, 42, 88, 216, 376)
@pytest.mark.parametrize("tool", ["introduce", "sign_in", "summarize", "places", "by_hand"])
@pytest.mark.parametrize("transport", ["memory"], indirect=True)
async def test_a_client_that_cannot_answer_gets_an_error_and_no_question(
    connect: Connect, version: str, tool: str
) -> None:
    arguments = {"text": "x"} if tool == "summarize" else None
    async with connect() as client:
        if FACTS[version].request_meta or tool == "by_hand":
            with pytest.raises(RPCError) as caught:
                await client.call_tool(tool, arguments)
            assert caught.value.code == FACTS[version].code_of(MISSING_CLIENT_CAPABILITY)
            assert caught.value.data["requiredCapabilities"]
        else:  # no version before has an error of its own for this: a result reaches the model
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert "the capability that" in result.text


# Changes.


@pytest.mark.requirement(233, 268, 288, 302)
async def test_changes_are_heard_of(connect: Connect) -> None:
    heard: list[Change] = []

    async with connect(on_change=heard.append) as client:
        await client.call_tool("grow", {"name": "new"})
        await until(lambda: {"tools", "prompts", "resources"} <= {each.kind for each in heard})
        assert "new" in [tool.name for tool in await client.list_tools()]
        assert (await client.call_tool("new")).text == "grown"
        await client.subscribe("data://motto")
        await client.call_tool("touch", {"uri": "data://bytes"})
        await client.call_tool("touch", {"uri": "data://motto"})
        await until(lambda: Change("resource", "data://motto") in heard)
        assert Change("resource", "data://bytes") not in heard
        await client.unsubscribe("data://motto")
        heard.clear()
        await client.call_tool("touch", {"uri": "data://motto"})
        await client.ping()
        await settle()
        assert heard == []


# Cancellation, the end.


async def running(client: Client, name: str, **options: Any) -> asyncio.Task[Any]:
    """Start a call that waits for orders, and wait until it does."""
    call = asyncio.create_task(client.call_tool("hold", {"name": name}, **options))
    await becomes(client, name, "running")
    return call


async def becomes(client: Client, name: str, state: str) -> None:
    async with asyncio.timeout(5):
        while (await client.call_tool("state", {"name": name})).text != state:
            await settle(1)


@pytest.mark.requirement(91, 92, 107, 108, 109, 133, 134, 135, 187, 240, 246, 247, 248)
async def test_a_call_that_nobody_waits_for_any_more_is_stopped(connect: Connect) -> None:
    heard: list[Any] = []

    async with connect() as client:
        cancelled = await running(client, "a", progress=lambda *report: heard.append(report))
        other = await running(client, "b")
        cancelled.cancel()
        await becomes(client, "a", "cancelled")
        assert cancelled.cancelled()
        await client.call_tool("order", {"name": "a", "order": "progress", "value": 9})
        with pytest.raises(RequestTimeout):
            await client.call_tool("hold", {"name": "c"}, timeout=0.05)
        await becomes(client, "c", "cancelled")
        await client.call_tool("order", {"name": "b", "order": "reply", "value": 5})
        assert (await other).text == "b: 5.0"
        assert heard == []


@pytest.mark.requirement(5, 13, 28)
async def test_many_calls_at_once_each_get_their_own_answer(connect: Connect) -> None:
    async with connect() as client:
        calls = [running(client, str(number)) for number in range(10)]
        held = await asyncio.gather(*calls)
        for number in reversed(range(10)):
            await client.call_tool("order", {"name": str(number), "order": "reply", "value": number})
        results = await asyncio.gather(*held)
        assert [result.text for result in results] == [f"{number}: {float(number)}" for number in range(10)]


async def test_a_client_that_leaves_leaves_nothing_behind(connect: Connect) -> None:
    async with connect() as client:
        call = await running(client, "a")
    with pytest.raises(ConnectionClosed):
        await call
    with pytest.raises(ConnectionClosed):
        await client.ping()
    await client.close()
