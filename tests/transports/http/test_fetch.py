"""HTTP requests and responses: what is sent, what comes back, and in which pieces."""

import asyncio
import contextlib
from typing import Any, cast

import pytest

from splice.errors import ConnectionClosed, RemoteProtocolError
from splice.transports.http.fetch import Endpoint, HTTPResponse, sent, within_origin
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
def test_a_redirect_is_followed_only_within_the_origin(location: str, target: str | None) -> None:
    assert within_origin("http://h:1/a/b", location) == target


def test_only_http_urls_are_taken() -> None:
    assert Endpoint("https://example.com/mcp", {}).url == "https://example.com/mcp"
    for text in ("", "example.com", "ftp://h/", "javascript:alert(1)", "http://"):
        with pytest.raises(ValueError, match="not an HTTP URL"):
            Endpoint(text, {})


async def test_a_request_and_its_reply() -> None:
    async def handler(visit: Visit) -> None:
        await visit.reply(418, visit.body * 2, x_answer="a", content_type="Text/Plain; charset=utf-8")

    async with raw_server(handler) as server:
        endpoint = Endpoint(server.url, {"X-Always": "1"})
        async with endpoint.request("POST", {"X-Once": "2"}, b"ab") as reply:
            assert reply.status == 418
            assert reply.header("X-Answer") == "a"
            assert reply.header("x-none") is None
            assert reply.media_type == "text/plain"
            assert await reply.body(4) == b"abab"
            assert await reply.chunk() is None
        async with endpoint.request("GET", {}) as reply:
            assert await reply.body(0) == b""
            assert reply.media_type == "text/plain"
        await endpoint.close()
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
        endpoint = Endpoint(server.url, {})
        async with endpoint.request("GET", {}) as reply:
            assert await reply.body(9) == b"abcdefghi"
        async with endpoint.request("GET", {}) as reply:
            with pytest.raises(RemoteProtocolError, match="more than 8 bytes"):
                await reply.body(8)
        async with endpoint.request("GET", {}) as reply:
            assert await reply.start(4) == b"abcd"
        async with endpoint.request("GET", {}) as reply:
            assert await reply.start(100) == b"abcdefghi"
        await endpoint.close()


async def test_nobody_there_and_nothing_sent_after_the_end() -> None:
    async with raw_server(lambda visit: visit.reply(200)) as server:
        url = server.url
    endpoint = Endpoint(url, {})
    with pytest.raises(ConnectionClosed, match=f"Lost {url}: .*refused"):
        async with endpoint.request("GET", {}):
            pass
    await endpoint.close()
    with pytest.raises(ConnectionClosed, match=f"Lost {url}"):
        async with endpoint.request("GET", {}):
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
        async with sent(cast("Any", request), "http://h/"):
            pytest.fail("the request goes on")

    task = asyncio.ensure_future(send())
    await request.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert request.left


async def test_a_cancellation_that_the_library_forgets_still_counts_for_a_body() -> None:
    response = Forgetful()
    task = asyncio.ensure_future(HTTPResponse(cast("Any", response), "http://h/").chunk())
    await response.waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
