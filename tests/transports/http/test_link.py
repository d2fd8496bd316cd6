"""The HTTP link against servers that answer in every way, right and wrong."""

import asyncio
import json

import pytest
import uvloop

from splice.errors import ConnectFailed, ConnectionClosed, HTTPRefused, LocalProtocolError, RemoteProtocolError
from splice.protocol import completion, jsonrpc, lifecycle, prompts, resources, tools
from splice.protocol.jsonrpc import MAX_MESSAGE_BYTES, Failure, Notification, Success
from splice.protocol.methods import Method
from splice.protocol.versions import FACTS, LATEST_MODERN, V2024_11_05, V2025_03_26, VERSIONS, Facts
from splice.rules.exchanges import REPEATABLE
from splice.rules.http.headers import param_headers
from splice.transports.base import Outgoing
from splice.transports.http import fetch
from splice.transports.http.link import HTTPLink
from support.tables import rows
from support.wire import JSON
from transports.http.linking import Heard, Listener, exchange, linked, result
from transports.raw_http import Handler, Visit, raw_server, until

CHUNKINGS = [1, 3, 10_000]


# Requests and responses.


@pytest.mark.requirement(126)
async def test_a_json_reply() -> None:
    async with linked(lambda visit: visit.result({"a": "é"}), headers={"X-Key": "k"}) as (link, server):
        assert await result(link) == {"a": "é"}
        (visit,) = server.visits
        assert visit.message == {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {}}
        assert visit.headers["content-type"] == "application/json"
        assert visit.headers["accept"] == "application/json, text/event-stream"
        assert visit.headers["x-key"] == "k"
        assert not [name for name in visit.headers if name.startswith("mcp-")]


@pytest.mark.requirement(129, 137, 143, 144, 145)
async def test_headers_repeat_what_the_body_says_once_such_a_version_is_agreed() -> None:
    async with linked(lambda visit: visit.result(1) if "id" in visit.message else visit.reply(202)) as (link, server):
        link.agree(FACTS[LATEST_MODERN])
        await link.listen()  # this version has no stream for what belongs to no request
        mirrored = param_headers({("a",): "City"}, {"a": "Zürich"})
        await exchange(link, "tools/call", name="größe", mirrored=mirrored)
        await exchange(link, "m")
        await link.notify(Notification("n"))
        call, plain, note = [
            {name: value for name, value in visit.headers.items() if name.startswith("mcp-")} for visit in server.visits
        ]
        assert call == {
            "mcp-protocol-version": LATEST_MODERN,
            "mcp-method": "tools/call",
            "mcp-name": "=?base64?Z3LDtsOfZQ==?=",
            "mcp-param-city": "=?base64?WsO8cmljaA==?=",
        }
        assert plain == {"mcp-protocol-version": LATEST_MODERN, "mcp-method": "m"}
        assert note == {"mcp-protocol-version": LATEST_MODERN, "mcp-method": "n"}
        assert {visit.method for visit in server.visits} == {"POST"}


async def test_an_agreement_can_be_taken_back() -> None:
    async with linked(lambda visit: visit.result(1)) as (link, server):
        link.agree(FACTS[LATEST_MODERN])
        await exchange(link)
        link.agree(None)
        await exchange(link)
        assert ["mcp-method" in visit.headers for visit in server.visits] == [True, False]


@pytest.mark.parametrize("size", CHUNKINGS)
@pytest.mark.requirement(126)
async def test_a_streamed_reply_in_pieces_of_any_size(size: int) -> None:
    async def handler(visit: Visit) -> None:
        text = (
            b': hello\r\n\r\nevent: message\r\ndata: {"jsonrpc":"2.0","method":"n/1"}\r\n\r\n'
            b"event: other\ndata: {}\n\ndata\n\ndata: junk\n\n"
            b'data: {"jsonrpc":"2.0","id":99,"result":"stray"}\n\n'
            b'data: {"jsonrpc":"2.0","method":"n/2"}\n\n'
            b'data: {"jsonrpc":"2.0",\ndata: "id":1,"result":"\xc3\xa9"}\n\n'
        )
        await visit.begin_stream()
        for at in range(0, len(text), size):
            await visit.chunk(text[at : at + size])

    heard = Heard()
    async with linked(handler) as (link, server):
        assert await result(link, hear=heard) == "é"
        assert heard == ["n/1", "n/2"]
        await until(server.visits[0].left.is_set)  # the rest of a stream is of no interest


