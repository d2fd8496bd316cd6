"""Tasks: requests that outlive their response. Experimental, and only in 2025-11-25.

https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
"""

from typing import Any, ClassVar, Literal

from msgspec import UNSET, Struct, UnsetType, field

from splice.protocol.lifecycle import NoteParams, PageResult, Params, Result, Span
from splice.protocol.versions import V2025_11_25, Since, Until

META_RELATED_TASK = "io.modelcontextprotocol/related-task"
META_IMMEDIATE_RESPONSE = "io.modelcontextprotocol/model-immediate-response"

TaskStatus = Literal["working", "input_required", "completed", "failed", "cancelled"]

_SPAN: Span = (Since(V2025_11_25), Until(V2025_11_25))


class TaskMetadata(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """In the params of a request: run it as a task."""

    span: ClassVar[Span] = _SPAN

    ttl: int | UnsetType = UNSET
    """For how many milliseconds the result should be kept."""


class RelatedTask(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """In the `_meta` of a message: the task it belongs to."""

    span: ClassVar[Span] = _SPAN

    task_id: str
    """Which task."""


class Task(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The state of a task."""

    span: ClassVar[Span] = _SPAN

    task_id: str
    """Made by the receiver of the request."""

    status: TaskStatus
    """How far it is. The last three are final."""

    created_at: str
    """When it began, in ISO 8601."""

    last_updated_at: str
    """When its state changed last, in ISO 8601."""

    ttl: int | None
    """For how many milliseconds after `created_at` it is kept; without end when null."""

    status_message: str | UnsetType = UNSET
    """The status in words."""

    poll_interval: int | UnsetType = UNSET
    """How many milliseconds to wait before asking again."""


class CreateTaskResult(Result, rename="camel", omit_defaults=True, kw_only=True):
    """Instead of the result: the task that will have it."""

    span: ClassVar[Span] = _SPAN

    task: Task
    """The task as it begins."""


class TaskParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `tasks/get`, `tasks/result` and `tasks/cancel`."""

    span: ClassVar[Span] = _SPAN

    task_id: str
    """Which task."""


class TaskResult(Task, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `tasks/get` and `tasks/cancel`."""

    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")
    """What is said about the result rather than in it."""


class TaskPayloadResult(Result, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `tasks/result`: whatever the request itself would have returned."""

    span: ClassVar[Span] = _SPAN


class ListTasksResult(PageResult, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `tasks/list`."""

    span: ClassVar[Span] = _SPAN

    tasks: list[Task]
    """This page of them."""


class TaskStatusParams(NoteParams, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `notifications/tasks/status`: the new state of a task."""

    span: ClassVar[Span] = _SPAN

    task_id: str
    """Which task."""

    status: TaskStatus
    """How far it is. The last three are final."""

    created_at: str
    """When it began, in ISO 8601."""

    last_updated_at: str
    """When its state changed last, in ISO 8601."""

    ttl: int | None
    """For how many milliseconds after `created_at` it is kept; without end when null."""

    status_message: str | UnsetType = UNSET
    """The status in words."""

    poll_interval: int | UnsetType = UNSET
    """How many milliseconds to wait before asking again."""
