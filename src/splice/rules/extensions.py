"""Chapters of what a server or a client answers: tables of methods and notifications, put together when it is made.

A chapter of the specification (tools, prompts, ...) and an extension of a user's own have the same form, `Extension`.
A server answers the methods of its chapters and extensions, a client those of its own; a later one replaces a method
of the same name, and nothing in the core lists all methods a second time.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extensions
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from splice.protocol.capabilities import ClientCapabilities, ServerCapabilities
from splice.protocol.methods import Method, Note
from splice.protocol.wire import is_meta

AnyCapabilities: TypeAlias = ServerCapabilities | ClientCapabilities

C = TypeVar("C")
"""The argument of an answer: the server's `Call` or the client's `Question`."""


class Served(Struct, Generic[C], frozen=True):
    """A method and the function that answers it."""

    row: Method[Any, Any]
    answer: Callable[[C], Awaitable[Any]]
    """Returns the result, a Struct, or `Raw` that is written already. Raises `RPCError`."""


class Heard(Struct, frozen=True):
    """A notification and the function that is told of it."""

    row: Note[Any]
    hear: Callable[[Any], Awaitable[None] | None]
    """Takes the decoded params. What it raises is logged."""


@dataclass(eq=False)
class Extension(Generic[C]):
    """A part of what a server or client can do."""

    id: str
    _: KW_ONLY
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Declared to the peer, by `id`, among the `extensions` of the capabilities."""
    methods: Sequence[Served[C]] = ()
    """The requests it answers, in the versions that their rows say."""
    notes: Sequence[Heard] = ()
    """The notifications it is told of, likewise."""
    results: Mapping[str, type[Struct]] = field(default_factory=dict[str, type[Struct]])
    """Further kinds of result a peer may answer with: `resultType` -> the Struct to read it as."""

    def declare(self, capabilities: AnyCapabilities) -> None:
        """Add what it offers to the capabilities that are told to a peer. Raises `ValueError`."""
        if "/" not in self.id or not is_meta({self.id: ""}):
            raise ValueError(f"the id of an extension is such as com.example/name, not {self.id!r}")
        capabilities.extensions = {**(capabilities.extensions or {}), self.id: dict(self.settings)}


def served(extensions: Iterable[Extension[C]]) -> dict[str, Served[C]]:
    """Put the methods of several extensions into one table, by name."""
    return {each.row.name: each for extension in extensions for each in extension.methods}


def heard(extensions: Iterable[Extension[Any]]) -> dict[str, Heard]:
    """Put the notifications of several extensions into one table, by name."""
    return {each.row.name: each for extension in extensions for each in extension.notes}
