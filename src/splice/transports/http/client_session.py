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
from splice.protocol.jsonrpc import Message, Notification, RequestId, Response
from splice.protocol.notifications import CANCELLED
from splice.protocol.versions import Facts
from splice.rules.exchanges import cancellation
from splice.rules.http.headers import EVENT_STREAM, LAST_EVENT_ID_HEADER, PROTOCOL_VERSION_HEADER, SESSION_HEADER
from splice.transports.base import Receiver, Sender
from splice.transports.channel import Channel, written
from splice.transports.http import answers
from splice.transports.http.fetch import Endpoint, HTTPResponse
from splice.transports.tasks import Background

STREAM_SECONDS = 0.5
"""How long to wait for the server to open the GET stream: what it sends there before would be lost."""

DELETE_SECONDS = 2.0
"""How long the DELETE that ends a session may take."""

POST_SECONDS = 60.0
"""How long a POST may take that nobody waits for."""

MAX_POSTS = 100
"""How many such POSTs may be on their way at once: a server that asks on and on and takes none would use up sockets."""

RECONNECT_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""How long to wait before each attempt to restore a stream, unless the server says. After the last, it is given up."""

LEAST_SECONDS = 0.1
"""The shortest wait before a stream is asked for again, whatever the server says."""

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
        self._own = {PROTOCOL_VERSION_HEADER: facts.version} if facts.version_header else {}
        if id is not None:
            self._own[SESSION_HEADER] = id
        self.headers: Mapping[str, str] = {**answers.TO_POST, **self._own}
        """The headers of every POST."""
        self._lost = lost
        sender = Sender(kind="http")
        self._channel = Channel(self._send, lambda asked: receiver.answer(asked.request), receiver.hear, sender)
        self._background = Background()
        self._stream: asyncio.Task[None] | None = None
        self._opened = asyncio.Event()

    async def listen(self) -> None:
        """Open the GET stream, and give the server a moment to accept it."""
        if self._stream is None:
            self._stream = self._background.start(self._listen())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._opened.wait(), STREAM_SECONDS)

    def check(self, response: HTTPResponse) -> None:
        """Leave a response that says that the server has forgotten the session, and raise `SessionLost`."""
        if response.status == 404 and SESSION_HEADER in self.headers:
            self._own.pop(SESSION_HEADER, None)  # there is none to be ended, nor one whose stream could be resumed
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
        await self._background.close()
        if SESSION_HEADER in self._own:
            with contextlib.suppress(MCPError, TimeoutError):
                async with asyncio.timeout(DELETE_SECONDS):
                    with await self._endpoint.request("DELETE", self._own):
                        pass

    # Streams.

    async def resume(self, reading: answers.Reading) -> Response | None:
        """Go on with the stream of a request that broke; None when the server does not let us."""
        if not self._facts.resumable or not reading.last_event_id:
            return None
        await asyncio.sleep(_wait(reading, 0))
        return await self._get(reading)

    async def _listen(self) -> None:
        """Keep the GET stream open, if the server has one."""
        try:
            await self._get(answers.Reading(self.take, batches=self._facts.batches))
        finally:
            self._opened.set()

    async def _get(self, reading: answers.Reading) -> Response | None:
        """GET a stream, again whenever it breaks; None when the server has none or stays away."""
        failures = 0
        while failures < len(RECONNECT_SECONDS):
            headers = {**self._own, "Accept": EVENT_STREAM}
            if reading.last_event_id:
                headers[LAST_EVENT_ID_HEADER] = reading.last_event_id
            with (
                contextlib.suppress(ConnectionClosed, RemoteProtocolError),
                await self._endpoint.request("GET", headers) as response,
            ):
                self._opened.set()
                if response.status == 200 and response.media_type == EVENT_STREAM:
                    failures = 0
                    found = await reading.follow(response)
                    if found is not None:
                        return found
                elif response.status < 500 and response.status not in BUSY:
                    return None
            await asyncio.sleep(_wait(reading, failures))
            failures += 1
        return None

    async def take(self, message: Message) -> None:
        """Act on a message that answers no request of ours."""
        if isinstance(message, Notification) and message.method != CANCELLED.name:
            await self._receiver.hear(message)
        else:
            self._channel.take(message)

    # What nobody waits for.

    def _send(self, message: Message) -> None:
        """POST a message, unless too many are on their way: then it is dropped."""
        if len(self._background) < MAX_POSTS:
            self._background.start(self._post(message))
        else:
            answers.remark(f"{self._endpoint.url} takes no messages: beyond {MAX_POSTS} on their way they are dropped")

    async def _post(self, message: Message) -> None:
        """POST a message; trouble is logged, and a lost answer ends what waits for it."""
        url = self._endpoint.url
        try:
            async with asyncio.timeout(POST_SECONDS):
                with await self._endpoint.post(self.headers, written(message)) as response:
                    self.check(response)
                    await answers.refusal(url, response)
        except (MCPError, TimeoutError) as error:
            why = str(error) or f"no answer within {POST_SECONDS:g} s"
            log.warning("could not send a message to %s: %s", url, why)
            if isinstance(error, SessionLost) and isinstance(message, Response):
                error.may_have_run = True
                self._lost(error)


def _wait(reading: answers.Reading, failures: int) -> float:
    """Tell how many seconds to wait before the next attempt, after so many that failed."""
    return RECONNECT_SECONDS[failures] if reading.retry is None else max(reading.retry / 1000, LEAST_SECONDS)
