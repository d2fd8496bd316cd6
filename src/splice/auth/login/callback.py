"""Where the browser comes back to: one page on this machine, for one login. And how a browser is opened.

The page is at one exact path under one exact host name, waits for the one `state` that was sent along, and shows
nothing of what came: neither a page that the user has open elsewhere nor a malicious server can write there.
Everything else is answered 404 and changes nothing.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations
https://www.rfc-editor.org/rfc/rfc8252#section-7.3
"""

import asyncio
import contextlib
import hmac
import inspect
import re
import socket
import sys
import threading
import webbrowser
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html import escape
from typing import Any, Self, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.steps import Browse, Redirect, Show
from splice.auth.login.urls import shown
from splice.protocol.uri import is_web
from splice.rules.http.origins import is_loopback

LOGIN_SECONDS = 300.0
"""How long the user may take."""

MAX_HEAD_BYTES = 32 * 1024
"""The largest head of a request that is read."""

HEAD_SECONDS = 10.0
"""How long a browser may take to send it."""

MAX_CONNECTIONS = 32
MAX_FIELDS = 32
"""How many parameters a redirect may have."""

PATH = "/callback"

_OPENABLE = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]{1,16384}")

Open: TypeAlias = Callable[[str], Any]
"""Lets the user visit a URL; `def` or `async def`."""

_STYLE = """:root { color-scheme: light dark }
body { margin: 0; min-height: 100dvh; box-sizing: border-box; padding: 24px 16px; display: flex; flex-direction: column;
align-items: center; justify-content: safe center; gap: 16px; font: .8125rem/1.25rem -apple-system, BlinkMacSystemFont,
"Segoe UI", "Inter", "Noto Sans", system-ui, sans-serif; color: light-dark(#14181c, #e9ecee);
background: light-dark(#f5f6f7, #0c0e10) }
.mark { display: flex; align-items: center; gap: 8px; margin: 0; font-size: .875rem; font-weight: 600 }
svg { width: 22px; height: 22px; fill: none; stroke: light-dark(#0a6377, #5fc6da); stroke-width: 1.9;
stroke-linecap: round; stroke-linejoin: round }
main { width: 100%; max-width: 440px; border-radius: 12px; background: light-dark(#fff, #191d20);
box-shadow: 0 0 0 1px light-dark(#e3e6e9, #262b30), 0 18px 48px light-dark(#14181c1a, #000b) }
h1 { margin: 0; padding: 16px 20px; font-size: 1.0625rem; line-height: 1.5rem; letter-spacing: -.011em;
border-bottom: 1px solid light-dark(#e3e6e9, #262b30) }
main p { margin: 0; padding: 18px 20px; text-wrap: pretty }"""
_MARK = "M2.5 6.5h3.8l7.4 7h3.8M2.5 13.5h3.8l2-1.9M11.7 8.4l2-1.9h3.8"
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,"><style>{style}</style>
<p class="mark"><svg viewBox="0 0 20 20" aria-hidden="true"><path d="{mark}"/></svg>Splice</p>
<main><h1>{title}</h1><p>{text}</p></main>
</html>
"""
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
_HEADERS = (
    "Content-Type: text/html; charset=utf-8\r\nContent-Length: {size}\r\nConnection: close\r\n"
    "Cache-Control: no-store\r\n"
    f"Content-Security-Policy: default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\nReferrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n\r\n"
)
_TAKEN = ("200 OK", "You can close this window", "The program that you came from goes on, and says how it went.")
_NOT_HERE = ("404 Not Found", "Nothing is here", "This address waits for the end of one login, and this is not it.")


class Callback:
    """The page for one login at a time. `port` is taken at once, 0: any; it answers only while a browser is away."""

    def __init__(self, port: int = 0) -> None:
        self._socket = _bound(port)
        self.redirect_uri = f"http://127.0.0.1:{self._socket.getsockname()[1]}{PATH}"
        """Where it is."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    async def visit(self, step: Browse, open_url: Open, seconds: float | None = None) -> Redirect:
        """Let the user open the URL of `step`, and wait for the browser to come back, unless given `LOGIN_SECONDS`.

        Raises `AuthorizationFailed` for a URL that must not be opened, and when nobody comes back in time.
        """
        check_openable(step.url)
        seconds = LOGIN_SECONDS if seconds is None else seconds
        visits = _Visits(step)
        served = await asyncio.start_server(visits.answer, sock=self._socket.dup(), limit=MAX_HEAD_BYTES)
        try:
            async with asyncio.timeout(seconds):
                await told_to(open_url, step.url, "browse")
                return await visits.came
        except TimeoutError:
            told = f"Nobody logged in at {urlsplit(step.url).netloc} within {seconds / 60:g} minutes"
            raise AuthorizationFailed(f"{told}; try again") from None
        finally:
            served.close()
            await visits.end()


