"""A server that a test writes down as functions, behind a link that remembers every message."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from splice.errors import ConnectionClosed, MethodNotFound, RPCError
from splice.protocol.jsonrpc import Notification, Request, Response, Success, decode, encode, failure, raw
from splice.protocol.versions import Facts
from splice.transports.base import Hear, Link, Outgoing, Receiver

NEWEST = "2026-07-28"
OLD = "2025-11-25"
SERVER_INFO = {"name": "scripted", "version": "1"}
CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {},
    "logging": {},
    "completions": {},
}

DONE: dict[str, Any] = {"content": [{"type": "text", "text": "done"}]}

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

Method = Callable[..., Awaitable[Any]]


class ScriptedLink(Link):
    """Gives each request to the method of that name, as JSON."""

    def __init__(self, target: "ScriptedTarget", receiver: Receiver) -> None:
        self.receiver = receiver
        self.heard: dict[Any, Hear] = {}
        self.story: list[str] = []
        self.closed = 0
        self._target = target

    def agree(self, facts: Facts | None) -> None:
        self.story.append(f"agree {facts and facts.version}")

    async def listen(self) -> None:
        self.story.append("listen")

    async def exchange(self, outgoing: Outgoing) -> Response:
        message = json.loads(encode(Request(outgoing.id, outgoing.method, outgoing.params)))
        message.update(name=outgoing.name, mirrored=dict(outgoing.mirrored))
        self._target.sent.append(message)
        self.story.append(outgoing.method)
        self.heard[outgoing.id] = outgoing.hear
        if self.closed:
            raise ConnectionClosed("The connection is closed")
        try:
            method: Method = self._target.methods.get(outgoing.method, not_found)
            result = await method(message, self)
        except RPCError as error:
            return as_arrived(failure(outgoing.id, error))
        return as_arrived(Success(outgoing.id, result))

    async def notify(self, note: Notification) -> None:
        self._target.sent.append(json.loads(encode(note)))
        self.story.append(note.method)

    async def close(self) -> None:
        self.closed += 1

    async def tell(self, id: Any, method: str, params: Any = None) -> None:
        """Send a notification that belongs to a request."""
        await self.heard[id](Notification(method, raw(params or {})))

    async def tell_all(self, method: str, params: Any = None) -> None:
        """Send a notification that belongs to none."""
        await self.receiver.hear(Notification(method, raw(params or {})))

    async def ask(self, method: str, params: Any = None) -> Response:
        """Send a request, as a server may within a session."""
        return as_arrived(await self.receiver.answer(Request("asked", method, None if params is None else raw(params))))


async def not_found(message: Any, link: ScriptedLink) -> Any:
    raise MethodNotFound("Method not found")


def as_arrived(response: Response) -> Response:
    message = decode(encode(response))
    assert isinstance(message, type(response))
    return message


class ScriptedTarget:
    """Makes links to one scripted server. Methods are `async def name(message, link)` and return the result."""

    kind = "memory"
    name = "scripted"

    def __init__(self, **methods: Method) -> None:
        self.methods: dict[str, Method] = {name.replace("__", "/"): method for name, method in methods.items()}
        self.sent: list[dict[str, Any]] = []
        self.links: list[ScriptedLink] = []

    async def connect(self, receiver: Receiver) -> ScriptedLink:
        self.links.append(ScriptedLink(self, receiver))
        return self.links[-1]

    def calls(self, method: str) -> list[dict[str, Any]]:
        return [message for message in self.sent if message["method"] == method]

    @property
    def link(self) -> ScriptedLink:
        return self.links[-1]


class StdioTarget(ScriptedTarget):
    kind = "stdio"


class OwnTarget(ScriptedTarget):
    """A target of a user's own kind."""

    kind = "unix"


class HTTPTarget(ScriptedTarget):
    kind = "http"


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


class Listenable(ScriptedTarget):
    """A server that acknowledges what it is asked for, and listens until told to stop."""

    def __init__(self, **capabilities: Any) -> None:
        super().__init__(server__discover=self.discovered, subscriptions__listen=self.listen)
        self.capabilities = {**CAPABILITIES, **capabilities}
        self.honours: Any = None
        self.open: dict[Any, asyncio.Future[Any]] = {}
        self.by_pipe = False

    async def discovered(self, message: Any, link: Any) -> Any:
        return {**await discover(message, link), "capabilities": self.capabilities}

    async def listen(self, message: Any, link: ScriptedLink) -> Any:
        id, wanted = message["id"], message["params"]["notifications"]
        self.open[id] = asyncio.get_running_loop().create_future()
        meta = {"io.modelcontextprotocol/subscriptionId": id}
        try:
            if self.honours is not False:
                tell = link.receiver.hear if self.by_pipe else link.heard[id]
                await self.note(tell, ACKNOWLEDGED, {"_meta": meta, "notifications": self.honours or wanted})
            return await self.open[id]
        finally:
            del self.open[id]

    async def note(self, tell: Any, method: str, params: Any) -> None:
        await tell(Notification(method, raw(params)))

    def filters(self) -> list[Any]:
        return [message["params"]["notifications"] for message in self.calls(LISTEN)]

    async def tell_change(self, method: str, params: Any = None) -> None:
        for id in list(self.open):
            meta = {"io.modelcontextprotocol/subscriptionId": id}
            await self.link.tell(id, method, {**(params or {}), "_meta": meta})


class ListenableStdio(Listenable):
    kind = StdioTarget.kind


class ListenableHTTP(Listenable):
    kind = HTTPTarget.kind


def returning(value: Any) -> Any:
    """Make a method that answers with this result."""

    async def method(message: Any, link: Any) -> Any:
        return value

    return method


def raising(error: BaseException) -> Any:
    """Make a method that fails with this error."""

    async def method(message: Any, link: Any) -> Any:
        raise error

    return method


async def forever(message: Any, link: Any) -> Any:
    await asyncio.Event().wait()


async def until(condition: Callable[[], Any]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - what a server has done is told by no event
            await asyncio.sleep(0.001)
