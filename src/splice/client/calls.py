"""Requests on their way to the server, and results on their way back.

    Client.call_tool > Calls.request (deadline, questions, results) > Calls.send (session, stamp) > Link.exchange

A server may answer a request with questions; then it is sent again with the answers, under a new id. What the server
gave as `requestState` goes back as it came, and only where it came. A result is read by the row of its request, and by
its `resultType` where it is not complete.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
https://modelcontextprotocol.io/specification/2026-07-28/basic#result-types
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, TypeVar

import msgspec
from msgspec import Raw, Struct

from splice.client.clocks import Clocks, Deadline
from splice.client.connection import Connection, Connector, Terms
from splice.client.notices import OnProgress, Reports
from splice.client.questions import OPTION_OF, Answers
from splice.errors import HTTPRefused, RemoteProtocolError, RPCError, SessionLost
from splice.protocol.jsonrpc import Failure, Notification, RequestId, Response, error_of
from splice.protocol.lenient import Remarks
from splice.protocol.methods import UNREADABLE, Method
from splice.protocol.questions import InputRequiredResult
from splice.protocol.wire import Result
from splice.rules.extensions import Extension
from splice.transports.base import Hear, Outgoing

R = TypeVar("R", bound=Struct)

log = logging.getLogger("splice.client")

COMPLETE = "complete"

MAX_ROUNDS = 16
"""How often one request may come back with questions."""

WAIT_SECONDS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
"""How long to wait before asking again when the server only says: later."""


class RequestOptions(TypedDict, total=False):
    """Everything a caller may say about one request besides its params."""

    timeout: float | None
    """How many seconds it may take with all that it sets off, instead of the client's own timeout; infinity for ever.

    The time that the user takes to answer does not count."""
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


class _Required(Struct, rename="camel"):
    required_capabilities: dict[str, Any]


_head_decoder = msgspec.json.Decoder(Result)
_questions_decoder = msgspec.json.Decoder(InputRequiredResult)


class Calls:
    """Sends requests on the current connection. `hear` takes the notifications that belong to no request."""

    __slots__ = ("_answers", "_connector", "_decoders", "_remark", "clocks", "hear", "next_id", "timeout")

    def __init__(
        self, connector: Connector, answers: Answers, hear: Hear, extensions: Iterable[Extension[Any]]
    ) -> None:
        self._connector = connector
        self._answers = answers
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {
            kind: msgspec.json.Decoder(result) for each in extensions for kind, result in each.results.items()
        }
        self.hear = hear
        self.next_id = connector.opening.next_id
        """Makes an id that no request had before."""
        self.clocks: Clocks = connector.opening.clocks
        self.timeout = connector.opening.timeout
        """How many seconds a call may take that does not say so itself."""
        self._remark = Remarks(log)

    @property
    def terms(self) -> Terms:
        """The terms of the current connection. Raises `ConnectionClosed`."""
        return self._connector.connection.terms

    def within(self, what: str, seconds: float | None) -> Deadline:
        """Limit everything in a `with` block to `seconds`, None: the client's own timeout."""
        return Deadline(self.clocks, self.timeout if seconds is None else seconds, what)

    async def request(self, row: Method[Any, R], params: Any, options: Options = NO_OPTIONS) -> R:
        """Send a request, answering what the server asks, until there is a result.

        Raises `RPCError` for an error response, `TransportError`, `RemoteProtocolError`, `Unanswered` for a question
        that nothing answers, and what a handler raises.
        """
        rounds = 0
        with self.within(row.name, options.timeout):
            while True:
                response = await self.send(row, params, options)
                if isinstance(response, Failure):
                    raise self._error(response)
                result = self._read(row, response.result)
                if not isinstance(result, InputRequiredResult):
                    return result
                if rounds == MAX_ROUNDS:
                    raise RemoteProtocolError(f"The server still has questions after {MAX_ROUNDS} rounds of {row.name}")
                params.request_state, params.input_responses = result.request_state, None
                if result.input_requests:
                    with self.clocks.stopped():
                        params.input_responses = await self._answers.answer_all(result.input_requests, self.terms.facts)
                else:
                    await asyncio.sleep(WAIT_SECONDS[min(rounds, len(WAIT_SECONDS) - 1)])
                rounds += 1

    async def send(
        self, row: Method[Any, Any], params: Any, options: Options = NO_OPTIONS, id: RequestId | None = None
    ) -> Response:
        """Send one request and wait for its response. When the server has forgotten the session: once more in another.

        `params` is a Struct that belongs to this request, and is written to. It may take for ever. Raises
        `TransportError`.
        """
        lost: Connection | None = None
        while True:
            connection = self._connector.connection
            number = self.next_id() if id is None else id
            outgoing = options.outgoing(row, params, connection.terms, number, options.hear or self.hear)
            connection.running += 1
            try:
                return await connection.link.exchange(outgoing)
            except HTTPRefused as refused:
                failure: Failure | None = refused.response
                if failure is None:
                    raise
                return failure
            except SessionLost as error:
                if lost is not None or error.may_have_run:
                    raise
                lost = connection
            finally:
                connection.left()
            await self._connector.renew(lost)

    async def notify(self, note: Notification) -> None:
        """Send a notification. Raises `TransportError`."""
        connection = self._connector.connection
        with Deadline(self.clocks, self.timeout, note.method, "{} could not be sent"):
            try:
                await connection.link.notify(note)
            except SessionLost:
                await self._connector.renew(connection)
                await self._connector.connection.link.notify(note)

    def _error(self, response: Failure) -> RPCError:
        """Build the exception for an error response. If it says that we lack a capability, the text says how to get it.

        `message` stays what the server said.
        """
        error, ours = error_of(response), self.terms.stamp.capabilities
        try:
            lacks = msgspec.convert(error.data, _Required).required_capabilities
        except msgspec.ValidationError:
            return error
        for name, option in OPTION_OF.items():
            if name in lacks and getattr(ours, name) is None:
                error.args = (f"{error.message}; pass {option}= to Client",)
        return error

    def _read(self, row: Method[Any, R], raw: Raw) -> R | InputRequiredResult:
        """Read a result, which may also be one of an extension's. Raises `RemoteProtocolError`."""
        try:
            result = row.read_result(raw)
        except RemoteProtocolError:
            kind = _kind(raw)
            if kind is None or kind == COMPLETE:
                return row.read_result(raw, self._remark)
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
