"""HTTP requests, and nothing of MCP: the only module that imports the HTTP client library.

A redirect is followed only within the origin and only if it keeps the method, so that no header meant for this server
reaches another. Bodies are read chunk by chunk, and every failure is a `ConnectionClosed` that names the URL. Leaving
a response before its end closes its connection.

Two defects of the library show. A request that is given up before any byte of the response's body has arrived keeps
its connection until one arrives: nothing can be done about it here. And a task that is cancelled at the very moment
its result arrives gets the result, the cancellation is forgotten: so `_cancellations` are counted here.
"""

import asyncio
import atexit
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta

from pyreqwest.client import ClientBuilder
from pyreqwest.exceptions import DetailedPyreqwestError, PyreqwestError
from pyreqwest.http import Url
from pyreqwest.request import StreamRequest
from pyreqwest.response import Response

from splice.errors import ConnectionClosed, HTTPRefused, RemoteProtocolError

CONNECT_SECONDS = 30.0
"""How long opening a connection may take."""

USER_AGENT = "splice"

LAST_SECONDS = 0.02
"""How long the interpreter waits at its end for the library's threads."""

MAX_REDIRECTS = 5

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_METHOD_KEPT = frozenset({307, 308})

# A thread of the library that has just delivered a result is inside the interpreter for a moment longer. The process
# aborts if the interpreter ends in that moment; sleeping gives the thread the lock it waits for.
atexit.register(time.sleep, LAST_SECONDS)


class Endpoint:
    """One URL, and the connections to it. `headers` go out with every request."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        if not Url.is_valid(url) or Url(url).scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is not an HTTP URL; it must begin with http:// or https://")
        builder = ClientBuilder().follow_redirects(enable=False).referer(enable=False).user_agent(USER_AGENT)
        builder = builder.gzip(enable=False).brotli(enable=False).zstd(enable=False).deflate(enable=False)
        builder = builder.connect_timeout(timedelta(seconds=CONNECT_SECONDS)).default_headers(dict(headers))
        self.url = url
        self._client = builder.build()

    def request(
        self, method: str, headers: Mapping[str, str], body: bytes | None = None, *, url: str | None = None
    ) -> "AbstractAsyncContextManager[HTTPResponse]":
        """Build a request, to another `url` after a redirect; `async with` sends it. Redirects are not followed."""
        url = url or self.url
        builder = self._client.request(method, url).headers(headers).streamed_read_buffer_limit(0)
        if body is not None:
            builder = builder.body_bytes(body)
        return sent(builder.build_streamed(), url)

    @asynccontextmanager
    async def post(self, headers: Mapping[str, str], body: bytes) -> "AsyncGenerator[HTTPResponse]":
        """POST `body` and follow redirects. Raises `ConnectionClosed`, `HTTPRefused` and `RemoteProtocolError`."""
        url = self.url
        for _ in range(MAX_REDIRECTS):
            async with self.request("POST", headers, body, url=url) as response:
                if response.status not in _REDIRECTS:
                    yield response
                    return
                url = self._redirected(url, response)
        raise RemoteProtocolError(f"{self.url} redirects without end")

    def _redirected(self, url: str, response: "HTTPResponse") -> str:
        location = response.header("location") or ""
        target = within_origin(url, location) if response.status in _METHOD_KEPT else None
        if target is None:
            raise HTTPRefused(
                f"{self.url} redirects to {location!r} with status {response.status}, which is not followed: "
                "only 307 and 308 within the same origin are",
                response.status,
            )
        return target

    async def close(self) -> None:
        """Close idle connections; nothing can be requested any more."""
        await self._client.close()


@asynccontextmanager
async def sent(request: StreamRequest, url: str) -> "AsyncGenerator[HTTPResponse]":
    """Send a request; the response is there for the length of the block. Raises `ConnectionClosed`."""
    before = _cancellations()
    try:
        async with request as response:
            if _cancellations() > before:
                raise asyncio.CancelledError
            yield HTTPResponse(response, url)
    except PyreqwestError as error:
        raise _lost(error, url) from error


class HTTPResponse:
    """The status and the headers of a response; its body is still to be read."""

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
        """The content type in lower case, without parameters; empty when the server names none."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    async def chunk(self) -> bytes | None:
        """Return the next bytes of the body, or None at its end. Raises `ConnectionClosed`."""
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
        body = await self.start(limit + 1)
        if len(body) > limit:
            raise RemoteProtocolError(f"{self._url} answered with more than {limit} bytes")
        return body

    async def start(self, limit: int) -> bytes:
        """Return the first `limit` bytes of the body, or fewer if it is shorter. Raises `ConnectionClosed`."""
        start = bytearray()
        while len(start) < limit and (part := await self.chunk()) is not None:
            start += part
        return bytes(start[:limit])


def _cancellations() -> int:
    """Count how often this task was cancelled."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def within_origin(url: str, location: str) -> str | None:
    """Resolve the location of a redirect against `url`; None when it leaves the origin of `url`."""
    try:
        target = Url(url).join(location)
    except ValueError:
        return None
    return str(target) if target.origin_ascii == Url(url).origin_ascii else None


def _lost(error: PyreqwestError, url: str) -> ConnectionClosed:
    """Name the innermost cause; the library's own text only says that something failed."""
    text = str(error.message)
    if isinstance(error, DetailedPyreqwestError):
        causes = [cause["message"] for cause in error.details["causes"] or ()]
        text = causes[-1] if causes else text
    return ConnectionClosed(f"Lost {url}: {text}")
