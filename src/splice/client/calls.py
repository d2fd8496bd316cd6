"""Requests on their way to the server, and results on their way back.

    Client.call_tool > Calls.request (deadline, questions, results) > Calls.send (session, stamp) > Link.exchange

A server may answer a request with questions; then it is sent again with the answers, under a new id. What the server
gave as `requestState` goes back as it came, and only where it came. A result is read by the row of its request, and by
its `resultType` where it is not complete.

A proxy passes requests on as they came, so nothing is lost that this package does not know. Only what `_meta` says
about the sender is replaced: towards the server, that is us. The progress token becomes one of ours, and is put back in
the notifications that come before the response.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
https://modelcontextprotocol.io/specification/2026-07-28/basic#result-types
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeAlias, TypedDict, TypeVar, cast

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from splice import errors
from splice.client import clocks, lives, notices
from splice.client.cache import Cache, Keep, Key
from splice.client.connection import Connection, Opening
from splice.client.questions import Questions
from splice.protocol import jsonrpc, lenient, notifications, prompts, questions, resources, wire
from splice.protocol.jsonrpc import Failure, Notification, RequestId, Response, error_of
from splice.protocol.methods import Method, Note
from splice.protocol.tools import TOOLS_CALL, TOOLS_LIST, Tool
from splice.rules import eras, exchanges
from splice.rules.meta import replace_token, restamp
from splice.rules.options import Option, option_table
from splice.transports.base import Hear, Outgoing

P = TypeVar("P", bound=wire.PageResult)
R = TypeVar("R", bound=Struct)
T = TypeVar("T")

Current: TypeAlias = Callable[[], Connection]

Renew: TypeAlias = Callable[[Connection | None, errors.TransportError, float], Awaitable[bool]]
"""Waits so many seconds, then puts another connection in the place of one that is lost, if one is. False: that is not
wanted."""

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
    progress: Annotated[notices.OnProgress | None, notices.FUNCTION]
    """Is called with how far it is, how far it goes and what is being done."""
    meta: Annotated[Mapping[str, Any] | None, Option(Mapping, wire.META_RULE, wire.is_meta)]
    """More keys for the request's `_meta`. A result may depend on them: it is not kept, nor is a kept one returned."""
    fresh: Annotated[bool, Option(bool, "True or False")]
    """Ask the server for a list or a resource anew, whatever is kept. Everything else is always asked for."""


REQUEST_OPTIONS = option_table(RequestOptions)


class Options(Struct, frozen=True):
    """How one request is to be sent: what the caller said, and what the client adds."""

    timeout: float | None = None
    progress: notices.OnProgress | None = None
    meta: Mapping[str, Any] | None = None
    fresh: bool = False
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


_NAMED = {row.name: row for row in (TOOLS_CALL, prompts.PROMPTS_GET, resources.RESOURCES_READ)}


class _About(Struct):
    """The params that HTTP headers repeat."""

    name: str | None = None
    uri: str | None = None
    arguments: jsonrpc.MaybeRaw = None


_ABOUT = Note(name="", params=_About)


class _PassedOn(Options, frozen=True):
    """How a request is passed on."""

    whole: Raw | None = None
    """The params as they came."""

    def outgoing(self, row: Method[Any, Any], params: Any, to: Connection, id: RequestId, hear: Hear) -> Outgoing:
        stamped, token = restamp(self.whole, to.told, id)
        if token is not None:
            hear = _Relay(id, token, hear)
        return Outgoing(id, row.name, stamped, hear, row.name_in(params), self.mirrored or {})


class _Relay(Struct):
    """Puts the token of the request that came in back into progress notifications."""

    ours: RequestId
    theirs: notifications.ProgressToken
    hear: Hear

    async def __call__(self, note: Notification) -> None:
        if note.method == notifications.PROGRESS.name:
            note = Notification(note.method, replace_token(note.params, self.ours, self.theirs))
        await self.hear(note)


