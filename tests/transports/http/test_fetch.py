"""HTTP requests and responses: what is sent, what comes back, and in which pieces."""

import asyncio
import fcntl
import gc
import gzip
import os
import socket
import subprocess
import sys
import termios
import warnings
import weakref
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from yarl import URL

from splice.errors import ConnectFailed, ConnectionClosed, HTTPRefused, RemoteProtocolError
from splice.transports.http import fetch
from splice.transports.http.fetch import Endpoint, within_origin
from support.tables import rows
from transports.certificates import make_certificates
from transports.raw_http import Handler, RawServer, Visit, raw_server, until


@asynccontextmanager
async def endpoint_of(server: RawServer, headers: dict[str, str] | None = None) -> AsyncIterator[Endpoint]:
    endpoint = Endpoint(server.url, headers or {})
    try:
        async with asyncio.timeout(5):
            yield endpoint
    finally:
        await endpoint.close()


@rows(
    ("location", "target"),
    [
        ("/other", "http://h:1/other"),
        ("other?x=1", "http://h:1/a/other?x=1"),
        ("http://h:1/x", "http://h:1/x"),
        ("", "http://h:1/a/b"),
        ("http://user:secret@h:1/x", "http://h:1/x"),
        ("http://h:2/x", None),
        ("http://H2:1/x", None),
        ("https://h:1/x", None),
        ("//evil/x", None),
        ("http://h:1@evil/x", None),
        ("http://[", None),
        ("http://[::1]@", None),
    ],
)
def test_a_redirect_is_followed_only_within_the_origin(location: str, target: str | None) -> None:
    found = within_origin(URL("http://h:1/a/b"), location)
    assert (None if found is None else str(found)) == target


@pytest.mark.parametrize("location", ["http://ann:s3cr3t@evil/x?s3cr3t", "http://ann:s3cr3t@[/"])
async def test_a_refused_redirect_shows_no_secrets(location: str) -> None:
    async with raw_server(lambda visit: visit.reply(307, location=location)) as server, endpoint_of(server) as endpoint:
        with pytest.raises(HTTPRefused, match="is not followed") as caught:
            await endpoint.follow("POST", {}, b"{}")
        assert "s3cr3t" not in str(caught.value)


def test_only_http_urls_are_taken() -> None:
    for text in ("", "example.com", "ftp://h/", "javascript:alert(1)", "http://"):
        with pytest.raises(ValueError, match="not an HTTP URL"):
            Endpoint(text, {})


async def test_a_request_and_its_reply() -> None:
    async def handler(visit: Visit) -> None:
        await visit.reply(418, visit.body * 2, x_answer="a", content_type="Text/Plain; charset=utf-8")

    async with raw_server(handler) as server:
        endpoint = Endpoint(server.url, {"X-Always": "1"})
        with await endpoint.request("POST", {"X-Once": "2"}, b"ab") as reply:
            assert reply.status == 418
            assert reply.header("X-Answer") == "a"
            assert reply.header("x-none") is None
            assert reply.media_type == "text/plain"
            assert await reply.body() == b"abab"
            assert await reply.chunk() is None
        with await endpoint.request("GET", {}) as reply:
            assert await reply.body() == b""
            assert reply.media_type == "text/plain"
        await endpoint.close()
        headers = server.visits[0].headers
        assert (headers["x-always"], headers["x-once"], headers["user-agent"]) == ("1", "2", "splice")
        assert headers["accept-encoding"] == "identity"
        assert len({id(visit.left) for visit in server.visits}) == 1  # one connection served both


async def test_a_body_in_pieces_and_over_the_limit() -> None:
    async def handler(visit: Visit) -> None:
        await visit.begin_stream()
        for piece in (b"abc", b"def", b"ghi"):
            await visit.chunk(piece)
        await visit.end_stream()

    async with raw_server(handler) as server:
        endpoint = Endpoint(server.url, {}, 9)
        with await endpoint.request("GET", {}) as reply:
            assert await reply.body() == b"abcdefghi"
        endpoint.max_message = 8
        with await endpoint.request("GET", {}) as reply, pytest.raises(RemoteProtocolError, match="more than 8 bytes"):
            await reply.body()
        with await endpoint.request("GET", {}) as reply:
            assert await reply.start(4) == b"abcd"
        with await endpoint.request("GET", {}) as reply:
            assert await reply.start(100) == b"abcdefghi"
        await endpoint.close()


