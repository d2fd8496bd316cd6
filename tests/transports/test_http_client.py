"""HTTP itself: what is sent, what comes back, and in which pieces."""

import asyncio
import contextlib
from typing import Any, cast

import pytest

from splice.errors import ConnectionClosed, RemoteProtocolError
from splice.transports.http_client import HTTPClient, Reply, Sending, check_url, within_origin
from transports.raw_http import Visit, raw_server


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/other", "http://h:1/other"),
        ("other?x=1", "http://h:1/a/other?x=1"),
        ("http://h:1/x", "http://h:1/x"),
        ("", "http://h:1/a/b"),
        ("http://h:2/x", None),
        ("http://H2:1/x", None),
        ("https://h:1/x", None),
        ("//evil/x", None),
        ("http://h:1@evil/x", None),
        ("http://[", None),
    ],
)
def test_what_is_within_an_origin(location: str, target: str | None) -> None:
    assert within_origin("http://h:1/a/b", location) == target


def test_what_is_a_url() -> None:
    check_url("https://example.com/mcp")
    for text in ("", "example.com", "ftp://h/", "javascript:alert(1)", "http://"):
        with pytest.raises(ValueError, match="no HTTP URL"):
            check_url(text)


async def test_a_request_and_its_reply() -> None:
    async def handler(visit: Visit) -> None:
        await visit.reply(418, visit.body * 2, x_answer="a", content_type="Text/Plain; charset=utf-8")

    async with raw_server(handler) as server:
        client = HTTPClient({"X-Always": "1"})
        async with client.send("POST", server.url, {"X-Once": "2"}, b"ab") as reply:
            assert reply.status == 418
            assert reply.header("X-Answer") == "a"
            assert reply.header("x-none") is None
            assert reply.media_type == "text/plain"
            assert await reply.body(4) == b"abab"
            assert await reply.chunk() is None
        async with client.send("GET", server.url, {}) as reply:
            assert await reply.body(0) == b""
            assert reply.media_type == "text/plain"
        await client.close()
        headers = server.visits[0].headers
        assert (headers["x-always"], headers["x-once"], headers["user-agent"]) == ("1", "2", "splice")
        assert "accept-encoding" not in headers
        assert len({id(visit.left) for visit in server.visits}) == 1  # one connection served both


async def test_a_body_in_pieces_and_over_the_limit() -> None:
    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        for piece in (b"abc", b"def", b"ghi"):
            await visit.chunk(piece)
        await visit.end_stream()

    async with raw_server(handler) as server:
        client = HTTPClient({})
        async with client.send("GET", server.url, {}) as reply:
            assert await reply.body(9) == b"abcdefghi"
        async with client.send("GET", server.url, {}) as reply:
            with pytest.raises(RemoteProtocolError, match="more than 8 bytes"):
                await reply.body(8)
        async with client.send("GET", server.url, {}) as reply:
            assert await reply.start(4) == b"abcd"
        async with client.send("GET", server.url, {}) as reply:
            assert await reply.start(100) == b"abcdefghi"
        await client.close()


async def test_nobody_there_and_nothing_sent_after_the_end() -> None:
    async with raw_server(lambda visit: visit.reply(200)) as server:
        url = server.url
    client = HTTPClient({})
    with pytest.raises(ConnectionClosed, match=f"Lost {url}: .*refused"):
        async with client.send("GET", url, {}):
            pass
    await client.close()
    with pytest.raises(ConnectionClosed, match=f"Lost {url}"):
        async with client.send("GET", url, {}):
            pass


class Forgetful:
    """A request of the library's that is cancelled just when its result arrives, and forgets it."""

    def __init__(self, response: object = None) -> None:
        self.waiting = asyncio.Event()
        self.left = False
        self.response = response

    async def __aenter__(self) -> object:
        with contextlib.suppress(asyncio.CancelledError):
            self.waiting.set()
            await asyncio.Event().wait()
        return self.response

    async def __aexit__(self, *_: object) -> None:
        self.left = True

    @property
    def body_reader(self) -> "Forgetful":
        return self

    status = 200
    read_chunk = __aenter__


async def test_a_cancellation_that_the_library_forgets_still_counts_for_a_request() -> None:
    request = Forgetful()

    async def send() -> None:
        async with Sending(cast("Any", request), "http://h/"):
            pytest.fail("the request goes on")

    task = asyncio.ensure_future(send())
    await request.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert request.left


async def test_a_cancellation_that_the_library_forgets_still_counts_for_a_body() -> None:
    response = Forgetful()
    task = asyncio.ensure_future(Reply(cast("Any", response), "http://h/").chunk())
    await response.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
