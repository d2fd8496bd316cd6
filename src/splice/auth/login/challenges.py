"""What a `WWW-Authenticate` header asks for: schemes, each with its parameters.

The header is hostile until read. Reading takes linear time, never raises, and stops at what is not a challenge.

https://www.rfc-editor.org/rfc/rfc9110#name-www-authenticate
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

MAX_HEADER = 16 * 1024
"""Characters that are read of all header values together."""
MAX_CHALLENGES = 16
MAX_PARAMS = 32
"""Of one challenge."""

SCHEMES = ("bearer", "dpop")
"""The schemes that this client can answer."""

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAM = re.compile(rf'({_WORD})[ \t]*=[ \t]*(?:"([^"\\]*(?:\\.[^"\\]*)*)"|({_WORD}))(?=[ \t,]|\Z)', re.DOTALL)
_SCHEME = re.compile(rf"({_WORD})(?=[ \t,]|\Z)")
_TOKEN68 = re.compile(r"[0-9A-Za-z._~+/-]+=*[ \t]*(?=,|\Z)")
_GAP = re.compile(r"[ \t\r\n]*(?:,[ \t\r\n,]*)?")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SCOPE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")


class Challenge(Struct, frozen=True):
    """One scheme with its parameters. Scheme and names of parameters are in lower case."""

    scheme: str
    params: dict[str, str] = {}

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes it asks for, without those that are not scopes."""
        return scopes_of(self.params.get("scope", "").split(" "))

    @property
    def error(self) -> str | None:
        """The kind of refusal, such as ``insufficient_scope``."""
        return self.params.get("error")

    @property
    def resource_metadata(self) -> str | None:
        """Where the server says that its metadata is (RFC 9728)."""
        return self.params.get("resource_metadata")


def scopes_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Leave out what is not a scope (RFC 6749 section 3.3), and what is there twice."""
    return tuple(dict.fromkeys(text for text in texts if _SCOPE.fullmatch(text)))


def challenges_of(values: Iterable[str]) -> list[Challenge]:
    """Read the values of all `WWW-Authenticate` headers, or one value with all of them joined by commas."""
    found: list[Challenge] = []
    left = MAX_HEADER
    for value in values:
        found += _read(value[:left])
        left -= min(left, len(value))
    return found[:MAX_CHALLENGES]


def answerable(challenges: Iterable[Challenge]) -> Challenge | None:
    """Choose the first challenge with a scheme that this client can answer."""
    return next((each for each in challenges if each.scheme in SCHEMES), None)


def _read(text: str) -> Iterator[Challenge]:
    """Read challenges up to the first character that is not of one."""
    at, count = _skip(text, 0), 0
    while (scheme := _SCHEME.match(text, at)) is not None and count < MAX_CHALLENGES:
        params, at = _params(text, _blanks(text, scheme.end()))
        at, count = _skip(text, at), count + 1
        yield Challenge(scheme[1].lower(), params)


def _params(text: str, at: int) -> tuple[dict[str, str], int]:
    """Read parameters from `at` up to the next challenge; tell where that begins. The first of a name counts."""
    params: dict[str, str] = {}
    while (found := _PARAM.match(text, at)) is not None and len(params) < MAX_PARAMS:
        name, quoted, plain = found.groups()
        params.setdefault(name.lower(), plain if quoted is None else _ESCAPED.sub(r"\1", quoted))
        at = _skip(text, found.end())
    if not params and (token68 := _TOKEN68.match(text, at)) is not None:
        return {}, token68.end()
    return params, at


def _skip(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found is not None else at


def _blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t":
        at += 1
    return at
