"""A middleware stands around every method and sees typed results, lists included."""

import pytest

from splice import Answer, Call, Client, InternalError, Server
from splice.types import CallToolResult, ListToolsResult, TextContent

server = Server("shop")


@server.tool
def buy(what: str) -> str:
    """Buy something."""
    return f"one {what}"


@server.tool
def burn_down(street: str) -> str:
    """Not for everybody."""
    return street


async def test_it_filters_the_list_of_tools_and_changes_results(version: str) -> None:
    seen: list[tuple[str, str]] = []

    async def without_fire(call: Call, proceed: Answer) -> object:
        result = await proceed(call)
        seen.append((call.row.name, type(result).__name__))
        if isinstance(result, ListToolsResult):
            result.tools = [tool for tool in result.tools if not tool.name.startswith("burn")]
        if isinstance(result, CallToolResult):
            result.content.append(TextContent(text="(checked)"))
        return result

    guarded = Server("guarded", middleware=[without_fire])
    guarded.add_tool(buy)
    guarded.add_tool(burn_down)
    async with Client(guarded, protocol=version) as client:
        assert [tool.name for tool in await client.list_tools()] == ["buy"]
        assert [tool.name for tool in await client.list_tools()] == ["buy"]
        assert (await client.call_tool("buy", {"what": "cake"})).text == "one cake\n(checked)"
    assert ("tools/list", "ListToolsResult") in seen
    assert ("tools/call", "CallToolResult") in seen


async def test_what_it_changes_in_a_list_is_its_own(version: str) -> None:
    async def louder(call: Call, proceed: Answer) -> object:
        result = await proceed(call)
        if isinstance(result, ListToolsResult):
            for tool in result.tools:
                tool.description = f"{tool.description}!"
                tool.input_schema["properties"]["extra"] = {}
        return result

    guarded = Server("guarded", middleware=[louder])
    guarded.add_tool(buy)
    async with Client(guarded, protocol=version) as client:
        for _ in range(3):
            (tool,) = await client.list_tools()
            assert tool.description == "Buy something.!"
        assert (await client.call_tool("buy", {"what": "cake"})).text == "one cake"


async def test_one_that_returns_nothing_is_an_error_that_is_logged(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def forgetful(call: Call, proceed: Answer) -> object:
        result = await proceed(call)
        return None if call.row.name == "tools/call" else result

    guarded = Server("guarded", middleware=[forgetful])
    guarded.add_tool(buy)
    async with Client(guarded, protocol=version) as client:
        with pytest.raises(InternalError, match=r"tools/call failed: TypeError"):
            await client.call_tool("buy", {"what": "cake"})
    assert "middleware around it, returned None" in caplog.text
