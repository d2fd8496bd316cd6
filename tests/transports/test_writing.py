"""Responses as bytes."""

import json
from typing import Any

import pytest

from splice.protocol.jsonrpc import Success
from splice.transports.writing import unwritable, written


class Hostile:
    """Raises what nobody expects while it is being written."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_a_response_is_written() -> None:
    assert json.loads(written(Success(1, {"a": "é"}))) == {"jsonrpc": "2.0", "id": 1, "result": {"a": "é"}}


@pytest.mark.parametrize("result", [object(), "\ud800", {(1, 2): 3}, Hostile()], ids=type)
def test_one_that_is_no_json_is_answered_all_the_same_and_logged(result: Any, caplog: pytest.LogCaptureFixture) -> None:
    message = json.loads(written(Success("x", result)))
    assert (message["id"], message["error"]["code"]) == ("x", -32603)
    assert "'x' is no JSON" in caplog.text


def test_the_reason_is_told() -> None:
    assert (
        unwritable(Success(1, None), ValueError("why")).error.message == "Internal error: the result is no JSON (why)"
    )
