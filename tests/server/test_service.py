"""The service: what every request goes through, whatever it is for."""

import asyncio
import json
import logging
import traceback
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Raw

from splice import Context, Header, Server, ToolError
from splice.errors import HeaderMismatch, InvalidParams, MethodNotFound, RPCError, URLElicitationRequired
from splice.protocol.jsonrpc import Failure, Request, encode
from splice.protocol.methods import Method
from splice.protocol.tools import CallToolResult, ListToolsResult
from splice.protocol.versions import VERSIONS
from splice.rules.principal import Principal
from splice.server.call import Answer, Call
from support.caller import ALL, LEGACY, MODERN, Caller, Hand, text_of
from support.tables import rows
from support.wire import JSON, meta


def example(**options: Any) -> Server:
    server = Server("example", version="1.2", instructions="Read me.", **options)

    @server.tool
    async def echo(text: str, ctx: Context) -> str:
        await ctx.progress(2)
        return text

    server.add_prompt(lambda a="": a, name="p")
    server.add_resource(lambda: "", "data://x")
    server.completion("p", "a")(lambda value: [value])
    return server


ROWS = {name: row for name, (row, _) in example().service._served.items()}


# Every method in every version.


@rows("version", VERSIONS)
@rows("method", [*ROWS, "no/such", "", "rpc.discover", "tools/List"])
async def test_each_method_answers_in_the_versions_that_have_it(method: str, version: str) -> None:
    caller = await Caller(example(), version).open()
    row = ROWS.get(method)
    if method == "subscriptions/listen":
        return
    response = await caller.request(method)
    if row is None or not row.exists(version):
        assert response["error"]["code"] == -32601
    elif "error" in response:
        assert response["error"]["code"] in (-32602, -32600)
    else:
        assert ("resultType" in response["result"]) == (version in MODERN)


@pytest.mark.parametrize("version", VERSIONS)
async def test_params_that_nobody_knows_are_ignored(version: str) -> None:
    caller = await Caller(example(), version).open()
    result = await caller.result("tools/list", {"bogus": {"a": [1]}, "x": None})
    assert [tool["name"] for tool in result["tools"]] == ["echo"]


async def test_clients_do_not_disturb_each_other() -> None:
    server = example()
    callers = [await Caller(server, VERSIONS[number % 5]).open() for number in range(25)]
    texts = await asyncio.gather(
        *(caller.text("echo", {"text": f"n{number}"}, token=7) for number, caller in enumerate(callers))
    )
    assert texts == [f"n{number}" for number in range(25)]
    assert all(caller.progress() == [2] for caller in callers)


async def test_a_modern_request_does_not_care_about_the_session_it_comes_by() -> None:
    caller = await Caller(example(), LEGACY[0]).open()
    said = meta(capabilities={})
    modern = await caller.send("tools/call", {"name": "echo", "arguments": {"text": "x"}, "_meta": said})
    assert modern["result"]["resultType"] == "complete"
    legacy = await caller.send("tools/call", {"name": "echo", "arguments": {"text": "x"}})
    assert "resultType" not in legacy["result"]


# Errors.


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_error_only_one_version_has_is_told_in_that_version_alone(version: str) -> None:
    server = Server("s")

    @server.tool
    async def tool() -> str:
        raise URLElicitationRequired("visit", {"elicitations": [{"url": "https://a.example"}]})

    error = await (await Caller(server, version).open()).error("tools/call", {"name": "tool"})
    assert (error["code"] == -32042) == (version == "2025-11-25")
    assert error["message"] == "visit"


@pytest.mark.parametrize("name", ["tools/call", "prompts/get", "resources/read"])
async def test_arguments_with_numbers_beyond_all_bounds_are_the_clients_mistake(name: str) -> None:
    caller = await Caller(example()).open()
    params = Raw(b'{"name":"echo","uri":"data://x","arguments":{"text":1e999}}')
    response = await caller.server.service.handle(Hand(caller, Request(5, name, params)))
    assert (
        b'"code":-32602' in encode(response)
        or b'"isError":true' in encode(response)
        or b'"contents"' in encode(response)
    )


# Middleware.