async def test_many_at_once() -> None:
    async def handler(visit: Visit) -> None:
        await visit.result(visit.message["id"])

    async with linked(handler) as (link, _):
        answers = await asyncio.gather(*(result(link, id=number) for number in range(30)))
        assert answers == list(range(30))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"m"}}'),
        (404, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"m"}}'),
        (200, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"m"}}'),
        (200, b'{"jsonrpc":"2.0","error":{"code":-32020,"message":"m"}}'),
    ],
)
@pytest.mark.requirement(177)
async def test_an_error_response_counts_whatever_the_status(status: int, body: bytes) -> None:
    async with linked(lambda visit: visit.reply(status, body, content_type="application/json")) as (link, _):
        response = await exchange(link)
        assert isinstance(response, Failure)
        assert response.error.code == -32020


@rows("status", [400, 401, 403, 404, 418, 500, 503])
@rows("body", [b"", b"no", b"\xff", b'{"error": 1}', b"[" * 10_000])
async def test_a_status_without_a_response(status: int, body: bytes) -> None:
    async with linked(lambda visit: visit.reply(status, body)) as (link, _):
        with pytest.raises(HTTPRefused, match=f"HTTP {status}") as caught:
            await exchange(link)
        assert caught.value.status == status
        assert caught.value.response is None
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("status", "comes_along"), [(500, True), (401, False), (403, False)])
async def test_a_status_that_outweighs_the_response_in_the_body(status: int, comes_along: bool) -> None:
    async with linked(lambda visit: visit.error(-32603, status)) as (link, _):
        with pytest.raises(HTTPRefused) as caught:
            await exchange(link)
        assert (caught.value.response is not None) == comes_along


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (b"{", "application/json"),
        (b'{"jsonrpc":"2.0","id":2,"result":1}', "application/json"),
        (b'{"jsonrpc":"2.0","id":"2","result":1}', "application/json"),
        (b'{"jsonrpc":"2.0","method":"n"}', "application/json"),
        (b"\xff", "application/json"),
    ],
)
async def test_a_body_that_is_not_the_response_to_this_request(body: bytes, media: str) -> None:
    async with linked(lambda visit: visit.reply(200, body, content_type=media)) as (link, _):
        with pytest.raises(RemoteProtocolError):
            await exchange(link)


@pytest.mark.parametrize(
    "body", [b'{"jsonrpc":"2.0","id":"1","result":[1]}', b'{"jsonrpc":"2.0","id":1,"result":[NaN]}']
)
async def test_a_body_that_says_so_carelessly(body: bytes) -> None:
    async with linked(lambda visit: visit.reply(200, body, content_type="application/json")) as (link, _):
        assert isinstance(await exchange(link), Success)


@pytest.mark.parametrize("media", ["text/html", ""])
async def test_a_media_type_that_the_specification_does_not_allow(media: str) -> None:
    async with linked(lambda visit: visit.reply(200, b"<html>", content_type=media)) as (link, _):
        with pytest.raises(HTTPRefused, match="content type"):
            await exchange(link)


async def test_a_body_over_the_limit() -> None:
    async with linked(lambda visit: visit.result("x" * 2000), max_message=1000) as (link, _):
        with pytest.raises(RemoteProtocolError, match="more than 1000 bytes"):
            await exchange(link)


async def test_an_event_over_the_limit() -> None:
    async def stream(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"jsonrpc": "2.0", "id": 1, "result": "x" * 2000})

    async with linked(stream, max_message=1000) as (link, _):
        with pytest.raises(RemoteProtocolError, match="over the limit of 1000 bytes"):
            await exchange(link)