async def test_nothing_is_sent_after_the_end() -> None:
    async with raw_server(lambda visit: visit.reply(200)) as server:
        endpoint = Endpoint(server.url, {})
        await endpoint.close()
        with pytest.raises(ConnectionClosed, match=f"{server.url} is closed"):
            await endpoint.request("GET", {})
        assert server.visits == []


# Compressed bodies.


@pytest.mark.parametrize(("coding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_a_compressed_body_is_read_though_nobody_asked_for_it(
    coding: str, compress: Callable[[bytes], bytes]
) -> None:
    async def handler(visit: Visit) -> None:
        await visit.reply(200, compress(b"abc" * 1000), content_encoding=coding)

    async with raw_server(handler) as server, endpoint_of(server) as endpoint:
        with await endpoint.request("GET", {}) as reply:
            assert await reply.body() == b"abc" * 1000


async def test_a_compressed_body_counts_as_large_as_it_becomes() -> None:
    bomb = gzip.compress(bytes(50_000_000))

    async def handler(visit: Visit) -> None:
        await visit.reply(200, bomb, content_encoding="gzip")

    async with raw_server(handler) as server, endpoint_of(server) as endpoint:
        with await endpoint.request("GET", {}) as reply:
            reply.max_message = 100_000
            with pytest.raises(RemoteProtocolError, match="more than 100000 bytes"):
                await reply.body()
            assert reply._response.content.total_bytes < 5_000_000


# Cancelling.


async def silence(visit: Visit) -> None:
    await asyncio.Event().wait()


async def half_a_body(visit: Visit) -> None:
    await visit.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")


@pytest.mark.parametrize("handler", [silence, half_a_body])
async def test_whoever_is_cancelled_leaves_no_connection(handler: Handler) -> None:
    async def call() -> None:
        with await endpoint.request("POST", {}, b"{}") as reply:
            await reply.body()

    async with raw_server(handler) as server, endpoint_of(server) as endpoint:
        calls = [asyncio.ensure_future(call()) for _ in range(300)]
        await until(lambda: len(server.visits) == 300)
        for each in calls:
            each.cancel()
        await asyncio.wait(calls)
        await until(lambda: not server.connections)


def waiting_bytes(connection: socket.socket) -> int:
    """Count what has arrived and was not read."""
    return int.from_bytes(fcntl.ioctl(connection, termios.FIONREAD, bytes(4)), sys.byteorder)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_an_upload_that_is_cancelled_leaves_no_connection_though_the_server_reads_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", {})
        sending = asyncio.ensure_future(endpoint.request("POST", {}, bytes(50_000_000)))
        listener.setblocking(False)
        async with asyncio.timeout(5):
            loop = asyncio.get_running_loop()
            taken, _ = await loop.sock_accept(listener)
            with taken:
                arrived = 0
                while arrived < (arrived := waiting_bytes(taken)) or not arrived:  # noqa: ASYNC110 - nothing tells
                    await asyncio.sleep(0.1)
                before = open_files()
                sending.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await sending
                await until(lambda: open_files() < before)
        await endpoint.close()


async def test_a_server_that_reads_nothing_does_not_hold_up_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", {})
        sending = asyncio.ensure_future(endpoint.request("POST", {}, bytes(50_000_000)))
        listener.setblocking(False)
        async with asyncio.timeout(5):
            taken, _ = await asyncio.get_running_loop().sock_accept(listener)
            with taken:
                assert await asyncio.get_running_loop().sock_recv(taken, 1)
                await endpoint.close()
                with pytest.raises(ConnectionClosed):
                    await sending


# Connections that are kept.


async def test_an_idle_connection_is_dropped_before_the_server_drops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "KEEP_SECONDS", 0.01)
    async with raw_server(lambda visit: visit.reply(200)) as server, endpoint_of(server) as endpoint:
        for _ in range(2):
            with await endpoint.request("GET", {}):
                pass
            await until(lambda: not server.connections)


