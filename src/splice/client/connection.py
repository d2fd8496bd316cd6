"""A connection, and how client and server come to terms on it.

`Opening` probes, or shakes hands, or does the one after the other; what the outcome of a probe means is decided in
`rules.negotiation`. Some programs do not survive a probe, with or without saying so: such a child is started again, and
`initialize` is the first it hears. All of it together has one time limit.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
"""

import asyncio
from collections.abc import Callable, Mapping
from itertools import count
from typing import TypeAlias

import msgspec
from msgspec import Raw, Struct, field

from splice import errors
from splice.client.clocks import FOR_EVER, Clocks, Deadline
from splice.client.notices import log
from splice.client.targets import Target
from splice.protocol import jsonrpc, lenient, lifecycle, versions, wire
from splice.protocol.capabilities import ClientCapabilities, ServerCapabilities
from splice.protocol.narrow import narrow
from splice.rules import eras, negotiation
from splice.transports.base import Link, Outgoing, Receiver

PROBE_SECONDS = 3.0
"""How long a server on a pipe may think about the probe before it is opened by a handshake; never more than half of
the time for the opening."""

FIRST_START = 0.75
"""The part of the time left after a probe for a handshake with the same child. The rest is for one started again."""

_SAYS_NOTHING = frozenset({"http", "memory"})
"""The kinds of target where a lost connection says nothing about the server. On a pipe, or a transport of the user's
own, a server that leaves instead of answering the probe gets a handshake on a new link."""


class Connection(Struct, eq=False, kw_only=True):
    """A link, and everything that was agreed on for it."""

    link: Link
    era: eras.Era
    facts: versions.Facts
    stamp: eras.Stamp
    """Our version, capabilities and name, for the requests of our own."""
    told: Mapping[str, Raw]
    """The same by keys of `_meta`, for requests that are passed on: without the log level, which is the sender's."""
    mirrors: bool
    """HTTP headers repeat marked arguments."""
    server: wire.Implementation
    capabilities: ServerCapabilities
    instructions: str | None

    @property
    def server_name(self) -> str:
        """The server, as messages begin."""
        return self.server.name or "The server"


_Verdict: TypeAlias = negotiation.Discovered | negotiation.Handshake | negotiation.Impossible

Found: TypeAlias = lifecycle.DiscoverResult | lifecycle.InitializeResult


def _server_of(found: Found) -> wire.Implementation:
    """Read who the server says it is; one that answers a probe need not say."""
    if isinstance(found, lifecycle.InitializeResult):
        return found.server_info
    try:
        return msgspec.convert((found.meta or {}).get(lifecycle.META_SERVER_INFO), wire.Implementation)
    except msgspec.ValidationError:
        return wire.Implementation(name="", version="")


