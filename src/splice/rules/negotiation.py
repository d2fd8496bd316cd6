"""The client's probe: which era a server speaks, told from what became of one `server/discover`.

`classify` holds the whole table; nothing else decides. A row reads: outcome of the probe -> verdict.

    a discovery that names a modern version of ours         discovered
    ...that names only versions we speak by `initialize`    handshake
    ...that names only others                               impossible
    a result of any other shape                             handshake: no evidence
    -32022, a modern version of ours in its list            again, with that version; twice is impossible
    ...only versions we speak by `initialize`               handshake: there is no other way to reach them
    ...only others                                          impossible
    ...no usable list                                       handshake
    -32020, -32021                                          impossible: somebody altered a correct request
    any other error                                         handshake
    HTTP 401, 403, 407, 408, 429, 503, 504, 3xx             impossible: says nothing about the era
    any other HTTP status without a message                 handshake: some servers fail at what they do not know
    silence                                                 handshake on a pipe, impossible over HTTP
    the child process exits                                 handshake: some servers leave on any early request

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from splice import errors
from splice.protocol import jsonrpc, lifecycle
from splice.protocol.versions import HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, MODERN_VERSIONS, VERSIONS

Outcome: TypeAlias = jsonrpc.Response | errors.TransportError | errors.RemoteProtocolError
"""What became of the probe: a response, or what was raised instead."""

# What follows from it.


class Discovered(Struct, frozen=True):
    """Every request names its version: `version`."""

    version: str
    discovery: lifecycle.DiscoverResult


class Again(Struct, frozen=True):
    """The server is modern and names a version: probe once more, with that."""

    version: str


class Handshake(Struct, frozen=True):
    """Open with `initialize`."""

    why: str


class Impossible(Struct, frozen=True):
    """There is nothing to fall back to."""

    why: str


Verdict: TypeAlias = Discovered | Again | Handshake | Impossible


class _Supported(Struct):
    supported: list[str]


_TELLS_NOTHING = frozenset({401, 403, 407, 408, 429, 503, 504})


def classify(
    outcome: Outcome, wanted: Sequence[str] = MODERN_VERSIONS, *, corrected: bool = False, over_http: bool = False
) -> Verdict:
    """Judge a probe. `wanted` are the modern versions to choose from; `corrected`: this was the second one."""
    if isinstance(outcome, jsonrpc.Success):
        return _discovered(outcome, wanted)
    if isinstance(outcome, jsonrpc.Failure):
        return _failed(outcome.error, wanted, corrected=corrected)
    if isinstance(outcome, errors.HTTPRefused):
        status = outcome.status
        tells_nothing = status in _TELLS_NOTHING or 300 <= status < 400
        return (Impossible if tells_nothing else Handshake)(f"the server answered HTTP {status}")
    if isinstance(outcome, errors.RequestTimeout):
        return Impossible("the server did not answer") if over_http else Handshake("the server was silent")
    return Handshake("the server left" if isinstance(outcome, errors.TransportError) else "the server sent no message")


def _discovered(response: jsonrpc.Success, wanted: Sequence[str]) -> Verdict:
    try:
        discovery = lifecycle.DISCOVER.read_result(response.result, lambda _: None)
    except errors.RemoteProtocolError:
        return Handshake("the answer was not a discovery")
    if discovery.result_type not in (None, "complete"):
        return Handshake("the answer was not a discovery")
    return _offered(discovery.supported_versions, wanted, lambda version: Discovered(version, discovery))


def _failed(error: jsonrpc.ErrorObject, wanted: Sequence[str], *, corrected: bool) -> Verdict:
    if error.code in (errors.HEADER_MISMATCH, errors.MISSING_CLIENT_CAPABILITY):
        return Impossible(f"the server refused a correct request: {error.message}")
    if error.code != errors.UNSUPPORTED_PROTOCOL_VERSION:
        return Handshake(f"the server answered error {error.code}")
    if corrected:
        again = "the server refuses {}, a version it says it supports"
        return _offered(offered_in(error), wanted, lambda version: Impossible(again.format(version)))
    return _offered(offered_in(error), wanted, Again)


def _offered(offered: Sequence[str], wanted: Sequence[str], verdict: Callable[[str], Verdict]) -> Verdict:
    """Judge the versions that a server names: `verdict` of the newest of ours. `wanted` is ordered, oldest first."""
    if not offered:
        return Handshake("the server named no version")
    for version in reversed(wanted):
        if version in offered:
            return verdict(version)
    if any(version in HANDSHAKE_VERSIONS for version in offered):
        return Handshake("the server names only versions that are opened by a handshake")
    ours = ", ".join(VERSIONS)
    return Impossible(f"no common protocol version: the server speaks {', '.join(offered)}; we speak {ours}")


def offered_in(error: jsonrpc.ErrorObject) -> list[str]:
    """Read the versions that an error says the server supports; none if it names none."""
    try:
        return msgspec.convert(error.data, _Supported).supported
    except msgspec.ValidationError:
        return []


class Preference(Struct, frozen=True):
    """The versions that the caller would like to speak, and by what opening."""

    probes: tuple[str, ...]
    """The versions a probe may settle on; empty: do not probe."""

    handshake: str | None
    """The version that `initialize` offers; None: never send it."""

    pinned: bool = False
    """No other version will do."""


_PREFERENCES = {
    "auto": Preference(MODERN_VERSIONS, LATEST_HANDSHAKE),
    "legacy": Preference((), LATEST_HANDSHAKE),
    "modern": Preference(MODERN_VERSIONS, None),
    **{version: Preference((), version, pinned=True) for version in HANDSHAKE_VERSIONS},
    **{version: Preference((version,), None, pinned=True) for version in MODERN_VERSIONS},
}


def preference(protocol: str) -> Preference:
    """Read the `protocol` option of a client: ``auto``, ``legacy``, ``modern`` or a version.

    Raises `ValueError`.
    """
    if protocol not in _PREFERENCES:
        known = ", ".join(VERSIONS)
        raise ValueError(f"protocol must be 'auto', 'legacy', 'modern' or one of {known}, not {protocol!r}")
    return _PREFERENCES[protocol]


def accept_counter_offer(answered: str, wanted: Preference) -> str:
    """Check the version a server answered `initialize` with.

    Raises `RemoteProtocolError` for a version that cannot be spoken after a handshake, or one that was not pinned.
    """
    allowed = (wanted.handshake,) if wanted.pinned else HANDSHAKE_VERSIONS
    if answered not in allowed:
        ours = ", ".join(map(str, allowed))
        why = f"The server answered the handshake with protocol version {answered!r}; we speak {ours} there"
        raise errors.RemoteProtocolError(why)
    return answered
