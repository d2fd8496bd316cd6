"""The facts of the versions, cell by cell, and the place of a version among the others."""

import pytest
from msgspec.structs import asdict

from splice.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_CLIENT_CAPABILITY,
    RESOURCE_NOT_FOUND,
    URL_ELICITATION_REQUIRED,
)
from splice.protocol.versions import (
    FACTS,
    HANDSHAKE_VERSIONS,
    LATEST_HANDSHAKE,
    LATEST_MODERN,
    MODERN_VERSIONS,
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
    VERSIONS,
    exists,
    position,
)

TABLE = {
    "batches": "-x---",
    "session_header": "-xxx-",
    "version_header": "--xxx",
    "resumable": "-xxx-",
    "priming_event": "---x-",
    "closed_stream_cancels": "----x",
    "request_meta": "----x",
    "elicitation": "--xxx",
    "url_elicitation": "---xx",
    "sampling_tools": "---xx",
    "bad_arguments_are_results": "---xx",
    "any_structured_content": "----x",
    "empty_cursor": "----x",
}
"""One character per version, oldest first."""


def test_the_versions_in_order() -> None:
    assert VERSIONS == (V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28)
    assert list(FACTS) == list(VERSIONS)
    assert [position(version) for version in VERSIONS] == [0, 1, 2, 3, 4]
    assert (LATEST_HANDSHAKE, LATEST_MODERN) == (V2025_11_25, V2026_07_28)


@pytest.mark.parametrize("version", VERSIONS)
def test_facts(version: str) -> None:
    facts = asdict(FACTS[version])
    assert facts.pop("version") == version
    assert facts.pop("era") == ("legacy" if version in HANDSHAKE_VERSIONS else "modern")
    modern = version in MODERN_VERSIONS
    assert facts.pop("resource_not_found") == (INVALID_PARAMS if modern else RESOURCE_NOT_FOUND)
    assert facts.pop("missing_capability") == (MISSING_CLIENT_CAPABILITY if modern else INVALID_REQUEST)
    newest_session = version == V2025_11_25
    assert facts.pop("url_elicitation_required") == (URL_ELICITATION_REQUIRED if newest_session else INVALID_REQUEST)
    assert facts == {name: row[position(version)] == "x" for name, row in TABLE.items()}


@pytest.mark.parametrize("version", ["", "2024-11-06", "2031-01-01", "DRAFT", "2025-11-25 "])
def test_an_unknown_version_has_no_place(version: str) -> None:
    with pytest.raises(ValueError):
        position(version)
    with pytest.raises(ValueError):
        exists(version, None, None)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("since", [None, *VERSIONS])
@pytest.mark.parametrize("until", [None, *VERSIONS])
def test_exists_from_the_first_to_the_last(version: str, since: str | None, until: str | None) -> None:
    span = VERSIONS[VERSIONS.index(since) if since else 0 : VERSIONS.index(until) + 1 if until else None]
    assert exists(version, since, until) is (version in span)
