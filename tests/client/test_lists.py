"""Lists that come in pages, and what the client learns from the list of tools."""

from typing import Any

import msgspec
import pytest

from client.scripted import HTTPTarget, ScriptedTarget, legacy, modern, returning
from splice import Client
from splice.client import cache, calls
from splice.client.cache import KnownTools
from splice.errors import HeaderMismatch, LocalProtocolError, MethodNotFound, RemoteProtocolError
from splice.protocol.jsonrpc import raw
from splice.protocol.notifications import TOOLS_CHANGED
from splice.protocol.tools import CallToolResult, Tool
from splice.protocol.wire import EmptyResult
from splice.rules.extensions import Extension, Heard


@pytest.mark.requirement(307)
async def test_pages_are_put_together() -> None:
    async def listing(message: Any, link: Any) -> Any:
        number = int(message["params"].get("cursor", "0"))
        more = {"nextCursor": str(number + 1)} if number < 2 else {}
        return {"resources": [{"uri": f"x://{number}", "name": "n"}], **more}

    target = modern(resources__list=listing)
    async with Client(target) as client:
        assert [each.uri for each in await client.list_resources()] == ["x://0", "x://1", "x://2"]
        first = await anext(client.resources())
        assert first.uri == "x://0"
        assert len(target.calls("resources/list")) == 4


@pytest.mark.parametrize(("peer", "names"), [(legacy, ["a"]), (modern, ["a", "b"])])
async def test_an_empty_cursor_is_the_end_of_a_legacy_list_and_a_cursor_since(peer: Any, names: list[str]) -> None:
    async def listing(message: Any, link: Any) -> Any:
        if message["params"].get("cursor") == "":
            return {"prompts": [{"name": "b"}]}
        return {"prompts": [{"name": "a"}], "nextCursor": ""}

    async with Client(peer(prompts__list=listing)) as client:
        assert [each.name for each in await client.list_prompts()] == names


async def test_pages_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = returning({"prompts": [], "nextCursor": "again"})
    async with Client(modern(prompts__list=endless)) as client:
        with pytest.raises(RemoteProtocolError, match="pages of prompts/list never end"):
            await client.list_prompts()

    async def counting(message: Any, link: Any) -> Any:
        return {"prompts": [], "nextCursor": message["params"].get("cursor", "") + "x"}

    monkeypatch.setattr(calls, "MAX_PAGES", 5)
    target = modern(prompts__list=counting)
    async with Client(target) as client:
        with pytest.raises(RemoteProtocolError, match="never end"):
            await client.list_prompts()
    assert len(target.calls("prompts/list")) == 5


# Tools: how to check results, and what headers must say.

MARKED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "n": {}}}
BADLY_MARKED = {"type": "object", "properties": {"region": {"type": "number", "x-mcp-header": "Region"}}}
COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


def tool(name: str, **more: Any) -> Any:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def known(**more: Any) -> KnownTools:
    tools = KnownTools()
    tools.learn([msgspec.convert(tool("t", **more), Tool)], mirrors=True)
    return tools


def result(**more: Any) -> CallToolResult:
    return msgspec.convert({"content": [], **more}, CallToolResult)


@pytest.mark.requirement(281)
def test_structured_content_must_fit() -> None:
    known(outputSchema=COUNT).check("t", result(structuredContent={"count": 1}))
    with pytest.raises(RemoteProtocolError, match=r"t returned what does not fit its output schema: .*count"):
        known(outputSchema=COUNT).check("t", result(structuredContent={"count": "many"}))


def test_structured_content_that_is_missing() -> None:
    with pytest.raises(RemoteProtocolError, match="expected object, got null"):
        known(outputSchema=COUNT).check("t", result())
    known(outputSchema=COUNT).check("t", result(isError=True))
    known().check("t", result())
    known(outputSchema=COUNT).check("unknown", result())
    known(outputSchema=COUNT).check("t", EmptyResult())
    known(outputSchema={"type": "null"}).check("t", result(structuredContent=None))


@pytest.mark.parametrize(
    "schema", [{"$ref": "http://127.0.0.1:9/schema"}, {"$ref": "file:///etc/passwd"}, {"$schema": "x"}, {"type": 5}]
)
@pytest.mark.requirement(52)
def test_a_schema_that_cannot_be_used(schema: Any) -> None:
    with pytest.raises(RemoteProtocolError, match="cannot be used"):
        known(outputSchema=schema).check("t", result(structuredContent={}))


@pytest.mark.parametrize(
    ("schema", "content"),
    [
        ({"anyOf": [{"pattern": f"^{number}$"} for number in range(9_000)]}, "x"),
        ({"items": {"enum": [{"n": number} for number in range(7_000)]}}, [{"n": 6_999}] * 7_000),
    ],
)
def test_what_would_take_too_long_to_check_is_passed_on(
    schema: Any, content: Any, caplog: pytest.LogCaptureFixture
) -> None:
    known(outputSchema=schema).check("t", result(structuredContent=content))
    assert "the result of 't' was not held against its output schema" in caplog.text


@pytest.mark.requirement(146)
def test_headers_mirror_marked_arguments() -> None:
    tools = known(inputSchema=MARKED)
    assert tools.headers("t", raw({"region": "Zürich", "n": 1})) == {"Mcp-Param-Region": "=?base64?WsO8cmljaA==?="}
    assert tools.headers("t", raw({"n": 1})) == {}
    assert tools.headers("t", raw(5)) == {}
    assert tools.headers("t", None) == {}
    assert tools.headers("unknown", raw({})) == {}
    number = {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}
    with pytest.raises(LocalProtocolError, match="Cannot call t"):
        known(inputSchema=number).headers("t", raw({"n": 2**60}))


