"""A server that a test writes down as functions, behind a link that remembers every message."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from splice.errors import ConnectionClosed, MethodNotFound, RPCError
from splice.protocol.jsonrpc import Notification, Request, Response, Success, decode, encode, failure, raw
from splice.transports.base import Answer, Heard, TransportKind, no_notice, no_request

NEWEST = "2026-07-28"
OLD = "2025-11-25"
SERVER_INFO = {"name": "scripted", "version": "1"}
CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {},
    "logging": {},
}

Method = Callable[..., Awaitable[Any]]


class ScriptedLink:
    """Gives each request to the method of that name, as JSON."""

    def __init__(self, target: "ScriptedTarget") -> None:
        self.on_request: Answer = no_request
        self.on_notice: Heard = no_notice
        self.heard: dict[Any, Heard] = {}
        self.closed = 0
        self._target = target

    async def exchange(self, request: Request, heard: Heard, headers: Mapping[str, str]) -> Response:
        message = {**json.loads(encode(request)), "headers": dict(headers)}
        self._target.sent.append(message)
        self.heard[request.id] = heard
        if self.closed:
            raise ConnectionClosed("The connection is closed")
        try:
            method: Method = self._target.methods.get(request.method, not_found)
            result = await method(message, self)
        except RPCError as error:
            return as_arrived(failure(request.id, error))
        return as_arrived(Success(request.id, result))

    async def notify(self, note: Notification) -> None:
        self._target.sent.append(json.loads(encode(note)))

    async def close(self) -> None:
        self.closed += 1

    async def tell(self, id: Any, method: str, params: Any = None) -> None:
        """Send a notification that belongs to a request."""
        await self.heard[id](Notification(method, raw(params or {})))

    async def tell_all(self, method: str, params: Any = None) -> None:
        """Send a notification that belongs to none."""
        await self.on_notice(Notification(method, raw(params or {})))


async def not_found(message: Any, link: ScriptedLink) -> Any:
    raise MethodNotFound("Method not found")


def as_arrived(response: Response) -> Response:
    message = decode(encode(response))
    assert isinstance(message, type(response))
    return message


class ScriptedTarget:
    """Makes links to one scripted server. Methods are `async def name(message, link)` and return the result."""

    kind: ClassVar[TransportKind] = "memory"
    name = "scripted"

    def __init__(self, **methods: Method) -> None:
        self.methods: dict[str, Method] = {name.replace("__", "/"): method for name, method in methods.items()}
        self.sent: list[dict[str, Any]] = []
        self.links: list[ScriptedLink] = []

    async def connect(self) -> ScriptedLink:
        self.links.append(ScriptedLink(self))
        return self.links[-1]

    def calls(self, method: str) -> list[dict[str, Any]]:
        return [message for message in self.sent if message["method"] == method]

    @property
    def link(self) -> ScriptedLink:
        return self.links[-1]


class StdioTarget(ScriptedTarget):
    kind: ClassVar[TransportKind] = "stdio"


class HTTPTarget(ScriptedTarget):
    kind: ClassVar[TransportKind] = "http"


async def discover(message: Any, link: ScriptedLink) -> Any:
    meta = {"io.modelcontextprotocol/serverInfo": SERVER_INFO}
    return {"supportedVersions": [NEWEST], "capabilities": CAPABILITIES, "instructions": "do", "_meta": meta}


async def initialize(message: Any, link: ScriptedLink) -> Any:
    return {
        "protocolVersion": message["params"]["protocolVersion"],
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER_INFO,
        "instructions": "do",
    }


def modern(kind: type[ScriptedTarget] = ScriptedTarget, **methods: Method) -> ScriptedTarget:
    return kind(server__discover=discover, **methods)


def legacy(kind: type[ScriptedTarget] = ScriptedTarget, **methods: Method) -> ScriptedTarget:
    return kind(initialize=initialize, **methods)


async def until(condition: Callable[[], Any]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - what a server has done is told by no event
            await asyncio.sleep(0.001)
