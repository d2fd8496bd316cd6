"""A client whose connection is cut: over real sockets, after each event, in every version that can resume."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from splice import Client, Context, Server
from splice.protocol.versions import FACTS, HANDSHAKE_VERSIONS, VERSIONS
from splice.rules.http.sse import Decoder, Event
from support.listening import listening
from support.raw_client import OverHTTP, opened
from support.wire import JSON, answer, call

RESUMABLE = [version for version in HANDSHAKE_VERSIONS if FACTS[version].resumable]


def build(**options: Any) -> Server:
    server = Server("talker", **options)

    @server.tool
    async def talk(ctx: Context) -> str:
        """Tell of progress, ask for the roots, and tell of more."""
        for step in range(3):
            await ctx.progress(step + 1)
        await ctx.close_stream()
        roots = await ctx.roots()
        await ctx.progress(9)
        return " ".join(root.uri for root in roots)

    return server


@asynccontextmanager
async def connected(wire: OverHTTP, method: str, body: JSON = None, **headers: str) -> AsyncIterator[Any]:
    """Send a request; read the events of its response one by one, and cut the connection at the end of the block."""
    url, data = urlsplit(wire.url), b"" if body is None else json.dumps(body).encode()
    fields = {"Host": url.netloc, "Accept": "application/json, text/event-stream", "Mcp-Session-Id": wire.session}
    fields |= {"Content-Type": "application/json", "Content-Length": str(len(data))} if data else {}
    if FACTS[wire.version].version_header:
        fields["MCP-Protocol-Version"] = wire.version
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    writer.write(f"{method} {url.path} HTTP/1.1\r\n{head}\r\n".encode() + data)
    assert b" 200 " in (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0]

    async def events() -> AsyncIterator[Event]:
        decoder = Decoder(2**24)
        while size := int(await reader.readline() or b"0", 16):
            for event in decoder.feed((await reader.readexactly(size + 2))[:-2]):
                yield event

    try:
        yield events()
    finally:
        writer.transport.abort()


@pytest.mark.parametrize("store", [None, "state.db"])
@pytest.mark.parametrize("version", RESUMABLE)
@pytest.mark.requirement(180, 182, 184, 186, 194, 195, 197)
async def test_a_client_cut_off_after_each_event_gets_each_once(
    version: str, store: str | None, tmp_path: Path
) -> None:
    server = build() if store is None else build(store=tmp_path / store)
    seen = list[Event]()
    async with asyncio.timeout(20), listening(server.http_app()) as url:
        wire = OverHTTP(url)
        await opened(wire, version, roots={})
        body: JSON
        method, body, headers = "POST", call(7, "talk", _meta={"progressToken": "p"}), dict[str, str]()
        while not (seen and b'"result"' in seen[-1].data):
            async with connected(wire, method, body, **headers) as events:
                event = await anext(events, None)
            if event is not None:  # else the server has closed the stream: the client polls
                seen.append(event)
                if b'"roots/list"' in event.data:
                    roots = {"roots": [{"uri": "file:///here"}]}
                    await wire.tell(answer(json.loads(event.data)["id"], roots))
            method, body, headers = "GET", None, {"Last_Event_ID": seen[-1].id}
    assert (not seen[0].data) == FACTS[version].priming_event
    messages = [json.loads(event.data) for event in seen if event.data]
    told = [each.get("params", {}).get("progress", each.get("method")) for each in messages[:-1]]
    assert told == [1, 2, 3, "roots/list", 9]
    assert messages[-1]["id"] == 7
    assert messages[-1]["result"]["content"][0]["text"] == "file:///here"
    assert len({event.id for event in seen}) == len(seen)


@pytest.mark.parametrize("kind", ["http", "memory"])
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_handler_that_hangs_up_is_answered_all_the_same(version: str, kind: str) -> None:
    server = Server("builder")

    @server.tool
    async def build(ctx: Context) -> str:
        """Hang up, and go on."""
        await ctx.close_stream()
        await ctx.close_stream()
        await ctx.progress(1)
        return "built"

    told = list[float]()

    async def on_progress(progress: float, *_: Any) -> None:
        told.append(progress)

    async with asyncio.timeout(20), AsyncExitStack() as stack:
        target = server if kind == "memory" else await stack.enter_async_context(listening(server.http_app()))
        client = await stack.enter_async_context(Client(target, protocol=version))
        assert (await client.call_tool("build", progress=on_progress)).text == "built"
    assert told == [1]