async def test_what_is_too_large_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonrpc, "MAX_ANSWER_BYTES", 1000)
    async with linked(lambda visit: visit.result(1)) as (link, server):
        with pytest.raises(LocalProtocolError, match="the message is too large"):
            await exchange(link, mirrored={}, method="x" * 2000)
        with pytest.raises(LocalProtocolError, match="the message is too large"):
            await link.notify(Notification("x" * 2000))
    assert not server.visits


# Broken connections.


async def test_nobody_listens() -> None:
    async with raw_server(lambda visit: visit.reply(200)) as server:
        pass
    link = HTTPLink(server.url, {}, Listener(), MAX_MESSAGE_BYTES)
    with pytest.raises(ConnectFailed, match=rf"Cannot connect to {server.url}: nothing listens at 127\.0\.0\.1:"):
        await exchange(link)
    await link.close()


@pytest.mark.parametrize("url", ["nonsense", "ftp://h/", "file:///etc/passwd"])
def test_only_http_urls_are_taken(url: str) -> None:
    with pytest.raises(ValueError, match="not an HTTP URL"):
        HTTPLink(url, {}, Listener(), MAX_MESSAGE_BYTES)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n3\r\n:\n\n\r\n",
        b"HTTP/1.1 400 OK\r\ncontent-length: 50\r\n\r\n{",
        b"garbage\r\n\r\n",
    ],
)
async def test_a_connection_that_breaks_at_any_point(sent: bytes) -> None:
    async def handler(visit: Visit) -> None:
        await visit.raw(sent)
        visit.drop()

    async with linked(handler) as (link, _):
        with pytest.raises(ConnectionClosed):
            await exchange(link)


@pytest.mark.parametrize("agreed", [None, FACTS[LATEST_MODERN], FACTS[V2024_11_05]])
async def test_a_stream_that_ends_without_the_response(agreed: Facts | None) -> None:
    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"method": "n"}, id="7")
        await visit.end_stream()

    async with linked(handler) as (link, server):
        link.agree(agreed)
        with pytest.raises(ConnectionClosed, match="before the response"):
            await exchange(link)
        assert server.seen("GET") == []  # none of these can be resumed


# Redirects.


async def test_a_redirect_within_the_origin_is_followed_if_it_keeps_the_method() -> None:
    async def handler(visit: Visit) -> None:
        if visit.path == "/mcp":
            await visit.reply(307, location="/mcp/")
        else:
            await visit.result(visit.headers["x-key"])

    async with linked(handler, headers={"X-Key": "k"}) as (link, _):
        assert await result(link) == "k"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_elsewhere_is_refused_and_nothing_gets_there(status: int) -> None:
    async with raw_server(lambda visit: visit.result("stolen")) as sink:
        async with linked(lambda visit: visit.reply(status, location=sink.url), headers={"X-Key": "k"}) as (link, _):
            with pytest.raises(HTTPRefused, match="redirect"):
                await exchange(link)
            with pytest.raises(HTTPRefused, match="redirect"):
                await link.notify(Notification("n"))
        assert sink.visits == []


@pytest.mark.parametrize("headers", [{}, {"location": "http://[bad"}, {"location": "https://127.0.0.1/mcp"}])
async def test_a_redirect_to_nowhere(headers: dict[str, str]) -> None:
    async with linked(lambda visit: visit.reply(307, b"", **headers)) as (link, _):
        with pytest.raises((HTTPRefused, RemoteProtocolError), match="redirect"):
            await exchange(link)


async def test_redirects_in_a_circle() -> None:
    async with linked(lambda visit: visit.reply(308, location="/mcp")) as (link, server):
        with pytest.raises(RemoteProtocolError, match="without end"):
            await exchange(link)
        assert len(server.visits) == fetch.MAX_REDIRECTS


# Cancellation and the end.


@pytest.mark.parametrize("agreed", [None, FACTS[LATEST_MODERN]])
async def test_cancelling_a_request_closes_its_stream_and_says_nothing_else(agreed: Facts | None) -> None:
    heard = Heard()

    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"method": "n"})

    async with linked(handler) as (link, server):
        link.agree(agreed)
        task = asyncio.ensure_future(exchange(link, hear=heard))
        await until(lambda: heard)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(server.visits[0].left.is_set)
        assert len(server.visits) == 1


