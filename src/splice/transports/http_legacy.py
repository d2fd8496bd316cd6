"""The legacy leg of the MCP endpoint: sessions, the GET stream, batches.

A client that leaves does not cancel what it asked for; it says so with a notification, or ends the session.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

import msgspec
from msgspec import UnsetType

from splice.errors import INVALID_REQUEST, InvalidRequest, RPCError
from splice.protocol.jsonrpc import (
    BadMessage,
    Message,
    Notification,
    Request,
    Response,
    Success,
    decode,
    split_batch,
)
from splice.protocol.methods import CANCELLED, INITIALIZE
from splice.protocol.versions import FACTS, HANDSHAKE_VERSIONS, V2025_03_26
from splice.rules.eras import Session
from splice.rules.heads import head_of
from splice.rules.http import EVENT_STREAM, Headers, Refusal, accepts
from splice.transports.base import Sender, Service
from splice.transports.http_exchanges import LegacyExchange
from splice.transports.http_sessions import HTTPSession, Sessions
from splice.transports.http_visits import Visit, Visits
from splice.transports.writing import written

MAX_BATCH = 100
"""The largest batch taken."""

ASSUMED_VERSION = V2025_03_26
"""The version of a request that belongs to no session and names none: the last one that had no header for it."""


class Peer:
    """Who sent an HTTP request: the sender every exchange sees, and the session it belongs to, if any."""

    __slots__ = ("sender", "session")

    def __init__(self, headers: Headers, principal: str | None, session: HTTPSession | None, loose: Session) -> None:
        self.session = session
        state = loose if session is None else session.session
        self.sender = Sender(kind="http", session=state, headers=headers, principal=principal)

    @property
    def batches(self) -> bool:
        """The version has batches."""
        version = self.sender.session.version if self.sender.session else None
        return version is not None and FACTS[version].batches


class LegacyLeg:
    """Answers what arrives in the manner of the versions up to 2025-11-25."""

    def __init__(
        self, service: Service, visits: Visits, *, max_sessions: int, json_response: bool, stateless: bool
    ) -> None:
        self.stateless = stateless
        self.sessions = Sessions(max_sessions, lambda: visits.background)
        self._json_response = json_response
        self._service = service

    async def post(self, visit: Visit, headers: Headers, principal: str | None, message: Message) -> None:
        """Answer one message."""
        await self._sweep()
        opens = isinstance(message, Request) and message.method == INITIALIZE.name
        if isinstance(message, Request) and opens and not self.stateless:
            await self._initialize(visit, headers, principal, message)
            return
        with self._peer(headers, principal, opens=opens) as peer:
            if isinstance(message, Request):
                exchange = self._exchange(message, visit, peer)
                visit.on_gone = exchange.lose
                await _reply(visit, await self._run(exchange))
            else:
                await self._take(message, peer)
                await visit.reply.accept()

    async def _initialize(self, visit: Visit, headers: Headers, principal: str | None, request: Request) -> None:
        """Open a session; if the request fails there is none."""
        check_version(headers)
        if headers.raw(b"mcp-session-id") is not None:
            with self._session(headers, principal):
                raise InvalidRequest("This session is open already; `initialize` without Mcp-Session-Id opens another")
        session = self.sessions.open(principal)
        visit.reply.headers = [(b"mcp-session-id", session.session.id.encode())]
        peer = Peer(headers, principal, session, session.session)
        response: Response | None = None
        try:
            response = await self._run(self._exchange(request, visit, peer))
            if isinstance(response, Success):
                await self._service.open(session.session)
        finally:
            self._leave(session)
            if not isinstance(response, Success):
                visit.reply.headers = ()
                self.sessions.remove(session)
        await _reply(visit, response)

    async def post_batch(self, visit: Visit, headers: Headers, principal: str | None, body: bytes) -> None:
        """Answer a batch, where the version has such: the requests in it run side by side."""
        await self._sweep()
        with self._peer(headers, principal) as peer:
            if not peer.batches:
                raise InvalidRequest("Invalid request: the protocol version has no batches; send one message")
            texts = split_batch(body)
            if len(texts) > MAX_BATCH:
                raise InvalidRequest(f"Invalid request: a batch may have {MAX_BATCH} messages, not {len(texts)}")
            responses: list[Response] = []
            exchanges: list[LegacyExchange] = []
            for text in texts:
                try:
                    message = decode(text)
                except BadMessage as bad:
                    responses.append(bad.response())
                    continue
                if not isinstance(message, Request):
                    await self._take(message, peer)
                elif head_of(message).is_modern:
                    raise InvalidRequest("Invalid request: a request that names its own version may not be in a batch")
                else:
                    exchanges.append(self._exchange(message, visit, peer))
            responses += await self._run_all(visit, exchanges)
            await _reply_all(visit, responses, empty=not exchanges)

    async def _run_all(self, visit: Visit, exchanges: list[LegacyExchange]) -> list[Response]:
        def lose() -> None:
            for exchange in exchanges:
                exchange.lose()

        visit.on_gone = lose
        async with asyncio.TaskGroup() as group:
            for exchange in exchanges:
                exchange.task = group.create_task(self._run_in_batch(exchange))
        results = [exchange.task.result() for exchange in exchanges if exchange.task is not None]
        visit.check()
        return [response for response in results if response is not None]

    async def _run_in_batch(self, exchange: LegacyExchange) -> Response | None:
        if exchange.request.method == INITIALIZE.name:
            return BadMessage("`initialize` may not be in a batch", id=exchange.request.id).response()
        try:
            return await self._run(exchange)
        except RPCError as error:
            return BadMessage(error.message, code=error.code, id=exchange.request.id).response()
        except asyncio.CancelledError:
            if exchange.cancelled:
                return None
            raise

    async def _run(self, exchange: LegacyExchange) -> Response | None:
        """Let the service answer; None: the client cancelled the request meanwhile."""
        id, session = exchange.request.id, exchange.session
        if session is None:
            return await self._service.handle(exchange)
        stop = exchange.stop
        if not session.table.accept(id, stop):
            raise InvalidRequest("Invalid request: a request with this id is still in flight in this session")
        try:
            response = await self._service.handle(exchange)
        finally:
            exchange.cancelled = not session.table.finish(id, stop)
        return None if exchange.cancelled else response

    async def _take(self, message: Message, peer: Peer) -> None:
        """Take a notification, or the answer to a question that was asked in this very session."""
        if isinstance(message, Notification):
            if message.method != CANCELLED.name:
                await self._service.hear(message, peer.sender)
            elif peer.session is not None:
                _cancel(peer.session, message)
        elif peer.session is not None and not isinstance(message.id, UnsetType) and not isinstance(message, Request):
            future = peer.session.table.settle(message.id)
            if future is not None and not future.done():
                future.set_result(message)

    async def get(self, visit: Visit, headers: Headers, principal: str | None) -> None:
        """Open the session's one stream for what belongs to no request, until the client leaves."""
        await self._sweep()
        if not accepts(headers.raw(b"accept"), EVENT_STREAM):
            raise Refusal(406, RPCError(f"GET needs `Accept: {EVENT_STREAM}`", code=INVALID_REQUEST))
        with self._session(headers, principal) as session:
            if session.stream is not None:
                raise Refusal(409, RPCError("This session's stream is open already", code=INVALID_REQUEST))
            session.stream = visit
            try:
                await visit.reply.write(b"")
                session.flush()
                await _until_gone(visit)
            finally:
                session.stream = None

    async def delete(self, visit: Visit, headers: Headers, principal: str | None) -> None:
        """End a session and everything in it."""
        with self._session(headers, principal) as session:
            await self._close(session)
        await visit.reply.accept(204)

    async def close(self) -> None:
        """End all sessions."""
        for session in self.sessions.all():
            await self._close(session)

    def end_streams(self) -> None:
        """Let every GET stream end."""
        for session in self.sessions.all():
            if session.stream is not None:
                session.stream.interrupt("cancelled")

    async def _close(self, session: HTTPSession) -> None:
        self.sessions.remove(session)
        await self._service.close(session.session)

    async def _sweep(self) -> None:
        for session in self.sessions.expired(asyncio.get_running_loop().time()):
            if session.users == 0:  # nobody came back to it while another one was closed
                await self._close(session)

    @contextmanager
    def _peer(self, headers: Headers, principal: str | None, *, opens: bool = False) -> Generator[Peer, None, None]:
        """Find out who sent a request, and hold the session meanwhile. Raises `Refusal` and `InvalidRequest`."""
        if self.stateless:
            version = None if opens else check_version(headers) or ASSUMED_VERSION
            yield Peer(headers, principal, None, Session(version=version, principal=principal))
            return
        with self._session(headers, principal) as session:
            yield Peer(headers, principal, session, session.session)

    @contextmanager
    def _session(self, headers: Headers, principal: str | None) -> Generator[HTTPSession, None, None]:
        check_version(headers)
        id = headers.raw(b"mcp-session-id")
        if id is None:
            raise InvalidRequest(
                "Mcp-Session-Id header missing: send `initialize` first, or put protocol version and client "
                "capabilities into `params._meta`"
            )
        session = self.sessions.enter(id.decode("latin-1"), principal)
        try:
            yield session
        finally:
            self._leave(session)

    def _leave(self, session: HTTPSession) -> None:
        self.sessions.leave(session, asyncio.get_running_loop().time())

    def _exchange(self, request: Request, visit: Visit, peer: Peer) -> LegacyExchange:
        return LegacyExchange(request, peer.sender, visit, peer.session, quiet=self._json_response)