class _Visits:
    """What browsers ask for while one login goes on."""

    def __init__(self, step: Browse) -> None:
        self._authority = urlsplit(step.redirect_uri).netloc
        self._path = urlsplit(step.redirect_uri).path
        self._state = dict(parse_qsl(urlsplit(step.url).query)).get("state", "")
        self._running: dict[asyncio.Task[Any], None] = {}
        """What is answered now, the oldest first."""
        self.came: asyncio.Future[Redirect] = asyncio.get_running_loop().create_future()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request. Never raises."""
        task = asyncio.current_task()
        if task is None:
            return
        if len(self._running) >= MAX_CONNECTIONS:  # who fills all places with silence must not keep the browser out
            oldest = next(iter(self._running))
            del self._running[oldest]
            oldest.cancel()
        self._running[task] = None
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                found = self._read(head.decode("latin-1"))
                if found is not None and not self.came.done():  # even if nobody is there to read the page
                    self.came.set_result(found)
                writer.write(_page(*(_NOT_HERE if found is None else _TAKEN)))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        except asyncio.CancelledError:  # by `end`, or for who came later; some versions of asyncio would log it
            pass
        finally:
            self._running.pop(task, None)
            writer.close()

    async def end(self) -> None:
        """Let go of all connections."""
        for each in self._running:
            each.cancel()
        if self._running:
            await asyncio.wait(self._running)

    def _read(self, head: str) -> Redirect | None:
        """Read the redirect that we wait for; None: it is anything else."""
        request, *lines = head.split("\r\n")
        method, _, rest = request.partition(" ")
        target, _, version = rest.partition(" ")
        path, _, query = target.partition("?")
        hosts = [line.partition(":")[2].strip().lower() for line in lines if line.lower().startswith("host:")]
        if method != "GET" or not version.startswith("HTTP/1.") or path != self._path or hosts != [self._authority]:
            return None
        try:
            found = parse_qsl(query, keep_blank_values=True, strict_parsing=True, max_num_fields=MAX_FIELDS)
        except ValueError:
            return None
        states = [value for name, value in found if name == "state"]
        is_ours = len(states) == 1 and hmac.compare_digest(states[0].encode("utf-8", "replace"), self._state.encode())
        return found if is_ours and self._state else None


async def told_to(function: Callable[[Any], Any], what: Any, name: str) -> None:
    """Call a function of the user's program, async or not. Raises `AuthorizationFailed` when it fails."""
    try:
        found = function(what)
        if inspect.isawaitable(found):
            await found
    except AuthorizationFailed:
        raise
    except Exception as error:
        told = f"The function given as {name}= raised {type(error).__name__}, so nobody could log in"
        raise AuthorizationFailed(told) from error


def check_openable(url: str) -> None:
    """Raise `AuthorizationFailed` unless a URL may be opened in a browser: https, or http to this machine."""
    parts = urlsplit(url) if _OPENABLE.fullmatch(url) and is_web(url) else None
    if parts is None or not (parts.scheme == "https" or is_loopback(parts.hostname or "")):
        raise AuthorizationFailed(f"{shown(url)} is not opened in a browser: it is neither https nor on this machine")


async def open_browser(url: str) -> None:
    """Open a URL in the browser of the system, without a shell, and say on stderr which it is: there may be none."""
    check_openable(url)
    tell(f"To log in, open this address in a browser on this machine, unless it opens by itself:\n  {url}")
    # Some browsers run for as long as they are open: a thread of the event loop would be waited for at the end.
    threading.Thread(target=_open, args=(url,), daemon=True).start()


def show_code(step: Show) -> None:
    """Say on stderr which code the user is to enter where."""
    direct = f"\nThis address has the code in it: {shown(step.complete_url)}" if step.complete_url else ""
    tell(f"To log in, open {shown(step.url)} on any device, and enter the code {shown(step.code)}.{direct}")


def tell(text: str) -> None:
    """Write to stderr, for the user."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _open(url: str) -> None:
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(url)


def _bound(port: int) -> socket.socket:
    """Take a port. It listens at once: others could take one too that is bound only. Raises `AuthorizationFailed`."""
    taken = socket.socket()
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen(MAX_CONNECTIONS)
    except OSError as error:
        taken.close()
        told = f"The browser cannot come back to port {port} of this machine: {error.strerror}"
        raise AuthorizationFailed(f"{told}; end what uses it, or let redirect_port= be another") from error
    return taken


def _page(status: str, title: str, text: str) -> bytes:
    body = _PAGE.format(title=escape(title), text=escape(text), style=_STYLE, mark=_MARK).encode()
    return f"HTTP/1.1 {status}\r\n{_HEADERS.format(size=len(body))}".encode() + body
