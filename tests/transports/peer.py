"""A raw HTTP client: a request written byte by byte, and what comes back."""

import asyncio
import json
from typing import Any, Self

from transports.asgi import within


def request_bytes(body: Any, headers: dict[str, str], method: str = "POST") -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {
        "Host": "localhost",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(data)),
    }
    lines = [f"{method} /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in (fields | headers).items()), "", ""]
    return "\r\n".join(lines).encode() + data


class Peer:
    """A raw connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, port: int) -> Self:
        return cls(*await within(asyncio.open_connection("127.0.0.1", port)))

    def send(self, body: Any, headers: dict[str, str], *, method: str = "POST") -> None:
        self.writer.write(request_bytes(body, headers, method))

    async def head(self) -> tuple[int, dict[str, str]]:
        head = (await within(self.reader.readuntil(b"\r\n\r\n"))).decode()
        first, *lines = head.strip().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        return int(first.split()[1]), headers

    async def answer(self) -> tuple[int, Any]:
        status, headers = await self.head()
        body = await within(self.reader.readexactly(int(headers.get("content-length", "0"))))
        return status, json.loads(body) if body else None

    async def until(self, text: bytes) -> None:
        await within(self.reader.readuntil(text))

    async def closed(self) -> bytes:
        rest: bytes = await within(self.reader.read())
        self.close()
        return rest

    def close(self) -> None:
        self.writer.close()
