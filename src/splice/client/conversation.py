"""The life of a client: its current connection, what a new one must be told, and what the server begins.

A connection never changes. When its session is lost, or its server has ended, another one takes its place as a whole: a
new link, on which new terms were agreed. One task of its own sees to that, while all calls that need it wait. The old
link is closed when what runs on it has had the time to end. Everything that arrives without having been asked for comes
in here too: questions and notifications.
"""

import asyncio
from contextlib import AbstractContextManager
from functools import partial

from splice.client import lives, notices, subscriptions, targets
from splice.client.calls import Calls
from splice.client.clocks import FOR_EVER, Deadline
from splice.client.connection import Connection, Opening
from splice.client.options import OPTIONS, ClientOptions, info_of
from splice.client.questions import Questions
from splice.errors import ConnectFailed, ConnectionClosed, LocalProtocolError, MCPError, RemoteProtocolError
from splice.protocol import jsonrpc, notifications, versions
from splice.protocol.capabilities import ClientCapabilities
from splice.rules.negotiation import preference
from splice.rules.options import checked
from splice.transports import base, tasks

CLOSED = "This client is closed; open it again to use it"

TIMEOUT_SECONDS = 60.0

RETIRE_SECONDS = 30.0
"""How long the requests that still run on a replaced connection may take to end."""


