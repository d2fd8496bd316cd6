"""Mistakes that others published advisories for, and that no test elsewhere would notice; `docs/design/security.md`."""

import asyncio
import contextlib
import json
import socket
import struct
from pathlib import Path
from typing import Any

import pytest

from splice import Client, Context, HTTPServer, Server
from splice.errors import HTTPRefused, MCPError, RequestTimeout
from splice.protocol.jsonrpc import BadMessage, Request, decode
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN
from splice.schema.validate import BadSchema, validator
from splice.types import ElicitParams
from support import behaving_server
from support.joined import Joined
from support.listening import listening
from support.tables import rows
from support.waiting import until
from support.wire import call, initialize
from transports.asgi import Browser
from transports.http.linking import SessionServer, handshake, linked
from transports.raw_http import Visit, raw_server

BOTH = (LATEST_HANDSHAKE, LATEST_MODERN)
DISCOVERED = {
    "supportedVersions": [LATEST_MODERN],
    "capabilities": {"tools": {}},
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}

# Row 2: a client that goes away at any point.


def posted(port: int, body: dict[str, Any]) -> bytes:
    text = json.dumps(body).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "half closed"])
async def test_a_connection_that_is_cut_at_any_point_harms_nobody(reset: bool) -> None:
    app = behaving_server.build().http_app(stateless=False)
    async with listening(app) as url, Client(url) as other:
        port = int(url.split(":")[2].split("/")[0])
        for message in (initialize(), call(1, "hold", {"name": "x"})):
            request = posted(port, message)
            for cut in (*range(0, len(request), 23), len(request)):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(request[:cut])
                await writer.drain()
                if reset:
                    linger = struct.pack("ii", 1, 0)
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    writer.transport.abort()
                else:
                    writer.write_eof()
                    async with asyncio.timeout(5):
                        await reader.read()  # whatever it is told, the connection ends
                writer.close()
        assert (await other.call_tool("echo", {"text": "still here"})).text == "still here"


# Row 6: no page may read what is said, whatever it asked.


@rows("method", ["GET", "POST", "DELETE", "OPTIONS", "PUT", "HEAD"])
@rows("path", ["/mcp", "/health", "/nowhere"])
@rows("origin", ["http://localhost:8000", "https://evil.example"])
async def test_no_answer_is_shared_with_other_pages(method: str, path: str, origin: str) -> None:
    server = Server("routed")

    @server.route("/health")
    async def health() -> str:
        return "ok"

    asked = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-private-network": "true",
    }
    answer = await Browser(server.http_app(path="/mcp")).send(method, b"{}", asked, path=path)
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert origin != "https://evil.example" or answer.status == 403


# Row 9: one server object on several transports at once.


async def test_one_server_on_all_transports_at_once_tells_each_client_its_own() -> None:
    server = behaving_server.build()
    async with listening(server.http_app()) as url, contextlib.AsyncExitStack() as stack:
        targets: list[Any] = [server, Joined(server), url]
        clients: list[Client] = []
        for number, (target, version) in enumerate((target, version) for target in targets for version in BOTH):

            def answer(_: ElicitParams, number: int = number) -> dict[str, Any]:
                return {"name": f"client {number}", "age": number}

            clients.append(await stack.enter_async_context(Client(target, protocol=version, on_elicit=answer)))

        async def use(number: int, client: Client) -> None:
            for _ in range(5):  # ids of all of them are the same
                heard: list[float] = []
                values = [number + each / 10 for each in range(1, 4)]
                await client.call_tool(
                    "steps", {"values": values}, progress=lambda value, *_, heard=heard: heard.append(value)
                )
                assert heard == values
                assert (await client.call_tool("introduce")).text == f"client {number}, {number}"
                assert (await client.call_tool("echo", {"text": str(number)})).text == str(number)

        async with asyncio.timeout(20):
            await asyncio.gather(*(use(number, client) for number, client in enumerate(clients)))


# Row 17: credentials do not follow a redirect, whatever the request.


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_stream_and_the_leave_of_a_session_follow_no_redirect_elsewhere(status: int) -> None:
    class Elsewhere(SessionServer):
        url = ""

        async def get(self, visit: Visit) -> None:
            await visit.reply(status, location=self.url)

        delete = get

    handler = Elsewhere()
    async with raw_server(lambda visit: visit.result("stolen")) as sink:
        handler.url = sink.url
        async with linked(handler, headers={"Authorization": "Bearer secret"}) as (link, server):
            with contextlib.suppress(HTTPRefused):
                await handshake(link)
            await until(lambda: server.seen("GET"))
        assert server.seen("DELETE")
        assert sink.visits == []


