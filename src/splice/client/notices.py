"""Notifications on their way to the user: log messages, changes, progress, and those of extensions.

A callback that fails is logged and harms nothing else.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar, cast

from msgspec import Struct

from splice.errors import InvalidParams
from splice.protocol import jsonrpc, methods, notifications
from splice.rules.extensions import Extension, Heard, heard
from splice.rules.options import Option
from splice.transports.base import Hear

P = TypeVar("P", bound=Struct)
T = TypeVar("T")
Kind: TypeAlias = Literal["tools", "prompts", "resources", "resource"]

log = logging.getLogger("splice.client")
"""Of the whole package."""


class Change(Struct, frozen=True):
    """Something about the server has changed."""

    kind: Kind
    """A list, or the content of one resource."""

    uri: str | None = None
    """Which resource."""


_CHANGES: dict[str, methods.Note[Any]] = {**notifications.LISTS, "resource": notifications.RESOURCE_UPDATED}

CHANGES = {row.name: kind for kind, row in _CHANGES.items()}
"""The notifications that a client hears because it asked for them, and what has changed."""

OnLog: TypeAlias = Callable[[notifications.LogParams], Awaitable[None] | None]
OnChange: TypeAlias = Callable[[Change], Awaitable[None] | None]
OnProgress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None] | None]


FUNCTION = Option(Callable, "a function, `def` or `async def`")
"""What all of these may be."""


async def call(function: Callable[..., Awaitable[T] | T], *arguments: Any) -> T:
    """Call a function of the user's, `def` or `async def`."""
    result = function(*arguments)
    if inspect.isawaitable(result):
        return await result
    return result


async def tell(what: str, function: Callable[..., Awaitable[None] | None], *arguments: Any) -> None:
    """Call a callback of the user's. One that fails is logged."""
    try:
        await call(function, *arguments)
    except Exception:
        log.exception("a callback failed that was told of %s", what)


class Notices:
    """Everything the client is told of, put together from log messages, changes and the notes of extensions."""

    def __init__(self, on_log: OnLog | None, on_change: OnChange | None, extensions: Iterable[Extension[Any]]) -> None:
        notes = [Heard(notifications.LOG_MESSAGE, on_log)] if on_log else []
        if on_change:
            notes += [Heard(row, partial(_change, on_change, kind)) for kind, row in _CHANGES.items()]
        self._heard = heard((Extension[Any]("", notes=notes), *extensions))

    async def hear(self, note: jsonrpc.Notification, version: str | None = None) -> None:
        """Take one notification. Never raises.

        What does not exist in `version`, the one spoken, is not heard. None: it is being agreed on.
        """
        entry = self._heard.get(note.method)
        if entry is None or (version is not None and not entry.row.exists(version)):
            return
        params = read(entry.row, note)
        if params is not None:
            await tell(note.method, entry.hear, params)


def _change(on_change: OnChange, kind: str, params: Any) -> Awaitable[None] | None:
    return on_change(Change(cast("Kind", kind), getattr(params, "uri", None)))


class Reports(Struct):
    """Takes the notifications of one request whose caller wants to hear of progress, which only ever grows."""

    token: jsonrpc.RequestId
    callback: OnProgress
    otherwise: Hear
    last: float = float("-inf")

    async def __call__(self, note: jsonrpc.Notification) -> None:
        """Take one notification. Never raises."""
        if note.method != notifications.PROGRESS.name:
            await self.otherwise(note)
            return
        params = read(notifications.PROGRESS, note)
        if params is None or params.progress_token != self.token or params.progress <= self.last:
            return
        self.last = params.progress
        await tell(note.method, self.callback, params.progress, params.total, params.message)


def read(row: methods.Note[P], note: jsonrpc.Notification) -> P | None:
    """Read the params of a notification; None when they do not fit, which is logged."""
    try:
        return row.read_params(note.params)
    except InvalidParams as error:
        log.warning("skipped a %s that is malformed: %s", note.method, error)
        return None
