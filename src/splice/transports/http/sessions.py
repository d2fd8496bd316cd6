"""Sessions over HTTP: what `initialize` opened, the POSTs within it, its GET stream, its end, and batches.

A client that leaves does not cancel what it asked for; it says so with a notification, or ends the session. It may come
back with the id of the last event it saw, and gets the rest. A session costs little and is never kept for ever: there
are only so many, one that nothing happens in expires, one in which nothing was ever asked gives way to the next, and
an id is as good as unknown to anybody but the one who opened it.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

import asyncio
import os
from collections import Counter
from collections.abc import Container
from functools import partial
from time import monotonic
from typing import Any, Self

from splice.errors import ConnectionClosed, InternalError, InvalidParams, InvalidRequest, LocalProtocolError, RPCError
from splice.protocol import jsonrpc, lifecycle, versions
from splice.rules.http.headers import EVENT_STREAM, Headers, accepts, named_version
from splice.rules.http.origins import Refusal
from splice.rules.principal import Principal
from splice.rules.sessions import Session
from splice.transports.base import Sender, Service
from splice.transports.channel import Channel, ChannelExchange, ignore, written
from splice.transports.http.logs import Log, Logs
from splice.transports.http.stream import EventStream, PushStream
from splice.transports.http.visits import Visit

MAX_SESSIONS = 10_000
IDLE_SECONDS = 30 * 60.0
"""How long a session may lie idle: nothing in flight, and no stream open."""

MAX_SHARE = 10
"""A principal may have one in so many of the sessions, but always this many."""

RETRY_SECONDS = 30
"""When a client may try again that was refused because there are too many sessions."""

_NOT_FOUND = "Session not found: it ended, expired, or lives in another worker process; send `initialize` again"

_SENDER = Sender(kind="http")
"""Stands for nobody: each exchange names the sender of its own POST, which hands its notifications to the service."""


class HTTPSession:
    """One session: its state, the requests in flight in it, and its own stream."""

    __slots__ = ("channel", "session", "sessions", "stream", "used", "useful", "users")

    def __init__(self, sessions: "Sessions", id: str, principal: Principal | None) -> None:
        push = self._push
        self.sessions = sessions
        self.stream = PushStream()
        """Carries what belongs to no request, over the newest GET that is open."""
        self.session = Session(id=id, principal=principal, push=push)
        # Each POST hands over its notifications itself.
        self.channel = Channel(push, sessions.serve, ignore, _SENDER)
        self.used = 0.0
        """When it was last used, by `time.monotonic`."""
        self.useful = False
        """Something was asked in it since `initialize`, or its stream was opened."""
        self.users = 0
        """How many HTTP requests are being answered in it."""

    def _push(self, message: jsonrpc.Message) -> None:
        self.stream.push(self.sessions.write(message))

    def __enter__(self) -> Self:
        """Begin an HTTP request in it."""
        self.users += 1
        return self

    def __exit__(self, *_: object) -> None:
        self.users -= 1
        self.sessions.leave(self)

    def end(self) -> None:
        """Stop everything that goes on in it."""
        self.channel.end(ConnectionClosed("The session has ended"))
        self.stream.lose()
        self.session.end()


class Sessions:
    """All sessions of one endpoint.

    `option` names the setting of the server that leaves its clients no way to be asked, if one does.
    """

    def __init__(self, service: Service, limit: int, option: str | None) -> None:
        self.serve = service.handle
        self.option = option
        self.all: dict[str, HTTPSession] = {}
        """By id, the longest unused first."""
        self._limit = limit
        self._owned: Counter[Principal | None] = Counter()
        """How many each principal has."""
        self._last: tuple[jsonrpc.Message, bytes] | None = None

    def open(self, principal: Principal | None) -> HTTPSession:
        """Make a session. Raises `Refusal` (503) when there are too many."""
        self.sweep(monotonic())
        if principal is not None and self._owned[principal] >= max(self._limit // MAX_SHARE, MAX_SHARE):
            self._make_room("You have", self._owned[principal], {principal})
        elif len(self.all) >= self._limit:
            self._make_room("The server has", self._limit, self._owned)
        session = HTTPSession(self, os.urandom(24).hex(), principal)
        self.all[session.session.id] = session
        self._owned[principal] += 1
        return session

    def _make_room(self, who: str, count: int, owners: Container[Principal | None]) -> None:
        """Remove the oldest session in which nothing was ever asked. Raises `Refusal` (503) when there is none."""
        for session in self.all.values():
            if not session.useful and not session.users and session.session.principal in owners:
                self.remove(session)
                return
        retry = (b"retry-after", b"%d" % RETRY_SECONDS)
        raise Refusal(503, InternalError(f"{who} {count} open sessions; end some, or try again later"), [retry])

    def enter(self, id: str, principal: Principal | None) -> HTTPSession:
        """Find a session. Raises `Refusal` (404): to anybody but its owner it does not exist."""
        self.sweep(monotonic())
        found = self.all.get(id)
        if found is None or found.session.principal != principal:
            raise Refusal(404, InvalidRequest(_NOT_FOUND))
        return found

    def leave(self, session: HTTPSession) -> None:
        """Note that an HTTP request in a session ended. It ends too if it is not kept, or if `initialize` failed."""
        self._touch(session, monotonic())
        if session.session.declared is None or not session.session.id:
            self.remove(session)

    def _touch(self, session: HTTPSession, now: float) -> None:
        session.used = now
        if self.all.pop(session.session.id, None) is not None:
            self.all[session.session.id] = session

    def remove(self, session: HTTPSession) -> None:
        """Forget a session, and end what goes on in it."""
        if self.all.pop(session.session.id, None) is not None:
            principal = session.session.principal
            self._owned[principal] -= 1
            if not self._owned[principal]:
                del self._owned[principal]
        session.end()

    def sweep(self, now: float) -> None:
        """Remove the sessions that nothing happened in for too long; one that is in use counts as used just now."""
        for _ in range(len(self.all)):
            oldest = next(iter(self.all.values()))
            if now - oldest.used < IDLE_SECONDS:
                return
            if oldest.users:
                self._touch(oldest, now)
            else:
                self.remove(oldest)

    def write(self, message: jsonrpc.Message) -> bytes:
        """Write a message; the same one that goes to many sessions is written once."""
        if self._last is None or self._last[0] is not message:
            self._last = (message, jsonrpc.encode(message))
        return self._last[1]


class SessionExchange(ChannelExchange):
    """A request in a session: the server may ask on its stream, and the answer arrives in another POST."""

    __slots__ = ("_option", "_stream")

    def __init__(self, session: HTTPSession, request: jsonrpc.Request, sender: Sender, stream: EventStream) -> None:
        self.request, self.sender, self.channel = request, sender, session.channel
        self._option = session.sessions.option
        self._stream = stream

    async def notify(self, note: jsonrpc.Notification) -> None:
        """Send a notification, unless the request is answered or cancelled."""
        if self.is_open:
            await self._send(note)

    async def ask(self, method: str, params: Any) -> jsonrpc.Response:
        """Ask the client, and wait for its answer. Raises `ConnectionClosed` when it leaves the stream."""
        if self._option is not None:
            raise LocalProtocolError(f"The client cannot be asked: this server runs with {self._option}=True")
        with self._stream.needed():
            return await self.channel.ask(method, params, self._send)

    async def close_stream(self) -> None:
        """Close the connection, if its client knows to come back for the rest."""
        await self._stream.close()

    async def _send(self, message: jsonrpc.Message) -> None:
        await self._stream.send(jsonrpc.encode(message))

    async def answer(self) -> jsonrpc.Response | None:
        """Answer it as a part of a batch: what may not begin is answered too."""
        try:
            return await self.channel.answer(self)
        except RPCError as error:
            return jsonrpc.failure(self.request.id, error)


class SessionLeg:
    """Answers what belongs to a session, or would if the server kept any."""

    def __init__(self, service: Service, limit: int, *, plain: bool, stateless: bool) -> None:
        self.stateless = stateless
        self.sessions = Sessions(service, limit, "json_response" if plain else "stateless" if stateless else None)
        self._logs = Logs(service.store)
        self._service = service
        self._plain = plain

    async def post(self, message: jsonrpc.Message, headers: Headers, sender: Sender, visit: Visit) -> None:
        """Answer one message."""
        opens = isinstance(message, jsonrpc.Request) and message.method == lifecycle.INITIALIZE.name
        with self._session(headers, sender, opens=opens) as session:
            if not isinstance(message, jsonrpc.Request):
                session.channel.take_other(message, partial(self._service.hear, sender=sender))
                await visit.reply.accept()
                return
            session.useful = session.session.declared is not None
            if opens and not self.stateless:
                visit.reply.headers = [(b"mcp-session-id", session.session.id.encode())]
            with self._stream(session, visit, [message.id]) as stream:
                response = await session.channel.answer(SessionExchange(session, message, sender, stream), visit.task)
                if session.session.declared is None:
                    visit.reply.headers = ()
                visit.reply.heed(response)
                await stream.respond(None if response is None else written(response))

    async def post_batch(self, body: bytes, headers: Headers, sender: Sender, visit: Visit) -> None:
        """Answer a batch, where the version has such: the requests in it run side by side.

        The answer is an array, or event by event if the stream has begun, or nothing to what wants none.
        """
        with self._session(headers, sender) as session:
            if not session.session.batches:
                raise InvalidRequest("Invalid request: the protocol version has no batches; send one message")
            responses: list[jsonrpc.Response] = []
            texts, hear = jsonrpc.split_batch(body), partial(self._service.hear, sender=sender)
            requests = session.channel.take_batch(texts, hear, lambda bad: responses.append(bad.response()))
            if not (requests or responses):
                await visit.reply.accept()
                return
            session.useful = True
            with self._stream(session, visit, [each.id for each in requests]) as stream:
                exchanges = [SessionExchange(session, each, sender, stream) for each in requests]
                answers = await asyncio.gather(*(exchange.answer() for exchange in exchanges))
                messages = [written(each) for each in (*responses, *answers) if each is not None]
                if messages and not visit.reply.streaming:
                    await stream.respond(b"[" + b",".join(messages) + b"]")
                    return
                for message in messages:
                    await stream.send(message)
                await stream.respond(None)

    async def get(self, headers: Headers, sender: Sender, visit: Visit) -> None:
        """Carry the session's own stream, for what belongs to no request, until the client leaves.

        With `Last-Event-ID` it goes on with the stream that the event belongs to, whichever that is.
        """
        if not accepts(headers.raw(b"accept"), EVENT_STREAM):
            raise Refusal(406, InvalidRequest(f"GET needs `Accept: {EVENT_STREAM}`"))
        with self._session(headers, sender) as session:
            session.useful = True
            log, facts = None, session.session.facts
            if facts is not None and facts.resumable:
                last = headers.raw(b"last-event-id")
                log = await self._logs.find(session.session.id, last.decode("latin-1") if last else None)
            if log is not None and log.requests:
                stream = self._logs.live.get(log.name) or EventStream()
                visit.detach = stream.detach
                await stream.carry(visit.reply, log)
            else:
                visit.detach = session.stream.detach
                await session.stream.open(visit.reply, log)
        await visit.reply.end()

    async def delete(self, headers: Headers, sender: Sender, visit: Visit) -> None:
        """End a session and everything in it."""
        with self._session(headers, sender) as session:
            self.sessions.remove(session)
        await visit.reply.accept(204)

    def _session(self, headers: Headers, sender: Sender, *, opens: bool = False) -> HTTPSession:
        """Find or open the session of a request, and name it in `sender`. Raises `Refusal`, `RPCError`."""
        protocols = self._service.protocols
        version = named_version(headers, protocols)
        id = headers.raw(b"mcp-session-id")
        if self.stateless:
            session = HTTPSession(self.sessions, "", sender.principal)
            if not opens:
                version = version or versions.ASSUMED_VERSION
                if version not in protocols.handshake:
                    raise protocols.unsupported(version)
                session.session.open(version)
        elif id is not None:
            session = self.sessions.enter(id.decode("latin-1"), sender.principal)
        elif opens:
            session = self.sessions.open(sender.principal)
        else:
            raise InvalidParams(f"Mcp-Session-Id header missing: {protocols.opening}")
        sender.session = session.session
        facts = session.session.facts
        if version is not None and facts is not None and version != facts.version:
            raise InvalidRequest(f"MCP-Protocol-Version is {version}, but this session has {facts.version}")
        return session

    def _stream(self, session: HTTPSession, visit: Visit, ids: list[jsonrpc.RequestId]) -> EventStream:
        """Make the stream of a POST, to be entered. When its client leaves, the work goes on."""
        reply, facts = visit.reply, session.session.facts
        reply.plain = self._plain
        if facts is None or not facts.resumable or self._plain or self.stateless:
            stream = EventStream(reply)
        else:
            stream = EventStream(reply, Log(self._logs, session.session.id, ids), facts.priming_event)
        visit.detach = stream.detach
        return stream
