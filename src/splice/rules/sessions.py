"""The sender of a request: what it declared, whether that allows a question, and the session of `initialize`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from splice.errors import InvalidRequest, MissingClientCapability
from splice.protocol import jsonrpc, notifications, questions, versions, wire
from splice.protocol.capabilities import ClientCapabilities
from splice.protocol.narrow import narrow
from splice.rules.principal import Principal

NO_CAPABILITIES = ClientCapabilities()
"""Stands for those of a client whose `initialize` nobody remembers. Never changed."""

DEFAULT_LEVEL: notifications.LoggingLevel = "info"
"""From which severity on a session hears log messages that never called `logging/setLevel`."""


class Declared(Struct, kw_only=True):
    """The version of a request, and what its client declared. Not verified: never base security on it."""

    facts: versions.Facts
    capabilities: ClientCapabilities = msgspec.field(default_factory=ClientCapabilities)
    client_info: wire.Implementation | None = None
    log_level: notifications.LoggingLevel | None = None
    """Log messages of this severity and above are wanted; None: none at all."""


def require(declared: Declared, method: str, params: Any) -> None:
    """Check that the client declared what a question needs. Methods of extensions need nothing that is known here.

    Raises `MissingClientCapability` with the missing capability as the specification's `requiredCapabilities`, and
    `InvalidRequest` where nothing is remembered of what it declared.
    """
    if declared.capabilities is NO_CAPABILITIES:
        raise InvalidRequest(
            f"{method} cannot be sent: this server keeps no sessions (stateless=True) and cannot ask clients of this "
            f"version; {versions.LATEST_MODERN} needs none"
        )
    name, parts = _needed(declared.facts, method, params)
    said: Any = getattr(declared.capabilities, name, None)
    # What its version does not have, it cannot have declared.
    has = getattr(narrow(declared.capabilities, declared.facts.version), name, None)
    if parts == ["form"] and has is not None and (said.form is not None or said.url is None):
        return  # to declare nothing in particular is to declare forms
    missing: dict[str, Any] = {part: {} for part in parts if getattr(has, part, None) is None}
    if name and (has is None or missing):
        what = " and ".join(f"{name}.{part}" for part in missing) or name
        lacks = f"The client did not declare {what}, the capability that {method} needs"
        raise MissingClientCapability(lacks, {"requiredCapabilities": {name: missing}})


def _needed(facts: versions.Facts, method: str, params: Any) -> tuple[str, list[str]]:
    """Name the capability that a question needs, and which parts of it; nothing for what is not known here."""
    if isinstance(params, questions.ElicitParams):
        return "elicitation", [params.mode or "form"]
    if not isinstance(params, questions.CreateMessageParams):
        return ("roots" if method == questions.ROOTS_LIST.name else ""), []
    tools = params.tools is not None or params.tool_choice is not None
    context = facts.sampling_tools and params.include_context not in (None, "none")
    return "sampling", ["tools"] * tools + ["context"] * context


class Session(Struct, kw_only=True, eq=False):
    """The state that `initialize` opens. Requests since 2026-07-28 belong to none."""

    id: str = ""
    """The HTTP session id; empty on other transports."""
    declared: Declared | None = None
    """Set when `initialize` is answered; None before."""
    ready: bool = False
    """The client said that it is initialized, or asked for something: it may be told of changes."""
    subscriptions: set[str] = msgspec.field(default_factory=set[str])
    """The URIs of the resources whose changes the client wants to hear of."""
    elicitations: set[str] = msgspec.field(default_factory=set[str])
    """The ids of the links that its user was sent to, and whose completion it is to hear of."""
    principal: Principal | None = None
    """Whom the transport had authenticated when the session was opened."""
    push: Callable[[jsonrpc.Notification], None] = lambda _: None
    """Sends a notification that belongs to no request. Never blocks. Raises what encoding raises. Without a stream it
    drops them."""
    ended: "Callable[[Session], None] | None" = None
    """Called by `end`: the server lets go of the session."""

    def open(
        self, version: str, capabilities: ClientCapabilities = NO_CAPABILITIES, info: wire.Implementation | None = None
    ) -> versions.Facts:
        """Agree on a version. Raises `KeyError` for one this package does not know."""
        facts, level = versions.FACTS[version], DEFAULT_LEVEL
        self.declared = Declared(facts=facts, capabilities=capabilities, client_info=info, log_level=level)
        return facts

    @property
    def facts(self) -> versions.Facts | None:
        """The facts of the agreed version; None before `initialize`."""
        return None if self.declared is None else self.declared.facts

    @property
    def batches(self) -> bool:
        """A JSON array of messages is legal."""
        return self.declared is not None and self.declared.facts.batches

    def end(self) -> None:
        """Let go of the session: nobody will be told of anything any more. To be called by the transport, once."""
        ended, self.ended = self.ended, None
        if ended is not None:
            ended(self)
