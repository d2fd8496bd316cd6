"""Listening: the MCP endpoint on a port of this machine, served by uvicorn.

This leans on parts of uvicorn that are not documented: `HttpToolsProtocol` with `connection_made`, `connection_lost`,
`on_message_begin`, `transport` and `scope`, and `Server` with `config`, `servers` and `shutdown`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import asyncio
import ipaddress
import socket
import sys
from typing import Any, Unpack, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from splice.transports.base import Service
from splice.transports.http.app import DRAIN_SECONDS, HTTPApp, HTTPOptions, check_options
from splice.transports.http.reply import CONNECTION
from splice.transports.http.visits import Visit
from splice.transports.lines import Gather


class ListenOptions(HTTPOptions, total=False):
    """Options of an endpoint that listens on a port of its own."""

    host: str
    """The address to listen on, 127.0.0.1 by default. One beyond this machine needs `allowed_hosts`."""
    port: int
    """The port to listen on, 8000 by default; 0 means any free one."""


class _Connection(Gather):
    """A transport whose writes of one turn of the event loop leave together: head and body in one system call.

    uvloop alone makes it two, which costs a seventh more CPU per call. It tells the visit in
    progress when the connection is lost; a task per open stream would cost more memory.
    """

    __slots__ = ("_transport", "is_lost", "visit")

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport.write)
        self._transport = transport
        self.is_lost = False
        self.visit: Visit | None = None

    write = Gather.put

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def lose(self) -> None:
        """Note that the connection is lost."""
        self.is_lost = True
        if self.visit is not None:
            self.visit.leave()


class _Protocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol over such a connection. It has no attributes of its own: one more costs it 1.5 KB."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(cast("asyncio.Transport", _Connection(transport)))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast("dict[str, Any]", self.scope)[CONNECTION] = self.transport

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        cast("_Connection", self.transport).lose()


class _Listener(uvicorn.Server):
    """A uvicorn server that tells the app of the end before it waits for connections: streams must close first."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, end what the app has open, then let the connections go."""
        for each in self.servers:
            each.close()
        await cast("HTTPApp", self.config.app).stop()
        await super().shutdown(sockets)


async def serve_http(service: Service, **options: Unpack[ListenOptions]) -> None:
    """Serve at `http://host:port/path` until SIGTERM or Ctrl-C. Says on stderr where.

    Raises `ValueError` for an address beyond this machine without `allowed_hosts`, `OSError` when it is taken; and as
    `check_options`.
    """
    check_options(options, ListenOptions)
    host, port = options.pop("host", "127.0.0.1"), options.pop("port", 8000)
    if options.get("allowed_hosts") is None and not _is_loopback(host):
        raise ValueError(
            f"listening on {host} lets other machines in: name the hosts clients will use, such as "
            "allowed_hosts=['mcp.example.com'], or listen on 127.0.0.1"
        )
    options["path"] = path = options.get("path") or "/mcp"
    app = HTTPApp(service, **cast("HTTPOptions", options))
    config = uvicorn.Config(
        app,
        http=_Protocol,
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=int(DRAIN_SECONDS),
        server_header=False,
        proxy_headers=False,
        ws="none",
    )
    with _bound(host, port) as listening:
        name = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"Serving MCP at http://{name}:{listening.getsockname()[1]}{path}\n")
        await _Listener(config).serve(sockets=[listening])


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
