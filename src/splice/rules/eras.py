"""The two eras as two strategies of four verbs; nothing outside `rules/` branches on the era.

- `admit`: may this request run, and what has its client declared? (server)
- `finish`: what a server adds to a result, and takes from it
- `stamp`: what a client adds to a request
- `suspend`: what becomes of a handler whose questions lack an answer

A request that carries a protocol version in its own `_meta` is modern, whatever came before it on the same
connection; every other request is legacy and belongs to the session that `initialize` opened.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias, TypeVar

from msgspec import Raw, Struct
from msgspec.structs import replace

from splice.errors import InvalidParams, LocalProtocolError, MethodNotFound, UnsupportedProtocolVersion
from splice.protocol import lifecycle, notifications, questions, versions, wire
from splice.protocol.capabilities import ClientCapabilities
from splice.protocol.jsonrpc import NULL, UNREADABLE, Request, RequestId, raw
from splice.protocol.methods import Note, Row
from splice.protocol.narrow import narrow
from splice.rules.meta import TOKEN, members_of
from splice.rules.sessions import Declared, Session

R = TypeVar("R", bound=Struct)

_CARRIED = f"params._meta must carry {lifecycle.META_PROTOCOL_VERSION} and {lifecycle.META_CLIENT_CAPABILITIES}"


class Protocols(Struct, frozen=True):
    """The versions that a server speaks, oldest first."""

    handshake: tuple[str, ...] = versions.HANDSHAKE_VERSIONS
    """Those that `initialize` may settle on. Without any, the server keeps no sessions."""
    alone: tuple[str, ...] = versions.MODERN_VERSIONS
    """Those that a request may name for itself; `server/discover` answers with them."""

    @classmethod
    def of(cls, spoken: Collection[str]) -> "Protocols":
        """Sort versions out. Unknown ones are left out."""
        every = versions.HANDSHAKE_VERSIONS, versions.MODERN_VERSIONS
        return cls(*(tuple(each for each in some if each in spoken) for some in every))

    @property
    def all(self) -> tuple[str, ...]:
        """All of them."""
        return self.handshake + self.alone

    @property
    def opening(self) -> str:
        """How a client begins, in words."""
        return ", or ".join(["send `initialize` first"] * bool(self.handshake) + [_CARRIED] * bool(self.alone))

    def counter_offer(self, offered: str) -> str:
        """Choose the version that `initialize` is answered with: the one offered, else the newest there is."""
        return offered if offered in self.handshake else self.handshake[-1]

    def unsupported(self, requested: str) -> UnsupportedProtocolVersion:
        """Make the error that refuses a version, and names those that take its place."""
        supported = self.alone or self.handshake
        told = f"Unsupported protocol version: {requested[:40]}; this server speaks {', '.join(self.all)}"
        return UnsupportedProtocolVersion(told, {"supported": list(supported), "requested": requested[:40]})


EVERY_PROTOCOL = Protocols()


class Suspend(BaseException):
    """Ends the run of a handler that waits for the client's answers."""

    def __init__(self, requests: dict[str, questions.InputRequest]) -> None:
        super().__init__(", ".join(requests))
        self.requests = requests


class Stamp:
    """A client's word about itself on its requests, in one version."""

    def __init__(self, version: str, capabilities: ClientCapabilities, info: wire.Implementation) -> None:
        self.version = version
        self.capabilities = narrow(capabilities, version)
        self._info = info
        self.log_level: notifications.LoggingLevel | None = None
        self._meta: dict[notifications.LoggingLevel | None, Raw] = {}

    def meta(self) -> Raw:
        """Write the `_meta` that every modern request carries; the same bytes until the log level changes."""
        level = self.log_level
        if level not in self._meta:
            said = lifecycle.RequestMeta(protocol_version=self.version, client_capabilities=self.capabilities)
            said.client_info, said.log_level = narrow(self._info, self.version), level
            self._meta[level] = raw(said)
        return self._meta[level]


class _Legacy:
    """The verbs up to 2025-11-25: a session knows version, capabilities and log level."""

    def admit(self, row: Row | None, session: Session | None, protocols: Protocols) -> Declared:
        """Decide whether a request of a session may run, or one before that."""
        declared = None if session is None else session.declared
        if declared is None:
            if row is None or row.name not in _BEFORE_OPENING or not protocols.handshake:
                raise InvalidParams(f"Not initialized: {protocols.opening}")
            declared = _NEWCOMER
        elif session is not None and row is not lifecycle.PING:
            session.ready = True
        return declared

    def finish(self, result: R, facts: versions.Facts, server_info: Any) -> R:  # noqa: ARG002
        """Make a result fit the version of the request, without changing the one given."""
        return narrow(result, facts.version)

    def stamp(self, stamp: Stamp, token: RequestId | None, more: Mapping[str, Any] | None) -> Raw | None:  # noqa: ARG002
        """Write the `_meta` of a request: what the version demands, a progress token, and keys of the caller's."""
        return None if token is None and not more else _stamped(None, token, more)

    def suspend(self, row: Row, requests: dict[str, questions.InputRequest]) -> None:
        """Take the questions that lack an answer while `row` is answered.

        When this returns, each is to be sent as a request. Raises `Suspend`, and `LocalProtocolError` where nothing may
        be asked.
        """


