"""Who may call an HTTP server, and with what: the Host and Origin headers it welcomes; how a caller is refused.

A web page can make the user's browser talk to a server on the same machine, under a host name of its own that
points there (DNS rebinding). Both headers tell; they are parsed and compared whole, never by prefix. Unless told
otherwise only loopback names pass, whatever the port.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-&-endpoint
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import ip_address
from typing import TypeAlias

from splice import errors
from splice.rules.http.headers import EVENT_STREAM, JSON, Headers, accepts, is_json

Authority: TypeAlias = tuple[str, int | None]
"""A host in lower case, and its port if one is given."""

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
ANYONE = "*"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-fA-F:.]*\]|[0-9a-zA-Z._-]+)(:(?P<port>[0-9]{1,5}))?")
_STATUSES = {
    errors.METHOD_NOT_FOUND: 404,
    **dict.fromkeys((errors.PARSE_ERROR, errors.INVALID_REQUEST, errors.INVALID_PARAMS, errors.HEADER_MISMATCH), 400),
    **dict.fromkeys((errors.MISSING_CLIENT_CAPABILITY, errors.UNSUPPORTED_PROTOCOL_VERSION), 400),
}


def status_of(code: int) -> int:
    """Choose the status of an error response to a request that belongs to no session. Within a session it is 200."""
    return _STATUSES.get(code, 200)


class Refusal(Exception):  # an answer, not a failure
    """Ends the handling of an HTTP request with a status and a JSON-RPC error."""

    def __init__(self, status: int, error: errors.RPCError, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error
        self.headers = headers


@lru_cache(maxsize=64)
def check_content(content_type: bytes | None, encoding: bytes | None, accept: bytes | None) -> None:
    """Check what the headers say of a body and of its answer. Raises `Refusal`; what is fine is remembered."""
    if not is_json(content_type):
        raise Refusal(415, errors.InvalidRequest(f"POST needs `Content-Type: {JSON}`, in UTF-8"))
    if encoding not in (None, b"identity"):
        raise Refusal(415, errors.InvalidRequest("The body must not be compressed"))
    if not accepts(accept, JSON, EVENT_STREAM):
        raise Refusal(406, errors.InvalidRequest(f"POST needs `Accept: {JSON}, {EVENT_STREAM}`"))


class Origins:
    """Which Host and Origin headers are welcome.

    `hosts` are names with or without a port; without one, every port will do. `origins` are `scheme://host[:port]`;
    unless given, a page from any welcome host may call. ``*`` welcomes everyone, and must be said.
    """

    def __init__(self, hosts: Sequence[str] | None = None, origins: Sequence[str] | None = None) -> None:
        self._any_host = hosts is not None and ANYONE in hosts
        self._any_origin = origins is not None and ANYONE in origins
        named = [host for host in hosts or () if host != ANYONE]
        self._hosts = {_required(host) for host in (named if named or hosts == [] else LOOPBACK)}
        self._origins = None if origins is None else {_origin(each) for each in origins if each != ANYONE}
        self._welcomes = lru_cache(maxsize=64)(self.welcomes_host)

    def check(self, headers: Headers) -> None:
        """Raise `Refusal` (403) unless both headers are welcome."""
        host = headers.raw(b"host")
        if host is None or not self._welcomes(host):
            raise _forbidden("Host", host)
        origin = headers.raw(b"origin")
        if origin is not None and not self.welcomes_origin(origin.decode("latin-1")):
            raise _forbidden("Origin", origin)

    def welcomes_host(self, host: bytes) -> bool:
        """Tell whether a Host header is one of ours."""
        authority = parse_authority(host.decode("latin-1"))
        return authority is not None and (self._any_host or self._listed(authority))

    def welcomes_origin(self, origin: str) -> bool:
        """Tell whether a page of this origin may call."""
        parsed = _origin(origin)
        if self._any_origin:
            return True
        if self._origins is not None:
            return parsed in self._origins
        return isinstance(parsed, tuple) and parsed[0] in _DEFAULT_PORTS and self._listed(parsed[1])

    def _listed(self, authority: Authority) -> bool:
        return authority in self._hosts or (authority[0], None) in self._hosts


@lru_cache(maxsize=64)
def parse_authority(text: str) -> Authority | None:
    """Read `host[:port]`; None for anything else."""
    found = _AUTHORITY.fullmatch(text)
    return found and (found["host"].lower(), int(found["port"]) if found["port"] else None)


def is_loopback(host: str) -> bool:
    """Tell whether a host, a name or an address, is this machine and can be reached from nowhere else."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _required(text: str) -> Authority:
    authority = parse_authority(text)
    if authority is None:
        raise ValueError(f"{text!r} is not a host: write 'name' or 'name:port', without a scheme or a path")
    return authority


def _origin(text: str) -> tuple[str, Authority] | str:
    """Read an origin so that equal ones compare equal; one of a form we do not know stands for itself."""
    scheme, separator, rest = text.partition("://")
    authority = parse_authority(rest) if separator else None
    if authority is None:
        return text
    scheme = scheme.lower()
    return scheme, (authority[0], authority[1] or _DEFAULT_PORTS.get(scheme))


def _forbidden(what: str, value: bytes | None) -> Refusal:
    shown = "missing" if value is None else f"{value.decode('latin-1')[:100]!a} not allowed"
    message = f"{what} header {shown}; the server's allowed_{what.lower()}s decide"
    return Refusal(403, errors.InvalidRequest(message))
