"""`splice run --reload`: the host keeps its connection while the server behind it is replaced."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from splice import Client, RPCError, StdioServer
from splice.cli import reload
from splice.cli.reload import Front
from splice.cli.targets import this_splice
from splice.types import ElicitParams
from support.warm import warm_python

LIMIT_SECONDS = 20

BEFORE = """
import asyncio, os, sys
from splice import Context, Server
from near_by import NAME

server = Server("shop", version="1")

@server.tool
def name() -> str:
    return NAME

@server.tool
def number() -> int:
    return 5

@server.tool
async def slow(ctx: Context) -> str:
    await ctx.progress(1, 2, "half")
    await ctx.info("working")
    while not os.path.exists("go"):
        await asyncio.sleep(0.01)
    return NAME

@server.tool
async def confirm(ctx: Context) -> str:
    answer = await ctx.elicit("Sure?", {"type": "object", "properties": {"sure": {"type": "boolean"}}})
    return f"{answer.action} {NAME}"

@server.tool
async def where(ctx: Context) -> str:
    return " ".join(root.uri for root in await ctx.roots())

@server.tool
def die() -> str:
    os._exit(3)

@server.tool
async def touch(ctx: Context) -> str:
    server.publish(("notifications/resources/updated", "shop://item"))
    return "touched"

@server.resource("shop://item")
def item() -> str:
    return NAME
"""

AFTER = (
    BEFORE
    + """
@server.tool
def more() -> str:
    return "more"
"""
)


class Shop:
    """A server in a directory, that can be edited; and what its client was told."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "shop.py"
        self.changes: asyncio.Queue[tuple[str, str | None]] = asyncio.Queue()
        self.stderr = b""
        self.heard = asyncio.Event()
        self.name("one")
        self.path.write_text(BEFORE)

    def name(self, name: str) -> None:
        (self.directory / "near_by.py").write_text(f"NAME = {name!r}\n")

    def hear_stderr(self, data: bytes) -> None:
        self.stderr += data
        self.heard.set()

    async def until(self, pattern: bytes) -> None:
        while not re.search(pattern, self.stderr):
            self.heard.clear()
            await self.heard.wait()

    async def change_of(self, kind: str) -> str | None:
        while True:
            found, uri = await self.changes.get()
            if found == kind:
                return uri

    @asynccontextmanager
    async def client(self, protocol: str, *, inside: bool = True, **options: Any) -> AsyncIterator[Client]:
        """Connect to a front: in this process, or as a host does."""
        command = this_splice("run", str(self.path), "--reload")
        program = StdioServer(*command, cwd=self.directory, on_stderr=self.hear_stderr)
        front = Front(str(self.path))
        target = front if inside else program
        changed = lambda change: self.changes.put_nowait((change.kind, change.uri))  # noqa: E731
        async with Client(target, protocol=protocol, on_change=changed, **options) as client:
            yield client
            await client.close()
            await front.drain()
            await front.close()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", warm_python())  # with which a front starts its servers
    return Shop(tmp_path)


@pytest.fixture(params=["legacy", "modern", "2025-06-18"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def text(client: Client, tool: str, **options: Any) -> str:
    return (await client.call_tool(tool, {}, **options)).text


@pytest.mark.parametrize("inside", [True, False])
async def test_a_changed_file_is_loaded_and_the_client_is_told(shop: Shop, protocol: str, inside: bool) -> None:
    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol, inside=inside) as client:
        assert client.server_info.name == "shop"
        assert "more" not in [tool.name for tool in await client.list_tools()]
        assert await text(client, "name") == "one"
        shop.path.write_text(AFTER)
        await shop.change_of("tools")
        assert await text(client, "more") == "more"
        shop.name("two")
        await shop.change_of("tools")
        assert await text(client, "name") == "two"


async def test_results_are_those_of_the_version(shop: Shop, protocol: str) -> None:
    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        found = (await client.call_tool("number")).structured_content
        assert found == (5 if protocol == "modern" else {"result": 5})
        assert (tools["number"].output_schema or {})["type"] == ("integer" if protocol == "modern" else "object")


@pytest.mark.parametrize("inside", [True, False])
async def test_a_file_that_does_not_load_leaves_the_old_server_running(
    shop: Shop, protocol: str, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    monkeypatch.setattr(reload, "_show", shop.hear_stderr)
    monkeypatch.setattr(reload, "tell_note", lambda text: shop.hear_stderr(text.encode()))
    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol, inside=inside) as client:
        assert await text(client, "name") == "one"
        shop.name("two")
        shop.path.write_text("raise RuntimeError('not yet')\n")
        await shop.until(b"what ran before goes on")
        assert b"Traceback" in shop.stderr
        assert b"RuntimeError: not yet" in shop.stderr
        assert await text(client, "name") == "one"
        shop.path.write_text(BEFORE)
        await shop.change_of("tools")
        assert await text(client, "name") == "two"


async def test_a_call_that_runs_is_finished_by_the_old_server(shop: Shop, protocol: str) -> None:
    reports: asyncio.Queue[float] = asyncio.Queue()
    logs: asyncio.Queue[Any] = asyncio.Queue()

    def report(value: float, total: float | None, message: str | None) -> None:
        reports.put_nowait(value)

    def log(params: Any) -> None:
        logs.put_nowait(params.data)

    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol, on_log=log) as client:
        call = asyncio.create_task(text(client, "slow", progress=report))
        assert await reports.get() == 1
        assert await logs.get() == "working"
        shop.name("two")
        await shop.change_of("tools")
        assert await text(client, "name") == "two"
        (shop.directory / "go").touch()
        assert await call == "one"


