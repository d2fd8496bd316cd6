"""The current connection: how client and server come to terms, and what happens when the server forgets the session.

`Opening` probes, or shakes hands, or does the one after the other; what the outcome of a probe means is decided in
`rules.negotiation`. Some programs do not survive a probe, with or without saying so: such a child is started again, and
`initialize` is the first it hears. All of it together has one time limit.

The `Connection` that comes of it never changes. When its session is lost, `Connector` puts another one in its place as
a whole: a new link, on which new terms were agreed. The old link is closed once nothing runs on it any more.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from itertools import count
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw, Struct, field

from splice.client.clocks import FOR_EVER, Clocks, Deadline
from splice.client.targets import Target
from splice.errors import (
    ConnectionClosed,
    HTTPRefused,
    LocalProtocolError,
    MCPError,
    RemoteProtocolError,
    RequestTimeout,
    RPCError,
    SessionLost,
    TransportError,
)
from splice.protocol import lifecycle
from splice.protocol.capabilities import ClientCapabilities, ServerCapabilities
from splice.protocol.jsonrpc import Failure, Notification, error_of
from splice.protocol.lenient import Remarks
from splice.protocol.narrow import narrow
from splice.protocol.versions import FACTS, Facts
from splice.protocol.wire import Implementation, NoParams
from splice.rules import negotiation
from splice.rules.eras import Era, Stamp, era_of, is_version_of_requests
from splice.transports.base import Link, Outgoing, Receiver
from splice.transports.tasks import Background

CLOSED = "This client is closed; open it again to use it"

DID_NOT_ANSWER = "{} did not answer"

RETIRE_SECONDS = 30.0
"""How long the requests that still run on a replaced connection may take to end."""

PROBE_SECONDS = 3.0
"""How long a server on a pipe may think about the probe before it is opened by a handshake; never more than half of
the time for the opening."""

FIRST_START = 0.75
"""The part of the time left after a probe for a handshake with the same child. The rest is for one started again."""

_SAYS_NOTHING = frozenset({"http", "memory"})
"""The kinds of target where a lost connection says nothing about the server. On a pipe, or a transport of the user's
own, a server that leaves instead of answering the probe gets a handshake on a new link."""

log = logging.getLogger("splice.client")


class Terms(Struct, frozen=True, kw_only=True):
    """Everything that was agreed on for one connection."""

    era: Era
    facts: Facts
    stamp: Stamp
    """Our version, capabilities and name, for the requests of our own."""
    told: Mapping[str, Raw]
    """The same by keys of `_meta`, for requests that are passed on: without the log level, which is the sender's."""
    asks_in_results: bool
    """A result may be questions that are to be answered first."""
    mirrors: bool
    """HTTP headers repeat marked arguments."""
    server: Implementation
    capabilities: ServerCapabilities
    instructions: str | None

    @property
    def server_name(self) -> str:
        """The server, as messages begin."""
        return self.server.name or "The server"


class Connection(Struct, eq=False):
    """A link and what was agreed on it."""

    link: Link
    terms: Terms
    running: int = 0
    """How many requests wait for their response. Whoever sends one counts it, and calls `left` in the end."""
    idle: asyncio.Future[None] | None = None
    """Somebody waits until none does."""

    def left(self) -> None:
        """Count one request less."""
        self.running -= 1
        if self.idle is not None and self.running == 0 and not self.idle.done():
            self.idle.set_result(None)

    async def ended(self) -> None:
        """Wait until no request runs, but no longer than `RETIRE_SECONDS`."""
        if self.running:
            self.idle = asyncio.get_running_loop().create_future()
            await asyncio.wait((self.idle,), timeout=RETIRE_SECONDS)


Found: TypeAlias = lifecycle.DiscoverResult | lifecycle.InitializeResult


def _server_of(found: Found) -> Implementation:
    """Read who the server says it is; one that answers a probe need not say."""
    if isinstance(found, lifecycle.InitializeResult):
        return found.server_info
    try:
        return msgspec.convert((found.meta or {}).get(lifecycle.META_SERVER_INFO), Implementation)
    except msgspec.ValidationError:
        return Implementation(name="", version="")


