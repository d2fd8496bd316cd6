"""A channel of messages: the requests in flight between two peers, in both directions.

A channel moves no bytes. What arrives is given to it message by message, and it sends through a callable; so the same
rules hold for a pipe, for an HTTP session and for a test. There is no reader task and no queue: each message is acted
upon when it is given, and a task exists only per request that is being answered.

Two ways in: `take` answers a request in a task of its own and sends the response; `answer` answers it in the
caller's task and returns the response, as an HTTP POST wants it. Two ways out: `request` for what a client sends,
`ask` for what a server asks while it answers. All bookkeeping is the exchange table's.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeAlias, cast

from splice import errors
from splice.protocol import jsonrpc, lifecycle, notifications
from splice.protocol.jsonrpc import BadMessage, Failure, Message, Notification, Request, Response, encode, failure
from splice.rules import eras, exchanges
from splice.transports import base, tasks

CLEAN_UP_SECONDS = 1.0
"""How long cancelled work may take to end."""

MAX_DIGITS = 19
"""An id of that many digits may stand for a number."""

Send: TypeAlias = Callable[[Message], None]
"""Sends a message. Never blocks. Raises what encoding raises, but not for a response."""

SendOn: TypeAlias = Callable[[Message], Coroutine[Any, Any, None]]
"""Sends a message on a stream of its own, waiting while the peer does not read."""

Serve: TypeAlias = Callable[["ChannelExchange"], Coroutine[Any, Any, Response]]
"""Answers a request. Never raises, but for being cancelled."""

log = logging.getLogger("splice.transport")


class ChannelExchange(base.Exchange):
    """A request that arrived on a channel. HTTP subclasses it: its streams are its own."""

    __slots__ = ("channel", "task")

    task: asyncio.Task[Any]
    """Works on the answer, once the request was accepted."""

    def __init__(self, channel: "Channel", request: Request, sender: base.Sender) -> None:
        self.request = request  # written out: a call of the base class costs as much as all of this
        self.sender = sender
        self.channel = channel

    @property
    def is_open(self) -> bool:
        """It is neither answered nor cancelled."""
        return self.channel.table.is_open(self.request.id, self)

    async def notify(self, note: Notification) -> None:
        """Send a notification, unless the request is answered or cancelled already."""
        if self.is_open:
            await self.channel.notify(note)

    async def ask(self, method: str, params: Any) -> Response:
        """Send the peer a request, and wait for its response. Raises `ConnectionClosed`."""
        return await self.channel.ask(method, params)


class _Waiting(NamedTuple):
    """A request of ours in flight, and where its response goes."""

    outgoing: base.Outgoing
    future: asyncio.Future[Response]

    def fail(self, reason: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(reason)
            self.future.exception()  # whoever waits may be gone: then it is nobody's business


class Channel:
    """The requests in flight between two peers that exchange messages.

    `send` sends a message; `serve` answers a request; `hear` takes notifications that belong to no request of ours;
    `sender` stands in every exchange that `take` begins.
    """

    __slots__ = ("_background", "_hear", "_loop", "_sender", "_serve", "_writable", "gone", "remark", "send", "table")

    def __init__(self, send: Send, serve: Serve, hear: base.Hear, sender: base.Sender) -> None:
        self.table: exchanges.ExchangeTable[ChannelExchange, _Waiting] = exchanges.ExchangeTable()
        self.send = send
        self._serve, self._hear, self._sender = serve, hear, sender
        self._loop = asyncio.get_running_loop()
        self._background = tasks.Background()
        self._writable: asyncio.Event | None = None
        """Set when the peer has caught up; None while it reads quickly enough."""
        self.gone: errors.ConnectionClosed | None = None
        """Why the channel has ended; None while it has not."""
        self.remark: jsonrpc.Remark = log.debug
        """Is told what had to be changed in a response."""

    # What arrives.

    def take(self, message: Message, send: Send | None = None) -> "asyncio.Task[None] | None":
        """Act on a message. A request is answered in the task that is returned, and `send` sends the response."""
        if not isinstance(message, Request):
            self.take_other(message, self._hear)
            return None
        send = send or self.send
        exchange = ChannelExchange(self, message, self._sender)
        refusal = self.table.accept(message.id, exchange)
        if refusal is None:
            exchange.task = task = self._loop.create_task(self._answer(exchange, send))
            return task
        if self._writable is None:  # refusals would only pile up for a peer that does not read
            send(failure(message.id, refusal))
        return None

    def take_other(self, message: Notification | Response, hear: base.Hear) -> None:
        """Act on a notification or a response; what is about no request in flight is for `hear`."""
        if not isinstance(message, Notification):
            waiting = None if message.id is None else self._waiting_for(message.id)
            if waiting is None:
                log.debug("ignored a response nobody waits for: id %r", message.id)
            elif not waiting.future.done():
                waiting.future.set_result(message)
        elif message.method == notifications.CANCELLED.name:
            exchange = self.table.take_cancelled(message)
            if exchange is not None:
                log.debug("request %r is cancelled: %r", exchange.request.id, bytes(message.params))
                exchange.task.cancel()
        elif message.method == notifications.PROGRESS.name:
            waiting = self.table.take_progress(message)
            if waiting is not None:
                self._background.start(waiting.outgoing.hear(message))
        else:
            self._background.start(hear(message))

    def take_batch(self, texts: list[bytes], hear: base.Hear, reject: Callable[[BadMessage], None]) -> list[Request]:
        """Act on the messages of a batch, but for the requests: these are returned. `reject` is told of bad ones."""
        requests: list[Request] = []
        for text in texts:
            try:
                message = jsonrpc.decode(text, remark=self.remark)
                if not isinstance(message, Request):
                    self.take_other(message, hear)
                elif message.method == lifecycle.INITIALIZE.name or eras.names_its_version(message.params):
                    told = "Invalid request: what opens a session, or names its own version, may not be in a batch"
                    reject(BadMessage(told, id=message.id))
                else:
                    requests.append(message)
            except BadMessage as bad:
                if not self.discredit(bad):
                    reject(bad)
        return requests

    async def _answer(self, exchange: ChannelExchange, send: Send) -> None:
        if self._writable is not None:  # work for a peer that does not take its results would only pile them up
            await self._writable.wait()
        try:
            response = await self._serve(exchange)
        except Exception as error:
            log.exception("request %r could not be answered", exchange.request.id)
            response = failure(exchange.request.id, errors.InternalError(f"Internal error: {type(error).__name__}"))
        except asyncio.CancelledError:  # by the peer, or the end of the channel; else by the handler itself
            if self.table.finish(exchange.request.id, exchange):
                send(failure(exchange.request.id, errors.InternalError("Internal error: the handler was cancelled")))
            raise
        if self.table.finish(exchange.request.id, exchange):
            send(response)

    async def answer(self, exchange: ChannelExchange, task: asyncio.Task[Any] | None = None) -> Response | None:
        """Answer a request in the caller's task. None: it was cancelled, or the channel ended, and nobody waits.

        A caller that knows its `task` gives it, as asking for it takes a while.

        Raises `RPCError` for a request that may not begin: its id is in flight already, or too many are.
        """
        refusal = self.table.accept(exchange.request.id, exchange)
        if refusal is not None:
            raise refusal
        exchange.task = task = task or cast("asyncio.Task[Any]", asyncio.current_task())
        before = task.cancelling()
        try:
            response = await self._serve(exchange)
        except asyncio.CancelledError:
            if self.table.finish(exchange.request.id, exchange) or task.uncancel() > before:
                raise  # the caller is cancelled, not only the request
            return None
        if self.table.finish(exchange.request.id, exchange):
            return response
        if task.cancelling() > before:  # in vain: the handler took no notice
            task.uncancel()
        return None

    def discredit(self, bad: BadMessage) -> bool:
        """Fail the request of ours that a text answers which is not a message. False: it answers none."""
        waiting = None if bad.id is None or not bad.answers else self._waiting_for(bad.id)
        if waiting is not None:
            what = f"The response to {waiting.outgoing.method} is not a message: {bad.message}"
            waiting.fail(errors.RemoteProtocolError(f"{what}. It begins {bad.shown()}"))
        return waiting is not None

    def _waiting_for(self, id: int | str) -> _Waiting | None:
        """Take the request of ours that has its outcome. A few digits stand for the number that they write."""
        waiting = self.table.settle(id)
        if waiting is None and isinstance(id, str) and id.isascii() and id.isdecimal() and len(id) <= MAX_DIGITS:
            return self.table.settle(int(id))
        return waiting

    # What leaves.

    async def request(self, outgoing: base.Outgoing, send: SendOn | None = None) -> Response:
        """Send a request and wait for its response; cancelling the caller cancels the request at the peer.

        `send` puts it on a stream of its own, and its cancellation too. Raises `ConnectionClosed`, and what `send`
        raises.
        """
        waiting = _Waiting(outgoing, self._loop.create_future())
        if not self.table.issue(outgoing.id, waiting):
            if self.table.closed:
                raise errors.ConnectFailed("The connection is being closed" if self.gone is None else str(self.gone))
            raise errors.LocalProtocolError(f"a request with the id {outgoing.id!r} is still in flight")
        try:
            message = Request(outgoing.id, outgoing.method, outgoing.params)
            if send is not None:
                await send(message)
            else:
                self.send(message)
                if self._writable is not None:
                    await self._writable.wait()
            return await waiting.future
        except BaseException as error:
            if self.table.settle(outgoing.id) is not None and isinstance(error, asyncio.CancelledError):
                self._withdraw(outgoing, reason_of(error), send)
            raise

    async def ask(self, method: str, params: Any, send: SendOn | None = None) -> Response:
        """Send a request under an id of our own making and wait for its response. As `request` otherwise."""
        return await self.request(base.Outgoing(self.table.next_id(), method, params, hear=ignore), send)

    async def notify(self, note: Notification) -> None:
        """Send a notification, waiting while the peer does not read. Raises `ConnectionClosed`."""
        if self.gone is not None:
            raise errors.ConnectFailed(str(self.gone))
        self.send(note)
        if self._writable is not None:
            await self._writable.wait()

    def _withdraw(self, outgoing: base.Outgoing, reason: str, send: SendOn | None = None) -> None:
        """Tell the peer that nobody waits for a request any more."""
        note = exchanges.cancellation(outgoing.id, outgoing.method, reason)
        if note is not None and send is not None:
            self._background.start(send(note))
        elif note is not None:
            self.send(note)

    def pause_writing(self) -> None:
        """Let those who send wait, and begin no work: the peer reads too slowly."""
        self._writable = self._writable or asyncio.Event()

    def resume_writing(self) -> None:
        """Let those who send go on: the peer has caught up."""
        if self._writable is not None:
            self._writable.set()
            self._writable = None

    # The end.

    def leave(self, reason: errors.ConnectionClosed) -> None:
        """Begin no more requests and fail those of ours with `reason`, telling the peer that nobody waits for them."""
        for waiting in self.table.give_up():
            self._withdraw(waiting.outgoing, "the connection is being closed")
            waiting.fail(reason)

    async def drain(self, seconds: float) -> None:
        """Let requests that arrived finish, for so long; then cancel the rest, answering each with an error.

        The peer is not heard any more: what we asked of it fails at once.
        """
        self.leave(errors.ConnectionClosed("The connection is being closed"))
        await tasks.ended((each.task for each in self.table.inbound.values()), seconds)
        late = list(self.table.inbound.values())
        for exchange in late:
            self.table.cancel(exchange.request.id)
            self.send(failure(exchange.request.id, errors.InternalError("The server is shutting down: not finished")))
            exchange.task.cancel()
        await tasks.ended((each.task for each in late), CLEAN_UP_SECONDS)

    def end(self, reason: errors.ConnectionClosed) -> list[ChannelExchange]:
        """End the channel now: each request of ours fails with `reason`, and all work for the peer is cancelled.

        Returns the exchanges that were being answered: their handlers may still be cleaning up.
        """
        self.gone = self.gone or reason
        inbound, outbound = self.table.close()
        self.resume_writing()
        for waiting in outbound:
            waiting.fail(reason)
        for exchange in inbound:
            if exchange.task is not asyncio.current_task():
                exchange.task.cancel()
        return inbound

    async def lost(self, reason: errors.ConnectionClosed) -> None:
        """End the channel, and give what was cancelled a moment to clean up."""
        await tasks.ended((each.task for each in self.end(reason)), CLEAN_UP_SECONDS)
        await self._background.close()


def reason_of(error: asyncio.CancelledError) -> str:
    """Say why a request of ours is given up; what a caller says with its own cancellation is not for the peer."""
    return "timeout" if any(isinstance(why, errors.RequestTimeout) for why in error.args) else "cancelled by the caller"


async def ignore(message: Message) -> None:
    """Drop a message that nobody wants."""


def written(message: Message) -> bytes:
    """Write a message as JSON. A response always is: if that fails, as an internal error with the same id.

    Raises `LocalProtocolError` for one that is larger than `MAX_ANSWER_BYTES`.
    """
    try:
        data = encode(message)
        if len(data) > jsonrpc.MAX_ANSWER_BYTES:
            what = "result" if isinstance(message, Response) else "message"
            size, limit = len(data) / 2**20, jsonrpc.MAX_ANSWER_BYTES / 2**20
            raise errors.LocalProtocolError(f"the {what} is too large: {size:.4g} MiB, limit {limit:.4g} MiB")  # noqa: TRY301
    except Exception as error:
        if isinstance(message, Response):
            return encode(unwritable(message, error))
        raise
    return data


def unwritable(response: Response, error: Exception) -> Failure:
    """Build the response that replaces one which cannot be written as JSON, or is too large, and log why."""
    log.error("the result of request %r cannot be written as JSON", response.id, exc_info=error)
    why = error if isinstance(error, errors.LocalProtocolError) else f"the result cannot be written as JSON ({error})"
    return failure(response.id, errors.InternalError(f"Internal error: {why}"))