async def test_a_call_that_is_cancelled_keeps_nobody(shop: Shop, protocol: str) -> None:
    reports: asyncio.Queue[float] = asyncio.Queue()
    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol) as client:
        call = asyncio.create_task(text(client, "slow", progress=lambda value, *_: reports.put_nowait(value)))
        await reports.get()
        call.cancel()
        assert await text(client, "name") == "one"


async def test_questions_pass_in_both_directions(shop: Shop, protocol: str) -> None:
    def answer(params: ElicitParams) -> dict[str, bool]:
        assert params.message == "Sure?"
        return {"sure": True}

    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol, on_elicit=answer) as client:
        assert await text(client, "confirm") == "accept one"
        shop.name("two")
        await shop.change_of("tools")
        assert await text(client, "confirm") == "accept two"


async def test_subscriptions_outlast_the_server(shop: Shop, protocol: str) -> None:
    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol) as client:
        await client.subscribe("shop://item")
        await text(client, "touch")
        assert await shop.change_of("resource") == "shop://item"
        shop.name("two")
        assert await shop.change_of("resource") == "shop://item"
        await text(client, "touch")
        assert await shop.change_of("resource") == "shop://item"
        await client.unsubscribe("shop://item")


async def test_a_server_that_dies_is_started_again_for_the_next_call(shop: Shop, protocol: str) -> None:
    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol) as client:
        with pytest.raises(Exception, match=r"The server behind --reload: .*exited with code 3"):
            await text(client, "die")
        assert await text(client, "name") == "one"


async def test_notifications_pass_and_roots_are_asked_for(shop: Shop, protocol: str) -> None:
    roots = ["file:///one"]
    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol, roots=lambda: roots) as client:
        assert await text(client, "where") == "file:///one"
        roots[:] = ["file:///two"]
        await client.roots_changed()
        assert await text(client, "where") == "file:///two"


async def test_what_the_server_refuses_is_refused(shop: Shop, protocol: str) -> None:
    async with asyncio.timeout(LIMIT_SECONDS), shop.client(protocol) as client:
        with pytest.raises(RPCError, match="nope"):
            await client.call_tool("nope")
        with pytest.raises(RPCError):
            await client.read_resource("shop://nope")


async def test_the_port_stays(shop: Shop, protocol: str) -> None:
    command = this_splice("run", str(shop.path), "--reload", "--http", "--port", "0")
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE, cwd=shop.directory)
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            assert process.stderr is not None
            found = re.search(rb"http://\S+", await process.stderr.readline())
            assert found is not None
            changed = lambda change: shop.changes.put_nowait((change.kind, change.uri))  # noqa: E731
            async with Client(found[0].decode(), protocol=protocol, on_change=changed) as client:
                assert await text(client, "name") == "one"
                shop.name("two")
                await shop.change_of("tools")
                assert await text(client, "name") == "two"
    finally:
        process.terminate()
        async with asyncio.timeout(LIMIT_SECONDS):
            await process.wait()


async def test_only_what_is_python_code_can_be_watched(shop: Shop) -> None:
    command = this_splice("run", "nothing", "--reload")
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    async with asyncio.timeout(LIMIT_SECONDS):
        _, said = await process.communicate()
    assert process.returncode == 2
    assert b"there is no file 'nothing'" in said
    assert sys.executable
