"""The page where bookings are paid: a link with a token that nobody can guess, on this machine.

Payments never pass through a client of the protocol: the user is sent here. Over HTTP the server itself shows the page,
as a route beside its endpoint; on stdio a small listener on the loopback interface does. No money moves.
"""

import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from splice import HTTPRequest

from . import bookings

PATH = "/pay"
MAX_BODY = 10_000
"""How many bytes a form may have that somebody sends here."""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 17px/1.5 sans-serif; max-width: 32em; margin: 4em auto; padding: 0 1em }}
button {{ font: inherit; padding: .5em 1.5em }}</style></head>
<body><h1>{title}</h1><p>{text}</p>{form}</body></html>
"""
_FORM = '<form method="post"><input type="hidden" name="id" value="{token}"><button>Pay ${amount}</button></form>'
_ENDED = {
    "confirmed": ("Paid", "Booking {reference} is confirmed. You may close this page."),
    "expired": ("Too late", "Booking {reference} was not paid in time. Nothing was charged."),
    "released": ("Not booked", "Booking {reference} was given up. Nothing was charged."),
    "cancelled": ("Cancelled", "Booking {reference} is cancelled."),
}


class Page(NamedTuple):
    """An answer to a browser. It is an ASGI application, too, as routes may return one."""

    status: int
    html: str

    @property
    def headers(self) -> dict[str, str]:
        """What is said of the page: it is nobody's but the user's, and has no scripts."""
        return {
            "content-type": "text/html; charset=utf-8",
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        }

    async def __call__(self, _scope: Any, _receive: Any, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        """Answer an ASGI request."""
        headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.html.encode()})


class Payments:
    """Shows the page. `told` hears the token of each payment that was made here, on any thread."""

    def __init__(self, path: Path, told: Callable[[str], None], clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._told = told
        self._clock = clock
        self._listener: ThreadingHTTPServer | None = None
        self._lock = threading.Lock()

    def url(self, token: str, headers: Mapping[str, str]) -> str:
        """Give the link to pay: at the server that a request with these headers came to, or at the listener."""
        host = headers.get("host") or f"127.0.0.1:{self._listen()}"
        return f"http://{host}{PATH}?id={token}"

    async def answer(self, request: HTTPRequest) -> Page:
        """Answer at the route of the server itself."""
        return self.page(request.method, request.query, request.body)

    def page(self, method: str, query: Mapping[str, str], body: bytes) -> Page:
        """Show what is to be paid, or take the payment."""
        is_payment, now = method == "POST", self._clock()
        fields = parse_qs(body[:MAX_BODY].decode("latin-1")) if is_payment else {}
        token = fields.get("id", [query.get("id", "")])[0]
        booking = bookings.find_payment(self._path, token, now)
        if is_payment and booking is not None and booking.status == "held":
            booking = bookings.pay(self._path, token, now)
            self._told(token)
        if booking is None:
            return _page(404, "Nothing to pay", "There is no such payment. Look at the link again.")
        if booking.status != "held":
            title, text = _ENDED[booking.status]
            return _page(200, title, escape(text.format(reference=booking.reference)))
        amount, what = f"{booking.cents / 100:,.2f}", escape(str(booking.details.get("title", "")))
        form = _FORM.format(token=escape(token), amount=amount)
        return _page(200, "Pay your booking", f"{what}: ${amount}, booking {escape(booking.reference)}.", form)

    @property
    def port(self) -> int:
        """Where the listener listens; 0 if it does not."""
        return 0 if self._listener is None else int(self._listener.server_port)

    def close(self) -> None:
        """Stop listening."""
        with self._lock:
            if self._listener is not None:
                self._listener.shutdown()
                self._listener.server_close()
                self._listener = None

    def _listen(self) -> int:
        """Begin to listen, unless it does; give the port."""
        with self._lock:
            if self._listener is None:
                handler = type("Handler", (_Handler,), {"payments": self})
                self._listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
                self._listener.daemon_threads = True
                threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True).start()
            return self.port


class _Handler(BaseHTTPRequestHandler):
    payments: Payments
    timeout = 10

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        size = self.headers.get("content-length", "")
        if not size.isdecimal() or int(size) > MAX_BODY:
            self.send_error(413)
            return
        self._answer(self.rfile.read(int(size)))

    def _answer(self, body: bytes) -> None:
        port = self.payments.port
        if self.headers.get("host") not in {f"127.0.0.1:{port}", f"localhost:{port}"}:
            self.send_error(421)  # a page elsewhere let its name lead here
            return
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        page = self.payments.page(self.command, query if parts.path == PATH else {}, body)
        html = page.html.encode()
        self.send_response(page.status)
        for name, value in {**page.headers, "content-length": str(len(html))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(html)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the line would have the token in it."""


def _page(status: int, title: str, text: str, form: str = "") -> Page:
    return Page(status, _PAGE.format(title=escape(title), text=text, form=form))