def check_version(headers: Headers) -> str | None:
    """Read the version a legacy client names. Raises `InvalidRequest` for one that sessions never have."""
    raw = headers.raw(b"mcp-protocol-version")
    version = None if raw is None else raw.decode("latin-1").strip()
    if version is not None and version not in HANDSHAKE_VERSIONS:
        known = ", ".join(HANDSHAKE_VERSIONS)
        raise InvalidRequest(f"MCP-Protocol-Version {version[:40]!a} is none of the versions served here: {known}")
    return version


def _cancel(session: HTTPSession, note: Notification) -> None:
    """Stop a request that the client cancelled; what cannot be understood is ignored."""
    try:
        id = CANCELLED.params_decoder.decode(note.params).request_id
    except (msgspec.DecodeError, TypeError):
        return
    stop = None if isinstance(id, UnsetType) else session.table.cancel(id)
    if stop is not None:
        stop()


async def _reply(visit: Visit, response: Response | None) -> None:
    visit.check()
    if response is not None:  # or its request was cancelled, and the reply is ended by whoever catches that
        await visit.reply.respond(200, written(response))


async def _reply_all(visit: Visit, responses: list[Response], *, empty: bool) -> None:
    """Answer a batch: with an array, or event by event if the stream has begun, or with nothing to what wants none."""
    if visit.reply.streaming:
        for response in responses:
            await visit.reply.event(written(response))
        await visit.reply.end()
    elif responses:
        await visit.reply.respond(200, b"[" + b",".join(map(written, responses)) + b"]")
    elif empty:
        await visit.reply.accept()
    else:
        await visit.reply.end()


async def _until_gone(visit: Visit) -> None:
    """Wait for the client to leave. The first message is the request's empty body."""
    for _ in range(2):
        if (await visit.receive())["type"] == "http.disconnect":
            break
    visit.reply.lose()
