"""HTTP+SSE, the transport of 2024-11-05, for clients that know no other.

A GET opens a session and is its stream: the first event names where to POST, all messages of the server follow, and
the session ends with it. A POST carries one message and is answered with 202.

https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
"""

import asyncio
from functools import partial
from urllib.parse import parse_qs, quote

from splice.errors import InternalError, InvalidRequest
from splice.protocol import jsonrpc
from splice.rules import eras
from splice.rules.http import origins, sse
from splice.rules.http.headers import EVENT_STREAM, Headers, accepts
from splice.transports import base, channel, tasks
from splice.transports.http import sessions, visits
from splice.transports.http.stream import EventStream

SSE_PATH = "/sse"
"""Where both are, from the root of the application on."""


MAX_WORK = 1_000
"""So many requests may run or wait, or have answers to be sent. Beyond, clients that do not read get no more."""


class SSELeg:
    """Answers the GETs and POSTs of this transport."""

    def __init__(self, service: base.Service, limit: int) -> None:
        self._sessions = sessions.Sessions(service, limit, None)
        self._hear = service.hear
        self._streams: dict[str, EventStream] = {}
        """By the ids of the sessions."""
        self._work = tasks.Background()

    def answer(self, body: bytes, headers: Headers, sender: base.Sender, visit: visits.Visit) -> visits.Work:
        """Choose what answers a request. Raises `Refusal`."""
        method = visit.reply.scope["method"]
        if method == "POST":
            return self._post(body, sender, visit)
        if method != "GET":
            raise origins.Refusal(405, InvalidRequest(f"{method} has no meaning here"), [(b"allow", b"GET, POST")])
        if not accepts(headers.raw(b"accept"), EVENT_STREAM):
            raise origins.Refusal(406, InvalidRequest(f"GET needs `Accept: {EVENT_STREAM}`"))
        return self._get(sender, visit)

    async def _get(self, sender: base.Sender, visit: visits.Visit) -> None:
        session = self._sessions.open(sender.principal)
        session.users = 1  # as long as its stream is open
        id, reply = session.session.id, visit.reply
        self._streams[id] = stream = EventStream(reply)

        def left(gone: visits.Reply) -> None:
            stream.detach(gone)
            session.stream.detach(gone)

        visit.detach = left
        try:
            await reply.write(b"event: endpoint\n" + sse.encode_event(_endpoint(reply.scope, id)))
            await session.stream.open(reply)
        finally:
            del self._streams[id]
            self._sessions.remove(session)
        await reply.end()

    async def _post(self, body: bytes, sender: base.Sender, visit: visits.Visit) -> None:
        query = parse_qs(visit.reply.scope.get("query_string", b"").decode("latin-1"))
        session = self._sessions.all.get(query.get("session_id", [""])[0])
        if session is None or session.session.principal != sender.principal:
            raise origins.Refusal(404, InvalidRequest("Session not found: it ended with its stream; open one with GET"))
        if jsonrpc.is_batch(body):
            raise InvalidRequest("Invalid request: this transport has no batches; send one message")
        message, sender.session = jsonrpc.decode(body), session.session
        if not isinstance(message, jsonrpc.Request):
            session.channel.take_other(message, partial(self._hear, sender=sender))
        elif eras.names_its_version(message.params):
            visit.id = message.id
            raise InvalidRequest("Invalid request: what names its own protocol version belongs to the other endpoint")
        else:
            stream = self._streams[session.session.id]
            busy = stream.reply is not None and stream.reply.busy
            if busy and len(self._work) >= MAX_WORK:
                retry = (b"retry-after", b"%d" % sessions.RETRY_SECONDS)
                raise origins.Refusal(503, InternalError("You do not read what is sent to you"), [retry])
            self._work.start(_answer(sessions.SessionExchange(session, message, sender, stream), stream))
        await visit.reply.accept()

    async def stop(self, drain_seconds: float) -> None:
        """Let requests finish for a while, then end all streams."""
        present = list(self._sessions.all.values())
        await asyncio.gather(*(session.channel.drain(drain_seconds) for session in present))
        for session in present:
            session.stream.lose()


async def _answer(exchange: sessions.SessionExchange, stream: EventStream) -> None:
    if stream.reply is not None:
        await stream.reply.write(b"")  # nothing is begun for a client that does not read
    response = await exchange.answer()
    if response is not None:
        await stream.send(channel.written(response))


def _endpoint(scope: visits.Scope, id: str) -> bytes:
    """Write where to POST to: from the root of the host on, as some clients put no other URI together."""
    root = "/" + scope.get("root_path", "").strip("/")  # two slashes would begin with a host
    return f"{quote(root.rstrip('/'))}{SSE_PATH}?session_id={id}".encode()
