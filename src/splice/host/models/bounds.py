"""How much an endpoint may send: SDKs keep a line, and the body of an error, until it ends."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2

from splice.host.models.base import MAX_ANSWER_BYTES

MAX_STREAM_BYTES = 8 * MAX_ANSWER_BYTES
"""Of one response: what stands around the words of a model is more than the words."""


def bounded(connection: dict[str, Any]) -> dict[str, Any]:
    """Add to the options of an HTTP client that no response is endless, nor packed, so that it could grow."""
    hooks = {**connection["event_hooks"], "response": [_bound]}
    return connection | {"event_hooks": hooks, "headers": {"accept-encoding": "identity"}}


class TooLarge(httpx2.HTTPError):
    """An endpoint sent more than is read."""


async def _bound(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        packed = response.headers.get("content-encoding", "identity") != "identity"
        response.stream = _Bounded(response.stream, 0 if packed else MAX_STREAM_BYTES)


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of a response. Raises `TooLarge` when there are too many, in all or in a line."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = line = 0
        async for data in self._stream:
            size += len(data)
            line = len(data) - data.rfind(b"\n") - 1 if b"\n" in data else line + len(data)
            if line > MAX_ANSWER_BYTES or size > self._most:
                raise TooLarge("the response is too large, or packed")
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()
