"""Reading from the web for the tools of a server: what is asked, what comes back, and where it ends."""

import asyncio
import contextlib
import gzip
import zlib
from typing import Any

import pytest

from auth.test_fetcher import PUBLIC, Names, port_of, redirecting
from splice.auth import NotFetched, WebFetcher
from transports.raw_http import Visit, raw_server


def local(**options: Any) -> WebFetcher:
    return WebFetcher(allow_loopback=True, **{"timeout": 5, **options})


async def refused(fetcher: WebFetcher, url: str, told: str, **options: Any) -> NotFetched:
    with pytest.raises(NotFetched, match=told) as caught:
        await fetcher.get(url, **options)
    assert str(caught.value).isprintable()
    assert "s3cr3t" not in str(caught.value)
    return caught.value


async def test_what_is_sent_and_what_comes_back() -> None:
    async with raw_server(
        lambda visit: visit.reply(404, b"gone", content_type="Text/Plain; charset=x", x_a="1")
    ) as server:
        reply = await local().get(server.url + "#part", {"User-Agent": "Reader/1.0", "Accept": "text/*"})
    [visit] = server.visits
    assert (visit.method, visit.path) == ("GET", "/mcp")
    assert (visit.headers["user-agent"], visit.headers["accept"]) == ("Reader/1.0", "text/*")
    assert visit.headers["accept-encoding"] == "gzip, deflate"
    assert (reply.url, reply.status, reply.body, reply.is_cut) == (server.url, 404, b"gone", False)
    assert (reply.media_type, reply.headers["x-a"], reply.redirect) == ("text/plain", "1", None)


@pytest.mark.parametrize(
    ("url", "kind", "told"),
    [
        ("https://10.0.0.1/", "private", "^https://10.0.0.1/ is not fetched: it is a private address$"),
        ("http://[::1]/x?q=s3cr3t", "loopback", r"^http://\[::1\]/x is not fetched: it is an address of this machine$"),
        ("http://127.1/", "loopback", "127.1 leads to an address of this machine$"),
        ("https://169.254.169.254/", "refused", "it is not an address of the internet$"),
        ("https://in.test/", "refused", "in.test leads to what is not an address of the internet$"),
        ("https://no.test/", None, "no address is known for the host no.test$"),
        ("https://ann:s3cr3t@as.test/", None, "^https://as.test/ is not fetched: a URL begins with .* no user$"),
        ("file:///etc/passwd", None, "a URL begins with http:// or https://"),
    ],
)
async def test_a_model_can_read_why_not(url: str, kind: str | None, told: str) -> None:
    error = await refused(WebFetcher(look_up=Names(in_test=[["fe80::1"]])), url, told)
    assert error.leads_to == kind


@pytest.mark.parametrize(
    ("url", "asked", "path"),
    [
        ("http://as.localhost:{}/Köln?q=ü", "as.localhost", "/K%C3%B6ln?q=%C3%BC"),
        ("http://as.localhost:{}/a b/%2F?x=%26", "as.localhost", "/a%20b/%2F?x=%26"),
        (" http://b\xfccher.localhost:{} ", "xn--bcher-kva.localhost", "/"),
    ],
)
async def test_letters_beyond_ascii_are_written_in_ascii(url: str, asked: str, path: str) -> None:
    names = Names(**{"as_localhost": [["127.0.0.1"]], "xn--bcher-kva_localhost": [["127.0.0.1"]]})
    async with raw_server(lambda visit: visit.reply(200)) as server:
        await local(look_up=names).get(url.format(port_of(server)))
    assert (names.asked, server.visits[0].path) == ([asked], path)


async def test_a_redirect_is_followed_if_the_caller_says_so() -> None:
    async with raw_server(redirecting(302, lambda: "/there#part")) as server:
        first = await local().get(server.url)
        assert (first.status, first.redirect) == (302, server.url.removesuffix("/mcp") + "/there")
        last = await local().get(server.url, redirects=1)
        assert (last.url, last.body) == (first.redirect, b"there")
    async with raw_server(lambda visit: visit.reply(302, location="/again")) as server:
        assert (await local().get(server.url, redirects=2)).status == 302
        assert len(server.visits) == 3


