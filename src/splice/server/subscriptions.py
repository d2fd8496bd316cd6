"""Who wants to hear of changes, in both eras: one hub per server.

A modern client opens a `subscriptions/listen` stream with a filter. A legacy client hears of every list that
changed, and of the resources it subscribed to. Changes are levels, not events: what a slow listener has not been
told yet is kept once, however often it changes, so a listener can never fall behind by more than its own filter.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

import asyncio
import contextlib
from typing import Any, TypeAlias

from msgspec import UNSET, UnsetType

from splice.protocol.jsonrpc import Notification, RequestId
from splice.protocol.lifecycle import META_SUBSCRIPTION_ID
from splice.protocol.methods import (
    ACKNOWLEDGED,
    PROMPTS_CHANGED,
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    TOOLS_CHANGED,
)
from splice.protocol.notifications import (
    AcknowledgedParams,
    ListChangedParams,
    ListenResult,
    ResourceUpdatedParams,
    SubscriptionFilter,
)
from splice.rules.eras import Session
from splice.transports.base import Exchange

Change: TypeAlias = tuple[str, str | None]
"""A notification's method, and the URI for a resource."""


def change_note(change: Change, meta: dict[str, Any] | UnsetType = UNSET) -> Notification:
    """Build the notification that tells of a change."""
    method, uri = change
    if uri is None:
        params: Any = UNSET if isinstance(meta, UnsetType) else ListChangedParams(meta=meta)
    else:
        params = ResourceUpdatedParams(uri=uri, meta=meta)
    return Notification(method, params)


class Listener:
    """One open `subscriptions/listen` stream."""

    def __init__(self, wanted: SubscriptionFilter, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.changes: dict[Change, None] = {}
        self.closed = False
        self._waiting: asyncio.Future[None] | None = None  # an Event would cost each open stream 700 bytes more
        uris = wanted.resource_subscriptions
        lists = (
            (TOOLS_CHANGED, wanted.tools_list_changed),
            (PROMPTS_CHANGED, wanted.prompts_list_changed),
            (RESOURCES_CHANGED, wanted.resources_list_changed),
        )
        self._wanted: set[Change] = {(row.name, None) for row, asked in lists if asked is True}
        self._wanted.update((RESOURCE_UPDATED.name, uri) for uri in (() if isinstance(uris, UnsetType) else uris))

    def tell(self, change: Change) -> None:
        """Remember a change, if it was asked for, until the stream takes it."""
        if change in self._wanted:
            self.changes[change] = None
            self._wake()

    def close(self) -> None:
        """Let the stream end with its result."""
        self.closed = True
        self._wake()

    async def run(self, exchange: Exchange, meta: dict[str, Any]) -> None:
        """Pass changes on until the stream is closed."""
        while self.changes or not self.closed:
            if not self.changes:
                self._waiting = self.loop.create_future()
                await self._waiting
                continue
            change = next(iter(self.changes))
            del self.changes[change]
            await exchange.notify(change_note(change, meta))

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class Subscriptions:
    """Every listener of one server, whatever its era, each on the event loop that serves it."""

    def __init__(self) -> None:
        self.sessions: dict[Session, asyncio.AbstractEventLoop] = {}
        self.listeners: set[Listener] = set()
        self._loops: set[asyncio.AbstractEventLoop] = set()

    def join(self, session: Session) -> None:
        """Tell a legacy session of changes from now on."""
        self.sessions[session] = self._here()

    def leave(self, session: Session) -> None:
        """Tell it no more."""
        self.sessions.pop(session, None)

    def publish(self, change: Change) -> None:
        """Tell everybody who wants to know. May be called on any thread."""
        for loop in tuple(self._loops):
            if loop.is_closed():
                self._loops.discard(loop)
            elif loop is _running_loop():
                self._tell(change, loop)
            else:
                with contextlib.suppress(RuntimeError):  # it was closed this very moment
                    loop.call_soon_threadsafe(self._tell, change, loop)

    def _tell(self, change: Change, loop: asyncio.AbstractEventLoop) -> None:
        for listener in self.listeners:
            if listener.loop is loop:
                listener.tell(change)
        uri = change[1]
        note = change_note(change)
        for session, home in self.sessions.items():
            if home is loop and session.ready and (uri is None or uri in session.subscriptions):
                session.push(note)

    def _here(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        self._loops.add(loop)
        return loop

    async def listen(self, exchange: Exchange, wanted: SubscriptionFilter) -> ListenResult:
        """Serve one `subscriptions/listen` request until the client cancels it or the server stops."""
        id: RequestId = exchange.request.id
        meta: dict[str, Any] = {META_SUBSCRIPTION_ID: id}
        listener = Listener(wanted, self._here())
        self.listeners.add(listener)
        try:
            await exchange.notify(Notification(ACKNOWLEDGED.name, AcknowledgedParams(notifications=wanted, meta=meta)))
            await listener.run(exchange, meta)
        finally:
            self.listeners.discard(listener)
        return ListenResult(meta=dict(meta))

    def close(self) -> None:
        """End every stream with its result."""
        for listener in list(self.listeners):
            listener.close()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """Tell which loop runs on this thread; None on one of the threads of `def` handlers."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
