"""A client without any code of ours: raw JSON to the behaviour tests' server, over stdio and over HTTP."""

import asyncio
import http.client
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from splice.protocol.lifecycle import META_PROTOCOL_VERSION
from splice.protocol.versions import FACTS
from support import behaving_server
from support.listening import listening
from support.program import Program, program
from support.warm import warm_python
from support.wire import JSON, initialize, note

Headers: TypeAlias = Mapping[str, str]


class OverStdio:
    """Writes lines to a process."""

    def __init__(self, process: Program) -> None:
        self._process = process

    @property
    def told(self) -> list[JSON]:
        """Everything the server wrote that answers no request."""
        return self._process.others

    async def ask(self, message: JSON) -> JSON:
        """Send a request; the response."""
        return await self._process.request(message)

    async def tell(self, message: JSON) -> None:
        """Send a notification or a response."""
        await self._process.send(message)


class OverHTTP:
    """Posts to a URL, each message on a connection of its own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = ""
        self.version = ""
        self.status = 0
        """Of the last response."""
        self.told: list[JSON] = []

    async def ask(self, message: JSON) -> JSON:
        """Send a request; the response."""
        *told, response = await self.post(message)
        self.told += told
        return response

    async def tell(self, message: JSON) -> None:
        """Send a notification or a response."""
        await self.post(message)

    async def post(self, message: JSON, **headers: str) -> list[JSON]:
        """Send a message with the headers it needs, or with others; all messages of the response."""
        fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        fields |= {name.replace("_", "-"): value for name, value in (self._headers(message) | headers).items()}
        answer, body = await asyncio.to_thread(self.send, "POST", fields, json.dumps(message).encode())
        if message.get("method") == "initialize":
            self.session = answer.headers["Mcp-Session-Id"]
            self.version = message["params"]["protocolVersion"]
        if "event-stream" not in answer.headers.get("Content-Type", ""):
            return [json.loads(body)] if body else []
        lines = (line for line in body.splitlines() if line.startswith(b"data:"))
        return [json.loads(line[5:]) for line in lines if line[5:].strip()]

    def _headers(self, message: JSON) -> dict[str, str]:
        params = message.get("params", {})
        version = params.get("_meta", {}).get(META_PROTOCOL_VERSION)
        if version is not None:
            named = {"Mcp-Name": params.get("name") or params.get("uri") or ""}
            fields = {"MCP-Protocol-Version": version, "Mcp-Method": message["method"]}
            return fields | {name: value for name, value in named.items() if value}
        if not self.session:
            return {}
        fields = {"MCP-Protocol-Version": self.version} if FACTS[self.version].version_header else {}
        return {"Mcp-Session-Id": self.session} | fields

    def send(self, method: str, headers: Headers, body: bytes = b"", path: str = "/mcp") -> tuple[Any, bytes]:
        """Send one HTTP request, on a thread of the caller's choice."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=10)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            self.status = answer.status
            return answer, answer.read()
        finally:
            connection.close()


Wire: TypeAlias = OverStdio | OverHTTP


@asynccontextmanager
async def wired(kind: str) -> AsyncIterator[Wire]:
    """Speak to a new server for the length of the block."""
    if kind == "stdio":
        async with program(behaving_server.__file__, python=warm_python()) as process:
            yield OverStdio(process)
    else:
        async with listening(behaving_server.build().http_app()) as url:
            yield OverHTTP(url)


async def opened(wire: Wire, version: str, **capabilities: JSON) -> JSON:
    """Open a session; the result of `initialize`."""
    response = await wire.ask(initialize(version, capabilities=capabilities))
    await wire.tell(note("notifications/initialized"))
    return response["result"]
