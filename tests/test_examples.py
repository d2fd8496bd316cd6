"""The examples do what they show, in both eras."""

import asyncio
import runpy
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from splice import Client, Server
from splice.types import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ElicitResult,
    ImageContent,
    PromptReference,
    Root,
    TextContent,
)
from support.listening import listening

EXAMPLES = Path(__file__).parents[1] / "examples"
ANSWERS: list[tuple[ElicitResult, str]] = [
    (ElicitResult(action="accept", content={"name": "Ann"}), "Hello Ann, 30!"),
    (ElicitResult(action="decline"), "The user chose to decline."),
]


@pytest.fixture
def everything() -> Server:
    server = runpy.run_path(str(EXAMPLES / "everything.py"))["server"]
    assert isinstance(server, Server)
    return server


def on_sample(params: CreateMessageParams) -> CreateMessageResult:
    assert params.max_tokens == 100
    return CreateMessageResult(role="assistant", content=TextContent(text="all is well"), model="test-model")


def connect(server: Server, era: str, on_elicit: Callable[[ElicitParams], ElicitResult] | None = None) -> Client:
    roots = [Root(uri="file:///srv/project")]
    return Client(server, on_elicit=on_elicit, on_sample=on_sample, roots=roots, protocol=era)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_everything_offers_tools(everything: Server, era: str) -> None:
    seen: list[Any] = []
    async with connect(everything, era) as client:
        assert (await client.call_tool("add", {"a": 2, "b": 3})).text == "5"
        weather = await client.call_tool("weather", {"city": "Oslo"})
        assert weather.structured_content == {"city": "Oslo", "celsius": 21.5, "sky": "clear"}
        (image,) = (await client.call_tool("picture")).content
        assert isinstance(image, ImageContent)
        counted = await client.call_tool("count", {"steps": 2}, progress=lambda *told: seen.append(told))
        assert counted.text == "counted to 2"
        failed = await client.call_tool("fail")
        assert failed.is_error
        assert failed.text == "This tool always fails. That is all it does."
    assert seen == [(1, 2, "counted to 1"), (2, 2, "counted to 2")]


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(("answer", "said"), ANSWERS)
async def test_everything_asks(everything: Server, era: str, answer: ElicitResult, said: str) -> None:
    async with connect(everything, era, lambda _: answer) as client:
        assert (await client.call_tool("introduce")).text == said
        assert (await client.call_tool("summarize", {"text": "long"})).text == "In short: all is well"
        assert (await client.call_tool("workspace")).text == "file:///srv/project"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_everything_offers_resources_and_prompts(everything: Server, era: str) -> None:
    async with connect(everything, era) as client:
        assert (await client.read_resource("example://motto")).contents[0].text == "Write it once."
        assert (await client.read_resource("example://users/ann")).contents[
            0
        ].text == '{"name":"ann","home":"/home/ann"}'
        prompt = await client.get_prompt("review", {"code": "x = 1"})
        assert prompt.messages[0].content == TextContent(text="Please review this python code:\n\nx = 1")
        assert (await client.complete(PromptReference(name="review"), "language", "r")).values == ["rust", "ruby"]


# Programs of their own.

NOTES = EXAMPLES / "notes"
TOLD = """\
tools: write, read, search, count, rename, delete, summarize, export, index, cover, crash
found: ['Shopping']
failed: True There is no note 'Shoping'. There are: Welcome, Shopping.
asked: Delete 'Shopping'?
deleted: Shopping is gone.
"""


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_client_of_the_notes() -> None:
    assert run(str(NOTES / "notes_client.py")) == TOLD


def test_the_tests_of_the_notes(tmp_path: Path) -> None:
    """Run as their author would: in their folder, with nothing of ours but the package."""
    assert "4 passed" in run(
        "-m", "pytest", "-c", "/dev/null", "--rootdir", str(tmp_path), str(NOTES / "test_notes.py")
    )


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_rest_of_the_notes(era: str) -> None:
    told: list[Any] = []
    server = runpy.run_path(str(NOTES / "notes_server.py"))["server"]
    async with connect(server, era) as client:
        assert (await client.call_tool("summarize", {"title": "Welcome"})).text == "all is well"
        assert (await client.call_tool("export")).text == "file:///srv/project"
        renamed = await client.call_tool("rename", {"move": {"old": "Welcome", "new": "Hello"}})
        assert renamed.structured_content["title"] == "Hello"
        indexed = await client.call_tool("index", {"style": "long"}, progress=lambda *each: told.append(each))
        assert indexed.text == "Hello: Write something."
        assert told == [(1, 1, "Hello")]
        assert (await client.call_tool("cover")).content[0].type == "image"
        crashed = await client.call_tool("crash")
        assert crashed.is_error
        assert "a key of ours" not in crashed.text
        assert (await client.get_prompt("tidy", {"title": "Hello"})).messages


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_mounted_server(era: str) -> None:
    app = runpy.run_path(str(EXAMPLES / "mount.py"))["app"]
    async with listening(app) as url:
        base = url.removesuffix("/mcp")
        async with Client(f"{base}/api/mcp", protocol=era, timeout=10.0) as client:
            assert (await client.call_tool("greet", {"name": "Ann"})).text == "Hello, Ann!"
        answer = await asyncio.to_thread(urllib.request.urlopen, f"{base}/health")
        with answer:
            assert answer.read() == b"well"
