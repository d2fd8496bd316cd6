"""Resources, resource templates, and what reading one takes and gives."""

from typing import Any

import pytest
from msgspec import Struct

from protocol.wire import stable
from splice.protocol.resources import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceParams,
    ReadResourceResult,
    SubscribeParams,
    UnsubscribeParams,
)

SHARED = {
    "name": "r",
    "title": "R",
    "description": "d",
    "mimeType": "text/plain",
    "annotations": {"priority": 1},
    "icons": [{"src": "data:,"}],
    "_meta": {"a": 1},
}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (ListResourcesResult, {"resources": [{"uri": "a:", "size": 5, **SHARED}, {"uri": "b:", "name": ""}]}),
        (ListResourceTemplatesResult, {"resourceTemplates": [{"uriTemplate": "a:{b}", **SHARED}], "nextCursor": "c"}),
        (ReadResourceParams, {"uri": "a:", "inputResponses": {"k": {"roots": []}}, "requestState": ""}),
        (
            ReadResourceResult,
            {
                "contents": [{"uri": "a:", "text": "x"}, {"uri": "a:b", "blob": "AA==", "mimeType": "x/y"}],
                "ttlMs": 0,
                "cacheScope": "private",
                "resultType": "complete",
            },
        ),
        (ReadResourceResult, {"contents": []}),
        (SubscribeParams, {"uri": "a:", "_meta": {"progressToken": 1}}),
        (UnsubscribeParams, {"uri": "a:"}),
    ],
)
def test_round_trips(kind: type[Struct], value: Any) -> None:
    stable(kind, value)
