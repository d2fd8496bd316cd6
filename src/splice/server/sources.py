"""Where the tools, resources and prompts of a server come from, and how they are listed.

A source gives entries. An entry has a `definition`, which is listed, and `run`, which is called. What an author adds
to a server is in its `Local` source; others may be added beside it: a remote server, or any source under a prefix or
behind a filter. The first source that has a name wins.

https://modelcontextprotocol.io/specification/2026-07-28/server
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, count
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from msgspec import Raw, Struct
from msgspec.structs import replace

from splice.errors import InvalidParams, MethodNotFound
from splice.protocol import jsonrpc, methods, notifications, versions, wire
from splice.rules.extensions import AnyCapabilities, Extension, Served
from splice.rules.seal import SealBroken
from splice.schema import schemas
from splice.server.call import Call, Home, Publish

D = TypeVar("D", bound=Struct)
D_co = TypeVar("D_co", covariant=True)

MAX_MARKS = 8
"""How many entries a cursor knows: were all of them removed, the list has to be listed again."""

_MARK_BYTES = 8
_BAD_CURSOR = "Invalid cursor: it is not one this server gave, or too much changed since; list again without a cursor"

Show: TypeAlias = Callable[[D, versions.Facts], D]
"""Describes something to a client of some version."""

_KEYS = ("uri", "uri_template", "name")


class Entry(Protocol[D_co]):
    """Something that is listed."""

    @property
    def definition(self) -> D_co:
        """Its description, which stands in the list."""
        ...

    @property
    def run(self) -> Callable[..., Awaitable[Any]]:
        """The way to call it: an async method that takes a `Call`, for resources and templates also the URI.

        It returns the result, or `InputRequired`. What a tool raises becomes a result that the model can read, except
        for an `RPCError`. The call of a resource may be that of a tool whose handler wants to read it.
        """
        ...


class Source(Protocol[D_co]):
    """Gives entries of one kind."""

    async def entries(self) -> Sequence[Entry[D_co]]:
        """List all entries: the same ones as before as long as nothing changed."""
        ...

    async def find(self, key: str) -> Entry[D_co] | None:
        """Find the entry of a name, or of a URI: a source of templates finds the one that a URI matches."""
        ...

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the entries change, on any thread."""


def key_of(entry: Entry[Any]) -> str:
    """Tell by what an entry is found: its URI or template where it has one, else its name."""
    return str(next(getattr(entry.definition, field) for field in _KEYS if hasattr(entry.definition, field)))


class Described(Struct, Generic[D], frozen=True, eq=False):
    """An entry made of its parts."""

    definition: D
    run: Callable[..., Awaitable[Any]]
    choices: Mapping[str, Sequence[str]] = {}
    """By argument: the values that complete it, if there are any."""
    handler: Any = None
    """The function behind it; its `options` say who may use it."""


