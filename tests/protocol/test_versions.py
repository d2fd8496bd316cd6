"""The facts of the versions, cell by cell, and the place of a version among the others."""

import pytest
from msgspec.structs import asdict

from splice.errors import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_CLIENT_CAPABILITY,
    RESOURCE_NOT_FOUND,
    URL_ELICITATION_REQUIRED,
)
from splice.protocol.versions import (
    ASSUMED_VERSION,
    FACTS,
    LATEST_HANDSHAKE,
    LATEST_MODERN,
    MODERN_VERSIONS,
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
    VERSIONS,
    Since,
    Until,
    covers,
    position,
)
from support.tables import rows

TABLE = {
    "batches": "-x---",
    "version_header": "--xxx",
    "resumable": "-xxx-",
    "priming_event": "---x-",
    "mirrored_headers": "----x",
    "closed_stream_cancels": "----x",
    "request_meta": "----x",
    "url_elicitation": "---xx",
    "sampling_tools": "---xx",
    "rich_forms": "---xx",
    "bad_arguments_are_results": "---xx",
    "any_structured_content": "----x",
    "empty_cursor": "----x",
    "caching_hints": "----x",
    "deprecations": "----x",
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
    facts.pop("codes")
    assert facts == {name: row[position(version)] == "x" for name, row in TABLE.items()}


CODES = {
    RESOURCE_NOT_FOUND: [RESOURCE_NOT_FOUND] * 4 + [INVALID_PARAMS],
    MISSING_CLIENT_CAPABILITY: [INVALID_REQUEST] * 4 + [MISSING_CLIENT_CAPABILITY],
    URL_ELICITATION_REQUIRED: [INVALID_REQUEST] * 3 + [URL_ELICITATION_REQUIRED, INVALID_REQUEST],
}
"""Our code -> the one on the wire, oldest version first."""


@pytest.mark.parametrize("version", VERSIONS)
def test_the_code_of_an_error_depends_on_the_version(version: str) -> None:
    facts, place = FACTS[version], position(version)
    assert {code: facts.code_of(code) for code in CODES} == {code: row[place] for code, row in CODES.items()}
    for code in (INVALID_PARAMS, INVALID_REQUEST, HEADER_MISMATCH, 0, -1, 77):
        assert facts.code_of(code) == code


@pytest.mark.parametrize("version", VERSIONS)
def test_codes_that_a_version_reserves_and_does_not_define_are_internal_errors(version: str) -> None:
    """Requirement 19: none of -32020 to -32099 but those that the specification defines."""
    facts = FACTS[version]
    undefined = [code for code in range(-32099, -32022) if code not in CODES]
    assert {facts.code_of(code) for code in undefined} == (
        {INTERNAL_ERROR} if version in MODERN_VERSIONS else set(undefined)
    )
    assert facts.code_of(-32100) == -32100


@pytest.mark.requirement(208)
def test_a_request_without_a_version_is_taken_for_one_of_the_last_version_without_a_header_for_it() -> None:
    following = VERSIONS[position(ASSUMED_VERSION) + 1]
    assert (FACTS[ASSUMED_VERSION].version_header, FACTS[following].version_header) == (False, True)


@pytest.mark.parametrize("version", ["", "2024-11-06", "2031-01-01", "DRAFT", "2025-11-25 "])
def test_an_unknown_version_has_no_place(version: str) -> None:
    with pytest.raises(ValueError):
        position(version)
    with pytest.raises(ValueError):
        covers((), version)


@rows("version", VERSIONS)
@rows("since", [None, *VERSIONS])
@rows("until", [None, *VERSIONS])
def test_exists_from_the_first_to_the_last(version: str, since: str | None, until: str | None) -> None:
    span = VERSIONS[VERSIONS.index(since) if since else 0 : VERSIONS.index(until) + 1 if until else None]
    marks = (since and Since(since), until and Until(until), "no mark")
    assert covers(marks, version) is (version in span)
