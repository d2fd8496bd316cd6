"""The two eras as two strategies of four verbs; nothing else in this package branches on the era.

- `admit`: may this request run, and as whom? (server)
- `finish`: what a server adds to a result, and takes from it
- `stamp`: what a client adds to a request
- `ask`: how a handler gets input from the client

A request that carries a protocol version in its own `_meta` is modern, whatever came before it on the same
connection; every other request is legacy and belongs to the session that `initialize` opened.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from collections.abc import Callable, Container
from typing import Any, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from splice.errors import (
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    MissingClientCapability,
    UnsupportedProtocolVersion,
)
from splice.protocol.input import ElicitParams, InputRequiredResult
from splice.protocol.jsonrpc import Notification, Request, RequestId
from splice.protocol.lifecycle import (
    META_CLIENT_CAPABILITIES,
    META_PROTOCOL_VERSION,
    META_SERVER_INFO,
    CacheableResult,
    ClientCapabilities,
    ElicitationCapability,
    Implementation,
    LoggingLevel,
    Params,
    RequestMeta,
    Result,
    RootsCapability,
    SamplingCapability,
)
from splice.protocol.methods import CLIENT_METHODS, CREATE_MESSAGE, ELICIT, INITIALIZE, PING, ROOTS_LIST, Method
from splice.protocol.narrow import narrow
from splice.protocol.versions import FACTS, HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, MODERN_VERSIONS, Facts
from splice.rules.journal import Journal

P = TypeVar("P", bound=Params)

Answer: TypeAlias = Result | InputRequiredResult
"""What a request may end with."""

NO_CAPABILITIES = ClientCapabilities()


def _nowhere(_: Notification) -> None:
    """Drop what a session without a stream cannot be told."""


class Session(Struct, kw_only=True, eq=False):
    """What `initialize` opens. Legacy only."""

    id: str = ""
    """The HTTP session id; empty on other transports."""
    version: str | None = None
    """The negotiated protocol version; None until `initialize` was answered."""
    ready: bool = False
    """The client said that it is initialized, or asked for something: it may be told of changes."""
    capabilities: ClientCapabilities = msgspec.field(default_factory=lambda: NO_CAPABILITIES)
    client_info: Implementation | None = None
    log_level: LoggingLevel | None = None
    """Set by `logging/setLevel`; None: the server decides."""
    subscriptions: set[str] = msgspec.field(default_factory=set[str])
    """The URIs of the resources whose changes the client wants to hear of."""
    principal: str | None = None
    """Whom the transport had authenticated when the session was opened."""
    push: Callable[[Notification], None] = _nowhere
    """Sends a notification that belongs to no request. Never blocks, never raises."""


class Admitted(Struct):
    """A request that may run, and all that its handler may know of the one who sent it."""

    era: "Era"
    method: Method[Any, Any]
    params: Any
    facts: Facts
    capabilities: ClientCapabilities
    client_info: Implementation | None
    log_level: LoggingLevel | None
    progress_token: RequestId | None
    session: Session | None
    context: Any = None
    """What stands around the handler and the handler share, if anything does."""


class Stamp(Struct, kw_only=True):
    """What a client says about itself on its requests."""

    version: str
    capabilities: ClientCapabilities
    client_info: Implementation | None = None
    log_level: LoggingLevel | None = None


class Era(Protocol):
    """The four verbs."""

    def admit(self, row: Method[Any, Any] | None, params: Any, session: Session | None) -> Admitted:
        """Decide whether a request may run. `row` is None for an unknown method. Raises `RPCError`."""
        ...

    def finish(self, result: Answer, admitted: Admitted, server_info: Any) -> Answer:
        """Make a result fit the version of the request. Raw results are finished already."""
        ...

    def stamp(self, params: P, stamp: Stamp, progress_token: RequestId | None) -> P:
        """Add to a request, in place, what the version demands on every one."""
        ...

    def ask(self, journal: Journal, key: str, method: str, params: Any) -> Raw | None:
        """Find the client's answer in the journal; None: send the request on the exchange. Raises `Suspend`."""
        ...


