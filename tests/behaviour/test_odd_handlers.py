"""Handlers that end in ways no handler should: their requests are answered all the same."""

import asyncio

import pytest

from splice import Client, InternalError, Server
from support.joined import Joined
from support.listening import listening

server = Server("odd")


@server.tool
async def generator_exit() -> str:
    """End as generators do."""
    raise GeneratorExit


@server.tool
async def cancel_itself() -> str:
    """Cancel the task that runs it."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return "never"


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_one_that_raises_generator_exit(protocol: str) -> None:
    async with Client(Joined(server), protocol=protocol, timeout=5.0) as client:
        result = await client.call_tool("generator_exit")
        assert result.is_error
        assert "The tool generator_exit failed: GeneratorExit (reference " in result.text


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_one_that_cancels_itself(protocol: str) -> None:
    async with Client(Joined(server), protocol=protocol, timeout=5.0) as client:
        with pytest.raises(InternalError, match="the handler was cancelled"):
            await client.call_tool("cancel_itself")
        assert (await client.list_tools())[0].name == "generator_exit"


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
@pytest.mark.parametrize("options", [{}, {"json_response": True}], ids=str)
async def test_one_that_cancels_itself_over_http(
    options: dict[str, bool], protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL", "uvicorn.error")
    async with (
        listening(server.http_app(json_response=options.get("json_response", False))) as url,
        Client(url, protocol=protocol, timeout=5.0) as client,
    ):
        with pytest.raises(InternalError, match="the handler was cancelled"):
            await client.call_tool("cancel_itself")
        assert (await client.list_tools())[0].name == "generator_exit"