# As a client uses them.


def server(*schemas: Any, kind: type[ScriptedTarget] = HTTPTarget) -> ScriptedTarget:
    """Offer a tool whose schema changes with each listing."""
    left = list(schemas)

    async def listing(message: Any, link: Any) -> Any:
        schema = left.pop(0) if len(left) > 1 else left[0]
        return {"tools": [tool("good", inputSchema=schema), tool("bad", inputSchema=BADLY_MARKED)]}

    async def call(message: Any, link: Any) -> Any:
        if message["mirrored"].get("Mcp-Param-Region") != message["params"]["arguments"].get("region"):
            raise HeaderMismatch("Mcp-Param-Region is missing")
        return {"content": []}

    return modern(kind, tools__list=listing, tools__call=call)


ODD_SHAPES: list[dict[str, Any]] = [
    {"allOf": 5},
    {"allOf": [5, None]},
    {"properties": 5},
    {"properties": {"a": 5}},
    {"properties": {"a": {"x-mcp-header": 5}}},
    {"properties": {"a": {"type": {}, "x-mcp-header": "A"}}},
    {"properties": {"a": {"type": [["string"]], "x-mcp-header": "A"}}},
    {"$defs": [], "items": {"prefixItems": {}}, "dependencies": 1, "if": 3},
    {"$ref": 5, "$defs": {"a": {"properties": {"b": {"x-mcp-header": []}}}}},
    {"properties": {"a": {"type": "string", "x-mcp-header": "\ud800"}}},
]


@pytest.mark.requirement(154)
@pytest.mark.parametrize("schema", ODD_SHAPES)
def test_a_tool_of_an_odd_shape_harms_no_other(schema: dict[str, Any]) -> None:
    odd, good = Tool(name="odd", input_schema=schema), Tool(name="good", input_schema={"type": "object"})
    assert good in KnownTools().learn([odd, good], mirrors=True)


def test_a_tool_that_cannot_be_read_is_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(schema: dict[str, Any]) -> Any:
        return {} if "type" in schema else schema["no"]

    monkeypatch.setattr(cache, "header_parameters", fail)
    odd, good = Tool(name="odd", input_schema={}), Tool(name="good", input_schema={"type": "object"})
    assert KnownTools().learn([odd, good], mirrors=True) == [good]
    assert "left out tool 'odd': KeyError('no')" in caplog.text


@pytest.mark.requirement(154, 155)
async def test_over_http_tools_with_bad_marks_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    async with Client(server(MARKED)) as client:
        assert [each.name for each in await client.list_tools()] == ["good"]
        assert "left out tool 'bad'" in caplog.text
    async with Client(server(MARKED, kind=ScriptedTarget)) as client:
        assert [each.name for each in await client.list_tools()] == ["good", "bad"]


async def test_tools_are_listed_before_the_first_call_and_not_again() -> None:
    target = server(MARKED)
    async with Client(target) as client:
        await client.call_tool("good", {"region": "x"})
        await client.call_tool("good", {"region": "y"})
        assert len(target.calls("tools/list")) == 1
        await target.link.tell_all("notifications/tools/list_changed")
        await client.call_tool("good", {"region": "y"})
        assert len(target.calls("tools/list")) == 2


@pytest.mark.requirement(165)
async def test_a_schema_that_has_changed_is_looked_at_again_once() -> None:
    target = server({"type": "object"}, MARKED)
    async with Client(target) as client:
        await client.call_tool("good", {"region": "x"})
        assert [message["method"] for message in target.sent[1:]] == ["tools/list", "tools/call"] * 2
    target = server({"type": "object"})
    async with Client(target) as client:
        with pytest.raises(HeaderMismatch):
            await client.call_tool("good", {"region": "x"})
        assert len(target.calls("tools/call")) == 2


async def test_a_server_that_lists_no_tools_can_be_called_all_the_same() -> None:
    target = server(MARKED)

    async def refuse(message: Any, link: Any) -> Any:
        raise MethodNotFound("no")

    target.methods["tools/list"] = refuse
    async with Client(target) as client:
        await client.call_tool("good")
        await client.call_tool("good")
    assert len(target.calls("tools/list")) == 1


async def test_a_list_that_changes_while_it_is_read_is_not_complete() -> None:
    target = server(MARKED)
    async with Client(target) as client:
        async for _ in client.tools():
            await target.link.tell_all("notifications/tools/list_changed")
        assert not client._calls.cache.tools.complete


async def test_results_are_checked_once_the_tool_has_been_listed() -> None:
    async def listing(message: Any, link: Any) -> Any:
        return {"tools": [tool("t", outputSchema=COUNT)]}

    async def call(message: Any, link: Any) -> Any:
        return {"content": [], "structuredContent": {"count": "many"}}

    async with Client(modern(tools__list=listing, tools__call=call)) as client:
        assert (await client.call_tool("t")).structured_content == {"count": "many"}
        await client.list_tools()
        with pytest.raises(RemoteProtocolError, match="does not fit"):
            await client.call_tool("t")


@pytest.mark.parametrize("extensions", [(), (Extension("com.example/x", notes=[Heard(TOOLS_CHANGED, print)]),)])
async def test_known_tools_are_forgotten_when_their_list_changes_whoever_else_is_told(extensions: Any) -> None:
    target = modern()
    async with Client(target, extensions=extensions) as client:
        known = client._calls.cache.tools
        await target.link.tell_all("notifications/prompts/list_changed")
        assert client._calls.cache.tools is known
        await target.link.tell_all("notifications/tools/list_changed")
        assert client._calls.cache.tools is not known
