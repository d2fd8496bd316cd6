"""Requests that name their own protocol version: each is one POST, belongs to no session, and ends with its reply.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

from functools import lru_cache
from typing import Any, cast

from splice.errors import InvalidParams, InvalidRequest
from splice.protocol.jsonrpc import Message, Notification, Request, Success, encode
from splice.protocol.lifecycle import META_PROTOCOL_VERSION
from splice.protocol.methods import Method
from splice.rules.eras import is_version_of_requests
from splice.rules.http.headers import Headers, check_standard_headers
from splice.rules.http.sse import encode_event
from splice.rules.http.status import status_of
from splice.transports.base import Exchange, Sender, Service
from splice.transports.channel import written
from splice.transports.http.reply import Reply
from splice.transports.http.visits import Visit


class RequestExchange(Exchange):
    """One such request: notifications go on the stream that its reply becomes, and the client is never asked."""

    __slots__ = ("_reply",)

    def __init__(self, request: Request, sender: Sender, reply: Reply) -> None:
        self.request = request
        self.sender = sender
        self._reply = reply

    def confirm(self, version: str | None, row: Method[Any, Any] | None, params: Any) -> None:
        """Compare the standard headers with the body. Raises `HeaderMismatch`, `InvalidParams` without a version."""
        if version is None:
            raise InvalidParams(f"params._meta must carry {META_PROTOCOL_VERSION}, as MCP-Protocol-Version says")
        headers = cast("Headers", self.sender.headers)
        name = None if row is None or row.named_by is None else getattr(params, row.named_by)
        check_standard_headers(headers, version, self.request.method, name)

    def rest(self) -> None:
        """Let go of the body and the headers."""
        self.request.params = None
        self.sender.headers = {}
        self._reply.forget_request()

    async def notify(self, note: Notification) -> None:
        """Send a notification, which makes the reply a stream."""
        await self._reply.write(encode_event(encode(note)))


@lru_cache(maxsize=16)
def names_version_of_requests(header: bytes | None) -> bool:
    """Tell whether an `MCP-Protocol-Version` header names a version in which requests belong to no session."""
    return header is not None and is_version_of_requests(header.decode("latin-1").strip())


async def answer(service: Service, request: Request, sender: Sender, visit: Visit) -> None:
    """Let the service answer a request; its client's leaving cancels the work."""
    visit.state = "answering"
    reply = visit.reply
    response = await service.handle(RequestExchange(request, sender, reply))
    visit.check()
    status = 200 if isinstance(response, Success) else status_of(response.error.code)
    await reply.respond(status, written(response))


async def take_other(message: Message, visit: Visit) -> None:
    """Answer what is not a request: accept a notification, and refuse a response."""
    if not isinstance(message, Notification):
        raise InvalidRequest("Invalid request: in this version a client is never asked, so it cannot answer")
    await visit.reply.accept()