async def test_middleware_stands_around_every_request_the_first_one_outermost() -> None:
    seen: list[str] = []

    def watching(name: str) -> Any:
        async def middleware(call: Call, proceed: Answer) -> Any:
            seen.append(f"{name} before {call.row.name}")
            result = await proceed(call)
            seen.append(f"{name} after {call.row.name}")
            return result

        return middleware

    caller = await Caller(example(middleware=[watching("a"), watching("b")]), LEGACY[-1]).open()
    await caller.result("tools/list")
    assert seen[4:] == ["a before tools/list", "b before tools/list", "b after tools/list", "a after tools/list"]
    await caller.error("no/such")
    assert len(seen) == 8


async def test_middleware_may_answer_change_and_refuse() -> None:
    async def middleware(call: Call, proceed: Answer) -> Any:
        if call.row.name == "prompts/list":
            raise MethodNotFound("not for you")
        if call.row.name == "tools/list":
            return ListToolsResult(tools=[])
        result = await proceed(call)
        if isinstance(result, CallToolResult):
            result.content.clear()
        return result

    for version in (LEGACY[-1], MODERN[0]):
        caller = await Caller(example(middleware=[middleware]), version).open()
        assert (await caller.error("prompts/list"))["message"] == "not for you"
        assert (await caller.result("tools/list"))["tools"] == []
        assert (await caller.call("echo", {"text": "x"}))["content"] == []


async def test_middleware_and_handler_are_one_request() -> None:
    async def middleware(call: Call, proceed: Answer) -> Any:
        await Context(call).progress(1)
        result = await proceed(call)
        await Context(call).progress(1.5)
        await Context(call).progress(3)
        return result

    caller = await Caller(example(middleware=[middleware]), MODERN[0]).open()
    await caller.call("echo", {"text": "x"}, token=1)
    assert caller.progress() == [1, 2, 3]