class ClosesLater:
    """Answers the first request of the first `kept` connections, and closes each at the second."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        self.known: set[int] = set()

    async def __call__(self, visit: Visit) -> None:
        if id(visit.left) in self.known or len(self.known) > self.kept:
            visit.drop()
        else:
            self.known.add(id(visit.left))
            await visit.reply(200)


@pytest.mark.parametrize("at_once", [1, 5])
async def test_what_may_be_repeated_is_sent_again_when_a_kept_connection_is_dead(at_once: int) -> None:
    async def call(*, repeatable: bool = True) -> int:
        with await endpoint.follow("POST", {}, b"{}", repeatable=repeatable) as reply:
            return reply.status

    async with raw_server(ClosesLater(100)) as server, endpoint_of(server) as endpoint:
        for _ in range(2):
            assert await asyncio.gather(*(call() for _ in range(at_once))) == [200] * at_once
        assert len(server.visits) == 3 * at_once
        with pytest.raises(ConnectionClosed):
            await call(repeatable=False)
        assert len(server.visits) == 3 * at_once + 1


async def test_what_is_repeated_is_repeated_once() -> None:
    async with raw_server(ClosesLater(-1)) as server, endpoint_of(server) as endpoint:
        with pytest.raises(ConnectionClosed, match=r"closed the connection|reset"):
            await endpoint.follow("POST", {}, b"{}", repeatable=True)
        assert len(server.visits) == 2


# What is said when there is no connection.


async def test_nobody_listens() -> None:
    async with raw_server(lambda visit: visit.reply(200)) as server:
        pass
    async with endpoint_of(server) as endpoint:
        with pytest.raises(ConnectFailed, match=f"Cannot connect to {server.url}: nothing listens at 127.0.0.1:"):
            await endpoint.request("GET", {})


async def test_a_host_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    endpoint = Endpoint("http://no-such-host.invalid/mcp", {})
    with pytest.raises(ConnectFailed, match=r"no address is known for the host no-such-host.invalid"):
        await endpoint.request("GET", {})
    await endpoint.close()


async def test_https_where_http_is_spoken() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(handler, "127.0.0.1", 0)
    endpoint = Endpoint(f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp", {})
    with pytest.raises(ConnectFailed, match=r"no TLS at 127.0.0.1:.*without TLS begins with http://"):
        await endpoint.request("GET", {})
    await endpoint.close()
    listener.close()


FETCHED = """
import sys
from splice.errors import ConnectFailed

async def main():
    endpoint = Endpoint(sys.argv[1], {})
    try:
        with await endpoint.request("GET", {}) as reply:
            print(reply.status)
    except ConnectFailed as error:
        print(error)
    await endpoint.close()

