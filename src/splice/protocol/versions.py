"""The five protocol versions as data: what each one does, and which field exists when.

Nothing else in the package names or compares a version. Code asks the facts of a version (`facts.batches`),
and a type says beside each field since when, and until when, that field exists.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from typing import Literal

from msgspec import Struct

from splice.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_CLIENT_CAPABILITY,
    RESOURCE_NOT_FOUND,
    URL_ELICITATION_REQUIRED,
)

V2024_11_05 = "2024-11-05"
V2025_03_26 = "2025-03-26"
V2025_06_18 = "2025-06-18"
V2025_11_25 = "2025-11-25"
V2026_07_28 = "2026-07-28"

HANDSHAKE_VERSIONS = (V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25)
"""What `initialize` may offer, accept or counter-offer."""

MODERN_VERSIONS = (V2026_07_28,)
"""What a request may carry in its own `_meta`."""

VERSIONS = HANDSHAKE_VERSIONS + MODERN_VERSIONS
"""All versions, oldest first. Versions compare by their place here, never as text."""

LATEST_HANDSHAKE = HANDSHAKE_VERSIONS[-1]
LATEST_MODERN = MODERN_VERSIONS[-1]

Era = Literal["legacy", "modern"]


class Facts(Struct, frozen=True, kw_only=True):
    """What one protocol version does, as far as types cannot say it."""

    version: str
    era: Era = "legacy"
    batches: bool = False
    """A JSON array of messages is legal."""
    session_header: bool = True
    """Streamable HTTP sessions exist (`Mcp-Session-Id`)."""
    version_header: bool = True
    """`MCP-Protocol-Version` must accompany every HTTP request after the first."""
    resumable: bool = True
    """A broken SSE stream may be resumed by `Last-Event-ID`."""
    priming_event: bool = False
    """An SSE stream opens with an event that has an id and no data."""
    closed_stream_cancels: bool = False
    """Closing the HTTP response stream cancels the request."""
    request_meta: bool = False
    """Every request carries version, capabilities and log level in its own `_meta`."""
    elicitation: bool = True
    """The server may ask the user at all."""
    url_elicitation: bool = False
    """...and may send them to a URL."""
    sampling_tools: bool = False
    """Sampling requests may offer tools."""
    bad_arguments_are_results: bool = False
    """Arguments that do not fit are told to the model as a failed result, not to the client as an error."""
    any_structured_content: bool = False
    """Structured content may be any JSON value, not only an object."""
    empty_cursor: bool = False
    """An empty cursor is one like any other; before, some servers end a list with it."""
    resource_not_found: int = RESOURCE_NOT_FOUND
    """The error code for a URI that names nothing."""
    url_elicitation_required: int = INVALID_REQUEST
    """The error code for a request that needs the user to visit a URL first."""
    missing_capability: int = INVALID_REQUEST
    """The error code for a request that needs what the client did not declare."""


FACTS: dict[str, Facts] = {
    facts.version: facts
    for facts in (
        Facts(
            version=V2024_11_05,
            session_header=False,
            version_header=False,
            resumable=False,
            elicitation=False,
        ),
        Facts(
            version=V2025_03_26,
            batches=True,
            version_header=False,
            elicitation=False,
        ),
        Facts(version=V2025_06_18),
        Facts(
            version=V2025_11_25,
            priming_event=True,
            url_elicitation=True,
            url_elicitation_required=URL_ELICITATION_REQUIRED,
            sampling_tools=True,
            bad_arguments_are_results=True,
        ),
        Facts(
            version=V2026_07_28,
            era="modern",
            session_header=False,
            resumable=False,
            closed_stream_cancels=True,
            request_meta=True,
            url_elicitation=True,
            sampling_tools=True,
            bad_arguments_are_results=True,
            any_structured_content=True,
            empty_cursor=True,
            resource_not_found=INVALID_PARAMS,
            missing_capability=MISSING_CLIENT_CAPABILITY,
        ),
    )
}


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
