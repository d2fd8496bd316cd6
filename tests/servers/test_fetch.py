"""The server `fetch`: what the original answered, parts of pages, what is kept, what is text, and the settings."""

import asyncio
import json
from typing import Any

import pytest

from servers.recorded import Recorded, answered, assert_offers, calls, placed
from servers.site import Answer, leads, site, text
from splice import Client
from splice.servers.fetch.server import AGENTS, make
from support.warm import warm_python
from transports.raw_http import Visit

WORDS = " ".join(["word"] * 60)


async def page(visit: Visit) -> None:
    """Answer with the page that was recorded: it names who asks."""
    html = f"<html><head><title>T</title></head><body><article>\n<h2>Head</h2><p>{WORDS}</p>"
    agent = visit.headers["user-agent"]
    await visit.reply(200, f"{html}<p>UA {agent}</p></article></body></html>".encode(), content_type="text/html")


SITE: dict[str, Answer] = {
    "/robots.txt": text("User-agent: *\nDisallow: /private\n"),
    "/": page,
    "/private": page,
    "/redir": leads("/private"),
    "/json": text('{"a":1}', "application/json"),
}
PREFIX = "Error executing tool fetch: "
"""Of the original's SDK; the flag of an error says the same."""

DIFFERENT = {
    0: "what was asked for raw is raw: nothing could not be simplified",
    7: "our own message about an argument",
    8: "a number in a string is taken for what it stands for",
    9: "the description is our own; so is the next one's",
    10: "our own message; it names the flag for this machine alone, too",
    11: "likewise",
    12: "our own message about an argument",
    13: "likewise",
    14: "our own message; the code is the same",
    15: "likewise",
}
OURS: dict[int, str] = {
    0: "Contents of {BASE}/:\n<html><head><title>T</title></head><body><article>\n\n"
    "<error>Content truncated. Call the fetch tool with a start_index of 50 to get more content.</error>",
    7: "Invalid arguments for fetch: max_length: it is less than the minimum of 1, got 0",
    8: "Contents of {BASE}/:\n## Head\n\nw\n\n"
    "<error>Content truncated. Call the fetch tool with a start_index of 10 to get more content.</error>",
    9: f"## Head\n\n{WORDS}\n\nUA {AGENTS['prompt']}",
    10: "{BASE}/robots.txt is not fetched: it is an address of this machine. "
    "Whoever runs this server can allow it by --allow-private-ips or --allow-loopback.",
    11: "{BASE}/ is not fetched: it is an address of this machine. "
    "Whoever runs this server can allow it by --allow-private-ips or --allow-loopback.",
    13: "notaurl is not fetched: a URL begins with http:// or https:// and names a host, no user",
}
CLOSED = (10, 11)
"""Calls to a server that may not read from this machine."""


def told(answer: dict[str, Any]) -> str:
    result = answer.get("result", {})
    blocks = result.get("content") or [each["content"] for each in result.get("messages", ())]
    return "".join(block["text"] for block in blocks).removeprefix(PREFIX)


@pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])
async def test_it_answers_as_the_original_did(protocol: Any) -> None:
    async with (
        site(SITE) as web,
        Client(make(allow_private_ips=True), protocol=protocol) as client,
        Client(make(), protocol=protocol) as closed,
    ):
        for number, call in enumerate(calls("fetch")):
            answer = await answered(closed if number in CLOSED else client, call, {"BASE": web.base})
            check(number, call, answer, web.base)


def check(number: int, call: Recorded, answer: dict[str, Any], base: str) -> None:
    recorded = placed(call.answer, {"BASE": base})
    assert answer.get("error", {}).get("code") == recorded.get("error", {}).get("code")
    if number != 8:
        assert answer.get("result", {}).get("isError") == recorded.get("result", {}).get("isError")
    if number not in DIFFERENT:
        assert told(answer) == told(recorded)
    elif number in OURS:
        assert told(answer) == OURS[number].format(BASE=base)


async def test_it_offers_what_the_original_did() -> None:
    async with Client(make()) as client:
        await assert_offers(client, "fetch")
        [tool] = await client.list_tools()
    assert tool.annotations is not None
    assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, True)


async def fetch(client: Client, url: str, **arguments: Any) -> str:
    return (await client.call_tool("fetch", {"url": url, **arguments})).text


async def test_a_page_is_read_in_parts_of_one_download() -> None:
    """Whatever the characters are; and who begins again reads it anew."""
    long = "".join(chr(0x1F600 + place % 50) + "e\u0301\n" for place in range(500))
    pages: dict[str, Answer] = {"/long": text(long, "text/plain; charset=utf-8")}
    async with site(pages) as web, Client(make(allow_loopback=True)) as client:
        url, begin, parts = f"{web.base}/long", 0, list[str]()
        while True:
            head, _, part = (
                (await fetch(client, url, start_index=begin, max_length=333)).partition(":\n")[2].partition(":\n")
            )
            assert head == f"Contents of {url}"
            body, mark, more = part.partition(
                "\n\n<error>Content truncated. Call the fetch tool with a start_index of "
            )
            parts.append(body)
            if not mark:
                break
            begin = int(more.partition(" ")[0])
        assert "".join(parts) == long
        assert web.asked == ["/robots.txt", "/long"]
        pages["/long"] = text("new")
        assert (await fetch(client, url)).endswith("\nnew")
        assert (await fetch(client, url, start_index=3)).endswith("<error>No more content available.</error>")
        assert web.asked == ["/robots.txt", "/long", "/long"]


