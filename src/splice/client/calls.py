"""Requests on their way to the server, and results on their way back.

    Client.call_tool > Calls.request (deadline, questions, results) > Calls.send (session, stamp) > Link.exchange

A server may answer a request with questions; then it is sent again with the answers, under a new id. What the server
gave as `requestState` goes back as it came, and only where it came. A result is read by the row of its request, and by
its `resultType` where it is not complete.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
https://modelcontextprotocol.io/specification/2026-07-28/basic#result-types
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any, TypeAlias, TypedDict, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from splice.client import clocks, lists, notices
from splice.client.connection import Connection, Opening
from splice.client.questions import OPTION_OF, Answers
from splice.errors import HEADER_MISMATCH, HTTPRefused, MethodNotFound, RemoteProtocolError, RPCError, SessionLost
from splice.protocol import lenient, questions, wire
from splice.protocol.jsonrpc import Failure, Notification, RequestId, Response, error_of
from splice.protocol.methods import UNREADABLE, Method
from splice.protocol.tools import TOOLS_CALL, TOOLS_LIST, Tool
from splice.rules.eras import is_version_of_requests
from splice.rules.extensions import Extension
from splice.rules.options import Option, option_table
from splice.transports.base import Hear, Outgoing

P = TypeVar("P", bound=wire.PageResult)
R = TypeVar("R", bound=Struct)
T = TypeVar("T")

Chapters: TypeAlias = Iterable[Extension[Any]]

Renew: TypeAlias = Callable[[Connection], Awaitable[None]]
"""Puts another connection in the place of one whose session is lost."""

log = logging.getLogger("splice.client")

MAX_PAGES = 10_000
"""How many pages a list may have. A server that goes on after that is not counting on being read."""

WAIT_SECONDS = (0.0, 0.1, 0.2, 0.5, 1.0, *11 * (2.0,))
"""How long to wait before each further round of a request when the server only says: later. Then it is given up."""


TIMEOUT = Option((int, float), "a number of seconds above 0, or None for ever", lambda seconds: seconds > 0)


class RequestOptions(TypedDict, total=False):
    """Everything a caller may say about one request besides its params."""

    timeout: Annotated[float | None, TIMEOUT]
    """How many seconds it may take with all that it sets off, instead of the client's own timeout; infinity for ever.

    The time that the user takes to answer does not count."""
    progress: Annotated[notices.OnProgress | None, Option(Callable, "a function, `def` or `async def`")]
    """Is called with how far it is, how far it goes and what is being done."""
    meta: Annotated[Mapping[str, Any] | None, Option(Mapping, wire.META_RULE, wire.is_meta)]
    """More keys for the request's `_meta`."""


REQUEST_OPTIONS = option_table(RequestOptions)


class Options(Struct, frozen=True):
    """How one request is to be sent: what the caller said, and what the client adds."""

    timeout: float | None = None
    progress: notices.OnProgress | None = None
    meta: Mapping[str, Any] | None = None
    mirrored: Mapping[str, str] | None = None
    """Marked arguments for HTTP headers; None: not yet looked up."""
    hear: Hear | None = None
    """Takes the notifications that belong to this request; None: like those that belong to none."""

    def outgoing(self, row: Method[Any, Any], params: Any, to: Connection, id: RequestId, hear: Hear) -> Outgoing:
        """Write the request, stamped as the version demands."""
        token = None
        if self.progress is not None:
            hear, token = notices.Reports(id, self.progress, hear), id
        params.meta = to.era.stamp(to.stamp, token, self.meta)
        return Outgoing(id, row.name, params, hear, row.name_in(params), self.mirrored or {})


NO_OPTIONS = Options()


class _Required(Struct, rename="camel"):
    required_capabilities: dict[str, Any]


_head_decoder = msgspec.json.Decoder(wire.Result)


