"""Changes of what a server offers, and which of them a client wants to hear of."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from protocol.wire import stable
from splice.protocol.capabilities import ServerCapabilities
from splice.protocol.subscriptions import (
    LISTS,
    AcknowledgedParams,
    ListChangedParams,
    ListenParams,
    ListenResult,
    ResourceUpdatedParams,
    SubscriptionFilter,
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


def test_a_subscription_says_what_it_is_about() -> None:
    with pytest.raises(msgspec.ValidationError, match="notifications"):
        msgspec.json.decode(b"{}", type=ListenParams)


def test_the_lists_that_may_change_have_a_capability_and_a_field_of_the_filter() -> None:
    for name, row in LISTS.items():
        assert row.name == f"notifications/{name}/list_changed"
        assert name in ServerCapabilities.__struct_fields__
        assert f"{name}_list_changed" in SubscriptionFilter.__struct_fields__
