"""URLs that every parser reads alike, and the addresses of the hosts in them."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from yarl import URL

from splice.protocol.uri import is_web

NO_URL = (ValueError, IndexError)
"""What reading a text as a URL raises; the second one for http://[::1]@ and the like, which yarl does not foresee."""

_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")

LookUp: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Finds the addresses of a host and port. Raises `OSError`, and `UnicodeError` for a name that cannot be one."""


async def look_up(host: str, port: int) -> Sequence[str]:
    """Ask the system for the addresses of a host. Raises as a `LookUp` does."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def plain_url(url: str) -> URL | None:
    """Read a URL of http or https without a user, whose host is a plain name or address; None for any other."""
    try:
        target = URL(url) if is_web(url) else None
        if target is not None and _HOST.fullmatch(target.raw_host or "") and target.port != 0:
            return target
    except NO_URL:
        pass
    return None
