"""Calls over plain loopback sockets, one request under way per connection, at little cost to the caller."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import msgspec
import uvloop

from bench.peers import Wire
from bench.process import Child, Failed
from bench.samples import Sample, sample
from bench.wire import INITIALIZED, PLACE, check_answer, headers, opening, post, tool_call

T = TypeVar("T")

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
SESSION = re.compile(rb"\r\nmcp-session-id: *([^\r]+)", re.IGNORECASE)
REFUSED = re.compile(rb'"error"|"isError":\s*true')
ANSWER_SECONDS = 30.0


class Connection(asyncio.Protocol):
    """One kept-alive connection; `answered` is called with each whole response."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.answered: Callable[[bytes], None] = lambda _: None
        self.lost: Callable[[], None] = lambda: None
        self.session = ""
        self.token = ""
        """Sent along with each call, if there is one."""
        self._transport: asyncio.Transport | None = None
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.lost()

    def data_received(self, data: bytes) -> None:
        self._data += data
        if whole(self._data):
            data, self._data = self._data, b""
            self.answered(data)

    def send(self, data: bytes) -> None:
        """Write a request."""
        assert self._transport is not None
        self._transport.write(data)

    def close(self) -> None:
        """Drop the connection."""
        if self._transport is not None:
            self._transport.abort()

    async def ask(self, data: bytes) -> bytes:
        """Send a request and wait for the whole response."""
        response: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.answered = response.set_result
        self.lost = lambda: None if response.done() else response.set_exception(Failed("the server hung up"))
        self.send(data)
        async with asyncio.timeout(ANSWER_SECONDS):
            return await response

    async def open(self) -> None:
        """Open a legacy session on this connection."""
        response = await self.ask(post(opening("legacy"), {}, self.port) % PLACE)
        found = SESSION.search(response)
        if found is None:
            raise Failed(f"no session: {response[:160].decode('utf-8', 'replace')}")
        self.session = found[1].decode()
        fields = headers("notifications/initialized", "legacy", session=self.session)
        await self.ask(post(INITIALIZED, fields, self.port))

    def call(self, tool: str, wire: Wire) -> bytes:
        """Write the template of a tool call on this connection."""
        fields = headers("tools/call", wire, name=tool, session=self.session)
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        return post(tool_call(tool, wire), fields, self.port)


def whole(data: bytes) -> bool:
    """Tell whether `data` is a complete response."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return False
    length = LENGTH.search(data, 0, end + 2)
    if length:
        return len(data) >= end + 4 + int(length[1])
    return data.endswith(b"\r\n0\r\n\r\n")


def body(response: bytes) -> dict[str, Any]:
    """Read the JSON-RPC response out of an HTTP response, be it JSON or an event stream, in chunks or not."""
    _, _, content = response.partition(b"\r\n\r\n")
    start, end = content.find(b"{"), content.rfind(b"}")
    try:
        return msgspec.json.decode(content[start : end + 1], type=dict[str, Any])
    except msgspec.DecodeError:
        raise Failed(f"not an answer: {response[:160].decode('utf-8', 'replace')}") from None


@asynccontextmanager
async def connected(port: int, count: int) -> AsyncIterator[list[Connection]]:
    """Open `count` connections for the length of the block."""
    loop = asyncio.get_running_loop()
    connections: list[Connection] = []
    try:
        for _ in range(count):
            _, connection = await loop.create_connection(lambda: Connection(port), "127.0.0.1", port)
            connections.append(connection)
        yield connections
    finally:
        for connection in connections:
            connection.lost = lambda: None
            connection.close()


async def drive(
    server: Child, port: int, tool: str, wire: Wire, *, connections: int, seconds: float, token: str = ""
) -> Sample:
    """Call a tool on each connection, again and again for `seconds`; a legacy connection is a session of its own."""
    async with connected(port, connections) as opened:
        for connection in opened:
            connection.token = token
            if wire == "legacy":
                await connection.open()
        check_answer(body(await opened[0].ask(opened[0].call(tool, wire) % PLACE)))
        return await _Loop(opened, tool, wire).run(server, seconds)


class _Loop:
    """Keeps every connection busy until the time is up."""

    def __init__(self, connections: list[Connection], tool: str, wire: Wire) -> None:
        self._connections = connections
        self._tool, self._wire = tool, wire
        self._took: list[float] = []
        self._number = PLACE
        self._busy = len(connections)
        self._deadline = 0.0
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self, server: Child, seconds: float) -> Sample:
        cpu, began = server.cpu(), time.perf_counter()
        self._deadline = began + seconds
        for connection in self._connections:
            self._start(connection)
        async with asyncio.timeout(seconds + ANSWER_SECONDS):
            await self._done
        return sample(self._took, time.perf_counter() - began, server.cpu() - cpu, server.rss())

    def _start(self, connection: Connection) -> None:
        template = connection.call(self._tool, self._wire)
        sent = time.perf_counter()

        def answered(response: bytes) -> None:
            nonlocal sent
            now = time.perf_counter()
            self._took.append(now - sent)
            if not response.startswith(b"HTTP/1.1 200") or REFUSED.search(response):
                self._fail(f"refused: {response[:200].decode('utf-8', 'replace')}")
            elif now < self._deadline:
                sent = now
                self._number += 1
                connection.send(template % self._number)
            else:
                self._finish()

        connection.answered = answered
        connection.lost = lambda: self._fail("the server hung up")
        self._number += 1
        connection.send(template % self._number)

    def _finish(self) -> None:
        self._busy -= 1
        if not self._busy and not self._done.done():
            self._done.set_result(None)

    def _fail(self, reason: str) -> None:
        if not self._done.done():
            self._done.set_exception(Failed(reason))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a driver to its end on a fast loop."""
    return uvloop.run(work)
