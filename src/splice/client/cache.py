"""Results that a client keeps while they are fresh, and what the list of tools taught.

Complete results of lists, page by page, and of reads are kept as the bytes that came: whoever is given one has an
object of his own. They belong to one client, so to one authorization context. News of a change drops what it may be
about, and what is on its way at that time is not kept when it arrives.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
"""

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from msgspec import Raw, Struct

from splice.client import lists, notices
from splice.errors import RemoteProtocolError
from splice.protocol import jsonrpc, notifications, wire

MAX_ENTRIES = 500
"""How many results a client keeps. When there are more, the oldest is dropped."""

MAX_BYTES = 16 * 2**20
"""How large all of them may be, with the cursors and URIs that they are kept under."""

MAX_MS = 24 * 3_600_000
"""For how many milliseconds a result is fresh at most, whatever the server says."""

Keep: TypeAlias = Callable[[Raw, Struct], None] | None
"""Keeps a result, given as it came and as it was read. None: it is not kept."""


Key: TypeAlias = tuple[str, str, str | None]
"""What a result is kept under: what a notification says has changed (a list, or ``resource`` for a read), the method,
and the cursor or the URI. No other params of these requests are ours."""


class Cache:
    """The results that one client keeps."""

    def __init__(self) -> None:
        self.keeps = True
        """False: no results are kept, and only tools are known."""
        self.now = time.monotonic
        """Tells the time, in seconds."""
        self.tools = lists.KnownTools()
        """The tools seen last; replaced when their list has changed."""
        self._kept: dict[Key, tuple[bytes, float]] = {}
        """Each result, and until when it is fresh; the oldest first."""
        self._size = 0
        self._changes: Counter[str] = Counter()
        """How often each kind was dropped."""

    def get(self, key: Key) -> Raw | None:
        """Return the result under `key` while it is fresh."""
        text, until = self._kept.get(key, (b"", 0.0))
        return Raw(text) if self.now() < until else None

    def keeper(self, key: Key, *, fresh: bool) -> Keep:
        """Return what keeps the result of a request that begins now.

        With `fresh`, no earlier request may put its result in this one's place.
        """
        if fresh:
            self._remove(key)
            self._changes[key[0]] += 1
        return partial(self._keep, key, self._changes[key[0]]) if self.keeps else None

    def _keep(self, key: Key, changes: int, raw: Raw, result: Struct) -> None:
        self._remove(key)
        if changes != self._changes[key[0]] or not isinstance(result, wire.CacheableResult):
            return
        ms = min(result.ttl_ms or 0, MAX_MS) if result.result_type in (None, "complete") else 0
        text = bytes(raw)
        if ms <= 0 or _size(key, text) > MAX_BYTES:
            return
        self._kept[key] = text, self.now() + ms / 1000
        self._size += _size(key, text)
        while len(self._kept) > MAX_ENTRIES or self._size > MAX_BYTES:
            self._remove(next(iter(self._kept)))

    def _remove(self, key: Key) -> None:
        if key in self._kept:
            self._size -= _size(key, self._kept.pop(key)[0])

    def hear(self, note: jsonrpc.Notification) -> None:
        """Take a notification, and drop what it says has changed."""
        kind = notices.CHANGES.get(note.method)
        if kind == "resource":
            self.drop(kind, getattr(notices.read(notifications.RESOURCE_UPDATED, note), "uri", None))
        elif kind is not None:
            self.change(kind)

    def change(self, kind: str) -> None:
        """Drop a list that has changed, with what it taught."""
        self.drop(kind)
        if kind == "tools":
            self.tools = lists.KnownTools()

    def drop(self, kind: str, uri: str | None = None) -> None:
        """Drop all pages of a kind of list, or reads; with `uri`, those of its parts and of what it is a part of."""
        self._changes[kind] += 1
        for key in [key for key in self._kept if key[0] == kind]:
            about = key[2] or ""
            if uri is None or about.startswith(uri) or uri.startswith(about):
                self._remove(key)

    def clear(self) -> None:
        """Drop everything: the server, or who the client is to it, may be another one."""
        for kind in notices.CHANGES.values():
            self.change(kind)

    def check(self, name: str, result: Struct) -> None:
        """Check the result of a tool as `KnownTools` does. If it does not fit, the schema may have changed."""
        try:
            self.tools.check(name, result)
        except RemoteProtocolError:
            self.drop("tools")
            raise


def _size(key: Key, text: bytes) -> int:
    return len(text) + len(key[2] or "")
