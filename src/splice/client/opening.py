"""How a client and a server come to terms: probe, or handshake, or the one after the other.

What the outcome of a probe means is decided in `rules.negotiation`; here it is sent, and what follows is done.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import msgspec
from msgspec import Struct, UnsetType

from splice.client.failures import error_of
from splice.client.targets import Target
from splice.errors import ConnectionClosed, MCPError, RemoteProtocolError, RequestTimeout, RPCError, TransportError
from splice.protocol.jsonrpc import Failure, Notification, Request, Response
from splice.protocol.lifecycle import (
    META_SERVER_INFO,
    ClientCapabilities,
    DiscoverResult,
    Implementation,
    InitializeParams,
    InitializeResult,
    NoParams,
    ServerCapabilities,
)
from splice.protocol.methods import DISCOVER, INITIALIZE, INITIALIZED
from splice.protocol.narrow import narrow
from splice.protocol.versions import FACTS, Facts
from splice.rules.eras import MODERN, Era, Stamp, era_of
from splice.rules.http import METHOD_HEADER, PROTOCOL_VERSION_HEADER
from splice.rules.negotiation import (
    Corrective,
    Exited,
    Impossible,
    Modern,
    Outcome,
    Preference,
    Refused,
    Silent,
    Verdict,
    accept_counter_offer,
    classify,
)
from splice.transports.base import Link, no_notice
from splice.transports.refusals import HTTPRefused

PROBE_SECONDS = 10.0
"""How long a server on a pipe may think about the probe before it is taken for a legacy one."""

PROBE_ID = "probe"
"""Unlike any id used later, so that a late answer cannot be mistaken for another."""


class Terms(Struct, frozen=True, kw_only=True):
    """What was agreed."""

    era: Era
    facts: Facts
    stamp: Stamp
    server: Implementation
    capabilities: ServerCapabilities
    instructions: str | None


class Opening:
    """Comes to terms with the server behind a target.

    `attach` is given each link before it is used: a second one, if the first child process did not survive the probe.
    """

    def __init__(
        self,
        target: Target,
        wanted: Preference,
        capabilities: ClientCapabilities,
        info: Implementation,
        timeout: float | None,
        ids: Iterator[int],
        attach: Callable[[Link], Awaitable[None]],
    ) -> None:
        self._target = target
        self._wanted = wanted
        self._capabilities = capabilities
        self._info = info
        self._timeout = timeout
        self._ids = ids
        self._attach = attach
        self._failure: Exception | None = None

    async def run(self) -> Terms:
        """Connect and come to terms.

        Raises `TransportError`, `RPCError` and `RemoteProtocolError`.
        """
        link = await self._connect()
        if not self._wanted.modern:
            return await self.handshake(link)
        verdict = await self._probe(link)
        if isinstance(verdict, Modern):
            return self._modern_terms(verdict)
        if isinstance(verdict, Impossible) or self._wanted.handshake is None:
            raise self._no_terms(verdict)
        if isinstance(self._failure, ConnectionClosed):
            await link.close()
            link = await self._connect()
        return await self.handshake(link)

    async def _connect(self) -> Link:
        link = await self._target.connect()
        await self._attach(link)
        return link

    # The probe.

    async def _probe(self, link: Link) -> Verdict:
        verdict = await self._probe_once(link, self._wanted.modern[-1], corrected=False)
        if isinstance(verdict, Corrective):
            verdict = await self._probe_once(link, verdict.version, corrected=True)
        return verdict

    async def _probe_once(self, link: Link, version: str, *, corrected: bool) -> Verdict:
        params = MODERN.stamp(NoParams(), self._stamp(version), None)
        headers = {PROTOCOL_VERSION_HEADER: version, METHOD_HEADER: DISCOVER.name}
        over_http = self._target.kind == "http"
        self._failure = None
        try:
            async with asyncio.timeout(self._timeout if over_http else PROBE_SECONDS):
                outcome: Outcome = await link.exchange(Request(PROBE_ID, DISCOVER.name, params), no_notice, headers)
        except (TransportError, RemoteProtocolError, TimeoutError) as error:
            self._failure = error
            outcome = self._outcome_of(error)
        if isinstance(outcome, Failure):
            self._failure = error_of(outcome)
        return classify(outcome, self._wanted.modern, corrected=corrected)

    def _outcome_of(self, error: Exception) -> Outcome:
        """Tell what a failed probe says about the server. Raises the error if it says nothing."""
        if isinstance(error, TimeoutError):
            return Silent(over_http=self._target.kind == "http")
        if isinstance(error, HTTPRefused):
            return Refused(error.status)
        if isinstance(error, RemoteProtocolError):
            return Refused(200)
        if self._target.kind == "stdio":
            return Exited()
        raise error

    def _no_terms(self, verdict: Verdict) -> MCPError:
        """Make the error that says why there is no way to speak to this server."""
        failure = self._failure
        if isinstance(failure, (TransportError, RPCError)) and isinstance(verdict, Impossible):
            return failure
        why = "it asks for another probe" if isinstance(verdict, (Modern, Corrective)) else verdict.why
        kind = RequestTimeout if isinstance(failure, TimeoutError) else RemoteProtocolError
        error = kind(f"Cannot come to terms with {self._target.name}: {why}")
        error.__cause__ = failure
        return error

    def _modern_terms(self, verdict: Modern) -> Terms:
        discovery = verdict.discovery
        return Terms(
            era=MODERN,
            facts=FACTS[verdict.version],
            stamp=self._stamp(verdict.version),
            server=_server_info(discovery),
            capabilities=discovery.capabilities,
            instructions=_text(discovery.instructions),
        )

    # The handshake.

    async def handshake(self, link: Link) -> Terms:
        """Open a legacy session. A server that turns out to be modern after all is probed once more."""
        response = await self._initialize(link)
        if not isinstance(response, Failure):
            return await self._legacy_terms(link, response)
        if self._wanted.modern and isinstance(classify(response, self._wanted.modern), Corrective):
            verdict = await self._probe(link)
            if isinstance(verdict, Modern):
                return self._modern_terms(verdict)
        refusal = error_of(response)
        message = f"{self._target.name} refused to initialize: {refusal.message}"
        raise RPCError.received(refusal.code, message, refusal.data)

    async def _initialize(self, link: Link) -> Response:
        offered = self._wanted.handshake or ""
        params = InitializeParams(protocol_version=offered, capabilities=self._capabilities, client_info=self._info)
        try:
            async with asyncio.timeout(self._timeout):
                return await link.exchange(
                    Request(next(self._ids), INITIALIZE.name, narrow(params, offered)), no_notice, {}
                )
        except TimeoutError as error:
            raise RequestTimeout(f"{self._target.name} did not answer `initialize` within {self._timeout} s") from error

    async def _legacy_terms(self, link: Link, response: Response) -> Terms:
        result = _read_initialize_result(response, self._target.name)
        version = accept_counter_offer(result.protocol_version, self._wanted)
        await link.notify(Notification(INITIALIZED.name))
        return Terms(
            era=era_of(FACTS[version]),
            facts=FACTS[version],
            stamp=self._stamp(version),
            server=result.server_info,
            capabilities=result.capabilities,
            instructions=_text(result.instructions),
        )

    def _stamp(self, version: str) -> Stamp:
        return Stamp(version=version, capabilities=narrow(self._capabilities, version), client_info=self._info)


def _read_initialize_result(response: Response, name: str) -> InitializeResult:
    try:
        return INITIALIZE.result_decoder.decode(getattr(response, "result", b""))
    except (msgspec.DecodeError, RecursionError) as error:
        raise RemoteProtocolError(f"{name} answered `initialize` with a malformed result: {error}") from error


def _server_info(discovery: DiscoverResult) -> Implementation:
    """Read who the server says it is; it need not."""
    meta = {} if isinstance(discovery.meta, UnsetType) else discovery.meta
    try:
        return msgspec.convert(meta.get(META_SERVER_INFO), Implementation)
    except msgspec.ValidationError:
        return Implementation(name="", version="")


def _text(value: str | UnsetType) -> str | None:
    return None if isinstance(value, UnsetType) else value
