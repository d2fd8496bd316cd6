"""Listening: the MCP endpoint on a port of this machine, served by uvicorn.

What a client sends before the endpoint sees it is bounded here, in size and in time: uvicorn reads a head of any
length, for ever, and takes the trailers of a body for headers. An app under another server has only that one's bounds.

This leans on parts of uvicorn that are not documented: the callbacks of `HttpToolsProtocol` with its `transport`,
`parser`, `_should_upgrade`, `scope`, `headers`, `url`, `cycle` and `timeout_keep_alive_task`, and
`Server` with `config`, `servers`, `shutdown`, `capture_signals` and `should_exit`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import asyncio
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Unpack, cast

import uvicorn
from httptools import HttpParserError, HttpParserUpgrade
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from splice.errors import InvalidRequest
from splice.protocol import jsonrpc
from splice.rules.http.origins import is_loopback
from splice.rules.options import checked
from splice.transports import base, lines, processes
from splice.transports.http import visits
from splice.transports.http.app import DRAIN_SECONDS, LISTEN_OPTIONS, HTTPApp, ListenOptions

MAX_HEAD_BYTES = 64 * 1024
"""The largest head of a request; also of what comes with a body and is not body (chunk extensions, trailers)."""

MAX_FIELDS = 100
"""How many header fields a request may have."""

HEAD_SECONDS = 10.0
"""How long a client may take to send a head: after it connected, or after the first byte of its next request."""

SMALL_BYTES = 8 * 1024
"""Up to here it does not matter how much of what arrived with the end of a head belongs to it."""

FRAME_BYTES = 16
"""How much may stand around each piece of a body that comes in chunks."""

_TOO_LARGE = f"The head of the request has more than {MAX_HEAD_BYTES} bytes or {MAX_FIELDS} fields"


class _Connection(lines.Gather):
    """A transport whose writes of one turn of the event loop leave together: head and body in one system call.

    uvloop alone makes it two, which costs a seventh more CPU per call. It tells the visit in
    progress when the connection is lost; a task per open stream would cost more memory.
    """

    __slots__ = ("_transport", "due", "held", "visit")

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport.write)
        self._transport = transport
        self.visit: visits.Visit | None = None
        self.held = 0
        """How many bytes came that are no body, nor the head of a request that is being answered."""
        self.due = 0.0
        """When the head that is awaited must be complete; 0.0 while none is."""

    write = lines.Gather.put

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Protocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol over such a connection, with bounds on what is neither request nor body.

    It has no attributes of its own: one more costs it 1.5 KB.
    """

    parser: Any
    transport: _Connection  # type: ignore[assignment]  # as `connection_made` has it

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(cast("asyncio.Transport", _Connection(transport)))
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        if self.transport.visit is not None:
            self.transport.visit.leave()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and refuse what is too large or too slow."""
        connection = self.transport
        connection.held += len(data)
        self._unset_keepalive_if_required()
        try:
            self._parse(data)
        except (HttpParserError, HttpParserUpgrade):
            self._refuse(400, "Invalid HTTP request")
        if connection.held > MAX_HEAD_BYTES:
            self._refuse(431, _TOO_LARGE)
        elif not self.cycle or self.cycle.response_complete:
            self._await_head()

    def _parse(self, data: bytes) -> None:
        """Parse; a request that wishes for another protocol, whose body the parser skips, once more without the wish.

        Java's HTTP client wishes for HTTP/2 with its first request.
        """
        while data:
            try:
                self.parser.feed_data(data)
                break
            except HttpParserUpgrade as upgrade:
                data = data[upgrade.args[0] :]
                method, version = self.parser.get_method(), self.parser.get_http_version().encode()
                fields = [b"%s: %s\r\n" % field for field in self.headers if field[0] != b"upgrade"]
                head = b"%s %s HTTP/%s\r\n%s\r\n" % (method, self.url, version, b"".join(fields))
                self.parser.feed_data(head)  # CONNECT is a wish by itself: then this raises

    def _should_upgrade(self) -> bool:
        return True  # so that nothing happens until it is parsed again

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        connection, fields = self.transport, self.headers
        size = connection.held
        if size > SMALL_BYTES:  # a part of it may be body
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in fields)
        if size > MAX_HEAD_BYTES or len(fields) > MAX_FIELDS:
            self._refuse(431, _TOO_LARGE)
            raise ValueError(_TOO_LARGE)  # tells the parser to read no more
        connection.held -= size
        connection.due = 0.0
        self.scope[visits.CONNECTION] = connection  # type: ignore[literal-required]  # a key of our own
        HttpToolsProtocol.on_headers_complete(self)
        self.headers = []  # trailers go here: they are not headers

    def on_body(self, body: bytes) -> None:
        connection = self.transport
        if connection.held:
            connection.held = max(connection.held - len(body) - FRAME_BYTES, 0)
        HttpToolsProtocol.on_body(self, body)

    def _await_head(self) -> None:
        """Give the client until `due` to send a head. The timer is uvicorn's own, which whatever arrives ends."""
        if not self.transport.is_closing():
            self.transport.due = self.transport.due or self.loop.time() + HEAD_SECONDS
            self.timeout_keep_alive_task = self.loop.call_at(self.transport.due, self._give_up)

    def _give_up(self) -> None:
        if self.transport.held:
            self._refuse(408, f"The head of the request did not arrive in {HEAD_SECONDS:.0f} seconds")
        else:
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        """Close the connection, with an error unless an answer has begun."""
        if self.transport.is_closing():
            return
        if not self.cycle or self.cycle.response_complete or not self.cycle.response_started:
            body = jsonrpc.encode(jsonrpc.failure(None, InvalidRequest(message)))
            head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
            self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()