# Row 18: what a schema refers to is not fetched, wherever the schema stands.


@pytest.mark.parametrize("words", ["$ref", "$dynamicRef", "$schema"])
@pytest.mark.parametrize("where", ["input", "output", "form"])
async def test_no_schema_of_a_peer_is_fetched(where: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    async with raw_server(lambda visit: visit.result({})) as sink:
        for target in (sink.url, (tmp_path / "x.json").as_uri(), "ftp" + sink.url.removeprefix("http")):
            schema = {"type": "object", words: target}
            listed: dict[str, Any] = {"name": "t", "inputSchema": {"type": "object"}}
            listed |= {"inputSchema": schema} if where == "input" else {}
            listed |= {"outputSchema": schema} if where == "output" else {}
            with pytest.raises(BadSchema):
                validator(schema)
            await use_schemas(listed, schema)
        assert sink.visits == []


async def use_schemas(listed: dict[str, Any], schema: dict[str, Any]) -> None:
    """Call a tool that is listed so, and be asked by a form of that schema."""

    async def handler(visit: Visit) -> None:
        method = (visit.message or {}).get("method", "")
        asking = {"method": "elicitation/create", "params": {"mode": "form", "message": "?", "requestedSchema": schema}}
        results: dict[str, Any] = {
            "server/discover": DISCOVERED,
            "tools/list": {"tools": [listed], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
            "tools/call": {"resultType": "complete", "content": [], "structuredContent": {}}
            if "outputSchema" in listed
            else {"resultType": "input_required", "inputRequests": {"q": asking}},
        }
        await visit.result(results.get(method, {}))

    async with raw_server(handler) as server, asyncio.timeout(5):
        client = Client(server.url, protocol=LATEST_MODERN, on_elicit=lambda _: {"a": 1})
        async with client:
            await client.list_tools()
            with pytest.raises(MCPError, match=r"nothing is ever fetched|unsupported JSON Schema dialect"):
                await client.call_tool("t", {})


# Row 21: one reading of a key.


@pytest.mark.parametrize("name", ["Method", "METHOD", "method\\u0000", "meth\\u200dod", "\\uff4dethod", "method "])
def test_a_name_is_the_same_character_by_character_or_another(name: str) -> None:
    read = decode(f'{{"jsonrpc":"2.0","id":1,"method":"ping","{name}":"tools/call"}}'.encode())
    assert read == Request(1, "ping")
    with pytest.raises(BadMessage):
        decode(f'{{"jsonrpc":"2.0","id":1,"{name}":"tools/call"}}'.encode())


def test_of_a_name_that_occurs_twice_the_last_counts() -> None:
    read = decode(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}')
    assert read == Request(2, "b")


# Reliability, row 20.


async def test_progress_without_end_does_not_lengthen_a_call() -> None:
    server = Server("busy")

    @server.tool
    async def busy(ctx: Context) -> str:
        for number in range(10**9):
            await ctx.progress(number)
            await asyncio.sleep(0.001)
        return "never"

    async with Client(server) as client, asyncio.timeout(5):
        with pytest.raises(RequestTimeout):
            await client.call_tool("busy", timeout=0.2)


# Row 45: what a server says where to go on is no address.


async def test_a_cursor_is_no_address() -> None:
    """It is sent back as it came, to where the list was asked for."""
    async with raw_server(lambda visit: visit.result({})) as sink:
        cursors = [sink.url, f"//{sink.url.partition('//')[2]}", "file:///etc/passwd", "../other"]
        given: list[str | None] = []

        async def handler(visit: Visit) -> None:
            if visit.message["method"] == "server/discover":
                await visit.result(DISCOVERED)
                return
            given.append(visit.message["params"].get("cursor"))
            page = {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            await visit.result(page | ({"nextCursor": cursors[len(given) - 1]} if len(given) <= len(cursors) else {}))

        async with raw_server(handler) as server, asyncio.timeout(5):
            target = HTTPServer(server.url, headers={"Authorization": "Bearer s3cret"})
            client = Client(target, protocol=LATEST_MODERN)
            async with client:
                await client.list_tools()
        assert given == [None, *cursors]
        assert {visit.path for visit in server.visits} == {"/mcp"}
        assert sink.visits == []
