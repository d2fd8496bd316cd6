"""The client's probe: which era a server speaks, told from what became of one `server/discover`.

`classify` holds the whole table; nothing else decides. A row reads: outcome of the probe -> verdict.

    a discovery that names a modern version of ours         modern
    ...that names only versions we speak by `initialize`    legacy
    ...that names only others                               impossible
    a result of any other shape                             legacy: no evidence
    -32022, a modern version of ours in its list            corrective: ask again with that; twice is impossible
    ...only versions we speak by `initialize`               legacy: there is no other way to reach them
    ...only others                                          impossible
    ...no usable list                                       legacy
    -32020, -32021                                          impossible: somebody altered a correct request
    any other error                                         legacy
    HTTP 401, 403, 407, 408, 429, 3xx, 5xx without a message  impossible: says nothing about the era
    any other HTTP status without a message                 legacy
    silence                                                 legacy on a pipe, impossible over HTTP
    the child process exits                                 legacy: some servers leave on any early request

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from splice.errors import (
    HEADER_MISMATCH,
    MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
    RemoteProtocolError,
)
from splice.protocol.jsonrpc import ErrorObject, Failure, Response, Success
from splice.protocol.lifecycle import DiscoverResult
from splice.protocol.methods import DISCOVER
from splice.protocol.versions import HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, MODERN_VERSIONS, VERSIONS

# What became of the probe, besides an ordinary response.


class Refused(Struct, frozen=True):
    """HTTP answered with a status and no JSON-RPC message."""

    status: int
    text: str = ""


class Silent(Struct, frozen=True):
    """Nothing came in time."""

    over_http: bool = False


class Exited(Struct, frozen=True):
    """The server process ended instead of answering."""


Outcome: TypeAlias = Response | Refused | Silent | Exited

# What follows from it.


class Modern(Struct, frozen=True):
    """Every request speaks for itself, in `version`."""

    version: str
    discovery: DiscoverResult


class Corrective(Struct, frozen=True):
    """The server is modern and names a version: probe once more, with that."""

    version: str


class Legacy(Struct, frozen=True):
    """Open with `initialize`."""

    why: str


class Impossible(Struct, frozen=True):
    """There is nothing to fall back to."""

    why: str


Verdict: TypeAlias = Modern | Corrective | Legacy | Impossible


class _Supported(Struct):
    supported: list[str]


_TELLS_NOTHING = frozenset({401, 403, 407, 408, 429})


def classify(outcome: Outcome, wanted: Sequence[str] = MODERN_VERSIONS, *, corrected: bool = False) -> Verdict:
    """Judge a probe. `wanted` are the modern versions to choose from; `corrected`: this was the second one."""
    if isinstance(outcome, Success):
        return _discovered(outcome, wanted)
    if isinstance(outcome, Failure):
        return _failed(outcome.error, wanted, corrected=corrected)
    if isinstance(outcome, Refused):
        return _refused(outcome)
    if isinstance(outcome, Silent) and outcome.over_http:
        return Impossible("the server did not answer")
    return Legacy("the server left" if isinstance(outcome, Exited) else "the server was silent")


def _discovered(response: Success, wanted: Sequence[str]) -> Verdict:
    try:
        discovery = DISCOVER.result_decoder.decode(response.result)
    except (msgspec.DecodeError, RecursionError):
        return Legacy("the answer was no discovery")
    offered = discovery.supported_versions
    if not offered or discovery.result_type not in (msgspec.UNSET, "complete"):
        return Legacy("the answer was no discovery")
    version = newest_common(offered, wanted)
    return Modern(version, discovery) if version else _without_common(offered)


def _failed(error: ErrorObject, wanted: Sequence[str], *, corrected: bool) -> Verdict:
    if error.code in (HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY):
        return Impossible(f"the server refused a correct request: {error.message}")
    if error.code != UNSUPPORTED_PROTOCOL_VERSION:
        return Legacy(f"the server answered error {error.code}")
    offered = _supported(error)
    if not offered:
        return Legacy("the server named no version")
    version = newest_common(offered, wanted)
    if version is None:
        return _without_common(offered)
    if corrected:
        return Impossible(f"the server refuses {version}, a version it says it supports")
    return Corrective(version)


def _refused(refused: Refused) -> Verdict:
    status = refused.status
    said = f": {refused.text}" if refused.text else ""
    if status in _TELLS_NOTHING or status >= 500 or 300 <= status < 400:
        return Impossible(f"the server answered HTTP {status}{said}")
    return Legacy(f"the server answered HTTP {status}")


def _without_common(offered: Sequence[str]) -> Verdict:
    if any(version in HANDSHAKE_VERSIONS for version in offered):
        return Legacy("the server names only versions that are opened by a handshake")
    return Impossible(
        f"no common protocol version: the server speaks {', '.join(offered)}; we speak {', '.join(VERSIONS)}"
    )


def _supported(error: ErrorObject) -> list[str]:
    """Read the versions out of the error's data, whatever that is."""
    try:
        return msgspec.convert(error.data, _Supported).supported
    except msgspec.ValidationError:
        return []


def newest_common(offered: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Choose the newest version of ours that the server offers too. `wanted` is ordered, oldest first."""
    return next((version for version in reversed(wanted) if version in offered), None)


class Preference(Struct, frozen=True):
    """Which versions the caller would like to speak, and by what opening."""

    modern: tuple[str, ...]
    """What a probe may settle on; empty: do not probe."""

    handshake: str | None
    """What `initialize` offers; None: never send it."""

    pinned: bool = False
    """No other version will do."""


def preference(protocol: str) -> Preference:
    """Read the `protocol` option of a client: ``auto``, ``legacy``, ``modern`` or a version.

    Raises `ValueError`.
    """
    if protocol == "auto":
        return Preference(MODERN_VERSIONS, LATEST_HANDSHAKE)
    if protocol == "legacy":
        return Preference((), LATEST_HANDSHAKE)
    if protocol == "modern":
        return Preference(MODERN_VERSIONS, None)
    if protocol in HANDSHAKE_VERSIONS:
        return Preference((), protocol, pinned=True)
    if protocol in MODERN_VERSIONS:
        return Preference((protocol,), None, pinned=True)
    raise ValueError(f"protocol must be 'auto', 'legacy', 'modern' or one of {', '.join(VERSIONS)}, not {protocol!r}")


def accept_counter_offer(answered: str, wanted: Preference) -> str:
    """Check the version a server answered `initialize` with.

    Raises `RemoteProtocolError` for a version that cannot be spoken after a handshake, or one that was not pinned.
    """
    if wanted.pinned and answered != wanted.handshake:
        raise RemoteProtocolError(f"The server does not speak {wanted.handshake}; it offers {answered}")
    if answered not in HANDSHAKE_VERSIONS:
        raise RemoteProtocolError(
            f"The server answered the handshake with protocol version {answered!r}; "
            f"we speak {', '.join(HANDSHAKE_VERSIONS)} there"
        )
    return answered


class _Head(Struct, rename="camel"):
    protocol_version: str


_head_decoder = msgspec.json.Decoder(_Head)


def version_settled_by(response: Response) -> str | None:
    """Read the version out of the response to `initialize`, for transports whose rules depend on it."""
    if isinstance(response, Failure):
        return None
    try:
        version = _head_decoder.decode(response.result).protocol_version
    except (msgspec.DecodeError, RecursionError):
        return None
    return version if version in HANDSHAKE_VERSIONS else None
