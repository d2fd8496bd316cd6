"""Sessions over HTTP: what `initialize` opened, the POSTs within it, its GET stream, its end, and batches.

A client that leaves does not cancel what it asked for; it says so with a notification, or ends the session. A session
costs little and is never kept for ever: there are only so many, one that nothing happens in expires, one in which
nothing was ever asked gives way to the next, and an id is as good as unknown to anybody but the one who opened it.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

import asyncio
import os
from collections import Counter
from collections.abc import Container, Generator
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from typing import Any

from splice.errors import ConnectionClosed, InternalError, InvalidParams, InvalidRequest, LocalProtocolError, RPCError
from splice.protocol.jsonrpc import Message, Notification, Request, Response, Success, encode, failure, split_batch
from splice.protocol.lifecycle import INITIALIZE, META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION
from splice.protocol.versions import ASSUMED_VERSION
from splice.rules.http.headers import EVENT_STREAM, Headers, accepts, named_version
from splice.rules.http.status import Refusal
from splice.rules.sessions import Session
from splice.transports.base import Hear, Sender, Service
from splice.transports.channel import Channel, ChannelExchange, written
from splice.transports.http.stream import EventStream, PushStream
from splice.transports.http.visits import Visit, Visits

MAX_SESSIONS = 10_000
IDLE_SECONDS = 30 * 60.0
"""How long a session may lie idle: nothing in flight, and no stream open."""

MAX_SHARE = 10
"""A principal may have one in so many of the sessions, but always this many."""

RETRY_SECONDS = 30
"""When a client may try again that was refused because there are too many sessions."""

ID_BYTES = 24

_NOT_FOUND = "Session not found: it ended, expired, or lives in another worker process; send `initialize` again"

_SENDER = Sender(kind="http")
"""Stands for nobody: each exchange names the sender of its own POST."""


async def _unheard(note: Notification) -> None:
    """Take a notification from the channel: there is none, as each POST hands its own to the service."""


class HTTPSession:
    """One session: its state, the requests in flight in it, and its own stream."""

    __slots__ = ("_sessions", "channel", "session", "stream", "used", "useful", "users")

    def __init__(self, sessions: "Sessions", id: str, principal: str | None) -> None:
        push = self._push
        self._sessions = sessions
        self.stream = PushStream()
        """Carries what belongs to no request, over the newest GET that is open."""
        self.session = Session(id=id, principal=principal, push=push)
        self.channel = Channel(push, sessions.serve, _unheard, _SENDER)
        self.used = 0.0
        """When it was last used, on the clock of the event loop."""
        self.useful = False
        """Something was asked in it since `initialize`, or its stream was opened."""
        self.users = 0
        """How many HTTP requests are being answered in it."""

    def _push(self, message: Message) -> None:
        self.stream.push(self._sessions.write(message))

    def end(self) -> None:
        """Stop everything that goes on in it."""
        self.channel.end(ConnectionClosed("The session has ended"))
        self.stream.lose()
        self.session.end()


class Sessions:
    """All sessions of one endpoint."""

    def __init__(self, service: Service, limit: int) -> None:
        self.serve = service.handle
        self.all: dict[str, HTTPSession] = {}
        self._limit = limit
        self._resting: dict[str, HTTPSession] = {}
        """Those in which nothing is going on, the longest unused first."""
        self._owned: Counter[str | None] = Counter()
        """How many each principal has."""
        self._last: tuple[Message, bytes] | None = None

    def open(self, principal: str | None) -> HTTPSession:
        """Make a session, in use by the request that opens it. Raises `Refusal` (503) when there are too many."""
        self.sweep(_now())
        if principal is not None and self._owned[principal] >= max(self._limit // MAX_SHARE, MAX_SHARE):
            self._make_room("You have", self._owned[principal], {principal})
        elif len(self.all) >= self._limit:
            self._make_room("The server has", self._limit, self._owned)
        session = HTTPSession(self, os.urandom(ID_BYTES).hex(), principal)
        session.users = 1
        self.all[session.session.id] = session
        self._owned[principal] += 1
        return session

    def _make_room(self, who: str, count: int, owners: Container[str | None]) -> None:
        """Remove the oldest session in which nothing was ever asked. Raises `Refusal` (503) when there is none."""
        for session in self._resting.values():
            if not session.useful and session.session.principal in owners:
                self.remove(session)
                return
        retry = (b"retry-after", b"%d" % RETRY_SECONDS)
        raise Refusal(503, InternalError(f"{who} {count} open sessions; end some, or try again later"), [retry])

    def enter(self, id: str, principal: str | None) -> HTTPSession:
        """Find the session in which an HTTP request begins.

        Raises `Refusal` (404): to anybody but its owner a session does not exist.
        """
        self.sweep(_now())
        found = self.all.get(id)
        if found is None or found.session.principal != principal:
            raise Refusal(404, InvalidRequest(_NOT_FOUND))
        found.users += 1
        self._resting.pop(id, None)
        return found

    def leave(self, session: HTTPSession) -> None:
        """Note that an HTTP request in this session ended."""
        session.users -= 1
        session.used = _now()
        if session.users == 0 and session.session.id in self.all:
            self._resting[session.session.id] = session

    def remove(self, session: HTTPSession) -> None:
        """Forget a session, and end what goes on in it."""
        if self.all.pop(session.session.id, None) is not None:
            principal = session.session.principal
            self._owned[principal] -= 1
            if not self._owned[principal]:
                del self._owned[principal]
        self._resting.pop(session.session.id, None)
        session.end()

    def sweep(self, now: float) -> None:
        """Remove the sessions that nothing happened in for too long."""
        resting = self._resting.values()
        for session in list(takewhile(lambda session: now - session.used >= IDLE_SECONDS, resting)):
            self.remove(session)

    def write(self, message: Message) -> bytes:
        """Write a message; the same one that goes to many sessions is written once."""
        if self._last is None or self._last[0] is not message:
            self._last = (message, encode(message))
        return self._last[1]


def _now() -> float:
    return asyncio.get_running_loop().time()


class SessionExchange(ChannelExchange):
    """A request in a session: the server may ask on its stream, and the answer arrives in another POST.

    `option` names the setting of the server that leaves the client no way to be asked, if one does.
    """

    __slots__ = ("_option", "_stream")

    def __init__(
        self, session: HTTPSession, request: Request, sender: Sender, stream: EventStream, option: str | None
    ) -> None:
        super().__init__(session.channel, request, sender)
        self._stream = stream
        self._option = option

    async def notify(self, note: Notification) -> None:
        """Send a notification, unless the request is answered or cancelled, or replies are plain JSON."""
        if self.is_open and self._option != "json_response":
            await self._stream.send(encode(note))

    async def ask(self, method: str, params: Any) -> Response:
        """Ask the client, and wait for its answer. Raises `ConnectionClosed` when it leaves the stream."""
        if self._option is not None:
            raise LocalProtocolError(f"The client cannot be asked: this server runs with {self._option}=True")
        with self._stream.needed():
            return await self.channel.ask(method, params, self._send)

    async def _send(self, message: Message) -> None:
        await self._stream.send(encode(message))


class SessionLeg:
    """Answers what belongs to a session, or would if the server kept any."""

    def __init__(
        self, service: Service, visits: Visits, *, max_sessions: int, json_response: bool, stateless: bool
    ) -> None:
        self.stateless = stateless
        self.sessions = Sessions(service, max_sessions)
        self._service = service
        self._visits = visits
        self._option = "json_response" if json_response else "stateless" if stateless else None

    async def post(self, message: Message, headers: Headers, sender: Sender, visit: Visit) -> None:
        """Answer one message."""
        if not isinstance(message, Request):
            with self._session(headers, sender) as session:
                session.channel.take_other(message, self._hearing(sender))
                await visit.reply.accept()
        elif message.method == INITIALIZE.name and not self.stateless:
            await self._initialize(message, headers, sender, visit)
        else:
            with self._session(headers, sender, opens=message.method == INITIALIZE.name) as session:
                stream = self._stream(session, visit)
                exchange = SessionExchange(session, message, sender, stream, self._option)
                await _reply(visit, stream, await session.channel.answer(exchange))

    async def _initialize(self, request: Request, headers: Headers, sender: Sender, visit: Visit) -> None:
        """Open a session; if the request fails there is none."""
        named_version(headers)
        if headers.raw(b"mcp-session-id") is not None:
            with self._session(headers, sender):
                raise InvalidRequest("This session is open already; `initialize` without Mcp-Session-Id opens another")
        session = self.sessions.open(sender.principal)
        sender.session = session.session
        visit.reply.headers = [(b"mcp-session-id", session.session.id.encode())]
        response: Response | None = None
        stream = EventStream(visit.reply)
        try:
            exchange = SessionExchange(session, request, sender, stream, self._option)
            response = await session.channel.answer(exchange)
        finally:
            self.sessions.leave(session)
            if not isinstance(response, Success):
                visit.reply.headers = ()
                self.sessions.remove(session)
        await _reply(visit, stream, response)

    async def post_batch(self, body: bytes, headers: Headers, sender: Sender, visit: Visit) -> None:
        """Answer a batch, where the version has such: the requests in it run side by side."""
        with self._session(headers, sender) as session:
            if not session.session.batches:
                raise InvalidRequest("Invalid request: the protocol version has no batches; send one message")
            responses: list[Response] = []
            requests = session.channel.take_batch(
                split_batch(body), self._hearing(sender), lambda bad: responses.append(bad.response())
            )
            stream = self._stream(session, visit)
            exchanges = [SessionExchange(session, each, sender, stream, self._option) for each in requests]
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_answer_in_batch(exchange)) for exchange in exchanges]
            visit.check()
            responses += [response for response in (task.result() for task in tasks) if response is not None]
            await _reply_all(visit, stream, responses, empty=not requests)

    def _hearing(self, sender: Sender) -> Hear:
        return partial(self._service.hear, sender=sender)

    async def get(self, headers: Headers, sender: Sender, visit: Visit) -> None:
        """Carry the session's own stream, for what belongs to no request, until the client leaves."""
        if not accepts(headers.raw(b"accept"), EVENT_STREAM):
            raise Refusal(406, InvalidRequest(f"GET needs `Accept: {EVENT_STREAM}`"))
        with self._session(headers, sender) as session:
            session.useful = True
            visit.stream, visit.may_stream, visit.state = session.stream, False, "answering"
            self._visits.last(visit)
            await session.stream.carry(visit.reply)
        await visit.reply.end()

    async def delete(self, headers: Headers, sender: Sender, visit: Visit) -> None:
        """End a session and everything in it."""
        with self._session(headers, sender) as session:
            self.sessions.remove(session)
        await visit.reply.accept(204)

    def end_streams(self) -> None:
        """Let every session's own stream end."""
        for session in self.sessions.all.values():
            session.stream.lose()

    def close(self) -> None:
        """End all sessions."""
        for session in list(self.sessions.all.values()):
            self.sessions.remove(session)

    @contextmanager
    def _session(self, headers: Headers, sender: Sender, *, opens: bool = False) -> Generator[HTTPSession, None, None]:
        """Find the session of a request, name it in `sender`, and hold it. Raises `Refusal` and `RPCError`."""
        version = named_version(headers)
        id = headers.raw(b"mcp-session-id")
        if self.stateless:
            session = HTTPSession(self.sessions, "", sender.principal)
            if not opens:
                session.session.open(version or ASSUMED_VERSION)
        elif id is None:
            raise InvalidParams(
                "Mcp-Session-Id header missing: send `initialize` first, or params._meta must carry "
                f"{META_PROTOCOL_VERSION} and {META_CLIENT_CAPABILITIES}"
            )
        else:
            session = self.sessions.enter(id.decode("latin-1"), sender.principal)
        sender.session = session.session
        facts = session.session.facts
        try:
            if version is not None and facts is not None and version != facts.version:
                raise InvalidRequest(f"MCP-Protocol-Version is {version}, but this session has {facts.version}")
            yield session
        finally:
            if self.stateless:
                session.end()
            else:
                self.sessions.leave(session)

    def _stream(self, session: HTTPSession, visit: Visit) -> EventStream:
        """Make the stream of a POST. When its client leaves, the work goes on."""
        session.useful = True
        stream = EventStream(visit.reply, session.session.facts)
        visit.stream, visit.may_stream, visit.state = stream, self._option != "json_response", "answering"
        return stream


async def _answer_in_batch(exchange: ChannelExchange) -> Response | None:
    try:
        return await exchange.channel.answer(exchange)
    except RPCError as error:
        return failure(exchange.request.id, error)


async def _reply(visit: Visit, stream: EventStream, response: Response | None) -> None:
    visit.check()
    if response is not None:
        await stream.respond(200, written(response))
    else:  # its request was cancelled
        await visit.reply.end()


async def _reply_all(visit: Visit, stream: EventStream, responses: list[Response], *, empty: bool) -> None:
    """Answer a batch: with an array, or event by event if the stream has begun, or with nothing to what wants none."""
    if visit.reply.streaming:
        for response in responses:
            await stream.send(written(response))
        await visit.reply.end()
    elif responses:
        await visit.reply.respond(200, b"[" + b",".join(map(written, responses)) + b"]")
    elif empty:
        await visit.reply.accept()
    else:
        await visit.reply.end()