asyncio.run(main())
"""


@pytest.mark.parametrize(("trusts", "told"), [(True, "200"), (False, "certificate not trusted (")])
async def test_tls_with_a_private_authority(tmp_path: Path, trusts: bool, told: str) -> None:
    authority, tls = make_certificates(tmp_path)
    environment = {**os.environ, "SSL_CERT_FILE": str(authority)} if trusts else None
    async with raw_server(lambda visit: visit.reply(200), tls) as server:
        done = await asyncio.to_thread(run, FETCHED, server.url, environment)
    assert done.stdout.removeprefix(f"Cannot connect to {server.url}: ").startswith(told)
    assert ("SSL_CERT_FILE" in done.stdout) == (not trusts)
    assert (done.stderr, done.returncode) == ("", 0)


async def test_what_is_not_http() -> None:
    async def handler(visit: Visit) -> None:
        await visit.raw(b"SSH-2.0-\x1b[31m\r\n\r\n")

    async with raw_server(handler) as server, endpoint_of(server) as endpoint:
        with pytest.raises(ConnectionClosed, match=f"Lost {server.url}: the answer is not HTTP") as caught:
            await endpoint.request("GET", {})
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 " + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\nx: " + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 1000,
    ],
)
async def test_a_head_without_end(head: bytes) -> None:
    async with raw_server(lambda visit: visit.raw(head)) as server, endpoint_of(server) as endpoint:
        with pytest.raises(ConnectionClosed, match="not HTTP"):
            await endpoint.request("GET", {})


@pytest.mark.parametrize("size", [8_000, 60_000])
async def test_a_long_header_is_read(size: int) -> None:
    async with (
        raw_server(lambda visit: visit.reply(200, x_long="x" * size)) as server,
        endpoint_of(server) as endpoint,
    ):
        with await endpoint.request("GET", {}) as reply:
            assert reply.header("x-long") == "x" * size


# Secrets.


async def test_user_and_password_are_sent_and_not_shown() -> None:
    async with raw_server(lambda visit: visit.reply(200)) as server:
        url = server.url.replace("http://", "http://ann:s3cr3t@") + "?token=s3cr3t#s3cr3t"
        endpoint = Endpoint(url, {})
        with await endpoint.request("GET", {}):
            pass
        await endpoint.close()
        (visit,) = server.visits
        assert visit.headers["authorization"] == "Basic YW5uOnMzY3IzdA=="
        assert visit.path == "/mcp?token=s3cr3t"
        assert endpoint.url == server.url
        own = Endpoint(url, {"authorization": "Bearer t"})
        with await own.request("GET", {}):
            pass
        await own.close()
        assert server.visits[1].headers["authorization"] == "Bearer t"


def test_nothing_secret_of_what_is_no_url_is_shown() -> None:
    for text in ("ftp://ann:s3cr3t@h/?s3cr3t", "http://ann:s3cr3t@[/"):
        with pytest.raises(ValueError, match="not an HTTP URL") as caught:
            Endpoint(text, {})
        assert "s3cr3t" not in str(caught.value)


async def test_an_endpoint_is_let_go_of_whether_it_was_closed_or_not() -> None:
    async with raw_server(lambda visit: visit.reply(200)) as server:
        for closes in (True, False):
            endpoint = Endpoint(server.url, {})
            with await endpoint.request("GET", {}):
                pass
            if closes:
                await endpoint.close()
            known = weakref.ref(endpoint)
            del endpoint
            with warnings.catch_warnings(action="ignore", category=ResourceWarning):
                gc.collect()
            assert known() is None


# Proxies.


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("prefix", ["http://", "http://ann:s3cr3t@", ""])
async def test_the_proxy_of_the_environment(environment: pytest.MonkeyPatch, name: str, prefix: str) -> None:
    async with raw_server(lambda visit: visit.reply(200)) as proxy:
        environment.setenv(name, prefix + proxy.url.removeprefix("http://").removesuffix("/mcp"))
        endpoint = Endpoint("http://mcp.example.invalid/mcp", {})
        environment.delenv(name)  # it was read, once
        for _ in range(2):
            with await endpoint.request("GET", {}) as reply:
                assert reply.status == 200
        await endpoint.close()
        assert {visit.path for visit in proxy.visits} == {"http://mcp.example.invalid/mcp"}
        assert {visit.headers["host"] for visit in proxy.visits} == {"mcp.example.invalid"}
        assert ("proxy-authorization" in proxy.visits[0].headers) == ("ann" in prefix)


async def test_a_tunnel_through_the_proxy_for_https(environment: pytest.MonkeyPatch) -> None:
    async with raw_server(lambda visit: visit.reply(407)) as proxy:
        environment.setenv("HTTPS_PROXY", proxy.url.removesuffix("/mcp"))
        endpoint = Endpoint("https://mcp.example.invalid/mcp", {"Authorization": "Bearer s3cr3t"})
        with pytest.raises(ConnectFailed, match="the proxy that the environment names answered 407"):
            await endpoint.request("GET", {})
        await endpoint.close()
        (visit,) = proxy.visits
        assert (visit.method, visit.path) == ("CONNECT", "mcp.example.invalid:443")
        assert "s3cr3t" not in str(visit.headers)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.8.8.8", "a.localhost"])
def test_this_machine_is_reached_without_a_proxy(environment: pytest.MonkeyPatch, host: str) -> None:
    environment.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    assert fetch.proxy_for(URL(f"http://{host}:1/mcp"), "this") is None


@pytest.mark.parametrize(("listed", "goes_round"), [("example.com", True), (".com", True), ("*", True), ("b.c", False)])
def test_hosts_that_need_no_proxy(environment: pytest.MonkeyPatch, listed: str, goes_round: bool) -> None:
    environment.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    environment.setenv("NO_PROXY", listed)
    assert (fetch.proxy_for(URL("http://mcp.example.com/mcp"), "this") is None) == goes_round


async def test_a_proxy_that_cannot_be_used(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("ALL_PROXY", "socks5://ann:s3cr3t@127.0.0.1:1")
    with pytest.raises(ConnectFailed, match=r"a socks5 proxy, but only HTTP proxies.*NO_PROXY") as caught:
        Endpoint("http://mcp.example.com/mcp", {})
    assert "s3cr3t" not in str(caught.value)
    async with raw_server(lambda visit: visit.reply(200)) as proxy:
        pass
    environment.setenv("ALL_PROXY", proxy.url.replace("http://", "http://ann:s3cr3t@"))
    endpoint = Endpoint("http://mcp.example.com/mcp", {})
    with pytest.raises(ConnectFailed, match=r"the proxy of the environment, 127.0.0.1:.*does not answer") as caught:
        await endpoint.request("GET", {})
    assert "s3cr3t" not in str(caught.value)
    await endpoint.close()


# Processes.


def run(script: str, url: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import asyncio, os\nfrom splice.transports.http.fetch import Endpoint\n" + script]
    return subprocess.run([*command, url], capture_output=True, text=True, timeout=20, check=False, env=env)


UNCLOSED = """
import sys

