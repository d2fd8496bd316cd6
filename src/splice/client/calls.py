"""Requests on their way to the server, and results on their way back.

One call: stamp the params, hand the request to the link, wait no longer than agreed, decode the result by the
method's row. A legacy session that the server has forgotten is opened anew, once, and the request is sent again.

While the user answers a question of a legacy server's, the clocks of all calls stand still: one of them is the
call that led to the question, and a pipe does not tell which.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from splice.client.clocks import Clocks, Deadline
from splice.client.failures import error_of
from splice.client.notices import OnProgress, Reports
from splice.client.opening import Terms
from splice.errors import RemoteProtocolError
from splice.protocol.input import InputRequiredResult
from splice.protocol.jsonrpc import Failure, Request, RequestId, Response
from splice.protocol.lifecycle import Params
from splice.protocol.methods import Method
from splice.rules.http import METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER, encode_header
from splice.transports.base import Heard, Link
from splice.transports.refusals import HTTPRefused, SessionLost

R = TypeVar("R", bound=Struct)

NO_HEADERS: Mapping[str, str] = {}
COMPLETE = "complete"


class Options(Struct, frozen=True):
    """What a caller may say about one call."""

    timeout: float | None = None
    """In seconds; None: as for every call. Infinity: for ever."""
    progress: OnProgress | None = None
    meta: Mapping[str, Any] | None = None
    """More for the request's `_meta`."""
    headers: Mapping[str, str] = NO_HEADERS


NO_OPTIONS = Options()


class Calls:
    """Sends requests over one link."""

    def __init__(
        self,
        link: Link,
        terms: Terms,
        *,
        ids: Iterator[int],
        hear: Heard,
        timeout: float | None,
        over_http: bool,
        renew: Callable[[Link], Awaitable[Terms]],
        renewed: Callable[[], Awaitable[None]],
    ) -> None:
        self.link = link
        self.terms = terms
        self.mirrors = False
        """Every request repeats in HTTP headers what its body says."""
        self._ids = ids
        self._hear = hear
        self._timeout = timeout
        self._over_http = over_http
        self._renew = renew
        self._renewed = renewed
        self._renewing = asyncio.Lock()
        self._is_new = False
        self.clocks = Clocks()
        self._agree(terms)

    def _agree(self, terms: Terms) -> None:
        self.terms = terms
        self.mirrors = self._over_http and terms.facts.request_meta

    async def request(
        self, method: Method[Any, R], params: Params, options: Options = NO_OPTIONS
    ) -> R | InputRequiredResult:
        """Send a request and return its result.

        Raises `RPCError` for an error response, `RequestTimeout`, `ConnectionClosed` and `RemoteProtocolError`.
        """
        terms = self.terms
        try:
            response = await self._send(method, params, options)
        except SessionLost:
            await self._open_again(terms)
            response = await self._send(method, params, options)
        if isinstance(response, Failure):
            raise error_of(response)
        return self._read(method, response.result)

    async def complete(self, method: Method[Any, R], params: Params) -> R:
        """Send a request that the server may not answer with questions. Raises as `request` does."""
        return cast("R", await self.request(method, params))

    async def _send(self, method: Method[Any, Any], params: Params, options: Options) -> Response:
        id = next(self._ids)
        if options.progress is None:
            heard, token = self._hear, None
        else:
            heard, token = Reports(id, options.progress, self._hear), id
        timeout = self._timeout if options.timeout is None else options.timeout
        if timeout is None or timeout == float("inf"):
            return await self.exchange(id, method, params, heard, options, token)
        with Deadline(self.clocks, timeout, method.name):
            return await self.exchange(id, method, params, heard, options, token)

    async def exchange(
        self,
        id: RequestId,
        method: Method[Any, Any],
        params: Params,
        heard: Heard,
        options: Options = NO_OPTIONS,
        token: RequestId | None = None,
    ) -> Response:
        """Send one request with this id and wait for its response for ever."""
        terms = self.terms
        terms.era.stamp(params, terms.stamp, token)
        if options.meta is not None:
            _add_meta(params, options.meta)
        headers = self._headers(method, params, options.headers) if self.mirrors else NO_HEADERS
        try:
            return await self.link.exchange(Request(id, method.name, params), heard, headers)
        except HTTPRefused as refused:
            if refused.response is None:
                raise
            return refused.response

    def next_id(self) -> int:
        """Make an id that no request had before."""
        return next(self._ids)

    def _headers(self, method: Method[Any, Any], params: Params, more: Mapping[str, str]) -> Mapping[str, str]:
        headers = {PROTOCOL_VERSION_HEADER: self.terms.facts.version, METHOD_HEADER: method.name, **more}
        if method.named_by is not None:
            headers[NAME_HEADER] = encode_header(getattr(params, method.named_by))
        return headers

    def _read(self, method: Method[Any, R], raw: Raw) -> R | InputRequiredResult:
        try:
            result = method.result_decoder.decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            if _result_type(raw) in (None, COMPLETE):
                raise RemoteProtocolError(f"The result of {method.name} is malformed: {error}") from error
        else:
            kind: str | UnsetType = getattr(result, "result_type", UNSET)
            if isinstance(kind, UnsetType) or kind == COMPLETE:
                return result
        return self._read_questions(method, raw)

    def _read_questions(self, method: Method[Any, Any], raw: Raw) -> InputRequiredResult:
        """Read a result that is not complete."""
        kind = _result_type(raw)
        if kind != InputRequiredResult.result_type or not method.may_ask or not self.terms.facts.request_meta:
            raise RemoteProtocolError(f"The result of {method.name} is of type {kind!r}, which is not allowed there")
        try:
            return _questions_decoder.decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise RemoteProtocolError(f"The questions of {method.name} are malformed: {error}") from error

    async def _open_again(self, lost: Terms) -> None:
        """Open a new session, unless another call has done so already, and say again what it must know."""
        async with self._renewing:
            if self.terms is not lost:
                return
            self._agree(await self._renew(self.link))
        if not self._is_new:
            self._is_new = True
            try:
                await self._renewed()
            finally:
                self._is_new = False


class _Head(Struct, rename="camel"):
    result_type: str | None = None


_head_decoder = msgspec.json.Decoder(_Head)
_questions_decoder = msgspec.json.Decoder(InputRequiredResult)


def _result_type(raw: Raw) -> str | None:
    try:
        return _head_decoder.decode(raw).result_type
    except (msgspec.DecodeError, RecursionError):
        return None


def _add_meta(params: Params, meta: Mapping[str, Any]) -> None:
    """Put the caller's keys below those of the protocol."""
    stamped: dict[str, Any] = {} if isinstance(params.meta, UnsetType) else msgspec.to_builtins(params.meta)
    setattr(params, "meta", {**meta, **stamped})  # noqa: B010 - on the wire any object will do
