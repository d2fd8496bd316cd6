"""Open `subscriptions/listen` streams, many at once, that wait for a change."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from bench.process import Failed
from bench.wire import PLACE, headers, post, request

OPEN_SECONDS = 30.0
AT_ONCE = 50
ACKNOWLEDGED = b"notifications/subscriptions/acknowledged"
CHANGED = b"notifications/tools/list_changed"


class Listener(asyncio.Protocol):
    """One open stream."""

    def __init__(self) -> None:
        self.acknowledged: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._changed: asyncio.Future[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self.acknowledged.done():
            self._opened()
        elif CHANGED in self._data and self._changed is not None and not self._changed.done():
            self._data = b""
            self._changed.set_result(None)

    def _opened(self) -> None:
        if ACKNOWLEDGED in self._data:
            self._data = b""
            self.acknowledged.set_result(None)
        elif b"\r\n\r\n" in self._data and not self._data.startswith(b"HTTP/1.1 200"):
            self.acknowledged.set_exception(Failed(f"no stream: {self._data[:160].decode('utf-8', 'replace')}"))

    def next_change(self) -> asyncio.Future[None]:
        """Say when the next change is heard of."""
        self._changed = asyncio.get_running_loop().create_future()
        return self._changed

    def send(self, data: bytes) -> None:
        """Write the request."""
        assert self._transport is not None
        self._transport.write(data)

    def close(self) -> None:
        """Drop the stream."""
        if self._transport is not None:
            self._transport.abort()


@asynccontextmanager
async def listening(port: int, count: int) -> AsyncIterator[list[Listener]]:
    """Keep `count` streams open for the length of the block."""
    message = request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "modern")
    template = post(message, headers("subscriptions/listen", "modern"), port)
    loop = asyncio.get_running_loop()
    listeners: list[Listener] = []
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            while len(listeners) < count:
                opening = listeners[-AT_ONCE:]
                _, listener = await loop.create_connection(Listener, "127.0.0.1", port)
                listeners.append(listener)
                listener.send(template % (PLACE + len(listeners)))
                if len(listeners) % AT_ONCE == 0:
                    await asyncio.gather(*(each.acknowledged for each in opening))
            await asyncio.gather(*(each.acknowledged for each in listeners))
        yield listeners
    finally:
        for listener in listeners:
            listener.close()
