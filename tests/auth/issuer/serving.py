"""A local authorization server on a port of this machine, with a program and a browser that talk to it."""

import base64
import hashlib
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

import aiohttp
from yarl import URL

from splice.auth.issuer.local import LocalAuthorizationServer
from splice.auth.issuer.users import Cost
from support.listening import listening

CHEAP = Cost(n=2, r=1, p=1)
PASSWORD = "correct horse"
CALLBACK = "http://127.0.0.1/callback"
RESOURCE = "https://notes.example/mcp"
VERIFIER = secrets.token_urlsafe(48)
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Reply:
    """What came back."""

    def __init__(self, status: int, headers: Any, text: str, json: Any) -> None:
        self.status = status
        self.headers = headers
        self.text = text
        self.json = json

    @property
    def answer(self) -> dict[str, str]:
        """The parameters in the address that the browser is sent to."""
        return dict(parse_qsl(urlsplit(self.headers["location"]).query))

    @property
    def token(self) -> str:
        """The token in the form of a page."""
        found = re.search(r'name="token" value="([0-9a-f]+)"', self.text)
        assert found, self.text
        return found[1]


class Browser:
    """Sends requests, keeps cookies, follows nothing."""

    def __init__(self, base: str, session: aiohttp.ClientSession) -> None:
        self.base = base
        self._session = session

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def send(self, method: str, path: str, **options: Any) -> Reply:
        url = URL(path if path.startswith("http") else self.base + path, encoded=True)
        async with self._session.request(method, url, allow_redirects=False, **options) as got:
            text = await got.text()
            json = await got.json() if got.content_type == "application/json" else None
            return Reply(got.status, got.headers, text, json)

    async def get(self, path: str, **options: Any) -> Reply:
        return await self.send("GET", path, **options)

    async def post(self, path: str, **form: str) -> Reply:
        return await self.send("POST", path, data=form)

    async def fill(self, path: str, **form: str) -> Reply:
        """Open a page, and send its form."""
        page = await self.get(path)
        return await self.post(path, token=page.token, **form)

    async def sign_in(self, path: str, user: str = "anna", password: str = PASSWORD) -> Reply:
        return await self.fill(path, answer="login", user=user, password=password)


def browser(base: str) -> Browser:
    jar = aiohttp.CookieJar(unsafe=True)
    return Browser(base, aiohttp.ClientSession(cookie_jar=jar, timeout=aiohttp.ClientTimeout(total=10)))


class Served:
    """A server, and who talks to it."""

    def __init__(self, issuer: LocalAuthorizationServer, clock: Clock, anna: Browser) -> None:
        self.issuer = issuer
        self.clock = clock
        self.browser = anna
        self.get, self.post, self.send = anna.get, anna.post, anna.send

    def ask(self, **changes: str | None) -> str:
        """Make the address of an authorization request."""
        asked: dict[str, str | None] = {
            "response_type": "code",
            "client_id": "demo",
            "redirect_uri": CALLBACK,
            "state": "st",
            "scope": "read",
            "resource": RESOURCE,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        asked.update(changes)
        return f"/authorize?{urlencode({name: value for name, value in asked.items() if value is not None})}"

    async def code(self, **changes: str | None) -> str:
        """Let Anna sign in and allow what is asked for."""
        path = self.ask(**changes)
        reply = await self.browser.get(path)
        if reply.status == 200 and 'name="password"' in reply.text:
            await self.browser.sign_in(path)
            reply = await self.browser.get(path)
        if reply.status == 200:
            reply = await self.browser.post(path, token=reply.token, answer="allow")
        return reply.answer["code"]

    async def redeem(self, code: str, **changes: str) -> Reply:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "client_id": "demo",
            "code_verifier": VERIFIER,
            "resource": RESOURCE,
        }
        return await self.post("/token", **{**form, **changes})

    async def tokens(self, **changes: str | None) -> dict[str, Any]:
        reply = await self.redeem(await self.code(**changes))
        assert reply.status == 200, reply.text
        found: dict[str, Any] = reply.json
        return found

    async def refresh(self, token: str, **changes: str) -> Reply:
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "demo"}
        return await self.post("/token", **{**form, **changes})

    async def introspect(self, token: str) -> Any:
        headers = {"authorization": basic("api", SECRET)}
        return (await self.send("POST", "/introspect", data={"token": token}, headers=headers)).json


def basic(client_id: str, secret: str) -> str:
    """Return the header by which a client proves itself."""
    return f"Basic {base64.b64encode(f'{quote_plus(client_id)}:{quote_plus(secret)}'.encode()).decode()}"


SECRET = secrets.token_urlsafe(24)


@asynccontextmanager
async def serving(path: Any = ":memory:", *, beside: Any = None, **options: Any) -> AsyncIterator[Served]:
    """Serve an authorization server that knows Anna, a public client `demo` and a server `api` with a secret."""
    clock = Clock()
    held: list[LocalAuthorizationServer] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await (held[0] if beside is None else held[0].app(beside))(scope, receive, send)

    async with listening(app) as url:
        base = url.removesuffix("/mcp")
        given = {"users": {"anna": PASSWORD}, "password_cost": CHEAP, "clock": clock, **options}
        held.append(LocalAuthorizationServer(base, path, **given))
        await held[0].add_client("demo", redirect_uris=[CALLBACK, "https://app.example/back"], name="Demo <b>")
        await held[0].add_client("api", secret=SECRET)
        try:
            async with browser(base) as anna:
                yield Served(held[0], clock, anna)
        finally:
            await held[0].close()
