"""A client whose HTTP server is killed and comes back: nothing but the calls of that moment fails."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from splice import Change, Client
from splice.client import lives, subscriptions
from splice.errors import ConnectFailed, ConnectionClosed
from support.program import Program, program
from support.waiting import until
from support.warm import warm_python

ERAS = pytest.mark.parametrize("protocol", ["legacy", "modern"])
MORTAL = "tests/support/mortal_server.py"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lives, "BACK_OFF_SECONDS", (0.0, 0.05))
    monkeypatch.setattr(subscriptions, "RECONNECT_SECONDS", (0.05,))


@pytest.fixture
def port() -> int:
    """Find a port that is free."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@asynccontextmanager
async def serving(port: int) -> AsyncIterator[Program]:
    """Run a server process at that port, which is killed at the end of the block."""
    async with program(MORTAL, str(port), python=warm_python()) as server:
        await server.said("Serving MCP")
        yield server
    await until(lambda: not listens(port))


@ERAS
async def test_a_server_that_is_away_fails_calls_and_not_the_client(port: int, protocol: str) -> None:
    url = f"http://127.0.0.1:{port}/mcp"
    async with asyncio.timeout(20):
        async with serving(port):
            client = await Client(url, protocol=protocol).open()
            before = (await client.call_tool("who")).text
        for _ in range(2):
            with pytest.raises(ConnectFailed, match=f"nothing listens at 127.0.0.1:{port}") as caught:
                await client.call_tool("who")
            assert not caught.value.may_have_run
        async with serving(port):
            results = await asyncio.gather(*(client.call_tool("who") for _ in range(5)))
            assert len({result.text for result in results} - {before}) == 1
            assert client.state == "open"
            await client.close()


@ERAS
async def test_with_retries_a_call_waits_for_the_server(port: int, protocol: str) -> None:
    url = f"http://127.0.0.1:{port}/mcp"
    async with asyncio.timeout(20):
        async with serving(port):
            client = await Client(url, protocol=protocol, retries=1000).open()
            before = (await client.call_tool("who")).text
            with pytest.raises(ConnectionClosed, match="closed the connection") as caught:
                await client.call_tool("die")
            assert caught.value.may_have_run
        call = asyncio.ensure_future(client.call_tool("who"))
        read = asyncio.ensure_future(client.read_resource("x://a"))
        async with serving(port):
            assert (await call).text != before
            assert (await read).contents
            await client.close()


@ERAS
async def test_what_is_wanted_of_a_server_that_was_away_is_told_again(port: int, protocol: str) -> None:
    url = f"http://127.0.0.1:{port}/mcp"
    changes: list[Change] = []
    async with asyncio.timeout(20):
        async with serving(port):
            client = await Client(url, protocol=protocol, on_change=changes.append).open()
            await client.subscribe("x://a")
        async with serving(port):
            if protocol == "legacy":  # here the next call finds out
                await client.ping()
            await until(lambda: Change("resource", "x://a") in changes)
            changes.clear()
            await client.call_tool("touch")
            await until(lambda: Change("resource", "x://a") in changes)
            await client.close()
