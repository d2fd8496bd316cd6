"""HTTP+SSE, the transport of 2024-11-05, as a client speaks it. Servers of later versions offer it too.

A GET opens the one stream of a connection. Its first event, `endpoint`, names the URL that every message is POSTed to,
on the same origin. Such a POST is answered with 202; all that the server says comes on the stream. So the stream is
the session: when it ends, what waits for a response fails, and the next request opens another one.

https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
"""

import asyncio

from yarl import URL

from splice.errors import ConnectionClosed, HTTPRefused, MCPError, RemoteProtocolError, SessionLost
from splice.protocol import jsonrpc, uri, versions
from splice.rules.http import headers, sse
from splice.transports import base, channel
from splice.transports.http import answers, client_session, fetch

ENDPOINT_SECONDS = 10.0
"""How long the server may take to open the stream and to name the URL for messages."""


class SSESession(client_session.ClientSession):
    """A session that is a stream at `endpoint`, which is then made to point to the URL for messages."""

    _url: URL
    """Where the stream is, after redirects."""

    def __init__(self, endpoint: fetch.Endpoint, receiver: base.Receiver, lost: client_session.Lost) -> None:
        super().__init__(endpoint, receiver, lost, None, versions.FACTS[versions.V2024_11_05])
        self._reading = answers.Reading(self.take, first=self._first, discredit=self._channel.discredit)
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the URL for messages is known."""

    async def open(self) -> None:
        """Open the stream. Raises `ConnectionClosed`, `HTTPRefused` and `RemoteProtocolError`."""
        self._background.start(self._follow())
        try:
            await asyncio.wait_for(self._ready, ENDPOINT_SECONDS)
        except TimeoutError:
            raise RemoteProtocolError(f"no `endpoint` event came within {ENDPOINT_SECONDS:g} s") from None

    async def listen(self) -> None:
        """Do nothing: it is open, or there would be no session."""

    async def exchange(self, outgoing: base.Outgoing) -> jsonrpc.Response:
        """POST a request and wait for its response on the stream. Raises `SessionLost` when that had ended before."""
        if self._channel.gone is not None:
            raise SessionLost(str(self._channel.gone))
        request = jsonrpc.Request(outgoing.id, outgoing.method, outgoing.params)
        posting = self._background.start(self._deliver(request))
        # The channel sends nothing: the request is POSTed beside it.
        answering = asyncio.ensure_future(self._channel.request(outgoing, channel.ignore))
        try:
            await asyncio.wait((posting, answering), return_when=asyncio.FIRST_COMPLETED)
            if posting.done() and (failure := posting.result()) is not None:
                raise failure
            return await answering
        finally:
            if not answering.done():  # the link tells of a cancellation itself
                posting.cancel()
                answering.cancel()
                await asyncio.wait((answering,))

    # The stream.

    async def _follow(self) -> None:
        """Act on what the server says, until the stream ends."""
        error: MCPError = ConnectionClosed("the server ended the stream that all its messages come on")
        try:
            with await self._endpoint.follow("GET", {"Accept": headers.EVENT_STREAM}) as response:
                if response.status != 200 or response.media_type != headers.EVENT_STREAM:
                    media = f" of type {response.media_type!a:.100}" if response.status == 200 else ""
                    told = f"a GET was answered with HTTP {response.status}{media}, not with an event stream"
                    raise HTTPRefused(told, response.status)
                self._url = response.url
                await self._reading.follow(response)
        except MCPError as trouble:
            error = trouble
        if not self._ready.done():
            self._ready.set_exception(error)
        await self._channel.lost(ConnectionClosed(f"Lost {self._endpoint.url}: {error}{self._reading.trouble}"))

    def _first(self, event: sse.Event) -> None:
        """Find the URL for messages in the first event."""
        if event.event != "endpoint":
            raise RemoteProtocolError(f"its stream begins with {event.event!a:.100}, not with an `endpoint` event")
        where = event.data[: fetch.MAX_FIELD_BYTES + 1].decode(errors="replace")
        target = fetch.within_origin(self._url, where) if len(where) <= fetch.MAX_FIELD_BYTES else None
        if target is None:
            told = f"its `endpoint` event names {uri.shown_url(where)!a:.200}, which is not a URL of the same origin"
            raise RemoteProtocolError(told)
        self._endpoint.target = target
        if not self._ready.done():
            self._ready.set_result(None)

    async def take(self, message: jsonrpc.Message) -> None:
        """Act on a message. What belongs to a request is not told apart by the stream it comes on."""
        self._channel.take(message)
