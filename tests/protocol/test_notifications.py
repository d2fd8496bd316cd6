"""Notifications, and the requests that say which of them are wanted."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from protocol.wire import stable
from splice.protocol.notifications import (
    AcknowledgedParams,
    CancelledParams,
    ElicitationCompleteParams,
    InitializedParams,
    ListChangedParams,
    ListenParams,
    ListenResult,
    LogParams,
    ProgressParams,
    ResourceUpdatedParams,
    RootsListChangedParams,
    SetLevelParams,
)

FILTER = {
    "toolsListChanged": True,
    "promptsListChanged": False,
    "resourcesListChanged": True,
    "resourceSubscriptions": ["a:"],
}
META = {"io.modelcontextprotocol/subscriptionId": 5}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (CancelledParams, {"requestId": 1, "reason": "r"}),
        (CancelledParams, {"requestId": "1", "_meta": META}),
        (CancelledParams, {}),
        (ProgressParams, {"progressToken": 0, "progress": 1, "total": 2.5, "message": "m"}),
        (ProgressParams, {"progressToken": "t", "progress": 0.5}),
        (LogParams, {"level": "info", "data": None}),
        (LogParams, {"level": "emergency", "data": {"a": [1]}, "logger": "l", "_meta": META}),
        (ResourceUpdatedParams, {"uri": "a:", "_meta": META}),
        (ListChangedParams, {}),
        (InitializedParams, {}),
        (RootsListChangedParams, {"_meta": {}}),
        (ElicitationCompleteParams, {"elicitationId": "e"}),
        (SetLevelParams, {"level": "debug"}),
        (ListenParams, {"notifications": FILTER}),
        (ListenParams, {"notifications": {}}),
        (ListenResult, {"resultType": "complete", "_meta": META}),
        (AcknowledgedParams, {"notifications": FILTER, "_meta": META}),
    ],
)
def test_round_trips(kind: type[Struct], value: Any) -> None:
    stable(kind, value)


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (CancelledParams, {"requestId": None}, "requestId"),
        (ProgressParams, {"progressToken": 1}, "progress"),
        (ProgressParams, {"progressToken": 1.5, "progress": 1}, "progressToken"),
        (LogParams, {"level": "info"}, "data"),
        (SetLevelParams, {"level": "loud"}, "loud"),
        (ListenParams, {}, "notifications"),
    ],
)
def test_what_does_not_fit_is_told(kind: type[Struct], value: Any, path: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=path):
        msgspec.json.decode(msgspec.json.encode(value), type=kind)
