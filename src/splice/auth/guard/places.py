"""Where an endpoint is, for those who are outside: its public URL, and the one of the document about it.

Unless it is told, the URL is made of the request's own Host header, which was checked before. What a proxy says of the
request that it passed on counts only when the proxy is one of those that were named: anybody can write such headers.

https://www.rfc-editor.org/rfc/rfc9728#section-3
"""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from splice.rules.http.origins import parse_authority

WELL_KNOWN = "/.well-known/oauth-protected-resource"

UNIX = "unix"
"""Stands for whoever connects by a Unix socket."""

Scope: TypeAlias = Mapping[str, Any]
_Network: TypeAlias = IPv4Network | IPv6Network


def fields(scope: Scope, name: bytes) -> list[bytes]:
    """Give the values of a header, as often as it was sent."""
    return [value for key, value in scope["headers"] if key == name]


class Places:
    """Knows the public URL of an endpoint: as it was told, else as each request says."""

    def __init__(self, resource: str | None, proxies: Sequence[str]) -> None:
        """Take the URL, and the addresses of proxies. Raises `ValueError` for what is no address."""
        self._resource = resource
        self._unix = UNIX in proxies
        self._proxies = list(_networks(each for each in proxies if each != UNIX))

    def resource(self, scope: Scope, endpoint: str | None) -> str | None:
        """Tell the URL of the endpoint, which tokens are for; None where a request does not say."""
        if self._resource is not None:
            return self._resource
        base, root = self._base(scope), scope.get("root_path", "").rstrip("/")
        path = scope["path"].removeprefix(root) if endpoint is None else endpoint
        return base and (base + quote(root + path.removeprefix(WELL_KNOWN))).rstrip("/")

    def urls(self, scope: Scope, endpoint: str | None) -> list[str]:
        """List the URLs that a request may have been sent to."""
        base, resource = self._base(scope), self.resource(scope, endpoint)
        return [each for each in (resource, base and base + quote(scope["path"])) if each is not None]

    def document(self, scope: Scope, endpoint: str | None) -> str | None:
        """Tell the URL of the document about the endpoint. One that is mounted has it below its own root."""
        resource, root = self.resource(scope, endpoint), quote(scope.get("root_path", "").rstrip("/"))
        if resource is None:
            return None
        parts = urlsplit(resource)
        root = root if parts.path.startswith(root) else ""
        return f"{parts.scheme}://{parts.netloc}{root}{WELL_KNOWN}{parts.path[len(root) :].rstrip('/')}"

    def is_document(self, path: str, endpoint: str | None) -> bool:
        """Tell whether a path, from the root of the application on, is that of the document."""
        if path != WELL_KNOWN and not path.startswith(WELL_KNOWN + "/"):
            return False
        said = [] if self._resource is None else [urlsplit(self._resource).path.rstrip("/")]
        return endpoint is None or path[len(WELL_KNOWN) :] in (endpoint.rstrip("/"), *said)

    def _base(self, scope: Scope) -> str | None:
        """Tell scheme and authority. Where a proxy that is trusted says otherwise, its last word counts."""
        scheme, hosts = scope.get("scheme", "http"), fields(scope, b"host")
        if self._trusts(scope.get("client")):
            said = _last(fields(scope, b"x-forwarded-proto")).lower()
            scheme = said if said in ("http", "https") else scheme
            host = _last(fields(scope, b"x-forwarded-host")) or _last(hosts)
        else:
            host = _last(hosts)
        return f"{scheme}://{host.lower()}" if parse_authority(host) else None

    def _trusts(self, client: Any) -> bool:
        if not client:
            return self._unix
        if not self._proxies:
            return False
        try:
            address = ip_address(client[0])
        except ValueError:
            return self._unix and not client[0]
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self._proxies)


def _last(values: Sequence[bytes]) -> str:
    return values[-1].decode("latin-1").rpartition(",")[2].strip() if values else ""


def _networks(proxies: Iterable[str]) -> Iterable[_Network]:
    for each in proxies:
        try:
            yield ip_network(each)
        except ValueError:
            wanted = f"addresses and networks such as '10.0.0.0/8', or '{UNIX}'"
            raise ValueError(f"trusted_proxies= of Auth takes {wanted}, not {each!r}") from None
