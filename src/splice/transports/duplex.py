"""One line channel, driven in both directions: stdio on either side.

`feed` takes the bytes that arrive, cuts them into messages and acts on each at once; what is written in the same
turn of the event loop leaves in one write. There is no reader task and no queue: a task exists only per request
that is being answered. All bookkeeping is the exchange table's.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import msgspec
from msgspec import UnsetType

from splice.errors import ConnectionClosed, InternalError, InvalidRequest
from splice.protocol.jsonrpc import (
    MAX_MESSAGE_BYTES,
    BadMessage,
    Failure,
    Lines,
    Message,
    Notification,
    Request,
    Response,
    Success,
    decode,
    encode,
    failure,
    is_batch,
    raw,
    split_batch,
)
from splice.protocol.methods import CANCELLED, INITIALIZE, PROGRESS
from splice.protocol.notifications import CancelledParams
from splice.rules.exchanges import ExchangeTable
from splice.transports.background import Background
from splice.transports.base import Heard, Sender, no_notice
from splice.transports.writing import written

MAX_IN_FLIGHT = 10_000
"""How many requests of one peer may run at once. More are refused, not queued: answers to questions must get in."""

log = logging.getLogger("splice.transport")

CLEAN_UP_SECONDS = 1.0
"""How long cancelled work may take to end."""

GATHER_BYTES = 64 * 1024
"""How much may gather before it is written at once: only what is written can tell that the peer does not read."""

Serve: TypeAlias = Callable[["DuplexExchange"], Coroutine[Any, Any, Response]]


class _Waiting:
    """A request of ours in flight: where its response goes, and who hears what comes before it."""

    __slots__ = ("future", "heard")

    def __init__(self, future: "asyncio.Future[Response]", heard: Heard) -> None:
        self.future = future
        self.heard = heard


class DuplexExchange:
    """A request that arrived on a line channel."""

    __slots__ = ("_duplex", "request", "sender", "task")

    task: asyncio.Task[None]
    """The work on the answer."""

    def __init__(self, duplex: "Duplex", request: Request, sender: Sender) -> None:
        self._duplex = duplex
        self.request = request
        self.sender = sender

    async def notify(self, note: Notification) -> None:
        """Send a notification, unless the request is answered or cancelled already."""
        if self._duplex.table.is_open(self.request.id, self):
            await self._duplex.notify(note)

    async def ask(self, request: Request) -> Response:
        """Ask the peer, and wait for the answer."""
        request.id = self._duplex.table.next_id()
        return await self._duplex.request(request, no_notice)


class Duplex:
    """Both ends of a line channel: answers the peer's requests, and asks some of its own.

    `write` takes bytes for the peer and never blocks; `serve` answers a request; `hear` takes notifications that
    belong to no request of ours; `stray` is told of every line that was no message.
    """

    def __init__(
        self,
        write: Callable[[bytes], None],
        serve: Serve,
        hear: Heard,
        *,
        sender: Sender,
        stray: Callable[[BadMessage], None] | None = None,
        batches: Callable[[], bool] = lambda: False,
        max_bytes: int = MAX_MESSAGE_BYTES,
    ) -> None:
        self.table: ExchangeTable[DuplexExchange, _Waiting] = ExchangeTable()
        self._write = write
        self._serve = serve
        self._hear = hear
        self._sender = sender
        self._stray = stray
        self._batches = batches
        self._lines = Lines(max_bytes)
        self._loop = asyncio.get_running_loop()
        self._outgoing: list[bytes] = []
        self._gathered = 0
        self._background = Background()
        self._writable = asyncio.Event()
        self._writable.set()

    # What arrives.

    def feed(self, data: bytes) -> None:
        """Take bytes that arrived and act on each message that is complete."""
        for line in self._lines.feed(data):
            if isinstance(line, BadMessage):
                self._refuse(line)
            elif is_batch(line):
                self._take_batch(line)
            else:
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            message = decode(line)
        except BadMessage as bad:
            self._refuse(bad)
        else:
            self._act(message)

    def _take_batch(self, line: bytes) -> None:
        """Take a batch where the version has them; its responses leave one by one, which the version allows."""
        try:
            if not self._batches():
                raise BadMessage("Invalid request: the protocol version has no batches; send one message")  # noqa: TRY301
            texts = split_batch(line)
        except BadMessage as bad:
            self._refuse(bad)
        else:
            for text in texts:
                self._take(text)

    def _refuse(self, bad: BadMessage) -> None:
        if self._stray is None:
            self._reply(bad.response())
        else:
            self._stray(bad)

    def _act(self, message: Message) -> None:
        if isinstance(message, Request):
            self._begin(message)
        elif isinstance(message, Notification):
            self._note(message)
        else:
            self._settle(message)

    def _begin(self, request: Request) -> None:
        exchange = DuplexExchange(self, request, self._sender)
        if self.table.owed >= MAX_IN_FLIGHT:
            busy = InternalError(f"{MAX_IN_FLIGHT} requests are in flight already; wait for some of them")
            self._reply(failure(request.id, busy))
        elif self.table.accept(request.id, exchange):
            exchange.task = self._loop.create_task(self._answer(exchange))
        else:
            why = "the server is shutting down" if self.table.closed else "a request with this id is still in flight"
            self._reply(failure(request.id, InvalidRequest(f"Invalid request: {why}")))

    async def _answer(self, exchange: DuplexExchange) -> None:
        if not self._writable.is_set():  # work for a peer that does not take its results would only pile them up
            await self._writable.wait()
        response = await self._serve(exchange)
        if self.table.finish(exchange.request.id, exchange):
            self._reply(response)

    def _note(self, note: Notification) -> None:
        if note.method == CANCELLED.name:
            self._cancel(note)
        elif note.method == PROGRESS.name:
            self._progress(note)
        else:
            self._background.start(self._hear(note))

    def _cancel(self, note: Notification) -> None:
        try:
            id = CANCELLED.params_decoder.decode(note.params).request_id
        except (msgspec.DecodeError, TypeError):
            return
        exchange = None if isinstance(id, UnsetType) else self.table.cancel(id)
        if exchange is not None:
            exchange.task.cancel()

    def _progress(self, note: Notification) -> None:
        try:
            params = PROGRESS.params_decoder.decode(note.params)
        except (msgspec.DecodeError, TypeError):
            return
        waiting = self.table.progress(params.progress_token, params.progress)
        if waiting is not None:
            self._background.start(waiting.heard(note))

    def _settle(self, response: Success | Failure) -> None:
        waiting = None if isinstance(response.id, UnsetType) else self.table.settle(response.id)
        if waiting is None:
            log.debug("ignored a response nobody waits for: id %r", response.id)
        elif not waiting.future.done():
            waiting.future.set_result(response)

    # What leaves.

    async def request(self, request: Request, heard: Heard) -> Response:
        """Send a request and wait for its response; cancelling the caller cancels the request at the peer.

        Raises `ConnectionClosed`.
        """
        data = encode(request)
        future: asyncio.Future[Response] = self._loop.create_future()
        if not self.table.issue(request.id, _Waiting(future, heard)):
            raise ConnectionClosed("The connection is closed")
        self._put(data)
        if self.table.waits_for_one:
            self.flush()  # nothing will join it, so do not wait for the loop to come round
        try:
            if not self._writable.is_set():
                await self._writable.wait()
            return await future
        except asyncio.CancelledError:
            if self.table.abandon(request.id) and request.method != INITIALIZE.name:
                self._put(encode(Notification(CANCELLED.name, raw(CancelledParams(request_id=request.id)))))
            raise

    async def notify(self, note: Notification) -> None:
        """Send a notification, waiting while the peer does not read. Raises what `encode` does."""
        self._put(encode(note))
        if not self._writable.is_set():
            await self._writable.wait()

    def push(self, note: Notification) -> None:
        """Send a notification without waiting."""
        self._put(encode(note))

    def _reply(self, response: Response) -> None:
        self._put(written(response))

    def _put(self, data: bytes) -> None:
        if not self._outgoing:
            self._loop.call_soon(self.flush)
        self._outgoing.append(data)
        self._gathered += len(data)
        if self._gathered > GATHER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what has gathered."""
        if self._outgoing:
            data = b"\n".join(self._outgoing) + b"\n"
            self._outgoing.clear()
            self._gathered = 0
            self._write(data)

    def pause(self) -> None:
        """Let writers wait: the peer reads too slowly."""
        self._writable.clear()

    def resume(self) -> None:
        """Let writers go on: the peer has caught up."""
        self._writable.set()

    # The end.

    async def drain(self, seconds: float) -> None:
        """Let requests that arrived finish, for so long; then cancel the rest, answering each with an error.

        The peer is not heard any more: what we asked of it fails at once.
        """
        self._fail(self.table.give_up(), ConnectionClosed("The connection is being closed"))
        tasks = [exchange.task for _, exchange in self.table.inbound]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        late = [exchange for _, exchange in self.table.inbound]
        for exchange in late:
            self._reply(failure(exchange.request.id, InternalError("The server is shutting down: not finished")))
        self.flush()
        await self._stop(late)

    async def lost(self, reason: ConnectionClosed) -> None:
        """Give up the channel: every pending request fails with `reason`, and all work for the peer stops."""
        inbound, outbound = self.table.close()
        self._writable.set()
        self._fail(outbound, reason)
        await self._stop(inbound)
        await self._background.close()

    def _fail(self, outbound: list[_Waiting], reason: ConnectionClosed) -> None:
        for waiting in outbound:
            if not waiting.future.done():
                waiting.future.set_exception(reason)
                waiting.future.exception()

    async def _stop(self, exchanges: list[DuplexExchange]) -> None:
        """Cancel work that nobody waits for any more, and give it a moment to clean up."""
        for exchange in exchanges:
            self.table.cancel(exchange.request.id)
            exchange.task.cancel()
        if exchanges:
            await asyncio.wait([exchange.task for exchange in exchanges], timeout=CLEAN_UP_SECONDS)
