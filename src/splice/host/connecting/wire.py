"""The messages between the host and one server, as JSON-RPC: the last of them are kept, for whoever wants to look.

A target is wrapped, and so are the links that it makes. What goes by is kept as bytes of its own, so that a small part
never holds on to a large message, and becomes text only when somebody asks for it: a flood costs next to nothing. What
a transport does below messages is not seen here: HTTP headers, lines that are no messages.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from msgspec import Raw, Struct
from msgspec.structs import replace

from splice.client.targets import Target
from splice.errors import ConnectionClosed
from splice.protocol import jsonrpc, versions
from splice.rules import exchanges
from splice.transports import base, channel

MAX_MESSAGES = 500
MAX_BYTES = 2 * 2**20
"""Of all messages that are kept of one server."""

MAX_TEXT = 64 * 2**10
"""A longer message is cut, in bytes."""

_SPARE = 16 * 2**10
"""How much more is kept of one that is cut, so that a secret at the end is seen whole, and blotted."""

UNWRITABLE = (TypeError, ValueError, OverflowError, RecursionError)
"""Raised for what cannot be written as JSON."""

Direction = Literal["to", "from"]


class Message(Struct, frozen=True):
    """One message."""

    number: int
    """Counts all messages of the server, from 1."""
    at: float
    direction: Direction
    """``to`` the server, or ``from`` it."""
    text: str
    cut: bool = False
    """It is longer: this is its beginning."""


class _Kept(Struct, frozen=True):
    number: int
    at: float
    direction: Direction
    data: bytes
    """Encoded: its beginning, if it is too long to be kept whole."""


class Wire:
    """The messages of one server. `came` is told of each; `blotted` takes the secrets out of a text."""

    def __init__(self, came: Callable[[], None], blotted: Callable[[str], str]) -> None:
        self._came, self._blotted = came, blotted
        self._kept: deque[_Kept] = deque()
        self._bytes = 0
        self.count = 0
        """How many there were."""

    def keep(self, direction: Direction, message: jsonrpc.Message) -> None:
        """Take a message that goes by."""
        data = _written(message)[: MAX_TEXT + _SPARE]
        self.count += 1
        self._kept.append(_Kept(self.count, time.time(), direction, data))
        self._bytes += len(data)
        while len(self._kept) > MAX_MESSAGES or self._bytes > MAX_BYTES:
            self._bytes -= len(self._kept.popleft().data)
        self._came()

    def messages(self, after: int = 0) -> list[Message]:
        """List the messages that are kept and came after the one of this number."""
        return [self._shown(each) for each in self._kept if each.number > after]

    def _shown(self, kept: _Kept) -> Message:
        text = self._blotted(kept.data.decode(errors="replace"))
        spare = len(kept.data[MAX_TEXT:].decode(errors="replace"))  # part of a secret may be at its end
        return Message(kept.number, kept.at, kept.direction, text[:-spare] if spare else text, spare > 0)


class Watched:
    """A target whose messages are kept."""

    def __init__(self, target: Target, wire: Wire) -> None:
        self._target, self._wire = target, wire
        self.kind, self.name = target.kind, target.name

    async def connect(self, receiver: base.Receiver) -> base.Link:
        """Make a link to it. Raises `ConnectionClosed`."""
        return _Link(await self._target.connect(_Receiver(receiver, self._wire)), self._wire, self.kind)


class _Receiver:
    """Hears what the server begins before the client does."""

    def __init__(self, receiver: base.Receiver, wire: Wire) -> None:
        self._receiver, self._wire = receiver, wire

    def __getattr__(self, name: str) -> Any:
        return getattr(self._receiver, name)  # what a client offers beyond a receiver

    async def answer(self, request: jsonrpc.Request) -> jsonrpc.Response:
        """Answer a request of the server's."""
        self._wire.keep("from", request)
        response = await self._receiver.answer(request)
        self._wire.keep("to", response)
        return response

    async def hear(self, note: jsonrpc.Notification) -> None:
        """Take a notification that belongs to no running request."""
        self._wire.keep("from", note)
        await self._receiver.hear(note)


class _Link(base.Link):
    """A link whose messages are kept."""

    def __init__(self, link: base.Link, wire: Wire, kind: str) -> None:
        self._link, self._wire, self._kind = link, wire, kind
        self._facts: versions.Facts | None = None
        link.on_gone = self._left

    def agree(self, facts: versions.Facts | None) -> None:
        """Speak this version from now on."""
        self._facts = facts
        self._link.agree(facts)

    async def exchange(self, outgoing: base.Outgoing) -> jsonrpc.Response:
        """Send a request and wait for its response. Raises `ConnectionClosed`."""
        wire, hear = self._wire, outgoing.hear

        def heard(note: jsonrpc.Notification) -> Coroutine[Any, Any, None]:
            wire.keep("from", note)
            return hear(note)

        wire.keep("to", jsonrpc.Request(outgoing.id, outgoing.method, outgoing.params))
        try:
            response = await self._link.exchange(replace(outgoing, hear=heard))
        except ConnectionClosed:
            self.gone = self._link.gone or self.gone
            raise
        except asyncio.CancelledError as error:
            self._note_cancelled(outgoing, error)
            raise
        wire.keep("from", response)
        return response

    async def notify(self, note: jsonrpc.Notification) -> None:
        """Send a notification. Raises `ConnectionClosed`."""
        self._wire.keep("to", note)
        try:
            await self._link.notify(note)
        except ConnectionClosed:
            self.gone = self._link.gone or self.gone
            raise

    def _left(self, reason: ConnectionClosed) -> None:
        self.gone = reason
        self.on_gone(reason)

    async def listen(self) -> None:
        """Begin to hear what belongs to no request."""
        await self._link.listen()

    def excuse(self) -> str:
        """Say what may be behind an answer that does not come."""
        return self._link.excuse()

    def drop(self) -> None:
        """Let go of what would outlive us."""
        self._link.drop()

    async def close(self) -> None:
        """Let go of the server."""
        await self._link.close()

    def _note_cancelled(self, outgoing: base.Outgoing, error: asyncio.CancelledError) -> None:
        """Keep the notification by which the transport itself cancels a request, where it does not close a stream."""
        closes = self._kind == "http" and (self._facts is None or self._facts.closed_stream_cancels)
        if closes or self._kind == "memory":
            return
        note = exchanges.cancellation(outgoing.id, outgoing.method, channel.reason_of(error))
        if note is not None:
            self._wire.keep("to", note)


def _outcome(response: jsonrpc.Response) -> Any:
    return response.error if isinstance(response, jsonrpc.Failure) else response.result


def _written(message: jsonrpc.Message) -> bytes:
    """Write a message, or at least its beginning."""
    body = message.params if isinstance(message, jsonrpc.Request | jsonrpc.Notification) else _outcome(message)
    try:
        if isinstance(body, Raw) and len(memoryview(body)) > MAX_TEXT:
            return _beginning(message, body)
        return jsonrpc.encode(message)
    except UNWRITABLE as error:  # the transport raises the same, or sends an error in its place
        return f"It cannot be written as JSON: {error}".encode()


def _beginning(message: jsonrpc.Message, body: Raw) -> bytes:
    """Write the beginning of a message without writing all of its body."""
    field = "result" if isinstance(message, jsonrpc.Success) else "params"
    start = jsonrpc.encode(replace(message, **{field: 0}))[:-2]
    return start + bytes(memoryview(body)[: MAX_TEXT + _SPARE])
