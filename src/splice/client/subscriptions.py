"""Hearing of changes, in either era.

Up to 2025-11-25 a server is told of each resource, and list changes come by themselves. Since then the client listens:
one `subscriptions/listen` request is open at a time, with a filter for all that is wanted, and sent again when its
stream breaks. When the filter changes, a second one is opened before the first is left, so nothing falls in between; a
change may be heard twice.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

import asyncio

from splice.client import lives, notices
from splice.client.calls import NO_OPTIONS, Calls, Options
from splice.errors import ConnectionClosed, LocalProtocolError, MCPError, RPCError
from splice.protocol import jsonrpc, lifecycle, notifications, resources, wire
from splice.protocol.notifications import LISTS, SUBSCRIPTIONS_LISTEN, SubscriptionFilter
from splice.transports.tasks import Background

ACKNOWLEDGE_SECONDS = 10.0
"""How long to wait until the server acknowledges that it listens; never more than half of the client's timeout."""

RECONNECT_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""How long to wait before each attempt to restore a stream; the last one counts for all further attempts."""


class Listening:
    """One stream of changes. It begins at once, in a task of its own; the user is told in `background`."""

    def __init__(self, of: "Subscriptions", wanted: SubscriptionFilter) -> None:
        self._of, self._wanted = of, wanted
        self.id: jsonrpc.RequestId = 0
        """The id of the request that opened the stream, which each of its changes repeats."""
        self._failures = 0
        self._honoured: asyncio.Future[SubscriptionFilter] = asyncio.Future()
        self._task = asyncio.create_task(self._run())
        of.open.add(self)

    async def begun(self) -> SubscriptionFilter | None:
        """Wait until the server listens, and return what it honours; None if it does not say.

        Raises `RPCError` when it refuses, and `ConnectionClosed`.
        """
        seconds = min(ACKNOWLEDGE_SECONDS, self._of.calls.timeout / 2)
        await asyncio.wait((self._honoured, self._task), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if self._honoured.done():
            return self._honoured.result()
        if self._task.done():
            raise ConnectionClosed("Nobody listens any more") if self._task.cancelled() else self._task.result()
        return None

    def acknowledge(self, honoured: SubscriptionFilter) -> None:
        """Take note that the server listens."""
        self._failures = 0
        if not self._honoured.done():
            self._honoured.set_result(honoured)
        else:  # the stream was broken
            self._of.background.start(self._of.tell_missed())

    async def stop(self) -> None:
        """End it."""
        self._of.open.discard(self)
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _run(self) -> MCPError:
        """Listen for as long as the stream can be restored, and return why it cannot."""
        options = Options(hear=self._hear)
        while True:
            self.id = self._of.calls.next_id()
            params = notifications.ListenParams(notifications=self._wanted)
            error: MCPError = ConnectionClosed("The server has ended the stream of changes")
            try:
                response = await self._of.calls.send(SUBSCRIPTIONS_LISTEN, params, options, self.id)
                if isinstance(response, jsonrpc.Failure):
                    error = jsonrpc.error_of(response)
            except MCPError as failed:
                error = failed
            self._of.calls.cache.clear()  # changes may go by unheard
            if not self._honoured.done() or not self._of.reconnects or isinstance(error, RPCError):
                notices.log.info("hearing of changes has ended: %s", error)
                return error
            pause = lives.back_off(RECONNECT_SECONDS, self._failures)
            await asyncio.sleep(max(pause, getattr(error, "retry_after", 0.0)))
            self._failures += 1

    async def _hear(self, note: jsonrpc.Notification) -> None:
        """Take a notification of the stream, which must not end with what the user does about it."""
        self._of.background.start(self._of.calls.hear(note))


class Subscriptions:
    """The resources whose changes are wanted; with `lists`, changes of lists are wanted too."""

    def __init__(self, calls: Calls, background: Background, *, lists: bool, reconnects: bool) -> None:
        self.calls, self.background = calls, background
        self._lists, self.reconnects = lists, reconnects
        self._uris: dict[str, None] = {}
        self._lock = asyncio.Lock()
        self.open: set[Listening] = set()
        """One stream, and a second one while the filter changes."""

    async def add(self, uri: str, options: Options = NO_OPTIONS) -> None:
        """Hear of changes of one resource from now on.

        Raises `LocalProtocolError` if the server does not tell, and all that a request raises.
        """
        server = self.calls.current()
        capability = server.capabilities.resources
        if capability is None or not capability.subscribe:
            raise LocalProtocolError(f"{server.server_name} does not tell when resources change")
        if resources.RESOURCES_SUBSCRIBE.exists(server.facts.version):
            await self.calls.request(resources.RESOURCES_SUBSCRIBE, resources.SubscribeParams(uri=uri), options)
            self._uris[uri] = None
        elif uri not in self._uris:
            self._uris[uri] = None
            try:
                with self.calls.within(SUBSCRIPTIONS_LISTEN.name, options.timeout):
                    honoured = await self._listen_anew()
            except BaseException:
                self._uris.pop(uri, None)
                raise
            if honoured is not None and uri not in (honoured.resource_subscriptions or ()):
                del self._uris[uri]
                raise LocalProtocolError(f"{server.server_name} does not tell when {uri} changes")
        self.calls.cache.drop("resource", uri)  # it may have changed before anybody told

    async def remove(self, uri: str, options: Options = NO_OPTIONS) -> None:
        """Hear no more of a resource. Raises what a request raises."""
        if resources.RESOURCES_UNSUBSCRIBE.exists(self.calls.current().facts.version):
            await self.calls.request(resources.RESOURCES_UNSUBSCRIBE, resources.UnsubscribeParams(uri=uri), options)
            self._uris.pop(uri, None)
        elif uri in self._uris:
            del self._uris[uri]
            with self.calls.within(SUBSCRIPTIONS_LISTEN.name, options.timeout):
                await self._listen_anew()

    async def announce(self) -> None:
        """Ask for what is wanted, on a connection that knows nothing yet. Trouble is logged."""
        try:
            if SUBSCRIPTIONS_LISTEN.exists(self.calls.current().facts.version):
                await self._listen_anew()
            else:
                for uri in tuple(self._uris):
                    await self.calls.request(resources.RESOURCES_SUBSCRIBE, resources.SubscribeParams(uri=uri))
        except MCPError as error:
            notices.log.warning("cannot hear of changes: %s", error)

    async def tell_missed(self) -> None:
        """Tell of all that may have changed while the server was not heard."""
        wanted, meta = self.filter(), {lifecycle.META_SUBSCRIPTION_ID: next((each.id for each in self.open), 0)}
        missed = [(row.name, None) for kind, row in LISTS.items() if getattr(wanted, f"{kind}_list_changed", None)]
        for name, uri in (*missed, *((notifications.RESOURCE_UPDATED.name, uri) for uri in self._uris)):
            await self.calls.hear(jsonrpc.Notification(name, jsonrpc.raw({"_meta": meta, "uri": uri})))

    async def close(self) -> None:
        """Listen no more, and forget what was wanted."""
        self._uris.clear()
        for listening in tuple(self.open):
            await listening.stop()

    def acknowledge(self, note: jsonrpc.Notification) -> None:
        """Take an acknowledgment of one of the open streams."""
        params = notices.read(notifications.ACKNOWLEDGED, note)
        listening = self._named_in(params)
        if params is not None and listening is not None:
            listening.acknowledge(params.notifications)

    def owns(self, note: jsonrpc.Notification) -> bool:
        """Tell whether a change was asked for: in a session all are; since then, it names one of the open streams."""
        if not SUBSCRIPTIONS_LISTEN.exists(self.calls.current().facts.version):
            return True
        return self._named_in(notices.read(notifications.TOOLS_CHANGED, note)) is not None  # all changes have `_meta`

    def _named_in(self, params: wire.NoteParams | None) -> Listening | None:
        """Find the stream that a notification names."""
        name = None if params is None else (params.meta or {}).get(lifecycle.META_SUBSCRIPTION_ID)
        return next((listening for listening in self.open if listening.id == name), None)

    def filter(self) -> SubscriptionFilter | None:
        """Write down what is wanted, of what the server has; None when that is nothing."""
        wanted = SubscriptionFilter(resource_subscriptions=list(self._uris) or None)
        for kind in LISTS if self._lists else ():
            capability = getattr(self.calls.current().capabilities, kind)
            if capability is not None and capability.list_changed:
                setattr(wanted, f"{kind}_list_changed", True)
        return None if wanted == SubscriptionFilter() else wanted

    async def _listen_anew(self) -> SubscriptionFilter | None:
        """Open a stream for what is wanted now, then leave the old one. Returns what the server honours, if it says.

        Raises `RPCError` when the server refuses, and `ConnectionClosed`.
        """
        async with self._lock:
            wanted, old, honoured = self.filter(), tuple(self.open), None
            if wanted is not None:
                new = Listening(self, wanted)
                try:
                    honoured = await new.begun()
                except BaseException:
                    await new.stop()
                    raise
                for kind in LISTS if honoured is not None else ():
                    flag = f"{kind}_list_changed"
                    if getattr(wanted, flag) and not getattr(honoured, flag):
                        name = self.calls.current().server_name
                        notices.log.warning("%s does not tell when its list of %s changes, as it declared", name, kind)
            for listening in old:
                await listening.stop()
            return honoured
