"""The examples do what they show, in both eras."""

import asyncio
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guards.snippets import blocks
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
    Tool,
)
from support.listening import listening
from support.warm import warm_python

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
    done = subprocess.run(
        [warm_python(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["weather.py", "ask_the_user.py", "client.py"])
def test_the_examples_run(name: str) -> None:
    shown = run(str(EXAMPLES / name))
    if name == "client.py":
        assert "ann is gone (not needed), as number 1." in shown


async def test_the_weather_example() -> None:
    server = runpy.run_path(str(EXAMPLES / "weather.py"))["server"]
    async with Client(server) as client:
        days = (await client.call_tool("forecast", {"city": "Oslo", "days": 2})).structured_content
    assert days == [{"day": 1, "sky": "snow"}, {"day": 2, "sky": "snow"}]


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


TROUBLE = [
    ("no such command", "ConnectFailed: Cannot start 'no-such-command'"),
    ("no such file", "ValueError: there is no file 'no_such_server.py'"),
    ("wrong URL", "ValueError: '127.0.0.1:8000/mcp' is no http or https URL: did you mean http://127.0.0.1:8000/mcp?"),
    ("nothing listens", "ConnectFailed: Cannot connect to http://127.0.0.1:9/mcp: nothing listens at 127.0.0.1:9"),
    ("  log", "skipped: 'Welcome to my server!'"),
    ("  log", "A server's stdout is for messages only, one on a line; its logs belong on stderr"),
    ("junk on stdout", "exited with code 0; 1 lines of its output were not JSON-RPC messages"),
    ("silent", "did not answer within 1 s"),
    ("  log", "exited with code 7"),
    ("crash in a call", "trouble.py serve exited with code 7"),
    ("wrong tool", "InvalidParams: Unknown tool: 'crush'. Did you mean 'crash'?"),
    ("wrong argument", "the tool says: Invalid arguments for crash: how: unknown name"),
]


def test_trouble_is_told() -> None:
    told = run(str(EXAMPLES / "trouble.py")).splitlines()
    assert [line.split(": ")[0] for line in told] == [what for what, _ in TROUBLE]
    assert not [(line, said) for line, (_, said) in zip(told, TROUBLE, strict=True) if said not in line]


# Ports of examples for other packages.


def ported(name: str) -> Server:
    server = runpy.run_path(str(EXAMPLES / "ports" / f"{name}.py"))["server"]
    assert isinstance(server, Server)
    return server


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_questions_of_every_kind(era: str) -> None:
    answers: list[Any] = [{"value": "Ann"}, {"value": 30}, {"value": "tea"}, {"value": ["milk", "lemon"]}]
    async with Client(ported("elicitation"), on_elicit=lambda _: answers.pop(0), protocol=era) as client:
        assert (await client.call_tool("introduce")).text == "Ann (30): tea with milk and lemon"
        full = {"day": "2026-12-25", "guests": 4}
        answers += ["accept", "decline", {"wait": True}, "cancel"]
        assert (await client.call_tool("leave")).text == "left"
        assert (await client.call_tool("leave")).text == "stayed"
        assert (await client.call_tool("reserve", full)).text == "a table for 4 on 2026-12-26, and we call you"
        assert (await client.call_tool("reserve", full)).text == "no table: cancel"
        assert (await client.call_tool("reserve", full | {"day": "2026-12-24"})).text == "a table for 4 on 2026-12-24"
    assert answers == []


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_arguments_that_are_models(era: str) -> None:
    bed = {"place": "south", "plants": [{"name": "Rose", "height": 1.5}, {"name": "Moss"}]}
    async with Client(ported("complex_inputs"), protocol=era) as client:
        named = await client.call_tool("name_plants", {"bed": bed, "more": ["Fern"]})
        assert named.structured_content in (["Rose", "Moss", "Fern"], {"result": ["Rose", "Moss", "Fern"]})
        tallest = await client.call_tool("tallest", {"bed": bed})
        assert tallest.structured_content == {"name": "Rose", "height": 1.5}
        for wrong, said in (
            ({"more": ["a", "b", "c", "d"]}, "more"),
            ({"bed": {"place": "south", "plants": [{"name": "Chrysanthemum"}]}}, "bed.plants[0].name"),
            ({"bed": {"place": "south", "plants": [{"name": "Rose", "height": 0}]}}, "bed.plants[0].height"),
        ):
            refused = await client.call_tool("name_plants", {"bed": bed} | wrong)
            assert refused.is_error
            assert f"Invalid arguments for name_plants: {said}: " in refused.text


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_servers_behind_one(era: str) -> None:
    async with Client(ported("mount"), protocol=era) as client:
        assert [tool.name for tool in await client.list_tools()] == ["status", "news_headlines", "weather_forecast"]
        assert (await client.call_tool("status")).text == "well"
        assert (await client.call_tool("weather_forecast", {"city": "Oslo"})).text == "Sun over Oslo"
        assert "All about tea" in (await client.call_tool("news_headlines", {"topic": "tea"})).text
        assert "Invalid arguments" in (await client.call_tool("weather_forecast", {"town": "Oslo"})).text


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_database_that_is_open_while_the_server_serves(era: str) -> None:
    async with Client(ported("lifespan"), protocol=era) as client:
        assert (await client.call_tool("query")).text == "the database is open"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_pictures_of_everything(era: str) -> None:
    async with Client(ported("icons"), protocol=era) as client:
        (tool,), (resource,), (prompt,) = (
            await client.list_tools(),
            await client.list_resources(),
            await client.list_prompts(),
        )
        assert isinstance(tool, Tool)
        shown = [each.icons or [] for each in (client.server_info, tool, resource, prompt)]
    assert [len(icons) for icons in shown] == [2, 1, 1, 2]
    assert all(icons[-1].src.startswith(("data:image/svg+xml;base64,", "https://")) for icons in shown)
    assert shown[0][1].theme == shown[2][0].theme == "dark"


# Several processes.


def test_questions_may_be_answered_by_another_process() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "uvicorn", "server:app", "--workers", "2", "--port", port]
    environment = {**os.environ, "SPLICE_SECRET": "a secret of this test"}
    folder = EXAMPLES / "workers"
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            started = 0
            while started < 2:
                line = process.stderr.readline()
                assert line, "uvicorn ended"
                started += "startup complete" in line
            elsewhere = 0
            for _ in range(10):
                told = run(str(folder / "client.py"), f"http://127.0.0.1:{port}/mcp")
                assert "signed: 20\n" in told
                found = re.search(r"another process than the one that asked: (\d+)", told)
                assert found is not None
                elsewhere += int(found[1])
                if elsewhere:
                    break
            assert elsewhere
        finally:
            process.send_signal(signal.SIGTERM)
            process.stderr.read()


BROWSER = """#!{python}
import sys, urllib.request
print(sys.argv[1], file=open({opened!r}, "a"))
urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open(sys.argv[1]).read()
"""


async def test_the_program_on_the_page_about_logging_in(tmp_path: Path) -> None:
    (program,) = [block for block in blocks(EXAMPLES.parent / "docs/auth/login.md") if block.file == "notes.py"]
    (tmp_path / "notes.py").write_text(program.code)
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(BROWSER.format(python=sys.executable, opened=str(opened)))
    browser.chmod(0o700)
    environment = {**os.environ, "BROWSER": f"{browser} %s", "XDG_STATE_HOME": str(tmp_path / "state")}

    async def run(url: str, text: str) -> str:
        words = [str(tmp_path / "notes.py"), url, text]
        process = await asyncio.create_subprocess_exec(
            warm_python(), *words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        async with asyncio.timeout(10):
            return (await process.communicate())[0].decode()

    parts: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await parts[0](scope, receive, send)

    async with listening(app) as url:
        server, issuer = runpy.run_path(str(EXAMPLES / "guarded.py"))["build"](url.removesuffix("/mcp"), "anna")
        mcp = server.http_app(path="/mcp")
        parts.append(issuer.app(beside=mcp))
        await server.service.open()
        try:
            assert await run(url, "buy milk") == "You are anna\nwritten: buy milk\n"
            assert opened.read_text().count("authorize?") == 2, opened.read_text()
            assert await run(url, "and bread") == "You are anna\nwritten: and bread\n"
            assert opened.read_text().count("authorize?") == 2, opened.read_text()
        finally:
            await mcp.stop(0.5)
            await server.service.close()
            await issuer.close()
