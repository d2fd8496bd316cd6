"""Requests on their way to the server, and results on their way back.

    Client.call_tool > Calls.request (questions, results) > Calls.send (session, stamp, deadline) > Link.exchange

A server may answer a request with questions; then it is sent again with the answers, under a new id. What the server
gave as `requestState` goes back as it came, and only where it came. A result is read by the row of its request, and by
its `resultType` where it is not complete.

While the user answers a question that came as a request, the clocks of all requests stand still: one of them is the
request that led to the question, and a pipe does not tell which.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
https://modelcontextprotocol.io/specification/2026-07-28/basic#result-types
"""

import asyncio
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from itertools import count
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar

import msgspec
from msgspec import Raw, Struct

from splice.client.connection import INITIALIZE_ID, Connection, Connector, Terms
from splice.client.notices import OnProgress, Reports
from splice.client.questions import Answers
from splice.errors import HTTPRefused, RemoteProtocolError, RequestTimeout, SessionLost
from splice.protocol.input import InputRequiredResult
from splice.protocol.jsonrpc import Failure, Notification, RequestId, Response, error_of
from splice.protocol.methods import UNREADABLE, Method
from splice.protocol.wire import Result
from splice.rules.extensions import Extension
from splice.transports.base import Hear, Outgoing
from splice.transports.tasks import Stretch

R = TypeVar("R", bound=Struct)

COMPLETE = "complete"

FOR_EVER = float("inf")

MAX_ROUNDS = 16
"""How often one request may come back with questions."""

WAIT_SECONDS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
"""How long to wait before asking again when the server only says: later."""


class RequestOptions(TypedDict, total=False):
    """Everything a caller may say about one request besides its params."""

    timeout: float | None
    """How many seconds it may take, instead of the client's own timeout; infinity for ever. Each round counts anew."""
    progress: OnProgress | None
    """Is called with how far it is, how far it goes and what is being done."""
    meta: Mapping[str, Any] | None
    """More keys for the request's `_meta`."""


class Options(Struct, frozen=True):
    """How one request is to be sent: what the caller said, and what the client adds."""

    timeout: float | None = None
    progress: OnProgress | None = None
    meta: Mapping[str, Any] | None = None
    mirrored: Mapping[str, str] = {}
    """Marked arguments for HTTP headers."""
    hear: Hear | None = None
    """Takes the notifications that belong to this request; None: like those that belong to none."""

    def outgoing(self, row: Method[Any, Any], params: Any, terms: Terms, id: RequestId, hear: Hear) -> Outgoing:
        """Write the request, stamped as the version demands."""
        token = None
        if self.progress is not None:
            hear, token = Reports(id, self.progress, hear), id
        params.meta = terms.era.stamp(terms.stamp, token, self.meta)
        name = None if row.named_by is None else getattr(params, row.named_by)
        return Outgoing(id, row.name, params, hear, name, self.mirrored)


NO_OPTIONS = Options()


_head_decoder = msgspec.json.Decoder(Result)
_questions_decoder = msgspec.json.Decoder(InputRequiredResult)


