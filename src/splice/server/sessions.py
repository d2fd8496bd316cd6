"""State that outlasts a request: the session that `initialize` opens, and the clients that want to hear of changes.

A modern client opens a `subscriptions/listen` stream with a filter. A legacy client hears of every list that
changed, and of the resources it subscribed to. Changes are levels, not events: what a slow listener has not been
told yet is kept once, however often it changes, so a listener can never fall behind by more than its own filter.

Streams and sessions are looked up by change, on the event loop that serves them; nothing is searched.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from splice.errors import InvalidParams, InvalidRequest, MethodNotFound
from splice.protocol import jsonrpc, lifecycle, notifications, questions, wire
from splice.protocol.capabilities import ServerCapabilities
from splice.protocol.narrow import narrow
from splice.protocol.resources import RESOURCES_SUBSCRIBE, RESOURCES_UNSUBSCRIBE
from splice.protocol.uri import is_uri
from splice.rules import sessions
from splice.rules.extensions import AnyCapabilities, Extension, Served
from splice.server.call import END, Call, Change, is_worker, session_of
from splice.transports.base import Exchange

MAX_SUBSCRIPTIONS = 10_000
"""How many resources one session may subscribe to."""

_LISTS: dict[str, Change] = {name: (note.name, None) for name, note in notifications.LISTS.items()}

LIST_CHANGES = tuple(_LISTS.values())

_SESSIONS_ALONE = (
    "%s keeps the sessions of clients that initialize in one process, and this is one of several: requests that reach "
    "another one are refused. Route each session to one process, or keep none: stateless=True"
)


def updated(uri: str) -> Change:
    """Name the change of one resource."""
    return notifications.RESOURCE_UPDATED.name, uri


def completed(id: str) -> Change:
    """Name the completion of one elicitation."""
    return questions.ELICITATION_COMPLETE.name, id


def change_note(change: Change, meta: dict[str, Any] | None = None) -> jsonrpc.Notification:
    """Build the notification that tells of a change."""
    method, uri = change
    if uri is not None and method == questions.ELICITATION_COMPLETE.name:
        return jsonrpc.Notification(method, questions.ElicitationCompleteParams(elicitation_id=uri))
    if uri is not None:
        return jsonrpc.Notification(method, notifications.ResourceUpdatedParams(uri=uri, meta=meta))
    return jsonrpc.Notification(method, None if meta is None else notifications.ListChangedParams(meta=meta))


class Listener:
    """One open `subscriptions/listen` stream."""

    __slots__ = ("changes", "waiting", "wanted")

    def __init__(self, wanted: notifications.SubscriptionFilter) -> None:
        self.changes: dict[Change, None] = {}
        self.waiting: asyncio.Future[None] | None = None  # an Event would cost each open stream 700 bytes more
        lists = [change for name, change in _LISTS.items() if getattr(wanted, f"{name}_list_changed")]
        self.wanted = END, *lists, *map(updated, dict.fromkeys(wanted.resource_subscriptions or ()))

    def tell(self, change: Change) -> None:
        """Remember a change until the stream takes it."""
        self.changes[change] = None
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(None)

    async def run(self, exchange: Exchange, meta: dict[str, Any]) -> None:
        """Pass changes on until the last one."""
        while True:
            while not self.changes:
                self.waiting = asyncio.get_running_loop().create_future()
                await self.waiting
            change = next(iter(self.changes))
            if change == END:
                return
            del self.changes[change]
            await exchange.notify(change_note(change, meta))


class _Audience(dict[Change, set[Listener | sessions.Session]]):
    """The streams and sessions on one event loop, by what they want to hear. Touched on that loop only."""

    def add(self, who: Listener | sessions.Session, changes: Iterable[Change]) -> None:
        for change in changes:
            self.setdefault(change, set()).add(who)

    def remove(self, who: Listener | sessions.Session, changes: Iterable[Change]) -> None:
        for change in changes:
            found = self.get(change, set())
            found.discard(who)
            if not found:
                self.pop(change, None)

    def tell(self, change: Change) -> None:
        note = change_note(change)
        for who in tuple(self.get(change, ())):  # a session that cannot be told may end, and leave
            if isinstance(who, Listener):
                who.tell(change)
            elif who.ready:
                who.push(note)


class Sessions(Extension[Call]):
    """The chapters of the lifecycle and of subscriptions: every stream and session of one server, each on its loop."""

    def __init__(self) -> None:
        opening = Served(lifecycle.INITIALIZE, self.initialize), Served(lifecycle.DISCOVER, self.discover)
        others = Served(lifecycle.PING, self.ping), Served(notifications.SET_LEVEL, self.set_level)
        listen = Served(notifications.SUBSCRIPTIONS_LISTEN, self.listen)
        resources = Served(RESOURCES_SUBSCRIBE, self.subscribe), Served(RESOURCES_UNSUBSCRIBE, self.unsubscribe)
        super().__init__("sessions", methods=(*opening, *others, listen, *resources))
        self._audiences: dict[asyncio.AbstractEventLoop, _Audience] = {}

    def declare(self, capabilities: AnyCapabilities) -> None:
        """Declare that handlers may log. What changes, the chapters of lists declare."""
        if isinstance(capabilities, ServerCapabilities):
            capabilities.logging = {}

    async def initialize(self, call: Call) -> lifecycle.InitializeResult:
        """Open the session. The only method that changes what later requests may do."""
        session, params, home, has = session_of(call), call.params, call.home, call.home.capabilities()
        if session.declared is not None:
            raise InvalidRequest("This session is initialized already")
        version = home.protocols.counter_offer(params.protocol_version)
        session.open(version, params.capabilities, params.client_info)
        self.join(session, has)
        if call.sender.kind == "http" and is_worker():
            home.warn_once(_SESSIONS_ALONE)
        result = lifecycle.InitializeResult(protocol_version=version, capabilities=has, server_info=home.info)
        result.instructions = home.instructions
        return narrow(result, version)

    async def discover(self, call: Call) -> lifecycle.DiscoverResult:
        """Say what this server speaks and offers."""
        home, speaks = call.home, list(call.home.protocols.alone)
        return lifecycle.DiscoverResult(
            supported_versions=speaks, capabilities=home.capabilities(), instructions=home.instructions, **home.hints
        )

    async def ping(self, _: Call) -> wire.EmptyResult:
        """Say that we are here."""
        return wire.EmptyResult()

    async def set_level(self, call: Call) -> wire.EmptyResult:
        """Remember from which level on this session wants log messages."""
        call.declared.log_level = call.params.level
        return wire.EmptyResult()

    def publish(self, change: Change) -> None:
        """Tell everybody who wants to know. May be called on any thread."""
        here = None
        with suppress(RuntimeError):  # on one of the threads of `def` handlers
            here = asyncio.get_running_loop()
        for loop, audience in tuple(self._audiences.items()):
            if loop is here:
                audience.tell(change)
                continue
            try:
                loop.call_soon_threadsafe(audience.tell, change)
            except RuntimeError:  # it is closed
                self._audiences.pop(loop, None)

    def join(self, session: sessions.Session, has: ServerCapabilities) -> None:
        """Tell a session of changed lists from now on, until it ends: of those that it was told there are."""
        self._here().add(session, [change for name, change in _LISTS.items() if getattr(has, name) is not None])
        session.ended = self.leave

    def leave(self, session: sessions.Session) -> None:
        """Tell it no more."""
        for audience in self._audiences.values():
            audience.remove(session, (*LIST_CHANGES, *map(updated, session.subscriptions)))
            audience.remove(session, map(completed, session.elicitations))

    def expect(self, session: sessions.Session, id: str) -> None:
        """Tell this session, and no other, when an elicitation is complete, if it does not wait for too many.

        Raises `ValueError` for an id that another session waits for.
        """
        change, here = completed(id), self._here()
        if here.get(change, {session}) != {session}:
            raise ValueError(f"the id {id!r} is that of another client's elicitation: give each one of its own")
        if session.ended is not None and len(session.elicitations) < MAX_SUBSCRIPTIONS:
            session.elicitations.add(id)
            here.add(session, [change])

    async def listen(self, call: Call) -> notifications.ListenResult:
        """Pass on the changes that were asked for, until the client closes the stream or the server stops."""
        has, exchange = call.home.capabilities(), call.exchange
        wanted = replace(call.params.notifications)
        _check_uris(wanted.resource_subscriptions or ())
        for name in _LISTS:
            if getattr(has, name) is None:
                setattr(wanted, f"{name}_list_changed", None)
        if has.resources is None:
            wanted.resource_subscriptions = None
        meta: dict[str, Any] = {lifecycle.META_SUBSCRIPTION_ID: exchange.request.id}
        audience, listener = self._here(), Listener(wanted)
        audience.add(listener, listener.wanted)
        try:
            taken = notifications.AcknowledgedParams(notifications=wanted, meta=meta)
            await exchange.notify(jsonrpc.Notification(notifications.ACKNOWLEDGED.name, taken))
            del has, wanted, taken  # there may be thousands of streams that wait like this one
            call.params, call.meta = None, lifecycle.NO_META
            exchange.rest()
            await listener.run(exchange, meta)
        finally:
            audience.remove(listener, listener.wanted)
        return notifications.ListenResult(meta=dict(meta))

    async def subscribe(self, call: Call) -> wire.EmptyResult:
        """Remember that this session wants to hear when a resource changes."""
        session, uri = session_of(call), call.params.uri
        if call.home.capabilities().resources is None:
            raise MethodNotFound("This server offers no resources")
        _check_uris([uri])
        if len(session.subscriptions) >= MAX_SUBSCRIPTIONS and uri not in session.subscriptions:
            raise InvalidRequest(f"This session has {MAX_SUBSCRIPTIONS} subscriptions, and may have no more")
        session.subscriptions.add(uri)
        self._here().add(session, [updated(uri)])
        return wire.EmptyResult()

    async def unsubscribe(self, call: Call) -> wire.EmptyResult:
        """Forget a subscription; one that does not exist is forgotten already."""
        session, uri = session_of(call), call.params.uri
        _check_uris([uri])
        session.subscriptions.discard(uri)
        self._here().remove(session, [updated(uri)])
        return wire.EmptyResult()

    def _here(self) -> _Audience:
        return self._audiences.setdefault(asyncio.get_running_loop(), _Audience())


def _check_uris(uris: Iterable[str]) -> None:
    for uri in uris:
        if not is_uri(uri):
            raise InvalidParams(f"{uri[:200]!r} is not a URI")
