"""A client's way to a server over Streamable HTTP.

Each message is a POST of its own. The response is JSON, or a stream of events that ends with the JSON-RPC response.
What was agreed decides what accompanies a message: headers that repeat what the body says, or a session. That is
everything up to 2025-11-25 that goes beyond one POST and its response: its id and the version header accompany every
request; a GET stream brings what belongs to no request; a stream that breaks is resumed; the server's requests are
answered by POST; DELETE ends it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

import asyncio
import contextlib
import logging
from collections.abc import Generator, Mapping
from functools import partial

from splice.errors import ConnectionClosed, HTTPRefused, MCPError, RemoteProtocolError, SessionLost
from splice.protocol import notifications, versions
from splice.protocol.jsonrpc import MAX_MESSAGE_BYTES, Message, Notification, Request, RequestId, Response
from splice.rules import exchanges
from splice.rules.http import headers as http_headers
from splice.transports import base, channel, tasks
from splice.transports.http import answers, fetch

_LISTS = ("prompts/list", "resources/list", "resources/templates/list", "tools/list")
REPEATABLE = frozenset({*_LISTS, "completion/complete", "ping", "prompts/get", "resources/read", "server/discover"})
"""The methods that change nothing, so that it does no harm if a server should see a request twice."""

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


class HTTPLink(base.Link):
    """The way to the server at `url`. `headers` go out with every request, and to no other origin.

    `max_message` is the size of the largest message that a response may bring, in bytes.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], receiver: base.Receiver, max_message: int = MAX_MESSAGE_BYTES
    ) -> None:
        self.endpoint = fetch.Endpoint(url, headers)
        self.receiver = receiver
        self._max_message = max_message
        self._facts: versions.Facts | None = None
        self._offered_session: str | None = None
        self._session: ClientSession | None = None
        self._running: set[tasks.Stretch] = set()
        self._closing: asyncio.Task[None] | None = None

    def agree(self, facts: versions.Facts | None) -> None:
        """Send what this version wants beside the body; None: only the body.

        The session of a version that has them is the one that the last response before the agreement named.
        """
        self._facts = facts
        self._session = None
        if facts is not None and not facts.mirrored_headers:
            self._session = ClientSession(self, self._offered_session, facts)

    async def listen(self) -> None:
        """Open the stream for what belongs to no request, where the version has one."""
        if self._session is not None:
            await self._session.listen()

    async def exchange(self, outgoing: base.Outgoing) -> Response:
        """POST a request and wait for its response.

        Raises `ConnectionClosed`, `SessionLost`, `HTTPRefused` and `RemoteProtocolError`.
        """
        session = self._session
        headers = {**self._headers(outgoing.method, outgoing.name), **outgoing.mirrored}
        body = channel.written(Request(outgoing.id, outgoing.method, outgoing.params))
        try:
            with self._sending(), await self.post(headers, body, outgoing.method in REPEATABLE) as response:
                return await self._read(outgoing, response)
        except asyncio.CancelledError as error:
            if session is not None and self._closing is None:
                session.cancel(outgoing.id, outgoing.method, channel.reason_of(error))
            raise

    async def notify(self, note: Notification) -> None:
        """POST a notification. Raises as `exchange` does."""
        with self._sending(), await self.post(self._headers(note.method, None), channel.written(note)) as response:
            await answers.refusal(self.endpoint.url, response)

    async def close(self) -> None:
        """End the session and close all connections, even while being cancelled."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._shut_down())
        await tasks.finish(self._closing)

    def end_running(self, reason: ConnectionClosed) -> None:
        """Fail what waits for a response."""
        for stretch in tuple(self._running):
            stretch.end(reason)

    async def _shut_down(self) -> None:
        self.end_running(ConnectionClosed(f"The connection to {self.endpoint.url} was closed"))
        if self._session is not None:
            await self._session.close()
        await self.endpoint.close()

    # POST.

    def _headers(self, method: str, name: str | None) -> Mapping[str, str]:
        if self._session is not None:
            return self._session.headers
        if self._facts is None:
            return answers.TO_POST
        return {**http_headers.standard_headers(self._facts.version, method, name), **answers.TO_POST}

    @contextlib.contextmanager
    def _sending(self) -> Generator[None]:
        """Give up with `ConnectionClosed` when the link is closed meanwhile."""
        if self._closing is not None:
            raise ConnectionClosed(f"The connection to {self.endpoint.url} is closed")
        with tasks.Stretch() as stretch:
            self._running.add(stretch)
            try:
                yield
            finally:
                self._running.discard(stretch)

    async def post(self, headers: Mapping[str, str], body: bytes, repeatable: bool = False) -> fetch.HTTPResponse:
        """POST `body`. Raises `SessionLost`."""
        response = await self.endpoint.post(headers, body, repeatable=repeatable)
        if self._session is not None:
            self._session.check(response)
        return response

    # The body of a response.

    async def _read(self, outgoing: base.Outgoing, response: fetch.HTTPResponse) -> Response:
        url, facts, media = self.endpoint.url, self._facts, response.media_type
        refused = await answers.refusal(url, response, outgoing.id)
        if refused is not None:
            return refused
        if facts is None:
            self._offered_session = session = response.header(http_headers.SESSION_HEADER) or None
            if session is not None and not http_headers.is_plain(session):
                raise RemoteProtocolError(f"{url} gave a session id that is not visible ASCII: {session[:100]!a}")
        batches = facts is not None and facts.batches
        reading = answers.Reading(partial(self._take, outgoing), outgoing.id, batches, self._max_message)
        if "json" in media:
            found = await reading.read(await response.body(self._max_message))
            if found is None:
                raise RemoteProtocolError(f"{url} answered without the response to this request{reading.trouble}")
        elif media == http_headers.EVENT_STREAM:
            found = await reading.follow(response)
            if found is None and self._session is not None:
                found = await self._session.resume(reading)
            if found is None:
                raise ConnectionClosed(f"{url} ended the stream before the response{reading.trouble}")
        else:
            raise HTTPRefused(f"{url} answered HTTP {response.status} with content type {media!a}", response.status)
        return found

    async def _take(self, outgoing: base.Outgoing, message: Message) -> Response | None:
        """Act on a message in the answer to a request; return it if it is the response."""
        if isinstance(message, Notification) and message.method != notifications.CANCELLED.name:
            await outgoing.hear(message)
        elif isinstance(message, Response) and (message.id in (outgoing.id, None) or message.id == str(outgoing.id)):
            return message
        elif self._session is not None:
            await self._session.take(message)
        else:
            what = getattr(message, "method", "a response to something else")
            log.warning("%s sent what it may not on the stream of a request, skipped: %s", self.endpoint.url, what)
        return None


class ClientSession:
    """A session with the server behind `link`. `id` is None when the server has given it none."""

    def __init__(self, link: HTTPLink, id: str | None, facts: versions.Facts) -> None:
        self._link = link
        self._facts = facts
        self._own = {http_headers.PROTOCOL_VERSION_HEADER: facts.version} if facts.version_header else {}
        if id is not None:
            self._own[http_headers.SESSION_HEADER] = id
        self.headers: Mapping[str, str] = {**answers.TO_POST, **self._own}
        """The headers of every POST."""
        receiver, sender = link.receiver, base.Sender(kind="http")
        self._channel = channel.Channel(self._send, lambda asked: receiver.answer(asked.request), receiver.hear, sender)
        self._background = tasks.Background()
        self._opened = asyncio.Event()

    async def listen(self) -> None:
        """Open the GET stream, and give the server a moment to accept it."""
        self._background.start(self._get(answers.Reading(self.take, batches=self._facts.batches)))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._opened.wait(), STREAM_SECONDS)

    def check(self, response: fetch.HTTPResponse) -> None:
        """Leave a response that says that the server has forgotten the session, and raise `SessionLost`."""
        if response.status == 404 and http_headers.SESSION_HEADER in self.headers:
            self._own.pop(http_headers.SESSION_HEADER, None)  # there is none that could be ended
            with response:
                raise SessionLost(
                    f"{self._link.endpoint.url} does not know the session any more: it lives in one process of the "
                    "server. Several behind one URL need sticky routing, or no sessions (`stateless=True` in Splice)"
                )

    def cancel(self, id: RequestId, method: str, reason: str) -> None:
        """Tell the server that nobody waits for a request any more, if closing its stream does not say so."""
        note = exchanges.cancellation(id, method, reason)
        if note is not None and not self._facts.closed_stream_cancels:
            self._send(note)

    async def close(self) -> None:
        """Stop answering and listening, and end the session at the server."""
        await self._channel.lost(ConnectionClosed(f"The connection to {self._link.endpoint.url} was closed"))
        await self._background.close()
        if http_headers.SESSION_HEADER in self._own:
            with contextlib.suppress(MCPError, TimeoutError):
                async with asyncio.timeout(DELETE_SECONDS):
                    with await self._link.endpoint.request("DELETE", self._own):
                        pass

    # Streams.

    async def resume(self, reading: answers.Reading) -> Response | None:
        """Go on with the stream of a request that broke; None when the server does not let us."""
        if not self._facts.resumable or not reading.last_event_id:
            return None
        await asyncio.sleep(_wait(reading, 0))
        return await self._get(reading)

    async def _get(self, reading: answers.Reading) -> Response | None:
        """GET a stream, again whenever it breaks; None when the server has none or stays away."""
        failures = 0
        while failures < len(RECONNECT_SECONDS):
            headers = {**self._own, "Accept": http_headers.EVENT_STREAM}
            if reading.last_event_id:
                headers[http_headers.LAST_EVENT_ID_HEADER] = reading.last_event_id
            with (
                contextlib.suppress(ConnectionClosed, RemoteProtocolError),
                await self._link.endpoint.request("GET", headers) as response,
            ):
                self._opened.set()
                if response.status == 200 and response.media_type == http_headers.EVENT_STREAM:
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
        if isinstance(message, Notification) and message.method != notifications.CANCELLED.name:
            await self._link.receiver.hear(message)
        else:
            self._channel.take(message)

    # What nobody waits for.

    def _send(self, message: Message) -> None:
        """POST a message, unless too many are on their way: then it is dropped."""
        if len(self._background) < MAX_POSTS:
            self._background.start(self._post(message))
        else:
            url = self._link.endpoint.url
            answers.remark(f"{url} takes no messages: beyond {MAX_POSTS} on their way they are dropped")

    async def _post(self, message: Message) -> None:
        """POST a message; trouble is logged, and a lost answer ends what waits for it."""
        url = self._link.endpoint.url
        try:
            async with asyncio.timeout(POST_SECONDS):
                with await self._link.post(self.headers, channel.written(message)) as response:
                    await answers.refusal(url, response)
        except (MCPError, TimeoutError) as error:
            log.warning("could not send a message to %s: %s", url, str(error) or f"no answer within {POST_SECONDS:g} s")
            if isinstance(error, SessionLost) and isinstance(message, Response):
                error.may_have_run = True
                self._link.end_running(error)


def _wait(reading: answers.Reading, failures: int) -> float:
    """Tell how many seconds to wait before the next attempt, after so many that failed."""
    return RECONNECT_SECONDS[failures] if reading.retry is None else max(reading.retry / 1000, LEAST_SECONDS)
