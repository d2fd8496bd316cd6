"""`splice run --dev`: a handler that does something and then asks is warned of, with the line that did it."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import aiohttp
import pytest

from cli.conftest import splice_process
from splice import Client, HTTPServer, StdioServer
from splice.cli.outcomes import FAILED, USAGE
from splice.cli.targets import this_splice
from splice.types import ElicitParams
from support.warm import warm_python

LIMIT_SECONDS = 20

SOURCE = Path(__file__).with_name("rehearsed_server.py")
LINES = SOURCE.read_text().splitlines()
WARNED = [(number, line.partition("#")[0].strip()) for number, line in enumerate(LINES, 1) if line.endswith("# warned")]

WHOLE = """
from contextlib import asynccontextmanager
from splice import Context, Server

seen = []

async def see(call, proceed):
    seen.append(call.row.name)
    return await proceed(call)

@asynccontextmanager
async def life(server):
    yield "begun"

server = Server("whole", middleware=[see], lifespan=life)

@server.tool
def whole(ctx: Context) -> str:
    return f"{ctx.lifespan} {seen}"

@server.route("/health")
async def health() -> str:
    return "well"
"""

WARNING = re.compile(r'(\S+) (\S+) .*\n  File "(.+)", line (\d+), in (\w+)\n    (.*?)(?:  # warned)?\n')


class Running:
    """A server that runs in development, and what it wrote to stderr."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "shop_server.py"
        self.stderr = b""
        self.url = ""
        self.heard = asyncio.Event()
        shutil.copy(SOURCE, self.path)

    def hear(self, data: bytes) -> None:
        self.stderr += data
        self.heard.set()

    async def until(self, pattern: bytes) -> re.Match[bytes]:
        while not (found := re.search(pattern, self.stderr)):
            self.heard.clear()
            await self.heard.wait()
        return found

    @property
    def warnings(self) -> list[tuple[str, ...]]:
        """Kind and name of the handler, file, line, function and source of each warning."""
        return WARNING.findall(self.stderr.decode())

    @asynccontextmanager
    async def client(self, *options: str, protocol: str = "auto") -> AsyncIterator[Client]:
        """Connect to it over stdio, or HTTP where an option says so."""
        command = [warm_python(), *this_splice("run", "--dev", *options, str(self.path))[1:]]
        place = StdioServer(*command, cwd=self.directory, on_stderr=self.hear)
        if "--http" not in options:
            async with Client(place, protocol=protocol, on_elicit=agree) as client:
                yield client
            return
        process = await asyncio.create_subprocess_exec(
            *command, "--port", "0", cwd=self.directory, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr is not None
        reading = asyncio.create_task(self._read(process.stderr))
        try:
            self.url = (await self.until(rb"http://\S+"))[0].decode()
            async with Client(HTTPServer(self.url), protocol=protocol, on_elicit=agree) as client:
                yield client
        finally:
            process.terminate()
            await process.wait()
            await reading

    async def _read(self, stderr: asyncio.StreamReader) -> None:
        while line := await stderr.readline():
            self.hear(line)


def agree(question: ElicitParams) -> Literal["accept"]:
    return "accept"


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return Running(tmp_path)


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
@pytest.mark.parametrize("options", [(), ("--http",), ("--reload",)], ids=["stdio", "http", "reload"])
async def test_each_line_that_comes_before_a_question_is_shown_once(
    running: Running, options: tuple[str, ...], protocol: str
) -> None:
    async with asyncio.timeout(LIMIT_SECONDS), running.client(*options, protocol=protocol) as client:
        for tool in ["in_a_function", *(each.name for each in await client.list_tools())]:
            assert not (await client.call_tool(tool)).is_error, tool
        for uri in ("shop://tea", "shop://a%0Ab", "shop://a\x1b[31m"):  # one handler
            await client.read_resource(uri)
        await client.get_prompt("greet")
    assert b"\x1b" not in running.stderr
    found = [(name, int(line), source) for _, name, _, line, _, source in running.warnings]
    assert sorted({each[1:] for each in found}) == WARNED
    assert len(set(found)) == len(found)
    assert [name for name, *_ in found if name.startswith("shop:")] == ["shop://tea"]
    shared = [name for name, _, source in found if source == WARNED[0][1]]
    assert shared == ["in_a_function", "in_the_same_function"]
    assert {file for _, _, file, *_ in running.warnings} == {str(running.path)}
    assert b"Traceback" not in running.stderr, running.stderr.decode()


async def test_a_warning_says_who_did_what_where_and_what_to_do(running: Running) -> None:
    async with asyncio.timeout(LIMIT_SECONDS), running.client() as client:
        await client.call_tool("in_a_function")
        await client.read_resource("shop://tea")
    first = next(number for number, line in enumerate(LINES, 1) if "return Path(name)" in line)
    assert running.stderr.decode().startswith(
        f"""tools/call in_a_function opens 'one.txt' for writing before it asks the client something:
  File "{running.path}", line {first}, in save
    return Path(name).write_text("cake")  # warned
  The handler runs again from its start when the answer comes (in some protocol versions), and does this twice.
  Ask first, or put it into `await ctx.once(...)`.
resources/read shop://tea opens 'tea.txt' for writing before"""
    )


async def test_a_handler_that_blocks_the_event_loop_is_named(running: Running) -> None:
    async with asyncio.timeout(LIMIT_SECONDS), running.client() as client:
        await client.call_tool("blocks")
    assert re.search(rb"<Task .*name='tools/call blocks'.* took 0\.\d+ seconds", running.stderr), running.stderr


async def test_what_else_the_server_has_stays(running: Running) -> None:
    """Its own middleware, its routes and its lifespan."""
    running.path.write_text(WHOLE)
    async with asyncio.timeout(LIMIT_SECONDS), running.client("--http") as client:
        assert (await client.call_tool("whole")).text == "begun ['server/discover', 'tools/list', 'tools/call']"
        async with aiohttp.ClientSession() as session, session.get(running.url.replace("/mcp", "/health")) as response:
            assert await response.text() == "well"


def test_tracebacks_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "broken_server.py"
    path.write_text("raise RuntimeError('not yet')\n")
    done = splice_process("run", "--dev", str(path))
    assert (done.returncode, done.stdout) == (FAILED, b"")
    assert b"Traceback" in done.stderr
    assert b"RuntimeError: not yet" in done.stderr


@pytest.mark.parametrize("options", [[], ["--http"], ["--reload"]])
def test_a_file_that_is_not_there(options: list[str]) -> None:
    done = splice_process("run", "--dev", "nowhere.txt", *options)
    assert done.returncode == USAGE
    assert b"splice: there is no file 'nowhere.txt'" in done.stderr
