"""An ASGI client and a service for tests of the HTTP endpoint: no socket, no port, every step under control."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from splice.errors import InvalidRequest, MCPError, RPCError
from splice.protocol.jsonrpc import Notification, Request, Response, Success, failure, raw
from splice.protocol.methods import Method
from splice.protocol.resources import RESOURCES_READ
from splice.protocol.tools import TOOLS_CALL, TOOLS_LIST
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN, V2025_03_26
from splice.rules.eras import admit
from splice.rules.http.sse import Decoder
from splice.rules.principal import Principal
from splice.rules.sessions import Session
from splice.transports.base import Exchange, Sender, Service

MODERN, LEGACY, BATCHES = LATEST_MODERN, LATEST_HANDSHAKE, V2025_03_26
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
BASE = {"host": "localhost:8000", "content-type": "application/json", "accept": "application/json, text/event-stream"}

Tool = Callable[[Exchange], Awaitable[Any]]


def call(name: str, id: int | str = 1, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def modern(name: str, id: int | str = 1, **arguments: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Body and headers of a modern tool call."""
    body = call(name, id, **arguments)
    body["params"]["_meta"] = dict(META)
    return body, {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name}


class FakeService(Service):
    """Answers `initialize` as it comes; admits other requests as a server does, and runs `tools` by name."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {"echo": self._echo}
        self.rows: dict[str, Method[Any, Any]] = {row.name: row for row in (TOOLS_CALL, TOOLS_LIST, RESOURCES_READ)}
        self.heard: list[tuple[Notification, Sender]] = []
        self.opened: list[Session] = []
        self.closed: list[Session] = []
        self.requests: list[Request] = []
        self.senders: list[Sender] = []
        self.stopping = asyncio.Event()
        self.ended = False

    async def handle(self, exchange: Exchange) -> Response:
        request = exchange.request
        try:
            if request.method == "initialize" and exchange.sender.session is not None:
                return await self._initialize(exchange, exchange.sender.session)
            row = self.rows.get(request.method)
            admitted = admit(request, exchange.sender.session, row, exchange.confirm)
            assert row is not None
            self.requests.append(request)
            self.senders.append(exchange.sender)
            name = getattr(admitted.params, "name", request.method)
            return Success(request.id, await self.tools[name](exchange))
        except RPCError as error:
            return failure(request.id, error)
        except KeyError as error:
            return failure(request.id, RPCError(f"Method not found: {error}", code=-32601))
        except MCPError as error:
            return failure(request.id, RPCError(f"{type(error).__name__}: {error}"))

    async def _initialize(self, exchange: Exchange, session: Session) -> Response:
        if session.declared is not None:
            raise InvalidRequest("This session is initialized already")
        self.senders.append(exchange.sender)
        params = json.loads(bytes(exchange.request.params))
        if "name" in params:
            await self.tools[params["name"]](exchange)
        session.open(params["protocolVersion"])
        self.opened.append(session)
        session.ended = self.closed.append
        return Success(exchange.request.id, raw({"protocolVersion": params["protocolVersion"]}))

    async def _echo(self, exchange: Exchange) -> Any:
        return {"echo": json.loads(bytes(exchange.request.params)).get("arguments")}

    async def hear(self, note: Notification, sender: Sender) -> None:
        self.heard.append((note, sender))

    async def drain(self) -> None:
        self.stopping.set()

    async def close(self) -> None:
        self.ended = True


class Gate:
    """A tool that tells when it runs, waits to be let go on, and remembers how it ended."""

    def __init__(self, *notes: str) -> None:
        self.notes = notes
        self.entered = asyncio.Event()
        self.released = asyncio.Event()
        self.outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def __call__(self, exchange: Exchange) -> Any:
        for note in self.notes:
            await exchange.notify(Notification(note))
        self.entered.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.outcome.set_result("cancelled")
            raise
        self.outcome.set_result("done")
        return {"done": True}


async def within(work: Awaitable[Any]) -> Any:
    async with asyncio.timeout(5):
        return await work


async def nothing_runs_on() -> None:
    """Wait for every other task to end; none may have to be waited for long."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        _, pending = await asyncio.wait(others, timeout=1)
        assert pending == set()


class Call:
    """One HTTP request on its way."""

    def __init__(self, app: Any, scope: dict[str, Any], chunks: list[bytes], *, complete: bool = True) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.complete = asyncio.Event()
        self.sent: list[dict[str, Any]] = []
        self.broken = False
        self._news = asyncio.Event()
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        for place, chunk in enumerate(chunks, 1):
            more = place < len(chunks) or not complete
            self._inbox.put_nowait({"type": "http.request", "body": chunk, "more_body": more})
        self.task = asyncio.get_running_loop().create_task(app(scope, self._inbox.get, self._send))

    async def _send(self, message: dict[str, Any]) -> None:
        if self.broken:
            raise OSError("the client is gone")
        assert not self.complete.is_set(), "sent after the end"
        self.sent.append(message)
        if message["type"] == "http.response.start":
            assert self.status == 0, "started twice"
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            assert self.status, "a body before the start"
            self.body += message["body"]
            if not message.get("more_body"):
                self.complete.set()
                self._inbox.put_nowait({"type": "http.disconnect"})
        self._news.set()

    def more(self, chunk: bytes, *, last: bool) -> None:
        self._inbox.put_nowait({"type": "http.request", "body": chunk, "more_body": not last})

    def disconnect(self) -> None:
        self._inbox.put_nowait({"type": "http.disconnect"})

    @property
    def json(self) -> Any:
        assert self.headers["content-type"] == "application/json", self.body
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        assert self.headers["content-type"] == "text/event-stream"
        return [json.loads(event.data) for event in Decoder(2**24).feed(self.body) if event.data]

    async def until(self, condition: Callable[["Call"], Any]) -> "Call":
        async with asyncio.timeout(5):
            while not condition(self):
                self._news.clear()
                await self._news.wait()
        return self

    async def event(self, count: int = 1) -> Any:
        """Wait for so many events; return the last."""
        await self.until(lambda self: self.status and len(self.events) >= count)
        return self.events[count - 1]

    async def ended(self) -> "Call":
        await within(self.task)
        return self


class Browser:
    """Sends requests to an app."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.defaults: dict[str, str] = {}
        self.principal: str | None = None

    def begin(
        self, method: str, body: Any = b"", headers: Mapping[str, str | None] | None = None, **options: Any
    ) -> Call:
        fields = {**BASE, **self.defaults, **(headers or {})}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": options.pop("path", "/mcp"),
            "root_path": options.pop("root_path", ""),
            "query_string": options.pop("query_string", b""),
            "headers": [(name.encode(), value.encode()) for name, value in fields.items() if value is not None],
        }
        if self.principal is not None:
            scope["splice.principal"] = Principal(subject=self.principal)
        return Call(self.app, scope, options.pop("chunks", [data]), **options)

    async def send(
        self, method: str, body: Any = b"", headers: Mapping[str, str | None] | None = None, **options: Any
    ) -> Call:
        answer = await self.begin(method, body, headers, **options).ended()
        assert answer.complete.is_set(), "no complete answer"
        return answer

    async def post(self, body: Any, headers: Mapping[str, str | None] | None = None, **options: Any) -> Call:
        return await self.send("POST", body, headers, **options)

    async def initialize(self, version: str = LEGACY) -> str:
        """Open a session and use it from now on."""
        self.defaults = {}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": version}}
        answer = await self.post(body)
        assert answer.status == 200, answer.body
        self.defaults = {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": version}
        return answer.headers["mcp-session-id"]
