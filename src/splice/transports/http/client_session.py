"""A session over Streamable HTTP as a client keeps it, up to 2025-11-25: all that goes beyond a POST and its response.

Its id and the version header accompany every request; a GET stream brings what belongs to no request; a stream that
breaks is resumed; the server's requests are answered by POST; DELETE ends it.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

from splice.errors import ConnectionClosed, HTTPRefused, MCPError, RemoteProtocolError, SessionLost
from splice.protocol import jsonrpc, notifications, versions
from splice.rules import exchanges
from splice.rules.http import headers as http_headers
from splice.transports import base, channel, tasks
from splice.transports.http import answers, fetch

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

STEADY_SECONDS = 5.0
"""A stream that was open for longer was a good one, even if it brought nothing."""

LEAST_SECONDS = 0.1
"""The shortest wait before a stream is asked for again, whatever the server says."""

BUSY = frozenset({409, 429})
"""The statuses of a GET that are worth another attempt, as those from 500 on are: there is no stream just now."""

Lost: TypeAlias = Callable[[SessionLost], None]
"""Is told when an answer to the server finds the session lost: what waits for a response will get none."""


class ClientSession:
    """A session with the server at `endpoint`. `id` is None when the server has given it none."""

    def __init__(
        self, endpoint: fetch.Endpoint, receiver: base.Receiver, lost: Lost, id: str | None, facts: versions.Facts
    ) -> None:
        self._endpoint, self._facts = endpoint, facts
        self._hear, self._lost = receiver.hear, lost
        self._own = {http_headers.PROTOCOL_VERSION_HEADER: facts.version} if facts.version_header else {}
        if id is not None:
            self._own[http_headers.SESSION_HEADER] = id
        self.headers: Mapping[str, str] = {**answers.TO_POST, **self._own}
        """The headers of every POST."""
        sender = base.Sender(kind="http")
        self._channel = channel.Channel(self._send, lambda asked: receiver.answer(asked.request), receiver.hear, sender)
        self._background = tasks.Background()
        self._opened = asyncio.Event()

    async def listen(self) -> None:
        """Open the GET stream, and give the server a moment to accept it."""
        self._background.start(self._get(answers.Reading(self.take, batches=self._facts.batches)))
        await tasks.within(STREAM_SECONDS, self._opened)

    def check(self, response: fetch.HTTPResponse) -> None:
        """Leave a response that says that the server has forgotten the session, and raise `SessionLost`."""
        if response.status == 404 and http_headers.SESSION_HEADER in self.headers:
            self._own.pop(http_headers.SESSION_HEADER, None)  # there is none that could be ended
            told = f"{self._endpoint.url} does not know the session any more: it lives in one process of the server"
            remedy = "Several behind one URL need sticky routing, or no sessions (`stateless=True` in Splice)"
            with response:
                raise SessionLost(f"{told}. {remedy}")

    def cancel(self, id: jsonrpc.RequestId, method: str, reason: str) -> None:
        """Tell the server that nobody waits for a request any more, if closing its stream does not say so."""
        note = exchanges.cancellation(id, method, reason)
        if note is not None and not self._facts.closed_stream_cancels:
            self._send(note)

    async def close(self) -> None:
        """Stop answering and listening, and end the session at the server."""
        await self._channel.lost(ConnectionClosed(f"The connection to {self._endpoint.url} was closed"))
        await self._background.close()
        if http_headers.SESSION_HEADER in self._own:
            with contextlib.suppress(MCPError, TimeoutError):
                async with asyncio.timeout(DELETE_SECONDS):
                    with await self._endpoint.request("DELETE", self._own):
                        pass

    # Streams.

    async def resume(self, reading: answers.Reading) -> jsonrpc.Response | None:
        """Go on with the stream of a request that broke; None when the server does not let us."""
        if not self._facts.resumable or not reading.last_event_id:
            return None
        await asyncio.sleep(_wait(reading, 0))
        return await self._get(reading, 1)

    async def _get(self, reading: answers.Reading, failures: int = 0) -> jsonrpc.Response | None:
        """GET a stream, again whenever it breaks; None when the server has none or stays away.

        One that gets further, or lasts for a while, is no failure.
        """
        while True:
            cursor, begun = reading.last_event_id, time.monotonic()
            found, more = await self._get_once(reading)
            if reading.last_event_id != cursor or time.monotonic() - begun > STEADY_SECONDS:
                failures = 0
            if found is not None or not more or failures == len(RECONNECT_SECONDS):
                return found
            await asyncio.sleep(_wait(reading, failures))
            failures += 1

    async def _get_once(self, reading: answers.Reading) -> tuple[jsonrpc.Response | None, bool]:
        """GET a stream and read it. Returns the response, and whether it is worth another attempt."""
        headers = {**self._own, "Accept": http_headers.EVENT_STREAM}
        if reading.last_event_id:
            headers[http_headers.LAST_EVENT_ID_HEADER] = reading.last_event_id
        try:
            with await self._endpoint.follow("GET", headers) as response:
                self._opened.set()
                if response.status == 200 and response.media_type == http_headers.EVENT_STREAM:
                    return await reading.follow(response), True
                return None, response.status >= 500 or response.status in BUSY
        except HTTPRefused as error:  # a login that failed may work a moment later, unless a user was asked in vain
            return None, not error.may_have_run and error.retry_after <= RECONNECT_SECONDS[-1]
        except RemoteProtocolError:
            if reading.id is not None:
                raise
        except ConnectionClosed as error:
            reading.trouble = f": {error}"
        return None, True

    async def take(self, message: jsonrpc.Message) -> None:
        """Act on a message that answers no request of ours."""
        if isinstance(message, jsonrpc.Notification) and message.method != notifications.CANCELLED.name:
            await self._hear(message)
        else:
            self._channel.take(message)

    # What nobody waits for.

    def _send(self, message: jsonrpc.Message) -> None:
        """POST a message, unless too many are on their way: then it is dropped."""
        if len(self._background) < MAX_POSTS:
            self._background.start(self._post(message))
        else:
            answers.remark(f"{self._endpoint.url} takes no messages: beyond {MAX_POSTS} on their way they are dropped")

    async def _post(self, message: jsonrpc.Message) -> None:
        """POST a message; trouble is logged, and a lost answer ends what waits for it."""
        error: Exception | None = TimeoutError(f"no answer within {POST_SECONDS:g} s")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POST_SECONDS):
                error = await self._deliver(message)
        if error is not None:
            answers.log.warning("could not send a message to %s: %s", self._endpoint.url, error)
        if isinstance(error, SessionLost) and isinstance(message, jsonrpc.Response):
            error.may_have_run = True
            self._lost(error)

    async def _deliver(self, message: jsonrpc.Message) -> MCPError | None:
        """POST a message. Returns what it failed of: whoever waits for it may have gone."""
        try:
            with await self._endpoint.follow("POST", self.headers, channel.written(message)) as response:
                self.check(response)
                await answers.refusal(self._endpoint, response)
        except MCPError as error:
            return error
        return None


def _wait(reading: answers.Reading, failures: int) -> float:
    """Tell how many seconds to wait before the next attempt, after so many that failed.

    Never less than the server asks for, and not the same for all clients that lost one server at once.
    """
    seconds = RECONNECT_SECONDS[failures]
    if reading.retry is not None:
        seconds = max(reading.retry / 1000, RECONNECT_SECONDS[failures - 1] if failures else LEAST_SECONDS)
    return tasks.lengthened(seconds)
