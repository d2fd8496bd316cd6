"""The experimental tasks of 2025-11-25."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from protocol.wire import stable
from splice.protocol.tasks import (
    CreateTaskResult,
    ListTasksResult,
    RelatedTask,
    TaskMetadata,
    TaskParams,
    TaskResult,
    TaskStatusParams,
)

TASK = {
    "taskId": "t",
    "status": "working",
    "createdAt": "2025-11-25T10:30:00Z",
    "lastUpdatedAt": "2025-11-25T10:30:00Z",
    "ttl": None,
}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (TaskMetadata, {}),
        (RelatedTask, {"taskId": "t"}),
        (CreateTaskResult, {"task": TASK | {"statusMessage": "m", "pollInterval": 5, "ttl": 60000}}),
        (TaskParams, {"taskId": "t", "_meta": {"progressToken": 1}}),
        (TaskResult, TASK | {"_meta": {"a": 1}}),
        (ListTasksResult, {"tasks": [TASK], "nextCursor": "c"}),
        (TaskStatusParams, TASK | {"status": "cancelled", "_meta": {}}),
    ],
)
def test_round_trips(kind: type[Struct], value: Any) -> None:
    stable(kind, value)


def test_how_long_a_task_is_kept_must_be_said() -> None:
    with pytest.raises(msgspec.ValidationError, match="ttl"):
        msgspec.json.decode(
            b'{"taskId": "t", "status": "failed", "createdAt": "", "lastUpdatedAt": ""}', type=TaskResult
        )
