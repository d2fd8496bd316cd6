"""Progress and cancellation of a request that still runs."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from protocol.wire import stable
from splice.protocol.progress import CancelledParams, ProgressParams


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (CancelledParams, {"requestId": 1, "reason": "r"}),
        (CancelledParams, {"requestId": "1", "_meta": {"a": 1}}),
        (CancelledParams, {}),
        (ProgressParams, {"progressToken": 0, "progress": 1, "total": 2.5, "message": "m"}),
        (ProgressParams, {"progressToken": "t", "progress": 0.5}),
    ],
)
def test_round_trips(kind: type[Struct], value: Any) -> None:
    stable(kind, value)


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (CancelledParams, {"requestId": 1.5}, "requestId"),
        (ProgressParams, {"progressToken": 1}, "progress"),
        (ProgressParams, {"progressToken": 1.5, "progress": 1}, "progressToken"),
        (ProgressParams, {"progressToken": None, "progress": 1}, "progressToken"),
    ],
)
def test_params_that_do_not_fit_are_told(kind: type[Struct], value: Any, path: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=path):
        msgspec.json.decode(msgspec.json.encode(value), type=kind)