class Clocks:
    """The deadlines of the requests that run: many on one timer. Belongs to one event loop.

    It does what `asyncio.timeout` does for a fraction of the price: a request that ends in time has set no timer.
    """

    def __init__(self) -> None:
        self.running: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.due = FOR_EVER
        self._stops = 0
        self._stopped_at = 0.0
        self._stood_still = 0.0

    def now(self) -> float:
        """Tell the time, which does not pass while the clocks are stopped."""
        return (self._stopped_at if self._stops else asyncio.get_running_loop().time()) - self._stood_still

    @contextmanager
    def stopped(self) -> Generator[None]:
        """Let no time pass."""
        if self._stops == 0:
            self._stopped_at = asyncio.get_running_loop().time()
        self._stops += 1
        try:
            yield
        finally:
            self._stops -= 1
            if self._stops == 0:
                self._stood_still += asyncio.get_running_loop().time() - self._stopped_at
                self._ring()

    def close(self) -> None:
        """Leave nothing behind on the event loop."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self.due = None, FOR_EVER

    def arm(self, when: float) -> None:
        """Set the timer."""
        self.close()
        self.due = when
        self._timer = asyncio.get_running_loop().call_at(when + self._stood_still, self._ring)

    def _ring(self) -> None:
        """End the requests whose time is up, and set the timer for the next one."""
        self.close()
        now = self.now()
        for deadline in [each for each in self.running if each.when <= now]:
            deadline.expire()
        # A task that lets the clocks go on cannot end a stretch of its own here: the timer does, in the next turn.
        due = min((each.when for each in self.running if each.error is None), default=FOR_EVER)
        if due < FOR_EVER and not self._stops:
            self.arm(due)


class Deadline(Stretch):
    """A stretch of a task that ends with `RequestTimeout` when it takes longer than `seconds`."""

    __slots__ = ("_clocks", "_seconds", "_what", "when")

    def __init__(self, clocks: Clocks, seconds: float, what: str) -> None:
        self.error = None
        self._clocks = clocks
        self._seconds = seconds
        self._what = what

    def __enter__(self) -> Self:
        super().__enter__()
        self.when = self._clocks.now() + self._seconds
        self._clocks.running.add(self)
        if self.when < self._clocks.due:
            self._clocks.arm(self.when)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._clocks.running.discard(self)
        super().__exit__(kind, error, traceback)

    def expire(self) -> None:
        """End it, from outside."""
        self.end(RequestTimeout(f"No answer to {self._what} within {self._seconds:g} s"))


class Calls:
    """Sends requests on the current connection. `hear` takes the notifications that belong to no request."""

    __slots__ = ("_answers", "_connector", "_decoders", "_ids", "_timeout", "clocks", "hear")

    def __init__(
        self, connector: Connector, answers: Answers, hear: Hear, timeout: float, extensions: Iterable[Extension[Any]]
    ) -> None:
        self._connector = connector
        self._answers = answers
        self._timeout = timeout
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {
            kind: msgspec.json.Decoder(result) for each in extensions for kind, result in each.results.items()
        }
        self._ids = count(INITIALIZE_ID + 1)
        self.hear = hear
        self.clocks = Clocks()

    @property
    def terms(self) -> Terms:
        """The terms of the current connection. Raises `ConnectionClosed`."""
        return self._connector.connection.terms

    def next_id(self) -> int:
        """Make an id that no request had before."""
        return next(self._ids)

    async def request(self, row: Method[Any, R], params: Any, options: Options = NO_OPTIONS) -> R:
        """Send a request, answering what the server asks, until there is a result.

        Raises `RPCError` for an error response, `TransportError`, `RemoteProtocolError`, `LocalProtocolError` for a
        question that nothing answers, and what an answer raises.
        """
        rounds = 0
        while True:
            response = await self.send(row, params, options)
            if isinstance(response, Failure):
                raise error_of(response)
            result = self._read(row, response.result)
            if not isinstance(result, InputRequiredResult):
                return result
            if rounds == MAX_ROUNDS:
                raise RemoteProtocolError(f"The server still has questions after {MAX_ROUNDS} rounds of {row.name}")
            params.request_state, params.input_responses = result.request_state, None
            if result.input_requests:
                params.input_responses = await self._answers.answer_all(result.input_requests, self.terms.facts)
            else:
                await asyncio.sleep(WAIT_SECONDS[min(rounds, len(WAIT_SECONDS) - 1)])
            rounds += 1

    async def send(
        self, row: Method[Any, Any], params: Any, options: Options = NO_OPTIONS, id: RequestId | None = None
    ) -> Response:
        """Send one request and wait for its response. When the server has forgotten the session: once more in another.

        `params` is a Struct that belongs to this request, and is written to. Raises `TransportError`.
        """
        timeout = self._timeout if options.timeout is None else options.timeout
        lost: Connection | None = None
        while True:
            connection = self._connector.connection
            number = next(self._ids) if id is None else id
            outgoing = options.outgoing(row, params, connection.terms, number, options.hear or self.hear)
            connection.running += 1
            try:
                with Deadline(self.clocks, timeout, row.name):
                    return await connection.link.exchange(outgoing)
            except HTTPRefused as refused:
                failure: Failure | None = refused.response
                if failure is None:
                    raise
                return failure
            except SessionLost:
                if lost is not None:
                    raise
                lost = connection
            finally:
                connection.left()
            await self._connector.renew(lost)

    async def notify(self, note: Notification) -> None:
        """Send a notification. Raises `TransportError`."""
        connection = self._connector.connection
        try:
            await connection.link.notify(note)
        except SessionLost:
            await self._connector.renew(connection)
            await self._connector.connection.link.notify(note)

    def _read(self, row: Method[Any, R], raw: Raw) -> R | InputRequiredResult:
        """Read a result, which may also be one of an extension's. Raises `RemoteProtocolError`."""
        try:
            result = row.read_result(raw)
        except RemoteProtocolError:
            kind = _kind(raw)
            if kind is None or kind == COMPLETE:
                raise
        else:
            kind = result.result_type if isinstance(result, Result) else _kind(raw)
            if kind is None or kind == COMPLETE:
                return result
        asks = kind == InputRequiredResult.result_type and row.may_ask and self.terms.asks_in_results
        decoder = _questions_decoder if asks else self._decoders.get(kind)
        if decoder is None:
            raise RemoteProtocolError(f"The result of {row.name} is of type {kind!r}, which is not allowed there")
        try:
            return decoder.decode(raw)
        except UNREADABLE as error:
            what = f"questions of {row.name} are" if asks else f"result of {row.name} is"
            raise RemoteProtocolError(f"The {what} malformed: {error}") from error


def _kind(raw: Raw) -> str | None:
    try:
        return _head_decoder.decode(raw).result_type
    except UNREADABLE:
        return None
