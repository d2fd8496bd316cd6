"""The server that tokens are for: its URL as it is kept, and what may see them.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#canonical-server-uri
"""

from urllib.parse import urlsplit

from splice.auth.login.urls import DEFAULT_PORTS
from splice.protocol.uri import shown_url


class Place:
    """An MCP server by its URL."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._origin = _origin(url)
        self._known = ""
        scheme, host, port = self._origin
        self.host = host
        """Its host."""
        shown = f"[{host}]" if ":" in host else host
        netloc = shown if port == DEFAULT_PORTS.get(scheme) else f"{shown}:{port}"
        path = "" if parts.path == "/" else parts.path
        self.url = parts._replace(scheme=scheme, netloc=netloc, path=path, fragment="").geturl()
        """Its URL in the one form that it is kept under: without user and fragment, the host in lower case."""
        self.name = shown_url(self.url)
        """For messages: without what may be secret in it."""

    def holds(self, url: str) -> bool:
        """Tell whether a URL has the same origin, so that it may see the tokens."""
        if url != self._known:  # requests go to one URL, nearly always
            if _origin(url) != self._origin:
                return False
            self._known = url
        return True


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme)
