"""The page that the browser comes back to takes one redirect, of one login, and shows nothing of it."""

import asyncio
import socket
import struct
import sys
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from auth.login.scripted import fetch
from splice.auth.errors import AuthorizationFailed
from splice.auth.login import callback
from splice.auth.login.callback import Callback, check_openable, open_browser, show_code
from splice.auth.login.steps import Browse, Redirect, Show
from support.tables import rows

STATE = "st4te"


def step_of(page: Callback) -> Browse:
    return Browse(f"https://as.example/authorize?state={STATE}&client_id=1", page.redirect_uri)


async def visited(*queries: str, method: str = "GET", path: str | None = None, **headers: str) -> tuple[Redirect, Any]:
    """Let a browser come back with each query in turn, and at last as it should."""
    answers: list[Any] = []

    async def browse(url: str) -> None:
        assert url.startswith("https://as.example/authorize")
        for query in queries:
            at = page.redirect_uri if path is None else page.redirect_uri.replace("/callback", path)
            answers.append(await fetch(f"{at}?{query}", method, **headers))
        answers.append(await fetch(f"{page.redirect_uri}?code=c&state={STATE}&iss=x"))

    with Callback() as page:
        found = await asyncio.wait_for(page.visit(step_of(page), browse), 5)
    return found, answers


async def test_the_redirect_is_returned_as_it_came() -> None:
    found, [(status, headers, body)] = await visited()
    assert list(found) == [("code", "c"), ("state", STATE), ("iss", "x")]
    assert status == 200
    assert b"close this window" in body
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "script" not in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert b"http:" not in body
    assert b"https:" not in body
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.requirement(493)
@pytest.mark.parametrize(
    "query",
    [
        "code=evil&state=other",
        "code=evil",
        f"code=evil&state={STATE}&state={STATE}",
        f"code=evil&state={STATE}x",
        "",
        "state=",
        "&".join(["a=b"] * 40) + f"&state={STATE}",
        f"<script>alert(1)</script>&state={STATE}",
        "error=access_denied&error_description=<script>alert(1)</script>&state=other",
    ],
)
async def test_what_is_not_this_login_changes_nothing_and_is_not_shown(query: str) -> None:
    found, [(status, _, body), (last, _, _)] = await visited(query)
    assert (status, last) == (404, 200)
    assert b"script" not in body
    assert b"evil" not in body
    assert dict(found)["code"] == "c"


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("POST", None, {"content-length": "0"}),
        ("HEAD", None, {}),
        ("GET", "/callback/", {}),
        ("GET", "//callback", {}),
        ("GET", "/favicon.ico", {}),
        ("GET", None, {"host": "evil.example"}),
        ("GET", None, {"host": "127.0.0.1"}),
        ("GET", None, {"host": "localhost:80"}),
    ],
)
async def test_only_the_exact_address_is_there(method: str, path: str | None, headers: dict[str, str]) -> None:
    query = f"code=evil&state={STATE}"
    found, [(status, _, body), _] = await visited(query, method=method, path=path, **headers)
    assert status == 404
    assert b"evil" not in body
    assert dict(found)["code"] == "c"


async def test_an_error_of_the_server_is_not_shown_either() -> None:
    async def browse(url: str) -> None:
        pages.append(await fetch(f"{page.redirect_uri}?error=%3Cb%3Eno&error_description=%3Cscript%3E&state={STATE}"))

    pages: list[Any] = []
    with Callback() as page:
        found = await page.visit(step_of(page), browse)
    assert dict(found)["error"] == "<b>no"
    assert b"<b>" not in pages[0][2]
    assert b"script" not in pages[0][2]


async def test_a_head_without_end_is_cut_off() -> None:
    async def browse(url: str) -> None:
        parts = urlsplit(page.redirect_uri)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(b"GET /callback?x=" + b"a" * callback.MAX_HEAD_BYTES * 3)
        try:
            assert await reader.read() == b""
        except ConnectionResetError:
            pass
        finally:
            writer.close()
        await fetch(f"{page.redirect_uri}?code=c&state={STATE}")

    with Callback() as page:
        assert dict(await asyncio.wait_for(page.visit(step_of(page), browse), 5))["code"] == "c"


