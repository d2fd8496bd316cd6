"""`WWW-Authenticate`, as servers write it and as nobody should."""

import pytest

from splice.auth.login.challenges import (
    MAX_CHALLENGES,
    MAX_PARAMS,
    Challenge,
    answerable,
    challenges_of,
)
from support.tables import rows


@pytest.mark.requirement(455)
def test_what_a_server_says_with_a_401() -> None:
    [challenge] = challenges_of(
        ['Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource", scope="a b a"']
    )

    assert challenge.scheme == "bearer"
    assert challenge.resource_metadata == "https://mcp.example.com/.well-known/oauth-protected-resource"
    assert challenge.scopes == ("a", "b")
    assert challenge.error is None


@rows(
    ("value", "expected"),
    [
        ("", []),
        ("Bearer", [("bearer", {})]),
        ("BEARER Realm=x", [("bearer", {"realm": "x"})]),
        ('Bearer realm = "a, b=c"', [("bearer", {"realm": "a, b=c"})]),
        (r'Bearer realm="say \"hi\" \\ there"', [("bearer", {"realm": r'say "hi" \ there'})]),
        ('Bearer error="x" scope="y"', [("bearer", {"error": "x", "scope": "y"})]),
        ("Bearer a=1,,\t, b=2", [("bearer", {"a": "1", "b": "2"})]),
        ("Bearer a=1, A=2", [("bearer", {"a": "1"})]),
        ('Bearer a=1, DPoP algs="ES256", Basic', [("bearer", {"a": "1"}), ("dpop", {"algs": "ES256"}), ("basic", {})]),
        ("Bearer, DPoP x=y", [("bearer", {}), ("dpop", {"x": "y"})]),
        ("Negotiate abc+/==, Bearer a=1", [("negotiate", {}), ("bearer", {"a": "1"})]),
        ("Negotiate a=, Bearer b=1", [("negotiate", {}), ("bearer", {"b": "1"})]),
        ('Bearer a="', [("bearer", {})]),
        ('Bearer a=1, b="open', [("bearer", {"a": "1"})]),
        ("=", []),
        ('"Bearer"', []),
        ("\x00Bearer a=1", []),
        ("Bearer a=\u00e9", [("bearer", {})]),
    ],
)
def test_forms(value: str, expected: list[tuple[str, dict[str, str]]]) -> None:
    assert [(each.scheme, each.params) for each in challenges_of([value])] == expected


def test_a_value_that_cannot_be_read_does_not_hide_the_next_one() -> None:
    assert [each.scheme for each in challenges_of(['Basic realm="open', "Bearer a=1"])] == ["basic", "bearer"]


def test_the_first_scheme_that_we_know_is_answered() -> None:
    assert answerable(challenges_of(["Basic realm=x, DPoP algs=ES256, Bearer"])) == Challenge("dpop", {"algs": "ES256"})
    assert answerable(challenges_of(["Basic realm=x"])) is None


def test_scopes_that_are_not_scopes_are_left_out() -> None:
    assert Challenge("bearer", {"scope": 'a "b \\c d\x07 \u00e9 e'}).scopes == ("a", "e")


@pytest.mark.parametrize(
    "value",
    [
        'Bearer a="' + "\\" * 1_000_000,
        'Bearer a="' + '\\"' * 1_000_000,
        "Bearer " + "a=1," * 1_000_000,
        "Bearer " + "a" * 1_000_000,
        "B " * 1_000_000,
        "," * 1_000_000,
        "Bearer " + " " * 1_000_000,
        "Bearer a" + " " * 1_000_000 + "=",
        'Bearer a="b' * 500_000,
    ],
)
def test_a_hostile_value_costs_little(value: str) -> None:
    """Looking at each character from each other one would take longer than any test may."""
    found = challenges_of([value] * 50)

    assert len(found) <= MAX_CHALLENGES
    assert all(len(each.params) <= MAX_PARAMS for each in found)
