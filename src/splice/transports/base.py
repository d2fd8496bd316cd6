"""The seams of a transport: exchange and service on the server's side, link and receiver on the client's.

A transport turns what arrives into exchanges and hands each to `Service.handle`; nothing streams, queues or relays
in between. A link carries one request to a server and brings back one response; whatever belongs to the request
and arrives before it is handed to a callback at once, in order, so a link needs no queue either.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from msgspec import Struct

from splice.errors import ConnectionClosed, LocalProtocolError
from splice.protocol import jsonrpc, methods, versions
from splice.rules import eras, sessions
from splice.rules.principal import Principal

if TYPE_CHECKING:
    from splice.stores.base import Store


class Sender(Struct, kw_only=True):
    """The sender of a request, as far as the transport knows."""

    kind: str
    """The transport: ``stdio``, ``memory``, ``http`` or the name of one of your own."""
    session: sessions.Session | None = None
    """The session the request belongs to, up to 2025-11-25; modern requests belong to none."""
    headers: Mapping[str, str] = {}
    """HTTP request headers, names in lower case."""
    principal: Principal | None = None
    """Whom the transport authenticated."""


class Exchange:
    """One inbound request and everything that belongs to it. Transports subclass it."""

    __slots__ = ("request", "sender")

    def __init__(self, request: jsonrpc.Request, sender: Sender) -> None:
        self.request = request
        self.sender = sender

    def confirm(self, version: str | None, row: methods.Method[Any, Any] | None, params: Any) -> None:
        """Compare what the transport carried beside the body with the body, once that is read.

        `version` is the one that the request names itself; `row` is None for a method that is not answered. Raises
        `RPCError` when they contradict each other; the request then does not run.
        """

    def rest(self) -> None:
        """Let go of what only the beginning of the request needs, its params and headers: it will wait for long."""

    async def notify(self, note: jsonrpc.Notification) -> None:
        """Send a notification on this request's own reply stream; nothing is sent once it is answered."""

    async def ask(self, method: str, params: Any) -> jsonrpc.Response:
        """Send the client a request, and wait for its response.

        Raises `LocalProtocolError` when this transport has no way back to the client, and `ConnectionClosed`.
        """
        del params
        raise LocalProtocolError(f"{method} cannot be sent: this transport has no way back to the client")

    async def close_stream(self) -> None:
        """Close the connection that the reply would come by, where the client knows to come back for it."""


class Service:
    """Answers what a transport receives. A server is one; so is a proxy, which needs `handle` only."""

    routes: Mapping[str, Any] = {}
    """What HTTP answers beside the endpoint: path -> `Route`."""
    protocols: eras.Protocols = eras.EVERY_PROTOCOL
    """The versions it speaks."""
    auth: Any = None
    """Checks who calls over HTTP, unless the endpoint has one of its own: a `splice.auth.Auth`."""
    limited: bool = False
    """Something is not for everybody, so that callers over HTTP must be known."""
    store: "Store | None" = None
    """Keeps what is to outlive a connection; None: a transport keeps it in memory."""

    async def open(self) -> None:
        """Get ready what requests need, before anything is listened to. Raises `RuntimeError`. Twice is fine."""

    async def handle(self, exchange: Exchange) -> jsonrpc.Response:
        """Answer one request. Never raises, but for being cancelled."""
        raise NotImplementedError

    async def hear(self, note: jsonrpc.Notification, sender: Sender) -> None:
        """Take a notification that belongs to no exchange. Never raises."""

    async def drain(self) -> None:
        """End what would run for ever (subscriptions): the transport is about to stop."""

    async def close(self) -> None:
        """Let go of what requests needed: none is in flight any more. Twice is fine."""


Hear: TypeAlias = Callable[[jsonrpc.Notification], Coroutine[Any, Any, None]]
"""Takes a notification. Never raises."""


class Receiver(Protocol):
    """Takes what a server sends of its own accord. The client is one."""

    async def answer(self, request: jsonrpc.Request) -> jsonrpc.Response:
        """Answer a request of the server's, up to 2025-11-25. Never raises, but for being cancelled."""
        ...

    async def hear(self, note: jsonrpc.Notification) -> None:
        """Take a notification that belongs to no running request. Never raises."""


class Outgoing(Struct):
    """One request on its way to a server."""

    id: jsonrpc.RequestId
    """Unique among the requests of one link. It is the progress token too, where `_meta` gives one."""
    method: str
    params: Any
    """A Struct, or `Raw`."""
    hear: Hear
    """Takes the notifications of this request, in order, until its response is there."""
    name: str | None = None
    """The tool, prompt or URI that the request is about, where its method says so."""
    mirrored: Mapping[str, str] = {}
    """Marked arguments that a transport repeats beside the body: name -> value, both as text."""


class Link:
    """A client's way to one server. Transports subclass it, and give what the server begins to a `Receiver`."""

    gone: ConnectionClosed | None = None
    """Why nothing can be sent any more; the client then connects anew, if it may."""

    on_gone: Callable[[ConnectionClosed], object] = str
    """Is to be told when the server leaves by itself. The client sets it."""

    def agree(self, facts: versions.Facts | None) -> None:
        """Speak this version from now on. Told before the probe, and when the opening has settled a version.

        None: the probe failed, so nothing is agreed again; told before a handshake on the same link.
        """

    async def listen(self) -> None:
        """Begin to hear what belongs to no request, where the transport has to ask for it."""

    def exchange(self, outgoing: Outgoing) -> Coroutine[Any, Any, jsonrpc.Response]:
        """Send a request and wait for its one response; cancelling the caller cancels the request at the server.

        Raises `ConnectionClosed`.
        """
        raise NotImplementedError

    async def notify(self, note: jsonrpc.Notification) -> None:
        """Send a notification. Raises `ConnectionClosed`."""
        raise NotImplementedError

    def excuse(self) -> str:
        """Say what may be behind an answer that does not come, to end a sentence with; empty when nothing is known."""
        return ""

    def drop(self) -> None:
        """Let go of what would outlive us: the link was never closed. Called from any thread; the loop may be over."""

    async def close(self) -> None:
        """Let go of the server; pending requests fail with `ConnectionClosed`. Closing twice is fine."""
        raise NotImplementedError
