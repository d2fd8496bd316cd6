"""The two seams: an exchange on the server's side, a link on the client's.

A transport turns what arrives into exchanges and hands each to `Service.handle`; nothing streams, queues or relays
in between. A link carries one request to a server and brings back one response; whatever belongs to the request
and arrives before it is handed to a callback at once, in order, so a link needs no queue either.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from splice.errors import MethodNotFound
from splice.protocol.jsonrpc import Notification, Request, Response, failure
from splice.rules.eras import Session

TransportKind: TypeAlias = Literal["stdio", "memory", "http"]


class Sender(Struct, kw_only=True):
    """Who sent a request, as far as the transport knows."""

    kind: TransportKind
    session: Session | None = None
    """The legacy session the request belongs to; modern requests belong to none."""
    headers: Mapping[str, str] = {}
    """HTTP request headers, names in lower case."""
    principal: str | None = None
    """Whom the transport authenticated."""


class Exchange(Protocol):
    """One inbound request and everything that belongs to it."""

    request: Request
    sender: Sender

    async def notify(self, note: Notification) -> None:
        """Send a notification on this request's own reply stream; nothing is sent once it is answered."""
        ...

    async def ask(self, request: Request) -> Response:
        """Ask the client, and wait for its answer. Legacy only; the transport sets the id.

        Raises `LocalProtocolError` when this transport has no way back to the client, and `ConnectionClosed`.
        """
        ...


class Service(Protocol):
    """What a transport serves: `Server` is one."""

    async def handle(self, exchange: Exchange) -> Response:
        """Answer one request. Never raises, but for being cancelled."""
        ...

    async def hear(self, note: Notification, sender: Sender) -> None:
        """Take note of a notification that concerns no exchange. Never raises."""
        ...

    async def open(self, session: Session) -> None:
        """Tell a legacy peer about changes from now on, through `session.push`."""
        ...

    async def close(self, session: Session) -> None:
        """Forget a legacy session: it is over."""
        ...

    async def stop(self) -> None:
        """Prepare for the end: what would run for ever (subscriptions) ends now."""
        ...

    async def end(self) -> None:
        """Let go of what requests needed: none is in flight any more."""
        ...

    def header_parameters(self, tool: str) -> Mapping[tuple[str, ...], str] | None:
        """Tell which arguments of a tool HTTP headers must mirror: path of the argument -> header name."""
        ...


Heard: TypeAlias = Callable[[Notification], Coroutine[Any, Any, None]]
"""Takes a notification that belongs to a running request."""

Answer: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]
"""Answers a request the server sent. Legacy only."""


async def no_request(request: Request) -> Response:
    """Refuse what a server asks of a client that does not listen."""
    return failure(request.id, MethodNotFound("Method not found"))


async def no_notice(_: Notification) -> None:
    """Take no notice."""


class Link(Protocol):
    """A client's way to one server.

    Before it is used, the client sets `on_request` (answers the server's requests, legacy only) and `on_notice`
    (takes notifications that belong to no running request).
    """

    on_request: Answer
    on_notice: Heard

    async def exchange(self, request: Request, heard: Heard, headers: Mapping[str, str]) -> Response:
        """Send a request and wait for its one response; cancelling the caller cancels the request at the server.

        `heard` takes the notifications of this request, in order. `headers` is for HTTP; other links ignore it.
        Raises `ConnectionClosed`.
        """
        ...

    async def notify(self, note: Notification) -> None:
        """Send a notification. Raises `ConnectionClosed`."""
        ...

    async def close(self) -> None:
        """Let go of the server; pending requests fail with `ConnectionClosed`. Closing twice is fine."""
        ...
