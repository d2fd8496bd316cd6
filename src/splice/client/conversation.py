"""One conversation with one server: opened once, closed once, and all that must be kept in between.

It owns the link. Everything that arrives without having been asked for comes in here: the server's questions,
notifications, the loss of a session.
"""

import asyncio
import logging
from itertools import count

from msgspec import UnsetType

from splice.client.calls import Calls
from splice.client.handlers import Handlers
from splice.client.known_tools import KnownTools
from splice.client.notices import Change, Notices, OnChange, OnLog
from splice.client.opening import Opening
from splice.client.subscriptions import Subscriptions
from splice.client.targets import Target
from splice.errors import ConnectionClosed, LocalProtocolError, MCPError
from splice.protocol.jsonrpc import Notification, Request, Response
from splice.protocol.lifecycle import Implementation, LoggingLevel
from splice.protocol.methods import SET_LEVEL
from splice.protocol.notifications import SetLevelParams
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE
from splice.rules.negotiation import Preference
from splice.transports.base import Link

INFO = Implementation(name="splice", version="0.1.0")
"""Who we say we are."""

DEFAULT_LOG_LEVEL: LoggingLevel = "info"

_CLOSED = "This client is closed"

log = logging.getLogger("splice.client")


class Conversation:
    """What a client and a server have with each other."""

    def __init__(
        self,
        target: Target,
        wanted: Preference,
        handlers: Handlers,
        on_log: OnLog | None,
        on_change: OnChange | None,
        timeout: float | None,
    ) -> None:
        self.handlers = handlers
        self.known = KnownTools()
        self._over_http = target.kind == "http"
        self._notices = Notices(on_log, on_change, self._changed)
        self._log_level: LoggingLevel | None = DEFAULT_LOG_LEVEL if on_log else None
        self._hears_changes = on_change is not None
        self._timeout = timeout
        self._ids = count(1)
        self._opening = Opening(target, wanted, handlers.capabilities(), INFO, timeout, self._ids, self._attach)
        self._lock = asyncio.Lock()
        self._link: Link | None = None
        self._calls: Calls | None = None
        self._subscriptions: Subscriptions | None = None
        self._closed = False

    @property
    def calls(self) -> Calls:
        """Sends requests. Raises `LocalProtocolError` before it is open, `ConnectionClosed` after."""
        if self._calls is None:
            if self._closed:
                raise ConnectionClosed(_CLOSED)
            raise LocalProtocolError("Open the client first: `async with Client(...) as client`")
        return self._calls

    @property
    def subscriptions(self) -> Subscriptions:
        """What is listened for. Raises as `calls` does."""
        if self._subscriptions is None:
            raise ConnectionClosed(_CLOSED) if self._closed else LocalProtocolError("Open the client first")
        return self._subscriptions

    # Its beginning and its end.

    async def open(self) -> None:
        """Connect and come to terms, unless that is done."""
        async with self._lock:
            if self._closed:
                raise ConnectionClosed(_CLOSED)
            if self._calls is None:
                try:
                    await self._open()
                except BaseException:
                    await self._let_go()
                    raise

    async def close(self) -> None:
        """Let go of the server, for good."""
        self._closed = True
        await self._let_go()

    async def _open(self) -> None:
        terms = await self._opening.run()
        if self._link is None or self._closed:
            raise ConnectionClosed(_CLOSED)
        self._calls = Calls(
            self._link,
            terms,
            ids=self._ids,
            hear=self._hear,
            timeout=self._timeout,
            over_http=self._over_http,
            renew=self._opening.handshake,
            renewed=self._renewed,
        )
        self._subscriptions = Subscriptions(
            self._calls, self._notices.hear, lists=self._hears_changes, reconnects=self._over_http
        )
        await self._repeat_log_level()
        await self._subscriptions.open()

    async def _attach(self, link: Link) -> None:
        """Take over a link that is about to be used."""
        link.on_request, link.on_notice = self._answer, self._hear
        self._link = link
        if self._closed:
            raise ConnectionClosed(_CLOSED)

    async def _let_go(self) -> None:
        link, calls, subscriptions = self._link, self._calls, self._subscriptions
        self._calls = self._subscriptions = None
        if calls is not None:
            calls.clocks.close()
        try:
            if subscriptions is not None:
                await subscriptions.close()
        finally:
            if link is not None:
                await link.close()

    async def _renewed(self) -> None:
        """Say again what a new legacy session does not know."""
        self.known.forget()
        await self._repeat_log_level()
        try:
            await self.subscriptions.renew()
        except MCPError as error:
            log.warning("could not subscribe again in a new session: %s", error)

    # The log level, which a session or each request carries.

    async def set_log_level(self, level: LoggingLevel) -> None:
        """Let the server know which log messages are wanted. Raises what a request raises."""
        calls, self._log_level = self.calls, level
        if SET_LEVEL.exists(calls.terms.facts.version):
            await calls.complete(SET_LEVEL, SetLevelParams(level=level))
        else:
            calls.terms.stamp.log_level = level

    async def _repeat_log_level(self) -> None:
        """Say it, if there is anything to say to a server that logs. Trouble is logged."""
        if self._log_level is None or isinstance(self.calls.terms.capabilities.logging, UnsetType):
            return
        try:
            await self.set_log_level(self._log_level)
        except MCPError as error:
            log.warning("could not set the log level: %s", error)

    # What the server says and asks.

    async def _hear(self, note: Notification) -> None:
        subscriptions = self._subscriptions
        await (self._notices.hear(note) if subscriptions is None else subscriptions.hear(note))

    async def _answer(self, request: Request) -> Response:
        calls = self._calls
        if calls is None:
            return await self.handlers.answer(request, FACTS[LATEST_HANDSHAKE])
        with calls.clocks.stopped():
            return await self.handlers.answer(request, calls.terms.facts)

    def _changed(self, change: Change) -> None:
        if change.kind == "tools":
            self.known.forget()
