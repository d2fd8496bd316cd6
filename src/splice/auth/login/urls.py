"""URLs, and other words, that a peer named: which URLs may be asked or opened, how they compare, how it all is shown.

A URL is used as it came, never put together again from its parts: a slash more, and `resource` or `issuer` would name
something else.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#communication-security
"""

import re
from urllib.parse import SplitResult, urlsplit

from splice.protocol.uri import shown_url
from splice.rules.http.origins import is_loopback, parse_authority

MAX_URL = 2048
"""Characters of a URL that a peer named."""
MAX_SHOWN = 200

_ALLOWED = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+")
_CODE = re.compile(r"[ !#-\[\]-~]{1,100}")  # RFC 6749, section 5.2
DEFAULT_PORTS = {"https": 443, "http": 80}


def shown(text: str) -> str:
    """Write what a peer sent so that it can stand in a message: escaped, and cut."""
    return ascii(text[:MAX_SHOWN])


def shown_address(url: str) -> str:
    """Write a URL that a peer named so that it can stand in a message, without its query."""
    return shown(shown_url(url))


def error_code(given: object) -> str | None:
    """Take the `error` that an authorization server named, if it is one."""
    return given if isinstance(given, str) and _CODE.fullmatch(given) else None


def parts_of(url: str) -> SplitResult | None:
    """Take a URL apart: https, or http to this machine, without user and fragment. None for everything else."""
    if len(url) > MAX_URL or _ALLOWED.fullmatch(url) is None:
        return None
    try:
        parts = urlsplit(url)
        authority = parse_authority(parts.netloc)
        is_open = parts.scheme == "http" and is_loopback(parts.hostname or "")
        port = parts.port
    except ValueError:
        return None
    return parts if authority is not None and port != 0 and (parts.scheme == "https" or is_open) else None


def is_usable(url: str) -> bool:
    """Tell whether a URL may be asked, or opened in a browser."""
    return parts_of(url) is not None


def origin_of(parts: SplitResult) -> str:
    """Write scheme, host and port, the port only where it is not the usual one."""
    port = parts.port
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, DEFAULT_PORTS[parts.scheme]) else "")


def covers(resource: str, url: str) -> bool:
    """Tell whether `resource` names the server at `url`: its own URL, or a parent path of the same origin."""
    outer, inner = parts_of(resource), parts_of(url)
    if outer is None or inner is None or origin_of(outer) != origin_of(inner):
        return False
    if "?" in resource:
        return (outer.path, outer.query) == (inner.path, inner.query)
    return f"{inner.path.rstrip('/')}/".startswith(f"{outer.path.rstrip('/')}/")


def resource_metadata_urls(parts: SplitResult) -> list[str]:
    """List where a server keeps its metadata unless it says so: below its path, then at the root (RFC 9728)."""
    root = f"{origin_of(parts)}/.well-known/oauth-protected-resource"
    rest = (parts.path if parts.path != "/" else "") + (f"?{parts.query}" if parts.query else "")
    return [root + rest, root] if rest else [root]


def server_metadata_urls(issuer: SplitResult) -> list[str]:
    """List where an authorization server keeps its metadata, in the order they are to be asked."""
    origin, path = origin_of(issuer), issuer.path.rstrip("/")
    places = [f"oauth-authorization-server{path}", f"openid-configuration{path}"]
    appended = [f"{origin}{path}/.well-known/openid-configuration"] if path else []
    return [f"{origin}/.well-known/{place}" for place in places] + appended