async def test_each_hop_is_looked_up_and_checked() -> None:
    names = Names(a_localhost=[["127.0.0.1"], ["169.254.169.254"]])
    async with raw_server(lambda visit: visit.reply(302, location="/again")) as server:
        url = f"http://a.localhost:{port_of(server)}/x"
        assert (await local(look_up=names).get(url)).status == 302  # the answer of before is not asked for again
        names.answers["a.localhost"] = [["127.0.0.1"], ["169.254.169.254"]]
        await refused(local(look_up=names), url, "not an address of the internet", redirects=3)
    assert len(server.visits) == 2


@pytest.mark.parametrize("location", ["http://[", "http://as.test:x/"])
async def test_a_redirect_to_what_is_no_url(location: str) -> None:
    head = f"HTTP/1.1 302 X\r\ncontent-length: 0\r\nlocation: {location}\r\n\r\n".encode()
    async with raw_server(lambda visit: visit.raw(head)) as server:
        await refused(local(), server.url, "which is not a URL", redirects=1)


async def test_a_long_body_is_cut() -> None:
    async def endless(visit: Visit) -> None:
        await visit.raw(b"HTTP/1.1 200 X\r\ncontent-type: text/plain\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while not visit.left.is_set():
                await visit.raw(b"x" * 1000)
                await asyncio.sleep(0)

    async with raw_server(endless) as server:
        reply = await local(max_bytes=2500).get(server.url)
    assert (len(reply.body), reply.is_cut) == (2500, True)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_compressed_body_is_counted_as_it_is_read(encoding: str) -> None:
    """Ten megabytes in ten thousand bytes: no more is inflated than is kept, and a piece."""
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    bodies = [pack(b"hello"), pack(b"\0" * 10_000_000)]
    async with raw_server(lambda visit: visit.reply(200, bodies.pop(0), content_encoding=encoding)) as server:
        reply = await local(max_bytes=1000).get(server.url)
        assert (reply.body, reply.is_cut) == (b"hello", False)
        reply = await local(max_bytes=1000).get(server.url)
        assert (len(reply.body), reply.is_cut) == (1000, True)


@pytest.mark.parametrize(
    ("encoding", "body"), [("br", b"x"), ("zstd", b"x"), ("gzip, gzip", b"x"), ("gzip", b"not gzip"), ("\x7f", b"x")]
)
async def test_what_cannot_be_inflated_is_refused(encoding: str, body: bytes) -> None:
    async with raw_server(lambda visit: visit.reply(200, body, content_encoding=encoding)) as server:
        await refused(local(), server.url, "compressed|Lost|is not HTTP|broke off")


async def test_all_of_it_has_to_come_in_time() -> None:
    async def dripping(visit: Visit) -> None:
        await visit.raw(b"HTTP/1.1 200 X\r\n\r\n")
        while not visit.left.is_set():
            await visit.raw(b"x")
            await asyncio.sleep(0.01)

    async with raw_server(dripping) as server:
        await refused(local(timeout=0.1), server.url, r"did not answer within 0\.1 s")
    async with raw_server(lambda visit: visit.raw(b"HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nx")) as server:
        await refused(local(timeout=0.1), server.url, r"did not answer within 0\.1 s")


async def test_a_proxy_is_asked_for_what_may_be_asked() -> None:
    """It must not be given what is known here to be inside, nor by http what nobody proves to be outside."""
    names = Names(out_test=[[PUBLIC]], in_test=[["10.0.0.1"]])
    async with raw_server(lambda visit: visit.reply(200 if visit.method == "GET" else 403, b"x")) as proxy:
        fetcher = local(proxy=proxy.url, look_up=names)
        assert (await fetcher.get("http://out.test/x")).body == b"x"
        await refused(fetcher, "https://out.test/", "answered 403")
        await refused(fetcher, "https://unknown.test/", "answered 403")
        await refused(fetcher, "http://unknown.test/", "no address is known")
        await refused(fetcher, "https://in.test/", "leads to a private address")
        await refused(fetcher, "https://[fe80::1]/", "not an address of the internet")
    asked = [(visit.method, visit.path) for visit in proxy.visits]
    assert asked == [("GET", "http://out.test/x"), ("CONNECT", "out.test:443"), ("CONNECT", "unknown.test:443")]


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "127.0.0.1:1", "http://", ""])
def test_a_proxy_is_an_http_proxy(proxy: str) -> None:
    with pytest.raises(ValueError, match="proxy"):
        WebFetcher(proxy=proxy)