async def test_what_middleware_raises_is_treated_like_anything_else(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = [ValueError("secret"), ToolError("told"), InvalidParams("mine")]

    async def middleware(call: Call, proceed: Answer) -> Any:
        raise errors[0]

    caller = Caller(example(middleware=[middleware]), MODERN[0])
    hidden = await caller.error("tools/call", {"name": "echo"})
    assert hidden["code"] == -32603
    assert "secret" not in hidden["message"]
    assert "secret" in caplog.text
    errors.pop(0)
    assert (await caller.error("tools/list"))["message"] == "told"
    errors.pop(0)
    assert (await caller.error("tools/list"))["code"] == -32602


async def test_middleware_may_try_again() -> None:
    tries: list[int] = []
    server = Server("s")

    async def middleware(call: Call, proceed: Answer) -> Any:
        result = await proceed(call)
        return result if len(tries) > 1 or call.row.name != "tools/call" else await proceed(call)

    server = Server("s", middleware=[middleware])

    @server.tool
    async def flaky() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ToolError("not yet")
        return "now"

    assert text_of(await Caller(server, MODERN[0]).call("flaky")) == "now"


async def test_nothing_is_logged_for_what_clients_do_wrong(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    caller = await Caller(example(), can=ALL).open()
    for method, params in (
        ("no/such", {}),
        ("tools/call", {"name": "nope"}),
        ("tools/call", {"name": "echo", "arguments": {"text": 1}}),
        ("resources/read", {"uri": "data://nope"}),
        ("prompts/get", {"name": "nope"}),
        ("tools/list", {"cursor": "x"}),
    ):
        await caller.request(method, params)
    assert caplog.text == ""


async def test_middleware_sees_lists_as_types_and_may_filter_them() -> None:
    async def only_echo(call: Call, proceed: Answer) -> Any:
        result = await proceed(call)
        if isinstance(result, ListToolsResult):
            is_admin = call.sender.principal == Principal(subject="admin")
            result.tools = [tool for tool in result.tools if tool.name == "echo" or is_admin]
        return result

    for version in VERSIONS:
        server = example(middleware=[only_echo])
        server.add_tool(lambda: "", name="secret")
        caller = await Caller(server, version).open()
        for principal, names in ((None, ["echo"]), ("admin", ["echo", "secret"]), ("eve", ["echo"])):
            caller.principal = principal
            tools = (await caller.result("tools/list"))["tools"]
            assert [tool["name"] for tool in tools] == names


async def test_middleware_sees_every_list_typed_and_page_by_page() -> None:
    seen: list[str] = []

    async def middleware(call: Call, proceed: Answer) -> Any:
        result = await proceed(call)
        seen.append(type(result).__name__)
        return result

    server = example(middleware=[middleware], page_size=1)
    server.add_tool(lambda: "", name="second")
    caller = Caller(server, MODERN[0])
    page = await caller.result("tools/list")
    assert [tool["name"] for tool in page["tools"]] == ["echo"]
    page = await caller.result("tools/list", {"cursor": page["nextCursor"]})
    assert [tool["name"] for tool in page["tools"]] == ["second"]
    for method in ("prompts/list", "resources/list", "resources/templates/list"):
        await caller.result(method)
    lists = ["ListToolsResult", "ListToolsResult", "ListPromptsResult", "ListResourcesResult"]
    assert seen == [*lists, "ListResourceTemplatesResult"]


# Depth.


def frames() -> list[str]:
    """Name the calls of this package on the stack, the outermost first."""
    stack = traceback.extract_stack()
    return [f"{Path(each.filename).stem}.{each.name}" for each in stack if "/src/splice/" in each.filename]


DEPTH: dict[str, tuple[JSON, list[str]]] = {
    "tools/call": ({"name": "deep"}, ["service.handle", "tools.call", "handlers.run"]),
    "prompts/get": ({"name": "deep"}, ["service.handle", "prompts.get", "handlers.run"]),
    "resources/read": ({"uri": "data://deep"}, ["service.handle", "resources.read", "handlers.run"]),
}


@pytest.mark.parametrize("version", [LEGACY[-1], MODERN[-1]])
@pytest.mark.parametrize("method", DEPTH)
async def test_few_calls_of_ours_stand_between_a_transport_and_a_function(method: str, version: str) -> None:
    server, seen = Server("s"), list[list[str]]()

    @server.prompt
    @server.tool
    @server.resource("data://deep")
    async def deep(ctx: Context) -> str:
        seen.append(frames())
        return ""

    params, expected = DEPTH[method]
    await (await Caller(server, version).open()).result(method, params)
    assert seen == [expected]


async def test_one_middleware_is_one_call_more() -> None:
    seen: list[list[str]] = []

    async def middleware(call: Call, proceed: Answer) -> Any:
        return await proceed(call)

    server = Server("s", middleware=[middleware])

    @server.tool
    async def deep(ctx: Context) -> str:
        seen.append(frames())
        return ""

    await Caller(server, MODERN[0]).call("deep")
    assert seen == [["service.handle", "tools.call", "handlers.run"]]


async def test_an_error_class_of_a_users_own_reaches_the_client_with_its_code() -> None:
    class RateLimited(RPCError, code=-31099):
        def __init__(self, seconds: int) -> None:
            super().__init__(f"wait {seconds} s", {"seconds": seconds})

    server = Server("s")

    @server.tool
    async def tool() -> str:
        raise RateLimited(3)

    error = await Caller(server, MODERN[0]).error("tools/call", {"name": "tool"})
    assert error == {"code": -31099, "message": "wait 3 s", "data": {"seconds": 3}}
    assert type(RPCError.received(-31099, "x")) is RPCError


async def test_what_the_transport_finds_contradictory_does_not_run() -> None:
    class Doubting(Hand):
        def confirm(self, version: str | None, row: Method[Any, Any] | None, params: Any) -> None:
            assert row is not None
            raise HeaderMismatch(f"{row.name} {params.name} {version}")

    caller = Caller(example(), MODERN[0])
    content = Raw(json.dumps(caller.stamped({"name": "echo"})).encode())
    response = await caller.server.service.handle(Doubting(caller, Request(1, "tools/call", content)))
    assert isinstance(response, Failure)
    assert (response.error.code, response.error.message) == (-32020, f"tools/call echo {MODERN[0]}")


@pytest.mark.requirement(170)
async def test_mirrored_arguments_are_compared_where_the_transport_is_http() -> None:
    server = Server("s")

    @server.tool
    async def tool(region: Annotated[str, Header("Region")]) -> str:
        return region

    for version in (LEGACY[-1], MODERN[0]):
        for kind in ("http", "memory"):
            for sent in ({}, {"mcp-param-region": "north"}, {"mcp-param-region": "south"}):
                caller = await Caller(server, version).open()
                caller.kind, caller.headers = kind, sent
                response = await caller.request("tools/call", {"name": "tool", "arguments": {"region": "north"}})
                fits = version != MODERN[0] or kind != "http" or sent == {"mcp-param-region": "north"}
                assert ("result" in response) == fits, (version, kind, sent)
                assert fits or response["error"]["code"] == -32020
