"""Listening: the MCP endpoint on a port of this machine, served by uvicorn.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import asyncio
import ipaddress
import socket
import sys
from collections.abc import Sequence
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from splice.transports.base import Service
from splice.transports.http_server import HTTPApp

DRAIN_SECONDS = 3
"""How long requests in flight may still run after SIGTERM or Ctrl-C."""

GATHER_BYTES = 64 * 1024
"""How much is gathered before it is written all the same."""


class _Gathering:
    """A transport whose writes of one turn of the event loop leave together: head and body in one system call."""

    __slots__ = ("_loop", "_parts", "_size", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size > GATHER_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            data = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Protocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol over such a transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(cast("asyncio.Transport", _Gathering(transport, self.loop)))


class _Listener(uvicorn.Server):
    """A uvicorn server that tells the app of the end before it waits for connections: streams must close first."""

    def __init__(self, config: uvicorn.Config, app: HTTPApp) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, end what the app has open, then let the connections go."""
        for each in self.servers:
            each.close()
        await self._app.stop(DRAIN_SECONDS)
        await super().shutdown(sockets)


async def serve_http(
    service: Service,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    path: str = "/mcp",
    allowed_hosts: Sequence[str] | None = None,
    **options: Any,
) -> None:
    """Serve at `http://host:port/path` until SIGTERM or Ctrl-C; port 0 means any free one. Says on stderr where.

    Raises `ValueError` for an address beyond this machine without `allowed_hosts`, `OSError` when it is taken.
    """
    if allowed_hosts is None and not _is_loopback(host):
        raise ValueError(
            f"listening on {host} lets other machines in: name the hosts clients will use, such as "
            "allowed_hosts=['mcp.example.com'], or listen on 127.0.0.1"
        )
    app = HTTPApp(service, path=path, allowed_hosts=allowed_hosts, **options)
    config = uvicorn.Config(
        app,
        http=_Protocol,
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=DRAIN_SECONDS,
        server_header=False,
        proxy_headers=False,
        ws="none",
    )
    with _bound(host, port) as listening:
        name = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"Serving MCP at http://{name}:{listening.getsockname()[1]}{path}\n")
        await _Listener(config, app).serve(sockets=[listening])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise OSError(error.errno, f"cannot listen on {host}:{port} ({error.strerror}); choose another port") from error


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