class _Modern:
    """The same verbs since 2026-07-28: every request speaks for itself, and the server never sends one."""

    def admit(self, row: Row | None, meta: lifecycle.RequestMeta, protocols: Protocols) -> Declared:
        """Decide whether a request may run by what it says of itself."""
        version, can = meta.protocol_version, meta.client_capabilities
        if version is None or can is None:
            raise InvalidParams(_CARRIED)
        if version not in protocols.alone:
            if row is not None and not any(map(row.exists, protocols.all)):
                raise MethodNotFound("Method not found")  # as of a server that never heard of later versions
            raise protocols.unsupported(version)
        info, level = meta.client_info, meta.log_level
        return Declared(facts=versions.FACTS[version], capabilities=can, client_info=info, log_level=level)

    def finish(self, result: R, facts: versions.Facts, server_info: Any) -> R:
        result = replace(result)  # a copy: it may be the author's own, and be returned again
        if isinstance(result, wire.Result):
            result.result_type = result.result_type or "complete"
        if isinstance(result, wire.CacheableResult):
            result.ttl_ms = max(result.ttl_ms or 0, 0)
            result.cache_scope = result.cache_scope or "private"
        if isinstance(result, wire.Meta):
            result.meta = {**(result.meta or {}), lifecycle.META_SERVER_INFO: server_info}
        return narrow(result, facts.version)

    def stamp(self, stamp: Stamp, token: RequestId | None, more: Mapping[str, Any] | None) -> Raw | None:
        return stamp.meta() if token is None and not more else _stamped(stamp.meta(), token, more)

    def suspend(self, row: Row, requests: dict[str, questions.InputRequest]) -> None:
        if not row.may_ask:
            raise LocalProtocolError(f"Nothing can be asked while {row.name} is answered")
        raise Suspend(requests)


def _stamped(said: Raw | None, token: RequestId | None, more: Mapping[str, Any] | None) -> Raw | None:
    return raw({**(more or {}), **members_of(said)} | ({} if token is None else {TOKEN: token}))


Era: TypeAlias = _Legacy | _Modern

LEGACY = _Legacy()
MODERN = _Modern()

_BEFORE_OPENING = frozenset({lifecycle.INITIALIZE.name, lifecycle.PING.name})
_NEWCOMER = Declared(facts=versions.FACTS[versions.LATEST_HANDSHAKE])
_ANY = Note(name="", params=wire.Params)
_NAMES_ONE = lifecycle.META_PROTOCOL_VERSION.encode()


def era_of(facts: versions.Facts) -> Era:
    """Choose the strategy of a version."""
    return MODERN if facts.request_meta else LEGACY


def names_its_version(params: Raw | None) -> bool:
    """Tell whether a request carries its protocol version in its own `_meta`, without reading the rest of it."""
    if params is None or bytes(params).find(_NAMES_ONE) < 0:
        return False
    try:
        return bool(members_of(members_of(params).get("_meta")).get(lifecycle.META_PROTOCOL_VERSION, NULL) != NULL)
    except UNREADABLE:
        return False


def is_version_of_requests(version: str) -> bool:
    """Tell whether `version` is one that a request names for itself, so that it belongs to no session."""
    return version in versions.MODERN_VERSIONS


class Admitted(Struct):
    """A request that may run."""

    era: Era
    params: Any
    meta: lifecycle.RequestMeta
    declared: Declared


Confirm: TypeAlias = Callable[[str | None, Row | None, wire.Params], None]
"""Compares what the transport carried beside a request with its body: the version it names, its method's row, params.

Raises `RPCError` when they contradict each other. The row is None for a method that is not answered, or for params that
cannot be read.
"""


def admit(
    request: Request, session: Session | None, row: Row | None, confirm: Confirm, protocols: Protocols = EVERY_PROTOCOL
) -> Admitted:
    """Decode a request's params once, tell its era, and ask that era whether the request may run.

    `row` is None for a method that is not answered here, `protocols` is what the server speaks. Raises `RPCError`.
    """
    failed = None
    try:
        params: wire.Params = (row or _ANY).read_params(request.params)
    except InvalidParams as error:  # a fault of `_meta` is reported before one of the other params
        params, failed = _ANY.read_params(request.params), error
    meta = lifecycle.RequestMeta.read(params.meta)
    is_named = meta.protocol_version is not None
    if not (protocols.handshake or is_named) and isinstance(params, lifecycle.InitializeParams):
        raise protocols.unsupported(params.protocol_version)
    confirm(meta.protocol_version, None if failed else row, params)
    # Half of what a modern request carries is enough to be one: it is refused for the version it lacks.
    is_half = meta.client_capabilities is not None and row is not lifecycle.INITIALIZE and protocols.alone
    era: Era = MODERN if is_named or is_half else LEGACY
    declared = MODERN.admit(row, meta, protocols) if era is MODERN else LEGACY.admit(row, session, protocols)
    if row is None or declared.facts.version not in row.versions:
        raise MethodNotFound("Method not found")
    if failed is not None:
        raise failed
    if isinstance(params, wire.RetryParams) and (params.input_responses or params.request_state):
        params = narrow(params, declared.facts.version)
    return Admitted(era, params, meta, declared)
