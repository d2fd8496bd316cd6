"""A guarded server and those who call it, without a socket."""

import json
from typing import Any

from splice import Context, Server
from splice.auth.guard.guard import Auth, AuthOptions
from splice.auth.guard.keys import StaticTokens
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN
from splice.rules.principal import Principal
from support.wire import meta
from transports.asgi import Browser, Call

ISSUER = "https://login.example"
ADA, EVE, ROOT = "ada-token", "eve-token", "root-token"
TOKENS = {
    ADA: Principal(subject="ada", scopes=frozenset({"read"})),
    EVE: Principal(subject="eve", scopes=frozenset({"read"})),
    ROOT: Principal(subject="root", scopes=frozenset({"read", "write"})),
}

METHODS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def auth(verifier: Any = None, **options: Any) -> Auth:
    said: AuthOptions = {"authorization_servers": [ISSUER], **options}  # type: ignore[typeddict-item]  # tests err
    return Auth(verifier or StaticTokens(TOKENS), **said)


def server(given: Auth | None = None) -> Server:
    made = Server("shop", auth=given or auth())

    @made.tool
    async def who(ctx: Context) -> str:
        """Tell who calls."""
        return "nobody" if ctx.principal is None else ctx.principal.subject

    return made


class Guest(Browser):
    """Calls with a token, in one of the two eras."""

    def __init__(self, app: Any, token: str | None = ADA, version: str = LATEST_MODERN) -> None:
        super().__init__(app)
        self.token, self.version = token, version

    def begin(self, method: str, body: Any = b"", headers: Any = None, **options: Any) -> Call:
        said = {} if self.token is None else {"authorization": f"Bearer {self.token}"}
        return super().begin(method, body, {**said, **(headers or {})}, **options)

    @property
    def is_modern(self) -> bool:
        return self.version == LATEST_MODERN

    def message(self, method: str, params: Any = None, id: int = 1) -> tuple[dict[str, Any], dict[str, str]]:
        """Write a request and its headers."""
        said = dict(params or {})
        if not self.is_modern:
            return {"jsonrpc": "2.0", "id": id, "method": method, "params": said}, {}
        headers = {"mcp-protocol-version": self.version, "mcp-method": method}
        if method in METHODS:
            headers["mcp-name"] = said[METHODS[method]]
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**said, "_meta": meta()}}, headers

    async def ask(self, method: str, params: Any = None) -> Call:
        """Send a request; up to 2025-11-25 in a session."""
        if not self.is_modern and "mcp-session-id" not in self.defaults:
            await self.initialize(LATEST_HANDSHAKE)
        return await self.post(*self.message(method, params))

    async def result(self, method: str, params: Any = None) -> Any:
        answer = await self.ask(method, params)
        assert answer.status == 200, answer.body
        message = json.loads(answer.body) if answer.headers["content-type"] == "application/json" else answer.events[-1]
        return message["result"]

    async def code(self, method: str, params: Any = None) -> tuple[int, int, str]:
        """Give status, code and message of an error."""
        answer = await self.ask(method, params)
        error = answer.json["error"]
        return answer.status, error["code"], error["message"]
