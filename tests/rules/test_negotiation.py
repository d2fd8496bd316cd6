"""The table of outcomes, row by row."""

from typing import Any

import pytest

from splice.errors import ConnectionClosed, HTTPRefused, RemoteProtocolError, RequestTimeout
from splice.protocol.jsonrpc import ErrorObject, Failure, Success, raw
from splice.protocol.versions import HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, MODERN_VERSIONS
from splice.rules.negotiation import (
    Again,
    Discovered,
    Handshake,
    Impossible,
    Outcome,
    Preference,
    accept_counter_offer,
    classify,
    preference,
)
from support.tables import rows

NEWEST = MODERN_VERSIONS[-1]
OLD = "2025-11-25"
FUTURE = "2031-01-01"


def discovery(*versions: str, **more: Any) -> Success:
    return Success("probe", raw({"supportedVersions": versions, "capabilities": {}, **more}))


def error(code: int, data: Any = None) -> Failure:
    return Failure(ErrorObject(code, "said so", data), "probe")


def unsupported(*versions: Any) -> Failure:
    return error(-32022, {"supported": versions, "requested": NEWEST})


@pytest.mark.parametrize(
    "outcome",
    [
        discovery(NEWEST),
        discovery(OLD, NEWEST, FUTURE),
        discovery(NEWEST, ttlMs=-5),
        discovery(NEWEST, resultType="complete", ttlMs=5, cacheScope="public"),
        discovery(NEWEST, ttlMs="soon", cacheScope="galactic"),
    ],
)
def test_a_discovery(outcome: Outcome) -> None:
    verdict = classify(outcome)
    assert isinstance(verdict, Discovered)
    assert verdict.version == NEWEST
    assert verdict.discovery.supported_versions


@rows(
    "outcome",
    [
        discovery(OLD),
        discovery(OLD, FUTURE),
        discovery(),
        discovery(NEWEST, resultType="input_required"),
        Success("probe", raw({})),
        Success("probe", raw([])),
        Success("probe", raw({"supportedVersions": "x", "capabilities": {}})),
        unsupported(OLD, "2025-06-18"),
        unsupported(OLD, FUTURE),
        unsupported(),
        unsupported(1, None),
        error(-32022),
        error(-32022, "text"),
        error(-32022, {"supported": NEWEST}),
        *(error(code) for code in (-32601, -32602, -32600, -32603, -32700, -32000, -32002, -1, 0, 42)),
        *(HTTPRefused("refused", status) for status in (200, 202, 400, 404, 405, 406, 415, 422, 500, 501, 502)),
        RequestTimeout("silent"),
        ConnectionClosed("left"),
        RemoteProtocolError("no message"),
    ],
)
@pytest.mark.requirement(114)
def test_a_handshake_is_next(outcome: Outcome) -> None:
    verdict = classify(outcome)
    assert isinstance(verdict, Handshake)
    assert verdict.why


@rows(
    "outcome",
    [
        discovery(FUTURE),
        unsupported(FUTURE),
        error(-32020),
        error(-32021),
        *(HTTPRefused("refused", status) for status in (301, 307, 401, 403, 407, 408, 429, 503, 504)),
    ],
)
def test_impossible(outcome: Outcome) -> None:
    verdict = classify(outcome)
    assert isinstance(verdict, Impossible)
    assert verdict.why


def test_silence_over_http_is_the_end() -> None:
    assert isinstance(classify(RequestTimeout("silent"), over_http=True), Impossible)


def test_the_reason_says_what_the_server_said() -> None:
    assert classify(HTTPRefused("refused", 503)) == Impossible("the server answered HTTP 503")
    assert "said so" in str(classify(error(-32020)))
    assert FUTURE in str(classify(unsupported(FUTURE)))


def test_a_second_probe_once_and_impossible_the_second_time() -> None:
    assert classify(unsupported(OLD, NEWEST)) == Again(NEWEST)
    assert isinstance(classify(unsupported(OLD, NEWEST), corrected=True), Impossible)
    assert isinstance(classify(unsupported(OLD), corrected=True), Handshake)


def test_only_what_is_wanted_counts() -> None:
    assert isinstance(classify(discovery(NEWEST), [FUTURE]), Impossible)
    assert classify(unsupported("a", "b"), ["a", "b", "c"]) == Again("b")


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("auto", Preference(MODERN_VERSIONS, LATEST_HANDSHAKE)),
        ("legacy", Preference((), LATEST_HANDSHAKE)),
        ("modern", Preference(MODERN_VERSIONS, None)),
        ("2025-03-26", Preference((), "2025-03-26", pinned=True)),
        (NEWEST, Preference((NEWEST,), None, pinned=True)),
    ],
)
def test_preferences(protocol: str, expected: Preference) -> None:
    assert preference(protocol) == expected


def test_an_unknown_preference_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'auto', 'legacy', 'modern' or one of 2024-11-05, .*not '1999-01-01'"):
        preference("1999-01-01")


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_any_version_of_a_handshake_is_a_fine_counter_offer(version: str) -> None:
    assert accept_counter_offer(version, preference("auto")) == version
    assert accept_counter_offer(version, preference(version)) == version


@pytest.mark.parametrize("version", [NEWEST, FUTURE, "", "1.0"])
def test_any_other_is_not(version: str) -> None:
    with pytest.raises(RemoteProtocolError, match="we speak"):
        accept_counter_offer(version, preference("legacy"))


def test_a_pinned_version_takes_no_counter_offer() -> None:
    with pytest.raises(RemoteProtocolError, match="version '2025-03-26'; we speak 2025-06-18 there"):
        accept_counter_offer("2025-03-26", preference("2025-06-18"))
