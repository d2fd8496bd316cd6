"""Fetches what is to be compressed, through the guard that goes to public addresses only.

Loaded with the first URL of the web, as it loads all of HTTP.
"""

import asyncio
import re

from splice import ToolError
from splice.auth import NotFetched, WebFetcher, WebReply
from splice.servers.everything.gzipping import Limits

MAX_REDIRECTS = 3

_HOST = re.compile(r"https?://([a-z0-9.-]+)(?::[0-9]+)?(?:[/?#]|$)", re.IGNORECASE | re.ASCII)
"""A URL whose host nobody can read in another way."""


async def fetched(url: str, limits: Limits) -> bytes:
    """Read what is at a URL; each hop of it is on the hosts that are allowed. Raises `ToolError`."""
    fetcher = WebFetcher(allow_loopback=limits.allow_loopback, max_bytes=limits.max_bytes, timeout=limits.seconds)
    try:
        async with asyncio.timeout(limits.seconds):
            reply = await _followed(fetcher, url, limits)
    except NotFetched as error:
        raise ToolError(str(error)) from None
    except TimeoutError:
        raise ToolError(f"This took longer than {limits.seconds:g} s to fetch") from None
    if reply.status != 200:
        raise ToolError(f"The server answered with status {reply.status}: check the URL")
    limits.check(len(reply.body) + reply.is_cut)
    return reply.body


async def _followed(fetcher: WebFetcher, url: str, limits: Limits) -> WebReply:
    for _ in range(MAX_REDIRECTS + 1):
        _check_host(url, limits)
        reply = await fetcher.get(url)
        if reply.redirect is None:
            return reply
        url = reply.redirect
    raise ToolError(f"This redirects more than {MAX_REDIRECTS} times")


def _check_host(url: str, limits: Limits) -> None:
    """Raise `ToolError` for a URL on a host that is not allowed."""
    found = _HOST.match(url)
    host = found[1].lower().rstrip(".") if found else ""
    if limits.domains and not any(host == name or host.endswith(f".{name}") for name in limits.domains):
        raise ToolError(f"Nothing is fetched from there: the hosts allowed are {', '.join(limits.domains)}")