async def test_closing_fails_what_is_pending_from_any_task_and_twice() -> None:
    async def handler(visit: Visit) -> None:
        if visit.message["id"] == 1:
            await visit.begin_stream()
            await visit.event({"method": "n"})

    heard = Heard()
    async with linked(handler) as (link, server):
        streaming = asyncio.ensure_future(exchange(link, hear=heard))
        silent = asyncio.ensure_future(exchange(link, id=2))
        await until(lambda: heard and len(server.visits) == 2)
        await asyncio.gather(asyncio.create_task(link.close()), link.close())
        for task in (streaming, silent):
            with pytest.raises(ConnectionClosed, match="was closed"):
                await task
            assert task.cancelled() is False
        await link.close()
        for work in (exchange(link), link.notify(Notification("n"))):
            with pytest.raises(ConnectionClosed, match="is closed"):
                await work


async def test_closing_from_within_a_callback() -> None:
    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"method": "n"})

    async with linked(handler) as (link, _):

        async def close(_: Notification) -> None:
            await link.close()

        with pytest.raises(ConnectionClosed, match="was closed"):
            await exchange(link, hear=close)


async def test_a_cancellation_of_the_callers_own_stays_one_even_while_closing() -> None:
    heard = Heard()

    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"method": "n"})

    async with linked(handler) as (link, _):
        task = asyncio.ensure_future(exchange(link, hear=heard))
        await until(lambda: heard)
        task.cancel()
        await link.close()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_link_belongs_to_tasks() -> None:
    async with linked(lambda visit: visit.result(1)) as (link, _):
        coroutine = link.exchange(Outgoing(1, "m", {}, Heard()))
        failures: list[BaseException] = []

        def step() -> None:
            try:
                coroutine.send(None)
            except RuntimeError as error:
                failures.append(error)

        asyncio.get_running_loop().call_soon(step)
        await until(lambda: failures)


@pytest.mark.parametrize(
    "sent", [{"id": "q", "method": "question"}, {"method": "notifications/cancelled", "params": {"requestId": "q"}}]
)
@pytest.mark.requirement(128)
async def test_a_server_may_not_ask_without_a_session(sent: JSON, caplog: pytest.LogCaptureFixture) -> None:
    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event(sent)
        await visit.event({"id": 1, "result": "done"})

    heard = Heard()
    async with linked(handler) as (link, server):
        assert await result(link, hear=heard) == "done"
        assert len(server.visits) == 1
        assert heard == []
        assert f"may not on the stream of a request, skipped: {sent['method']}" in caplog.text


async def test_a_refused_notification() -> None:
    async with linked(lambda visit: visit.reply(400, b"no")) as (link, _):
        with pytest.raises(HTTPRefused, match="HTTP 400: no"):
            await link.notify(Notification("n"))


# Answers that are a little wrong, and usable.


@pytest.mark.parametrize("media", ["application/json-rpc", "text/json", "application/vnd.api+json"])
async def test_a_media_type_that_is_json_all_the_same(media: str) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"result":7}'
    async with linked(lambda visit: visit.reply(201, body, content_type=media)) as (link, _):
        assert await result(link) == 7