class _Legacy:
    """Up to 2025-11-25: a session knows version, capabilities and log level."""

    def admit(self, row: Method[Any, Any] | None, params: Any, session: Session | None) -> Admitted:
        version = session.version if session else None
        if version is None or session is None:
            if row is not INITIALIZE and row is not PING:
                raise InvalidRequest(
                    "Not initialized: send `initialize` first, or put the protocol version and the client's "
                    f"capabilities into `params._meta` ({MODERN_VERSIONS[-1]})"
                )
            version = LATEST_HANDSHAKE
        elif row is not PING:
            session.ready = True
        if row is None or not row.exists(version):
            raise MethodNotFound("Method not found")
        meta: RequestMeta | UnsetType = params.meta
        token = UNSET if isinstance(meta, UnsetType) else meta.progress_token
        return Admitted(
            self,
            row,
            params,
            FACTS[version],
            session.capabilities if session else NO_CAPABILITIES,
            session.client_info if session else None,
            session.log_level if session else None,
            None if isinstance(token, UnsetType) else token,
            session,
        )

    def finish(self, result: Answer, admitted: Admitted, server_info: Any) -> Answer:  # noqa: ARG002
        return narrow(result, admitted.facts.version)

    def stamp(self, params: P, stamp: Stamp, progress_token: RequestId | None) -> P:  # noqa: ARG002
        if progress_token is not None:
            params.meta = RequestMeta(progress_token=progress_token)
        return params

    def ask(self, journal: Journal, key: str, method: str, params: Any) -> Raw | None:
        return journal.find(key, method, params)


class _Modern:
    """Since 2026-07-28: every request speaks for itself, and the server never sends one."""

    def admit(self, row: Method[Any, Any] | None, params: Any, session: Session | None) -> Admitted:  # noqa: ARG002
        meta: RequestMeta = params.meta
        version = check_meta(meta)
        if row is None or not row.exists(version):
            raise MethodNotFound("Method not found")
        info, level, token = meta.client_info, meta.log_level, meta.progress_token
        return Admitted(
            self,
            row,
            params,
            FACTS[version],
            NO_CAPABILITIES if isinstance(meta.client_capabilities, UnsetType) else meta.client_capabilities,
            None if isinstance(info, UnsetType) else info,
            None if isinstance(level, UnsetType) else level,
            None if isinstance(token, UnsetType) else token,
            None,
        )

    def finish(self, result: Answer, admitted: Admitted, server_info: Any) -> Answer:
        if isinstance(result, Result):
            result.result_type = "complete"
        if isinstance(result, CacheableResult):
            result.ttl_ms = 0 if isinstance(result.ttl_ms, UnsetType) else max(result.ttl_ms, 0)
            result.cache_scope = result.cache_scope or "private"
        said = result.meta
        result.meta = (
            {META_SERVER_INFO: server_info} if isinstance(said, UnsetType) else {META_SERVER_INFO: server_info, **said}
        )
        return narrow(result, admitted.facts.version)

    def stamp(self, params: P, stamp: Stamp, progress_token: RequestId | None) -> P:
        params.meta = RequestMeta(
            progress_token=UNSET if progress_token is None else progress_token,
            protocol_version=stamp.version,
            client_capabilities=stamp.capabilities,
            client_info=stamp.client_info or UNSET,
            log_level=stamp.log_level or UNSET,
        )
        return params

    def ask(self, journal: Journal, key: str, method: str, params: Any) -> Raw | None:
        return journal.ask(key, method, params)


LEGACY: Era = _Legacy()
MODERN: Era = _Modern()


def era_of(facts: Facts) -> Era:
    """Choose the strategy of a version."""
    return MODERN if facts.request_meta else LEGACY


def is_modern(meta: RequestMeta | UnsetType) -> bool:
    """Tell whether a request speaks for itself."""
    return not isinstance(meta, UnsetType) and not isinstance(meta.protocol_version, UnsetType)


