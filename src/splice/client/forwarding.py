"""Requests passed on as they came, for proxies: nothing is lost that this package does not know.

Only what `_meta` says about the sender is replaced: towards the server, that is us. The progress token becomes one of
ours, and is put back in the notifications that come before the response.
"""

from typing import Any

from msgspec import Raw, Struct

from splice.client.calls import Calls, Options
from splice.client.connection import Connection
from splice.errors import InvalidParams
from splice.protocol import notifications, prompts, resources, tools, wire
from splice.protocol.jsonrpc import MaybeRaw, Notification, Request, RequestId, Response, failure, raw
from splice.protocol.methods import Method, Note
from splice.rules.meta import replace_token, restamp
from splice.transports.base import Hear, Outgoing

_NAMED = {row.name: row for row in (tools.TOOLS_CALL, prompts.PROMPTS_GET, resources.RESOURCES_READ)}


class _About(Struct):
    """The params that HTTP headers repeat."""

    name: str | None = None
    uri: str | None = None
    arguments: MaybeRaw = None


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


async def forward(calls: Calls, request: Request, hear: Hear) -> Response:
    """Pass a request on and return the response to it. Raises `TransportError` and `LocalProtocolError`."""
    row = _NAMED.get(request.method) or Method(name=request.method, params=wire.Params, result=wire.Result)
    params = request.params if request.params is None or isinstance(request.params, Raw) else raw(request.params)

    async def heard(note: Notification) -> None:
        calls.cache.hear(note)
        await hear(note)

    try:
        about = _ABOUT.read_params(params)
    except InvalidParams:  # the server is to refuse it
        about = _About()
    try:
        response = await calls.send(row, about, _PassedOn(hear=heard, whole=params))
    except InvalidParams as error:
        response = failure(request.id, error)
    response.id = request.id
    return response
