"""What a client need not ask for again, over every transport and in every version."""

import asyncio
import json
from types import ModuleType
from typing import Any

import pytest

from behaviour.conftest import Connect
from splice import Change, Client
from splice.protocol.versions import FACTS
from support import keeping_server
from support.caller import ASKING


@pytest.fixture
def served() -> ModuleType:
    return keeping_server


async def counted(client: Client) -> Any:
    return json.loads((await client.call_tool("counted")).text)


async def look_around(client: Client) -> tuple[int, ...]:
    tools, prompts = await client.list_tools(), await client.list_prompts()
    resources, templates = await client.list_resources(), await client.list_resource_templates()
    return len(tools), len(prompts), len(resources), len(templates)


@pytest.mark.requirement(332)
async def test_what_is_fresh_is_not_asked_for_again(connect: Connect, version: str) -> None:
    async with connect() as client:
        for _ in range(3):
            assert await look_around(client) == (2, 1, 1, 1)
            await client.read_resource("data://hours")
        asked, times = await counted(client), 1 if FACTS[version].caching_hints else 3
        lists = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
        assert [asked[method] for method in lists] == [times] * 5


async def test_who_hears_of_a_change_gets_what_is_new(connect: Connect) -> None:
    heard: asyncio.Queue[Change] = asyncio.Queue()
    async with connect(on_change=heard.put_nowait) as client, asyncio.timeout(5):
        await client.subscribe("data://hours")
        for count in (1, 2):
            read = [(await client.read_resource("data://hours")).contents[0].text for _ in range(2)]
            assert len(await client.list_tools()) == count + 1
            await client.call_tool("turn")
            assert {(await heard.get()).kind for _ in range(2)} == {"tools", "resource"}
            assert (await client.read_resource("data://hours")).contents[0].text not in read
            assert len(await client.list_tools()) == count + 2


@pytest.mark.parametrize("version", ASKING)
@pytest.mark.requirement(330)
async def test_what_came_of_answers_is_asked_for_again(connect: Connect, version: str) -> None:
    async with connect(on_elicit=lambda _: {"value": True}) as client:
        read = [(await client.read_resource("data://ann/hours")).contents[0].text for _ in range(2)]
        rounds = (2, 4) if FACTS[version].request_meta else (1, 2)
        assert read == [f"{number} True" for number in rounds]