class Listener(uvicorn.Server):
    """A uvicorn server that tells the app of the end before it waits for connections: streams must close first."""

    def __init__(self, app: Any) -> None:
        config = uvicorn.Config(
            app, http=_Protocol, ws="none", lifespan="on", log_level="warning", access_log=False,
            server_header=False, proxy_headers=False, timeout_graceful_shutdown=int(DRAIN_SECONDS),
        )  # fmt: skip
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Exit at the first signal that asks for it."""
        with processes.stop_signals(partial(setattr, self, "should_exit", True)):
            yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, end what the app has open, then let the connections go."""
        for each in self.servers:
            each.close()
        if isinstance(self.config.app, HTTPApp):
            await self.config.app.stop()
        await super().shutdown(sockets)


async def serve_http(service: base.Service, **options: Unpack[ListenOptions]) -> None:
    """Serve at `http://host:port/path` until SIGTERM or Ctrl-C. Says on stderr where.

    Raises `ValueError` for an address beyond this machine without `allowed_hosts`, `OSError` when it is taken, what
    `service.open` raises, before it listens, and what `checked` raises.
    """
    given = checked("HTTP", options, LISTEN_OPTIONS)
    host, port = given.pop("host", "127.0.0.1"), given.pop("port", 8000)
    if "allowed_hosts" not in given and not is_loopback(host):
        raise ValueError(
            f"listening on {host} lets other machines in: name the hosts clients will use, such as "
            "allowed_hosts=['mcp.example.com'] (--allowed-host mcp.example.com), or listen on 127.0.0.1"
        )
    path = given.setdefault("path", "/mcp")
    app = HTTPApp(service, **given)
    await service.open()
    try:
        with bound(host, port) as listening:
            name = f"[{host}]" if ":" in host else host
            with suppress(OSError, AttributeError):  # it was closed from the start, nobody reads it, its disk is full
                sys.stderr.write(f"Serving MCP at http://{name}:{listening.getsockname()[1]}{path}\n")
            await serve_app(app, listening)
    finally:
        await service.close()


async def serve_app(app: Any, listening: socket.socket) -> None:
    """Serve an ASGI application, with its lifespan, until SIGTERM or Ctrl-C."""
    await Listener(app).serve(sockets=[listening])


def bound(host: str, port: int) -> socket.socket:
    """Listen. Raises `OSError` that says where and what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise OSError(error.errno, f"cannot listen on {host}:{port} ({error.strerror}); choose another port") from error
