"""A client's way to a server over Streamable HTTP.

Each message is a POST of its own. The response is JSON, or a stream of events that ends with the JSON-RPC response.
What was agreed decides what accompanies a message: headers that repeat what the body says, or a session. A server that
refuses `initialize` may speak HTTP+SSE, the transport before: then a session of that kind takes over.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

import asyncio
import contextlib
import logging
from collections.abc import Generator, Mapping
from functools import partial

from splice.errors import ConnectionClosed, HTTPRefused, MCPError, RemoteProtocolError
from splice.protocol import jsonrpc, lifecycle, notifications, versions
from splice.rules import exchanges, negotiation
from splice.rules.http import headers as http_headers
from splice.transports import base, channel, tasks
from splice.transports.http import answers, fetch
from splice.transports.http.client_session import ClientSession
from splice.transports.http.sse_session import SSESession

log = logging.getLogger("splice.client")


class HTTPLink(base.Link):
    """The way to the server at `url`. `headers` go out with every request, and to no other origin."""

    def __init__(self, url: str, headers: Mapping[str, str], receiver: base.Receiver, max_message: int) -> None:
        self.endpoint = fetch.Endpoint(url, headers, max_message)
        self.receiver = receiver
        self._facts: versions.Facts | None = None
        self._offered_session: str | None = None
        self._session: ClientSession | None = None
        """Over HTTP+SSE, if that is what the server speaks."""
        self._running: set[tasks.Stretch] = set()
        self._closing: asyncio.Task[None] | None = None

    def agree(self, facts: versions.Facts | None) -> None:
        """Send what this version wants beside the body; None: only the body.

        The session of a version that has them is the one that the last response before the agreement named.
        """
        self._facts = facts
        if isinstance(self._session, SSESession):
            return
        self._session = None
        if facts is not None and not facts.mirrored_headers:
            self._session = ClientSession(self.endpoint, self.receiver, self.end_running, self._offered_session, facts)

    async def listen(self) -> None:
        """Open the stream for what belongs to no request, where the version has one."""
        if self._session is not None:
            await self._session.listen()

    async def exchange(self, outgoing: base.Outgoing) -> jsonrpc.Response:
        """POST a request and wait for its response.

        Raises `ConnectionClosed`, `SessionLost`, `HTTPRefused` and `RemoteProtocolError`.
        """
        session = self._session
        headers = {**self._headers(outgoing.method, outgoing.name), **outgoing.mirrored}
        body = channel.written(jsonrpc.Request(outgoing.id, outgoing.method, outgoing.params))
        try:
            with self._sending():
                if isinstance(session, SSESession):
                    return await session.exchange(outgoing)
                with await self._post(headers, body, outgoing.method in exchanges.REPEATABLE) as response:
                    return await self._read(outgoing, response)
        except HTTPRefused as refused:
            if session is not None or outgoing.method != lifecycle.INITIALIZE.name:
                raise
            return await self._fall_back(outgoing, refused)
        except asyncio.CancelledError as error:
            if session is not None and self._closing is None:
                session.cancel(outgoing.id, outgoing.method, channel.reason_of(error))
            raise

    async def notify(self, note: jsonrpc.Notification) -> None:
        """POST a notification. Raises as `exchange` does."""
        with self._sending(), await self._post(self._headers(note.method, None), channel.written(note)) as response:
            await answers.refusal(self.endpoint, response)

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

    async def _post(self, headers: Mapping[str, str], body: bytes, repeatable: bool = False) -> fetch.HTTPResponse:
        """POST `body`. Raises `SessionLost`."""
        response = await self.endpoint.follow("POST", headers, body, repeatable=repeatable)
        if self._session is not None:
            self._session.check(response)
        return response

    # A server that refuses `initialize`.

    async def _fall_back(self, outgoing: base.Outgoing, refused: HTTPRefused) -> jsonrpc.Response:
        """Try HTTP+SSE if the refusal may mean that. If it does not the refusal stands."""
        failure: jsonrpc.Failure | None = refused.response
        verdict = negotiation.classify(failure or refused)
        if 400 <= refused.status < 500 and isinstance(verdict, negotiation.Handshake):
            try:
                self._session = await self._opened_older()
            except MCPError as error:
                if self._closing is not None:
                    raise
                told = f"{refused} (HTTP+SSE of {versions.V2024_11_05} was tried too: {error})"
                refused = HTTPRefused(told, refused.status)
            else:
                return await self.exchange(outgoing)
        if failure is None or refused.status >= 500:
            raise refused
        return failure

    async def _opened_older(self) -> SSESession:
        older = SSESession(self.endpoint, self.receiver, self.end_running)
        try:
            with self._sending():
                await older.open()
        except BaseException:
            await older.close()
            raise
        return older

    # The body of a response.

    async def _read(self, outgoing: base.Outgoing, response: fetch.HTTPResponse) -> jsonrpc.Response:
        url, facts, media = self.endpoint.url, self._facts, response.media_type
        refused = await answers.refusal(self.endpoint, response, outgoing.id)
        if refused is not None:
            if outgoing.method == lifecycle.INITIALIZE.name:
                raise HTTPRefused(f"{url} answered HTTP {response.status}", response.status, refused)
            return refused
        if facts is None:
            self._offered_session = session = response.header(http_headers.SESSION_HEADER) or None
            if session is not None and not http_headers.is_plain(session):
                raise RemoteProtocolError(f"{url} gave a session id that is not visible ASCII: {session[:100]!a}")
        batches = facts is not None and facts.batches
        reading = answers.Reading(partial(self._take, outgoing), outgoing.id, batches)
        if "json" in media:
            found = await reading.read(await response.body())
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

    async def _take(self, outgoing: base.Outgoing, message: jsonrpc.Message) -> jsonrpc.Response | None:
        """Act on a message in the answer to a request; return it if it is the response."""
        if isinstance(message, jsonrpc.Notification) and message.method != notifications.CANCELLED.name:
            await outgoing.hear(message)
        elif isinstance(message, jsonrpc.Response) and message.id in (outgoing.id, str(outgoing.id), None):
            return message
        elif self._session is not None:
            await self._session.take(message)
        else:
            what = getattr(message, "method", "a response to something else")
            log.warning("%s sent what it may not on the stream of a request, skipped: %s", self.endpoint.url, what)
        return None
