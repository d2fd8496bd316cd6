"""The HTTP link against servers that answer in every way, right and wrong."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from splice.errors import ConnectionClosed, RemoteProtocolError
from splice.protocol.jsonrpc import Failure, Notification, Request, Response, Success, raw
from splice.transports import http_link
from splice.transports.base import no_notice
from splice.transports.http_link import HTTPLink
from splice.transports.refusals import HTTPRefused, SessionLost
from transports.raw_http import Handler, RawServer, Visit, raw_server, until

LIMIT_SECONDS = 5.0
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "m"}
CHUNKINGS = [1, 3, 10_000]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_link, "RECONNECT_SECONDS", (0.01, 0.01, 0.01))
    monkeypatch.setattr(http_link, "FAREWELL_SECONDS", 0.3)


@asynccontextmanager
async def linked(handler: Handler, **options: Any) -> AsyncIterator[tuple[HTTPLink, RawServer]]:
    async with raw_server(handler) as server:
        link = HTTPLink(server.url, **options)
        try:
            yield link, server
        finally:
            await link.close()


class Heard(list[str]):
    """Remembers which notifications came."""

    async def __call__(self, note: Notification) -> None:
        self.append(note.method)


async def exchange(
    link: HTTPLink, method: str = "m", *, heard: Any = no_notice, id: Any = 1, modern: bool = True
) -> Any:
    async with asyncio.timeout(LIMIT_SECONDS):
        return await link.exchange(Request(id, method, raw({})), heard, MODERN if modern else {})


async def result(link: HTTPLink, method: str = "m", **options: Any) -> Any:
    response = await exchange(link, method, **options)
    assert isinstance(response, Success)
    return msgspec.json.decode(response.result)


class Legacy:
    """A legacy server with a session; a test overrides what it is about."""

    session: str | None = "s-1"
    version = "2025-11-25"

    async def __call__(self, visit: Visit) -> None:
        if visit.method != "POST":
            await getattr(self, visit.method.lower())(visit)
        elif visit.message.get("method") == "initialize":
            headers = {} if self.session is None else {"mcp_session_id": self.session}
            await visit.result({"protocolVersion": self.version}, **headers)
        elif "id" not in visit.message or "method" not in visit.message:
            await visit.reply(202)
        else:
            await self.call(visit)

    async def get(self, visit: Visit) -> None:
        await visit.reply(405)

    async def delete(self, visit: Visit) -> None:
        await visit.reply(200)

    async def call(self, visit: Visit) -> None:
        await visit.result("called")


async def handshake(link: HTTPLink) -> None:
    await exchange(link, "initialize", modern=False)
    await link.notify(Notification("notifications/initialized"))


# Requests and responses.


async def test_a_json_reply() -> None:
    async with linked(lambda visit: visit.result({"a": "é"}), headers={"X-Key": "k"}) as (link, server):
        assert await result(link) == {"a": "é"}
        headers = server.visits[0].headers
        assert headers["content-type"] == "application/json"
        assert headers["accept"] == "application/json, text/event-stream"
        assert headers["mcp-protocol-version"] == "2026-07-28"
        assert headers["mcp-method"] == "m"
        assert headers["x-key"] == "k"
        assert "mcp-session-id" not in headers


@pytest.mark.parametrize("size", CHUNKINGS)
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
        assert await result(link, heard=heard) == "é"
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
async def test_an_error_response_counts_whatever_the_status(status: int, body: bytes) -> None:
    async with linked(lambda visit: visit.reply(status, body, content_type="application/json")) as (link, _):
        response = await exchange(link)
        assert isinstance(response, Failure)
        assert response.error.code == -32020


@pytest.mark.parametrize("status", [400, 401, 403, 404, 418, 500, 503])
@pytest.mark.parametrize("body", [b"", b"no", b"\xff", b'{"error": 1}', b"[" * 10_000])
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
        (b'{"jsonrpc":"2.0","id":"1","result":1}', "application/json"),
        (b'{"jsonrpc":"2.0","method":"n"}', "application/json"),
        (b"\xff", "application/json"),
    ],
)
async def test_a_body_that_is_no_response_to_this_request(body: bytes, media: str) -> None:
    async with linked(lambda visit: visit.reply(200, body, content_type=media)) as (link, _):
        with pytest.raises(RemoteProtocolError):
            await exchange(link)


@pytest.mark.parametrize("media", ["text/html", ""])
async def test_a_media_type_that_is_none_of_ours(media: str) -> None:
    async with linked(lambda visit: visit.reply(200, b"<html>", content_type=media)) as (link, _):
        with pytest.raises(HTTPRefused, match="content type"):
            await exchange(link)


async def test_a_body_over_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_link, "MAX_MESSAGE_BYTES", 1000)
    async with linked(lambda visit: visit.result("x" * 2000)) as (link, _):
        with pytest.raises(RemoteProtocolError, match="more than 1000 bytes"):
            await exchange(link)


# Broken connections.


async def test_nobody_listens() -> None:
    async with raw_server(lambda visit: visit.reply(200)) as server:
        pass
    link = HTTPLink(server.url)
    with pytest.raises(ConnectionClosed, match=f"(?s){server.url}.*refused"):
        await exchange(link)
    await link.close()


@pytest.mark.parametrize("url", ["nonsense", "ftp://h/", "file:///etc/passwd"])
def test_what_is_no_http_url(url: str) -> None:
    with pytest.raises(ValueError, match="no HTTP URL"):
        HTTPLink(url)


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
        await asyncio.sleep(0.05)
        visit.drop()

    async with linked(handler) as (link, _):
        with pytest.raises(ConnectionClosed):
            await exchange(link)


async def test_a_stream_that_ends_without_the_response() -> None:
    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"method": "n"}, id="7")
        await visit.end_stream()

    async with linked(handler) as (link, server):
        with pytest.raises(ConnectionClosed, match="before the response"):
            await exchange(link)
        assert server.seen("GET") == []


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
        assert len(server.visits) == http_link.MAX_REDIRECTS


# Cancellation and the end.


async def test_cancelling_a_modern_request_closes_its_stream_and_says_nothing_else() -> None:
    heard = Heard()

    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"method": "n"})

    async with linked(handler) as (link, server):
        task = asyncio.ensure_future(exchange(link, heard=heard))
        await until(lambda: heard)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(server.visits[0].left.is_set)
        assert len(server.visits) == 1


async def test_cancelling_a_legacy_request_is_told() -> None:
    class Silent(Legacy):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"method": "n"})

    heard = Heard()
    async with linked(Silent()) as (link, server):
        await handshake(link)
        task = asyncio.ensure_future(exchange(link, heard=heard, id=5, modern=False))
        await until(lambda: heard)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (told,) = await until(lambda: server.seen("notifications/cancelled"))
        assert told.message["params"] == {"requestId": 5}
        assert told.headers["mcp-session-id"] == "s-1"


async def test_a_handshake_is_never_cancelled() -> None:
    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"method": "n"})

    heard = Heard()
    async with linked(handler) as (link, server):
        task = asyncio.ensure_future(exchange(link, "initialize", heard=heard, modern=False))
        await until(lambda: heard)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(server.visits) == 1


async def test_closing_fails_what_is_pending_from_any_task_and_twice() -> None:
    async def handler(visit: Visit) -> None:
        if visit.message["id"] == 1:
            await visit.begin_stream()
            await visit.event({"method": "n"})

    heard = Heard()
    async with linked(handler) as (link, server):
        streaming = asyncio.ensure_future(exchange(link, heard=heard))
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
            await exchange(link, heard=close)


async def test_a_cancellation_of_the_callers_own_stays_one_even_while_closing() -> None:
    heard = Heard()

    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"method": "n"})

    async with linked(handler) as (link, _):
        task = asyncio.ensure_future(exchange(link, heard=heard))
        await until(lambda: heard)
        task.cancel()
        await link.close()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_link_belongs_to_tasks() -> None:
    async with linked(lambda visit: visit.result(1)) as (link, _):
        coroutine = link.exchange(Request(1, "m"), no_notice, {})
        failures: list[BaseException] = []

        def step() -> None:
            try:
                coroutine.send(None)
            except RuntimeError as error:
                failures.append(error)

        asyncio.get_running_loop().call_soon(step)
        await until(lambda: failures)


# What the legacy era adds.


async def test_the_session_and_the_version_are_repeated_and_the_session_is_ended() -> None:
    async with linked(Legacy()) as (link, server):
        await handshake(link)
        assert await result(link, modern=False) == "called"
        await link.close()
        first, *later = server.visits
        assert not {"mcp-session-id", "mcp-protocol-version"} & set(first.headers)
        assert [visit.method for visit in later] == ["POST", "GET", "POST", "DELETE"]
        assert {visit.headers["mcp-session-id"] for visit in later} == {"s-1"}
        assert {visit.headers["mcp-protocol-version"] for visit in later} == {"2025-11-25"}


@pytest.mark.parametrize(("version", "has_header"), [("2025-03-26", False), ("2025-06-18", True)])
async def test_the_version_header_where_the_version_has_it_and_no_session_where_none_was_given(
    version: str, has_header: bool
) -> None:
    server_type = Legacy()
    server_type.session, server_type.version = None, version
    async with linked(server_type) as (link, server):
        await handshake(link)
        await exchange(link, modern=False)
        await link.close()
        assert ("mcp-protocol-version" in server.seen("m")[0].headers) == has_header
        assert "mcp-session-id" not in server.seen("m")[0].headers
        assert server.seen("DELETE") == []


async def test_an_unknown_version_settles_nothing() -> None:
    server_type = Legacy()
    server_type.version = "1999-01-01"
    async with linked(server_type) as (link, server):
        await exchange(link, "initialize", modern=False)
        await exchange(link, modern=False)
        assert "mcp-session-id" not in server.seen("m")[0].headers


@pytest.mark.parametrize("kind", ["refuses", "hangs", "breaks"])
async def test_a_server_that_does_not_take_its_leave(kind: str) -> None:
    class Rude(Legacy):
        async def delete(self, visit: Visit) -> None:
            if kind == "refuses":
                await visit.reply(405)
            if kind == "breaks":
                visit.drop()

    async with linked(Rude()) as (link, server):
        await handshake(link)
        async with asyncio.timeout(2):
            await link.close()
        assert len(server.seen("DELETE")) == 1


async def test_a_lost_session_is_told_apart() -> None:
    class Forgetful(Legacy):
        async def call(self, visit: Visit) -> None:
            await visit.error(-32001, 404)

    async with linked(Forgetful()) as (link, server):
        await handshake(link)
        with pytest.raises(SessionLost):
            await exchange(link, modern=False)
        await exchange(link, "initialize", modern=False)
        assert "mcp-session-id" not in server.seen("initialize")[1].headers
        with pytest.raises(SessionLost):
            await exchange(link, modern=False)
        await link.close()
        assert server.seen("DELETE") == []


async def test_a_refused_notification() -> None:
    async with linked(lambda visit: visit.error(-32600, 400) if "id" in visit.message else visit.reply(400, b"no")) as (
        link,
        _,
    ):
        with pytest.raises(HTTPRefused, match="HTTP 400: no"):
            await link.notify(Notification("n"))


class Asking(Legacy):
    """Asks a question on the stream of each call, and answers with what came back."""

    def __init__(self) -> None:
        self.answers: asyncio.Queue[Any] = asyncio.Queue()

    async def __call__(self, visit: Visit) -> None:
        if visit.method == "POST" and "method" not in visit.message:
            self.answers.put_nowait(visit)
        await super().__call__(visit)

    async def call(self, visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"id": "q", "method": "question", "params": {}})
        answer = await self.answers.get()
        await visit.event({"id": visit.message["id"], "result": [answer.message, answer.headers["mcp-session-id"]]})


async def test_questions_on_the_stream_of_a_request() -> None:
    async def answer(request: Request) -> Response:
        return Success(request.id, raw({"to": request.method}))

    async with linked(Asking()) as (link, _):
        link.on_request = answer
        await handshake(link)
        assert await result(link, modern=False) == [{"jsonrpc": "2.0", "id": "q", "result": {"to": "question"}}, "s-1"]


async def test_a_question_that_is_withdrawn() -> None:
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    class Withdrawing(Legacy):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"id": "q", "method": "question"})
            await visit.event({"id": "q", "method": "question again"})
            await asked.wait()
            for params in ({"requestId": "unknown"}, {}, {"requestId": 1.5}, None, {"requestId": "q"}):
                await visit.event({"method": "notifications/cancelled", "params": params})
            await visit.event({"id": visit.message["id"], "result": "done"})

    async def answer(request: Request) -> Response:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()
        raise AssertionError

    async with linked(Withdrawing()) as (link, _):
        link.on_request = answer
        await handshake(link)
        assert await result(link, modern=False) == "done"
        await withdrawn.wait()


async def test_a_modern_server_may_not_ask(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"id": "q", "method": "question"})
        await visit.event({"id": 1, "result": "done"})

    async with linked(handler) as (link, server):
        assert await result(link) == "done"
        assert len(server.visits) == 1
        assert "may not" in caplog.text


async def test_an_answer_the_server_does_not_want(caplog: pytest.LogCaptureFixture) -> None:
    class Unwilling(Asking):
        async def __call__(self, visit: Visit) -> None:
            if visit.method == "POST" and "method" not in visit.message:
                self.answers.put_nowait(visit)
                await visit.reply(500)
            else:
                await super().__call__(visit)

    async with linked(Unwilling()) as (link, _):
        await handshake(link)
        assert (await result(link, modern=False))[0]["error"]["code"] == -32601
        await until(lambda: "could not send" in caplog.text)


# The GET stream, and streams that break.


async def test_the_get_stream_is_reopened_after_its_last_event() -> None:
    class Talking(Legacy):
        gets = 0

        async def get(self, visit: Visit) -> None:
            self.gets += 1
            if self.gets == 2:
                await visit.reply(503)
            elif self.gets == 4:
                await visit.reply(404)
            else:
                await visit.begin_stream()
                await visit.chunk(b"retry: 5\n\n")
                await visit.event({"method": f"n/{self.gets}"}, id=f"e{self.gets}")
                await visit.end_stream()

    heard = Heard()
    async with linked(Talking()) as (link, server):
        link.on_notice = heard
        await handshake(link)
        await until(lambda: len(server.seen("GET")) == 4)
        assert heard == ["n/1", "n/3"]
        headers = [visit.headers for visit in server.seen("GET")]
        assert {each["accept"] for each in headers} == {"text/event-stream"}
        assert [each.get("last-event-id") for each in headers] == [None, "e1", "e1", "e3"]


async def test_a_get_stream_that_always_breaks_is_given_up() -> None:
    class Breaking(Legacy):
        async def get(self, visit: Visit) -> None:
            visit.drop()

    async with linked(Breaking()) as (link, server):
        await handshake(link)
        await until(lambda: len(server.seen("GET")) == 3)
        assert await result(link, modern=False) == "called"


async def test_a_server_that_is_slow_to_open_the_get_stream_does_not_hold_up_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent(Legacy):
        async def get(self, visit: Visit) -> None:
            pass

    monkeypatch.setattr(http_link, "STREAM_SECONDS", 0.01)
    async with linked(Silent()) as (link, server):
        await handshake(link)
        assert await result(link, modern=False) == "called"
        assert len(server.seen("GET")) == 1


async def test_a_second_handshake_opens_a_second_stream() -> None:
    class Streaming(Legacy):
        async def get(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"method": "n"})

        async def call(self, visit: Visit) -> None:
            await visit.reply(404)

    heard = Heard()
    async with linked(Streaming()) as (link, server):
        link.on_notice = heard
        await handshake(link)
        await link.notify(Notification("notifications/initialized"))
        await until(lambda: heard == ["n"])
        with pytest.raises(SessionLost):
            await exchange(link, modern=False)
        await until(server.seen("GET")[0].left.is_set)
        await handshake(link)
        await until(lambda: heard == ["n", "n"])


async def test_the_stream_of_a_request_is_resumed_where_the_server_gave_ids() -> None:
    class Resumable(Legacy):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.chunk(b"id: a\nretry: 5\ndata:\n\n")
            visit.drop()

        async def get(self, visit: Visit) -> None:
            if "last-event-id" not in visit.headers:
                await visit.reply(405)
                return
            await visit.begin_stream()
            await visit.event({"method": "n"})
            await visit.event({"id": 1, "result": "resumed"})

    heard = Heard()
    async with linked(Resumable()) as (link, server):
        await handshake(link)
        assert await result(link, heard=heard, modern=False) == "resumed"
        assert heard == ["n"]
        assert server.seen("GET")[-1].headers["last-event-id"] == "a"


@pytest.mark.parametrize("status", [400, 405, 503])
async def test_the_stream_of_a_request_that_cannot_be_resumed(status: int) -> None:
    class Stubborn(Legacy):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"method": "n"}, id="a")
            await visit.end_stream()

        async def get(self, visit: Visit) -> None:
            await visit.reply(status)

    async with linked(Stubborn()) as (link, _):
        await handshake(link)
        with pytest.raises(ConnectionClosed, match="before the response"):
            await exchange(link, modern=False)
