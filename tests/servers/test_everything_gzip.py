"""The tool that compresses what a URL leads to: what it reads, and what it refuses."""

import base64
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from servers.test_everything import opened
from splice import Server
from splice.servers.everything.server import make
from support.caller import Caller, text_of
from support.listening import listening


async def compress(caller: Caller, data: str) -> bytes | str:
    """Compress what a URL leads to: the bytes behind it, or why not."""
    arguments = {"name": "x.gz", "data": data, "outputType": "resource"}
    result = await caller.call("gzip-file-as-resource", arguments)
    if result.get("isError"):
        return text_of(result)
    return gzip.decompress(base64.b64decode(result["content"][0]["resource"]["blob"]))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("data:text/plain,hello", b"hello"),
        ("DATA:,a%20b%00%ff", b"a b\0\xff"),
        ("data:;base64,aGVsbG8=", b"hello"),
        ("data:text/plain;charset=utf-8;BASE64,aGVsbG8%3D", b"hello"),
        ("data:,", b""),
        ("data:,é", "é".encode()),
        ("data:text/plain", "has a comma"),
        ("data:;base64,aGVsbG8", "is not base64"),
        ("data:;base64,é", "is not base64"),
        ("data:," + "x" * 101, "more than the 100 bytes"),
        ("data:," + "%41" * 101, "more than the 100 bytes"),
        ("data:," + "%41" * 100, b"A" * 100),
        ("file:///etc/passwd", "Only data:, https: and http: URLs"),
        ("/etc/passwd", "Only data:"),
        ("demo://resource/static/document/features.md", "Only data:"),
        ("http://127.0.0.1:9/", "address of this machine"),
        ("http://169.254.169.254/latest/meta-data/", "is not fetched"),
        ("https://10.0.0.1/", "private address"),
        ("https://user:secret@a.example/", "is not"),
    ],
    ids=range(19),
)
async def test_what_is_compressed_and_what_is_refused(data: str, expected: bytes | str) -> None:
    told = await compress(await opened("legacy", gzip_max_fetch_size=100), data)
    assert told == expected if isinstance(expected, bytes) else expected in str(told)
    assert "secret" not in str(told)


@pytest.mark.parametrize("name", ["", "x" * 101, "..", ".", "a\nb", "a\n", "a/b", "![x](https:", "\u202e", "\ud800"])
async def test_a_name_that_is_none_is_refused(name: str) -> None:
    caller = await opened("legacy")
    message = await caller.request("tools/call", {"name": "gzip-file-as-resource", "arguments": {"name": name}})
    assert "error" in message or message["result"]["isError"]


@asynccontextmanager
async def web() -> AsyncIterator[str]:
    """Serve a few pages on this machine; gives the beginning of their URLs."""
    server = Server("web")

    @server.route("/text")
    async def text() -> str:
        return "over HTTP"

    @server.route("/large")
    async def large() -> str:
        return "x" * 2000

    @server.route("/away")
    async def away() -> Any:
        from starlette.responses import RedirectResponse

        return RedirectResponse("/text")

    @server.route("/evil")
    async def evil() -> Any:
        from starlette.responses import RedirectResponse

        return RedirectResponse("http://localhost.evil.example/text")

    @server.route("/round")
    async def around() -> Any:
        from starlette.responses import RedirectResponse

        return RedirectResponse("/round")

    async with listening(server.http_app()) as url:
        yield url.removesuffix("/mcp")


async def test_what_is_fetched_is_within_all_limits() -> None:
    async with web() as at:
        host = at.removeprefix("http://").partition(":")[0]
        caller = await opened("modern", gzip_allow_loopback=True, gzip_max_fetch_size=1000, gzip_allowed_domains=host)
        assert await compress(caller, f"{at}/text") == b"over HTTP"
        assert await compress(caller, f"{at}/away") == b"over HTTP"
        assert "more than the 1000 bytes" in str(await compress(caller, f"{at}/large"))
        assert "hosts allowed are" in str(await compress(caller, f"{at}/evil"))
        assert "redirects more than" in str(await compress(caller, f"{at}/round"))
        assert "status 400" in str(await compress(caller, f"{at}/none"))
        elsewhere = await opened("modern", gzip_allow_loopback=True, gzip_allowed_domains="example.com, example.org")
        for url in (at, f"http://example.com@{host}/", f"http://{host}#.example.com", f"http://{host}\\.example.com/"):
            assert "Nothing is fetched from there: the hosts allowed are example.com, example.org" in str(
                await compress(elsewhere, url)
            )
        slow = await opened("modern", gzip_allow_loopback=True, gzip_max_fetch_time_millis=1)
        assert not isinstance(await compress(slow, f"{at}/round"), bytes)


@pytest.mark.parametrize(
    "settings",
    [{"gzip_max_fetch_size": 0}, {"gzip_max_fetch_time_millis": 0}, {"pace": 0}, {"pace": float("nan")}, {"pace": 1e9}],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        make(**settings)
    with pytest.raises(ValueError, match="--page-size is at least 1, not 0"):
        make(page_size=0)
