"""Reads pages: asks robots.txt for each hop, follows redirects, tells text from other things, and keeps what it read.

A page is kept for five minutes, so that its further parts are those of the page that was begun. Whoever begins at its
start again reads it anew.
"""

import asyncio
import re
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase

from splice import ToolError
from splice.auth import NotFetched, WebFetcher, WebReply
from splice.servers.fetch.converting import Converter
from splice.servers.fetch.decoding import decoded
from splice.servers.fetch.keeping import Keeping
from splice.servers.fetch.robots import Disallowed, Robots

KEEP_SECONDS = 300.0
KEEP_BYTES = 64 * 1024 * 1024
"""How long, and how much of them, pages are kept."""

MAX_REDIRECTS = 5

TEXT = (
    *("text/*", "application/json", "application/xml", "application/xhtml+xml", "application/*+json", "*/*+xml"),
    *(
        "application/javascript",
        "application/ecmascript",
        "application/x-ndjson",
        "application/jsonl",
        "application/toml",
    ),
    *("application/yaml", "application/x-yaml", "application/sql", "application/x-sh", "application/graphql"),
)
"""Content types that are read unless the settings name others. `*` stands for anything."""

MAX_CHARACTERS = 2_000_000
"""How much of the source of a page is written as Markdown."""

_ALLOWING: dict[str | None, str] = {
    "private": ". Whoever runs this server can allow it by --allow-private-ips.",
    "loopback": ". Whoever runs this server can allow it by --allow-private-ips or --allow-loopback.",
}
_HTML = ("text/html", "application/xhtml+xml")
_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60}")


class Page:
    """One page: its text, and the same as Markdown once it was asked for."""

    def __init__(self, reply: WebReply, *, is_redirected: bool) -> None:
        self.url = reply.url
        """Where it came from, after redirects."""
        self.is_redirected = is_redirected
        self.source = decoded(reply.body, reply.headers.get("content-type", ""))
        self.media_type = _named(reply) or ("text/html" if "<html" in self.source[:1000].lower() else "text/plain")
        self.is_cut = reply.is_cut
        """The page is longer than what was read."""
        self.markdown: str | None = None
        """None: it was not asked for, or that was too much work."""
        self.is_tried = False

    def missing(self, max_bytes: int, *, raw: bool) -> str:
        """Tell what is missing behind the end of the page; empty if nothing is."""
        if self.markdown == "" and not raw:
            return "The page shows no text. Call the fetch tool with raw=true to see what it is made of."
        if self.is_html and not raw and len(self.source) > MAX_CHARACTERS:
            told = f"The page is longer: only the first {MAX_CHARACTERS:,} characters of its source were converted."
            return f"{told} Call the fetch tool with raw=true to see all of it."
        return f"The page is longer: only its first {max_bytes:,} bytes were read." if self.is_cut else ""

    @property
    def is_html(self) -> bool:
        """It can be written as Markdown."""
        return self.media_type in _HTML


class Pages:
    """Reads pages for one user agent. `types` are patterns of content types; `robots` is asked before, if there is one.

    The methods raise `ToolError`.
    """

    def __init__(
        self,
        fetcher: WebFetcher,
        user_agent: str,
        *,
        robots: Robots | None,
        types: Sequence[str] = TEXT,
        timeout: float = 30.0,
    ) -> None:
        self._fetcher = fetcher
        self._headers = {"User-Agent": user_agent, "Accept": "text/markdown, text/html, text/*;q=0.9, */*;q=0.5"}
        self._robots = robots
        self._types = types
        self._timeout = timeout
        self._kept: Keeping[Page] = Keeping(KEEP_BYTES, KEEP_SECONDS)
        self._converter = Converter()

    async def page(self, url: str, *, anew: bool) -> Page:
        """Read a page, or find it among those that were read before."""
        page = None if anew else self._kept.get(url)
        if page is None:
            try:
                async with asyncio.timeout(self._timeout):
                    page = await self._read(url)
            except TimeoutError:
                raise ToolError(f"Failed to fetch {url} - it took longer than {self._timeout:g} s") from None
            except (NotFetched, Disallowed) as error:
                hint = _ALLOWING.get(getattr(error, "leads_to", None), "")
                raise ToolError(f"{error}{hint}") from None
            self._kept.put(url, page, 2 * sys.getsizeof(page.source))
        return page

    async def text(self, url: str, page: Page) -> str | None:
        """Write a page of HTML as Markdown; None when that cannot be done."""
        if not page.is_tried:
            page.markdown = await self._converter.convert(page.source[:MAX_CHARACTERS], page.url)
            page.is_tried = True
            if self._kept.get(url) is page:  # a page of short links becomes much more than it was
                self._kept.put(url, page, sys.getsizeof(page.source) + sys.getsizeof(page.markdown))
        return page.markdown

    async def _read(self, url: str) -> Page:
        first = url = self._fetcher.ascii_url(url)
        for _ in range(MAX_REDIRECTS + 1):
            if self._robots is not None:
                await self._robots.check(url)
            reply = await self._fetcher.get(url, self._headers, wants=self._is_wanted)
            if reply.redirect is None:
                break
            url = self._fetcher.ascii_url(reply.redirect)
        else:
            raise ToolError(f"Failed to fetch {url} - it redirects more than {MAX_REDIRECTS} times")
        if not 200 <= reply.status < 300:
            raise ToolError(f"Failed to fetch {url} - status code {reply.status}")
        if not self._is_wanted(reply) or _is_binary(reply):
            wanted = "text" if self._types is TEXT or self._is_wanted(reply) else " or ".join(self._types)
            raise ToolError(f"{url} is not {wanted}, but {_kind(reply)}. Only {wanted} can be fetched.")
        return Page(reply, is_redirected=url != first)

    def _is_wanted(self, reply: WebReply) -> bool:
        """Tell whether a body is to be read; one without a content type has to be seen."""
        kind = reply.media_type[:200]
        return reply.status < 300 and (not kind or any(fnmatchcase(kind, each) for each in self._types))


def _is_binary(reply: WebReply) -> bool:
    named = reply.headers.get("content-type", "").lower()
    is_wide = reply.body.startswith((b"\xff\xfe", b"\xfe\xff")) or "utf-16" in named or "utf-32" in named
    return b"\0" in reply.body[:1000] and not is_wide


def _kind(reply: WebReply) -> str:
    kind = _named(reply) or "of a type without a name"
    size = reply.headers.get("content-length", "")
    return f"{kind} ({int(size):,} bytes)" if re.fullmatch("[0-9]{1,15}", size) else kind


def _named(reply: WebReply) -> str:
    """Return the content type if it looks like one: it is shown."""
    return reply.media_type if _TYPE.fullmatch(reply.media_type) else ""
