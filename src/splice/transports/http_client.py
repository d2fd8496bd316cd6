"""HTTP requests, and nothing of MCP: the only module that imports the HTTP client library.

Redirects are never followed here, bodies are read piece by piece, and every failure is a `ConnectionClosed` that
names the URL. Leaving a response before its end closes the connection.

Two things the library cannot do: while no byte of the response's body has arrived, a request that is given up keeps
its connection until one does; and when a task is cancelled at the very moment its result arrives, the library returns
the result and forgets the cancellation, so it is looked for here.
"""

import asyncio
import atexit
import time
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType

from pyreqwest.client import ClientBuilder
from pyreqwest.exceptions import DetailedPyreqwestError, PyreqwestError
from pyreqwest.http import Url
from pyreqwest.request import StreamRequest
from pyreqwest.response import Response

from splice.errors import ConnectionClosed, RemoteProtocolError

CONNECT_SECONDS = 30.0
USER_AGENT = "splice"

LAST_SECONDS = 0.02
"""How long the interpreter waits at its end for the library's threads."""

# A thread of the library that has just delivered a result is still inside the interpreter for a moment. If that ends
# meanwhile, the process aborts; so its end lets go of the lock the thread waits for.
atexit.register(time.sleep, LAST_SECONDS)


class HTTPClient:
    """A pool of connections. `headers` go out with every request."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        builder = ClientBuilder().follow_redirects(enable=False).referer(enable=False).user_agent(USER_AGENT)
        builder = builder.gzip(enable=False).brotli(enable=False).zstd(enable=False).deflate(enable=False)
        builder = builder.connect_timeout(timedelta(seconds=CONNECT_SECONDS)).default_headers(dict(headers))
        self._client = builder.build()

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> "Sending":
        """Prepare a request; entering it sends it."""
        builder = self._client.request(method, url).headers(headers).streamed_read_buffer_limit(0)
        if body is not None:
            builder = builder.body_bytes(body)
        return Sending(builder.build_streamed(), url)

    async def close(self) -> None:
        """Give up all connections that are idle."""
        await self._client.close()


class Sending:
    """A request on its way: `async with` it for the reply."""

    __slots__ = ("_request", "_url")

    def __init__(self, request: StreamRequest, url: str) -> None:
        self._request = request
        self._url = url

    async def __aenter__(self) -> "Reply":
        before = _cancellations()
        try:
            response = await self._request.__aenter__()
        except PyreqwestError as error:
            raise _lost(error, self._url) from error
        if _cancellations() > before:
            await self._request.__aexit__(None, None, None)
            raise asyncio.CancelledError
        return Reply(response, self._url)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._request.__aexit__(kind, error, traceback)


class Reply:
    """A response whose body is still to be read."""

    __slots__ = ("_response", "_url", "status")

    def __init__(self, response: Response, url: str) -> None:
        self._response = response
        self._url = url
        self.status = response.status

    def header(self, name: str) -> str | None:
        """Return the first header of that name."""
        return self._response.get_header(name)

    @property
    def media_type(self) -> str:
        """What the body is, without parameters; empty when the server does not say."""
        return (self._response.get_header("content-type") or "").partition(";")[0].strip().lower()

    async def chunk(self) -> bytes | None:
        """Return what arrives next, or None at the end. Raises `ConnectionClosed`."""
        before = _cancellations()
        try:
            chunk = await self._response.body_reader.read_chunk()
        except PyreqwestError as error:
            raise _lost(error, self._url) from error
        if _cancellations() > before:
            raise asyncio.CancelledError
        return None if chunk is None else chunk.to_bytes()

    async def body(self, limit: int) -> bytes:
        """Return the whole body. Raises `ConnectionClosed`, and `RemoteProtocolError` for more than `limit` bytes."""
        parts: list[bytes] = []
        size = 0
        while (part := await self.chunk()) is not None:
            size += len(part)
            if size > limit:
                raise RemoteProtocolError(f"{self._url} answered with more than {limit} bytes")
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def start(self, limit: int) -> bytes:
        """Return the first `limit` bytes of the body, however long it is."""
        start = b""
        while len(start) < limit and (part := await self.chunk()) is not None:
            start += part
        return start[:limit]


def _cancellations() -> int:
    """Count how often this task was told to stop."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def within_origin(url: str, location: str) -> str | None:
    """Resolve a redirect; None when it leaves the origin of `url`."""
    try:
        target = Url(url).join(location)
    except ValueError:
        return None
    return str(target) if target.origin_ascii == Url(url).origin_ascii else None


def check_url(url: str) -> None:
    """Raise `ValueError` for what is no HTTP URL."""
    if not Url.is_valid(url) or Url(url).scheme not in ("http", "https"):
        raise ValueError(f"{url!r} is no HTTP URL")


def _lost(error: PyreqwestError, url: str) -> ConnectionClosed:
    """Put the library's nested causes into one line."""
    text = str(error.message)
    if isinstance(error, DetailedPyreqwestError):
        causes = [cause["message"] for cause in error.details["causes"] or ()]
        text = causes[-1] if causes else text
    return ConnectionClosed(f"Lost {url}: {text}")
