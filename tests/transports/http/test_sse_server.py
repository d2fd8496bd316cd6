"""HTTP+SSE of 2024-11-05: the stream that names its endpoint, what goes where, and the guards of both."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from splice.errors import MCPError
from splice.protocol.jsonrpc import Notification, raw
from splice.protocol.versions import HANDSHAKE_VERSIONS, V2024_11_05
from splice.rules.http.sse import Decoder
from splice.transports.base import Exchange
from splice.transports.http import sse_server
from splice.transports.http.app import HTTPApp
from splice.transports.http.sse_server import SSE_PATH
from support.waiting import settle, until
from transports.asgi import META, Browser, Call, FakeService, Gate, call, nothing_runs_on, within

PLAIN = {"accept": "*/*"}
SHOWN = {"accept": "text/event-stream"}


def initialize(version: str = V2024_11_05) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": version}}


class Old(Browser):
    """A client of this transport."""

    stream: Call
    query: bytes

    async def connect(self, **options: Any) -> str:
        """Open a stream; the URI it names."""
        self.stream = self.begin("GET", b"", SHOWN, path=options.pop("path", SSE_PATH), **options)
        await self.stream.until(lambda stream: stream.complete.is_set() or stream.body.endswith(b"\n\n"))
        (event,) = Decoder(2**24).feed(self.stream.body)
        assert event.event == "endpoint"
        uri = event.data.decode()
        self.query = uri.partition("?")[2].encode()
        return uri

    async def tell(self, body: Any, headers: Any = None, **options: Any) -> Call:
        options = {"path": SSE_PATH, "query_string": self.query, **options}
        return await self.post(body, {**PLAIN, **(headers or {})}, **options)

    def messages(self) -> list[Any]:
        return [json.loads(event.data) for event in Decoder(2**24).feed(self.stream.body) if event.event == "message"]

    async def message(self, count: int) -> Any:
        await self.stream.until(lambda _: len(self.messages()) >= count)
        return self.messages()[count - 1]

    async def leave(self) -> None:
        self.stream.disconnect()
        await self.stream.ended()


@asynccontextmanager
async def connected(version: str = V2024_11_05, **options: Any) -> AsyncIterator[tuple[FakeService, Old]]:
    """Open a session, and leave it at the end."""
    service = FakeService()
    old = Old(HTTPApp(service, **{"sse": True, "path": "/mcp", **options}))
    await old.connect()
    assert (await old.tell(initialize(version))).status == 202
    assert (await old.message(1))["result"]["protocolVersion"] == version
    yield service, old
    await old.leave()
    assert old.app._sse._sessions.all == old.app._sse._streams == {}
    await nothing_runs_on()


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
@pytest.mark.requirement(516, 517)
async def test_a_session_from_start_to_end(version: str) -> None:
    async with connected(version) as (service, old):
        assert (old.stream.status, old.stream.headers["content-type"]) == (200, "text/event-stream")
        note = await old.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (note.status, note.body) == (202, b"")
        answer = await old.tell(call("echo", 5, text="hi"), {"x-mine": "1"})
        assert (answer.status, answer.body) == (202, b"")
        assert await old.message(2) == {"jsonrpc": "2.0", "id": 5, "result": {"echo": {"text": "hi"}}}
        await until(lambda: service.heard)
        assert service.heard[0][1].session is service.opened[0]
        assert service.senders[-1].headers["x-mine"] == "1"
        assert b"id: " not in old.stream.body
    assert service.closed == service.opened


async def test_everything_comes_on_the_stream() -> None:
    async def talks(exchange: Exchange) -> Any:
        await exchange.notify(Notification("notifications/told"))
        answer: Any = await exchange.ask("elicitation/create", raw({}))
        return json.loads(bytes(answer.result))

    async with connected() as (service, old):
        service.tools["talks"] = talks
        await old.tell(call("talks", "t"))
        question = await old.message(3)
        service.opened[0].push(Notification("notifications/tools/list_changed"))
        await old.message(4)
        await old.tell({"jsonrpc": "2.0", "id": question["id"], "result": {"yes": True}})
        assert (await old.message(5))["result"] == {"yes": True}
        assert [each.get("method") for each in old.messages()[1:4]] == [
            "notifications/told", "elicitation/create", "notifications/tools/list_changed",
        ]  # fmt: skip


async def test_a_request_can_be_cancelled_and_ids_are_not_used_twice() -> None:
    async with connected() as (service, old):
        service.tools["waits"] = gate = Gate()
        await old.tell(call("waits", 5))
        await within(gate.entered.wait())
        await old.tell(call("echo", 5))
        assert (await old.message(2))["error"]["code"] == -32600
        await old.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
        assert await within(gate.outcome) == "cancelled"
        await old.tell(call("echo", 6))
        assert (await old.message(3))["id"] == 6


async def test_a_client_that_leaves_ends_its_session() -> None:
    failures = list[str]()

    async def asks(exchange: Exchange) -> Any:
        try:
            await exchange.ask("elicitation/create", raw({}))
        except MCPError as error:
            failures.append(type(error).__name__)
            raise

    async with connected() as (service, old):
        service.tools |= {"asks": asks, "waits": (gate := Gate())}
        await old.tell(call("asks", 1))
        await old.tell(call("waits", 2))
        await old.message(2)
        await within(gate.entered.wait())
        await old.leave()
        assert await within(gate.outcome) == "cancelled"
        assert (await old.tell(call("echo"))).status == 404
    assert failures in ([], ["ConnectionClosed"])


async def test_to_anybody_else_the_session_is_not_there() -> None:
    async with connected() as (service, old):
        known = old.query
        for principal, query in (("bob", known), (None, b"session_id=x"), (None, b""), (None, b"session_id=%ff")):
            old.principal, old.query = principal, query
            answer = await old.tell(call("echo"))
            assert (answer.status, answer.json["error"]["code"]) == (404, -32600)
        old.principal = None
        session = known.decode().partition("=")[2]
        assert (await old.post(call("echo"), {"mcp-session-id": session})).status == 404
        await old.initialize()
        other = old.defaults["mcp-session-id"]
        assert (await old.tell(call("echo"), query_string=f"session_id={other}".encode())).status == 404
        assert service.requests == []


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (call("echo"), {"host": "evil.example"}, 403),
        (call("echo"), {"origin": "https://evil.example"}, 403),
        (call("echo"), {"content-type": "text/plain"}, 415),
        (call("echo"), {"content-encoding": "gzip"}, 415),
        (b" " * 2001, {}, 413),
        (b"{", {}, 400),
        ([call("echo")], {}, 400),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}, {}, 400),
    ],
    ids=str,
)
async def test_a_post_is_guarded_as_the_endpoint_is(body: Any, headers: dict[str, str], status: int) -> None:
    async with connected(max_body=2000) as (service, old):
        answer = await old.tell(body, headers)
        assert (answer.status, answer.json["jsonrpc"]) == (status, "2.0")
        assert service.requests == []
        assert len(old.messages()) == 1


async def test_a_get_is_guarded_as_the_endpoint_is() -> None:
    old = Old(HTTPApp(FakeService(), sse=True))
    for headers, status in (
        ({"host": "evil.example"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"accept": "application/json"}, 406),
    ):
        assert (await old.send("GET", b"", {**SHOWN, **headers}, path=SSE_PATH)).status == status
    answer = await old.send("DELETE", path=SSE_PATH)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")


async def test_there_are_only_so_many_sessions() -> None:
    app = HTTPApp(FakeService(), sse=True, max_sessions=1)
    old = Old(app)
    await old.connect()
    answer = await Old(app).send("GET", b"", SHOWN, path=SSE_PATH)
    assert (answer.status, answer.headers["retry-after"]) == (503, "30")
    await old.leave()
    await old.connect()
    await old.leave()


async def test_it_is_off_unless_asked_for() -> None:
    old = Old(HTTPApp(FakeService(), path="/mcp"))
    assert (await old.send("GET", b"", SHOWN, path=SSE_PATH)).status == 404


@pytest.mark.parametrize("root", ["", "/at/an y"])
async def test_below_a_prefix_the_uri_says_so(root: str) -> None:
    old = Old(HTTPApp(FakeService(), sse=True))
    uri = await old.connect(root_path=root, path=root + SSE_PATH)
    assert uri.startswith(root.replace(" ", "%20") + SSE_PATH + "?session_id=")
    assert (await old.tell(initialize(), root_path=root, path=root + SSE_PATH)).status == 202
    await old.message(1)
    await old.leave()


async def test_answers_do_not_pile_up_for_a_client_that_does_not_read() -> None:
    async with connected() as (service, old):
        (stream,) = old.app._sse._streams.values()
        reading, send = asyncio.Event(), stream.reply.send

        async def slowly(message: Any) -> None:
            await reading.wait()
            await send(message)

        stream.reply.send = slowly
        for id in range(1, 2001):
            await old.tell(call("echo", id))
        answered = len(service.requests)
        reading.set()
    assert answered < 1000


def test_its_path_must_be_free() -> None:
    with pytest.raises(ValueError, match="sse=True takes /sse"):
        HTTPApp(FakeService(), sse=True, path="/sse/")
    service = FakeService()
    service.routes = {"/sse": object()}
    with pytest.raises(ValueError, match="sse=True takes /sse"):
        HTTPApp(service, sse=True)


async def test_stopping_lets_requests_finish() -> None:
    async with connected() as (service, old):
        service.tools |= {"quick": (quick := Gate()), "slow": (slow := Gate())}
        await old.tell(call("quick", 1))
        await old.tell(call("slow", 2))
        await within(quick.entered.wait())
        await within(slow.entered.wait())
        stopping = asyncio.create_task(old.app.stop(0.1))
        await settle()
        quick.released.set()
        await within(stopping)
        await old.stream.ended()
        answers = {each["id"]: each for each in old.messages()}
        assert answers[1]["result"] == {"done": True}
        assert "shutting down" in answers[2]["error"]["message"]


def test_the_path_is_what_the_documentation_says() -> None:
    assert sse_server.SSE_PATH == "/sse"
