"""An MCP server that wants tokens, and the authorization server that issues them, on one port of this machine.

Both keep a record of what they were asked. The browser is a function that follows redirects.
"""

import asyncio
import base64
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from splice import Server
from support.listening import listening


class Scripted:
    """The two servers. Change the attributes to change what they do."""

    def __init__(self) -> None:
        server = Server("guarded")

        @server.tool
        def add(a: int, b: int) -> int:
            return a + b

        @server.tool
        def secret() -> str:
            return "42"

        self.service: Any = server.service
        self.mcp: Any = server.http_app(path="/mcp")
        self.origin = ""
        self.seen: Counter[str] = Counter()
        self.tokens: dict[str, set[str]] = {}
        """Which are good, and their scopes."""
        self.refresh_tokens: set[str] = set()
        self.codes: dict[str, dict[str, str]] = {}
        self.expires_in = 3600
        self.scope: str | None = None
        """What the challenge names."""
        self.needs: dict[str, str] = {}
        """Which tool needs which scope."""
        self.grants: set[str] | None = None
        """The only scopes that it grants; None: all, without saying so."""
        self.refuses_all = False
        self.denies = False
        self.refreshes = True
        self.token_gate: asyncio.Event | None = None
        """While it is clear, the token endpoint does not answer."""
        self.token_asked = asyncio.Event()
        self.forms: list[dict[str, str]] = []
        self._count = 0

    @property
    def url(self) -> str:
        return f"{self.origin}/mcp"

    def fresh(self, kind: str) -> str:
        self._count += 1
        return f"{kind}-{self._count}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.mcp(scope, receive, send)
        elif scope["path"] == "/mcp":
            await self.guard(scope, receive, send)
        else:
            self.seen[scope["path"]] += 1
            body = b""
            while True:
                event = await receive()
                body += event.get("body", b"")
                if not event.get("more_body"):
                    break
            status, headers, answer = await self.answer(scope, body)
            text = json.dumps(answer).encode()
            fields = [(b"content-type", b"application/json"), *((k.encode(), v.encode()) for k, v in headers.items())]
            await send({"type": "http.response.start", "status": status, "headers": fields})
            await send({"type": "http.response.body", "body": text})

    async def guard(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        given = headers.get("authorization", "").removeprefix("Bearer ")
        self.seen[f"mcp {headers.get('authorization', 'nothing')}"] += 1
        challenge = f'Bearer resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp"'
        needed = self.needs.get(headers.get("mcp-name", ""))
        if self.refuses_all or given not in self.tokens:
            status, challenge = 401, challenge + (f', scope="{self.scope}"' if self.scope else "")
        elif needed is not None and needed not in self.tokens[given]:
            status, challenge = 403, f'{challenge}, error="insufficient_scope", scope="{needed}"'
        else:
            await self.mcp(scope, receive, send)
            return
        self.seen[str(status)] += 1
        fields = [(b"www-authenticate", challenge.encode())]
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": b""})

    async def answer(self, scope: Any, body: bytes) -> tuple[int, dict[str, str], Any]:
        match scope["path"]:
            case "/.well-known/oauth-protected-resource/mcp":
                return 200, {}, {"resource": self.url, "authorization_servers": [self.origin]}
            case "/.well-known/oauth-authorization-server":
                endpoints = {f"{each}_endpoint": f"{self.origin}/{each}" for each in ("authorization", "token")}
                return (
                    200,
                    {},
                    {
                        "issuer": self.origin,
                        **endpoints,
                        "registration_endpoint": f"{self.origin}/register",
                        "code_challenge_methods_supported": ["S256"],
                        "token_endpoint_auth_methods_supported": ["none"],
                        "authorization_response_iss_parameter_supported": True,
                    },
                )
            case "/register":
                made = {"client_id": self.fresh("client"), "token_endpoint_auth_method": "none"}
                return 201, {}, {**json.loads(body), **made}
            case "/authorization":
                return self._authorize(dict(parse_qsl(scope["query_string"].decode())))
            case "/token":
                return await self._token(dict(parse_qsl(body.decode())))
            case _:
                return 404, {}, {}

    def _authorize(self, query: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        code = self.fresh("code")
        self.codes[code] = query
        back = {"state": query["state"], "iss": self.origin}
        back |= {"error": "access_denied", "error_description": "<b>no</b>"} if self.denies else {"code": code}
        return 302, {"location": f"{query['redirect_uri']}?{urlencode(back)}"}, {}

    async def _token(self, form: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        self.forms.append(form)
        self.token_asked.set()
        if self.token_gate is not None:
            await self.token_gate.wait()
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refresh_tokens:
                return 400, {}, {"error": "invalid_grant"}
            self.refresh_tokens.discard(form["refresh_token"])
            scopes = {"refreshed"}
        else:
            query = self.codes.pop(form["code"])
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            assert query["code_challenge"] == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            scopes = set(query.get("scope", "").split())
        token, refresh = self.fresh("access"), self.fresh("refresh")
        self.tokens[token] = scopes if self.grants is None else scopes & self.grants
        if self.refreshes:
            self.refresh_tokens.add(refresh)
        answer = {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": self.expires_in,
            "refresh_token": refresh,
            **({"scope": " ".join(scopes & self.grants)} if self.grants is not None else {}),
        }
        return 200, {}, answer


@asynccontextmanager
async def scripted() -> AsyncIterator[Scripted]:
    """Run both for the length of the block."""
    both = Scripted()
    async with listening(both) as url:
        both.origin = url.removesuffix("/mcp")
        await both.service.open()
        try:
            yield both
        finally:
            await both.mcp.stop(0.5)
            await both.service.close()


async def fetch(url: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Send a request as a browser does, without following what comes back."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    fields = {"host": parts.netloc, "connection": "close", **headers}
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1"))
    try:
        async with asyncio.timeout(5):
            answer = await reader.read()
    finally:
        writer.close()
    first, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = first.decode("latin-1").split("\r\n")
    found = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(status.split()[1]), found, body


class Browser:
    """Opens URLs, and follows where they lead."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.pages: list[bytes] = []

    async def __call__(self, url: str) -> None:
        self.opened.append(url)
        _, headers, _ = await fetch(url)
        _, _, page = await fetch(headers["location"])
        self.pages.append(page)