async def test_where_a_page_came_from_is_said() -> None:
    pages: dict[str, Answer] = {"/a": leads("b"), "/b": leads("/c", 301), "/c": b"<p>here <a href='d?x#y'>on</a>"}
    async with site(pages) as web, Client(make(allow_loopback=True)) as client:
        said = await fetch(client, f"{web.base}/a")
        assert said == f"Contents of {web.base}/a (redirected to {web.base}/c):\nhere [on]({web.base}/d?x#y)"
        pages["/b"] = leads("/a")
        assert "it redirects more than 5 times" in await fetch(client, f"{web.base}/a")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (text(b"\x89PNG\r\n\0", "image/png"), " is not text, but image/png (7 bytes). Only text can be fetched."),
        (text(b"%PDF\0", "application/pdf"), " is not text, but application/pdf (5 bytes). Only text can be fetched."),
        (text(b"\x7fELF\0", "text/plain"), " is not text, but text/plain (5 bytes). Only text can be fetched."),
        (text(b"\0", "a\xe9"), " is not text, but of a type without a name (1 bytes). Only text can be fetched."),
        (text("a,b", "text/csv"), ":\na,b"),
        (text("<a/>", "application/atom+xml"), ":\n<a/>"),
        (text("plain", ""), ":\nplain"),
        (text("<html><b>x", ""), ":\n**x**"),
        (text("", "text/html"), "shows no text. Call the fetch tool with raw=true to see what it is made of.</error>"),
        (text("", "text/plain"), ":\n<error>No more content available.</error>"),
        ((500, {}, b"x"), " - status code 500"),
        ((304, {}, b""), " - status code 304"),
        (text("\xfc".encode("latin-1"), "text/plain"), ":\n\xfc"),
        (text("\u044f".encode("koi8-r"), "text/plain; charset=KOI8-R"), ":\n\u044f"),
        (text("\u3042".encode("shift_jis"), 'text/plain; charset="Shift_JIS"'), ":\n\u3042"),
        (text("<meta charset=koi8-r><p>\u044f".encode("koi8-r"), "text/html"), ":\n\u044f"),
        (text("\ufeffx\u0416".encode("utf-16"), "text/plain; charset=utf-8"), ":\nx\u0416"),
        (text("a\0b\x1b[2J\U000e0041c".encode("utf-16-le"), "text/plain; charset=utf-16"), ":\nab[2Jc"),
        (text("\u20ac", "text/plain; charset=rot13"), ":\n\u20ac"),
        (text("\u20ac", "text/plain; charset=../x"), ":\n\u20ac"),
    ],
)
async def test_text_is_shown_and_other_things_are_named(answer: Answer, said: str) -> None:
    async with site({"/x": answer}) as web, Client(make(allow_loopback=True)) as client:
        assert (await fetch(client, f"{web.base}/x")).endswith(said)


async def test_settings() -> None:
    pages: dict[str, Answer] = {
        "/robots.txt": text("User-agent: *\nDisallow: /\n"),
        "/x": text("x" * 100),
        "/page": b"<p>page",
    }
    settings: dict[str, Any] = {
        "user_agent": "Reader/2",
        "ignore_robots_txt": True,
        "max_bytes": 10,
        "types": ["text/pl*"],
    }
    async with site(pages) as web, Client(make(allow_loopback=True, **settings)) as client:
        assert (await fetch(client, f"{web.base}/x")).endswith(
            ":\nxxxxxxxxxx\n\n<error>The page is longer: only its first 10 bytes were read.</error>"
        )
        assert "is not text/pl*, but text/html (7 bytes). Only text/pl*" in await fetch(client, f"{web.base}/page")
        shown = await client.get_prompt("fetch", {"url": f"{web.base}/x"})
        assert "xxxxxxxxxx" in str(shown.messages[0].content)
        assert web.asked == ["/x", "/page", "/x"]
        assert web.agents == {"Reader/2"}


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ({"timeout": 0}, "--timeout is a number of seconds"),
        ({"timeout": float("nan")}, "number of seconds"),
        ({"max_bytes": 0}, "--max-bytes is .* at least 1"),
        ({"user_agent": "a\r\nb: c"}, "--user-agent is .* printable ASCII"),
        ({"proxy_url": "socks5://127.0.0.1:1"}, "HTTP proxy"),
        ({"types": ["html"]}, "not 'html'"),
    ],
)
def test_a_wrong_setting(setting: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make(**setting)


async def test_a_proxy_of_the_settings_is_used() -> None:
    async def proxy(visit: Visit) -> None:
        await visit.reply(200, visit.path.encode(), content_type="text/plain")

    async with site({"http://8.8.8.8/x": proxy}) as web, Client(make(proxy_url=web.base)) as client:
        assert (await fetch(client, "http://8.8.8.8/x")).endswith("\nhttp://8.8.8.8/x")
        assert web.asked == ["http://8.8.8.8/robots.txt", "http://8.8.8.8/x"]


async def test_it_runs_by_its_command() -> None:
    """Over stdio, with what it needs loaded when it is needed."""
    async with site({"/x": b"<h1>Hello</h1>"}) as web:
        command = [warm_python(), "-m", "splice.servers.fetch", "--allow-loopback"]
        process = await asyncio.create_subprocess_exec(*command, "--print-config", stdout=asyncio.subprocess.PIPE)
        entry = json.loads((await process.communicate())[0])["mcpServers"]["fetch"]
        assert entry["args"] == ["-m", "splice.servers.fetch", "--allow-loopback"]
        async with Client([entry["command"], *entry["args"]]) as client:
            assert await fetch(client, f"{web.base}/x") == f"Contents of {web.base}/x:\n# Hello"
