"""What was found in servers that fetch: requests that reach inside, and pages that never end.

The original fetched any URL, redirects included, until late in 2026 (servers issue 4838), and looked a name up once to
check it and again to connect. The same in others: CVE-2026-65056 and CVE-2026-46341 (an allow-list by prefix),
CVE-2026-73497 and CVE-2026-77242 (a name that changes between check and connection), NAT64, 6to4 and Teredo addresses.
"""

import asyncio
import contextlib
import gzip
import io
import resource
from typing import Any
from unittest import mock

import pytest
from bs4.exceptions import ParserRejectedMarkup

from auth.test_fetcher import PUBLIC, Names
from servers.site import HTML, Answer, leads, site, text
from splice import Client
from splice.auth import WebFetcher
from splice.servers.fetch.converting import Converter
from splice.servers.fetch.decoding import decoded
from splice.servers.fetch.markdown import CPU_SECONDS, main, to_markdown
from splice.servers.fetch.parts import shown
from splice.servers.fetch.robots import MAX_RULES
from splice.servers.fetch.server import make
from support.tables import rows
from transports.raw_http import Visit

INSIDE = (
    *("127.0.0.1", "127.1", "127.0.1", "0", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1"),
    *("0.0.0.0", "localhost", "LOCALHOST", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]"),
    *("[::ffff:7f00:1]", "[::ffff:a9fe:a9fe]", "[::7f00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::]"),
    *("[64:ff9b::7f00:1]", "[64:ff9b::169.254.169.254]", "[64:ff9b:1::a00:1]", "[2001:0:7f00:1::]", "[2001::a00:1]"),
    *("169.254.169.254", "2852039166", "0xa9fea9fe", "169.254.43518", "168.63.129.16", "100.100.100.200"),
    *("[fd00:ec2::254]", "[fd20:ce::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "[fc00::1]", "[fdff::1]"),
    *("10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "100.127.255.255"),
    *("192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1"),
    *(
        "255.255.255.255",
        "[2001:db8::1]",
        "[3fff::1]",
        "\uff11\uff12\uff17.0.0.1",
        "\u24db\u24deCALHOST",
        "127\u30020\u30020\u30021",
    ),
)
ODD = (
    *("", "x", "//as.test/", "https://", "https:///x", "https:as.test", "https://:443/", "https://[", "https://a b/"),
    *(
        "ftp://as.test/",
        "file:///etc/passwd",
        "gopher://as.test/",
        "data:text/html,x",
        "javascript:1",
        "dict://as.test:1/",
    ),
    *(
        "https://ann@as.test/",
        "https://ann:s3cr3t@as.test/",
        "https://as.test\\@127.0.0.1/",
        "https://as.test/\r\nx: y",
    ),
    *("http://[::1]@", "https://[]@as.test/", "https://as.test]@["),
    *("https://127%2e0.0.1/", "https://a%00b/", "https://a\0b/", "https://as.test:0/", "https://as.test:99999/"),
    *("https://[::1%25eth0]/", "https://[1.2.3.4]/", "https://as.test/\ud800", "https://" + "a" * 9000),
)


async def fetch(client: Client, url: str, **arguments: Any) -> str:
    result = await client.call_tool("fetch", {"url": url, **arguments})
    assert "s3cr3t" not in result.text or "s3cr3t" in url
    return ("failed: " if result.is_error else "") + result.text


@contextlib.contextmanager
def nothing_is_connected(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Fail when a connection is begun at all."""
    begun: list[Any] = []

    async def connect(*arguments: Any, **options: Any) -> None:
        begun.append((arguments, options))
        raise OSError("this test connects to nothing")

    with monkeypatch.context() as patched:
        patched.setattr("aiohttp.connector.aiohappyeyeballs.start_connection", connect)
        yield
    assert begun == []


async def test_no_spelling_of_an_address_inside_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """By no scheme, neither by the tool nor by the prompt, neither with nor without robots.txt."""
    with nothing_is_connected(monkeypatch):
        async with Client(make()) as client, Client(make(ignore_robots_txt=True)) as careless:
            for host in INSIDE:
                for scheme in ("http", "https"):
                    url = f"{scheme}://{host}/x"
                    assert "is not fetched: " in await fetch(client, url)
                    assert "is not fetched: " in await fetch(careless, url, start_index=1)
                shown = await client.get_prompt("fetch", {"url": f"http://{host}:8080/"})
                assert "is not fetched: " in str(shown.messages[0].content)


async def test_what_parsers_disagree_about_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(as_test=[[PUBLIC]])
    with nothing_is_connected(monkeypatch):
        async with Client(make(WebFetcher(look_up=names))) as client:
            for url in ODD:
                if url.isprintable() or "\ud800" not in url:
                    said = await fetch(client, url)
                    assert said.startswith(("failed: ", "Invalid"))
                    assert "is not fetched: " in said or "Invalid arguments" in said
    assert names.asked == []


@pytest.mark.parametrize("allowed", [{"allow_private_ips": True}, {"allow_loopback": True}])
async def test_no_setting_opens_what_hands_out_keys(allowed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with nothing_is_connected(monkeypatch):
        async with Client(make(**allowed)) as client:
            for host in (
                "169.254.169.254",
                "[fd00:ec2::254]",
                "[::ffff:169.254.169.254]",
                "100.100.100.200",
                "0.0.0.0",
            ):
                assert "is not fetched: " in await fetch(client, f"http://{host}/latest/meta-data")


async def test_each_hop_is_checked() -> None:
    """That of robots.txt, too; and where it is told to stop, nothing more is asked for."""
    inside = [
        "http://169.254.169.254/",
        "http://10.0.0.1/",
        "//[::ffff:10.0.0.1]/",
        "http://ann:s3cr3t@127.0.0.1/",
        "ftp://127.0.0.1/",
    ]
    pages: dict[str, Answer] = {}
    async with site(pages) as web, Client(make(allow_loopback=True)) as client:
        for place, location in enumerate(inside):
            pages[f"/{place}"] = leads(location)
            assert " is not fetched: " in await fetch(client, f"{web.base}/{place}")
    assert web.asked == ["/robots.txt", *(f"/{place}" for place in range(len(inside)))]
    for location in inside:
        async with site({"/robots.txt": leads(location)}) as web, Client(make(allow_loopback=True)) as client:
            assert " is not fetched: " in await fetch(client, f"{web.base}/x")
        assert web.asked == ["/robots.txt"]


async def test_a_redirect_to_what_no_parser_can_read_is_told() -> None:
    """Yarl raises an `IndexError` for these."""
    for location in ("http://[::1]@", "//[]@as.test/", "//as.test][@"):
        async with site({"/x": leads(location)}) as web, Client(make(allow_loopback=True)) as client:
            assert "which is not a URL" in await fetch(client, f"{web.base}/x")


async def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """A name that means another host with each look-up is asked at the one that was checked, or not at all."""
    names = Names(as_localhost=[["127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"]])
    fetcher = WebFetcher(allow_loopback=True, look_up=names)
    async with site({"/x": text("here")}) as web, Client(make(fetcher)) as client:
        url = f"http://as.localhost:{web.port}/x"
        assert (await fetch(client, url)).endswith("\nhere")
        assert "as.localhost leads to a private address" in await fetch(client, url)
        assert "as.localhost leads to what is not an address of the internet" in await fetch(client, url)
    assert web.asked == ["/robots.txt", "/x"]
    assert len(names.asked) == 4


@pytest.mark.parametrize("addresses", [[PUBLIC, "10.0.0.1"], ["::1", PUBLIC], [PUBLIC, "fe80::1%eth0"], [PUBLIC, "x"]])
async def test_every_address_of_a_name_must_be_public(addresses: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names(as_test=[addresses])
    with nothing_is_connected(monkeypatch):
        async with Client(make(WebFetcher(look_up=names))) as client:
            assert "as.test leads to " in await fetch(client, "https://as.test/")


async def drip(visit: Visit) -> None:
    await visit.raw(b"HTTP/1.1 200 X\r\ncontent-type: text/html\r\n\r\n")
    with contextlib.suppress(ConnectionError):
        while not visit.left.is_set():
            await visit.raw(b"x" * (1000 if visit.path == "/endless" else 1))
            await asyncio.sleep(0 if visit.path == "/endless" else 0.01)


def sized(length: str) -> Answer:
    """Answer with three bytes, said to be of another length."""
    head = f"HTTP/1.1 200 X\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\r\n"
    return lambda visit: visit.raw(head.encode() + b"xyz")


async def test_bodies_that_do_not_end() -> None:
    """Endless ones are cut; slow ones, and those shorter than was said, are given up; bombs are inflated no further."""
    bomb = gzip.compress(b"<b>" * 5_000_000, 1)
    pages: dict[str, Answer] = {
        "/endless": drip,
        "/slow": drip,
        "/bomb": text(bomb, "text/plain", content_encoding="gzip"),
        "/short": sized("9"),
        "/long": sized("1"),
        "/huge": sized("9" * 30),
        "/odd": sized("-1"),
        "/twice": sized("1\r\ncontent-length: 2"),
    }
    async with site(pages) as web, Client(make(allow_loopback=True, max_bytes=5000, timeout=0.3)) as client:
        said = {path: await fetch(client, web.base + path, raw=True) for path in pages}
    assert "only its first 5,000 bytes were read" in said["/endless"]
    assert "only its first 5,000 bytes were read" in said["/bomb"]
    assert said["/slow"].endswith("it took longer than 0.3 s") or "did not answer within 0.3 s" in said["/slow"]
    assert said["/short"].startswith("failed: ")
    assert {path for path in ("/long", "/huge", "/odd", "/twice") if not said[path].startswith("failed: ")} == set()


HOSTILE = {
    "deep": "<div>" * 8_000 + "x",
    "deep marks": "<b><i>" * 3_000 + "x",
    "deep lists": "<ul><li>" * 3_000 + "x",
    "wide": "<p>x" * 2_000,
    "attributes": "<a " + " x=1" * 20_000 + ">x</a>",
    "one attribute": f"<p title='{'y' * 500_000}'>x",
    "columns": "<table><tr><td colspan=99999999>x</td><td>y</table>",
    "entities": "x&#1114112;&#x110000;&#xd800;&#0;&bogus;&" * 1000,
    "declarations": "x<![if<![CDATA[<!DOCTYPE<?php ?>",
    "bases": "<base href='http://['><a href='http://['>x</a><img src='//['>",
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_html_becomes_text(name: str) -> None:
    with contextlib.suppress(ParserRejectedMarkup):  # it is not converted then, but shown as it is
        assert "x" in to_markdown(HOSTILE[name], "https://as.test/")


async def test_a_page_that_takes_for_ever_is_given_up() -> None:
    """The parser needs minutes for this one. The program that runs it is ended, and the page is shown as it is."""
    assert await Converter(seconds=0.4).convert("<!--" * 100_000, "https://as.test/") is None
    pages: dict[str, Answer] = {"/x": (200, {"content_type": HTML}, b"<![<![x")}
    async with site(pages) as web, Client(make(allow_loopback=True)) as client:
        said = await fetch(client, f"{web.base}/x")
    note = "Content type text/html cannot be simplified to markdown, but here is the raw content:"
    assert said == f"{note}\nContents of {web.base}/x:\n<![<![x"


def test_what_a_reader_would_not_see_is_left_out() -> None:
    seen = to_markdown(
        "<title>no</title><p>see <!-- no --><span hidden>no</span><span style='Display : NONE'>no</span>"
        "<i style='font-size:0px'>no</i><b aria-hidden=true>no</b><script>no</script><style>no</style><svg>no</svg>"
        "<a href='javascript:no()'>this</a> <a href='data:text/html,no'>and</a> <iframe srcdoc=no></iframe>"
        "<img src='data:image/png;base64,no' alt='a picture'> <img src='/p.png' alt='that'>",
        "https://as.test/x",
    )
    assert seen == "see this and image: a picture [image: that](https://as.test/p.png)"


def test_nothing_becomes_an_image() -> None:
    """A host that shows Markdown would load it, and tell whoever wrote the page (CVE-2025-34072 is of this kind)."""
    for html in (
        "!<a href=/x>y</a>",
        "!<b></b><a href=/x>y</a>",
        "![y](https://as.test/x)",
        "!<i>[</i>y](https://as.test/x)",
    ):
        seen = to_markdown(html, "https://as.test/")
        assert "![" not in seen.replace("\\![", ""), seen
    assert to_markdown("a &lt;img src=x&gt; &lt; b [c]", "https://as.test/") == "a \\<img src=x> < b [c]"
    assert "\n'''\n![" in to_markdown("<pre>\n```\n![y](z)</pre>", "https://as.test/")
    assert to_markdown("<code>vec![1, 2]</code>", "https://as.test/") == "`vec![1, 2]`"


IMAGE = "![y](https://as.test/x)"


@rows(
    ("html", "expected"),
    [
        (f"<a href='/a){IMAGE}'>t</a>", "[t](https://as.test/a%29!%5By%5D%28https://as.test/x%29)"),
        (f"<a href='/a\n\n{IMAGE}'>t</a>", "[t](https://as.test/a!%5By%5D%28https://as.test/x%29)"),
        ("<a href='http://[::1]/&#xE0041;a|b'>t</a>", "[t](http://[::1]/a%7Cb)"),
        ("[y](javascript:x) [y]: https://as.test/x", "[y\\](javascript:x) [y\\]: https://as.test/x"),
        (f"` <code>{IMAGE}</code>", f"\\` `{IMAGE}`"),
        (f"<p>```<pre>{IMAGE}</pre>", f"\\`\\`\\`\n\n```\n{IMAGE}\n```"),
        ("<p>~~~<p>a~b /~ann", "\\~\\~\\~\n\na~b /~ann"),
        ("<del><del>x</del></del>", "~~x~~"),
        (f"<code>a\n- {IMAGE}<p>b</p></code>", f"`a - {IMAGE}b`"),
        (f"<code>a</code><code>`{IMAGE}</code>", f"`a` `` `{IMAGE} ``"),
        (f"<b><pre>a\n\n{IMAGE}</pre></b>", f"```\na\n\n{IMAGE}\n```"),
        (f"<h1>a<pre>b\n\n{IMAGE}</pre></h1>", f"# a`b {IMAGE}`"),
        (f"x<li><pre>\na\n\n{IMAGE}</pre>", f"x\n\n```\na\n\n{IMAGE}\n```"),
        (f"<ul>x<li><pre>\na\n\n{IMAGE}</pre></ul>", f"x\n\n* ```\n  a\n\n  {IMAGE}\n  ```"),
        (f"<dl><dt>t<dd><pre>\na\n\n{IMAGE}</pre></dl>", f"t\n* ```\n  a\n\n  {IMAGE}\n  ```"),
        ("<table><tr><td><code>a|![y](z)</code></table>", "|  |\n| --- |\n| a\\|\\![y\\](z) |"),
        ("<img role=main src=/x alt=y>", "[image: y](https://as.test/x)"),
        ("<a role=main href='javascript:x'>y</a>", "y"),
        (f"<pre role=main>&#13;{IMAGE}<br>{IMAGE}</pre>", f"```\n{IMAGE}\n{IMAGE}\n```"),
        ("<a href=/x><code>f()</code></a>", "[`f()`](https://as.test/x)"),
    ],
)
def test_no_end_of_code_or_of_a_link_is_where_the_page_wants_it(html: str, expected: str) -> None:
    assert to_markdown(html, "https://as.test/") == expected


def test_no_part_of_a_page_shows_what_the_whole_does_not() -> None:
    """Parts end where the caller says: within code, or between a backslash and what it makes text of."""
    block, span, image = f"```\na\n{IMAGE}\nb\n```\n\nc", f"d `{IMAGE}` e", f"\\{IMAGE}"
    assert shown(block, 6, 23, "", is_markdown=True).startswith(f"```\n{IMAGE}\n```\n\n<error>Content truncated.")
    assert shown(block, 37, 1, "", is_markdown=True) == "c"
    assert shown(span, 3, 23, "", is_markdown=True).startswith(f"`{IMAGE}`\n\n<error>")
    assert shown(span, 28, 9, "", is_markdown=True) == "e"
    assert shown(image, 1, 99, "", is_markdown=True) == image
    assert shown(f"\\{image}", 2, 99, "", is_markdown=True) == IMAGE, "that backslash is text itself"
    assert shown(f"`` ` {IMAGE} ``", 1, 27, "", is_markdown=True).startswith(f"`` ` {IMAGE}``")
    assert shown(image, 1, 99, "") == IMAGE, "other text comes as it is"


def test_no_character_comes_by_its_number_that_would_not_come_as_itself() -> None:
    html = "<p>a&#27;[31mb&#xE0041;&#8232;<code>&#27;c&#xE0042;</code><img alt='&#27;&#xE0043;d'><pre>&#127;e</pre>"
    assert to_markdown(html, "https://as.test/") == "a[31mb`c`[image: d](https://as.test/)\n\n```\ne\n```"


def test_a_program_that_nobody_ends_ends_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever started it may have been killed, and the parser needs minutes for some pages."""
    told = io.BytesIO()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"https://as.test/\n<p>x")))
    monkeypatch.setattr("sys.stdout", mock.Mock(buffer=told))
    with mock.patch("resource.setrlimit") as limited:
        main()
    assert told.getvalue() == b"x"
    assert mock.call(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)) in limited.call_args_list


