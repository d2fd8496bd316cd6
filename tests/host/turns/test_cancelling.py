"""A call that is cancelled on the board is cancelled at its server: it is told, or its stream is closed."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from host.hosting import allow, asked, call, hosting, run, until
from splice import Context, Server
from splice.host.asked import Approval
from splice.host.config.entries import Entry
from splice.host.config.reading import entry_of
from splice.host.host import Host
from splice.host.items import Call
from support.listening import listening
from support.waiting import until as soon
from support.warm import warm_python

PROGRAM = """
import json, sys

tool = {"name": "hang", "description": "Hang.", "inputSchema": {"type": "object"}}
more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
about = {"capabilities": {"tools": {}}}
results = {
    "server/discover": {"supportedVersions": ["2026-07-28"], **about, **more},
    "initialize": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "raw", "version": "1"}, **about},
    "tools/list": {"tools": [tool], **more},
}
heard = open(sys.argv[1], "a")
for line in sys.stdin:
    heard.write(line)
    heard.flush()
    message = json.loads(line)
    if message["method"] in results:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
"""
"""Hears, answers what it must, never answers a call, and writes down every line."""


async def cancel(host: Host, entry: Entry, is_running: Any) -> None:
    """Let the model call the tool of an entry, and cancel the call on the board once the server has it."""
    host.add_entry(entry)
    await host.say("go")
    allow(host, *await asked(host, Approval))
    await is_running()
    shown = await until(host, Call, lambda each: each.state == "running")
    await host.cancel(shown.id)
    assert (await host.wait()).text == "Fine."
    assert (await until(host, Call)).state == "cancelled"


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
def test_a_program_is_told_which_call_is_cancelled(tmp_path: Path, protocol: str) -> None:
    (tmp_path / "raw.py").write_text(PROGRAM)
    path = tmp_path / "heard"
    words = [str(tmp_path / "raw.py"), str(path)]
    entry = entry_of("raw", {"command": warm_python(), "args": words, "x-splice": {"protocol": protocol}})

    def heard(method: str) -> list[dict[str, Any]]:
        lines = path.read_text().splitlines() if path.exists() else []
        return [each for each in map(json.loads, lines) if each["method"] == method]

    async def main() -> None:
        turns = {"call": [call("raw__hang")]}, {"say": "Fine.", "after": "cancelled"}
        async with hosting(tmp_path, {}, *turns) as host:
            await cancel(host, entry, lambda: soon(lambda: heard("tools/call")))
            await soon(lambda: heard("notifications/cancelled"))
            (asked_for,) = heard("tools/call")
            (told,) = heard("notifications/cancelled")
            assert told["params"]["requestId"] == asked_for["id"]
            assert bool(heard("initialize")) == (protocol == "legacy")

    run(main())


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
def test_over_http_the_stream_is_closed_or_the_session_is_told(tmp_path: Path, protocol: str) -> None:
    server, began, ended = Server("far"), asyncio.Event(), asyncio.Event()
    app, told = server.http_app(), list[str]()

    @server.tool
    async def hang(ctx: Context) -> str:
        """Hang."""
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    async def listened(scope: Any, receive: Any, send: Any) -> None:
        async def received() -> Any:
            message = await receive()
            told.append(json.loads(message["body"])["method"] if message.get("body") else message["type"])
            return message

        await app(scope, received, send)

    async def main() -> None:
        turns = {"call": [call("far__hang")]}, {"say": "Fine.", "after": "cancelled"}
        async with listening(listened) as url, hosting(tmp_path, {}, *turns) as host:
            entry = entry_of("far", {"url": url, "x-splice": {"protocol": protocol}})
            await cancel(host, entry, began.wait)
            await ended.wait()
            assert ("initialize" in told, "notifications/cancelled" in told) == (protocol == "legacy",) * 2
            assert protocol == "legacy" or "http.disconnect" in told[told.index("tools/call") :]

    run(main())
