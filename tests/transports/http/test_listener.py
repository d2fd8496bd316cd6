"""The endpoint on a real server, any uvicorn and our own listener: raw bytes in, raw bytes out."""

import asyncio
import contextlib
import io
import json
import logging
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
import uvloop

from splice.protocol.jsonrpc import Notification, raw
from splice.transports.base import Exchange
from splice.transports.http import listener, visits
from splice.transports.http.app import HTTPApp
from support.waiting import until
from transports.asgi import LEGACY, Browser, FakeService, Gate, call, modern, nothing_runs_on, within
from transports.peer import Peer, request_bytes


class Stage:
    """A running server and its service."""

    def __init__(self, service: FakeService, app: HTTPApp, server: uvicorn.Server, port: int) -> None:
        self.service = service
        self.app = app
        self.server = server
        self.port = port
        self.peers: list[Peer] = []

    async def connect(self) -> Peer:
        peer = await Peer.connect(self.port)
        self.peers.append(peer)
        return peer


@asynccontextmanager
async def served(*, ours: bool, **options: Any) -> AsyncIterator[Stage]:
    service = FakeService()
    app = HTTPApp(service, **options)
    theirs = uvicorn.Config(app, http="httptools", loop="none", lifespan="off", log_config=None)
    server = listener.Listener(app) if ours else uvicorn.Server(theirs)
    server.config.timeout_graceful_shutdown = 2
    with socket.create_server(("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server.serve(sockets=[listening]))
        stage = Stage(service, app, server, listening.getsockname()[1])
        try:
            yield stage
        finally:
            for peer in stage.peers:
                peer.close()
            await app.stop(0.1)
            server.should_exit = True
            await within(task)
            await nothing_runs_on()


Scenario = Callable[[Stage], Awaitable[None]]


def perform(scenario: Scenario, *, ours: bool, **options: Any) -> None:
    """Run a scenario on uvloop."""

    async def main() -> None:
        async with asyncio.timeout(20), served(ours=ours, **options) as stage:
            await scenario(stage)

    uvloop.run(main())


@pytest.fixture(params=[True, False], ids=["ours", "uvicorn"])
def play(
    request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Run a scenario on uvloop; nothing may be logged as an error."""
    monkeypatch.setattr(visits, "TICK_SECONDS", 0.005)

    def run(scenario: Scenario, **options: Any) -> None:
        perform(scenario, ours=request.param, **options)
        assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []

    return run


def test_one_connection_serves_many_calls(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        peer = await stage.connect()
        for number in range(3):
            peer.send(*modern("echo", number, n=number))
            assert await peer.answer() == (200, {"jsonrpc": "2.0", "id": number, "result": {"echo": {"n": number}}})
        for number in range(3):
            peer.send(*modern("echo", number))
        for number in range(3):
            assert (await peer.answer())[1]["id"] == number

    play(scenario)


def test_a_refusal_leaves_the_connection_in_step(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        peer = await stage.connect()
        body, headers = modern("echo")
        for change, status in (
            ({"Host": "evil.com"}, 403),
            ({"Content-Type": "text/plain"}, 415),
            ({"Accept": "x/y"}, 406),
        ):
            peer.send(body, headers | change)
            assert (await peer.answer())[0] == status
            peer.send(body, headers)
            assert (await peer.answer())[0] == 200
        assert len(stage.service.requests) == 3

    play(scenario)


def test_a_declared_body_over_the_limit(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        for size in (1001, 1500, 100_000):
            peer = await stage.connect()
            peer.send(b"x" * size, {})
            status, answer = await peer.answer()
            assert (status, answer["error"]["code"]) == (413, -32600)
            await peer.closed()

    play(scenario, max_body=1000)


def test_an_endless_chunked_body(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        peer = await stage.connect()
        peer.writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        peer.writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(30):
            peer.writer.write(b"64\r\n" + b"x" * 100 + b"\r\n")
        assert (await peer.answer())[0] == 413
        await peer.closed()

    play(scenario, max_body=1000)


def test_a_client_that_waits_for_permission_to_send(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        body, headers = modern("echo")
        peer = await stage.connect()
        peer.send(b"", headers | {"Expect": "100-continue", "Content-Length": "5000000"})
        assert (await peer.answer())[0] == 413
        data = json.dumps(body).encode()
        peer = await stage.connect()
        peer.send(b"", headers | {"Expect": "100-continue", "Content-Length": str(len(data))})
        assert (await peer.head())[0] == 100
        peer.writer.write(data)
        assert (await peer.answer())[0] == 200

    play(scenario)


def test_two_lengths_are_refused(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        peer = await stage.connect()
        peer.send(b"0\r\n\r\n", {"Transfer-Encoding": "chunked"})
        assert (await peer.head())[0] == 400
        await peer.closed()
        assert stage.service.requests == []

    play(scenario)


@pytest.mark.parametrize("notes", [(), ("notifications/progress",)])
def test_a_modern_client_cancels_by_leaving(play: Callable[..., None], notes: tuple[str, ...]) -> None:
    async def scenario(stage: Stage) -> None:
        stage.service.tools["gate"] = gate = Gate(*notes)
        peer = await stage.connect()
        peer.send(*modern("gate"))
        await within(gate.entered.wait())
        peer.close()
        assert await within(gate.outcome) == "cancelled"

    play(scenario)


@pytest.mark.parametrize("notes", [(), ("notifications/progress",)])
def test_a_legacy_client_does_not(play: Callable[..., None], notes: tuple[str, ...]) -> None:
    async def scenario(stage: Stage) -> None:
        stage.service.tools["gate"] = gate = Gate(*notes)
        peer = await stage.connect()
        initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": LEGACY}}
        peer.send(initialize, {})
        _, headers = await peer.head()
        await peer.reader.readexactly(int(headers["content-length"]))
        session = {"Mcp-Session-Id": headers["mcp-session-id"]}
        peer.send(call("gate"), session)
        await within(gate.entered.wait())
        peer.close()
        await within(peer.writer.wait_closed())
        other = await stage.connect()
        other.send(call("echo", 2), session)
        assert (await other.answer())[0] == 200
        assert not gate.outcome.done()
        gate.released.set()
        assert await within(gate.outcome) == "done"

    play(scenario)


def test_a_stream_arrives_as_it_is_written(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        stage.service.tools["gate"] = gate = Gate("notifications/progress")
        peer = await stage.connect()
        peer.send(*modern("gate"))
        status, headers = await peer.head()
        assert (status, headers["content-type"]) == (200, "text/event-stream")
        await peer.until(b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n')
        gate.released.set()
        await peer.until(b'"result":{"done":true}}\n\n')
        await peer.until(b"0\r\n\r\n")
        peer.send(*modern("echo"))
        assert (await peer.answer())[0] == 200

    play(scenario)


def test_a_client_that_does_not_read_holds_up_only_itself(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        sent = 0
        full = asyncio.Event()

        async def flood(exchange: Exchange) -> Any:
            nonlocal sent
            asyncio.get_running_loop().call_later(0.2, full.set)
            while True:
                await exchange.notify(Notification("notifications/message", {"data": "x" * 100_000}))
                sent += 1

        stage.service.tools["flood"] = flood
        peer = await stage.connect()
        peer.send(*modern("flood"))
        await within(full.wait())
        assert sent < 500
        other = await stage.connect()
        other.send(*modern("echo"))
        assert (await other.answer())[0] == 200
        peer.writer.transport.abort()

    play(scenario)


def test_stopping_ends_open_streams_with_their_result(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        async def listen(exchange: Exchange) -> Any:
            await exchange.notify(Notification("notifications/subscriptions/acknowledged"))
            await stage.service.stopping.wait()
            return {"over": True}

        stage.service.tools["listen"] = listen
        peer = await stage.connect()
        peer.send(*modern("listen"))
        await peer.until(b"acknowledged")
        await within(stage.app.stop())
        await peer.until(b'"result":{"over":true}}\n\n')

    play(scenario)


def test_what_only_the_beginning_needed_is_let_go_of(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        seen: list[Exchange] = []

        async def waits(exchange: Exchange) -> Any:
            await exchange.notify(Notification("notifications/subscriptions/acknowledged"))
            exchange.rest()
            seen.append(exchange)
            await stage.service.stopping.wait()
            return {"over": True}

        stage.service.tools["waits"] = waits
        peer = await stage.connect()
        peer.send(*modern("waits"))
        await peer.until(b"acknowledged")
        assert seen[0].request.params is None
        assert dict(seen[0].sender.headers) == {}
        await within(stage.app.stop())
        await peer.until(b'"result":{"over":true}}\n\n')

    play(scenario)


def test_a_client_that_left_before_it_was_watched_is_noticed(
    play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(stage: Stage) -> None:
        monkeypatch.setattr(visits, "TICK_SECONDS", 0.05)
        stage.service.tools["gate"] = gate = Gate()
        peer = await stage.connect()
        peer.send(*modern("gate"))
        await within(gate.entered.wait())
        peer.writer.transport.abort()
        assert await within(gate.outcome) == "cancelled"

    play(scenario)


# Bounds on what comes before a request, and beside its body. They are our own listener's.

START = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = START + b"Transfer-Encoding: chunked\r\n\r\n"
FLOODS = {
    "a header without end": START + b"X: " + b"a" * 70_000,
    "a head of many bytes": START + b"X: " + b"a" * 65_500 + b"\r\n\r\n",
    "a head in many lines": START + (b"X: " + b"a" * 7_000 + b"\r\n") * 10 + b"\r\n",
    "a line without end": b"POST /" + b"a" * 70_000,
    "a URL of many bytes": b"POST /" + b"a" * 66_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a field too many": START + b"X: a\r\n" * 99 + b"\r\n",
    "fields without end": START + b"X:\r\n" * 200_000,
    "a chunk extension": CHUNKED + b"2;x=" + b"a" * 100_000 + b"\r\n{}\r\n0\r\n\r\n",
    "a long trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
}


async def all_that_comes(connection: socket.socket) -> bytes:
    """Read to the end, a reset included: what was sent before it still arrives."""
    received = b""
    with contextlib.suppress(ConnectionError):
        while part := await within(asyncio.get_running_loop().sock_recv(connection, 65536)):
            received += part
    return received


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
@pytest.mark.parametrize("answered", [0, 1], ids=["first", "second"])
def test_a_flood_is_refused_before_anything_is_served(flood: bytes, answered: int) -> None:
    async def scenario(stage: Stage) -> None:
        with socket.create_connection(("127.0.0.1", stage.port)) as peer:
            peer.setblocking(False)
            loop = asyncio.get_running_loop()
            for _ in range(answered):
                await loop.sock_sendall(peer, request_bytes(*modern("echo")))
                assert (await within(loop.sock_recv(peer, 65536))).startswith(b"HTTP/1.1 200")
            with contextlib.suppress(ConnectionError):
                await within(loop.sock_sendall(peer, flood))
            answer = await all_that_comes(peer)
        assert answer.startswith(b"HTTP/1.1 431 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == -32600
        assert len(stage.service.requests) == answered

    perform(scenario, ours=True)


def test_a_flood_behind_a_running_request_ends_that_too() -> None:
    async def scenario(stage: Stage) -> None:
        stage.service.tools["gate"] = gate = Gate("notifications/progress")
        peer = await stage.connect()
        peer.send(*modern("gate"))
        await peer.until(b"notifications/progress")
        peer.writer.write(FLOODS["a header without end"])
        with contextlib.suppress(ConnectionResetError):
            assert b"431" not in await peer.closed()
        assert await within(gate.outcome) == "cancelled"

    perform(scenario, ours=True)


def test_what_is_within_the_bounds_passes(play: Callable[..., None]) -> None:
    async def scenario(stage: Stage) -> None:
        peer = await stage.connect()
        body, headers = modern("echo", text="x" * 3_000_000)
        many = {f"X-{number}": "x" * 600 for number in range(93)}
        peer.send(body, headers | many)
        assert (await peer.answer())[0] == 200
        data = json.dumps(body).encode()
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
        peer.writer.write(CHUNKED[:-2] + fields + b"\r\n")
        for start in range(0, 300_000, 3):
            peer.writer.write(b"3\r\n" + data[start : start + 3] + b"\r\n")
        peer.writer.write(b"%x\r\n" % (len(data) - 300_000) + data[300_000:] + b"\r\n0\r\n\r\n")
        assert (await peer.answer())[0] == 200
        peer.send(b"x" * 3_000_000, headers | {"Host": "evil.com"})
        assert (await peer.answer())[0] == 403
        peer.send(*modern("echo"))
        assert (await peer.answer())[0] == 200

    play(scenario)


@pytest.mark.parametrize("answered", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize("sent", [b"", b"P", START, START + b"X: a"])
def test_a_head_takes_no_longer_than_it_may(sent: bytes, answered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(stage: Stage) -> None:
        peer = await stage.connect()
        for number in range(answered):
            peer.send(*modern("echo", number))
            assert (await peer.answer())[0] == 200
        monkeypatch.setattr(listener, "HEAD_SECONDS", 0.2)
        other = await stage.connect()
        other.writer.write(sent)
        peer.writer.write(sent)
        for each in (peer, other):
            if sent:
                assert (await each.answer())[0] == 408
            if sent or each is other:
                assert await each.closed() == b""
        assert len(stage.service.requests) == answered

    perform(scenario, ours=True)


def test_a_head_that_trickles_in_gains_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "HEAD_SECONDS", 0.2)

    async def scenario(stage: Stage) -> None:
        peer = await stage.connect()
        peer.writer.write(START + b"X: ")
        head = asyncio.create_task(peer.head())
        while not head.done():
            peer.writer.write(b"a")
            await asyncio.wait([head], timeout=0.02)
        assert head.result()[0] == 408

    perform(scenario, ours=True)


def test_time_for_a_head_is_not_time_for_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "HEAD_SECONDS", 0.05)

    async def scenario(stage: Stage) -> None:
        stage.service.tools["gate"] = gate = Gate()
        peer, other = await stage.connect(), await stage.connect()
        peer.send(*modern("gate"))
        await within(gate.entered.wait())
        assert await other.closed() == b""
        gate.released.set()
        assert (await peer.answer())[0] == 200

    perform(scenario, ours=True)


@pytest.mark.parametrize("wish", ["h2c", "websocket"])
def test_a_wish_for_another_protocol_is_ignored(wish: str) -> None:
    async def scenario(stage: Stage) -> None:
        peer = await stage.connect()
        wishes = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": wish, "HTTP2-Settings": "AAEAAEAAAAIAAAAB"}
        for number, size in ((1, 3), (2, 300_000)):
            body, headers = modern("echo", number, text="x" * size)
            peer.send(body, headers | wishes)
            assert await peer.answer() == (
                200,
                {"jsonrpc": "2.0", "id": number, "result": {"echo": {"text": "x" * size}}},
            )
        whole = b"".join(
            request_bytes(*modern("echo", number)).replace(b"\r\n", b"\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n", 1)
            for number in range(3)
        )
        for start in range(0, len(whole), 100):
            peer.writer.write(whole[start : start + 100])
            await asyncio.sleep(0)
        for number in range(3):
            assert (await peer.answer())[1]["id"] == number
        body, headers = modern("echo")
        head = "".join(f"{name}: {value}\r\n" for name, value in (headers | wishes).items()).encode()
        data = json.dumps(body).encode()
        peer.writer.write(CHUNKED[:-2] + head + b"\r\n%x\r\n" % len(data) + data + b"\r\n0\r\n\r\n")
        assert (await peer.answer())[0] == 200
        peer.writer.write(b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n")
        assert b" 400 " in await peer.closed()

    perform(scenario, ours=True)


def test_trailers_are_not_headers() -> None:
    async def scenario(stage: Stage) -> None:
        body, headers = modern("echo")
        peer = await stage.connect()
        for trailing in ("Mcp-Name", "X-User"):
            fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if name.title() != trailing)
            data = json.dumps(body).encode()
            peer.writer.write(CHUNKED[:-2] + fields.encode() + b"\r\n%x\r\n" % len(data) + data)
            peer.writer.write(f"\r\n0\r\n{trailing}: echo\r\n\r\n".encode())
            status, answer = await peer.answer()
            assert (status, "Mcp-Name is missing" in str(answer)) == (
                (400, True) if trailing == "Mcp-Name" else (200, False)
            )
        assert "x-user" not in stage.service.senders[0].headers

    perform(scenario, ours=True)


# Listening.


class Served:
    """Stands in for the server that would run until a signal comes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[int] = []
        self.ports: list[int] = []

        async def serve(server: Any, sockets: list[socket.socket]) -> None:
            self.ports.append(sockets[0].getsockname()[1])
            for path in ("/mcp", "/other"):
                body, headers = modern("echo")
                self.paths.append((await Browser(server.config.app).post(body, headers, path=path)).status)

        monkeypatch.setattr(listener.Listener, "serve", serve)


@pytest.mark.parametrize(
    ("options", "url", "statuses"),
    [
        ({}, "http://127.0.0.1:{}/mcp", [200, 404]),
        ({"path": "/other"}, "http://127.0.0.1:{}/other", [404, 200]),
        ({"host": "localhost", "path": None}, "http://localhost:{}/mcp", [200, 404]),
        ({"host": "0.0.0.0", "allowed_hosts": ["localhost"]}, "http://0.0.0.0:{}/mcp", [200, 404]),
    ],
)
async def test_it_says_where_it_listens(
    options: Any,
    url: str,
    statuses: list[int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    served = Served(monkeypatch)
    await listener.serve_http(FakeService(), port=0, **options)
    assert capsys.readouterr().err == f"Serving MCP at {url.format(served.ports[0])}\n"
    assert served.paths == statuses


class Full(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, f"no room for {text}")


@pytest.mark.parametrize("stderr", [None, Full()])
async def test_nobody_has_to_hear_where_it_listens(stderr: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    served = Served(monkeypatch)
    monkeypatch.setattr(sys, "stderr", stderr)
    await listener.serve_http(FakeService(), port=0)
    assert served.paths


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com"])
async def test_listening_beyond_this_machine_needs_the_hosts_to_be_named(host: str) -> None:
    with pytest.raises(ValueError, match="allowed_hosts"):
        await listener.serve_http(FakeService(), host=host, port=0)


@pytest.mark.parametrize(
    ("option", "value", "error", "remedy"),
    [
        ("hots", "x", TypeError, "there are .*host, port"),
        ("port", "80", TypeError, "0 means any free one"),
        ("port", 65536, ValueError, "up to 65535"),
        ("host", "http://localhost", ValueError, "a name or address"),
        ("path", "mcp", ValueError, "'/mcp'"),
    ],
)
async def test_an_option_is_checked_before_anything_is_listened_on(
    option: str, value: Any, error: type[Exception], remedy: str
) -> None:
    options: Any = {option: value}
    with pytest.raises(error, match=remedy):
        await listener.serve_http(FakeService(), **options)


async def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}"):
            await listener.serve_http(FakeService(), port=port)


def test_ipv6_is_listened_on_too() -> None:
    if socket.has_ipv6:
        with listener.bound("::1", 0) as bound:
            assert bound.family == socket.AF_INET6


def test_a_client_that_resumes_does_not_wait_for_a_connection_that_reads_nothing() -> None:
    async def tells(exchange: Exchange) -> Any:
        for _ in range(12):
            await exchange.notify(Notification("notifications/told", raw({"text": "x" * 500_000})))
        return {"told": True}

    async def scenario(stage: Stage) -> None:
        stage.service.tools["tells"] = tells
        browser = Browser(stage.app)
        await browser.initialize()
        dead = await stage.connect()
        dead.send(call("tells", 5), browser.defaults)
        begun = await within(dead.reader.readuntil(b"\ndata: \n\n"))
        await until(lambda: any(visit.reply.busy for visit in stage.app._visits._lasting))
        again = await stage.connect()
        id = begun.split(b"id: ")[1].split(b"\n")[0].decode()
        again.send(b"", {**browser.defaults, "Last-Event-ID": id}, method="GET")
        heard = b""
        while b'"result":{"told":true}' not in heard:
            heard = heard[-100:] + await within(again.reader.read(65536))

    perform(scenario, ours=True)
