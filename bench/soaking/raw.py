"""HTTP by hand: a request as bytes, and the messages of a response as they arrive."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator
from typing import Any

from bench.peers import Wire
from bench.wire import META, headers

LIMIT = 64 * 1024 * 1024


class Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        self.reader, self.writer, self.port = reader, writer, port

    @classmethod
    async def to(cls, port: int) -> "Line":
        """Connect."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=LIMIT), port)

    def send(self, message: Any, wire: Wire, session: str = "", method: str = "POST") -> None:
        """Write a request whole."""
        self.writer.write(request(message, self.port, wire, session, method))

    async def head(self) -> tuple[int, dict[str, str]]:
        """Read status and fields of a response."""
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
        fields = (line.partition(":") for line in lines)
        return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in fields}

    async def pieces(self, fields: dict[str, str]) -> AsyncIterator[bytes]:
        """Read a body as it comes."""
        if "content-length" in fields:
            yield await self.reader.readexactly(int(fields["content-length"]))
            return
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)

    async def messages(self) -> AsyncIterator[Any]:
        """Read the messages of one response, be it JSON or a stream. Raises `AssertionError` if it is refused."""
        status, fields = await self.head()
        data, is_stream = b"", "event-stream" in fields.get("content-type", "")
        async for piece in self.pieces(fields):
            data += piece
            while is_stream and b"\n\n" in data:
                event, _, data = data.partition(b"\n\n")
                text = b"".join(line[5:] for line in event.splitlines() if line.startswith(b"data:"))
                if text.strip():
                    yield json.loads(text)
        assert status < 300, f"HTTP {status}: {data[:200]!r}"
        if data and not is_stream:
            yield json.loads(data)

    def leave(self, *, at_once: bool = False) -> None:
        """Close the connection, or reset it."""
        if at_once:
            linger = struct.pack("ii", 1, 0)
            self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.writer.transport.abort()
        self.writer.close()


def request(message: dict[str, Any] | bytes, port: int, wire: Wire, session: str = "", method: str = "POST") -> bytes:
    """Write an HTTP request around a message; bytes go as they are."""
    fields: dict[str, str] = {}
    if isinstance(message, bytes):
        body, fields = message, headers("", wire, session=session) if session else fields
    else:
        params = message.get("params", {})
        if wire == "modern":
            message = {**message, "params": {**params, "_meta": {**META, **params.get("_meta", {})}}}
        fields = headers(message["method"], wire, name=params.get("name", ""), session=session)
        body = json.dumps(message).encode()
    lines = [
        f"{method} /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        f"Accept: {'' if method == 'GET' else 'application/json, '}text/event-stream",
        *(f"{name}: {value}" for name, value in fields.items()),
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
