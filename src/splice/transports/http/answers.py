"""The answers of a server to POST and GET: a JSON response, a stream of server-sent events, a status that refuses.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TypeAlias

import msgspec
from msgspec import Struct

from splice.errors import HTTPRefused, RemoteProtocolError
from splice.protocol.jsonrpc import (
    BadMessage,
    ErrorObject,
    Failure,
    Message,
    RequestId,
    Response,
    decode,
    is_batch,
    split_batch,
)
from splice.protocol.lenient import Remarks
from splice.protocol.methods import UNREADABLE
from splice.protocol.versions import V2024_11_05
from splice.rules.http.headers import EVENT_STREAM, JSON, LAST_EVENT_ID_HEADER
from splice.rules.http.sse import MAX_EVENT_BYTES, Decoder
from splice.transports.http.fetch import HTTPResponse

TO_POST: Mapping[str, str] = {"Content-Type": JSON, "Accept": f"{JSON}, {EVENT_STREAM}"}
"""The headers of every POST."""

_SHOWN_BYTES = 150
_ERROR_BYTES = 1024 * 1024
_NO_ENDPOINT = frozenset({404, 405})
_ONLY_STATUS_COUNTS = frozenset({401, 403})

Take: TypeAlias = Callable[[Message], Awaitable[Response | None]]
"""Acts on a message from a stream; returns it if it is the response that ends the stream."""

log = logging.getLogger("splice.client")
_remark = Remarks(log)


class Cursor(Struct):
    """One stream of a server, and the place in it that was read last."""

    id: RequestId | None = None
    """The request whose response the stream brings."""
    batches: bool = False
    """An event may be a batch of messages."""
    max_message: int = MAX_EVENT_BYTES
    """The size of the largest event, in bytes."""
    last_event_id: str = ""
    retry: int | None = None
    """How many milliseconds the server asks to wait before reconnecting."""

    def headers(self) -> dict[str, str]:
        """Write the headers of a GET that goes on from here."""
        accept = {"Accept": EVENT_STREAM}
        return {**accept, LAST_EVENT_ID_HEADER: self.last_event_id} if self.last_event_id else accept


async def follow(response: HTTPResponse, cursor: Cursor, take: Take) -> Response | None:
    """Give each message of an event stream to `take`; return the response it returns, or None at the end of the stream.

    An event that is not a message is skipped. Raises `ConnectionClosed`, and `RemoteProtocolError` for an event that
    is too large.
    """
    decoder = Decoder(cursor.max_message)
    if response.header("content-encoding") is not None:  # a few bytes could keep the event loop busy for long
        raise RemoteProtocolError("The event stream is compressed, which was not asked for")
    while (chunk := await response.chunk()) is not None:
        for event in decoder.feed(chunk):
            if event.data and event.event == "message":
                found = None
                for message in messages_in(event.data, cursor):
                    found = await take(message) or found
                if found is not None:
                    return found
        if decoder.last_event_id.isprintable():  # another would not go into a header
            cursor.last_event_id = decoder.last_event_id or cursor.last_event_id
        cursor.retry = decoder.retry or cursor.retry
    return None


def messages_in(data: bytes, cursor: Cursor) -> Iterator[Message]:
    """Read the message, or the batch of messages, of an event; what is neither is skipped.

    Raises `RemoteProtocolError` for a malformed response to the request that waits for one.
    """
    try:
        texts = split_batch(data) if cursor.batches and is_batch(data) else [data]
    except BadMessage as bad:
        texts = []
        log.warning("skipped a batch of the server's that cannot be read: %s", bad.message)
    for text in texts:
        try:
            yield decode(text, remark=_remark)
        except BadMessage as bad:
            if bad.id is not None and bad.id == cursor.id:
                raise RemoteProtocolError(f"The response is not a JSON-RPC message: {bad.message}") from bad
            log.warning("skipped an event of the server's that is not a JSON-RPC message: %s", bad.message)


def response_in(body: bytes, url: str, id: RequestId) -> Response:
    """Read the body of the response to request `id`. Raises `RemoteProtocolError`."""
    try:
        message = decode(body, remark=_remark)
    except BadMessage as bad:
        raise RemoteProtocolError(f"{url} answered with a body that is not a message: {bad.message}") from bad
    if isinstance(message, Response) and (message.id in (id, None) or message.id == str(id)):
        return message
    raise RemoteProtocolError(f"{url} answered with a message that is not the response to this request")


class _ErrorBody(Struct):
    """An error response as servers write it for HTTP, often with a null id."""

    error: ErrorObject


_error_decoder = msgspec.json.Decoder(_ErrorBody)


async def read_refusal(url: str, response: HTTPResponse, id: RequestId | None) -> Failure:
    """Read a response whose status is an error: the JSON-RPC error in its body, if it answers request `id`.

    Raises `HTTPRefused` when the body holds none, or the status alone counts.
    """
    status = response.status
    body = await response.start(_ERROR_BYTES)
    failure = None
    if id is not None and status not in _ONLY_STATUS_COUNTS:
        with contextlib.suppress(*UNREADABLE):
            failure = Failure(_error_decoder.decode(body).error, id)
    if failure is not None and 400 <= status < 500:
        return failure
    text = "".join(each if each.isprintable() else " " for each in body[:_SHOWN_BYTES].decode(errors="replace"))
    told = f"{url} answered HTTP {status}" + (f": {text.strip()}" if text.strip() else "")
    if status in _NO_ENDPOINT:
        told += f"; is that the MCP endpoint? The HTTP+SSE transport of {V2024_11_05} is not spoken here yet"
    challenge = response.header("www-authenticate")
    if challenge is not None and status in _ONLY_STATUS_COUNTS:
        told += f"; it wants an Authorization header, and says {challenge[:_SHOWN_BYTES]!a}"
    raise HTTPRefused(told, status, failure)


async def check_accepted(url: str, response: HTTPResponse) -> None:
    """Read the response to what is not a request. Raises `HTTPRefused`."""
    if not 200 <= response.status < 300:
        await read_refusal(url, response, None)