def check_meta(meta: RequestMeta | UnsetType) -> str:
    """Check the two fields every modern request must carry, and return its version.

    Raises `InvalidParams` when one is missing, `UnsupportedProtocolVersion` when the version is not one of ours.
    """
    if isinstance(meta, UnsetType) or isinstance(meta.protocol_version, UnsetType):
        raise InvalidParams(f"params._meta must carry {META_PROTOCOL_VERSION}")
    if isinstance(meta.client_capabilities, UnsetType):
        raise InvalidParams(f"params._meta must carry {META_CLIENT_CAPABILITIES}")
    version = meta.protocol_version
    if version not in MODERN_VERSIONS:
        raise UnsupportedProtocolVersion(
            f"Unsupported protocol version: {version}", {"supported": list(MODERN_VERSIONS), "requested": version}
        )
    return version


_EMPTY = Raw(b"{}")
_head_decoder = msgspec.json.Decoder(Params)


def admit(request: Request, session: Session | None, served: Container[str] = CLIENT_METHODS) -> Admitted:
    """Decode a request's params once, tell its era, and ask that era whether the request may run.

    A method that is not `served` is as good as unknown. Raises `RPCError`.
    """
    row = CLIENT_METHODS.get(request.method) if request.method in served else None
    content = _EMPTY if isinstance(request.params, UnsetType) else request.params
    try:
        params = _head_decoder.decode(content) if row is None else row.params_decoder.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        _blame_meta_first(row, content, session)
        raise InvalidParams(f"Invalid params: {error}") from None
    era = MODERN if is_modern(params.meta) else LEGACY
    return era.admit(row, params, session)


def _blame_meta_first(row: Method[Any, Any] | None, content: Raw, session: Session | None) -> None:
    """Of a request with several faults, report the one that concerns who speaks before the one in what is said."""
    try:
        head = _head_decoder.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return
    era = MODERN if is_modern(head.meta) else LEGACY
    era.admit(row, head, session)


def handshake_version(offered: str) -> str:
    """Answer the version a client offers in `initialize`: the same if it may be negotiated there, else our latest."""
    return offered if offered in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE


def require(admitted: Admitted, method: str, params: Any) -> None:
    """Check that the client declared what a question needs.

    Raises `MissingClientCapability` with the missing capability as the specification's `requiredCapabilities`.
    """
    facts, has = admitted.facts, admitted.capabilities
    missing: ClientCapabilities | None = None
    if method == ROOTS_LIST.name and isinstance(has.roots, UnsetType):
        missing = ClientCapabilities(roots=RootsCapability())
    elif method == CREATE_MESSAGE.name:
        missing = _missing_for_sampling(has, facts, params)
    elif method == ELICIT.name:
        missing = _missing_for_elicitation(has, facts, params)
    if missing is not None:
        raise MissingClientCapability(
            f"The client did not declare the capability that {method} needs",
            {"requiredCapabilities": msgspec.to_builtins(missing)},
        )


def _missing_for_sampling(has: ClientCapabilities, facts: Facts, params: Any) -> ClientCapabilities | None:
    needs_tools = not isinstance(params.tools, UnsetType) or not isinstance(params.tool_choice, UnsetType)
    if isinstance(has.sampling, UnsetType):
        return ClientCapabilities(sampling=SamplingCapability(tools={} if needs_tools else UNSET))
    if needs_tools and (not facts.sampling_tools or isinstance(has.sampling.tools, UnsetType)):
        return ClientCapabilities(sampling=SamplingCapability(tools={}))
    return None


def _missing_for_elicitation(has: ClientCapabilities, facts: Facts, params: ElicitParams) -> ClientCapabilities | None:
    wants_url = params.mode == "url"
    needed = ElicitationCapability(url={}) if wants_url else ElicitationCapability(form={})
    declared = has.elicitation
    if not facts.elicitation or isinstance(declared, UnsetType) or (wants_url and not facts.url_elicitation):
        return ClientCapabilities(elicitation=needed)
    offers_url = not isinstance(declared.url, UnsetType)
    offers_form = not isinstance(declared.form, UnsetType) or not offers_url
    return None if (offers_url if wants_url else offers_form) else ClientCapabilities(elicitation=needed)
