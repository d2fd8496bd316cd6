"""Calls a server object by hand, in any version, with nothing in between: what a handler does is all there is."""

import json
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Raw

from splice.errors import RPCError
from splice.protocol.jsonrpc import Notification, Request, Response, Success, encode, failure, raw
from splice.protocol.questions import ElicitParams
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE, VERSIONS, covers
from splice.rules.principal import Principal
from splice.rules.sessions import Session
from splice.server.server import Server
from splice.transports.base import Exchange, Sender
from support.wire import JSON, initialize, meta

ALL: JSON = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
"""Every capability there is."""

LEGACY = [version for version in VERSIONS if not FACTS[version].request_meta]
MODERN = [version for version in VERSIONS if FACTS[version].request_meta]
ASKING = [version for version in VERSIONS if covers(ElicitParams.span, version)]
"""Versions that may ask the user."""

Answers: TypeAlias = Callable[[str, JSON], JSON]
"""The client's side: what it answers to a method and its params. May raise `RPCError`, in the legacy era."""

MAX_ROUNDS = 10


class Failed(AssertionError):
    """The response was an error, and the test did not expect one."""


class Caller:
    """One client of a server."""

    def __init__(
        self, server: Server, version: str = LATEST_HANDSHAKE, *, can: JSON = ALL, answers: Answers | None = None
    ) -> None:
        self.server = server
        self.version = version
        self.modern = FACTS[version].request_meta
        self.can = can
        self.level: str | None = None
        self.notes: list[JSON] = []
        """What the server told on the streams of requests, in order."""
        self.pushed: list[JSON] = []
        """What it told a session."""
        self.asked: list[tuple[str, JSON]] = []
        """What it asked."""
        self.rounds = 0
        """How often the last request was sent."""
        self.last: Hand | None = None
        """The last exchange."""
        self.principal: str | None = None
        self.headers: dict[str, str] = {}
        self.kind = "memory"
        self.session = Session(push=self._push)
        self._answers = answers
        self._ids = 0

    async def open(self) -> "Caller":
        """Initialize, in the eras that have it."""
        if not self.modern:
            params = initialize(self.version, capabilities=self.can)["params"]
            result = await self.send("initialize", params)
            assert result["result"]["protocolVersion"] == self.version
            await self.server.service.hear(Notification("notifications/initialized"), self.sender)
        return self

    @property
    def sender(self) -> Sender:
        who = None if self.principal is None else Principal(subject=self.principal)
        return Sender(kind=self.kind, session=self.session, headers=self.headers, principal=who)

    def _push(self, note: Notification) -> None:
        self.pushed.append(json.loads(encode(note)))

    def answer(self, method: str, params: JSON) -> JSON:
        """Answer a question of the server's."""
        self.asked.append((method, params))
        if self._answers is None:
            raise AssertionError(f"nobody answers {method}")
        return self._answers(method, params)

    async def send(self, method: str, params: JSON = None, *, id: JSON = None) -> JSON:
        """Send one request as it is; the whole response."""
        self._ids += 1
        content = None if params is None else Raw(json.dumps(params).encode())
        request = Request(self._ids if id is None else id, method, content)
        self.last = Hand(self, request)
        try:
            response = await self.server.service.handle(self.last)
        finally:
            self.last.is_open = False
        message: JSON = json.loads(encode(response))
        return message

    async def request(self, method: str, params: JSON = None, *, token: JSON = None, **more: JSON) -> JSON:
        """Send a request, and again with answers as often as the server wants; the whole response."""
        content = {**(params or {}), **more}
        self.rounds = 0
        while True:
            response = await self.send(method, self.stamped(content, token))
            self.rounds += 1
            result = response.get("result", {})
            if result.get("resultType") != "input_required" or self.rounds >= MAX_ROUNDS:
                return response
            content = {**content, **self.retry(result)}

    def stamped(self, params: JSON, token: JSON = None) -> JSON:
        """Add what the version demands on every request."""
        if self.modern:
            return {**params, "_meta": meta(capabilities=self.can, level=self.level, token=token)}
        return params if token is None else {**params, "_meta": {"progressToken": token}}

    def retry(self, result: JSON) -> JSON:
        """Answer what a result asks for."""
        requests = result.get("inputRequests", {})
        return {
            "inputResponses": {
                key: self.answer(request["method"], request.get("params")) for key, request in requests.items()
            },
            "requestState": result["requestState"],
        }

    async def result(self, method: str, params: JSON = None, **more: JSON) -> JSON:
        """Send a request that must succeed; its result."""
        response = await self.request(method, params, **more)
        if "error" in response:
            raise Failed(response["error"])
        return response["result"]

    async def error(self, method: str, params: JSON = None, **more: JSON) -> JSON:
        """Send a request that must fail; its error."""
        response = await self.request(method, params, **more)
        assert "error" in response, response
        return response["error"]

    async def call(self, tool: str, arguments: JSON = None, *, token: JSON = None) -> JSON:
        """Call a tool; its result."""
        return await self.result("tools/call", {"name": tool, "arguments": arguments or {}}, token=token)

    async def text(self, tool: str, arguments: JSON = None, *, token: JSON = None) -> str:
        """Call a tool; the text of its result, which must be no error."""
        result = await self.call(tool, arguments, token=token)
        assert not result.get("isError"), result
        return text_of(result)

    def progress(self) -> list[float]:
        return [each["params"]["progress"] for each in self.notes if each["method"] == "notifications/progress"]

    def logged(self) -> list[JSON]:
        return [each["params"] for each in self.notes if each["method"] == "notifications/message"]


class Hand(Exchange):
    """An exchange held by a `Caller`."""

    def __init__(self, caller: Caller, request: Request) -> None:
        super().__init__(request, caller.sender)
        self._caller = caller
        self.is_open = True

    async def notify(self, note: Notification) -> None:
        message = json.loads(encode(note))
        if self.is_open:
            self._caller.notes.append(message)

    async def ask(self, method: str, params: JSON) -> Response:
        assert not self._caller.modern, "a modern client was sent a request"
        try:
            answer = self._caller.answer(method, None if params is None else json.loads(encode(params)))
        except RPCError as error:
            return failure(7, error)
        return Success(7, raw(answer))


def text_of(result: JSON) -> str:
    """Read all text of a tool's result."""
    return "\n".join(each["text"] for each in result["content"] if each["type"] == "text")


def fixed(*answers: JSON) -> Answers:
    """Answer in this order, whatever is asked."""
    left = list(answers)

    def answer(_method: str, _params: JSON) -> JSON:
        value: JSON = left.pop(0)
        if isinstance(value, Exception):
            raise value
        return value

    return answer


def accept(**content: JSON) -> JSON:
    """Write the answer of a user who fills in a form."""
    return {"action": "accept", "content": content}


DECLINE: JSON = {"action": "decline"}
CANCEL: JSON = {"action": "cancel"}


def said(text: str) -> JSON:
    """Write the answer of a model."""
    return {"role": "assistant", "content": {"type": "text", "text": text}, "model": "test", "stopReason": "endTurn"}
