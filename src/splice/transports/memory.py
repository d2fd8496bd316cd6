"""Client and server in one process: a call is a call.

The handler runs in the caller's own task, so cancelling the one cancels the other, and a notification is a function
call. Messages still become JSON on the way, so that a test over memory sees what a real peer would see.
"""

from collections.abc import Mapping

from msgspec import UNSET, UnsetType

from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import Failure, Notification, Request, Response, Success, raw
from splice.protocol.methods import CANCELLED
from splice.rules.eras import Session
from splice.transports.background import Background
from splice.transports.base import Answer, Heard, Sender, Service, no_notice, no_request
from splice.transports.interrupting import Interruptible
from splice.transports.writing import unwritable


class MemoryExchange:
    """A request on its way through memory."""

    __slots__ = ("_heard", "_link", "is_open", "request", "sender")

    def __init__(self, link: "MemoryLink", request: Request, sender: Sender, heard: Heard) -> None:
        self._link = link
        self._heard = heard
        self.is_open = True
        self.request = request
        self.sender = sender

    async def notify(self, note: Notification) -> None:
        """Hand a notification to the caller, unless the request is answered already."""
        if self.is_open:
            await self._heard(_as_arrived(note))

    async def ask(self, request: Request) -> Response:
        """Ask the client."""
        request.id = self._link.next_id()
        if request.params is not UNSET:
            request.params = raw(request.params)
        return _response_as_arrived(await self._link.on_request(request))


class MemoryLink:
    """A link to a server object in the same process."""

    def __init__(self, service: Service) -> None:
        self.on_request: Answer = no_request
        self.on_notice: Heard = no_notice
        self._service = service
        self._session = Session(push=self._push)
        self._sender = Sender(kind="memory", session=self._session)
        self._background = Background()
        self._running: set[Interruptible] = set()
        self._last_id = 0
        self._closed = False

    async def exchange(self, request: Request, heard: Heard, headers: Mapping[str, str]) -> Response:  # noqa: ARG002
        """Call the server's handler here and now."""
        if self._closed:
            raise ConnectionClosed("The connection is closed")
        if not isinstance(request.params, UnsetType):
            request.params = raw(request.params)
        exchange = MemoryExchange(self, request, self._sender, heard)
        try:
            with Interruptible(self._running, "the server"):
                return _response_as_arrived(await self._service.handle(exchange))
        finally:
            exchange.is_open = False

    async def notify(self, note: Notification) -> None:
        """Let the server hear a notification; a cancellation needs none, as it reaches the handler by itself."""
        if self._closed:
            raise ConnectionClosed("The connection is closed")
        if note.method != CANCELLED.name:
            await self._service.hear(_as_arrived(note), self._sender)

    async def open(self) -> None:
        """Let the server know of this peer."""
        await self._service.open(self._session)

    async def close(self) -> None:
        """Leave the server; calls still running end with `ConnectionClosed`."""
        if not self._closed:
            self._closed = True
            for running in tuple(self._running):
                running.interrupt()
            await self._service.close(self._session)
            await self._background.close()

    def next_id(self) -> int:
        """Make an id for a request of the server's."""
        self._last_id += 1
        return self._last_id

    def _push(self, note: Notification) -> None:
        if not self._closed:
            self._background.start(self.on_notice(_as_arrived(note)))


def _as_arrived(note: Notification) -> Notification:
    return Notification(note.method, UNSET if note.params is UNSET else raw(note.params))


def _response_as_arrived(response: Response) -> Response:
    if isinstance(response, Failure):
        return response
    try:
        return Success(response.id, raw(response.result))
    except Exception as error:  # noqa: BLE001 - as where responses are written
        return unwritable(response, error)
