"""The board: everything that a face of the host shows, as items that change, each change with a number.

An item is a `Struct` of `splice.host.items` with an `id`. What is on the board is the fold of its changes: the last
one of an id counts. So a face may attach at any time, two may be open at once, and one that was away catches up. A slow
face misses steps in between, never the last one, and the board keeps no queue for it.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from splice.host.items import Item

AnItem = TypeVar("AnItem", bound=Item)

MAX_GONE = 10_000
"""How many removed items are remembered. A face that was away for more is told everything anew."""

PAUSE_SECONDS = 0.03
"""How long a face waits after a change for more of them."""


class Event(Struct, frozen=True, omit_defaults=True):
    """One change."""

    number: int
    """Counts all changes of a board, from 1."""
    id: str
    item: Item | None = None
    """The item as it is now; None: it is gone."""


class Batch(Struct, frozen=True):
    """What changed since a face looked last: for each item the last change, in the order of their numbers."""

    number: int
    """Ask for what comes after this one next."""
    events: list[Event]
    everything: bool = False
    """These are all items there are: forget the others."""


class Board:
    """Holds the items. It belongs to one event loop; nothing here waits but `watch`."""

    def __init__(self) -> None:
        self.number = 0
        self._items: dict[str, Event] = {}
        self._gone: dict[str, Event] = {}
        self._forgotten = 0
        self._changed = asyncio.Event()

    def put(self, item: Item) -> None:
        """Show an item, or show it anew. One that is as it was changes nothing."""
        known = self._items.get(item.id)
        if known is None or known.item != item:
            self._gone.pop(item.id, None)
            self._items.pop(item.id, None)  # so that the newest stands last
            self._items[item.id] = self._event(item.id, item)

    def change(self, id: str, **fields: Any) -> None:
        """Change fields of an item. Raises `KeyError` if there is none of that id."""
        item = self._items[id].item
        if item is None:
            raise KeyError(id)
        self.put(replace(item, **fields))

    def drop(self, id: str) -> None:
        """Remove an item, if it is there."""
        if self._items.pop(id, None) is not None:
            self._gone[id] = self._event(id, None)
            if len(self._gone) > MAX_GONE:
                oldest = next(iter(self._gone))
                self._forgotten = self._gone.pop(oldest).number

    def get(self, id: str, kind: type[AnItem]) -> AnItem | None:
        """Find an item by its id; None if there is none of this kind."""
        event = self._items.get(id)
        return event.item if event is not None and isinstance(event.item, kind) else None

    def all(self, kind: type[AnItem]) -> list[AnItem]:
        """List the items of a kind, the one changed last at the end."""
        return [event.item for event in self._items.values() if isinstance(event.item, kind)]

    def since(self, number: int = 0) -> Batch:
        """Tell what changed after a number; 0: everything there is."""
        if number <= self._forgotten or number > self.number:
            return Batch(self.number, list(self._items.values()), everything=True)
        changed: list[Event] = []
        for known in (self._items, self._gone):
            for event in reversed(known.values()):
                if event.number <= number:
                    break
                changed.append(event)
        return Batch(self.number, sorted(changed, key=lambda event: event.number))

    async def watch(self, number: int = 0) -> AsyncIterator[Batch]:
        """Yield what changes, from a number on, for as long as somebody iterates. The first batch comes at once."""
        while True:
            batch = self.since(number)
            if batch.events or batch.everything:
                yield batch
            number = batch.number
            while self.number == number:
                await self._changed.wait()
            await asyncio.sleep(PAUSE_SECONDS)

    def _event(self, id: str, item: Item | None) -> Event:
        self.number += 1
        self._changed.set()  # wakes all that wait now
        self._changed = asyncio.Event()
        return Event(self.number, id, item)