class Opening(Struct):
    """Comes to terms with the server behind a target, as often as it is wanted."""

    target: Target
    wanted: negotiation.Preference
    capabilities: ClientCapabilities
    info: Implementation
    timeout: float
    receiver: Receiver
    clocks: Clocks = field(default_factory=Clocks)
    next_id: Callable[[], int] = field(default_factory=lambda: count(1).__next__)
    """Makes an id that no request had before, so that a late answer cannot be mistaken for another."""
    shakes_hands: bool = False
    """The server is known to need a handshake: it is not probed again."""

    async def open(self) -> Connection:
        """Connect and come to terms.

        Raises `TransportError`, `RPCError` and `RemoteProtocolError`; then no link is left open.
        """
        link = await self._connect()
        try:
            terms = await self._terms(link)
            if terms is None:
                await link.close()
                link = await self._connect()
                terms = await self._handshake(link)
        except BaseException:
            self.shakes_hands = False
            await link.close()
            raise
        self.shakes_hands = not terms.asks_in_results
        return Connection(link, terms)

    async def _connect(self) -> Link:
        link = await self.target.connect(self.receiver)
        self.clocks.excuse = link.excuse
        return link

    async def _terms(self, link: Link) -> Terms | None:
        """Probe, then shake hands if that is the way. None: both failed, and nothing but the probe may be to blame."""
        if self.shakes_hands or not self.wanted.probes:
            return await self._handshake(link)
        verdict, outcome = await self._probe(link)
        if isinstance(verdict, negotiation.Discovered):
            return await self._settle(link, verdict.version, verdict.discovery)
        if isinstance(verdict, negotiation.Impossible) or self.wanted.handshake is None:
            raise self._no_terms(verdict, outcome)
        if self.target.kind in _SAYS_NOTHING:
            return await self._handshake(link)
        if isinstance(outcome, ConnectionClosed):
            return None
        probed = min(PROBE_SECONDS, self.timeout / 2) if isinstance(outcome, RequestTimeout) else 0
        try:
            with Deadline(self.clocks, (self.timeout - probed) * FIRST_START, lifecycle.INITIALIZE.name):
                return await self._handshake(link)
        except MCPError as error:
            log.info("%s is started again, for a handshake without a probe before it: %s", self.target.name, error)
            return None

    async def _settle(self, link: Link, version: str, found: Found) -> Terms:
        """Agree on a version, and begin to speak it."""
        facts, stamp = FACTS[version], Stamp(version, self.capabilities, self.info)
        meta = era_of(facts).stamp(stamp, None, None)
        link.agree(facts)
        if lifecycle.INITIALIZED.exists(version):
            try:
                await link.notify(Notification(lifecycle.INITIALIZED.name))
            except (HTTPRefused, SessionLost) as error:  # requests will tell whether it matters
                log.warning("%s did not take %s: %s", self.target.name, lifecycle.INITIALIZED.name, error)
        await link.listen()
        return Terms(
            era=era_of(facts),
            facts=facts,
            stamp=stamp,
            told={} if meta is None else msgspec.json.decode(meta, type=dict[str, Raw]),
            asks_in_results=is_version_of_requests(version),
            mirrors=self.target.kind == "http" and facts.mirrored_headers,
            server=_server_of(found),
            capabilities=found.capabilities,
            instructions=found.instructions,
        )

    # The probe.

    async def _probe(self, link: Link, corrected: str | None = None) -> tuple[negotiation.Verdict, negotiation.Outcome]:
        """Send a probe, and another one if the server names the version. Returns its meaning, and what came of it.

        Raises a `TransportError` that says nothing about the server.
        """
        version, http = corrected or self.wanted.probes[-1], self.target.kind == "http"
        facts = FACTS[version]
        link.agree(facts)
        meta = era_of(facts).stamp(Stamp(version, self.capabilities, self.info), None, None)
        seconds = FOR_EVER if http or self.wanted.handshake is None else min(PROBE_SECONDS, self.timeout / 2)
        probe = Outgoing(self.next_id(), lifecycle.DISCOVER.name, NoParams(meta=meta), self.receiver.hear)
        outcome: negotiation.Outcome
        try:
            with Deadline(self.clocks, seconds, lifecycle.DISCOVER.name):
                outcome = await link.exchange(probe)
        except (RequestTimeout, HTTPRefused, RemoteProtocolError) as error:
            outcome = error
        except TransportError as error:
            if self.target.kind in _SAYS_NOTHING:
                raise
            outcome = error
        verdict = negotiation.classify(outcome, self.wanted.probes, corrected=corrected is not None, over_http=http)
        if isinstance(verdict, negotiation.Again):
            return await self._probe(link, verdict.version)
        return verdict, outcome

    def _no_terms(self, verdict: negotiation.Verdict, outcome: negotiation.Outcome) -> MCPError:
        """Make the error that says why there is no way to speak to this server."""
        failure = error_of(outcome) if isinstance(outcome, Failure) else outcome
        if isinstance(failure, (TransportError, RPCError)) and isinstance(verdict, negotiation.Impossible):
            return failure
        why = getattr(verdict, "why", "it asks for another probe")
        error = RemoteProtocolError(f"Cannot come to terms with {self.target.name}: {why}")
        error.__cause__ = failure if isinstance(failure, Exception) else None
        return error

    # The handshake.

    async def _handshake(self, link: Link) -> Terms:
        """Open a session. A server that asks for a probe instead gets another one."""
        offered, name = self.wanted.handshake or "", self.target.name
        link.agree(None)
        params = lifecycle.InitializeParams(
            protocol_version=offered, capabilities=self.capabilities, client_info=self.info
        )
        request = Outgoing(self.next_id(), lifecycle.INITIALIZE.name, narrow(params, offered), self.receiver.hear)
        response = await link.exchange(request)
        if not isinstance(response, Failure):
            try:
                result = lifecycle.INITIALIZE.read_result(response.result, Remarks(log))
            except RemoteProtocolError as error:
                raise RemoteProtocolError(f"{name} answered `initialize` with a malformed result: {error}") from error
            version = negotiation.accept_counter_offer(result.protocol_version, self.wanted)
            return await self._settle(link, version, result)
        if self.wanted.probes and isinstance(negotiation.classify(response, self.wanted.probes), negotiation.Again):
            verdict, _ = await self._probe(link)
            if isinstance(verdict, negotiation.Discovered):
                return await self._settle(link, verdict.version, verdict.discovery)
        refusal, speaks = error_of(response), negotiation.offered_in(response.error)
        said = f"{refusal.message}; it speaks {', '.join(speaks)}" if speaks else refusal.message
        cause = refusal.__cause__ or refusal  # in one process: what the server failed of
        raise RPCError.received(refusal.code, f"{name} refused to initialize: {said}", refusal.data) from cause


