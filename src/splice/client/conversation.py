"""The life of a client: its current connection, what a new one must be told, and what the server begins.

A connection never changes. When its session is lost, another one takes its place as a whole: a new link, on which new
terms were agreed. The old link is closed when what runs on it has had the time to end. Everything that arrives without
having been asked for comes in here too: questions and notifications.
"""

import asyncio
import logging

from splice.client import notices, subscriptions, targets
from splice.client.calls import Calls
from splice.client.clocks import FOR_EVER, Deadline
from splice.client.connection import Connection, Opening
from splice.client.options import OPTIONS, ClientOptions, info_of
from splice.client.questions import Questions
from splice.errors import ConnectionClosed, LocalProtocolError, MCPError
from splice.protocol import jsonrpc, notifications, versions
from splice.protocol.capabilities import ClientCapabilities
from splice.rules.negotiation import preference
from splice.rules.options import checked
from splice.transports.base import Link
from splice.transports.tasks import Background

CLOSED = "This client is closed; open it again to use it"

TIMEOUT_SECONDS = 60.0

RETIRE_SECONDS = 30.0
"""How long the requests that still run on a replaced connection may take to end."""

log = logging.getLogger("splice.client")


class Conversation:
    """Owns the connections of one client, and receives what the server begins."""

    def __init__(self, target: targets.Target, options: ClientOptions) -> None:
        checked("Client", options, OPTIONS)
        on_log, on_change = options.get("on_log"), options.get("on_change")
        questions = Questions(options.get("on_elicit"), options.get("on_sample"), options.get("roots"))
        extensions = tuple(options.get("extensions") or ())
        capabilities = ClientCapabilities()
        for each in (questions, *extensions):
            each.declare(capabilities)
        wanted, info = preference(options.get("protocol", "auto")), info_of(options)
        timeout = options.get("timeout", TIMEOUT_SECONDS)
        self._opening = Opening(target, wanted, capabilities, info, FOR_EVER if timeout is None else timeout, self)
        self._log_level: notifications.LoggingLevel | None = "info" if on_log else None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()
        self._renewing = asyncio.Lock()
        self._leaving = asyncio.Lock()
        self._closed = False
        self._connection: Connection | None = None
        self._under_way: Deadline | None = None
        self._announcing: asyncio.Task[None] | None = None
        self._links: set[Link] = set()
        self._background = Background()
        self._notices = notices.Notices(on_log, on_change, extensions)
        self.calls = Calls(self._opening, (questions, *extensions), self.connection, self._renew)
        self.calls.cache.keeps = options.get("cache", True)
        tells, back = on_change is not None, target.kind == "http"
        self.subscriptions = subscriptions.Subscriptions(self.calls, self._background, lists=tells, reconnects=back)

    # Its beginning and its end.

    async def open(self) -> None:
        """Connect and come to terms, unless that is done."""
        self._closed, self._loop = False, asyncio.get_running_loop()
        async with self._lock:
            if self._connection is None:
                await self._let_go()
                try:
                    with self._time_to_open():
                        self._connection = await self._opened()
                        await self._announce()
                except BaseException:
                    await self._let_go()
                    raise

    async def close(self) -> None:
        """Let go of the server, until it is opened again; what still runs fails with `ConnectionClosed`."""
        self._closed = True
        await self._let_go()

    @property
    def is_stranded(self) -> bool:
        """The event loop it was opened on is over. Raises `RuntimeError` when another one runs while it is not."""
        if self._loop in (None, asyncio.get_running_loop()) or self._connection is None:
            return False
        if not self._loop.is_closed():
            raise RuntimeError("This client was opened on another event loop, not yet over: use and close it there")
        return True

    def drop(self) -> None:
        """Let go of the server where nobody can wait for it. To be called from any thread."""
        for link in self._links:
            link.drop()

    async def _let_go(self) -> None:
        """Leave nothing of the last connection. Whoever opens another waits until that is done."""
        self._connection = None
        if self._under_way is not None:
            self._under_way.end(ConnectionClosed(CLOSED))
        async with self._leaving:
            self._opening.clocks.arm(FOR_EVER)
            self.calls.cache.clear()
            try:
                await self.subscriptions.close()
                await self._background.close()
            finally:
                for link in tuple(self._links):
                    await link.close()
                self._links.clear()

    # The current connection.

    def connection(self) -> Connection:
        """Return the current one. Raises `LocalProtocolError` before it is open, `ConnectionClosed` after."""
        if self._connection is None:
            if self._closed:
                raise ConnectionClosed(CLOSED)
            raise LocalProtocolError("Open the client first: `async with Client(...) as client`")
        return self._connection

    def _time_to_open(self) -> Deadline:
        return Deadline(self._opening.clocks, self._opening.timeout, f"{self._opening.target.name} did not answer")

    async def _opened(self) -> Connection:
        """Connect and come to terms. Raises as `Opening.open` does, and `ConnectionClosed` when closed meanwhile."""
        self._under_way = self._time_to_open()
        try:
            with self._under_way:
                connection = await self._opening.open()
        finally:
            self._under_way = None
        if self._closed:  # from within the opening's own task, which `end` cannot end
            await connection.link.close()
            raise ConnectionClosed(CLOSED)
        self._links.add(connection.link)
        return connection

    async def _renew(self, lost: Connection) -> None:
        """Replace a connection whose session is lost, unless another request has done so. Raises as `_opened` does."""
        async with self._renewing:
            if self._connection is not lost:
                return
            self._connection = await self._opened()
            self.calls.cache.clear()
            self._background.start(self._retire(lost))
        # What is announced may lose the session again: then it is not begun anew. It goes on when the caller gives up.
        if self._announcing is None or self._announcing.done():
            self._announcing = self._background.start(self._announce())
            await asyncio.wait((self._announcing,))

    async def _retire(self, lost: Connection) -> None:
        await asyncio.sleep(RETIRE_SECONDS)
        await lost.link.close()
        self._links.discard(lost.link)

    async def _announce(self) -> None:
        """Say what a new connection does not know. Trouble is logged."""
        if self._log_level is not None and self.calls.current().capabilities.logging is not None:
            try:
                await self.set_log_level(self._log_level)
            except MCPError as error:
                log.warning("could not set the log level: %s", error)
        await self.subscriptions.announce()

    # The log level, which a session or each request carries.

    async def set_log_level(self, level: notifications.LoggingLevel) -> None:
        """Let the server know which log messages are wanted. Raises what a request raises."""
        calls, self._log_level = self.calls, level
        if notifications.SET_LEVEL.exists(calls.current().facts.version):
            await calls.request(notifications.SET_LEVEL, notifications.SetLevelParams(level=level))
        else:
            calls.current().stamp.log_level = level

    # What the server begins: this is the `Receiver` of the link.

    async def hear(self, note: jsonrpc.Notification) -> None:
        """Take a notification that belongs to no request."""
        if note.method == notifications.ACKNOWLEDGED.name:
            self.subscriptions.acknowledge(note)
            return
        self.calls.cache.hear(note)
        if note.method in notices.CHANGES and self._connection and not self.subscriptions.owns(note):
            log.warning("ignored a %s that belongs to no subscription", note.method)
            return
        await self._notices.hear(note, None if self._connection is None else self._connection.facts.version)

    async def answer(self, request: jsonrpc.Request) -> jsonrpc.Response:
        """Answer a question, while no time passes for the requests that wait."""
        facts = self._connection.facts if self._connection else versions.FACTS[versions.LATEST_HANDSHAKE]
        with self._opening.clocks.stopped():
            return await self.calls.answers.answer(request, facts)
