"""The redirect that ends a login: which ones bring a code, and what is shown of the others."""

import pytest

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.discovery import Found, ServerMetadata
from splice.auth.login.redirects import code_of
from splice.auth.login.steps import Redirect
from support.tables import rows

ISSUER = "https://auth.example.com"
STATE = "the-state"
CODE, OURS, ISS = ("code", "the-code"), ("state", STATE), ("iss", ISSUER)


def found(*, announces: bool) -> Found:
    metadata = ServerMetadata(
        issuer=ISSUER, token_endpoint=f"{ISSUER}/token", authorization_response_iss_parameter_supported=announces
    )
    return Found(url="https://h/mcp", resource="https://h/mcp", issuer=ISSUER, metadata=metadata)


def refuse(redirect: Redirect, *, announces: bool = False) -> AuthorizationFailed:
    with pytest.raises(AuthorizationFailed) as caught:
        code_of(redirect, STATE, found(announces=announces))
    assert STATE not in str(caught.value)
    assert "the-code" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("announces", "redirect"),
    [(True, [CODE, OURS, ISS]), (False, [ISS, OURS, CODE]), (False, [CODE, OURS]), (False, [CODE, OURS, ("x", "y")])],
)
def test_a_code_is_taken(announces: bool, redirect: Redirect) -> None:
    assert code_of(redirect, STATE, found(announces=announces)) == "the-code"


@pytest.mark.requirement(472, 474)
@rows(
    "iss",
    [
        "https://evil.example.com",
        f"{ISSUER}/",
        f"{ISSUER}:443",
        "HTTPS://auth.example.com",
        "https://AUTH.example.com",
        "https://auth.example%2Ecom",
        "",
    ],
)
@rows("announces", [True, False])
@rows("answer", [[CODE], [("error", "access_denied"), ("error_description", "call 555-1234")]])
def test_the_answer_of_another_server_is_not_used_or_shown(iss: str, announces: bool, answer: Redirect) -> None:
    error = refuse([*answer, OURS, ("iss", iss)], announces=announces)

    assert error.code is None
    assert "iss" in str(error)
    assert "555" not in str(error)
    assert "access_denied" not in str(error)


@pytest.mark.requirement(474)
def test_a_server_that_announces_to_name_itself_has_to() -> None:
    error = refuse([("error", "server_error"), OURS], announces=True)

    assert error.code is None
    assert "server_error" not in str(error)
    refuse([CODE, OURS], announces=True)


@pytest.mark.requirement(474)
def test_two_names_are_no_name() -> None:
    refuse([CODE, OURS, ISS, ISS])


@pytest.mark.requirement(493)
@pytest.mark.parametrize("states", [[], ["another"], [""], [STATE, STATE], [STATE, "another"], ["\u00e9\ud800"]])
def test_a_redirect_of_another_login_is_not_used_or_shown(states: list[str]) -> None:
    error = refuse([("error", "boom"), ISS, *(("state", each) for each in states)])

    assert "state" in str(error)
    assert "boom" not in str(error)


@pytest.mark.parametrize("codes", [[], [""], ["a", "b"], ["the-code", "the-code"], ["x" * 10_000]])
def test_there_is_exactly_one_code(codes: list[str]) -> None:
    refuse([OURS, ISS, *(("code", each) for each in codes)])


def test_an_error_is_told_with_what_the_server_says_escaped() -> None:
    error = refuse([("error", "access_denied"), ("error_description", "no\x1b[31m" + "y" * 9000), OURS, ISS, CODE])

    assert error.code == "access_denied"
    assert "declined" in str(error)
    assert "\\x1b" in str(error)
    assert "\x1b" not in str(error)
    assert len(str(error)) < 600


def test_an_error_that_is_not_one_is_no_code() -> None:
    assert refuse([("error", "no\nsuch"), OURS, ISS]).code is None
