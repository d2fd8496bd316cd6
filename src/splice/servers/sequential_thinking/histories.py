"""Histories of thoughts: one for each caller, bounded in every direction.

A caller is a legacy session; in the modern era, which has none, whom the transport authenticated, and the one client
of a stdio server. Modern callers over HTTP without authorization cannot be told apart: the first call begins a
history and names it by an id that nobody can guess, and later calls bring the id along.
"""

import secrets
from collections import OrderedDict, deque
from collections.abc import Hashable
from contextvars import ContextVar
from typing import Any

from msgspec import Struct

from splice import Answer, Call

MAX_HISTORIES = 100
"""How many histories are kept; the one that was used longest ago is forgotten."""

MAX_THOUGHTS = 1_000
"""How many thoughts a history keeps; the oldest are forgotten, but still counted."""

MAX_CHARACTERS = 1_000_000
"""How many characters of thoughts a history keeps."""

MAX_BRANCHES = 100
"""How many names of branches a history remembers."""

_CALLER: ContextVar[Hashable | None] = ContextVar("_CALLER", default=None)


class Thought(Struct, frozen=True, omit_defaults=True):
    """A thought, under the names that the tool gives its parts."""

    thought: str
    nextThoughtNeeded: bool
    thoughtNumber: int
    totalThoughts: int
    isRevision: bool | None = None
    revisesThought: int | None = None
    branchFromThought: int | None = None
    branchId: str | None = None
    needsMoreThoughts: bool | None = None


class History:
    """The thoughts of one caller."""

    def __init__(self) -> None:
        self.length = 0
        """How many there were, forgotten ones included."""
        self.branches: dict[str, None] = {}
        self.thoughts: deque[Thought] = deque()
        self._characters = 0

    def add(self, thought: Thought) -> None:
        """Add a thought, and forget the oldest where there are too many."""
        self.length += 1
        self.thoughts.append(thought)
        self._characters += len(thought.thought)
        while len(self.thoughts) > MAX_THOUGHTS or self._characters > MAX_CHARACTERS:
            self._characters -= len(self.thoughts.popleft().thought)
        if thought.branchId and thought.branchFromThought and len(self.branches) < MAX_BRANCHES:
            self.branches[thought.branchId] = None

    def told(self) -> dict[str, Any]:
        """Describe the history for whoever reads it."""
        return {
            "thoughts": list(self.thoughts),
            "branches": list(self.branches),
            "thoughtHistoryLength": self.length,
            "forgotten": self.length - len(self.thoughts),
        }


class Histories:
    """All histories of a server. Touched on its event loop only."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, History] = OrderedDict()

    def of_caller(self) -> History | None:
        """Give the history of whoever sent the running request; None where nobody can tell who did."""
        caller = _CALLER.get()
        return None if caller is None else self._get(caller)

    def begin(self) -> tuple[str, History]:
        """Begin a history for a caller that brings its id along."""
        id = secrets.token_urlsafe(16)
        return id, self._get(("id", id))

    def find(self, id: str) -> History | None:
        """Find a history that was begun under an id."""
        return self._get(("id", id)) if ("id", id) in self._kept else None

    def _get(self, key: Hashable) -> History:
        history = self._kept.setdefault(key, History())
        self._kept.move_to_end(key)
        if len(self._kept) > MAX_HISTORIES:
            self._kept.popitem(last=False)
        return history


async def tell_callers_apart(call: Call, proceed: Answer) -> Any:
    """Remember for the length of a request who sent it. Middleware."""
    sender = call.sender
    caller: Hashable | None = call.session
    if caller is None and sender.principal is not None:
        caller = "principal", str(sender.principal)
    if caller is None and sender.kind != "http":
        caller = "the only one"
    token = _CALLER.set(caller)
    try:
        return await proceed(call)
    finally:
        _CALLER.reset(token)
