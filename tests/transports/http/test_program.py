"""A server over HTTP in a process of its own: where it listens, and how it ends."""

import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from splice.protocol.versions import LATEST_HANDSHAKE
from support.program import interrupted, program
from support.waiting import LIMIT_SECONDS
from support.warm import warm_python
from support.wire import initialize
from transports.asgi import META, MODERN, modern, within
from transports.peer import Peer

SERVER = Path(__file__).parents[2] / "support" / "http_server.py"


@asynccontextmanager
async def serving(
    *arguments: str, path: Path | str = SERVER, options: tuple[str, ...] = (), python: str = sys.executable
) -> AsyncIterator[Any]:
    """Run a server for the length of the block; the process and its port."""
    async with program(path, *arguments, options=options, python=python) as process:
        await process.said("http://127.0.0.1:")
        await process.said("\n")
        found = re.search(rb"http://127.0.0.1:(\d+)", process.errors)
        assert found is not None
        yield process, int(found[1])


async def open_streams(port: int) -> list[Peer]:
    """Open the streams that end only when the server does: one of a session, and a subscription."""
    legacy, listening = [await Peer.connect(port) for _ in range(2)]
    legacy.send(initialize(LATEST_HANDSHAKE), {})
    _, headers = await legacy.head()
    await within(legacy.reader.readexactly(int(headers["content-length"])))
    legacy.send(b"", {"Mcp-Session-Id": headers["mcp-session-id"]}, method="GET")
    params = {"_meta": META, "notifications": {"toolsListChanged": True}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    listening.send(body, {"Mcp-Method": "subscriptions/listen", "MCP-Protocol-Version": MODERN})
    for peer in (legacy, listening):
        assert (await peer.head())[0] == 200
    await listening.until(b"acknowledged")
    return [legacy, listening]


@pytest.mark.parametrize(
    ("how", "number"),
    [
        ("ours", signal.SIGTERM),
        ("ours", signal.SIGINT),
        ("ours", signal.SIGHUP),
        ("uvicorn", signal.SIGTERM),
        ("uvicorn", signal.SIGINT),
        ("mounted", signal.SIGTERM),
    ],
)
async def test_a_signal_ends_streams_as_they_should(how: str, number: signal.Signals) -> None:
    async with serving(how) as (server, port):
        legacy, listening = await open_streams(port)
        server.process.send_signal(number)
        assert (await legacy.closed()).endswith(b"0\r\n\r\n")
        last = await listening.closed()
        assert b'"result":' in last
        assert last.endswith(b"0\r\n\r\n")
        code = await server.ended()
        if how == "ours":
            assert code == 0
        assert b"lifespan closed" in server.errors
        assert b"Traceback" not in server.errors


async def test_plain_uvicorn_waits_no_longer_for_a_call_than_we_do() -> None:
    async with serving("uvicorn") as (server, port):
        peer = await Peer.connect(port)
        peer.send(*modern("hangs"))
        await server.said("hanging")
        server.process.send_signal(signal.SIGTERM)
        assert b"shutting down" in await peer.closed()
        await server.ended()


async def test_a_second_ctrl_c_ends_it_at_once() -> None:
    async with serving("ours") as (server, port):
        peer = await Peer.connect(port)
        peer.send(*modern("hangs"))
        await server.said("hanging")
        assert await interrupted(server, 2) == -signal.SIGINT
        peer.close()
        assert b"Traceback" not in server.errors


@pytest.mark.parametrize(
    ("path", "arguments", "options"),
    [(SERVER, ("ours",), ()), ("splice.cli", ("run", str(SERVER), "--http", "--port", "0"), ("-m",))],
    ids=["run", "splice run"],
)
async def test_it_listens_on_this_machine_alone(path: Any, arguments: Any, options: Any) -> None:
    if sys.platform != "linux":
        pytest.skip("elsewhere 127.0.0.2 is no address of this machine")
    async with serving(*arguments, path=path, options=options, python=warm_python()) as (_, port):
        with socket.create_connection(("127.0.0.1", port), LIMIT_SECONDS):
            pass
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), LIMIT_SECONDS)
