"""Floor: HTTP/1.1 by hand on a uvloop protocol; also the fast server that clients are measured against."""

import asyncio
import re
import sys
from typing import cast

import uvloop

from bench.servers.answers import answer

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n%scontent-length: %d\r\n\r\n%s"
TAKEN = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"
NO_STREAM = b"HTTP/1.1 405 Method Not Allowed\r\nallow: POST\r\ncontent-length: 0\r\n\r\n"


class Responder(asyncio.Protocol):
    """Answers the requests of one connection."""

    def __init__(self) -> None:
        self._data = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            found = LENGTH.search(self._data, 0, end + 2)
            stop = end + 4 + (int(found[1]) if found else 0)
            if len(self._data) < stop:
                return
            head, body = self._data[:end], self._data[end + 4 : stop]
            self._data = self._data[stop:]
            assert self._transport is not None
            self._transport.write(self._respond(head, body))

    def _respond(self, head: bytes, body: bytes) -> bytes:
        if not head.startswith(b"POST"):
            return NO_STREAM
        reply = answer(body)
        session = b"mcp-session-id: floor\r\n" if b'"initialize"' in body else b""
        return OK % (session, len(reply), reply) if reply else TAKEN


async def main() -> None:
    options = dict(option.removeprefix("--").split("=") for option in sys.argv[1:])
    server = await asyncio.get_running_loop().create_server(Responder, "127.0.0.1", int(options["port"]))
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
