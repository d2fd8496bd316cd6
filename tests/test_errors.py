"""Errors: what a peer sent becomes one of our own classes, and never a user's."""

from typing import Any

import pytest

from splice import errors
from splice.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    InvalidParams,
    MCPError,
    MethodNotFound,
    RPCError,
    URLElicitationRequired,
)
from splice.protocol.jsonrpc import BadMessage

OURS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, RPCError)]


@pytest.mark.parametrize("kind", OURS)
def test_an_error_is_received_as_the_class_that_has_its_code(kind: type[RPCError]) -> None:
    if kind is RPCError:
        return
    received = RPCError.received(kind.code, "m", {"a": 1})
    assert type(received) is kind
    assert (received.code, received.message, received.data, str(received)) == (kind.code, "m", {"a": 1}, "m")


def test_no_two_of_our_classes_have_one_code() -> None:
    codes = [kind.code for kind in OURS if kind is not RPCError]
    assert sorted(codes) == sorted(set(codes))


@pytest.mark.parametrize("code", [0, -1, 42, -32000, -32099])
@pytest.mark.requirement(18)
def test_any_other_code_is_received_as_a_plain_error(code: int) -> None:
    received = RPCError.received(code, "m")
    assert type(received) is RPCError
    assert (received.code, received.data) == (code, None)


def test_a_class_of_a_users_own_is_never_made_of_what_a_peer_sent() -> None:
    class RateLimited(RPCError, code=-31999):
        def __init__(self, seconds: int) -> None:
            super().__init__(f"wait {seconds} s", {"seconds": seconds})

    class Picky(InvalidParams):
        def __init__(self) -> None:
            super().__init__("no")

    class Claims(RPCError, code=INVALID_PARAMS):
        pass

    assert (RateLimited(3).code, Picky().code, Claims("x").code) == (-31999, INVALID_PARAMS, INVALID_PARAMS)
    assert type(RPCError.received(-31999, "m", {"seconds": 5})) is RPCError
    assert type(RateLimited.received(-31999, "m")) is RPCError
    assert type(RPCError.received(INVALID_PARAMS, "m")) is InvalidParams
    assert type(RPCError.received(BadMessage.code, "m")) is errors.InvalidRequest


@pytest.mark.parametrize("data", [None, {}, {"elicitations": []}, ["x"]], ids=str)
@pytest.mark.requirement(388)
def test_an_error_that_sends_the_user_to_urls_names_them(data: Any) -> None:
    """Requirement 388. What a peer sent is taken as it is."""
    with pytest.raises(TypeError, match="elicitations"):
        URLElicitationRequired("visit", data)
    assert RPCError.received(URLElicitationRequired.code, "visit", data).data == data
    visits = {"elicitations": [{"mode": "url", "message": "m", "url": "https://a.example", "elicitationId": "1"}]}
    assert URLElicitationRequired("visit", visits).data == visits


def test_an_error_that_a_peer_sent_is_foreign() -> None:
    assert RPCError.received(INVALID_PARAMS, "m").is_foreign
    assert not InvalidParams("m").is_foreign


@pytest.mark.parametrize(("given", "code"), [({}, INTERNAL_ERROR), ({"code": 7}, 7)])
def test_an_error_has_the_code_it_is_given_or_that_of_its_class(given: dict[str, Any], code: int) -> None:
    assert RPCError("m", **given).code == code
    assert MethodNotFound("m").code == errors.METHOD_NOT_FOUND
    assert issubclass(RPCError, MCPError)


def test_what_was_never_reached_and_what_was_forgotten_are_closed_connections_with_a_status() -> None:
    assert issubclass(errors.ConnectFailed, errors.ConnectionClosed)
    assert issubclass(errors.SessionLost, errors.ConnectionClosed)
    assert (errors.SessionLost("forgotten").status, errors.HTTPRefused("no", 401).status) == (404, 401)
