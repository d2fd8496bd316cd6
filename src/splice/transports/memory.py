"""Client and server in one process: a call is a call.

The handler runs in the caller's own task, so cancelling the one cancels the other, and a notification is a function
call. Messages still become JSON on the way, so that a test over memory sees what a real peer would see.
"""

import asyncio
from itertools import count
from typing import Any

from splice.errors import ConnectionClosed
from splice.protocol import jsonrpc, notifications
from splice.rules import sessions
from splice.transports import base, channel, tasks

_CLOSED = "The connection is closed"


class MemoryExchange(base.Exchange):
    """A request on its way through memory."""

    __slots__ = ("_hear", "_link")

    def __init__(self, link: "MemoryLink", request: jsonrpc.Request, sender: base.Sender, hear: base.Hear) -> None:
        self.request, self.sender = request, sender
        self._link, self._hear = link, hear

    async def notify(self, note: jsonrpc.Notification) -> None:
        """Hand a notification to the caller, unless the request is answered already."""
        if self in self._link.running:
            await self._hear(_note_as_arrived(note))

    async def ask(self, method: str, params: Any) -> jsonrpc.Response:
        """Ask the client, in the same task."""
        request = jsonrpc.Request(next(self._link.ids), method, _as_arrived(params))
        return _response_as_arrived(await self._link.receiver.answer(request))


class MemoryLink(base.Link):
    """A link to a server object in the same process."""

    def __init__(self, service: base.Service, receiver: base.Receiver) -> None:
        self._service, self.receiver = service, receiver
        self._session = sessions.Session(push=self._push)
        self._sender = base.Sender(kind="memory", session=self._session)
        self._loop, self._background = asyncio.get_running_loop(), tasks.Background()
        self.running: dict[MemoryExchange, tasks.Stretch] = {}
        """The requests being answered, each with the part of the caller's task that runs the handler."""
        self.ids = count(1)
        """The ids of the server's requests."""
        self._closed = False

    async def exchange(self, outgoing: base.Outgoing) -> jsonrpc.Response:
        """Call the server's handler here and now. Raises `ConnectionClosed`."""
        if self._closed:
            raise ConnectionClosed(_CLOSED)
        params = outgoing.params if outgoing.params is None else jsonrpc.raw(outgoing.params)
        request = jsonrpc.Request(outgoing.id, outgoing.method, params)
        exchange = MemoryExchange(self, request, self._sender, outgoing.hear)
        with tasks.Stretch(self._loop) as self.running[exchange]:
            try:
                return _response_as_arrived(await self._service.handle(exchange))
            finally:
                del self.running[exchange]

    async def notify(self, note: jsonrpc.Notification) -> None:
        """Let the server hear a notification; a cancellation needs none, as it reaches the handler by itself."""
        if self._closed:
            raise ConnectionClosed(_CLOSED)
        if note.method != notifications.CANCELLED.name:
            await self._service.hear(_note_as_arrived(note), self._sender)

    async def close(self) -> None:
        """End the session; calls still running end with `ConnectionClosed`."""
        if not self._closed:
            self._closed = True
            for stretch in self.running.values():
                stretch.end(ConnectionClosed("The connection to the server was closed"))
            self._session.end()
            await self._background.close()

    def _push(self, note: jsonrpc.Notification) -> None:
        if not self._closed:
            self._background.start(self.receiver.hear(_note_as_arrived(note)))


def _as_arrived(params: Any) -> Any:
    return None if params is None else jsonrpc.raw(params)


def _note_as_arrived(note: jsonrpc.Notification) -> jsonrpc.Notification:
    return jsonrpc.Notification(note.method, _as_arrived(note.params))


def _response_as_arrived(response: jsonrpc.Response) -> jsonrpc.Response:
    if isinstance(response, jsonrpc.Failure):
        return response
    try:
        return jsonrpc.Success(response.id, jsonrpc.raw(response.result))
    except Exception as error:  # noqa: BLE001 - a user's object may raise anything while it is being written
        return channel.unwritable(response, error)