class Opening(Struct):
    """Comes to terms with the server behind a target, as often as it is wanted."""

    target: Target
    wanted: negotiation.Preference
    capabilities: ClientCapabilities
    info: wire.Implementation
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
            connection = await self._agreed(link)
            if connection is None:
                await link.close()
                link = await self._connect()
                connection = await self._handshake(link)
        except BaseException as error:
            if not isinstance(error, errors.ConnectionClosed | asyncio.CancelledError):  # these say nothing about it
                self.shakes_hands = False
            await link.close()
            raise
        self.shakes_hands = lifecycle.INITIALIZED.exists(connection.facts.version)
        return connection

    async def _connect(self) -> Link:
        link = await self.target.connect(self.receiver)
        self.clocks.excuse = link.excuse
        return link

    async def _agreed(self, link: Link) -> Connection | None:
        """Probe, then shake hands if that is the way. None: both failed, and nothing but the probe may be to blame."""
        if self.shakes_hands or not self.wanted.probes:
            return await self._handshake(link)
        verdict, outcome = await self._probe(link)
        if isinstance(verdict, negotiation.Discovered):
            return await self._settle(link, verdict.version, verdict.discovery)
        if isinstance(verdict, negotiation.Impossible) or self.wanted.handshake is None:
            failure = jsonrpc.error_of(outcome) if isinstance(outcome, jsonrpc.Failure) else outcome
            cause = failure if isinstance(failure, Exception) else None
            if cause is not None and isinstance(verdict, negotiation.Impossible):
                raise cause
            why = verdict.why
            if isinstance(verdict, negotiation.Handshake):
                why += f"; it wants `initialize`, but protocol= allows {', '.join(self.wanted.probes)} only"
            raise errors.RemoteProtocolError(f"Cannot come to terms with {self.target.name}: {why}") from cause
        if self.target.kind in _SAYS_NOTHING:
            return await self._handshake(link)
        if isinstance(outcome, errors.ConnectionClosed):
            return None
        probed = min(PROBE_SECONDS, self.timeout / 2) if isinstance(outcome, errors.RequestTimeout) else 0
        seconds = (self.timeout - probed) * FIRST_START
        try:
            with Deadline(self.clocks, seconds, f"No answer to {lifecycle.INITIALIZE.name}"):
                return await self._handshake(link)
        except errors.MCPError as error:
            log.info("%s is started again, for a handshake without a probe before it: %s", self.target.name, error)
            return None

    async def _settle(self, link: Link, version: str, found: Found) -> Connection:
        """Agree on a version, and begin to speak it."""
        facts, stamp = versions.FACTS[version], eras.Stamp(version, self.capabilities, self.info)
        meta = eras.era_of(facts).stamp(stamp, None, None)
        link.agree(facts)
        if lifecycle.INITIALIZED.exists(version):
            try:
                await link.notify(jsonrpc.Notification(lifecycle.INITIALIZED.name))
            except (errors.HTTPRefused, errors.SessionLost) as error:  # requests will tell whether it matters
                log.warning("%s did not take %s: %s", self.target.name, lifecycle.INITIALIZED.name, error)
        await link.listen()
        return Connection(
            link=link,
            era=eras.era_of(facts),
            facts=facts,
            stamp=stamp,
            told={} if meta is None else msgspec.json.decode(meta, type=dict[str, Raw]),
            mirrors=self.target.kind == "http" and facts.mirrored_headers,
            server=_server_of(found),
            capabilities=found.capabilities,
            instructions=found.instructions,
        )

    # The probe.

    async def _probe(self, link: Link, corrected: str | None = None) -> tuple[_Verdict, negotiation.Outcome]:
        """Send a probe, and another one if the server names the version. Returns its meaning, and what came of it.

        Raises a `TransportError` that says nothing about the server.
        """
        version, http = corrected or self.wanted.probes[-1], self.target.kind == "http"
        facts = versions.FACTS[version]
        link.agree(facts)
        meta = eras.era_of(facts).stamp(eras.Stamp(version, self.capabilities, self.info), None, None)
        seconds = FOR_EVER if http or self.wanted.handshake is None else min(PROBE_SECONDS, self.timeout / 2)
        probe = Outgoing(self.next_id(), lifecycle.DISCOVER.name, wire.NoParams(meta=meta), self.receiver.hear)
        outcome: negotiation.Outcome
        try:
            with Deadline(self.clocks, seconds, f"No answer to {lifecycle.DISCOVER.name}"):
                outcome = await link.exchange(probe)
        except (errors.TransportError, errors.RemoteProtocolError) as error:
            if isinstance(error, errors.ConnectionClosed) and self.target.kind in _SAYS_NOTHING:
                raise
            outcome = error
        verdict = negotiation.classify(outcome, self.wanted.probes, corrected=corrected is not None, over_http=http)
        if isinstance(verdict, negotiation.Again):
            return await self._probe(link, verdict.version)
        return verdict, outcome

    # The handshake.

    async def _handshake(self, link: Link) -> Connection:
        """Open a session. A server that asks for a probe instead gets another one."""
        offered, name, can = self.wanted.handshake or "", self.target.name, self.capabilities
        link.agree(None)
        params = lifecycle.InitializeParams(protocol_version=offered, capabilities=can, client_info=self.info)
        request = Outgoing(self.next_id(), lifecycle.INITIALIZE.name, narrow(params, offered), self.receiver.hear)
        response = await link.exchange(request)
        if not isinstance(response, jsonrpc.Failure):
            try:
                result = lifecycle.INITIALIZE.read_result(response.result, lenient.Remarks(log))
            except errors.RemoteProtocolError as error:
                raise errors.RemoteProtocolError(f"{name} answered `initialize` badly: {error}") from error
            version = negotiation.accept_counter_offer(result.protocol_version, self.wanted)
            return await self._settle(link, version, result)
        if self.wanted.probes and isinstance(negotiation.classify(response, self.wanted.probes), negotiation.Again):
            verdict, _ = await self._probe(link)
            if isinstance(verdict, negotiation.Discovered):
                return await self._settle(link, verdict.version, verdict.discovery)
        refusal, speaks = jsonrpc.error_of(response), negotiation.offered_in(response.error)
        untold = speaks if any(each not in refusal.message for each in speaks) else []
        said = f"{refusal.message}; it speaks {', '.join(untold)}" if untold else refusal.message
        cause = refusal.__cause__ or refusal  # in one process: what the server failed of
        raise errors.RPCError.received(refusal.code, f"{name} refused to initialize: {said}", refusal.data) from cause
