"""Requests to URLs that a peer chose: where they go, where they do not, and how much comes back."""

import asyncio
import contextlib
import gzip
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from splice.auth.errors import AuthorizationFailed
from splice.auth.fetcher import Fetcher
from splice.auth.hosts import look_up
from splice.auth.login.steps import HTTP
from splice.errors import ConnectFailed, ConnectionClosed
from support.tables import rows
from transports.certificates import make_certificates
from transports.raw_http import RawServer, Visit, raw_server

PUBLIC = "93.184.215.14"


class Names:
    """Looks names up in a table, and counts. A name with several answers gives each only once."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.answers = {name.replace("_", "."): list(each) for name, each in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.answers:
            if host.endswith((".test", ".invalid")):
                raise OSError("Name or service not known")
            return await look_up(host, port)
        answers = self.answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def local(**options: Any) -> Fetcher:
    return Fetcher(allow_loopback=True, timeout=5, **options)


def port_of(server: RawServer) -> str:
    return server.url.split(":")[2].partition("/")[0]


async def refused(fetcher: Fetcher, url: str, told: str) -> None:
    with pytest.raises(AuthorizationFailed, match=told) as caught:
        await fetcher.send(HTTP(url=url))
    assert str(caught.value).isprintable()


@pytest.mark.requirement(499)
@rows(
    "host",
    [
        *("127.0.0.1", "127.1", "127.0.1", "0", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1"),
        *("[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::7f00:1]", "[2002:7f00:1::]"),
        *("[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2001::7f00:1]", "[::]", "0.0.0.0", "localhost", "LOCALHOST"),
        *("169.254.169.254", "2852039166", "100.64.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "[fc00::1]"),
        *("[fe80::1]", "[fec0::1]", "[ff02::1]", "224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
    ],
)
async def test_no_spelling_of_an_address_slips_through(host: str) -> None:
    await refused(Fetcher(timeout=5), f"https://{host}/", "is not a public address")


@rows(
    "url",
    [
        *("", "x", "/x", "//as.test/", "https:/as.test/", "https://", "https:///x", "https://:443/", "https:as.test"),
        *("ftp://as.test/", "file:///etc/passwd", "gopher://as.test/", "javascript:alert(1)", "data:,x"),
        *("https://ann@as.test/", "https://ann:s3cr3t@as.test/", "https://as.test\\@127.0.0.1/", "https://a b/"),
        *("https://as.test/\r\nx: y", "https://as.test/\t", "\x01https://as.test/", "https://as.test/\xe9"),
        *(
            "https://\uff11\uff12\uff17.0.0.1/",
            "https://\u24dbocalhost/",
            "https://127\u30020\u30020\u30021/",
            "https://127%2e0.0.1/",
            "https://a%00b/",
        ),
        *("https://[::1%25eth0]/", "https://[fe80::1%eth0]/", "https://[1.2.3.4]/", "https://[", "https://as.test:0/"),
        *("https://as.test:99999/", "https://as.test:x/"),
    ],
)
async def test_what_not_every_parser_reads_alike_is_not_requested(url: str) -> None:
    names = Names()
    with pytest.raises(AuthorizationFailed, match="not a URL that can be requested") as caught:
        await Fetcher(look_up=names, timeout=5).send(HTTP(url=url))
    assert names.asked == []
    assert "s3cr3t" not in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.requirement(499)
@pytest.mark.parametrize("url", ["http://as.test/", "HTTP://as.test/", "http://127.0.0.1/", "http://localhost/"])
async def test_http_is_not_spoken(url: str) -> None:
    names = Names()
    await refused(Fetcher(look_up=names), url, "must begin with https://$")
    assert names.asked == []


@pytest.mark.parametrize("host", ["as.test", "localhost.", "localhost.evil.test", "127.0.0.1.evil.test", "127.1", "0"])
async def test_http_to_this_machine_is_spoken_only_if_the_url_says_so_plainly(host: str) -> None:
    await refused(local(look_up=Names(as_test=[["127.0.0.1"]])), f"http://{host}/", "or be on this machine")


async def test_a_name_of_this_machine_that_leads_elsewhere() -> None:
    await refused(local(look_up=Names(a_localhost=[[PUBLIC]])), "http://a.localhost/", "is not a public address")


@pytest.mark.parametrize(
    "addresses",
    [["10.0.0.1"], [PUBLIC, "10.0.0.1"], ["10.0.0.1", PUBLIC], [PUBLIC, "::1"], [PUBLIC, "fe80::1%eth0"]],
)
async def test_every_address_of_a_name_must_be_public(addresses: list[str]) -> None:
    await refused(Fetcher(look_up=Names(as_test=[addresses])), "https://as.test/", "is not a public address")


@rows(
    ("allowed", "address", "is_allowed"),
    [
        (True, "10.0.0.1", True),
        (True, "fd12::1", True),
        (["as.test"], "10.0.0.1", True),
        (["AS.test"], "100.64.0.1", True),
        (["other.test"], "10.0.0.1", False),
        ([], "10.0.0.1", False),
        (False, "10.0.0.1", False),
        (True, "169.254.169.254", False),
        (True, "fd00:ec2::254", False),
        (True, "127.0.0.1", False),
        (True, "::ffff:10.0.0.1", False),
        (["as.test"], "0.0.0.0", False),
    ],
)
async def test_which_hosts_may_be_private(allowed: Any, address: str, is_allowed: bool) -> None:
    fetcher = Fetcher(allow_private=allowed, look_up=Names(as_test=[[address]]))
    with contextlib.nullcontext() if is_allowed else pytest.raises(AuthorizationFailed, match="not a public address"):
        assert await fetcher.addresses("https://as.test/") == [address]


@pytest.mark.requirement(499)
async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """A name is looked up once: what it means a moment later plays no part."""
    names = Names(a_localhost=[["127.0.0.1"], ["169.254.169.254"]])
    async with raw_server(lambda visit: visit.reply(200, b"x")) as server:
        reply = await local(look_up=names).send(HTTP(url=f"http://a.localhost:{port_of(server)}/x"))
    assert (reply.status, reply.body, names.asked) == (200, b"x", ["a.localhost"])
    assert server.visits[0].headers["host"] == f"a.localhost:{port_of(server)}"


@pytest.mark.requirement(499)
async def test_each_hop_is_looked_up_and_checked() -> None:
    names = Names(a_localhost=[["127.0.0.1"], ["169.254.169.254"]])
    async with raw_server(lambda visit: visit.reply(302, location="/again")) as server:
        await refused(local(look_up=names), f"http://a.localhost:{port_of(server)}/x", "169.254.169.254")
    assert (len(server.visits), names.asked) == (1, ["a.localhost"] * 2)


async def test_a_host_without_an_address() -> None:
    for names in (Names(as_test=[[]]), Names()):
        with pytest.raises(ConnectFailed, match=r"https://as\.test/x: no address is known"):
            await Fetcher(look_up=names, timeout=5).send(HTTP(url="https://as.test/x?code=s3cr3t"))


@pytest.mark.parametrize("names", ["as.test", "127.0.0.1"])
async def test_tls_is_spoken_with_the_name_not_with_the_address(names: str, tmp_path: Path) -> None:
    _, tls = make_certificates(tmp_path)
    told: list[str | None] = []
    tls.sni_callback = lambda connection, name, context: told.append(name)  # noqa: ARG005 - the signature of a callback
    async with raw_server(lambda visit: visit.reply(200), tls) as server:
        with pytest.raises(ConnectFailed, match="certificate not trusted"):
            await local(look_up=Names(as_test=[["127.0.0.1"]])).send(HTTP(url=f"https://{names}:{port_of(server)}/"))
    assert told == ["as.test" if names == "as.test" else None]
    assert server.visits == []


async def test_what_is_sent() -> None:
    async with raw_server(lambda visit: visit.reply(400, b"{}", x_a="1")) as server:
        headers = {"Authorization": "Basic x", "Content-Type": "application/x-www-form-urlencoded"}
        reply = await local().send(HTTP(method="POST", url=server.url, headers=headers, body=b"a=1"))
    [visit] = server.visits
    assert (visit.method, visit.path, visit.body) == ("POST", "/mcp", b"a=1")
    assert visit.headers["authorization"] == "Basic x"
    assert visit.headers["accept-encoding"] == "identity"
    assert (reply.status, reply.body, reply.headers["x-a"]) == (400, b"{}", "1")


async def test_cookies_are_not_kept() -> None:
    async with raw_server(lambda visit: visit.reply(200, set_cookie="a=1; Path=/")) as server:
        fetcher = local()
        for _ in range(2):
            await fetcher.send(HTTP(url=server.url))
    assert all("cookie" not in visit.headers for visit in server.visits)


async def test_headers_of_one_name_are_joined() -> None:
    async with raw_server(
        lambda visit: visit.raw(
            b"HTTP/1.1 401 X\r\nWWW-Authenticate: A\r\nwww-authenticate: B x=1\r\ncontent-length: 0\r\n\r\n"
        )
    ) as server:
        reply = await local().send(HTTP(url=server.url))
    assert reply.headers["www-authenticate"] == "A, B x=1"


def redirecting(status: int, location: Callable[[], str]) -> Callable[[Visit], Any]:
    async def handler(visit: Visit) -> None:
        if visit.path == "/there":
            await visit.reply(200, b"there")
        else:
            await visit.reply(status, location=location())

    return handler


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("step", "is_followed", "elsewhere"),
    [
        (HTTP(url=""), True, True),
        (HTTP(url="", headers={"Accept": "application/json"}), True, True),
        (HTTP(url="", headers={"Authorization": "Bearer x"}), True, False),
        (HTTP(url="", headers={"DPoP": "x"}), True, False),
        (HTTP(url="", headers={"Cookie": "x"}), True, False),
        (HTTP(method="POST", url="", body=b"code=s3cr3t"), False, False),
        (HTTP(method="POST", url=""), False, False),
        (HTTP(method="DELETE", url=""), False, False),
    ],
    ids=["bare", "accept", "token", "proof", "cookie", "form", "post", "delete"],
)
async def test_which_redirects_are_followed(step: HTTP, is_followed: bool, elsewhere: bool, status: int) -> None:
    """Within the origin GET follows; to another one only if nothing could be told there that is not for it."""
    async with raw_server(lambda visit: visit.reply(200, b"there")) as sink:
        target = ["/there", sink.url]
        async with raw_server(redirecting(status, lambda: target[0])) as server:
            for follows in (is_followed, elsewhere):
                reply = await local().send(
                    HTTP(method=step.method, url=server.url, headers=step.headers, body=step.body)
                )
                assert (reply.status, reply.body) == ((200, b"there") if follows else (status, b""))
                target.pop(0)
    assert len(sink.visits) == elsewhere
    assert all(not visit.body for visit in sink.visits)


@pytest.mark.requirement(499)
@pytest.mark.parametrize(
    "location",
    [
        *("http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "http://[::ffff:127.0.0.1]:1/", "http://0/"),
        *("http://ann:s3cr3t@127.0.0.1/", "http://as.test/", "http://127.1/"),
    ],
)
async def test_a_redirect_is_checked_as_its_beginning_was(location: str) -> None:
    async with raw_server(lambda visit: visit.reply(302, location=location)) as server:
        with pytest.raises(AuthorizationFailed, match=r"is not requested|not a URL") as caught:
            await local().send(HTTP(url=server.url))
    assert len(server.visits) == 1
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("location", ["https://as.test/", "ftp://127.0.0.1/", "file:///etc/passwd", "javascript:x", ""])
async def test_a_redirect_to_another_scheme_is_not_followed(location: str) -> None:
    names = Names(as_test=[[PUBLIC]])
    async with raw_server(lambda visit: visit.reply(302, location=location)) as server:
        reply = await local(look_up=names).send(HTTP(url=server.url))
    assert (reply.status, len(server.visits), names.asked) == (302, 1, ["127.0.0.1"])


@pytest.mark.parametrize(
    "location",
    [
        b"http://[",
        b"http://127.0.0.1:x/",
        b"http://127.0.0.1:99999/",
        b"//",
        b"\xff\xfe",
        b"http://\xff/",
        b"%",
        b"?",
        b"/a b",
    ],
)
async def test_a_redirect_to_what_is_no_url(location: bytes) -> None:
    """It is refused, or answered as any other page of that server."""

    async def handler(visit: Visit) -> None:
        await visit.raw(b"HTTP/1.1 302 X\r\nlocation: " + location + b"\r\ncontent-length: 0\r\n\r\n")

    async with raw_server(handler) as server:
        with pytest.raises((AuthorizationFailed, ConnectionClosed)) as caught:
            await local().send(HTTP(url=server.url))
        assert all(visit.headers["host"] == server.url.split("/")[2] for visit in server.visits)
    assert str(caught.value).isprintable()


async def test_redirects_end() -> None:
    async with raw_server(lambda visit: visit.reply(302, location="/again")) as server:
        await refused(local(), server.url, "redirects more than 3 times")
        assert len(server.visits) == 4
        assert (await local(redirects=0).send(HTTP(url=server.url))).status == 302


@pytest.mark.parametrize("length", [b"content-length: 5000\r\n", b"content-length: 99999999999999999999999\r\n", b""])
async def test_a_body_is_bounded(length: bytes) -> None:
    async def handler(visit: Visit) -> None:
        await visit.raw(b"HTTP/1.1 200 X\r\n" + length + b"\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(20):
                await visit.raw(b"x" * 250)
            await visit.left.wait()

    async with raw_server(handler) as server:
        with pytest.raises((AuthorizationFailed, ConnectionClosed)):
            await local(max_bytes=1000).send(HTTP(url=server.url))


async def test_a_body_that_is_declared_too_large_is_not_waited_for() -> None:
    async def handler(visit: Visit) -> None:
        await visit.raw(b"HTTP/1.1 200 X\r\ncontent-length: 1001\r\n\r\n")
        await visit.left.wait()

    async with raw_server(handler) as server:
        await refused(local(max_bytes=1000), server.url, "more than 1000 bytes")


async def test_a_body_of_the_largest_size() -> None:
    async with raw_server(lambda visit: visit.reply(200, b"x" * 1000)) as server:
        assert len((await local(max_bytes=1000).send(HTTP(url=server.url))).body) == 1000
        await refused(local(max_bytes=999), server.url, "more than 999 bytes")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "GZIP", "identity, gzip", "\x7f\xe9"])
async def test_a_compressed_body_is_not_read(encoding: str) -> None:
    bomb = gzip.compress(b"\0" * 5_000_000)
    async with raw_server(lambda visit: visit.reply(200, bomb, content_encoding=encoding)) as server:
        with pytest.raises((AuthorizationFailed, ConnectionClosed)) as caught:
            await local().send(HTTP(url=server.url))
    assert str(caught.value).isprintable()


async def test_all_of_it_has_to_come_in_time() -> None:
    """Neither a silent server, nor one that drips, nor one whose name is not found in time holds a caller."""

    async def silent(visit: Visit) -> None:
        await visit.left.wait()

    async def dripping(visit: Visit) -> None:
        await visit.raw(b"HTTP/1.1 200 X\r\n\r\n")
        while not visit.left.is_set():
            await visit.raw(b"x")
            await asyncio.sleep(0.01)

    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return ()

    for handler in (silent, dripping):
        async with raw_server(handler) as server:
            with pytest.raises(ConnectionClosed, match=r"did not answer within 0\.1 s"):
                await Fetcher(allow_loopback=True, timeout=0.1).send(HTTP(url=server.url))
    with pytest.raises(ConnectionClosed, match=r"https://as\.test/x did not answer"):
        await Fetcher(timeout=0.05, look_up=never).send(HTTP(url="https://as.test/x?code=s3cr3t"))


async def test_headers_are_bounded() -> None:
    async def handler(visit: Visit) -> None:
        await visit.raw(b"HTTP/1.1 200 X\r\nx: " + b"y" * 200_000 + b"\r\n\r\n")

    async with raw_server(handler) as server:
        with pytest.raises(ConnectionClosed):
            await local().send(HTTP(url=server.url))


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (404, b"{}", "answered with status 404"),
        (302, b"{}", "answered with status 302"),
        (200, b"[]", "not a JSON object"),
        (200, b"", "not a JSON object"),
        (200, b"\xff", "not a JSON object"),
        (200, b"[" * 100_000, "not a JSON object"),
        (200, b'{"a":' * 20_000, "not a JSON object"),
    ],
)
async def test_what_is_not_a_json_object(status: int, body: bytes, told: str) -> None:
    async with raw_server(lambda visit: visit.reply(status, body)) as server:
        with pytest.raises(AuthorizationFailed, match=told):
            await local().get_json(server.url)


async def test_a_json_object() -> None:
    async with raw_server(lambda visit: visit.json({"keys": []})) as server:
        assert await local().get_json(server.url) == {"keys": []}


async def tunnel(visit: Visit) -> None:
    await visit.reply(403)


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    return monkeypatch


@pytest.mark.requirement(499)
async def test_a_proxy_of_the_environment_is_used(clean_environment: pytest.MonkeyPatch) -> None:
    """It looks hosts up for itself, so one that is not known here may be; one that is known must be public."""
    async with raw_server(tunnel) as proxy:
        clean_environment.setenv("https_proxy", proxy.url)
        names = Names(as_test=[["10.0.0.1"]])
        await refused(Fetcher(look_up=names), "https://as.test/", "is not a public address")
        await refused(Fetcher(), "https://169.254.169.254/", "is not a public address")
        assert proxy.visits == []
        with pytest.raises(ConnectFailed, match="the proxy that the environment names answered 403"):
            await Fetcher(look_up=names, timeout=5).send(
                HTTP(url="https://as.invalid/x", headers={"Authorization": "s3cr3t"})
            )
    [visit] = proxy.visits
    assert (visit.method, visit.path) == ("CONNECT", "as.invalid:443")
    assert "s3cr3t" not in json.dumps(visit.headers)


async def test_no_proxy_is_used_for_this_machine(clean_environment: pytest.MonkeyPatch) -> None:
    async with raw_server(tunnel) as proxy, raw_server(lambda visit: visit.reply(200)) as server:
        clean_environment.setenv("http_proxy", proxy.url)
        assert (await local().send(HTTP(url=server.url))).status == 200
    assert proxy.visits == []