class Local(Generic[D]):
    """Entries that were added one by one, in that order. May be changed on any thread."""

    def __init__(self, noun: str = "entry") -> None:
        self.used = False
        """There was an entry once: what clients were told of stays, if only as an empty list."""
        self.completes = False
        """There was one once with choices that complete its arguments."""
        self.noun = noun
        self.by_key: dict[str, Entry[D]] = {}
        self.get = self.by_key.get
        """Look an entry up by its name."""
        self._watching: list[Callable[[], None]] = []

    def add(self, entry: Entry[D]) -> None:
        """Add an entry. Raises `ValueError` when its name is taken."""
        key = key_of(entry)
        if self.by_key.setdefault(key, entry) is not entry:
            raise ValueError(f"a {self.noun} {key!r} exists already; remove it first to replace it")
        self.completes = self.completes or any(getattr(entry, "choices", {}).values())
        self._changed()

    def remove(self, key: str) -> None:
        """Remove an entry. Raises `KeyError` when there is none of that name."""
        if self.by_key.pop(key, None) is None:
            raise KeyError(f"there is no {self.noun} {key!r}")
        self._changed()

    async def entries(self) -> Sequence[Entry[D]]:
        """List all entries."""
        return tuple(self.by_key.values())

    async def find(self, key: str) -> Entry[D] | None:
        """Look an entry up by its name."""
        return self.by_key.get(key)

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each change."""
        self._watching.append(changed)

    def _changed(self) -> None:
        self.used = True
        for changed in self._watching:
            changed()


class _View(Generic[D]):
    """Another source, seen differently. Made anew when the other one changed."""

    def __init__(self, source: Source[D], show: Callable[[Entry[D]], Entry[D] | None]) -> None:
        self._source, self._show, self.watch = source, show, source.watch
        self._seen: Sequence[Entry[D]] = ()
        self._shown: Sequence[Entry[D]] = ()

    async def entries(self) -> Sequence[Entry[D]]:
        """List the entries as they are seen here."""
        entries = await self._source.entries()
        if entries != self._seen:
            self._seen, self._shown = entries, [shown for each in entries if (shown := self._show(each)) is not None]
        return self._shown

    async def find(self, key: str) -> Entry[D] | None:
        """Find an entry as it is seen here."""
        return None if (entry := await self._source.find(key)) is None else self._show(entry)


class Filtered(_View[D]):
    """The entries of a source whose definition `keep` accepts."""

    def __init__(self, source: Source[D], keep: Callable[[D], bool]) -> None:
        super().__init__(source, lambda entry: entry if keep(entry.definition) else None)


class Prefixed(_View[D]):
    """The tools or prompts of a source, with a prefix before their names."""

    def __init__(self, source: Source[D], prefix: str) -> None:
        def show(it: Entry[D]) -> Entry[D]:  # who may use it, its handler says
            return Described(replace(it.definition, name=prefix + key_of(it)), it.run, {}, getattr(it, "handler", None))

        super().__init__(source, show)
        self._prefix = prefix

    async def find(self, key: str) -> Entry[D] | None:
        """Find an entry by its name with the prefix."""
        return await super().find(key[len(self._prefix) :]) if key.startswith(self._prefix) else None


class Listing(Generic[D]):
    """One list of a server: its sources in order, and the pages that were written of them.

    A page is written as JSON once per version, and again only after the entries changed.
    """

    def __init__(self, row: methods.Method[Any, Any], local: Local[D], show: Show[D] = lambda shown, _: shown) -> None:
        self.row = row
        self.local = local
        self.sources: list[Source[D]] = [local]
        self._field = f"{local.noun.replace(' ', '_')}s"
        """The field of the result that has the list."""
        self._show = show
        self._parts: Sequence[Sequence[Entry[D]]] = ()
        self._entries: Sequence[Entry[D]] = ()
        self._pages: dict[tuple[str, int], Raw] = {}
        self._places: dict[bytes, int] = {}
        """By the mark of an entry: how many there are up to it. Filled when the first cursor comes."""

    async def find(self, key: str) -> Entry[D] | None:
        """Find an entry in the first source that has it."""
        for source in self.sources:
            if (found := await source.find(key)) is not None:
                return found
        return None

    async def named(self, name: str, sees: Callable[[Entry[D]], object] = bool) -> Entry[D]:
        """Find the entry that a request names, of those that its sender `sees`. Raises `InvalidParams`."""
        entry = await self.find(name)
        if entry is None or not sees(entry):
            known = [key_of(each) for source in self.sources for each in await source.entries() if sees(each)]
            raise InvalidParams(f"Unknown {self.local.noun}: {name[:200]!r}{schemas.meant(name, known)}")
        return entry

    async def page(self, call: Call) -> wire.PageResult | Raw:
        """Answer a request for one page: with a Struct for middleware, else with finished JSON.

        Raises `InvalidParams` for a cursor that this server did not give.
        """
        parts = [await source.entries() for source in self.sources]
        if parts != self._parts:
            first: dict[str, Entry[D]] = {}
            for entry in chain.from_iterable(parts):
                first.setdefault(key_of(entry), entry)
            self._parts, self._entries, self._pages, self._places = parts, tuple(first.values()), {}, {}
        home, facts, cursor = call.home, call.declared.facts, call.params.cursor
        start = 0 if cursor is None else self._start(cursor, home)
        if home.middleware:  # it may change what it is given, so it gets objects of its own
            page: wire.PageResult = self.row.read_result(jsonrpc.raw(self._cut(start, home, facts)))
            return page
        key = facts.version, start
        if key not in self._pages:
            self._pages[key] = jsonrpc.raw(call.era.finish(self._cut(start, home, facts), facts, home.info_json))
        return self._pages[key]

    def _cut(self, start: int, home: Home, facts: versions.Facts) -> wire.PageResult:
        end = start + home.page_size
        definitions = [self._show(entry.definition, facts) for entry in self._entries[start:end]]
        cursor = self._cursor(end, home) if end < len(self._entries) else None
        result: wire.PageResult = self.row.result(**{self._field: definitions}, next_cursor=cursor, **home.hints)
        return result

    def _cursor(self, end: int, home: Home) -> str:
        """Write down where a page ends: how many entries came before, and which were the last of them."""
        marks = map(_mark, self._entries[max(end - MAX_MARKS, 0) : end])
        return home.sealing().sign(b"".join((end.to_bytes(_MARK_BYTES, "big"), *marks)), self._bound(home))

    def _start(self, cursor: str, home: Home) -> int:
        """Tell where the page of a cursor starts: behind the last entry of the page before that is still in its place.

        Entries are added at the end, so that one with more before it than then was added again. Raises `InvalidParams`.
        """
        self._places = self._places or {_mark(entry): place for place, entry in enumerate(self._entries, 1)}
        with suppress(SealBroken):
            said = home.sealer.signed(cursor, self._bound(home))
            end, *marks = (said[at : at + _MARK_BYTES] for at in range(0, len(said), _MARK_BYTES))
            for most, mark in zip(count(int.from_bytes(end, "big"), -1), reversed(marks), strict=False):
                if (place := self._places.get(mark, most + 1)) <= most:
                    return place
        raise InvalidParams(_BAD_CURSOR)

    def _bound(self, home: Home) -> bytes:
        return f"{self.row.name} {home.info.name}".encode()


def _mark(entry: Entry[Any]) -> bytes:
    return hashlib.blake2b(key_of(entry).encode(), digest_size=_MARK_BYTES).digest()


class Features(Extension[Call]):
    """A chapter of features: its lists, which are offered once there was an entry, and the method that uses one."""

    def __init__(self, id: str, capability: Struct, use: Served[Call], publish: Publish, **lists: Listing[Any]) -> None:
        lists_of = (Served(each.row, partial(self._list, each)) for each in lists.values())
        super().__init__(id, methods=(*lists_of, use))
        self.lists = lists
        """By the kind of source that they take."""
        self._capability = capability
        self._changed = partial(publish, (notifications.LISTS[id].name, None))
        for each in lists.values():
            each.local.watch(self._changed)

    def declare(self, capabilities: AnyCapabilities) -> None:
        """Declare the features, if there are any."""
        if self._offered():
            setattr(capabilities, self.id, self._capability)

    def add_source(self, kind: str, source: Source[Any]) -> None:
        """Add a source behind those that are there."""
        self.lists[kind].sources.append(source)
        source.watch(self._changed)

    def _offered(self) -> bool:
        return any(each.local.used or len(each.sources) > 1 for each in self.lists.values())

    async def _list(self, listing: Listing[Any], call: Call) -> wire.PageResult | Raw:
        """Answer a request for one page of a list. Raises `MethodNotFound` when clients are not told of it."""
        if not self._offered():
            raise MethodNotFound(f"This server offers no {listing.local.noun}s")
        return await listing.page(call)