async def main():
    endpoint = Endpoint(sys.argv[1], {})
    with await endpoint.request("GET", {}) as reply:
        print(reply.status)
    kept.append(endpoint)

kept = []
asyncio.run(main())
"""

FORKED = """
import sys

async def get(endpoint):
    with await endpoint.request("GET", {}) as reply:
        return reply.status

async def main():
    endpoint = Endpoint(sys.argv[1], {})
    os.write(1, b"%d\\n" % await get(endpoint))  # at once: two processes write
    await endpoint.close()

asyncio.run(main())
child = os.fork()
asyncio.run(main())
if child:
    os.waitpid(child, 0)
"""


@pytest.mark.parametrize(("script", "told"), [(UNCLOSED, "200\n"), (FORKED, "200\n" * 3)])
async def test_a_process_that_forgets_to_close_or_forks_has_no_trouble(script: str, told: str) -> None:
    async with raw_server(lambda visit: visit.reply(200)) as server:
        done = await asyncio.to_thread(run, script, server.url)
    assert (done.stdout, done.stderr, done.returncode) == (told, "", 0)


class _Slow:
    """An authorizer whose headers come late."""

    def __init__(self) -> None:
        self.asked, self.gate = asyncio.Event(), asyncio.Event()

    async def headers(self, *_: object) -> dict[str, str]:
        self.asked.set()
        await self.gate.wait()
        return {}

    async def refused(self, *_: object) -> bool:
        return False

    async def close(self) -> None:
        self.gate.set()


async def test_an_endpoint_that_is_closed_while_a_request_is_authorized() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/", {})
    endpoint.authorizer = slow = _Slow()
    request = asyncio.create_task(endpoint.request("GET", {}))
    await asyncio.wait_for(slow.asked.wait(), 5)
    await endpoint.close()
    with pytest.raises(ConnectionClosed, match="is closed"):
        await request
