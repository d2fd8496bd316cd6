"""The state of one open client: connection, subscriptions, log level, known tools.

Everything that arrives without having been asked for comes in here: questions,
notifications, the loss of a session.
"""

import asyncio
import logging

from splice.client.calls import Calls
from splice.client.clocks import FOR_EVER, Deadline
from splice.client.connection import DID_NOT_ANSWER, Connector, Opening
from splice.client.lists import KnownTools
from splice.client.notices import CHANGES, Notices
from splice.client.options import OPTIONS, ClientOptions, info_of
from splice.client.questions import Answers, Questions
from splice.client.subscriptions import Subscriptions
from splice.client.targets import Target
from splice.errors import MCPError
from splice.protocol.capabilities import ClientCapabilities
from splice.protocol.jsonrpc import Notification, Request, Response
from splice.protocol.notifications import ACKNOWLEDGED, SET_LEVEL, TOOLS_CHANGED, LoggingLevel, SetLevelParams
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE
from splice.rules.negotiation import preference
from splice.rules.options import checked

DEFAULT_LOG_LEVEL: LoggingLevel = "info"

TIMEOUT_SECONDS = 60.0

log = logging.getLogger("splice.client")


class Conversation:
    """Keeps what a client needs between requests, and receives what the server begins."""

    def __init__(self, target: Target, options: ClientOptions) -> None:
        checked("Client", options, OPTIONS)
        on_log, on_change = options.get("on_log"), options.get("on_change")
        extensions = tuple(options.get("extensions") or ())
        questions = Questions(options.get("on_elicit"), options.get("on_sample"), options.get("roots"))
        capabilities = ClientCapabilities()
        for each in (questions, *extensions):
            each.declare(capabilities)
        wanted, info = preference(options.get("protocol", "auto")), info_of(options)
        timeout = options.get("timeout", TIMEOUT_SECONDS)
        opening = Opening(target, wanted, capabilities, info, FOR_EVER if timeout is None else timeout, self)
        self._log_level: LoggingLevel | None = DEFAULT_LOG_LEVEL if on_log else None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()
        self._leaving = asyncio.Lock()
        self._connector = Connector(opening, self._renewed)
        self._answers = Answers((questions, *extensions))
        self._notices = Notices(on_log, on_change, extensions)
        self.known = KnownTools()
        self.calls = Calls(self._connector, self._answers, self.hear, extensions)
        self.subscriptions = Subscriptions(self.calls, lists=on_change is not None, reconnects=target.kind == "http")

    # Its beginning and its end.

    async def open(self) -> None:
        """Connect and come to terms, unless that is done."""
        self._connector.closed, self._loop = False, asyncio.get_running_loop()
        opening = self._connector.opening
        async with self._lock:
            if self._connector.current is None:
                await self._let_go()
                try:
                    with Deadline(opening.clocks, opening.timeout, opening.target.name, DID_NOT_ANSWER):
                        await self._connector.open()
                        await self._announce()
                except BaseException:
                    await self._let_go()
                    raise

    async def close(self) -> None:
        """Let go of the server, until it is opened again."""
        self._connector.closed = True
        self.known.forget()
        await self._let_go()

    @property
    def is_stranded(self) -> bool:
        """The event loop it was opened on is over. Raises `RuntimeError` when another one runs while it is not."""
        if self._loop in (None, asyncio.get_running_loop()) or self._connector.current is None:
            return False
        if not self._loop.is_closed():
            raise RuntimeError(
                "This client was opened on another event loop, which is not over: use and close it there"
            )
        return True

    def drop(self) -> None:
        """Let go of the server where nobody can wait for it. To be called from any thread."""
        self._connector.drop()

    async def _let_go(self) -> None:
        """Leave nothing of the last connection. Whoever opens another waits until that is done."""
        self._connector.leave()
        async with self._leaving:
            self.calls.clocks.close()
            self._notices.version = None
            try:
                await self.subscriptions.close()
            finally:
                await self._connector.close()

    async def _renewed(self) -> None:
        self.known.forget()
        await self._announce()

    async def _announce(self) -> None:
        """Say what a new connection does not know. Trouble is logged."""
        terms = self.calls.terms
        self._notices.version = terms.facts.version
        if self._log_level is not None and terms.capabilities.logging is not None:
            try:
                await self.set_log_level(self._log_level)
            except MCPError as error:
                log.warning("could not set the log level: %s", error)
        await self.subscriptions.announce()

    # The log level, which a session or each request carries.

    async def set_log_level(self, level: LoggingLevel) -> None:
        """Let the server know which log messages are wanted. Raises what a request raises."""
        calls, self._log_level = self.calls, level
        if SET_LEVEL.exists(calls.terms.facts.version):
            await calls.request(SET_LEVEL, SetLevelParams(level=level))
        else:
            calls.terms.stamp.log_level = level

    # What the server begins: this is the `Receiver` of the link.

    async def hear(self, note: Notification) -> None:
        """Take a notification that belongs to no request."""
        if note.method == ACKNOWLEDGED.name:
            self.subscriptions.acknowledge(note)
            return
        if note.method == TOOLS_CHANGED.name:
            self.known.forget()
        if note.method in CHANGES and self._connector.current and not self.subscriptions.owns(note):
            log.warning("ignored a %s that belongs to no subscription", note.method)
            return
        await self._notices.hear(note)

    async def answer(self, request: Request) -> Response:
        """Answer a question, while no time passes for the requests that wait."""
        facts = self.calls.terms.facts if self._connector.current else FACTS[LATEST_HANDSHAKE]
        with self.calls.clocks.stopped():
            return await self._answers.answer(request, facts)