class Connector:
    """Owns the current connection. `renewed` is called after it was replaced: a new session knows nothing yet."""

    def __init__(self, opening: Opening, renewed: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.opening = opening
        self._renewed = renewed
        self.current: Connection | None = None
        """None before it is open, and when it is closed."""
        self._under_way: Deadline | None = None
        self._renewing = asyncio.Lock()
        self._announcing: asyncio.Task[None] | None = None
        self.closed = False
        """Until it is to be opened again."""
        self._links: set[Link] = set()
        self._background = Background()

    @property
    def connection(self) -> Connection:
        """The current one. Raises `LocalProtocolError` before it is open, `ConnectionClosed` after."""
        if self.current is None:
            if self.closed:
                raise ConnectionClosed(CLOSED)
            raise LocalProtocolError("Open the client first: `async with Client(...) as client`")
        return self.current

    async def open(self) -> None:
        """Connect and come to terms. Raises as `Opening.open` does, and `ConnectionClosed` when closed."""
        if self.closed:
            raise ConnectionClosed(CLOSED)
        self.current = await self._opened()

    async def renew(self, lost: Connection) -> None:
        """Replace a connection whose session is lost, unless another request has done so already. Raises as `open`."""
        async with self._renewing:
            if self.current is not lost:
                return
            self.current = await self._opened()
            self._background.start(self._retire(lost))
        # What is announced may lose the session again: then it is not begun anew. It goes on when the caller gives up.
        if self._announcing is None or self._announcing.done():
            self._announcing = self._background.start(self._renewed())
            await asyncio.wait((self._announcing,))

    def leave(self) -> None:
        """Let no request begin any more; what is being opened fails with `ConnectionClosed`."""
        self.current = None
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.end(ConnectionClosed(CLOSED))

    def drop(self) -> None:
        """Let go of the server where nobody can wait for it. To be called from any thread."""
        for link in self._links:
            link.drop()

    async def close(self) -> None:
        """Let go of the server; what still runs fails with `ConnectionClosed`."""
        try:
            await self._background.close()
        finally:
            for link in tuple(self._links):
                await link.close()
            self._links.clear()

    async def _retire(self, lost: Connection) -> None:
        await lost.ended()
        await lost.link.close()
        self._links.discard(lost.link)

    async def _opened(self) -> Connection:
        opening = self.opening
        stretch = Deadline(opening.clocks, opening.timeout, opening.target.name, DID_NOT_ANSWER)
        self._under_way = stretch
        try:
            with stretch:
                connection = await opening.open()
            self._links.add(connection.link)
            if self._under_way is not stretch:  # closed from within the opening's own task, which `end` cannot end
                await connection.link.close()
                raise ConnectionClosed(CLOSED)
        finally:
            self._under_way = None
        return connection
