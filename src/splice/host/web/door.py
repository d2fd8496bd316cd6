"""Who may come in: the browser that opened the link of this start, from a page of ours, and nobody else.

A link has a token that is good once and becomes a cookie and a key. A page elsewhere cannot use the cookie: the
host it is sent to and the page it is sent from are checked, and no answer can be read, framed or kept elsewhere. DNS
rebinding ends at the check of the host. The cookie alone opens only the empty page: browsers send it to whoever
listens on any other port of this machine. The key stays in the page's own storage, which belongs to one port.
"""

import hmac
import secrets

from starlette.datastructures import URL, Headers, MutableHeaders, QueryParams
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CSRF = "x-splice-csrf"
"""The header with the key. What a browser fetches by itself, a stream or a file, has it as `key` in its address."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types splice"
)

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}

ICONS = "/static/icons.svg"
KEPT = {"cache-control": "max-age=3600"}
"""The browser keeps the icons: one that is first needed when Splice has gone is there."""

_ENTER = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="csrf" content="{key}">
<title>Splice</title><link rel="icon" href="/static/mark.svg"><link rel="stylesheet" href="/static/splice.css">
<script type="module" src="/static/enter.js"></script><p class="page">Opening Splice …"""

_CLOSED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Splice</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="/static/mark.svg">
<link rel="stylesheet" href="/static/splice.css"><link rel="stylesheet" href="/static/face.css">
<main class="stage closed"><div class="empty"><h1 class="ask-t">This page needs its link</h1>
<p>{why}</p><p class="t3">Start it again as you did, and open the address that it prints.</p>
</div></main>"""


class Door:
    """An ASGI application before another one, which sees only requests that may pass."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.token = ""
        """Opens the door, once; then it is empty."""
        self._port = port
        self.invite()
        self.csrf = secrets.token_urlsafe(32)
        self._app = app
        self._session = secrets.token_urlsafe(32)
        self._cookie = f"splice-{port}"  # cookies do not know ports
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    @property
    def link(self) -> str:
        """The address that opens the page."""
        return f"http://127.0.0.1:{self._port}/?token={self.token}"

    def invite(self) -> None:
        """Let one more browser in, by another token; one that was not used opens nothing any longer."""
        self.token = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it. What is not HTTP is the server's own."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS if scope["path"] != ICONS else HEADERS | KEPT)
            await send(message)

        await (self._refusal(scope) or self._app)(scope, receive, sealed)

    def _refusal(self, scope: Scope) -> Response | None:
        """Answer what may not pass; None: it may."""
        headers, path = Headers(scope=scope), str(scope["path"])
        if headers.get("host", "") not in self._hosts:
            return PlainTextResponse("This host name is not served here.", 421)
        if not self._is_ours(headers):
            return PlainTextResponse("Requests from other pages are refused.", 403)
        if path == "/" and scope["method"] == "GET" and scope["query_string"].startswith(b"token="):
            return self._enter(URL(scope=scope).query.removeprefix("token="))
        reads = scope["method"] in ("GET", "HEAD")
        if reads and path.startswith("/static/"):
            return None  # it is the same for everybody, and the pages of the door itself look well
        return self._unknown(scope, headers, is_page=reads and path == "/", reads=reads)

    def _unknown(self, scope: Scope, headers: Headers, *, is_page: bool, reads: bool) -> Response | None:
        """Answer who did not come in by the link, or does not come from our page."""
        if not self._is_known(headers):
            why = "You are not signed in to this start of Splice, or it was started anew."
            return HTMLResponse(_CLOSED.format(why=why), 403)
        if is_page:
            return None
        key = headers.get(CSRF) or (QueryParams(scope["query_string"]).get("key", "") if reads else "")
        return None if _same(key, self.csrf) else PlainTextResponse("The request lacks its key: open the link.", 403)

    def _is_ours(self, headers: Headers) -> bool:
        """Tell whether a request comes from a page of ours, or from no page."""
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "none")
        is_visit = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        if origin is not None and origin != f"http://{headers['host']}":
            return False
        return site in ("same-origin", "none") or is_visit

    def _enter(self, token: str) -> Response:
        if not (self.token and _same(token, self.token)):
            return HTMLResponse(_CLOSED.format(why="This link was used already: each one opens one browser."), 403)
        self.token = ""
        # Not a redirect: a strict cookie is not sent along with one from another page.
        answer = HTMLResponse(_ENTER.format(key=self.csrf))
        answer.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        return answer

    def _is_known(self, headers: Headers) -> bool:
        """Look for the session among all cookies: programs on other ports set some too, of our name and malformed."""
        given = f"{self._cookie}={self._session}"
        return any(_same(each.strip(), given) for each in headers.get("cookie", "").split(";"))


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
