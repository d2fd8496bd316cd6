"""What an authorization server grants at all: its name, the scopes and resources it knows."""

import logging
import re
from urllib.parse import urlsplit

from msgspec import Struct

from splice.auth.issuer.clients import Client
from splice.auth.issuer.refused import Refused

MAX_SCOPES = 50
MAX_SCOPE_CHARS = 200
MAX_RESOURCE_CHARS = 2000

SCOPE = re.compile(r"[!#-\[\]-~]{1,200}")
_URI = re.compile(r"[!-~]+")
_UNTOLD = re.compile(r"[^ !#-\[\]-~]")
"""What no error_description has in it (RFC 6749 section 5.2)."""

log = logging.getLogger("splice.auth")


class Policy(Struct, frozen=True, kw_only=True):
    """What a server grants, and under which name."""

    issuer: str
    scopes: tuple[str, ...] | None = None
    """The scopes there are; None: whatever is asked for, if the user allows it."""
    resources: tuple[str, ...] | None = None
    """The servers that tokens are made for; None: whichever is asked for. The first is meant where none is named."""

    def url(self, path: str) -> str:
        """Return the address of one of the server's own paths."""
        return self.issuer + path

    def path(self, path: str) -> str:
        """Return the whole path of one of the server's own paths, as a request names it."""
        return urlsplit(self.issuer).path + path

    def scopes_of(self, form: dict[str, str], client: Client) -> tuple[str, ...]:
        """Return the scopes that a client asks for. Raises `Refused` (``invalid_scope``)."""
        scopes = tuple(dict.fromkeys(form.get("scope", "").split(" "))) if form.get("scope") else ()
        if len(scopes) > MAX_SCOPES or not all(map(SCOPE.fullmatch, scopes)):
            told = f"At most {MAX_SCOPES} scopes of up to {MAX_SCOPE_CHARS} ASCII characters, with one space between"
            raise Refused("invalid_scope", told)
        for known, whose in ((self.scopes, "this server"), (client.scopes, "this client")):
            # A client asks for offline_access to get a refresh token, which it gets here anyway.
            unknown = [] if known is None else [each for each in scopes if each not in (*known, "offline_access")]
            if unknown:
                raise Refused("invalid_scope", f"There is no scope {unknown[0][:50]} for {whose}")
        return scopes

    def resource_of(self, form: dict[str, str]) -> str:
        """Return the audience that a client asks tokens for. Raises `Refused` (``invalid_target``)."""
        resource = form.get("resource")
        if resource is None:
            return self.resources[0] if self.resources else self.issuer
        if not _is_resource(resource):
            told = f"resource must be an http or https URL without a fragment, not {_shown(resource)}"
            raise Refused("invalid_target", told)
        if self.resources is not None and resource not in self.resources:
            how = "to allow it add it to resources= (--resource of splice auth serve); only the same text is the same"
            log.warning("tokens for %s were asked for, and refused: %s", _shown(resource), how)
            raise Refused("invalid_target", f"This server makes no tokens for the resource {_shown(resource)}")
        return resource


def _shown(resource: str) -> str:
    """Cut and escape what a client sent."""
    return _UNTOLD.sub("?", resource[:200])


def _is_resource(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
    return is_web and len(uri) <= MAX_RESOURCE_CHARS and "#" not in uri and _URI.fullmatch(uri) is not None