BATCH = [
    {"jsonrpc": "2.0", "method": "n/1"},
    {"jsonrpc": "2.0", "id": 1, "result": "found"},
    {"jsonrpc": "2.0", "method": "n/2"},
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.requirement(513)
async def test_a_batch_is_read_where_the_version_has_batches(version: str, streamed: bool) -> None:
    async def handler(visit: Visit) -> None:
        if streamed:
            await visit.begin_stream()
            await visit.chunk(b"data: " + json.dumps(BATCH).encode() + b"\n\n")
            await visit.end_stream()
        elif visit.method == "POST":
            await visit.json(BATCH)

    heard = Heard()
    async with linked(handler) as (link, _):
        link.agree(FACTS[version])
        if FACTS[version].batches:
            assert await result(link, hear=heard) == "found"
            assert heard == ["n/1", "n/2"]
        else:
            with pytest.raises((RemoteProtocolError, ConnectionClosed)):
                await exchange(link, hear=heard)
            assert heard == []


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("batch", [b"[]", b"[1]", b'[{"jsonrpc":"2.0","id":9,"result":1}]', b"[" * 200])
async def test_a_batch_without_the_response(batch: bytes, streamed: bool) -> None:
    async def handler(visit: Visit) -> None:
        if streamed:
            await visit.begin_stream()
            await visit.chunk(b"data: " + batch + b"\n\n")
            await visit.end_stream()
        else:
            await visit.reply(200, batch, content_type="application/json")

    async with linked(handler) as (link, _):
        link.agree(FACTS[V2025_03_26])
        with pytest.raises((RemoteProtocolError, ConnectionClosed), match="the response"):
            await exchange(link)


async def test_a_malformed_response_on_a_stream_ends_its_request_at_once() -> None:
    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"id": 2, "error": "not ours"})
        await visit.event({"id": 1, "error": "text"})

    async with linked(handler) as (link, _):
        with pytest.raises(RemoteProtocolError, match=r"not a JSON-RPC message: .*got `str`"):
            await exchange(link)


# Hostile answers. Each is one clear error, and the next request works.


async def forever(visit: Visit, piece: bytes) -> None:
    while not visit.left.is_set():
        await visit.chunk(piece)
        await asyncio.sleep(0)


HOSTILE: dict[str, Handler] = {
    "a line without end": lambda visit: forever(visit, b"x" * 65536),
    "an event without end": lambda visit: forever(visit, b"data: " + b"x" * 65536 + b"\n"),
}


@pytest.mark.parametrize("what", HOSTILE)
async def test_streams_without_end(what: str) -> None:
    async def handler(visit: Visit) -> None:
        if visit.message["method"] == "fine":
            await visit.result(1)
        else:
            await visit.begin_stream()
            await HOSTILE[what](visit)

    async with linked(handler) as (link, server):
        with pytest.raises(RemoteProtocolError, match="over the limit"):
            await exchange(link)
        assert await result(link, "fine") == 1
        await until(lambda: len(server.connections) == 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [("content-type", "\xff\xfe"), ("content-type", "\xe9vent"), ("x", "\xff"), ("set-cookie", "a=\xff")],
)
async def test_a_header_that_is_not_text(field: str, value: str) -> None:
    async def handler(visit: Visit) -> None:
        head = f"HTTP/1.1 200 OK\r\n{field}: {value}\r\ncontent-length: 2\r\n\r\n{{}}"
        await visit.raw(head.encode("latin-1"))

    async with linked(handler) as (link, server):
        for _ in range(2):
            with pytest.raises(HTTPRefused, match="answered HTTP 200 with content type") as caught:
                await exchange(link)
            assert str(caught.value).isascii()
        assert "cookie" not in server.visits[1].headers


async def test_a_location_that_is_not_text() -> None:
    async def handler(visit: Visit) -> None:
        await visit.raw(b"HTTP/1.1 307 X\r\nlocation: \xff?token=s3cr3t\r\ncontent-length: 0\r\n\r\n")

    async with linked(handler) as (link, _):
        with pytest.raises((HTTPRefused, RemoteProtocolError), match="redirects") as caught:
            await exchange(link)
        assert str(caught.value).isascii()
        assert "s3cr3t" not in str(caught.value)


async def test_a_session_id_that_cannot_be_repeated() -> None:
    async def handler(visit: Visit) -> None:
        await visit.raw(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: \xff\r\ncontent-length: 36\r\n\r\n"
            b'{"jsonrpc":"2.0","id":1,"result":{}}'
        )

    async with linked(handler) as (link, _):
        with pytest.raises(RemoteProtocolError, match="session id that is not visible ASCII"):
            await exchange(link, "initialize")


LOGIN = "; it wants an Authorization header: {} (auth= of Client, and `splice login`, get one)"
ERROR = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"%b"}}'


