"""What the newest version deprecates is told once per process, in the log of whoever runs the server."""

import logging
import subprocess
import sys
from typing import Any

import pytest

from splice import Context, InputRequired, Server
from splice.server import call
from support.caller import ASKING, LEGACY, MODERN, Caller, accept, fixed, said

NEWEST = MODERN[-1]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin as a new process does."""
    monkeypatch.setattr(call, "_told", set())


def using() -> Server:
    server = Server("s")

    @server.tool
    async def sampling(ctx: Context) -> str:
        return (await ctx.sample("hi")).text

    @server.tool
    async def roots(ctx: Context) -> int:
        return len(await ctx.roots())

    @server.tool
    async def by_hand(ctx: Context) -> Any:
        return "done" if ctx.answers else InputRequired({"roots": None})

    @server.tool
    async def logging(ctx: Context) -> str:
        await ctx.info("hello")
        await ctx.warning("hello")
        return "done"

    @server.tool
    async def nothing_old(ctx: Context) -> str:
        await ctx.progress(1)
        return str((await ctx.elicit("Really?")).accepted)

    return server


ANSWERS: dict[str, Any] = {
    "sampling": said("hello"),
    "roots": {"roots": []},
    "by_hand": {"roots": []},
    "logging": None,
    "nothing_old": accept(),
}
TOLD = {
    "sampling": "Sampling is deprecated in 2026-07-28",
    "roots": "Roots are deprecated in 2026-07-28",
    "by_hand": "Roots are deprecated in 2026-07-28",
    "logging": "Log messages to clients are deprecated in 2026-07-28",
}


def deprecations(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "splice.deprecated"]


async def use(tool: str, version: str) -> None:
    caller = Caller(using(), version, answers=fixed(ANSWERS[tool]))
    caller.level = "debug"
    await (await caller.open()).call(tool, token=1)


@pytest.mark.parametrize("tool", TOLD)
async def test_it_is_told_once_however_many_servers_use_it(tool: str, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        await use(tool, NEWEST)
    (message,) = deprecations(caplog)
    assert message.startswith(TOLD[tool])
    assert caplog.records[0].levelno == logging.WARNING


@pytest.mark.parametrize("version", LEGACY)
@pytest.mark.parametrize("tool", TOLD)
async def test_nothing_is_deprecated_in_versions_before(
    tool: str, version: str, caplog: pytest.LogCaptureFixture
) -> None:
    await use(tool, version)
    assert not deprecations(caplog)


@pytest.mark.parametrize("version", ASKING)
async def test_what_is_not_deprecated_is_not_told(version: str, caplog: pytest.LogCaptureFixture) -> None:
    await use("nothing_old", version)
    assert not deprecations(caplog)


async def test_each_is_told_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    for tool in ("roots", "sampling", "by_hand", "logging"):
        await use(tool, NEWEST)
    assert len(deprecations(caplog)) == 3


PROGRAM = """
import asyncio, logging
from splice import Client, Context, Server
server = Server("s")
@server.tool
async def look(ctx: Context) -> int:
    return len(await ctx.roots())
async def main():
    async with Client(server, roots=["file:///a"]) as client:
        assert (await client.call_tool("look")).text == "1"
        assert (await client.call_tool("look")).text == "1"
asyncio.run(main())
"""


@pytest.mark.parametrize("silent", [False, True])
def test_it_is_seen_where_nobody_configured_logging_and_can_be_silenced(silent: bool) -> None:
    silence = 'logging.getLogger("splice.deprecated").setLevel(logging.ERROR)\nasyncio.run(main())'
    program = PROGRAM.replace("asyncio.run(main())", silence) if silent else PROGRAM
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True)
    assert done.stderr.count("Roots are deprecated") == (not silent)
