"""JSON-RPC batches: legal in 2025-03-26 and nowhere else, on either side, by stdio and HTTP, in replies and events.

`SENT` has what a client may put into an array and what a server without batches, and one with, makes of it; `ANSWERED`
has how a server may wrap its response, and what a client makes of that.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from splice import Client, RemoteProtocolError, StdioServer
from splice.errors import ConnectionClosed, RequestTimeout
from splice.protocol.versions import FACTS
from splice.types import VERSIONS
from support import batching_server, limited_server
from support.listening import listening
from support.program import program
from support.raw_client import OverHTTP
from support.warm import warm_python
from support.wire import JSON, ask, call, cancel, initialize, meta, note
from transports.raw_http import Visit, raw_server

BATCHED = [version for version in VERSIONS if FACTS[version].batches]
SINGLE = "the protocol version has no batches; send one message"


def echo(id: JSON) -> JSON:
    return call(id, "echo", {"text": "x"})


RESPONSE: JSON = {"jsonrpc": "2.0", "id": 99, "result": {}}
ENVELOPED = ask(3, "tools/list", {"_meta": meta()})

SENT: dict[str, tuple[JSON, dict[JSON, str] | None]] = {
    "one request": ([ask(1, "ping")], {1: "ok"}),
    "requests": ([echo(1), ask("b", "ping"), echo(3)], {1: "ok", "b": "ok", 3: "ok"}),
    "a request and notes": ([note("notifications/roots/list_changed"), echo(1), cancel(7)], {1: "ok"}),
    "notes": ([note("notifications/roots/list_changed"), cancel(7)], None),
    "responses": ([RESPONSE, {**RESPONSE, "id": 98}], None),
    "nothing": ([], {None: "-32600"}),
    "what is no message": ([1, echo(1), {"jsonrpc": "2.0", "id": 2}], {None: "-32600", 1: "ok", 2: "-32600"}),
    "an unknown method": ([ask(1, "no/such"), echo(2)], {1: "-32601", 2: "ok"}),
    "initialize": ([initialize(id=1), echo(2)], {1: "-32600", 2: "ok"}),
    "a request with its own version": ([ENVELOPED, echo(1)], {3: "-32600", 1: "ok"}),
    "too many": ([echo(id) for id in range(101)], {None: "-32600"}),
}
"""What is sent, and the outcome by id where batches are legal; None: no answer."""


def outcomes(reply: JSON) -> dict[JSON, str]:
    """Tell what became of each request; an error stands alone where it answers all of them."""
    found = reply if isinstance(reply, list) else [reply]
    return {each.get("id"): "ok" if "result" in each else str(each["error"]["code"]) for each in found}


def check(reply: JSON, expected: dict[JSON, str] | None, version: str) -> None:
    """Compare the reply to a batch with what the version wants."""
    if version in BATCHED:
        assert (None if reply is None else outcomes(reply)) == expected
        assert reply is None or isinstance(reply, list) is (expected != {None: "-32600"})
    else:
        assert set(outcomes(reply).values()) == {"-32600"}
        assert SINGLE in reply["error"]["message"]


@pytest.mark.requirement(509, 510, 513)
async def test_a_server_takes_batches_by_stdio_in_their_version(version: str) -> None:
    async with program(limited_server.__file__, *VERSIONS, python=warm_python()) as process:
        if not FACTS[version].request_meta:
            await process.open(version)
        for shape, (batch, expected) in SENT.items():
            await process.send(json.dumps(batch).encode() + b"\n")
            answers = version not in BATCHED or expected is not None
            check(await process.receive() if answers else None, expected, version)
            end = {"_meta": meta()} if FACTS[version].request_meta else {}
            assert "result" in await process.request(ask(f"after {shape}", "tools/list", end))
    assert process.others == []


@pytest.mark.requirement(509, 510, 511, 512, 513)
@pytest.mark.parametrize("shape", SENT)
async def test_a_server_takes_batches_by_http_in_their_version(shape: str, version: str) -> None:
    batch, expected = SENT[shape]
    async with listening(limited_server.build(VERSIONS).http_app()) as url:
        http = OverHTTP(url)
        fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if FACTS[version].request_meta:
            fields |= {"MCP-Protocol-Version": version}
        else:
            await http.ask(initialize(version))
            fields |= {"Mcp-Session-Id": http.session, "MCP-Protocol-Version": version}
        answer, body = await asyncio.to_thread(http.send, "POST", fields, json.dumps(batch).encode())
        alone = version not in BATCHED or expected == {None: "-32600"}
        assert answer.status == (400 if alone else 202 if expected is None else 200)
        check(json.loads(body) if body else None, expected, version)


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_no_batch_opens_a_session(transport: str) -> None:
    batch = [initialize(BATCHED[0], id=1)]
    if transport == "stdio":
        async with program(limited_server.__file__, *BATCHED, python=warm_python()) as process:
            await process.send(json.dumps(batch).encode() + b"\n")
            assert (await process.receive())["error"]["code"] == -32600
            assert "result" in await process.open(BATCHED[0])
        return
    async with listening(limited_server.build(BATCHED).http_app()) as url:
        fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        http = OverHTTP(url)
        answer, _ = await asyncio.to_thread(http.send, "POST", fields, json.dumps(batch).encode())
        assert (answer.status, answer.headers["Mcp-Session-Id"]) == (400, None)


# Clients.

ANSWERED = ["[R]", "[N,R]", "[R,N]", "[X,R]", "[R,1]"]
"""Shapes of `support.batching_server`."""


async def called(target: Any, version: str, heard: list[Any]) -> str:
    async with (
        asyncio.timeout(5),
        Client(target, protocol=version, timeout=5.0, on_log=lambda params: heard.append(params.data)) as client,
    ):
        return (await client.call_tool("t", timeout=0.3)).text


@pytest.mark.requirement(509, 513)
@pytest.mark.parametrize("shape", ANSWERED)
@pytest.mark.parametrize("wire", ["stdio", "json", "events"])
async def test_a_client_takes_batches_in_their_version(wire: str, shape: str, version: str) -> None:
    async def answer(visit: Visit) -> None:
        if visit.method != "POST" or "id" not in visit.message:
            await visit.reply(202 if visit.method == "POST" else 405)
            return
        text = batching_server.replies(visit.message, shape, version).encode()
        if wire == "events" and visit.message["method"] == "tools/call":
            await visit.begin_stream()
            await visit.chunk(b"data: " + text + b"\n\n")
            await visit.end_stream()
        else:
            await visit.reply(200, text, content_type="application/json")

    heard: list[Any] = []
    async with raw_server(answer) as server:
        target: Any = server.url
        if wire == "stdio":
            target = StdioServer(warm_python(), str(Path(batching_server.__file__)), shape, version)
        if version in BATCHED:
            assert await called(target, version, heard) == "there"
            assert heard == ["noted"] * ("N" in shape)
        else:
            with pytest.raises((RemoteProtocolError, ConnectionClosed, RequestTimeout)):
                await called(target, version, heard)
            assert heard == []
