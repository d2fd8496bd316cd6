"""Results that a client keeps while they are fresh, and what the list of tools taught.

Complete results of lists, page by page, and of reads are kept as the bytes that came: whoever is given one has an
object of his own. They belong to one client, so to one authorization context. News of a change drops what it may be
about, and what is on its way at that time is not kept when it arrives.

The list of tools teaches how to check the results of a tool, and which of its arguments HTTP headers mirror.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

import msgspec
from msgspec import Raw, Struct

from splice.client import notices
from splice.errors import LocalProtocolError, RemoteProtocolError
from splice.protocol import jsonrpc, notifications, tools, wire
from splice.rules.http.headers import Designations, header_parameters, param_headers

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


class KnownTools:
    """The tools of a list. When the list changes, another one takes its place."""

    def __init__(self) -> None:
        self.complete = False
        """The whole list has been seen."""
        self._promised: dict[str, Raw | None] = {}
        """Output schemas, written: those of the tools themselves belong to the user."""
        self._mirrored: dict[str, Designations] = {}

    def learn(self, listed: Iterable[tools.Tool], *, mirrors: bool) -> list[tools.Tool]:
        """Remember tools. With `mirrors`, those whose header marks break the rules are left out, as they must be."""
        good: list[tools.Tool] = []
        for tool in listed:
            try:
                self._mirrored[tool.name] = header_parameters(tool.input_schema) if mirrors else {}
                promised = tool.output_schema
                self._promised[tool.name] = None if promised is None else Raw(msgspec.json.encode(promised))
                good.append(tool)
            except Exception as error:  # noqa: BLE001 - whatever one server wrote, the other tools can be used
                why = error if isinstance(error, ValueError) else repr(error)
                notices.log.warning("left out tool %r: %s", tool.name, why)
        return good

    def headers(self, name: str, arguments: Raw | None) -> Mapping[str, str]:
        """Write the headers that mirror arguments of a tool. Raises `LocalProtocolError`."""
        marks = self._mirrored.get(name)
        if not marks or arguments is None:
            return {}
        try:
            return param_headers(marks, msgspec.json.decode(arguments))
        except ValueError as error:
            raise LocalProtocolError(f"Cannot call {name}: {error}") from None

    def check(self, name: str, result: object) -> None:
        """Check structured content against the schema the tool promised. Raises `RemoteProtocolError`.

        A failed result promises nothing, nor does one of an extension's type. What would take too long to check is
        passed on with a warning.
        """
        schema = self._promised.get(name)
        if schema is None or not isinstance(result, tools.CallToolResult) or result.is_error:
            return
        from splice.schema.validate import BadSchema, Mismatch, OverBudget, validator  # noqa: PLC0415 - it is not small

        try:
            validator(schema).check(result.structured_content)
        except Mismatch as error:
            raise RemoteProtocolError(f"{name} returned what does not fit its output schema: {error}") from error
        except OverBudget as error:
            notices.log.warning("the result of %r was not held against its output schema: %s", name, error)
        except BadSchema as error:
            raise RemoteProtocolError(f"{name} has an output schema that cannot be used: {error}") from error


class Cache:
    """The results that one client keeps."""

    def __init__(self) -> None:
        self.keeps = True
        """False: no results are kept, and only tools are known."""
        self.now = time.monotonic
        """Tells the time, in seconds."""
        self.tools = KnownTools()
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
            self.tools = KnownTools()

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
