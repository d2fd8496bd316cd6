"""The server object: what every request goes through, whatever it is for."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from splice import Context, Server, ToolError
from splice.errors import InvalidParams, MethodNotFound, URLElicitationRequired
from splice.protocol.lifecycle import Implementation
from splice.protocol.methods import CLIENT_METHODS
from splice.protocol.tools import CallToolResult, ListToolsResult
from splice.protocol.versions import FACTS, HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, MODERN_VERSIONS, VERSIONS
from splice.server.answers import ANSWERS
from support.caller import ALL, LEGACY, MODERN, Caller, text_of
from support.wire import CLIENT, JSON, initialize, meta


def example(**options: Any) -> Server:
    server = Server("example", version="1.2", instructions="Read me.", **options)

    @server.tool
    async def echo(text: str, ctx: Context) -> str:
        await ctx.progress(2)
        return text

    server.add_prompt(lambda: "", name="p")
    server.add_resource(lambda: "", "data://x")
    server.completion("p", "a")(lambda value: [value])
    return server


# Opening.


@pytest.mark.parametrize("version", LEGACY)
async def test_initialize_tells_who_we_are_and_what_we_offer(version: str) -> None:
    caller = Caller(example(), version)
    result = (await caller.send("initialize", initialize(version)["params"]))["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "example", "version": "1.2"}
    assert result["instructions"] == "Read me."
    capabilities = result["capabilities"]
    assert capabilities["tools"] == capabilities["prompts"] == {"listChanged": True}
    assert capabilities["resources"] == {"subscribe": True, "listChanged": True}
    assert capabilities["logging"] == {}
    assert ("completions" in capabilities) == (VERSIONS.index(version) >= 1)
    assert "resultType" not in result


async def test_a_server_offers_what_it_has_and_tells_all_about_itself() -> None:
    info = Implementation(name="n", version="v", title="T", description="D", website_url="https://example.com")
    server = Server(info)
    assert server.name == "n"
    caller = Caller(server)
    result = (await caller.send("initialize", initialize(LATEST_HANDSHAKE)["params"]))["result"]
    assert result["capabilities"] == {"logging": {}}
    assert result["serverInfo"]["websiteUrl"] == "https://example.com"
    assert "instructions" not in result
    old = (await Caller(server).send("initialize", initialize(LEGACY[0])["params"]))["result"]
    assert old["serverInfo"] == {"name": "n", "version": "v"}


@pytest.mark.parametrize("offered", ["2026-07-28", "1999-12-31", ""])
async def test_a_version_we_cannot_negotiate_is_answered_with_our_latest(offered: str) -> None:
    result = (await Caller(example()).send("initialize", initialize(offered)["params"]))["result"]
    assert result["protocolVersion"] == LATEST_HANDSHAKE


async def test_a_session_is_initialized_once() -> None:
    caller = await Caller(example(), LEGACY[1]).open()
    error = await caller.error("initialize", initialize(LEGACY[2])["params"])
    assert error["code"] == -32600
    assert caller.session.version == LEGACY[1]


@pytest.mark.parametrize(
    "params",
    [None, {}, {"protocolVersion": 1, "capabilities": {}, "clientInfo": CLIENT}, {"protocolVersion": "2025-11-25"}],
    ids=str,
)
async def test_a_bad_initialize_opens_nothing(params: JSON) -> None:
    caller = Caller(example())
    response = await caller.send("initialize", params)
    assert response["error"]["code"] == -32602
    assert caller.session.version is None
    assert "result" in await caller.send("initialize", initialize()["params"])


@pytest.mark.parametrize("version", MODERN)
async def test_discover_tells_the_same_to_modern_clients(version: str) -> None:
    caller = Caller(example(), version)
    result = await caller.result("server/discover")
    assert result["supportedVersions"] == list(MODERN_VERSIONS)
    assert result["instructions"] == "Read me."
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "example", "version": "1.2"}
    assert result["ttlMs"] >= 0
    assert result["capabilities"]["completions"] == {}


async def test_a_transport_without_sessions_cannot_initialize() -> None:
    caller = Caller(example())
    caller.session = None  # type: ignore[assignment]  # as a stateless transport has it
    response = await caller.send("initialize", initialize()["params"])
    assert response["error"]["code"] == -32600


# Every method in every version.


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", sorted({*CLIENT_METHODS, "no/such", "", "rpc.discover", "tools/List"}))
async def test_each_method_answers_in_the_versions_that_have_it(method: str, version: str) -> None:
    caller = await Caller(example(), version).open()
    row = CLIENT_METHODS.get(method)
    if method == "subscriptions/listen":
        return
    response = await caller.request(method)
    if row is None or not row.exists(version) or method not in ANSWERS:
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


@pytest.mark.parametrize("version", LEGACY)
async def test_ping_is_answered_with_nothing(version: str) -> None:
    caller = Caller(example(), version)
    assert (await caller.send("ping"))["result"] == {}
    await caller.open()
    assert await caller.result("ping") == {}


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
        raise URLElicitationRequired("visit", {"elicitations": []})

    error = await (await Caller(server, version).open()).error("tools/call", {"name": "tool"})
    assert (error["code"] == -32042) == (version == "2025-11-25")
    assert error["message"] == "visit"


@pytest.mark.parametrize("name", ["tools/call", "prompts/get", "resources/read"])
async def test_arguments_with_numbers_beyond_all_bounds_are_the_clients_mistake(name: str) -> None:
    from msgspec import Raw

    from splice.protocol.jsonrpc import Request, encode
    from support.caller import Hand

    caller = await Caller(example()).open()
    params = Raw(b'{"name":"echo","uri":"data://x","arguments":{"text":1e999}}')
    response = await caller.server.handle(Hand(caller, Request(5, name, params)))
    assert (
        b'"code":-32602' in encode(response)
        or b'"isError":true' in encode(response)
        or b'"contents"' in encode(response)
    )


# Middleware.

Proceed = Callable[[], Awaitable[Any]]


async def test_middleware_stands_around_every_request_the_first_one_outermost() -> None:
    seen: list[str] = []

    def watching(name: str) -> Any:
        async def middleware(ctx: Context, proceed: Proceed) -> Any:
            seen.append(f"{name} before {ctx.method}")
            result = await proceed()
            seen.append(f"{name} after {ctx.method}")
            return result

        return middleware

    caller = await Caller(example(middleware=[watching("a"), watching("b")]), LEGACY[-1]).open()
    await caller.result("tools/list")
    assert seen[4:] == ["a before tools/list", "b before tools/list", "b after tools/list", "a after tools/list"]
    await caller.error("no/such")
    assert len(seen) == 8


async def test_middleware_may_answer_change_and_refuse() -> None:
    async def middleware(ctx: Context, proceed: Proceed) -> Any:
        if ctx.method == "prompts/list":
            raise MethodNotFound("not for you")
        if ctx.method == "tools/list":
            return ListToolsResult(tools=[])
        result = await proceed()
        if isinstance(result, CallToolResult):
            result.content.clear()
        return result

    for version in (LEGACY[-1], MODERN[0]):
        caller = await Caller(example(middleware=[middleware]), version).open()
        assert (await caller.error("prompts/list"))["message"] == "not for you"
        assert (await caller.result("tools/list"))["tools"] == []
        assert (await caller.call("echo", {"text": "x"}))["content"] == []


async def test_middleware_and_handler_are_one_request() -> None:
    async def middleware(ctx: Context, proceed: Proceed) -> Any:
        await ctx.progress(1)
        result = await proceed()
        await ctx.progress(1.5)
        await ctx.progress(3)
        return result

    caller = await Caller(example(middleware=[middleware]), MODERN[0]).open()
    await caller.call("echo", {"text": "x"}, token=1)
    assert caller.progress() == [1, 2, 3]


async def test_what_middleware_raises_is_treated_like_anything_else(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = [ValueError("secret"), ToolError("told"), InvalidParams("mine")]

    async def middleware(ctx: Context, proceed: Proceed) -> Any:
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

    async def middleware(ctx: Context, proceed: Proceed) -> Any:
        result = await proceed()
        return result if len(tries) > 1 or ctx.method != "tools/call" else await proceed()

    server = Server("s", middleware=[middleware])

    @server.tool
    async def flaky() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ToolError("not yet")
        return "now"

    assert text_of(await Caller(server, MODERN[0]).call("flaky")) == "now"


# The rest.


async def test_a_server_hears_notifications_and_changes_nothing() -> None:
    from splice.protocol.jsonrpc import Notification
    from splice.transports.base import Sender

    server = example()
    await server.hear(Notification("notifications/roots/list_changed"), Sender(kind="memory"))


def test_an_http_app_is_made_of_it() -> None:
    from splice.transports.http_server import HTTPApp

    assert isinstance(example().http_app(path="/mcp"), HTTPApp)
    with pytest.raises(TypeError):
        example().http_app(bogus=1)


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
    assert set(HANDSHAKE_VERSIONS) == {version for version in VERSIONS if not FACTS[version].request_meta}
