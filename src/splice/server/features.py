"""What a server offers: a catalogue per kind, each an ordered set of entries that can change while it is served.

An entry is made once, when it is added; a list is written as JSON once per protocol version and page, and again
only after the catalogue changed. A call looks its entry up by name, however many there are.
"""

import asyncio
import base64
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Raw, UnsetType

from splice.errors import InvalidParams
from splice.protocol.jsonrpc import raw
from splice.protocol.lifecycle import PageResult
from splice.rules.eras import Admitted
from splice.schema.functions import Signature
from splice.server.context import Context, InputRequired
from splice.server.results import OPAQUE
from splice.server.threads import Threads

THREADS = Threads()
"""Where `def` handlers of every server run."""


class Handler:
    """A user's function: called with keyword arguments, on the loop or on a thread as it was written."""

    __slots__ = ("arguments", "blocking", "context_name", "fn", "signature")

    def __init__(self, fn: Callable[..., Any], signature: Signature, *, blocking: bool) -> None:
        self.fn = fn
        self.signature = signature
        self.arguments: Callable[[Raw | UnsetType], dict[str, Any]] = signature.arguments
        self.blocking = blocking and not signature.is_async
        self.context_name: str | None = next(iter(signature.injected), None)

    @classmethod
    def of(cls, fn: Callable[..., Any], *, blocking: bool) -> "Handler":
        """Read a function's signature. Raises `TypeError` for one that cannot be called by name."""
        return cls(fn, Signature.of(fn, skip=is_context, opaque=(*OPAQUE, InputRequired)), blocking=blocking)

    @property
    def name(self) -> str:
        """The function's name, or its class's."""
        name: str = getattr(self.fn, "__name__", type(self.fn).__name__)
        return name

    async def call(self, arguments: dict[str, Any], context: Context | None) -> Any:
        """Call the function."""
        if self.context_name is not None:
            arguments[self.context_name] = context
        value = await self._call_on_thread(arguments, context) if self.blocking else self.fn(**arguments)
        return await value if self.signature.is_async or inspect.isawaitable(value) else value

    async def _call_on_thread(self, arguments: dict[str, Any], context: Context | None) -> Any:
        try:
            return await THREADS.run(self.fn, arguments)
        except asyncio.CancelledError:
            if context is not None:
                context.bridge.close()
            raise


def is_context(annotation: Any) -> bool:
    """Tell whether a parameter asks for the request's context."""
    return isinstance(annotation, type) and issubclass(annotation, Context)


class Entry(Protocol):
    """Something a catalogue lists."""

    @property
    def key(self) -> str:
        """What it is called by, unique in its catalogue."""
        ...


E = TypeVar("E", bound=Entry)


class Catalogue(Generic[E]):
    """The entries of one kind, in the order in which they were added."""

    def __init__(self, kind: str, changed: Callable[[], None], page_size: int | None) -> None:
        self._kind = kind
        self._changed = changed
        self._page_size = page_size
        self._entries: dict[str, E] = {}
        self._pages: dict[tuple[str, int], Raw] = {}
        self.offered = False
        """There was an entry once: what clients were told of stays, if only as an empty list."""

    def add(self, entry: E) -> None:
        """Add an entry. Raises `ValueError` when its name is taken."""
        if entry.key in self._entries:
            raise ValueError(f"a {self._kind} {entry.key!r} exists already; remove it first to replace it")
        self._entries[entry.key] = entry
        self.offered = True
        self._touch()

    def remove(self, key: str) -> None:
        """Remove an entry. Raises `KeyError` when there is none of that name."""
        if self._entries.pop(key, None) is None:
            raise KeyError(f"no {self._kind} {key!r}")
        self._touch()

    def get(self, key: str) -> E | None:
        """Look an entry up by name."""
        return self._entries.get(key)

    def __iter__(self) -> Iterator[E]:
        return iter(tuple(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    def page(
        self, admitted: Admitted, build: Callable[[list[E]], PageResult], finish: Callable[[PageResult], Any]
    ) -> Raw:
        """List one page, as finished JSON.

        Raises `InvalidParams` for a cursor that this server did not give.
        """
        cursor = admitted.params.cursor
        start = 0 if isinstance(cursor, UnsetType) else self._position(cursor)
        key = (admitted.facts.version, start)
        pages = self._pages
        cached = pages.get(key)
        if cached is not None:
            return cached
        entries = list(self._entries.values())
        end = len(entries) if self._page_size is None else start + self._page_size
        result = build(entries[start:end])
        if end < len(entries):
            result.next_cursor = _cursor(end)
        pages[key] = page = raw(finish(result))
        return page

    def _position(self, cursor: str) -> int:
        try:
            start = int(base64.b64decode(cursor, altchars=b"-_", validate=True))
        except ValueError:
            start = -1
        known = self._page_size is not None and start > 0 and start % self._page_size == 0 and cursor == _cursor(start)
        if not known or start > len(self._entries):
            raise InvalidParams("Invalid cursor: it is not one this server gave; list again from the start")
        return start

    def _touch(self) -> None:
        self._pages = {}  # a new one: a page that is being written on another thread is not to be kept
        self._changed()


def _cursor(start: int) -> str:
    """Name the place where a page starts."""
    return base64.urlsafe_b64encode(b"%d" % start).decode()