class Calls:
    """Sends requests on the current connection.

    `current` returns it, or raises `ConnectionClosed`; `renew` puts another one in the place of one that is lost.
    """

    def __init__(self, opening: Opening, chapters: Chapters, current: Callable[[], Connection], renew: Renew) -> None:
        self.current = current
        self._renew = renew
        self._kinds = {kind: result for each in chapters for kind, result in each.results.items()}
        """Kinds of result that extensions add."""
        self._remark = lenient.Remarks(log)
        self.answers = Answers(chapters)
        self.known = lists.KnownTools()
        """The tools seen last; replaced when their list has changed."""
        self.hear = opening.receiver.hear
        """Takes the notifications that belong to no request."""
        self.next_id = opening.next_id
        """Makes an id that no request had before."""
        self.clocks = opening.clocks
        self.timeout = opening.timeout
        """How many seconds a call may take that does not say so itself."""

    def within(self, what: str, seconds: float | None) -> clocks.Deadline:
        """Limit what a `with` block does to `seconds`, None: the client's own timeout. Raises `ConnectionClosed`."""
        self.current()  # first: what fails at once leaves no timer behind, which would keep a closed client
        return clocks.Deadline(self.clocks, self.timeout if seconds is None else seconds, f"No answer to {what}")

    async def request(self, row: Method[Any, R], params: Any, options: Options = NO_OPTIONS) -> R:
        """Send a request, answering what the server asks, until there is a result.

        Raises `RPCError` for an error response, `TransportError`, `RemoteProtocolError`, `Unanswered` for a question
        that nothing answers, and what a handler raises.
        """
        with self.within(row.name, options.timeout):
            for seconds in WAIT_SECONDS:
                response = await self.send(row, params, options)
                if isinstance(response, Failure):
                    raise self._error(response)
                result = self._read(row, response.result)
                if not isinstance(result, questions.InputRequiredResult):
                    return result
                params.request_state, params.input_responses = result.request_state, None
                if asked := result.input_requests:
                    with self.clocks.stopped():
                        params.input_responses = await self.answers.answer_all(asked, self.current().facts)
                else:
                    await asyncio.sleep(seconds)
        raise RemoteProtocolError(f"The server still has questions after {len(WAIT_SECONDS)} rounds of {row.name}")

    async def send(self, row: Method[Any, Any], params: Any, options: Options, id: RequestId = 0) -> Response:
        """Send one request and wait for its response. When the server has forgotten the session: once more in another.

        Its `id` may be chosen before; 0 makes one.

        `params` is a Struct that belongs to this request, and is written to. It may take for ever. Raises
        `TransportError`, and `LocalProtocolError` for an argument that no header can mirror.
        """
        lost: Connection | None = None
        while True:
            connection = self.current()
            if connection.mirrors and row is TOOLS_CALL and options.mirrored is None:
                return await self._send_mirrored(params, options)
            outgoing = options.outgoing(row, params, connection, id or self.next_id(), options.hear or self.hear)
            try:
                return await connection.link.exchange(outgoing)
            except HTTPRefused as refused:
                if not isinstance(refused.response, Failure):
                    raise
                return refused.response
            except SessionLost as error:
                if lost is not None or error.may_have_run:
                    raise
                lost = connection
            await self._renew(lost)

    async def _send_mirrored(self, params: Any, options: Options, *, again: bool = True) -> Response:
        """Call a tool with the headers that mirror its arguments; once more if they are not those that it wants."""
        known = self.known
        if not known.complete:
            try:
                async for _ in self.tools():
                    pass
            except RPCError:  # the server lists no tools: there is nothing to know
                known.complete = True
        mirroring = replace(options, mirrored=known.headers(params.name, params.arguments))
        response = await self.send(TOOLS_CALL, params, mirroring)
        if again and isinstance(response, Failure) and response.error.code == HEADER_MISMATCH:
            self.known = lists.KnownTools()  # the schema may have changed
            response = await self._send_mirrored(params, options, again=False)
        return response

    async def tools(self, options: Options = NO_OPTIONS) -> AsyncIterator[Tool]:
        """Yield all tools, and learn them."""
        known, mirrors = self.known, self.current().mirrors
        async for tool in self.items(TOOLS_LIST, lambda page: known.learn(page.tools, mirrors=mirrors), options):
            yield tool
        known.complete = True

    async def items(self, row: Method[Any, P], of: Callable[[P], list[T]], options: Options) -> AsyncIterator[T]:
        """Yield each item of a list; `of` takes them out of a page.

        Nothing where the server did not declare the list, or declared what it does not serve. Raises
        `RemoteProtocolError` for a list that never ends.
        """
        if getattr(self.current().capabilities, row.name.partition("/")[0]) is None:
            return
        cursor: str | None = None
        seen: set[str | None] = set()
        while cursor not in seen and len(seen) < MAX_PAGES:
            seen.add(cursor)
            try:
                page = await self.request(row, wire.PageParams(cursor=cursor), options)
            except MethodNotFound:
                return  # it is declared, and not served
            for item in of(page):
                yield item
            cursor = page.next_cursor
            if cursor is None or not (cursor or self.current().facts.empty_cursor):
                return
        raise RemoteProtocolError(f"The pages of {row.name} never end")

    async def notify(self, note: Notification) -> None:
        """Send a notification. Raises `TransportError`."""
        connection = self.current()
        with clocks.Deadline(self.clocks, self.timeout, f"{note.method} could not be sent"):
            try:
                await connection.link.notify(note)
            except SessionLost:
                await self._renew(connection)
                await self.current().link.notify(note)

    def _error(self, response: Failure) -> RPCError:
        """Build the exception for an error response. If it says that we lack a capability, the text says how to get it.

        `message` stays what the server said.
        """
        error, ours = error_of(response), self.current().stamp.capabilities
        try:
            lacks = msgspec.convert(error.data, _Required).required_capabilities
        except msgspec.ValidationError:
            return error
        for name, option in OPTION_OF.items():
            if name in lacks and getattr(ours, name) is None:
                error.args = (f"{error.message}; pass {option}= to Client",)
        return error

    def _read(self, row: Method[Any, R], raw: Raw) -> R | questions.InputRequiredResult:
        """Read a result, which may also be one of an extension's. Raises `RemoteProtocolError`."""
        try:
            result: R | None = row.read_result(raw)
        except RemoteProtocolError:
            result = None
        kind = result.result_type if isinstance(result, wire.Result) else _kind(raw)
        if kind is None or kind == "complete":
            return row.read_result(raw, self._remark) if result is None else result
        asks = kind == questions.InputRequiredResult.result_type and row.may_ask
        asks = asks and is_version_of_requests(self.current().facts.version)
        other = questions.InputRequiredResult if asks else self._kinds.get(kind)
        if other is None:
            raise RemoteProtocolError(f"The result of {row.name} is of type {kind!r}, which is not allowed there")
        read: R | questions.InputRequiredResult = replace(row, result=other).read_result(raw)
        return read


def _kind(raw: Raw) -> str | None:
    try:
        return _head_decoder.decode(raw).result_type
    except UNREADABLE:
        return None