class Conversation:
    """Owns the connections of one client, and receives what the server begins."""

    def __init__(self, target: targets.Target, options: ClientOptions) -> None:
        checked("Client", options, OPTIONS)
        target = targets.adjusted(target, options)
        on_log, on_change = options.get("on_log"), options.get("on_change")
        questions = Questions(options)
        capabilities = ClientCapabilities()
        for each in questions.chapters:
            each.declare(capabilities)
        wanted, info = preference(options.get("protocol", "auto")), info_of(options)
        timeout = options.get("timeout", TIMEOUT_SECONDS)
        self._opening = Opening(target, wanted, capabilities, info, FOR_EVER if timeout is None else timeout, self)
        self._log_level: notifications.LoggingLevel | None = "info" if on_log else None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()
        self._renewal: asyncio.Task[MCPError | None] | None = None
        self._restarts = options.get("restart", True)
        self._lives = lives.Lives()
        self.states = lives.States(options.get("on_state"))
        self._leaving = asyncio.Lock()
        self._connection: Connection | None = None
        self._announcing: asyncio.Task[None] | None = None
        self._links: set[base.Link] = set()
        self._background = tasks.Background()
        self.shows = questions.shows
        self._notices = notices.Notices(on_log, on_change, questions.chapters)
        self.calls = Calls(self._opening, questions, self.connection, self._renew)
        self.calls.cache.keeps, self.calls.retries = options.get("cache", True), options.get("retries", 0)
        tells, back = on_change is not None, target.kind == "http"
        self.subscriptions = subscriptions.Subscriptions(self.calls, self._background, lists=tells, reconnects=back)

    # Its beginning and its end.

    async def open(self) -> None:
        """Connect and come to terms, unless that is done."""
        self._loop = asyncio.get_running_loop()
        async with self._lock:
            if self._connection is None:
                await self._let_go()
                self.states.become("opening")
                try:
                    with self._time_to_open():
                        self._connection = await self._opened()
                        self.states.become("open")
                        await self._announce()
                except BaseException as error:
                    await self._let_go()
                    self.states.become("closed", error if isinstance(error, MCPError) else None)
                    raise

    async def close(self) -> None:
        """Let go of the server, until it is opened again; what still runs fails with `ConnectionClosed`."""
        self.states.become("closed")
        await self._let_go()
        await self.states.told()

    def pause(self) -> AbstractContextManager[None]:
        """Let no time pass while the user logs in, and keep no results: it may be another user from then on."""
        self.calls.cache.clear()
        return self._opening.clocks.stopped()

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
        self._opening.clocks.end(ConnectionClosed(CLOSED))  # no link knows of what waits for the user, or is opening
        async with self._leaving:
            self._opening.clocks.arm(FOR_EVER)
            self._lives = lives.Lives()
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
            if self.states.now == "closed":
                raise ConnectFailed(CLOSED)
            raise LocalProtocolError("Open the client first: `async with Client(...) as client`")
        return self._connection

    def _time_to_open(self) -> Deadline:
        return Deadline(self._opening.clocks, self._opening.timeout, f"{self._opening.target.name} did not answer")

    async def _opened(self) -> Connection:
        """Connect and come to terms. Raises as `Opening.open` does, and `ConnectionClosed` when closed meanwhile."""
        with self._time_to_open():
            connection = await self._opening.open()
        if self.states.now == "closed":  # from within the opening's own task, which `end` cannot end
            await connection.link.close()
            raise ConnectionClosed(CLOSED)
        self._links.add(connection.link)
        connection.link.on_gone = partial(self._left, connection)
        return connection

    async def _renew(self, lost: Connection | None, why: MCPError, seconds: float = 0) -> bool:
        """Wait for so long, then replace a connection that is lost, unless that is done; False: it is not to be.

        Raises as `_opened` does, and `ConnectFailed` for a server that ends again and again.
        """
        if seconds:  # a task that ends when the client is closed
            await asyncio.wait((self._background.start(asyncio.sleep(seconds)),))
        if lost is None or self._connection is not lost:
            return True
        if lost.link.gone is not None and not self._restarts:
            return False
        announced, before = self._announcing, self._renewal
        renewal = self._renewing(lost, why)
        await asyncio.wait((renewal,))
        error = ConnectionClosed(CLOSED) if renewal.cancelled() else renewal.result()
        if error is not None:
            raise error
        # What is announced may lose the connection again: whoever replaces that one does not wait for it.
        if renewal is not before and self._announcing is not None and self._announcing is not announced:
            await asyncio.wait((self._announcing,))
        return True

    def _renewing(self, lost: Connection, why: MCPError) -> asyncio.Task[MCPError | None]:
        """Begin to replace a connection, unless that is under way."""
        if self._renewal is None or self._renewal.done():
            self._renewal = self._background.start(self._replace(lost, why))
        return self._renewal

    async def _replace(self, lost: Connection, why: MCPError) -> MCPError | None:
        """Put another connection in the place of a lost one; it is told what is wanted. Returns why there is none."""
        self.states.become("reconnecting", why)
        try:
            connection = await (self._opened() if lost.link.gone is None else self._restarted(lost, lost.link.gone))
        except MCPError as error:
            self.states.become("lost", error)
            return error
        self._background.start(self._retire(lost))
        self._connection = connection
        self.calls.cache.clear()
        self.states.become("open")
        if self._announcing is None or self._announcing.done():
            self._announcing = self._background.start(self._announce(anew=True))
        return None

    async def _restarted(self, lost: Connection, why: ConnectionClosed) -> Connection:
        """Start the server again until that succeeds. Raises `ConnectionClosed` when it does not, and what refuses."""
        await lost.link.close()
        name = self._opening.target.name
        while True:
            self._opening.clocks.excuse = partial("; {} is being started again: {}".format, name, why)
            await self._lives.another(name, why)
            try:
                return await self._opened()
            except (ConnectionClosed, RemoteProtocolError) as error:
                ended = error.__cause__ or error  # it may have left in the middle of a probe
                if self.states.now == "closed" or not isinstance(ended, ConnectionClosed):
                    raise
                lost.link.gone = why = ended

    def _left(self, lost: Connection, reason: ConnectionClosed) -> None:
        """Take note that the server has left by itself. Who wants to hear of changes needs it back at once."""
        if self._connection is lost:
            self.states.become("lost", reason)
            told = "" if self._restarts else "; with restart=False it is not started again"
            notices.log.warning("%s%s", reason, told)
            if self._restarts and self.subscriptions.filter() is not None:
                self._renewing(lost, reason)

    async def _retire(self, lost: Connection) -> None:
        await asyncio.sleep(RETIRE_SECONDS)
        await lost.link.close()
        self._links.discard(lost.link)

    async def _announce(self, *, anew: bool = False) -> None:
        """Say what a new connection does not know. Trouble is logged."""
        if self._log_level is not None and self.calls.current().capabilities.logging is not None:
            try:
                await self.set_log_level(self._log_level)
            except MCPError as error:
                notices.log.warning("could not set the log level: %s", error)
        await self.subscriptions.announce()
        if anew:
            await self.subscriptions.tell_missed()

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
            notices.log.warning("ignored a %s that belongs to no subscription", note.method)
            return
        await self._notices.hear(note, None if self._connection is None else self._connection.facts.version)

    async def answer(self, request: jsonrpc.Request) -> jsonrpc.Response:
        """Answer a question, while no time passes for the requests that wait."""
        facts = self._connection.facts if self._connection else versions.FACTS[versions.LATEST_HANDSHAKE]
        with self._opening.clocks.stopped():
            return await self.calls.questions.answer(request, facts)
