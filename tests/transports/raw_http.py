"""An HTTP server without any protocol of its own: a test says, byte by byte, what it answers."""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, cast


class Visit:
    """One request that arrived, and the way to answer it."""

    def __init__(self, head: str, body: bytes, connection: "Connection") -> None:
        request, *lines = head.split("\r\n")
        self.method, self.path, _ = request.split(" ")
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self.body = body
        self.left = connection.left
        """Set when the client has closed the connection."""
        self._connection = connection

    @property
    def message(self) -> Any:
        """The JSON of the body."""
        return json.loads(self.body) if self.body else None

    async def raw(self, data: bytes) -> None:
        self._connection.transport.write(data)

    async def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        fields = {"content-length": str(len(body)), **headers}
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        await self.raw(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)

    async def json(self, value: Any, status: int = 200, **headers: str) -> None:
        await self.reply(status, json.dumps(value).encode(), content_type="application/json", **headers)

    async def result(self, value: Any, **headers: str) -> None:
        await self.json({"jsonrpc": "2.0", "id": self.message["id"], "result": value}, 200, **headers)

    async def error(self, code: int, status: int = 200, data: Any = None) -> None:
        error = {"code": code, "message": "m", "data": data}
        await self.json({"jsonrpc": "2.0", "id": self.message["id"], "error": error}, status)

    async def begin_stream(self, **headers: str) -> None:
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        await self.raw(
            f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n{head}\r\n".encode()
        )

    async def chunk(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    async def event(self, message: Any, id: str | None = None) -> None:
        head = b"" if id is None else b"id: %s\n" % id.encode()
        await self.chunk(head + b"data: " + json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n\n")

    async def end_stream(self) -> None:
        await self.raw(b"0\r\n\r\n")

    def drop(self) -> None:
        """Break the connection."""
        self._connection.transport.abort()


Handler = Callable[[Visit], Coroutine[Any, Any, None]]


class Connection(asyncio.Protocol):
    """Cuts what arrives into requests and lets the server answer one after the other."""

    transport: asyncio.Transport

    def __init__(self, server: "RawServer") -> None:
        self.left = asyncio.Event()
        self._server = server
        self._gathered = b""
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        self.left.set()
        self._server.connections.discard(self)
        for task in self._tasks:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        self._gathered += data
        head, blank, rest = self._gathered.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        needed = int(length[1]) if length else 0
        if blank and len(rest) >= needed:
            self._gathered = rest[needed:]
            visit = Visit(head.decode(), rest[:needed], self)
            self._server.visits.append(visit)
            task = asyncio.ensure_future(self._server.handler(visit))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


class RawServer:
    """A server on a port of its own, and all it has seen."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.visits: list[Visit] = []
        self.connections: set[Connection] = set()
        self.url = ""

    def seen(self, method: str) -> list[Visit]:
        """Find the POSTs of one JSON-RPC method, or all of one HTTP method."""
        if method.isupper():
            return [visit for visit in self.visits if visit.method == method]
        return [visit for visit in self.visits if visit.body and visit.message.get("method") == method]


async def until(condition: Callable[[], Any]) -> Any:
    """Wait until a condition holds."""
    async with asyncio.timeout(5):
        while not (value := condition()):  # noqa: ASYNC110 - what a server saw is told by no event
            await asyncio.sleep(0.002)
        return value


@asynccontextmanager
async def raw_server(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    server = RawServer(handler)
    listener = await asyncio.get_running_loop().create_server(lambda: Connection(server), "127.0.0.1", 0, ssl=tls)
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp"
    try:
        yield server
    finally:
        listener.close()
        for _ in range(5):  # a connection may have been accepted a moment ago
            for connection in tuple(server.connections):
                connection.transport.abort()
            await asyncio.sleep(0)
        await listener.wait_closed()
