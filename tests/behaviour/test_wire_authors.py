"""What the author of a server gets wrong does not leave it: raw JSON, in each version that has the rule."""

from typing import Any

import pytest

from splice import Context, InputRequired, Server
from splice.errors import RPCError, URLElicitationRequired
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN
from splice.types import ElicitParams, SamplingMessage, TextContent, ToolResultContent, ToolUseContent
from support.caller import Caller, fixed, said, text_of
from support.listening import listening
from support.raw_client import OverHTTP
from support.wire import JSON, modern

USE = SamplingMessage(role="assistant", content=ToolUseContent(id="a", name="t", input={}))
RESULT = ToolResultContent(tool_use_id="a", content=[TextContent(text="42")])
WORDS = TextContent(text="x")
CONVERSATIONS = {
    "a result and text in one message": [USE, SamplingMessage(role="user", content=[RESULT, WORDS])],
    "a use without a result": [USE, SamplingMessage(role="user", content=WORDS)],
    "a use at the end": [SamplingMessage(role="user", content=WORDS), USE],
    "a result without a use": [SamplingMessage(role="user", content=RESULT)],
}
NO_URLS = ["not a url", "//x", "https://", "javascript://x", "file:///etc/passwd"]
VISITS = {"elicitations": [{"mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "1"}]}

both = pytest.mark.parametrize("version", [LATEST_HANDSHAKE, LATEST_MODERN])


def careless() -> Server:
    """Make a server whose tools do as they are told."""
    server = Server("careless")

    @server.tool
    async def fail(code: int) -> None:
        raise RPCError("mine", code=code)

    @server.tool
    async def converse(case: str, ctx: Context) -> str:
        return (await ctx.sample(CONVERSATIONS[case])).text

    @server.tool
    async def see_all(ctx: Context) -> str:
        return (await ctx.sample("x", include_context="allServers")).text

    @server.tool
    async def visit(url: str, ctx: Context) -> str:
        return (await ctx.elicit_url("Go", url)).action

    @server.tool
    async def visit_by_hand(url: str) -> Any:
        return InputRequired({"k": ElicitParams(mode="url", message="Go", url=url)})

    @server.tool
    async def must_visit() -> None:
        raise URLElicitationRequired("Go", VISITS)

    @server.resource("data://{name}")
    def data(name: str) -> str:
        return name

    return server


async def calling(version: str, **options: Any) -> Caller:
    return await Caller(careless(), version, **options).open()


@pytest.mark.requirement(19, 21)
@pytest.mark.parametrize(
    ("code", "sent"), [(-32050, -32603), (-32099, -32603), (-32002, -32602), (-32042, -32600), (-31000, -31000)]
)
async def test_codes_that_the_version_reserves_or_lacks_are_not_sent(code: int, sent: int) -> None:
    error = await (await calling(LATEST_MODERN)).error("tools/call", {"name": "fail", "arguments": {"code": code}})
    assert error == {"code": sent, "message": "mine"}


@both
@pytest.mark.requirement(358, 359)
@pytest.mark.parametrize("case", CONVERSATIONS)
async def test_a_conversation_out_of_balance_reaches_no_client(case: str, version: str) -> None:
    caller = await calling(version)
    assert (await caller.call("converse", {"case": case}))["isError"]
    assert caller.asked == []


@both
@pytest.mark.requirement(356, 357)
@pytest.mark.parametrize(("sampling", "asked"), [({}, False), ({"tools": {}}, False), ({"context": {}}, True)], ids=str)
async def test_other_servers_are_only_shown_where_the_client_can(sampling: JSON, asked: bool, version: str) -> None:
    caller = await calling(version, can={"sampling": sampling}, answers=fixed(said("seen")))
    response = await caller.request("tools/call", {"name": "see_all"})
    assert bool(caller.asked) is asked
    if not asked and version == LATEST_HANDSHAKE:
        assert response["result"]["isError"]
    elif not asked:
        assert response["error"]["data"] == {"requiredCapabilities": {"sampling": {"context": {}}}}


@both
@pytest.mark.requirement(382)
@pytest.mark.parametrize("tool", ["visit", "visit_by_hand"])
@pytest.mark.parametrize("url", NO_URLS)
async def test_nobody_is_sent_to_what_is_no_url(url: str, tool: str, version: str) -> None:
    caller = await calling(version)
    response = await caller.request("tools/call", {"name": tool, "arguments": {"url": url}})
    assert "error" in response or response["result"]["isError"]
    assert caller.asked == []


@pytest.mark.requirement(388)
async def test_the_error_that_sends_the_user_to_urls_names_them() -> None:
    error = await (await calling(LATEST_HANDSHAKE)).error("tools/call", {"name": "must_visit"})
    assert (error["code"], error["data"]) == (-32042, VISITS)


@both
@pytest.mark.requirement(298)
@pytest.mark.parametrize("name", ["..%2f..%2fetc", "..", "%2e%2e", "a%5cb"])
async def test_no_variable_leaves_its_part_of_the_path(name: str, version: str) -> None:
    caller = await calling(version)
    assert "not found" in (await caller.error("resources/read", {"uri": f"data://{name}"}))["message"]


@pytest.mark.requirement(151)
@pytest.mark.parametrize(("number", "status"), [(2**53 - 1, 200), (2**53, 400), (2**60, 400), (-(2**53), 400)])
async def test_numbers_that_readers_disagree_on_are_refused_in_headers(number: int, status: int) -> None:
    server = Server("s")
    marked = {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}

    @server.tool(input_schema=marked)
    def take(arguments: JSON) -> str:
        return str(arguments["n"])

    async with listening(server.http_app()) as url:
        wire = OverHTTP(url)
        message = modern(1, "tools/call", {"name": "take", "arguments": {"n": number}})
        await wire.post(message, Mcp_Param_N=str(number))
    assert wire.status == status


@pytest.mark.requirement(280)
@pytest.mark.parametrize("value", [{"n": "many"}, {}, None, "text"], ids=str)
@both
async def test_what_breaks_the_schema_is_an_error(value: JSON, version: str) -> None:
    server = Server("s")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    server.add_tool(lambda: value, name="count", output_schema=schema)
    result = await (await Caller(server, version).open()).call("count")
    assert result["isError"]
    assert "structuredContent" not in result
    assert text_of(result).startswith("The tool count failed")
