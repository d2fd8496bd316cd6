"""What a person should know of a URL before visiting it: where it leads, and what about it may deceive.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

_LOCAL = ("localhost", "127.0.0.1", "::1")


def host_of(url: str) -> str:
    """Tell which host a URL leads to; empty if it cannot be read."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def warnings_about(url: str) -> Iterable[str]:
    """Say what may deceive about a URL."""
    host = host_of(url)
    if not host:
        yield "no host can be read out of this address"
        return
    if not host.isascii():
        yield f"the host has letters that may look like others; it is really {_ascii(host)}"
    if any(label.startswith("xn--") for label in host.split(".")):
        yield f"the host is written in Punycode, and would be shown as {_shown(host)}; its letters may look like others"
    parts = urlsplit(url)
    if "@" in parts.netloc:
        yield f"what stands before the @ is not the host; this address leads to {host}"
    if parts.scheme != "https" and host not in _LOCAL:
        yield f"it is not https ({parts.scheme}), so others may read what you enter there"


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return "not a name that exists"


def _shown(host: str) -> str:
    try:
        return host.encode().decode("idna")
    except UnicodeError:
        return "nothing readable"
