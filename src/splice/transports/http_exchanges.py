"""Exchanges that came by HTTP, one kind per era: what a handler may send on the reply to its request.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
"""

import asyncio

from splice.errors import ConnectionClosed, LocalProtocolError
from splice.protocol.jsonrpc import Notification, Request, RequestId, Response, encode, raw
from splice.protocol.methods import CANCELLED
from splice.protocol.notifications import CancelledParams
from splice.transports.base import Sender
from splice.transports.http_sessions import HTTPSession, fail
from splice.transports.http_stream import Reply
from splice.transports.http_visits import Visit


class ModernExchange:
    """A modern request: notifications go on its reply, and the server never asks."""

    __slots__ = ("_reply", "request", "sender")

    def __init__(self, request: Request, sender: Sender, reply: Reply) -> None:
        self._reply = reply
        self.request = request
        self.sender = sender

    async def notify(self, note: Notification) -> None:
        """Send a notification, which makes the reply a stream."""
        await self._reply.event(encode(note))

    async def ask(self, request: Request) -> Response:
        """Refuse: a modern request ends with what the server wants to know."""
        raise LocalProtocolError(f"A modern client is never sent a request, and {request.method} is one")


class LegacyExchange:
    """A legacy request: the server may ask on the reply's stream, and the answer arrives in the session."""

    __slots__ = ("_asked", "_quiet", "_visit", "cancelled", "request", "sender", "session", "task")

    def __init__(
        self, request: Request, sender: Sender, visit: Visit, session: HTTPSession | None, *, quiet: bool
    ) -> None:
        self._visit = visit
        self._quiet = quiet
        self._asked: set[RequestId] = set()
        self.request = request
        self.sender = sender
        self.session = session
        """None where the server keeps no sessions."""
        self.task: asyncio.Task[Response | None] | None = None
        """Its own task, if it came in a batch."""
        self.cancelled = False
        """The client wants no answer any more."""

    async def notify(self, note: Notification) -> None:
        """Send a notification; where replies are plain JSON there is nowhere to send it."""
        if not self._quiet:
            await self._visit.reply.event(encode(note))

    async def ask(self, request: Request) -> Response:
        """Ask the client, and wait for its answer."""
        session, reply = self.session, self._visit.reply
        if session is None or self._quiet:
            setting = "stateless" if session is None else "json_response"
            raise LocalProtocolError(f"The client cannot be asked: this server runs with {setting}=True")
        request.id = session.table.next_id()
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        if reply.closed or not session.table.issue(request.id, future):
            raise ConnectionClosed("The client closed the stream or the session")
        self._asked.add(request.id)
        try:
            await reply.event(encode(request))
            return await future
        except asyncio.CancelledError:
            if session.table.abandon(request.id) and self._visit.why is None:
                self._visit.background.start(self._withdraw(request.id))
            raise
        finally:
            self._asked.discard(request.id)

    async def _withdraw(self, id: RequestId) -> None:
        await self.notify(Notification(CANCELLED.name, raw(CancelledParams(request_id=id))))

    def stop(self) -> None:
        """Cancel the work; nothing more is sent for it."""
        if self.task is None:
            self._visit.interrupt("cancelled")
        else:
            self.task.cancel()

    def lose(self) -> None:
        """End the questions that wait for a client which left the stream; the work itself goes on."""
        for id in list(self._asked):
            future = None if self.session is None else self.session.table.settle(id)
            if future is not None:
                fail(future)
