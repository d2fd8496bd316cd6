"""Notifications: progress and cancellation, log messages, and changes of what a server offers."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from protocol.wire import stable
from splice.protocol.capabilities import ServerCapabilities
from splice.protocol.notifications import (
    LISTS,
    LOGGING_LEVELS,
    AcknowledgedParams,
    CancelledParams,
    ListChangedParams,
    ListenParams,
    ListenResult,
    LogParams,
    ProgressParams,
    ResourceUpdatedParams,
    SetLevelParams,
    SubscriptionFilter,
)
from support.tables import rows

FILTER = {
    "toolsListChanged": True,
    "promptsListChanged": False,
    "resourcesListChanged": True,
    "resourceSubscriptions": ["a:"],
}
META = {"io.modelcontextprotocol/subscriptionId": 5}


@rows(
    ("kind", "value"),
    [
        (CancelledParams, {"requestId": 1, "reason": "r"}),
        (CancelledParams, {"requestId": "1", "_meta": {"a": 1}}),
        (CancelledParams, {}),
        (ProgressParams, {"progressToken": 0, "progress": 1, "total": 2.5, "message": "m"}),
        (ProgressParams, {"progressToken": "t", "progress": 0.5}),
        (LogParams, {"level": "info", "data": None}),
        (LogParams, {"level": "emergency", "data": {"a": [1]}, "logger": "l", "_meta": {"a": 1}}),
        (SetLevelParams, {"level": "debug"}),
        (ResourceUpdatedParams, {"uri": "a:", "_meta": META}),
        (ListChangedParams, {}),
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
        (CancelledParams, {"requestId": 1.5}, "requestId"),
        (ProgressParams, {"progressToken": 1}, "progress"),
        (ProgressParams, {"progressToken": 1.5, "progress": 1}, "progressToken"),
        (ProgressParams, {"progressToken": None, "progress": 1}, "progressToken"),
        (LogParams, {"level": "info"}, "data"),
        (SetLevelParams, {"level": "loud"}, "loud"),
        (ListenParams, {}, "notifications"),
    ],
)
def test_params_that_do_not_fit_are_told(kind: type[Struct], value: Any, path: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=path):
        msgspec.json.decode(msgspec.json.encode(value), type=kind)


def test_logging_levels_go_from_mild_to_severe() -> None:
    assert LOGGING_LEVELS[0] == "debug"
    assert LOGGING_LEVELS[-1] == "emergency"
    assert LOGGING_LEVELS.index("warning") < LOGGING_LEVELS.index("error") < LOGGING_LEVELS.index("alert")


def test_the_lists_that_may_change_have_a_capability_and_a_field_of_the_filter() -> None:
    for name, row in LISTS.items():
        assert row.name == f"notifications/{name}/list_changed"
        assert name in ServerCapabilities.__struct_fields__
        assert f"{name}_list_changed" in SubscriptionFilter.__struct_fields__
