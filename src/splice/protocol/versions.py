"""The five protocol versions as data: what each one does, and which field exists when.

Nothing else in the package names or compares a version. Code asks the facts of a version (`facts.batches`),
and a type says beside each field since when, and until when, that field exists.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from msgspec import Struct
from msgspec.structs import replace

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


class Facts(Struct, frozen=True, kw_only=True):
    """The behaviour of one protocol version, as far as types cannot say it."""

    version: str
    request_meta: bool = False
    """Every request carries version, capabilities and log level in its own `_meta`."""
    batches: bool = False
    """A JSON array of messages is legal."""
    version_header: bool = False
    """`MCP-Protocol-Version` must accompany every HTTP request after the first."""
    mirrored_headers: bool = False
    """HTTP headers repeat the method, the name and marked arguments of every request."""
    resumable: bool = False
    """A broken SSE stream may be resumed by `Last-Event-ID`."""
    priming_event: bool = False
    """An SSE stream that can be resumed opens with an event that has an id and no data."""
    closed_stream_cancels: bool = False
    """Closing the HTTP response stream cancels the request."""
    elicitation: bool = False
    """The server may ask the user at all."""
    url_elicitation: bool = False
    """...and may send them to a URL."""
    rich_forms: bool = False
    """...with lists of choices, a title beside each choice, and defaults for more than booleans."""
    sampling_tools: bool = False
    """Sampling requests may offer tools."""
    bad_arguments_are_results: bool = False
    """Arguments that do not fit are told to the model as a failed result, not to the client as an error."""
    any_structured_content: bool = False
    """Structured content may be any JSON value, not only an object."""
    empty_cursor: bool = False
    """An empty cursor is one like any other; before, some servers end a list with it."""
    codes: dict[int, int] = {}
    """Error codes that differ from the newest version's: ours -> the one on the wire."""

    def code_of(self, code: int) -> int:
        """Tell which code an error of ours has in this version."""
        return self.codes.get(code, code)


_2024_11_05 = Facts(
    version=V2024_11_05,
    codes={
        errors.MISSING_CLIENT_CAPABILITY: errors.INVALID_REQUEST,
        errors.URL_ELICITATION_REQUIRED: errors.INVALID_REQUEST,
    },
)
_2025_03_26 = replace(_2024_11_05, version=V2025_03_26, batches=True, resumable=True)
_2025_06_18 = replace(_2025_03_26, version=V2025_06_18, batches=False, version_header=True, elicitation=True)
_2025_11_25 = replace(
    _2025_06_18,
    version=V2025_11_25,
    priming_event=True,
    url_elicitation=True,
    rich_forms=True,
    sampling_tools=True,
    bad_arguments_are_results=True,
    codes={errors.MISSING_CLIENT_CAPABILITY: errors.INVALID_REQUEST},
)
_2026_07_28 = replace(
    _2025_11_25,
    version=V2026_07_28,
    request_meta=True,
    mirrored_headers=True,
    resumable=False,
    priming_event=False,
    closed_stream_cancels=True,
    any_structured_content=True,
    empty_cursor=True,
    codes={
        # Codes that are reserved, and not defined:
        **dict.fromkeys(range(-32099, errors.UNSUPPORTED_PROTOCOL_VERSION), errors.INTERNAL_ERROR),
        errors.RESOURCE_NOT_FOUND: errors.INVALID_PARAMS,
        errors.URL_ELICITATION_REQUIRED: errors.INVALID_REQUEST,
    },
)

FACTS: dict[str, Facts] = {
    facts.version: facts for facts in (_2024_11_05, _2025_03_26, _2025_06_18, _2025_11_25, _2026_07_28)
}
"""Each version says what it changed about the one before."""


def position(version: str) -> int:
    """Tell the place of `version` among all versions, oldest first.

    Raises `ValueError` for a version this package does not know.
    """
    return VERSIONS.index(version)


class Since(Struct, frozen=True):
    """Mark: the first version in which a field, a type or a method exists."""

    version: str


class Until(Struct, frozen=True):
    """Mark: the last version in which a field, a type or a method exists."""

    version: str


def exists(version: str, since: str | None, until: str | None) -> bool:
    """Tell whether something marked `since` and `until` exists in `version`."""
    place = position(version)
    return (since is None or place >= position(since)) and (until is None or place <= position(until))