async def test_pages_that_grow_are_kept_within_the_bound() -> None:
    """Each of these links is short in the page, and as long as its base in Markdown."""
    page = f"<base href=/{'b' * 5000}/><main>{'<a href=x>y</a> ' * 100}".encode()
    async with site({"/x": page}) as web, contextlib.AsyncExitStack() as stack:
        stack.enter_context(mock.patch("splice.servers.fetch.pages.KEEP_BYTES", 300_000))
        client = await stack.enter_async_context(Client(make(allow_loopback=True)))
        await fetch(client, f"{web.base}/x")
        assert "/x" * 2 not in await fetch(client, f"{web.base}/x", start_index=10)
    assert web.asked.count("/x") == 2, "it was too large to be kept"


def test_a_page_that_names_a_charset_it_cannot_have_is_read() -> None:
    assert decoded(b"<meta charset=utf-16><p>text", "text/html") == "<meta charset=utf-16><p>text"
    assert decoded("text".encode("utf-16-le"), "text/html; charset=utf-16") == "text"


def test_end_tags_may_be_left_out() -> None:
    lists = to_markdown("<ul><li>a<p>b<li>c<ul><li>d</ul><li>e</ul><p>f<p>g<div>h</div>", "https://as.test/")
    assert lists == "* a\n\n  b\n* c\n  * d\n* e\n\nf\n\ng\n\nh"
    table = to_markdown("<table><thead><tr><th>a<th>b<tbody><tr><td>c<td>d<tr><td>e<td>f</table>g", "https://as.test/")
    assert table == "| a | b |\n| --- | --- |\n| c | d |\n| e | f |\n\ng"
    assert to_markdown("<p>x" * 1000, "https://as.test/") == "\n\n".join(["x"] * 1000)


