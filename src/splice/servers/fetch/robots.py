"""What the robots.txt of a site lets programs read that nobody sits in front of.

- 401 and 403 for robots.txt mean that nothing may be read, any other 4xx that everything may.
- No answer means that nothing may be read, and so does anything else that is not 200 to 299.
- The file is that of the origin; it may redirect. It is kept for an hour.

Protego is the parser: it does what RFC 9309 says, `*` and `$` in paths and the longest match included, which the one of
the standard library does not.

https://www.rfc-editor.org/rfc/rfc9309
"""

import asyncio
import re
from urllib.parse import urlsplit

from protego import Protego

from splice.auth import NotFetched, WebFetcher, WebReply
from splice.servers.fetch.decoding import seen
from splice.servers.fetch.keeping import Keeping

MAX_BYTES = 500 * 1024
"""How much of a robots.txt is read: as much as RFC 9309 demands. The rest is as if it were not there."""

KEEP_SECONDS = 3600.0
KEEP_BYTES = 8 * 1024 * 1024
"""How long, and how much of them, robots.txt files are kept."""

MAX_RULES = 200_000
"""User agents times lines: the most that is parsed. Large sites have 50 thousand. 200 thousand take 0.3 s."""

MAX_SHOWN = 2000
"""How many characters of a robots.txt are shown."""

_REDIRECTS = 5
_AGENT = re.compile(r"^\s*user[ -]?agent", re.IGNORECASE | re.MULTILINE)


class Disallowed(Exception):
    """A page is not to be read. The message is for a model."""


class Robots:
    """Asks the robots.txt of each site before it is read, for one user agent."""

    def __init__(self, fetcher: WebFetcher, user_agent: str) -> None:
        self._fetcher = fetcher
        self._user_agent = user_agent
        self._kept: Keeping[str] = Keeping(KEEP_BYTES, KEEP_SECONDS)

    async def check(self, url: str) -> None:
        """Raise `Disallowed` unless robots.txt lets a URL, in ASCII, be read; `NotFetched` where it leads inside."""
        parts = urlsplit(url)
        place = parts._replace(path="/robots.txt", query="", fragment="").geturl()
        text = self._kept.get(place)
        if text is None:
            text = await self._read(place)
            self._kept.put(place, text, len(text) * 4 + 100)
        if len(_AGENT.findall(text)) * (text.count("\n") + text.count("\r") + 1) > MAX_RULES:
            raise Disallowed(f"{place} has too many rules to be read, so {url} is not.")
        if not await asyncio.to_thread(_allows, text, url, self._user_agent.partition("/")[0]):
            raise Disallowed(self._told(url, place, text))

    async def _read(self, place: str) -> str:
        """Read a robots.txt; no text at all allows everything."""
        try:
            reply = await self._fetcher.get(
                place, {"User-Agent": self._user_agent}, redirects=_REDIRECTS, wants=_is_found
            )
        except NotFetched as error:
            if error.leads_to is not None:
                raise
            raise Disallowed(f"{error}. {_UNKNOWN}") from None
        if reply.status not in (401, 403) and 400 <= reply.status < 500:
            return ""
        if not _is_found(reply):
            raise Disallowed(f"{place} answered with status {reply.status}. {_UNKNOWN}")
        return reply.body[:MAX_BYTES].decode("utf-8-sig", "replace")

    def _told(self, url: str, place: str, text: str) -> str:
        shown = seen(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}...")
        return (
            f"The sites robots.txt ({place}), specifies that autonomous fetching of this page is not allowed, "
            f"<useragent>{self._user_agent}</useragent>\n<url>{url}</url><robots>\n{shown}\n</robots>\n"
            "The assistant must let the user know that it failed to view the page. "
            "The assistant may provide further guidance based on the above information.\n"
            "The assistant can tell the user that they can try manually fetching the page by using the fetch prompt "
            "within their UI."
        )


_UNKNOWN = (
    "So it is not known what this site lets programs read, and nothing of it is fetched. "
    "The user can try the prompt `fetch`, which does not ask robots.txt."
)


def _allows(text: str, url: str, agent: str) -> bool:
    return Protego.parse(text).can_fetch(url, agent)


def _is_found(reply: WebReply) -> bool:
    return 200 <= reply.status < 300