@pytest.mark.parametrize(
    ("status", "challenge", "body", "told"),
    [
        (401, 'Bearer realm="m\xe9"', b"\x1b[31mno", ": [31mno" + LOGIN.format("'Bearer realm=\"m\\xe9\"'")),
        (401, "Basic, dpop algs=ES256", b"", LOGIN.format("'Basic, dpop algs=ES256'")),
        (401, "Bearer", ERROR % b"Who are you?", ": Who are you?" + LOGIN.format("'Bearer'")),
        (401, 'ApiKey header="x-key"', ERROR % b"Send \\u001b x-key", ": Send   x-key"),
        (401, "Basic realm=Bearer", b"", ""),
        (401, None, b'{"detail": "no"}', ': {"detail": "no"}'),
        (403, 'Bearer error="insufficient_scope", scope="a b;\xe9"', b"", "; it takes the scopes 'a b;\\xe9'"),
        (403, "Bearer", b"no", ": no"),
        (403, None, ERROR % (b"x" * 499), ": " + "x" * 499),
        (403, None, ERROR % (b"x" * 501), ": " + "x" * 500 + "..."),
        (404, None, ERROR % b"No session", ": No session; is that the MCP endpoint?"),
    ],
)
async def test_a_refusal_says_what_the_server_wants(status: int, challenge: str | None, body: bytes, told: str) -> None:
    async def handler(visit: Visit) -> None:
        await visit.reply(status, body, **({} if challenge is None else {"www_authenticate": challenge}))

    async with linked(handler) as (link, _):
        with pytest.raises(HTTPRefused) as caught:
            await link.notify(Notification("m"))
        assert str(caught.value) == f"{link.endpoint.url} answered HTTP {status}{told}"
        assert caught.value.response is None


@pytest.mark.parametrize("status", [404, 405])
async def test_a_refused_post_may_mean_a_server_of_the_transport_before(status: int) -> None:
    async with linked(lambda visit: visit.reply(status)) as (link, _):
        with pytest.raises(HTTPRefused, match=rf"HTTP {status}; .*HTTP\+SSE of 2024-11-05 was tried too") as caught:
            await exchange(link, "initialize")
        assert caught.value.status == status


# What is sent again.


@rows("method", [*sorted(REPEATABLE), "tools/call", "logging/setLevel", "m"])
async def test_only_what_changes_nothing_is_sent_again_on_a_dead_connection(method: str) -> None:
    known: set[int] = set()

    async def handler(visit: Visit) -> None:
        if id(visit.left) in known:
            visit.drop()
        else:
            known.add(id(visit.left))
            await visit.result(visit.message["id"])

    async with linked(handler) as (link, server):
        assert await result(link, id=1) == 1
        if method in REPEATABLE:
            assert await result(link, method, id=2) == 2
        else:
            with pytest.raises(ConnectionClosed, match=f"Lost {server.url}"):
                await exchange(link, method, id=2)
        assert len(server.seen(method)) == (2 if method in REPEATABLE else 1) + (method == "m")


def test_the_methods_that_may_be_repeated_exist() -> None:
    chapters = (completion, lifecycle, prompts, resources, tools)
    rows = {row.name for chapter in chapters for row in vars(chapter).values() if isinstance(row, Method)}
    assert rows >= REPEATABLE


def test_it_works_on_uvloop() -> None:
    async def handler(visit: Visit) -> None:
        if visit.message["method"] == "silent":
            return
        await visit.begin_stream()
        await visit.event({"method": "n"})
        await visit.event({"id": visit.message["id"], "result": visit.message["id"]})
        await visit.end_stream()

    async def main() -> None:
        async with linked(handler) as (link, server):
            assert await asyncio.gather(*(result(link, id=id) for id in range(50))) == list(range(50))
            waiting = asyncio.ensure_future(exchange(link, "silent"))
            visit = (await until(lambda: server.seen("silent")))[0]
            waiting.cancel()
            await asyncio.wait_for(visit.left.wait(), 5)
        await until(lambda: not server.connections)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