def test_the_main_part_is_taken() -> None:
    around = "<nav>menu</nav>{}<footer>foot</footer>"
    assert to_markdown(around.format("<main><h1>Head</h1>text</main>"), "https://as.test/") == "# Head\n\ntext"
    assert to_markdown(around.format("<p>text"), "https://as.test/") == "text"
    teaser = f"<article>teaser</article><p>{'text ' * 50}"
    assert to_markdown(teaser, "https://as.test/").startswith("teaser")
    assert to_markdown("<nav>menu</nav>", "https://as.test/") == "menu"


@pytest.mark.parametrize(
    ("robots", "is_read"),
    [
        (text("User-agent: *\nDisallow: /"), False),
        (text("User-agent: *\nDisallow: /\nUser-agent: ModelContextProtocol\nAllow: /"), True),
        (text("user-agent: modelcontextprotocol\nDISALLOW: /x"), False),
        (text("User-agent: *\nDisallow: /*.html$"), True),
        (text("User-agent: *\nDisallow: /a/../x"), True),
        (text("User-agent: *\nDisallow: *x"), False),
        (text("User-agent: *\nAllow: /x\nDisallow: /"), True),
        (text("\ufeffUser-agent: *\r\nDisallow: /%78"), False),
        (text(b"\xff\0<html>"), True),
        ((401, {}, b""), False),
        ((403, {}, b""), False),
        ((404, {}, b"User-agent: *\nDisallow: /"), True),
        ((429, {}, b""), True),
        ((500, {}, b""), False),
        ((304, {}, b""), False),
        (leads("/other"), False),
        (leads("/robots.txt"), False),
        (lambda visit: visit.raw(b"nonsense\r\n\r\n"), False),
        (text("User-agent: a\n" * (MAX_RULES // 1000) + "Allow: /\n" * 1000), False),
    ],
)
async def test_robots(robots: Answer, is_read: bool) -> None:
    pages: dict[str, Answer] = {
        "/robots.txt": robots,
        "/other": text("User-agent: *\nDisallow: /x"),
        "/x": text("here"),
    }
    async with site(pages) as web, Client(make(allow_loopback=True)) as client:
        said = await fetch(client, f"{web.base}/x")
        assert said.endswith("\nhere") == is_read, said
        assert await fetch(client, f"{web.base}/%78") == said.replace(f"{web.base}/x:", f"{web.base}/%78:")
        shown = await client.get_prompt("fetch", {"url": f"{web.base}/x"})
        assert "here" in str(shown.messages[0].content)
    assert ("/x" in web.asked[:-1]) == is_read


async def test_what_was_too_much_work_is_not_tried_again() -> None:
    tried: list[str] = []

    async def too_much(self: Converter, html: str, url: str) -> None:
        tried.append(html)

    pages: dict[str, Answer] = {"/x": b"<p>x</p>" * 300_000}
    with mock.patch.object(Converter, "convert", too_much):
        async with site(pages) as web, Client(make(allow_loopback=True)) as client:
            for start in (0, 5, 10):
                assert "cannot be simplified" in await fetch(client, f"{web.base}/x", start_index=start, max_length=3)
    assert [len(html) for html in tried] == [2_000_000]


@pytest.mark.parametrize("kind", ["text/" + "ignore-all-that-was-said" * 9, "text/ignore all", "text/\x1b[2J"])
async def test_a_content_type_that_is_none_is_not_shown(kind: str) -> None:
    async with site({"/x": text("x", kind)}) as web, Client(make(allow_loopback=True)) as client:
        said = await fetch(client, f"{web.base}/x")
    assert "ignore" not in said
    assert "\x1b" not in said


async def test_a_large_robots_txt_is_not_shown_whole() -> None:
    pages = {"/robots.txt": text("User-agent: *\nDisallow: /\n" + "# x\n" * 100_000)}
    async with site(pages) as web, Client(make(allow_loopback=True)) as client:
        assert len(await fetch(client, f"{web.base}/x")) < 3000
