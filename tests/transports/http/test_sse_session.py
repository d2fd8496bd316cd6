"""HTTP+SSE, the transport of 2024-11-05, as the client finds and speaks it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from splice import Client, HTTPServer
from splice.errors import ConnectionClosed, HTTPRefused, RemoteProtocolError, RequestTimeout, RPCError, SessionLost
from splice.protocol.jsonrpc import Notification, Request, Response, Success, raw
from splice.protocol.versions import FACTS, LATEST_MODERN, V2024_11_05
from splice.transports.http import fetch, sse_session
from splice.transports.http.link import HTTPLink
from transports.http.linking import Heard, Listener, exchange, linked, result
from transports.raw_http import RawServer, Visit, raw_server, until

CAPABILITIES = {"tools": {"listChanged": True}}
OPENED = {"protocolVersion": V2024_11_05, "capabilities": CAPABILITIES, "serverInfo": {"name": "old", "version": "1"}}


class OldServer:
    """A server with one stream per client. A test overrides what it is about."""

    endpoint = b"/messages?session=s"
    refusal = 405

    def __init__(self) -> None:
        self.stream: Visit | None = None
        self.streams = 0

    async def __call__(self, visit: Visit) -> None:
        if visit.method == "GET":
            await self.get(visit)
        elif visit.path.startswith("/messages"):
            await visit.reply(202, b"Accepted")
            await self.take(visit.message)
        else:
            await visit.reply(self.refusal)

    async def get(self, visit: Visit) -> None:
        self.stream = visit
        self.streams += 1
        await visit.begin_stream()
        await visit.chunk(b"event: endpoint\ndata: %s\n\n" % self.endpoint)

    async def say(self, **message: Any) -> None:
        assert self.stream is not None
        await self.stream.event(message)

    async def take(self, message: Any) -> None:
        if message.get("method") == "initialize":
            await self.say(id=message["id"], result=OPENED)
        elif "id" in message and "method" in message:
            await self.call(message)

    async def call(self, message: Any) -> None:
        await self.say(id=message["id"], result={"content": [{"type": "text", "text": "called"}]})


async def opened(link: HTTPLink) -> None:
    await exchange(link, "initialize")
    link.agree(FACTS[V2024_11_05])
    await link.notify(Notification("notifications/initialized"))
    await link.listen()


# Found, and spoken.


@pytest.mark.requirement(518)
@pytest.mark.parametrize("protocol", ["auto", "legacy", V2024_11_05])
async def test_a_client_finds_it_and_uses_it_to_the_end(protocol: str) -> None:
    old = OldServer()
    async with raw_server(old) as server:
        target = HTTPServer(server.url + "?key=k", headers={"Authorization": "Bearer b"})
        async with Client(target, protocol=protocol, timeout=5.0) as client:
            assert client.protocol_version == V2024_11_05
            assert (await client.call_tool("t")).text == "called"
            assert old.stream is not None
            left = old.stream.left
        await asyncio.wait_for(left.wait(), 5)
        probes = [("POST", "/mcp?key=k")] * (2 if protocol == "auto" else 1)
        begun = [*probes, ("GET", "/mcp?key=k"), *[("POST", "/messages?session=s")] * 3]
        assert [(visit.method, visit.path) for visit in server.visits] == begun
        assert {visit.headers["authorization"] for visit in server.visits} == {"Bearer b"}
        assert server.seen("GET")[0].headers["accept"] == "text/event-stream"
        names = [visit.message["method"] for visit in server.visits[len(probes) + 1 :]]
        assert names == ["initialize", "notifications/initialized", "tools/call"]


@pytest.mark.parametrize("protocol", ["2025-11-25", "modern"])
async def test_a_pin_that_it_cannot_fulfil(protocol: str) -> None:
    async with raw_server(OldServer()) as server:
        with pytest.raises((RemoteProtocolError, HTTPRefused)):
            await Client(server.url, protocol=protocol, timeout=5.0).open()
        assert len(server.seen("GET")) == (protocol != "modern")
        await until(lambda: not server.connections)


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415, 422])
@pytest.mark.parametrize("error", [None, {"code": -32000, "message": "Method not allowed."}])
async def test_statuses_that_lead_to_it(status: int, error: Any) -> None:
    class Refusing(OldServer):
        async def __call__(self, visit: Visit) -> None:
            if visit.path == "/mcp" and visit.method == "POST":
                body = b"no" if error is None else json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
                await visit.reply(status, body)
            else:
                await super().__call__(visit)

    async with linked(Refusing()) as (link, _):
        await opened(link)
        assert (await result(link))["content"][0]["text"] == "called"


@pytest.mark.parametrize("status", [401, 403, 407, 408, 429, 500, 503, 302])
async def test_statuses_that_do_not(status: int) -> None:
    old = OldServer()
    old.refusal = status
    async with linked(old) as (link, server):
        with pytest.raises(HTTPRefused, match=str(status)) as caught:
            await exchange(link, "initialize")
        assert caught.value.status == status
        assert "HTTP+SSE" not in str(caught.value)
        assert old.streams == 0
        assert len(server.visits) == 1


@pytest.mark.parametrize(
    ("code", "data"), [(-32020, None), (-32021, None), (-32022, {"supported": [LATEST_MODERN], "requested": "x"})]
)
async def test_an_error_of_a_newer_server_is_its_answer(code: int, data: Any) -> None:
    class Newer(OldServer):
        async def __call__(self, visit: Visit) -> None:
            await visit.error(code, 400, data)

    async with linked(Newer()) as (link, server):
        assert (await exchange(link, "initialize")).error.code == code
        assert server.seen("GET") == []


async def test_only_the_opening_leads_to_it() -> None:
    async with linked(OldServer()) as (link, server):
        with pytest.raises(HTTPRefused, match="is that the MCP endpoint"):
            await exchange(link, "tools/call")
        assert server.seen("GET") == []


# When that fails too.


async def test_the_error_names_both_attempts() -> None:
    class Neither(OldServer):
        async def get(self, visit: Visit) -> None:
            await visit.reply(404)

    async with linked(Neither()) as (link, server):
        told = r"/mcp answered HTTP 405; is that the MCP endpoint\? \(HTTP\+SSE of 2024-11-05 was tried too: .*HTTP 404"
        with pytest.raises(HTTPRefused, match=told) as caught:
            await exchange(link, "initialize")
        assert caught.value.status == 405
        await link.close()
        assert not server.connections or await until(lambda: not server.connections)


async def test_an_error_response_stays_the_answer_if_it_is_not_spoken() -> None:
    class Refusing(OldServer):
        async def __call__(self, visit: Visit) -> None:
            if visit.method == "POST":
                await visit.error(-32602, 400)
            else:
                await visit.reply(405)

    async with raw_server(Refusing()) as server:
        with pytest.raises(RPCError, match="refused to initialize: m"):
            await Client(server.url, protocol="legacy", timeout=5.0).open()


BEGINNINGS: dict[str, tuple[bytes, str]] = {
    "another event first": (b"data: {}\n\nevent: endpoint\ndata: /messages\n\n", "begins with 'message', not"),
    "the end": (b"", "the server ended the stream"),
    "the end in the middle": (b"event: endpoint\ndata: /messages\n", "the server ended the stream"),
    "another origin": (
        b"event: endpoint\ndata: http://u:s3cr3t@127.0.0.1:1/m?s3cr3t\n\n",
        "'http://127.0.0.1:1/m', wh",
    ),
    "another scheme": (b"event: endpoint\ndata: https:/messages\n\n", "not a URL of the same origin"),
    "another host": (b"event: endpoint\ndata: //evil.example/messages\n\n", "not a URL of the same origin"),
    "a file": (b"event: endpoint\ndata: file:///etc/passwd\n\n", "not a URL of the same origin"),
    "no URL": (b"event: endpoint\ndata: http://[\n\n", "not a URL of the same origin"),
    "a long URL": (b"event: endpoint\ndata: /%s\n\n" % (b"x" * fetch.MAX_FIELD_BYTES), "not a URL of the same origin"),
    "an event too large": (b"event: endpoint\ndata: %s" % (b"x" * 5000), "limit of 4096 bytes"),
}


@pytest.mark.parametrize("beginning", BEGINNINGS)
async def test_a_stream_that_begins_badly(beginning: str) -> None:
    sent, told = BEGINNINGS[beginning]

    class Bad(OldServer):
        async def get(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.chunk(sent) if sent else None
            await visit.end_stream()

    options: dict[str, Any] = {"max_message": 4096} if "4096" in told else {}
    async with linked(Bad(), **options) as (link, server):
        with pytest.raises(HTTPRefused, match="was tried too") as caught:
            await exchange(link, "initialize")
        assert told in str(caught.value)
        assert "s3cr3t" not in str(caught.value)
        assert [visit for visit in server.visits if visit.path.startswith("/messages")] == []


@pytest.mark.parametrize("silent", [True, False])
async def test_a_stream_that_does_not_begin(monkeypatch: pytest.MonkeyPatch, silent: bool) -> None:
    class Slow(OldServer):
        async def get(self, visit: Visit) -> None:
            self.stream = visit
            if not silent:
                await visit.begin_stream()
                await visit.chunk(b": wait\n\n")

    monkeypatch.setattr(sse_session, "ENDPOINT_SECONDS", 0.1)
    old = Slow()
    async with linked(old) as (link, _):
        with pytest.raises(HTTPRefused, match=r"no `endpoint` event came within 0\.1 s"):
            await exchange(link, "initialize")
        assert old.stream is not None
        await asyncio.wait_for(old.stream.left.wait(), 5)


@pytest.mark.parametrize("way", ["cancelled", "closed"])
async def test_giving_up_while_it_is_tried(way: str) -> None:
    class Slow(OldServer):
        async def get(self, visit: Visit) -> None:
            self.stream = visit
            await visit.begin_stream()

    old = Slow()
    async with linked(old) as (link, _):
        task = asyncio.ensure_future(exchange(link, "initialize"))
        await until(lambda: old.stream)
        if way == "cancelled":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await link.close()
        else:
            await link.close()
            with pytest.raises(ConnectionClosed, match="was closed"):
                await task
        assert old.stream is not None
        await asyncio.wait_for(old.stream.left.wait(), 5)


@pytest.mark.parametrize("field", ["content_encoding", "content_type"])
async def test_a_stream_that_cannot_be_read(field: str) -> None:
    class Odd(OldServer):
        async def get(self, visit: Visit) -> None:
            if field == "content_encoding":
                await visit.begin_stream(content_encoding="gzip")
            else:
                await visit.reply(200, b"{}", content_type="application/json")

    async with linked(Odd()) as (link, _):
        with pytest.raises(HTTPRefused, match=r"is compressed|HTTP 200 of type 'application/json'"):
            await exchange(link, "initialize")


# Where messages go.


@pytest.mark.parametrize(
    ("endpoint", "path"),
    [
        ("/messages?session=s", "/messages?session=s"),
        ("messages/?s=1&t=%2B", "/messages/?s=1&t=%2B"),
        ("{origin}/messages#part", "/messages"),
        ("?messages", "/mcp?messages"),
        (" /messages", "/messages"),
    ],
)
async def test_the_url_for_messages(endpoint: str, path: str) -> None:
    class Naming(OldServer):
        async def __call__(self, visit: Visit) -> None:
            if visit.method == "POST" and visit.path != "/mcp":
                await visit.reply(202)
                await self.take(visit.message)
            else:
                await super().__call__(visit)

    old = Naming()
    async with linked(old) as (link, server):
        old.endpoint = endpoint.replace("{origin}", server.url.removesuffix("/mcp")).encode()
        await opened(link)
        assert {visit.path for visit in server.visits} == {"/mcp", path}


async def test_redirects_within_the_origin_and_the_url_is_resolved_against_the_last_one() -> None:
    class Moved(OldServer):
        endpoint = b"messages"

        async def __call__(self, visit: Visit) -> None:
            if visit.path == "/mcp":
                await visit.reply(307, location="/old/sse")
            elif visit.path == "/old/messages":
                await visit.reply(308, location="/messages")
            else:
                await super().__call__(visit)

    async with linked(Moved()) as (link, server):
        await opened(link)
        assert [visit.path for visit in server.visits[:6]] == [
            "/mcp", "/old/sse", "/mcp", "/old/sse", "/old/messages", "/messages",
        ]  # fmt: skip


async def test_a_redirect_of_the_stream_elsewhere_is_not_followed() -> None:
    class Moved(OldServer):
        async def get(self, visit: Visit) -> None:
            await visit.reply(307, location="http://127.0.0.1:1/sse")

    async with linked(Moved()) as (link, _):
        with pytest.raises(HTTPRefused, match=r"redirects to .* which is not followed"):
            await exchange(link, "initialize")


# What comes on the stream.


async def test_notifications_progress_questions_and_nonsense(caplog: pytest.LogCaptureFixture) -> None:
    class Answering(Listener):
        async def answer(self, request: Request) -> Response:
            return Success(request.id, raw({"to": request.method}))

    class Talking(OldServer):
        async def take(self, message: Any) -> None:
            if "method" not in message:
                await self.say(id=1, result=message)
            else:
                await super().take(message)

        async def call(self, message: Any) -> None:
            assert self.stream is not None
            await self.stream.chunk(b": comment\n\nevent: other\ndata: 1\n\nevent: endpoint\ndata: http://evil/\n\n")
            await self.stream.chunk(b"data: nonsense\n\ndata: []\n\n")
            await self.say(method="notifications/progress", params={"progressToken": message["id"], "progress": 1})
            await self.say(method="notifications/progress", params={"progressToken": 77, "progress": 1})
            await self.say(method="n")
            await self.say(id=99, result="of nothing")
            await self.say(id="q", method="question")

    heard, listener = Heard(), Answering()
    async with linked(Talking(), receiver=listener) as (link, server):
        await opened(link)
        assert await result(link, hear=heard) == {"jsonrpc": "2.0", "id": "q", "result": {"to": "question"}}
        assert heard == ["notifications/progress"]
        assert listener.hear == ["n"]
        assert caplog.text.count("not a JSON-RPC message") == 2
        assert len(server.seen("GET")) == 1


async def test_a_response_that_is_no_message_ends_its_call_at_once() -> None:
    class Malformed(OldServer):
        async def call(self, message: Any) -> None:
            await self.say(id=message["id"], error="text")

    async with linked(Malformed()) as (link, _):
        await opened(link)
        with pytest.raises(RemoteProtocolError, match="The response to m is not a message"):
            await exchange(link)


async def test_a_response_that_overtakes_the_202_and_one_that_comes_twice() -> None:
    class Hasty(OldServer):
        async def __call__(self, visit: Visit) -> None:
            if visit.path.startswith("/messages") and "id" in visit.message:
                await self.take(visit.message)
                await self.take(visit.message)
                await visit.reply(202)
            else:
                await super().__call__(visit)

    async with linked(Hasty()) as (link, _):
        await opened(link)
        assert await result(link, id=1) == await result(link, id=2)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_pieces_of_any_size(size: int) -> None:
    class Crumbling(OldServer):
        async def call(self, message: Any) -> None:
            assert self.stream is not None
            text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": "é" * 50}, indent=1, ensure_ascii=False)
            event = b"".join(b"data: " + line + b"\r\n" for line in text.encode().split(b"\n")) + b"\r\n"
            for at in range(0, len(event), size):
                await self.stream.chunk(event[at : at + size])

    async with linked(Crumbling()) as (link, _):
        await opened(link)
        assert await result(link) == "é" * 50


async def test_many_calls_at_once() -> None:
    async with linked(OldServer()) as (link, server):
        await opened(link)
        await asyncio.gather(*(exchange(link, id=id) for id in range(2, 60)))
        assert len(server.seen("m")) == 58


@pytest.mark.parametrize("reason", ["cancelled by the caller", "timeout"])
async def test_a_cancelled_call_is_told(reason: str) -> None:
    class Silent(OldServer):
        async def call(self, message: Any) -> None:
            await self.say(method="notifications/progress", params={"progressToken": message["id"], "progress": 1})

    heard = Heard()
    async with linked(Silent()) as (link, server):
        await opened(link)
        task = asyncio.ensure_future(exchange(link, hear=heard, id=5))
        await until(lambda: heard)
        task.cancel(*([RequestTimeout("No answer")] if reason == "timeout" else []))
        with pytest.raises(asyncio.CancelledError):
            await task
        (told,) = await until(lambda: server.seen("notifications/cancelled"))
        assert told.message["params"] == {"requestId": 5, "reason": reason}


# Refused messages, and the end of the stream.


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_a_message_that_is_refused(status: int, caplog: pytest.LogCaptureFixture) -> None:
    class Refusing(OldServer):
        async def __call__(self, visit: Visit) -> None:
            if visit.path.startswith("/messages") and visit.message.get("method") != "initialize":
                await visit.reply(status, b"why")
                if visit.message.get("method") == "n":
                    await self.say(id="q", method="question")
            else:
                await super().__call__(visit)

    async with linked(Refusing()) as (link, _):
        await exchange(link, "initialize")
        with pytest.raises(HTTPRefused, match=f"HTTP {status}: why"):
            await exchange(link)
        with pytest.raises(HTTPRefused, match=f"HTTP {status}: why"):
            await link.notify(Notification("n"))
        await until(lambda: f"could not send a message to {link.endpoint.url}" in caplog.text)


@contextlib.asynccontextmanager
async def pending(old: OldServer, **options: Any) -> AsyncIterator[tuple[HTTPLink, RawServer, asyncio.Task[Any]]]:
    """Open a link, and have a call wait on it."""
    async with linked(old, **options) as (link, server):
        await opened(link)
        task = asyncio.ensure_future(exchange(link, "pending"))
        await until(lambda: server.seen("pending"))
        yield link, server, task


class Mute(OldServer):
    async def call(self, message: Any) -> None:
        pass


@pytest.mark.parametrize("end", ["ends", "breaks", "too large"])
async def test_the_end_of_the_stream_fails_what_waits_and_later_calls_say_that_it_is_lost(end: str) -> None:
    old = Mute()
    async with pending(old, max_message=1000) as (link, server, task):
        assert old.stream is not None
        if end == "ends":
            await old.stream.end_stream()
        elif end == "breaks":
            old.stream.drop()
        else:
            await old.stream.chunk(b"data: " + b"x" * 1001)
        with pytest.raises(ConnectionClosed, match=f"Lost {link.endpoint.url}: ") as caught:
            await task
        assert not isinstance(caught.value, SessionLost)
        with pytest.raises(SessionLost, match="Lost"):
            await exchange(link)
        assert server.seen("m") == []


class Holding(OldServer):
    """Takes a call without answering its POST."""

    answers = False

    async def __call__(self, visit: Visit) -> None:
        if not visit.path.startswith("/messages") or visit.message.get("method") != "pending":
            await super().__call__(visit)
        elif self.answers:
            await self.call(visit.message)


async def test_the_end_of_the_stream_fails_a_call_whose_post_is_not_answered() -> None:
    old = Holding()
    async with pending(old) as (_, _, task):
        assert old.stream is not None
        old.stream.drop()
        with pytest.raises(ConnectionClosed, match="Lost"):
            await asyncio.wait_for(task, 1)


async def test_a_response_counts_though_the_post_is_not_answered() -> None:
    old = Holding()
    old.answers = True
    async with pending(old) as (_, _, task):
        assert isinstance(await asyncio.wait_for(task, 1), Success)


async def test_closing_fails_what_waits_and_ends_the_stream() -> None:
    old = Mute()
    async with pending(old) as (link, server, task):
        await link.close()
        with pytest.raises(ConnectionClosed, match="was closed"):
            await task
        with pytest.raises(ConnectionClosed, match="is closed"):
            await exchange(link)
        await until(lambda: not server.connections)


async def test_a_client_whose_stream_was_lost_opens_another_for_the_next_call() -> None:
    class Waiting(OldServer):
        async def call(self, message: Any) -> None:
            if message["params"]["name"] != "waits":
                await super().call(message)

    old = Waiting()
    async with raw_server(old) as server, Client(server.url, timeout=5.0) as client:
        task = asyncio.ensure_future(client.call_tool("waits"))
        await until(lambda: server.seen("tools/call"))
        assert old.stream is not None
        old.stream.drop()
        with pytest.raises(ConnectionClosed, match="Lost"):
            await task
        assert (await client.call_tool("t")).text == "called"
        assert old.streams == 2
        assert len(server.seen("tools/call")) == 2