class Calls:
    """Sends requests on the current connection.

    `current` returns it, or raises `ConnectionClosed`; `renew` puts another one in the place of one that is lost.
    """

    retries = 0
    """How often a request is sent again where that does no harm."""

    def __init__(self, opening: Opening, ours: Questions, current: Current, renew: Renew) -> None:
        self.questions, self.current, self._renew = ours, current, renew
        self._kinds = {kind: result for each in ours.chapters for kind, result in each.results.items()}
        """Kinds of result that extensions add."""
        self._remark = lenient.Remarks(notices.log)
        self.cache = Cache()
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

    async def fetch(self, row: Method[Any, R], params: Any, key: Key, options: Options) -> tuple[R, bool]:
        """Return a result that may be kept, and whether it was: then nothing is sent. Raises as `request` does."""
        if options.meta or not self.current().facts.caching_hints:
            return await self.request(row, params, options), False
        kept = None if options.fresh else self.cache.get(key)
        if kept is not None:
            return cast("R", self._read(row, kept)), True
        return await self.request(row, params, options, self.cache.keeper(key, fresh=options.fresh)), False

    async def request(self, row: Method[Any, R], params: Any, options: Options = NO_OPTIONS, keep: Keep = None) -> R:
        """Send a request, answering what the server asks, until there is a result.

        `keep` is given it, unless it depends on answers.
        Raises `RPCError` for an error response, `TransportError`, `RemoteProtocolError`, `Unanswered` for a question
        that nothing answers, and what a handler raises.
        """
        with self.within(row.name, options.timeout):
            for seconds in WAIT_SECONDS:
                response = await self.send(row, params, options)
                if isinstance(response, Failure):
                    if response.error.code == errors.INVALID_PARAMS:  # a list is old that gave the name or cursor
                        self.cache.drop(row.name.partition("/")[0])
                    raise self.questions.explained(error_of(response))
                result = self._read(row, response.result)
                if not isinstance(result, questions.InputRequiredResult):
                    if keep is not None:
                        keep(response.result, result)
                    return result
                keep = None
                params.request_state, params.input_responses = result.request_state, None
                if asked := result.input_requests:
                    with self.clocks.stopped():
                        params.input_responses = await self.questions.answer_all(asked, self.current().facts)
                else:
                    await asyncio.sleep(seconds)
        raise errors.RemoteProtocolError(f"The server still asks after {len(WAIT_SECONDS)} rounds of {row.name}")

    async def send(self, row: Method[Any, Any], params: Any, options: Options, id: RequestId = 0) -> Response:
        """Send one request and wait for its response; again, on another connection if need be, where `Again` allows it.

        Its `id` may be chosen before; 0 makes one.

        `params` is a Struct that belongs to this request, and is written to. It may take for ever. Raises
        `TransportError`, and `LocalProtocolError` for an argument that no header can mirror.
        """
        again: lives.Again | None = None
        while True:
            connection = self.current()
            if connection.mirrors and row is TOOLS_CALL and options.mirrored is None:
                return await self._send_mirrored(params, options)
            outgoing = options.outgoing(row, params, connection, id or self.next_id(), options.hear or self.hear)
            try:
                return await connection.link.exchange(outgoing)
            except (errors.HTTPRefused, errors.ConnectionClosed) as error:
                again = again or lives.Again(self.retries, row.name in exchanges.REPEATABLE)
                if not await self._recover(connection, error, again):
                    if isinstance(error, errors.HTTPRefused) and isinstance(error.response, Failure):
                        return error.response
                    raise

    async def _recover(self, on: Connection, error: errors.TransportError, again: lives.Again) -> bool:
        """Wait until a request that failed may be sent again; False: it may not. Raises `ConnectionClosed`."""
        dead = isinstance(error, errors.SessionLost) or on.link.gone is not None
        seconds = again.pause(error, dead=dead)
        while seconds is not None:
            try:
                return await self._renew(on if dead else None, error, seconds)
            except errors.ConnectionClosed as failed:
                seconds = again.pause(failed, dead=dead)
                if seconds is None:
                    raise
        return False

    async def _send_mirrored(self, params: Any, options: Options, *, again: bool = True) -> Response:
        """Call a tool with the headers that mirror its arguments; once more if they are not those that it wants."""
        known = self.cache.tools
        if not known.complete:
            try:
                async for _ in self.tools():
                    pass
            except errors.RPCError:  # the server lists no tools: there is nothing to know
                known.complete = True
        mirroring = replace(options, mirrored=known.headers(params.name, params.arguments))
        response = await self.send(TOOLS_CALL, params, mirroring)
        if again and isinstance(response, Failure) and response.error.code == errors.HEADER_MISMATCH:
            self.cache.change("tools")  # the schema may have changed
            response = await self._send_mirrored(params, options, again=False)
        return response

    async def tools(self, options: Options = NO_OPTIONS) -> AsyncIterator[Tool]:
        """Yield all tools, and learn them."""
        known, mirrors = self.cache.tools, self.current().mirrors
        async for tool in self.items(TOOLS_LIST, lambda page: known.learn(page.tools, mirrors=mirrors), options):
            yield tool
        known.complete = True

    async def items(self, row: Method[Any, P], of: Callable[[P], list[T]], options: Options) -> AsyncIterator[T]:
        """Yield each item of a list; `of` takes them out of a page.

        Nothing where the server did not declare the list, or declared what it does not serve. Kept pages are held back
        until the server has taken the cursor that ends them; if it refuses that, they are asked for anew. Raises
        `RemoteProtocolError` for a list that never ends.
        """
        kind = row.name.partition("/")[0]
        if getattr(self.current().capabilities, kind) is None:
            return
        cursor: str | None = None
        held: dict[str | None, P] = {}
        seen: set[str | None] = set()
        while cursor not in seen and len(seen) < MAX_PAGES:
            seen.add(cursor)
            try:
                page, kept = await self.fetch(row, wire.PageParams(cursor=cursor), (kind, row.name, cursor), options)
            except errors.MethodNotFound:
                return  # it is declared, and not served
            except errors.InvalidParams:
                if not held:
                    raise
                options, cursor = replace(options, fresh=True), next(iter(held))
                held, seen = {}, set()
                continue
            held[cursor] = page
            cursor = page.next_cursor
            ends = cursor is None or not (cursor or self.current().facts.empty_cursor)
            if ends or not kept:
                for each in held.values():
                    for item in of(each):
                        yield item
                held = {}
            if ends:
                return
        raise errors.RemoteProtocolError(f"The pages of {row.name} never end")

    async def notify(self, note: Notification) -> None:
        """Send a notification. Raises `TransportError`."""
        connection = self.current()
        with clocks.Deadline(self.clocks, self.timeout, f"{note.method} could not be sent"):
            try:
                await connection.link.notify(note)
            except errors.ConnectionClosed as error:
                if not await self._recover(connection, error, lives.Again(0, is_harmless=False)):
                    raise
                await self.current().link.notify(note)

    async def forward(self, request: jsonrpc.Request, hear: Hear) -> Response:
        """Pass a request on and return the response to it. Raises `TransportError` and `LocalProtocolError`."""
        row = _NAMED.get(request.method) or Method(name=request.method, params=wire.Params, result=wire.Result)
        given = request.params
        params = given if given is None or isinstance(given, Raw) else jsonrpc.raw(given)

        async def heard(note: Notification) -> None:
            self.cache.hear(note)
            await hear(note)

        try:
            about = _ABOUT.read_params(params)
        except errors.InvalidParams:  # the server is to refuse it
            about = _About()
        try:
            response = await self.send(row, about, _PassedOn(hear=heard, whole=params))
        except errors.InvalidParams as error:
            response = jsonrpc.failure(request.id, error)
        response.id = request.id
        return response

    def _read(self, row: Method[Any, R], raw: Raw) -> R | questions.InputRequiredResult:
        """Read a result, which may also be one of an extension's. Raises `RemoteProtocolError`."""
        try:
            result: R | None = row.read_result(raw)
        except errors.RemoteProtocolError:
            result = None
        kind = result.result_type if isinstance(result, wire.Result) else _kind(raw)
        if kind is None or kind == "complete":
            return row.read_result(raw, self._remark) if result is None else result
        asks = kind == questions.InputRequiredResult.result_type and row.may_ask
        asks = asks and eras.is_version_of_requests(self.current().facts.version)
        other = questions.InputRequiredResult if asks else self._kinds.get(kind)
        if other is None:
            raise errors.RemoteProtocolError(f"The result of {row.name} has type {kind!r}, which is not allowed there")
        read: R | questions.InputRequiredResult = replace(row, result=other).read_result(raw)
        return read


def _kind(raw: Raw) -> str | None:
    try:
        return msgspec.json.decode(raw, type=wire.Result).result_type
    except jsonrpc.UNREADABLE:
        return None
