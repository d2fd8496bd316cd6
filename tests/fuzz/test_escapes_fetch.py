"""The way to the web and the pages that come back: nothing leads inside, and no page does more than be shown.

There is no network: names mean what an example says, and what is connected to is noted instead.
"""

import asyncio
import contextlib
import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Any
from unittest import mock

import pytest
from bs4.exceptions import ParserRejectedMarkup
from hypothesis import example
from hypothesis import strategies as st

from fuzz.fuzzing import TEXT, cpu_seconds, fuzz
from splice.auth import NotFetched, WebFetcher, WebReply
from splice.servers.fetch.decoding import decoded
from splice.servers.fetch.markdown import to_markdown
from splice.servers.fetch.parts import shown as part_of

PUBLIC = ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "1.1.1.1"]
SPELLINGS = st.sampled_from(
    [
        *("127.0.0.1", "127.1", "0", "0x7f.1", "017700000001", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1"),
        *("[2002:7f00:1::]", "[64:ff9b::7f00:1]", "[2001::1]", "169.254.169.254", "localhost", "localhost.", "0.0.0.0"),
        *("as.test", "AS.TEST.", "a.as.test", "xn--bcher-kva.test", "b\xfccher.test", "\uff11\uff12\uff17.0.0.1"),
        *(
            "127\u30020.0.1",
            "\u24db\u24de",
            "127%2e0.0.1",
            "a%00b",
            "[fe80::1%25eth0]",
            "[::]",
            "8.8.8.8",
            "[2606:4700::1111]",
        ),
    ]
)
SCHEMES = st.sampled_from(["http", "https", "HTTP", "ftp", "file", "gopher", "javascript", "data", "", "ws"])
USERS = st.sampled_from(
    ["", "", "", "ann@", "ann:s3cr3t@", "127.0.0.1@", "as.test\\@", "as.test#@", "as.test%40", "a b@"]
)
PORTS = st.sampled_from(["", "", ":80", ":0", ":99999", ":x", ":", ":22", ":8080@127.0.0.1"])
TAILS = (
    st.sampled_from(
        ["", "/", "/x?y=z", "/../x", "//127.0.0.1/", "\\x", "?@127.0.0.1", "#@127.0.0.1", "/\xff", "/\r\nx:y"]
    )
    | TEXT
)
URLS = (
    st.builds("{}://{}{}{}{}".format, SCHEMES, USERS, SPELLINGS, PORTS, TAILS)
    | st.builds("//{}{}{}".format, USERS, SPELLINGS, TAILS)
    | st.builds("{}{}".format, st.sampled_from(["/", "", "?", "../", "\\", "///", "/\\"]), TEXT)
    | st.text(st.characters(), max_size=30)
)
INTEGERS = st.integers(0, 2**32 - 1)
ADDRESSES = (
    st.sampled_from(
        [*PUBLIC, "127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:7f00:1", "fe80::1%eth0", "fd00::1"]
    )
    | INTEGERS.map(lambda each: str(ipaddress.IPv4Address(each)))
    | st.integers(0, 2**128 - 1).map(lambda each: str(ipaddress.IPv6Address(each)))
    | st.sampled_from(["::", "::ffff:", "64:ff9b::", "2002:", "2001:0:", "fc00::", "64:ff9b:1::"]).flatmap(
        lambda lead: INTEGERS.map(lambda each: _joined(lead, each))
    )
    | st.sampled_from(["", "x", "1.2.3", "127.0.0.1/8", "::1%1"])
)
ANSWERS = st.lists(st.lists(ADDRESSES, max_size=3) | st.none(), max_size=4)
"""What a name means with each look-up; None: nothing is known."""


def _joined(lead: str, value: int) -> str:
    return f"{lead}{value >> 16:x}:{value & 0xFFFF:x}" + ("::" if lead in ("2002:", "2001:0:") else "")


def leads_outside(address: str) -> bool:
    """Tell it by the tables of the standard library, and by what an address carries: not by ours."""
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(read, ipaddress.IPv6Address):
        carried = read.ipv4_mapped or read.sixtofour or (read.teredo and read.teredo[1])
        if carried or read.scope_id or read in ipaddress.ip_network("64:ff9b::/96"):
            return False
    return read.is_global and not read.is_multicast


IN_PATH = re.compile(r"(?i)https?://[^/@?#]+/.*s3cr3t")
"""Where a password is none."""


class Net:
    """A network that is not there: names mean what an example says, and each connection is noted."""

    def __init__(self, answers: Sequence[Sequence[str] | None]) -> None:
        self.answers = list(answers)
        self.connected: list[str] = []

    async def look_up(self, host: str, _: int) -> Sequence[str]:
        literal = host.strip("[]")
        for family in (socket.AF_INET, socket.AF_INET6):
            try:
                return [socket.inet_ntop(family, socket.inet_pton(family, literal))]
            except (OSError, UnicodeError, ValueError):
                pass
        try:
            return [socket.inet_ntoa(socket.inet_aton(literal))]
        except (OSError, UnicodeError):
            found = self.answers.pop(0) if self.answers else None
        if found is None:
            raise OSError("no such name")
        return found

    async def connect(self, addr_infos: Sequence[Any], **_: Any) -> None:
        self.connected += [info[4][0] for info in addr_infos]
        raise OSError("nothing is connected")


RUNNER = asyncio.Runner()


def fetched(net: Net, url: str) -> None:
    """Fetch, and follow nothing: it fails, in words for a model."""
    connecting = mock.patch("aiohttp.connector.aiohappyeyeballs.start_connection", net.connect)
    with connecting, pytest.raises(NotFetched) as caught:
        RUNNER.run(WebFetcher(look_up=net.look_up, timeout=5).get(url, redirects=3))
    check_told(caught.value, url)


def check_told(error: NotFetched, url: str) -> None:
    assert str(error).isprintable()
    assert "s3cr3t" not in str(error) or IN_PATH.match(url)


@example(url="http://as.test/", answers=[["93.184.215.14"]])
@example(url="://ann:s3cr3t@127.0.0.1", answers=[])
@example(url="http://[::1]@", answers=[])
@fuzz(url=URLS, answers=ANSWERS)
def test_connections_lead_outside(url: str, answers: list[list[str] | None]) -> None:
    net = Net(answers)
    fetched(net, url)
    assert all(map(leads_outside, net.connected)), net.connected


@fuzz(
    status=st.sampled_from([301, 302, 303, 307, 308, 200, 304]),
    locations=st.lists(URLS, min_size=1, max_size=3),
    answers=ANSWERS,
)
def test_redirects_lead_outside(status: int, locations: list[str], answers: list[list[str] | None]) -> None:
    url, net = "https://as.test/a/b?c", Net(answers)
    for location in locations:
        try:
            target = WebReply(url, status, {"location": location}).redirect
            if target is None:
                return
            url = WebFetcher.ascii_url(target)
        except NotFetched as error:
            check_told(error, url if IN_PATH.match(url) else location)
            return
        assert url.isascii()
        assert WebFetcher.ascii_url(url) == url
        assert url.startswith(("http://", "https://"))
    fetched(net, url)
    assert all(map(leads_outside, net.connected)), net.connected


TAGS = st.sampled_from(
    [
        *(
            "p",
            "div",
            "a",
            "b",
            "i",
            "ul",
            "ol",
            "li",
            "table",
            "tr",
            "td",
            "th",
            "tbody",
            "pre",
            "code",
            "script",
            "style",
        ),
        *(
            "main",
            "article",
            "nav",
            "h1",
            "br",
            "img",
            "dl",
            "dt",
            "dd",
            "span",
            "svg",
            "template",
            "title",
            "html",
            "body",
        ),
        *("blockquote", "base", "x-y", "caption", "hr", "del", "sub", "video", "textarea", "figure", "figcaption"),
    ]
)
ATTRIBUTES = st.sampled_from(
    [
        *(
            "",
            " hidden",
            " href=x",
            " href='javascript:s3cr3t()'",
            " src='data:s3cr3t'",
            " colspan=99999",
            " style='display:none'",
        ),
        *(
            " start=99999999999999999999",
            " start=x",
            " alt='a\nb'",
            " href='http://['",
            " href=//as.test",
            " class=a",
            " x='",
            ' y="',
        ),
        *(
            " role=main",
            " title='s3cr3t\"'",
            " href=' java\tscript:s3cr3t()'",
            " colspan=-1",
            " start=-5",
            " href=JAVASCRIPT:s3cr3t",
        ),
    ]
)
NODES = (
    st.builds("<{}{}>".format, TAGS, ATTRIBUTES)
    | st.builds("</{}>".format, TAGS)
    | st.sampled_from(
        [
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<!",
            "<?",
            "&lt;",
            "&#0;",
            "&#xd800;",
            "&",
            "<",
            ">",
            "\n",
            "  ",
            "`",
            "|",
            "!",
            "[",
            "\\",
        ]
    )
    | TEXT.map(lambda text: text.replace("s3cr3t", ""))
)
PAGES = st.lists(NODES, max_size=40).map("".join)


CODE = re.compile("<(pre|code|kbd|samp)", re.IGNORECASE)
LIVE = re.compile(r"(?<!\\)(?:\\\\)*(!\[|<[a-z/])")
"""An image or HTML, behind no backslash or behind two."""
AUTOLINK = re.compile("<https?://[^ >]*>")


@example(html="<base href='http://['><a href='x'>x</a>")
@example(html="!<a><h1>")
@example(html="&lt;</p>a")
@example(html="\\![x](y) \\&lt;img> \\<i></i>![x](y)")
@example(html="!<a href=x>x</a> ! <i></i>![x](y) !<span>[x](y)</span> &lt;img src=x>")
@fuzz(html=PAGES)
def test_any_page_becomes_text(html: str) -> None:
    try:
        shown = to_markdown(html, "https://as.test/a")
    except ParserRejectedMarkup:
        return
    shown.encode()
    if not CODE.search(html):
        assert not LIVE.search(AUTOLINK.sub("", shown))
    for scheme in ("](javascript:", "](data:", "](vbscript:", "](java"):
        assert scheme not in shown.lower() or scheme in html.lower()


@fuzz(piece=PAGES.filter(lambda each: 0 < len(each) < 60), times=st.sampled_from([10, 60]))
def test_a_page_of_one_thing_many_times_is_quick(piece: str, times: int) -> None:
    def work() -> None:
        with contextlib.suppress(ParserRejectedMarkup):
            to_markdown(piece * times, "https://as.test/")

    assert cpu_seconds(work) < 1


@fuzz(
    body=st.binary(max_size=60)
    | st.text(st.characters(), max_size=20).map(lambda text: text.encode(errors="surrogatepass")),
    kind=st.sampled_from(["", "text/html", "text/html; charset="])
    | st.builds(
        "text/plain; charset={}".format,
        st.sampled_from(
            ["utf-7", "utf-16", "utf-32", "hz", "big5", "rot13", "zip", "idna", "punycode", "undefined", "x", "'"]
        )
        | TEXT,
    ),
    start=st.integers(0, 70),
    length=st.integers(1, 70),
)
def test_any_bytes_become_text_in_parts(body: bytes, kind: str, start: int, length: int) -> None:
    text = decoded(body, kind)
    text.encode()
    assert not set(text) & set("\0\x1b\x7f\u2028\U000e0041")
    shown = part_of(text, start, length, "")
    assert shown.startswith(text[start : start + length])
    parts = [part_of(text, begin, length, "").partition("\n\n<error>")[0] for begin in range(0, len(text), length)]
    assert "".join(parts) == text or "<error>" in text
