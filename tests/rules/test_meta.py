"""What `_meta` says about the sender of a request that is passed on."""

import json
from typing import Any

import pytest
from msgspec import Raw

from splice.errors import InvalidParams
from splice.protocol.jsonrpc import raw
from splice.rules.meta import replace_token, restamp

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
INFO = "io.modelcontextprotocol/clientInfo"


def restamped(params: Any, **said: Any) -> Any:
    return json.loads(bytes(restamp(None if params is None else raw(params), said, 7)[0]))


@pytest.mark.parametrize(
    ("params", "more", "expected"),
    [
        (None, {}, {}),
        ({}, {}, {}),
        ({"a": {"b": None}}, {}, {"a": {"b": None}}),
        ({"_meta": {}}, {}, {}),
        ({"_meta": None}, {"x": 1}, {"_meta": {"x": 1}}),
        (None, {"x": 1}, {"_meta": {"x": 1}}),
        ({"_meta": {"x": 0, "y": 2}}, {"x": 1}, {"_meta": {"x": 1, "y": 2}}),
        ({"_meta": {VERSION: "v", CAPABILITIES: {}, INFO: {}, "progressToken": None}}, {}, {}),
        ({"_meta": {VERSION: "v", "k": [1]}, "a": 1}, {VERSION: "w"}, {"a": 1, "_meta": {"k": [1], VERSION: "w"}}),
        ({"_meta": {"progressToken": 1}}, {"x": 1}, {"_meta": {"x": 1, "progressToken": 7}}),
    ],
)
def test_keys_of_the_sender_go_and_all_others_stay(params: Any, more: Any, expected: Any) -> None:
    assert restamped(params, **more) == expected


def test_numbers_stay_as_they_were_written() -> None:
    assert bytes(restamp(Raw(b'{"n":1.50,"big":123456789012345678901234567890}'), {}, 7)[0]) == (
        b'{"n":1.50,"big":123456789012345678901234567890}'
    )


@pytest.mark.parametrize("params", [[], 5, "x", {"_meta": []}])
def test_params_that_are_no_objects(params: Any) -> None:
    with pytest.raises(InvalidParams):
        restamped(params)


@pytest.mark.parametrize(
    ("params", "token"),
    [
        (None, None),
        ({}, None),
        ({"_meta": {}}, None),
        ({"_meta": {"progressToken": 0}}, 0),
        ({"_meta": {"progressToken": "a"}}, "a"),
    ],
)
def test_the_token_of_a_request(params: Any, token: Any) -> None:
    assert restamp(None if params is None else raw(params), {}, 7)[1] == token


@pytest.mark.parametrize("params", [[], {"_meta": 5}, {"_meta": {"progressToken": 1.5}}])
def test_a_token_that_cannot_be_read(params: Any) -> None:
    with pytest.raises(InvalidParams):
        restamp(raw(params), {}, 7)


def test_a_token_is_put_back_and_the_rest_stays() -> None:
    note = raw({"progressToken": 5, "progress": 0.5, "future": None})
    replaced = replace_token(note, 5, "theirs")
    assert replaced is not None
    assert json.loads(bytes(replaced)) == {"progressToken": "theirs", "progress": 0.5, "future": None}


@pytest.mark.parametrize("params", [{"progressToken": 6}, {"progressToken": "5"}, {}, []])
def test_other_notifications_stay_as_they_are(params: Any) -> None:
    note = raw(params)
    assert replace_token(note, 5, "theirs") is note
    assert replace_token(None, 5, "theirs") is None
