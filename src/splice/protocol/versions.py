"""The five protocol versions as data: what each one does, and which field exists when.

Nothing else in the package names or compares a version. Code asks the facts of a version (`facts.batches`),
and a type says beside each field since when, and until when, that field exists.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Struct
from msgspec.structs import fields

from splice import errors

V2024_11_05 = "2024-11-05"
V2025_03_26 = "2025-03-26"
V2025_06_18 = "2025-06-18"
V2025_11_25 = "2025-11-25"
V2026_07_28 = "2026-07-28"

HANDSHAKE_VERSIONS = (V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25)
"""The versions that `initialize` may offer, accept or counter-offer."""

MODERN_VERSIONS = (V2026_07_28,)
"""The versions that a request may carry in its own `_meta`."""

VERSIONS = HANDSHAKE_VERSIONS + MODERN_VERSIONS
"""All versions, oldest first. Versions compare by their place here, never as text."""

ASSUMED_VERSION = V2025_03_26
"""The version of an HTTP request that names none and belongs to no session: the last one without a header for it."""

LATEST_HANDSHAKE = HANDSHAKE_VERSIONS[-1]
LATEST_MODERN = MODERN_VERSIONS[-1]


position = VERSIONS.index
"""Tells the place of a version among all, oldest first. Raises `ValueError` for one that this package does not know."""


class Since(Struct, frozen=True):
    """Mark: the first version in which a field, a type or a fact exists."""

    version: str


class Until(Struct, frozen=True):
    """Mark: the last version in which a field, a type or a fact exists."""

    version: str


def covers(marks: Iterable[object], version: str) -> bool:
    """Tell whether what carries these marks exists in `version`. Anything that is not a mark does not count."""
    place = position(version)
    for mark in marks:
        if isinstance(mark, Since) and place < position(mark.version):
            return False
        if isinstance(mark, Until) and place > position(mark.version):
            return False
    return True


class Facts(Struct, frozen=True, kw_only=True):
    """The behaviour of one protocol version, as far as types cannot say it. A fact holds in the versions it marks."""

    version: str
    request_meta: Annotated[bool, Since(V2026_07_28)]
    """Every request carries version, capabilities and log level in its own `_meta`."""
    batches: Annotated[bool, Since(V2025_03_26), Until(V2025_03_26)]
    """A JSON array of messages is legal."""
    version_header: Annotated[bool, Since(V2025_06_18)]
    """`MCP-Protocol-Version` must accompany every HTTP request after the first."""
    mirrored_headers: Annotated[bool, Since(V2026_07_28)]
    """HTTP headers repeat the method, the name and marked arguments of every request."""
    resumable: Annotated[bool, Since(V2025_03_26), Until(V2025_11_25)]
    """A broken SSE stream may be resumed by `Last-Event-ID`."""
    priming_event: Annotated[bool, Since(V2025_11_25), Until(V2025_11_25)]
    """An SSE stream that can be resumed opens with an event that has an id and no data."""
    closed_stream_cancels: Annotated[bool, Since(V2026_07_28)]
    """Closing the HTTP response stream cancels the request."""
    url_elicitation: Annotated[bool, Since(V2025_11_25)]
    """The server may send the user to a URL."""
    rich_forms: Annotated[bool, Since(V2025_11_25)]
    """Forms may have lists of choices, a title beside each choice, and defaults for more than booleans."""
    sampling_tools: Annotated[bool, Since(V2025_11_25)]
    """Sampling requests may offer tools, and the client says whether it heeds `includeContext`."""
    bad_arguments_are_results: Annotated[bool, Since(V2025_11_25)]
    """Arguments that do not fit are told to the model as a failed result, not to the client as an error."""
    any_structured_content: Annotated[bool, Since(V2026_07_28)]
    """Structured content may be any JSON value, not only an object."""
    empty_cursor: Annotated[bool, Since(V2026_07_28)]
    """An empty cursor is one like any other; before, some servers end a list with it."""
    caching_hints: Annotated[bool, Since(V2026_07_28)]
    """Results say for how long they may be kept."""
    deprecations: Annotated[bool, Since(V2026_07_28)]
    """Sampling, roots and log messages to clients are deprecated."""
    codes: dict[int, int]
    """Error codes that differ from the newest version's: ours -> the one on the wire."""

    def code_of(self, code: int) -> int:
        """Tell which code an error of ours has in this version."""
        return self.codes.get(code, code)


_RESERVED = range(-32099, errors.UNSUPPORTED_PROTOCOL_VERSION)
_CODES = (
    # Reserved, and not defined but for those below.
    *((code, (Until(V2025_11_25),), errors.INTERNAL_ERROR) for code in _RESERVED),
    (errors.RESOURCE_NOT_FOUND, (Until(V2025_11_25),), errors.INVALID_PARAMS),
    (errors.URL_ELICITATION_REQUIRED, (Since(V2025_11_25), Until(V2025_11_25)), errors.INVALID_REQUEST),
    (errors.MISSING_CLIENT_CAPABILITY, (Since(V2026_07_28),), errors.INVALID_REQUEST),
)
"""The codes that not every version has: code, its marks, what stands for it elsewhere. The last row counts."""


def _facts(version: str) -> Facts:
    codes = {code: other for code, marks, other in _CODES if not covers(marks, version)}
    marked = {field.name: field.type.__metadata__ for field in fields(Facts) if hasattr(field.type, "__metadata__")}
    return Facts(version=version, codes=codes, **{name: covers(marks, version) for name, marks in marked.items()})


FACTS: dict[str, Facts] = {version: _facts(version) for version in VERSIONS}
