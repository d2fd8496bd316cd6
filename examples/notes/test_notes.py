"""How the notes server is tested: a client in the same process, no process and no port."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from notes_server import server

from splice import Client, InvalidParams


def run(use: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """Open a client of the server, and close it again."""

    async def main() -> Any:
        async with Client(server, **options) as client:
            return await use(client)

    return asyncio.run(main())


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
def test_a_note_is_written_and_found(protocol: str) -> None:
    async def use(client: Client) -> None:
        assert len(await client.list_tools()) == 11
        written = await client.call_tool("write", {"title": "A", "text": "one two"})
        assert written.structured_content == {"title": "A", "text": "one two", "tags": []}
        counted = await client.call_tool("count")
        assert counted.structured_content == {"notes": 2, "words": 4}
        assert (await client.read_resource("note://A")).contents[0].text == "one two"

    run(use, protocol=protocol)


def test_the_user_decides() -> None:
    async def use(client: Client) -> str:
        return (await client.call_tool("delete", {"title": "Welcome"})).text

    assert run(use, on_elicit=lambda _: {"really": False}) == "Welcome stays."
    assert run(use, on_elicit=lambda _: None) == "Welcome stays."
    assert run(use, on_elicit=lambda _: {"really": True}) == "Welcome is gone."


def test_mistakes_are_told() -> None:
    async def use(client: Client) -> None:
        missing = await client.call_tool("read", {"title": "B"})
        assert missing.is_error
        assert missing.text == "There is no note 'B'. There are: Welcome."
        limit = await client.call_tool("search", {"query": {"limit": 99}})
        assert limit.is_error
        assert "query.limit" in limit.text
        with pytest.raises(InvalidParams, match="nope"):
            await client.call_tool("nope")
        assert (await client.call_tool("count")).structured_content == {"notes": 1, "words": 2}

    run(use)
