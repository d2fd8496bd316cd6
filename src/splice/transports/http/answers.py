"""The answers of a server to POST and GET: a JSON response, a stream of server-sent events, a status that refuses.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from msgspec import Struct, field

from splice.errors import ConnectionClosed, HTTPRefused, RemoteProtocolError
from splice.protocol import jsonrpc, lenient
from splice.rules.http import headers, sse
from splice.transports.http.fetch import Endpoint, HTTPResponse

TO_POST: Mapping[str, str] = {"Content-Type": headers.JSON, "Accept": f"{headers.JSON}, {headers.EVENT_STREAM}"}
"""The headers of every POST."""

MAX_SEEN = 1000
"""How many ids of events are remembered while a stream may be resumed."""

_SHOWN, _SHOWN_BYTES, _ERROR_BYTES = 500, 150, 1024 * 1024
_NO_ENDPOINT: Mapping[int, str] = dict.fromkeys((404, 405), "; is that the MCP endpoint?")
_BUSY, _ONLY_STATUS_COUNTS = frozenset({429, 503}), frozenset({401, 403})

Take: TypeAlias = Callable[[jsonrpc.Message], Awaitable[jsonrpc.Response | None]]
"""Acts on a message; returns it if it is the response that was waited for."""

log = logging.getLogger("splice.client")
remark = lenient.Remarks(log)
"""Is told what servers do that they may not."""


class Reading(Struct):
    """What is read of an answer, and the place in its stream that was read last."""

    take: Take
    id: jsonrpc.RequestId | None = None
    """The request whose response the answer brings."""
    batches: bool = False
    """It may hold batches of messages."""
    first: Callable[[sse.Event], None] | None = None
    """Takes the first event, whatever it is."""
    discredit: Callable[[jsonrpc.BadMessage], bool] = lambda _: False
    """Takes what is no message if it may."""
    last_event_id: str = ""
    seen: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_SEEN))
    """The ids of the last events: a server may send again what was read already."""
    retry: int | None = None
    """How many milliseconds the server asks to wait before reconnecting."""
    trouble: str = ""
    """What was wrong with the answer, to end a sentence with."""

    async def read(self, text: bytes) -> jsonrpc.Response | None:
        """Give a message, or each of a batch, to `take`; return the response it returns. What is neither is skipped.

        Raises `RemoteProtocolError` for a malformed response to the request that waits for one.
        """
        try:
            texts = jsonrpc.split_batch(text) if self.batches and jsonrpc.is_batch(text) else [text]
        except jsonrpc.BadMessage as bad:
            self._skip(bad)
            return None
        found = None
        for each in texts:
            try:
                message = jsonrpc.decode(each, remark=remark)
            except jsonrpc.BadMessage as bad:
                self._skip(bad)
            else:
                taken = await self.take(message)
                found = found or taken
        return found

    async def _act(self, event: sse.Event) -> jsonrpc.Response | None:
        first, self.first = self.first, None
        if first is not None:
            first(event)
        elif event.data and event.event == "message":
            return await self.read(event.data)
        return None

    def _skip(self, bad: jsonrpc.BadMessage) -> None:
        if bad.id is not None and bad.id == self.id:
            raise RemoteProtocolError(f"The response is not a JSON-RPC message: {bad.message}") from bad
        if self.discredit(bad):
            return
        log.warning("skipped what a server sent, which is not a JSON-RPC message: %s", bad.message)
        self.trouble = f": {bad.message}"

    async def follow(self, response: HTTPResponse) -> jsonrpc.Response | None:
        """Read an event stream up to the response. None: it ended, or broke, without.

        Raises `RemoteProtocolError` as `read` does, and for an event that is too large.
        """
        decoder = sse.Decoder(response.max_message)
        if response.header("content-encoding") is not None:  # a few bytes could keep the event loop busy for long
            raise RemoteProtocolError("The event stream is compressed, which was not asked for")
        before, last = frozenset(self.seen), ""
        try:
            while (chunk := await response.chunk()) is not None:
                for event in decoder.feed(chunk):
                    own, last = event.id if event.id != last else "", event.id
                    if own in before:
                        continue
                    if own:
                        self.seen.append(own)
                    found = await self._act(event)
                    if found is not None:
                        return found
                if decoder.last_event_id.isprintable():  # another would not go into a header
                    self.last_event_id = decoder.last_event_id or self.last_event_id
                self.retry = self.retry if decoder.retry is None else decoder.retry
        except ConnectionClosed as error:
            self.trouble = f": {error}"
        return None


async def refusal(to: Endpoint, response: HTTPResponse, id: jsonrpc.RequestId | None = None) -> jsonrpc.Failure | None:
    """Read a response whose status is an error: the JSON-RPC error in its body, if it answers request `id`.

    None: its status is none. Raises `HTTPRefused` when the body holds no such error, or the status alone counts.
    """
    status, failure = response.status, None
    if 200 <= status < 300:
        return None
    body = await response.start(_ERROR_BYTES)
    said = body[:_SHOWN_BYTES].decode(errors="replace")
    with contextlib.suppress(jsonrpc.BadMessage):
        if isinstance(message := jsonrpc.decode(body), jsonrpc.Failure):
            said = message.error.message
            failure = None if id is None or status in _ONLY_STATUS_COUNTS else jsonrpc.Failure(message.error, id)
    if failure is not None and 400 <= status < 500 and status not in _BUSY:
        return failure
    text = "".join(each if each.isprintable() else " " for each in said[:_SHOWN]).strip() + "..." * (len(said) > _SHOWN)
    told = f"{to.url} answered HTTP {status}" + (f": {text}" if text else "") + _NO_ENDPOINT.get(status, "")
    asks = response.headers.get("www-authenticate", "")
    if status == 401 and to.authorizer is None and {"bearer", "dpop"} & {*asks.lower().replace(",", " ").split()}:
        told += f"; it wants an Authorization header: {asks!a:.150} (auth= of Client, and `splice login`, get one)"
    elif status == 403 and (scopes := asks.partition('scope="')[2].partition('"')[0]):
        told += f"; it takes the scopes {scopes!a:.150}"
    refused, seconds = HTTPRefused(told, status, failure), response.header("retry-after") or ""
    if status in _BUSY and seconds.isascii() and seconds.isdecimal() and len(seconds) <= _SHOWN_BYTES:
        refused.may_have_run, refused.retry_after = False, float(seconds)
    raise refused
