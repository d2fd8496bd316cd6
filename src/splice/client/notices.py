"""Notifications on their way to the user: log messages, changes, progress.

A callback that fails is logged and harms nothing else.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct, UnsetType

from splice.client.callbacks import call
from splice.protocol.jsonrpc import Notification, RequestId
from splice.protocol.methods import (
    LOG_MESSAGE,
    PROGRESS,
    PROMPTS_CHANGED,
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    TOOLS_CHANGED,
    Note,
)
from splice.protocol.notifications import LogParams
from splice.transports.base import Heard

P = TypeVar("P", bound=Struct)
log = logging.getLogger("splice.client")


class Change(Struct, frozen=True):
    """Something about the server has changed."""

    kind: Literal["tools", "prompts", "resources", "resource"]
    """A list, or the content of one resource."""

    uri: str | None = None
    """Which resource."""


OnLog: TypeAlias = Callable[[LogParams], Awaitable[None] | None]
OnChange: TypeAlias = Callable[[Change], Awaitable[None] | None]
OnProgress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None] | None]

_CHANGES: dict[str, Change] = {
    TOOLS_CHANGED.name: Change("tools"),
    PROMPTS_CHANGED.name: Change("prompts"),
    RESOURCES_CHANGED.name: Change("resources"),
}


class Notices:
    """Tells the user what concerns no request of theirs. `on_any_change` is for the client itself, and goes first."""

    def __init__(
        self, on_log: OnLog | None, on_change: OnChange | None, on_any_change: Callable[[Change], None]
    ) -> None:
        self._on_log = on_log
        self._on_change = on_change
        self._on_any_change = on_any_change

    async def hear(self, note: Notification) -> None:
        """Take one notification. Never raises."""
        try:
            await self._hear(note)
        except Exception:
            log.exception("a callback failed that was told of %s", note.method)

    async def _hear(self, note: Notification) -> None:
        if note.method == LOG_MESSAGE.name:
            params = read(LOG_MESSAGE, note)
            if params is not None and self._on_log is not None:
                await call(self._on_log, params)
            return
        change = _change(note)
        if change is not None:
            self._on_any_change(change)
            if self._on_change is not None:
                await call(self._on_change, change)


def _change(note: Notification) -> Change | None:
    if note.method != RESOURCE_UPDATED.name:
        return _CHANGES.get(note.method)
    params = read(RESOURCE_UPDATED, note)
    return None if params is None else Change("resource", params.uri)


class Reports:
    """Takes the notifications of one request whose caller wants to hear of progress, which only ever grows."""

    __slots__ = ("_callback", "_last", "_otherwise", "_token")

    def __init__(self, token: RequestId, callback: OnProgress, otherwise: Heard) -> None:
        self._token = token
        self._callback = callback
        self._otherwise = otherwise
        self._last = float("-inf")

    async def __call__(self, note: Notification) -> None:
        """Take one notification. Never raises."""
        if note.method != PROGRESS.name:
            await self._otherwise(note)
            return
        params = read(PROGRESS, note)
        if params is None or params.progress_token != self._token or params.progress <= self._last:
            return
        self._last = params.progress
        total = None if isinstance(params.total, UnsetType) else params.total
        message = None if isinstance(params.message, UnsetType) else params.message
        try:
            await call(self._callback, params.progress, total, message)
        except Exception:
            log.exception("a progress callback failed")


def read(row: Note[P], note: Notification) -> P | None:
    """Read the params of a notification; None when they do not fit, which is logged."""
    try:
        return row.params_decoder.decode(note.params)
    except (msgspec.DecodeError, TypeError, RecursionError) as error:
        log.warning("skipped a %s that is malformed: %s", note.method, error)
        return None