async def test_silent_connections_keep_no_browser_out(caplog: pytest.LogCaptureFixture) -> None:
    silent: list[asyncio.StreamWriter] = []

    async def browse(url: str) -> None:
        parts = urlsplit(page.redirect_uri)
        for _ in range(callback.MAX_CONNECTIONS + 8):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            silent.append(writer)
            writer.write(b"GET ")
        status, _, body = await fetch(f"{page.redirect_uri}?code=c&state={STATE}")
        assert (status, b"close this window" in body) == (200, True)

    with Callback() as page:
        assert dict(await asyncio.wait_for(page.visit(step_of(page), browse), 5))["code"] == "c"
    for each in silent:
        each.close()
    assert not caplog.records


async def test_a_browser_that_goes_at_once_has_come_back() -> None:
    def browse(url: str) -> None:
        parts = urlsplit(page.redirect_uri)
        with socket.create_connection((parts.hostname, parts.port)) as browser:
            browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # with a reset
            browser.sendall(f"GET /callback?code=c&state={STATE} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
            browser.shutdown(socket.SHUT_WR)

    with Callback() as page:
        assert dict(await asyncio.wait_for(page.visit(step_of(page), browse), 5))["code"] == "c"


async def test_nobody_comes_back() -> None:
    with Callback() as page, pytest.raises(AuthorizationFailed, match=r"Nobody logged in at as\.example within .* try"):
        await page.visit(step_of(page), lambda _: None, 0.01)


async def test_it_may_be_used_twice_and_is_gone_afterwards() -> None:
    with Callback() as page:
        for _ in range(2):
            await page.visit(step_of(page), lambda _: fetch(f"{page.redirect_uri}?code=c&state={STATE}"))
    with pytest.raises(ConnectionRefusedError):
        await fetch(page.redirect_uri)
    with Callback(urlsplit(page.redirect_uri).port or 0) as again:
        assert again.redirect_uri == page.redirect_uri


def test_a_port_that_is_taken() -> None:
    with Callback() as page, pytest.raises(AuthorizationFailed, match="cannot come back to port"):
        Callback(urlsplit(page.redirect_uri).port or 0)


@pytest.mark.requirement(505)
@rows(
    "url",
    [
        "http://as.example/authorize",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "--help",
        "https://as.example/\n--help",
        "https://as.example/\x1b[2J",
        "https://as.example/a b",
        'https://as.example/"&calc.exe',
        "https://as.example/`id`",
        "https://as.example/<x>",
        "https://user:password@as.example/",
        "https://",
        "https://as.example/" + "a" * 20_000,
    ],
)
async def test_what_is_never_opened(url: str) -> None:
    with pytest.raises(AuthorizationFailed, match="is not opened in a browser") as caught:
        check_openable(url)
    assert str(caught.value).isprintable()
    with Callback() as page, pytest.raises(AuthorizationFailed):
        await page.visit(Browse(url, page.redirect_uri), lambda _: pytest.fail("opened"))


@pytest.mark.requirement(506)
@pytest.mark.parametrize("url", ["https://as.example/a?b=$(id);c|d", "https://as.example/a?b=%0a&c='x';$x"])
async def test_the_browser_is_no_shell(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "told"
    script = tmp_path / "browser.py"
    script.write_text(f"#!{sys.executable}\nimport sys\nopen({str(told)!r}, 'w').write('\\n'.join(sys.argv[1:]))\n")
    script.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # or that of the last test is opened
    if "|" in url:
        with pytest.raises(AuthorizationFailed):
            await open_browser(url)
        return
    await open_browser(url)
    async with asyncio.timeout(5):
        while not told.exists() or not told.read_text():  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
    assert told.read_text() == url
    assert url in capfd.readouterr().err


def test_a_code_is_shown_without_what_a_terminal_would_obey(capfd: pytest.CaptureFixture[str]) -> None:
    show_code(Show("https://as.example/device\x1b[2J", "AB\x07CD", "https://as.example/device?code=\u202e"))
    said = capfd.readouterr().err
    assert "AB" in said
    assert said.replace("\n", "").isprintable()
    assert said.isascii()
