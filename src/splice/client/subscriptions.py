"""Hearing of changes, in either era.

A legacy server is told once per resource, and list changes come by themselves. A modern one has to be listened to:
one `subscriptions/listen` request is open at a time, with a filter for all that is wanted. When the filter changes, a
second one is opened before the first is left, so nothing falls in between; a change may be heard twice.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

import asyncio
import logging

from msgspec import UNSET, UnsetType

from splice.client.calls import Calls
from splice.client.listening import Listening
from splice.errors import LocalProtocolError, MCPError
from splice.protocol.jsonrpc import Notification
from splice.protocol.lifecycle import PromptsCapability, ResourcesCapability, ToolsCapability
from splice.protocol.methods import (
    ACKNOWLEDGED,
    RESOURCES_SUBSCRIBE,
    RESOURCES_UNSUBSCRIBE,
    SUBSCRIPTIONS_LISTEN,
)
from splice.protocol.notifications import SubscriptionFilter
from splice.protocol.resources import SubscribeParams, UnsubscribeParams
from splice.transports.background import Background
from splice.transports.base import Heard

log = logging.getLogger("splice.client")


class Subscriptions:
    """What the client wants to hear of. `lists`: also that lists have changed."""

    def __init__(self, calls: Calls, hear: Heard, *, lists: bool, reconnects: bool) -> None:
        self._calls = calls
        self._hear = hear
        self._lists = lists
        self._reconnects = reconnects
        self._uris: dict[str, None] = {}
        self._lock = asyncio.Lock()
        self._current: Listening | None = None
        self._open: set[Listening] = set()
        self._background = Background()

    async def add(self, uri: str) -> None:
        """Hear of changes of one resource from now on.

        Raises `LocalProtocolError` if the server does not tell, and all that a request raises.
        """
        resources = self._calls.terms.capabilities.resources
        if isinstance(resources, UnsetType) or resources.subscribe is not True:
            raise LocalProtocolError(f"{self._calls.terms.server.name} does not tell when resources change")
        if RESOURCES_SUBSCRIBE.exists(self._calls.terms.facts.version):
            await self._calls.complete(RESOURCES_SUBSCRIBE, SubscribeParams(uri=uri))
            self._uris[uri] = None
        elif uri not in self._uris:
            await self._add_to_filter(uri)

    async def _add_to_filter(self, uri: str) -> None:
        self._uris[uri] = None
        try:
            honoured = await self._listen_anew()
        except BaseException:
            self._uris.pop(uri, None)
            raise
        if honoured is not None and uri not in (honoured.resource_subscriptions or ()):
            del self._uris[uri]
            raise LocalProtocolError(f"{self._calls.terms.server.name} does not tell when {uri} changes")

    async def remove(self, uri: str) -> None:
        """Hear no more of a resource. Raises what a request raises."""
        if RESOURCES_UNSUBSCRIBE.exists(self._calls.terms.facts.version):
            await self._calls.complete(RESOURCES_UNSUBSCRIBE, UnsubscribeParams(uri=uri))
            self._uris.pop(uri, None)
        elif uri in self._uris:
            del self._uris[uri]
            await self._listen_anew()

    async def open(self) -> None:
        """Begin to hear of list changes, as far as that needs to be asked for. Trouble is logged."""
        if SUBSCRIPTIONS_LISTEN.exists(self._calls.terms.facts.version) and self._filter() is not None:
            try:
                await self._listen_anew()
            except MCPError as error:
                log.warning("cannot hear of changes: %s", error)

    async def renew(self) -> None:
        """Subscribe again, in a new legacy session."""
        for uri in tuple(self._uris):
            await self._calls.complete(RESOURCES_SUBSCRIBE, SubscribeParams(uri=uri))

    async def close(self) -> None:
        """Listen no more."""
        for listening in tuple(self._open):
            await self._leave(listening)
        await self._background.close()

    async def hear(self, note: Notification) -> None:
        """Take a notification that concerns no request; an acknowledgment stays here."""
        if note.method == ACKNOWLEDGED.name:
            for listening in self._open:
                listening.acknowledge(note)
        else:
            await self._hear(note)

    async def _hear_apart(self, note: Notification) -> None:
        """Take a notification of a stream, which must not end with what the user does about it."""
        if note.method == ACKNOWLEDGED.name:
            await self.hear(note)
        else:
            self._background.start(self._hear(note))

    def _filter(self) -> SubscriptionFilter | None:
        """Write down what is wanted, of what the server has; None when that is nothing."""
        has = self._calls.terms.capabilities
        wanted = SubscriptionFilter(resource_subscriptions=list(self._uris) or UNSET)
        if self._lists:
            wanted.tools_list_changed = _tells(has.tools)
            wanted.prompts_list_changed = _tells(has.prompts)
            wanted.resources_list_changed = _tells(has.resources)
        return None if wanted == SubscriptionFilter() else wanted

    async def _listen_anew(self) -> SubscriptionFilter | None:
        """Open a stream for what is wanted now, then leave the old one. Returns what the server honours, if it says.

        Raises `RPCError` when the server refuses, and `ConnectionClosed`.
        """
        async with self._lock:
            wanted, old = self._filter(), self._current
            new, honoured = None, None
            if wanted is not None:
                new = Listening(self._calls, wanted, self._hear_apart, reconnects=self._reconnects)
                self._open.add(new)
                try:
                    honoured = await new.begun()
                except BaseException:
                    await self._leave(new)
                    raise
            self._current = new
            if old is not None:
                await self._leave(old)
            return honoured

    async def _leave(self, listening: Listening) -> None:
        self._open.discard(listening)
        await listening.stop()


def _tells(has: ToolsCapability | PromptsCapability | ResourcesCapability | UnsetType) -> bool | UnsetType:
    """Say that list changes are wanted, where the server can tell of them."""
    return UNSET if isinstance(has, UnsetType) or has.list_changed is not True else True
