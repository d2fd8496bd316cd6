"""How many functions of ours stand between a transport and a user's function, and between a call and its write.

The chains are printed: read aloud, the names should tell the story.
"""

import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from splice import Client, Server, StdioServer
from splice.transports.stdio.client import StdioLink
from support import behaving_server
from support.joined import Joined
from support.listening import listening

PACKAGE = "/splice/"
ENTRY = {"memory": "exchange", "stdio": "_answer", "http": "__call__"}
"""The first function of the transport on the way to the user's."""

seen: list[str] = []


def build() -> Server:
    server = Server("frames")

    @server.tool
    async def tool() -> str:
        """Note who called."""
        seen[:] = ours()
        return ""

    @server.resource("frames://here")
    async def resource() -> str:
        seen[:] = ours()
        return ""

    @server.prompt
    async def prompt() -> str:
        seen[:] = ours()
        return ""

    return server


def ours() -> list[str]:
    """Name the functions of the package on the stack, the outermost first."""
    frames = traceback.extract_stack()
    return [
        f"{Path(frame.filename).stem}.{frame.name}"
        for frame in frames
        if PACKAGE in frame.filename and "/tests/" not in frame.filename
    ]


@asynccontextmanager
async def connected(transport: str) -> AsyncIterator[Client]:
    server = build()
    if transport == "http":
        async with listening(server.http_app()) as url, Client(url) as client:
            yield client
    else:
        async with Client(Joined(server) if transport == "stdio" else server) as client:
            yield client


def below(transport: str) -> list[str]:
    """Print and return the chain from the transport's entry on."""
    names = [name.partition(".")[2] for name in seen]
    chain = seen[names.index(ENTRY[transport]) :]
    print(f"{transport}: {' > '.join(chain)} > the user's function")  # noqa: T201 - it is to be read
    return chain


@pytest.mark.parametrize(("transport", "most"), [("memory", 5), ("stdio", 5), ("http", 6)])
async def test_few_functions_stand_above_the_users(transport: str, most: int) -> None:
    async with connected(transport) as client:
        await client.call_tool("tool")
        assert len(below(transport)) <= most
        await client.read_resource("frames://here")
        assert len(below(transport)) <= most + 1
        await client.get_prompt("prompt")
        assert len(below(transport)) <= most + 1


async def test_few_functions_stand_between_a_call_and_its_write(monkeypatch: pytest.MonkeyPatch) -> None:
    write = StdioLink._write_out

    def noting(link: StdioLink, data: bytes) -> None:
        if b'"tools/call"' in data:
            seen[:] = [*ours(), "client._write"]
        write(link, data)

    monkeypatch.setattr(StdioLink, "_write_out", noting)
    async with Client(StdioServer(sys.executable, str(Path(behaving_server.__file__)))) as client:
        await client.call_tool("echo", {"text": "a"})
    chain = seen[seen.index("client.call_tool") :]
    print(" > ".join(chain))  # noqa: T201 - it is to be read
    assert len(chain) <= 7
