"""The client's side of a session over HTTP: everything up to 2025-11-25 that goes beyond one POST and its response.

The session id and the version header accompany every request; a GET stream brings what belongs to no request; a stream
that breaks is resumed; the server's requests are answered by POST; DELETE ends the session.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping

from splice.errors import ConnectionClosed, MCPError, RemoteProtocolError, SessionLost
from splice.protocol.jsonrpc import Message, Notification, Request, RequestId, Response
from splice.protocol.notifications import CANCELLED
from splice.protocol.versions import Facts
from splice.rules.exchanges import cancellation
from splice.rules.http.headers import EVENT_STREAM, PROTOCOL_VERSION_HEADER, SESSION_HEADER
from splice.transports.base import Exchange, Receiver, Sender
from splice.transports.channel import Channel, written
from splice.transports.http.answers import TO_POST, Cursor, Take, check_accepted, follow
from splice.transports.http.fetch import Endpoint, HTTPResponse
from splice.transports.tasks import Background

STREAM_SECONDS = 0.5
"""How long to wait for the server to open the GET stream: what it sends there before would be lost."""

DELETE_SECONDS = 2.0
"""How long the DELETE that ends a session may take."""

POST_SECONDS = 60.0
"""How long a POST may take that nobody waits for."""

MAX_ANSWERS = 100
"""How many answers may be on their way at once: a server that asks on and on and takes none would use up sockets."""

RECONNECT_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""How long to wait before each attempt to restore a stream, unless the server says. After the last, it is given up."""

LEAST_SECONDS = 0.1
"""The shortest wait before a stream is asked for again, whatever the server says."""

_BROKEN = (ConnectionClosed, RemoteProtocolError)
BUSY = frozenset({409, 429})
"""The statuses of a GET that are worth another attempt, as those from 500 on are: there is no stream just now."""

log = logging.getLogger("splice.client")


class ClientSession:
    """A session with the server behind `endpoint`. `id` is None when the server has given it none.

    `lost` is told when the answer to a question finds that the server has forgotten the session.
    """

    def __init__(
        self, endpoint: Endpoint, id: str | None, facts: Facts, receiver: Receiver, lost: Callable[[SessionLost], None]
    ) -> None:
        self._endpoint = endpoint
        self._facts = facts
        self._receiver = receiver
        self._own: dict[str, str] = {PROTOCOL_VERSION_HEADER: facts.version} if facts.version_header else {}
        if id is not None:
            self._own[SESSION_HEADER] = id
        self.headers: Mapping[str, str] = {**TO_POST, **self._own}
        """The headers of every POST."""
        self._id = id
        self._is_lost = False
        self._lost = lost
        self._channel = Channel(self._answer, self._serve, receiver.hear, Sender(kind="http"))
        self._background = Background()
        self._answers = Background()
        self._has_warned = False
        self._stream: asyncio.Task[None] | None = None
        self._opened = asyncio.Event()

    async def listen(self) -> None:
        """Open the GET stream, and give the server a moment to accept it."""
        if self._stream is None:
            self._stream = self._background.start(self._listen())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STREAM_SECONDS):
                    await self._opened.wait()

    def check(self, response: HTTPResponse) -> None:
        """Leave a response that says that the server has forgotten the session, and raise `SessionLost`."""
        if response.status == 404 and self._id is not None:
            self._is_lost = True
            if self._stream is not None:
                self._stream.cancel()
            with response:
                raise SessionLost(
                    f"{self._endpoint.url} does not know the session any more: a session lives in one process of the "
                    "server. Several behind one URL need sticky routing, or no sessions (`stateless=True` in Splice)"
                )

    def cancel(self, id: RequestId, method: str, reason: str) -> None:
        """Tell the server that nobody waits for a request any more, if closing its stream does not say so."""
        note = cancellation(id, method, reason)
        if note is not None and not self._facts.closed_stream_cancels:
            self._send(note)

    async def close(self) -> None:
        """Stop answering and listening, and end the session at the server."""
        await self._channel.lost(ConnectionClosed(f"The connection to {self._endpoint.url} was closed"))
        await self._answers.close()
        await self._background.close()
        if self._id is not None and not self._is_lost:
            with contextlib.suppress(MCPError, TimeoutError):
                async with asyncio.timeout(DELETE_SECONDS):
                    with await self._endpoint.request("DELETE", self._own):
                        pass

    # Streams.

    async def resume(self, cursor: Cursor, take: Take) -> Response | None:
        """Go on with the stream of a request that broke; None when the server does not let us.

        Raises `RemoteProtocolError` for an event that is too large.
        """
        if not self._facts.resumable or not cursor.last_event_id:
            return None
        await asyncio.sleep(_wait(cursor, 0))
        return await self._get(cursor, take)

    async def _listen(self) -> None:
        """Keep the GET stream open, if the server has one."""
        try:
            await self._get(Cursor(batches=self._facts.batches), self.take)
        finally:
            self._opened.set()

    async def _get(self, cursor: Cursor, take: Take) -> Response | None:
        """GET a stream, again whenever it breaks; None when the server has none or stays away."""
        failures = 0
        while failures < len(RECONNECT_SECONDS):
            headers = {**self._own, **cursor.headers()}
            with contextlib.suppress(*_BROKEN), await self._endpoint.request("GET", headers) as response:
                self._opened.set()
                if response.status == 200 and response.media_type == EVENT_STREAM:
                    failures = 0
                    found = await follow(response, cursor, take)
                    if found is not None:
                        return found
                elif response.status < 500 and response.status not in BUSY:
                    return None
            await asyncio.sleep(_wait(cursor, failures))
            failures += 1
        return None

    async def take(self, message: Message) -> None:
        """Act on a message that answers no request of ours."""
        if isinstance(message, Notification) and message.method != CANCELLED.name:
            await self._receiver.hear(message)
        elif isinstance(message, (Request, Notification)):
            self._channel.take(message)
        else:
            log.debug("ignored a response nobody waits for: id %r", message.id)

    # The server's requests.

    async def _serve(self, exchange: Exchange) -> Response:
        return await self._receiver.answer(exchange.request)

    def _answer(self, message: Message) -> None:
        """POST an answer, unless too many are on their way: then it is dropped."""
        if len(self._answers) < MAX_ANSWERS:
            self._answers.start(self._post(message))
        elif not self._has_warned:
            self._has_warned = True
            log.warning("%s takes no answers: beyond %d on their way they are dropped", self._endpoint.url, MAX_ANSWERS)

    def _send(self, message: Message) -> None:
        self._background.start(self._post(message))

    async def _post(self, message: Message) -> None:
        """POST a message that nobody waits for; trouble is logged, and a lost answer ends what waits for it."""
        try:
            async with asyncio.timeout(POST_SECONDS):
                with await self._endpoint.post(self.headers, written(message)) as response:
                    self.check(response)
                    await check_accepted(self._endpoint.url, response)
        except TimeoutError:
            log.warning("could not send a message to %s within %g s", self._endpoint.url, POST_SECONDS)
        except MCPError as error:
            log.warning("could not send a message to %s: %s", self._endpoint.url, error)
            if isinstance(error, SessionLost) and isinstance(message, Response):
                error.may_have_run = True
                self._lost(error)


def _wait(cursor: Cursor, failures: int) -> float:
    """Tell how many seconds to wait before the next attempt, after so many that failed."""
    return RECONNECT_SECONDS[failures] if cursor.retry is None else max(cursor.retry / 1000, LEAST_SECONDS)
