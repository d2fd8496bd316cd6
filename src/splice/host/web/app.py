"""The web application: the page, what changes on the board as a stream, and the commands.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from splice.host.asked import Json
from splice.host.board import Batch
from splice.host.commands import carry_out
from splice.host.failing import HostError
from splice.host.records import exporting
from splice.host.telling import FACTS, KINDS, WAYS, told
from splice.host.text import one_line
from splice.host.web.showing import Showing, encoded

Kind = TypeVar("Kind")

STATIC = Path(__file__).with_name("static")

BEAT_SECONDS = 15.0
"""How often a stream without news shows that it lives."""

LOOK_SECONDS = 0.5
"""How often a stream looks whether the server ends."""

MAX_STREAMS = 32
"""How many pages may be open."""

MAX_BODY = 4 * 1024 * 1024
"""The largest request."""

BODY_SECONDS = 20.0
"""How long a request may take to arrive."""


MAX_RECORDS = 500
"""How many records of the activity log are read at once."""


class _Wanted(Struct, forbid_unknown_fields=True):
    """Which records of the activity log."""

    before: int | None = None
    count: Annotated[int, msgspec.Meta(ge=1, le=MAX_RECORDS)] = 200
    server: str = ""
    kind: str = ""
    words: str = ""


class _Checked(Struct, forbid_unknown_fields=True):
    """Values of a form, to be looked at."""

    question: str
    values: dict[str, Json]


class _Stream(StreamingResponse):
    """A stream of events. `left` is called when it is over, also if whoever wanted it left before it began."""

    def __init__(self, events: AsyncIterator[bytes], left: Callable[[], None]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._left()


class Web:
    """The application of one host. `is_over` says that the server ends."""

    def __init__(
        self, host: Any, is_over: Callable[[], bool], name: str = "", proposed: Mapping[str, Mapping[str, str]] = {}
    ) -> None:
        """Make it; `proposed` is what stands in the forms of prompts in the beginning, by ``server/name``."""
        self._proposed = escape(encoded(proposed).decode())
        self._host, self._is_over, self._name = host, is_over, name
        self._showing = Showing(host.board)
        self._streams = 0
        self.app = Starlette(
            routes=[
                Route("/", self.page),
                Route("/events", self.events),
                Route("/text", self.text),
                Route("/export", self.export),
                Route("/do/activity", self.activity, methods=["POST"]),
                Route("/do/check", self.check, methods=["POST"]),
                Route("/do/{name}", self.do, methods=["POST"]),
                Mount("/static", StaticFiles(directory=STATIC)),
            ]
        )

    async def page(self, request: Request) -> Response:
        """Answer with the page, which the modules of `static` fill."""
        theme = request.cookies.get("theme", "")
        chosen = f' data-theme="{theme}"' if theme in ("light", "dark") else ""
        filled = {"name": escape(self._name), "proposed": self._proposed, "words": _WORDS}
        return HTMLResponse(_PAGE.format(theme=chosen, **filled))

    async def events(self, request: Request) -> Response:
        """Stream what changes on the board after a number."""
        if self._streams >= MAX_STREAMS:
            return _refused(f"{MAX_STREAMS} pages are open already.", 503)
        number = request.headers.get("last-event-id") or request.query_params.get("since", "0")
        since = int(number) if number.isascii() and number.isdigit() and len(number) < 16 else 0
        self._streams += 1  # here, as many requests may come before the first stream begins
        return _Stream(self._stream(since), self._left)

    def _left(self) -> None:
        self._streams -= 1

    async def _stream(self, since: int) -> AsyncIterator[bytes]:
        changes = self._host.board.watch(since)
        next_batch = asyncio.ensure_future(anext(changes))
        try:
            yield b": the board\n\n"
            quiet = 0.0
            while not self._is_over():
                done, _ = await asyncio.wait({next_batch}, timeout=LOOK_SECONDS)
                quiet = 0.0 if done else quiet + LOOK_SECONDS
                if done:
                    batch: Batch = next_batch.result()
                    next_batch = asyncio.ensure_future(anext(changes))
                    yield b"id: %d\ndata: %s\n\n" % (batch.number, self._showing.batch(batch))
                elif quiet >= BEAT_SECONDS:
                    quiet = 0.0
                    yield b": still here\n\n"
        finally:
            next_batch.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await next_batch

    async def do(self, request: Request) -> Response:
        """Give the host a command."""
        try:
            given = await _body(request, dict[str, Json])
            return _answer(await carry_out(self._host, request.path_params["name"], given, by="web"))
        except HostError as error:
            return _refused(str(error), 400)

    async def check(self, request: Request) -> Response:
        """Say what is wrong with the values of a form."""
        try:
            given = await _body(request, _Checked)
        except HostError as error:
            return _refused(str(error), 400)
        return _answer(self._showing.problems(given.question, given.values))

    async def activity(self, request: Request) -> Response:
        """Answer with records of the activity log, each with what it is in words."""
        try:
            wanted = await _body(request, _Wanted)
        except HostError as error:
            return _refused(str(error), 400)
        records = self._host.activity.read(**msgspec.structs.asdict(wanted))
        return _answer([{"record": each, "told": told(each.kind, each.facts, each.turn)} for each in records])

    async def text(self, request: Request) -> Response:
        """Answer with a page of a long result."""
        asked = request.query_params
        try:
            page = self._showing.text(asked.get("call", ""), int(asked.get("block", "0")), int(asked.get("from", "0")))
        except (KeyError, ValueError):
            return _refused("This result is gone.", 404)
        return _answer(page)

    async def export(self, request: Request) -> Response:
        """Answer with the activity log as a file, the newest first: JSON lines, or a page of HTML."""
        as_page = request.query_params.get("as") == "html"
        name = f"splice-activity.{'html' if as_page else 'jsonl'}"
        return StreamingResponse(
            self._page_of_records() if as_page else self._records(_line),
            media_type="text/html; charset=utf-8" if as_page else "application/jsonl",
            headers={"content-disposition": f'attachment; filename="{name}"'},
        )

    async def _page_of_records(self) -> AsyncIterator[bytes]:
        yield exporting.TOP.encode()
        async for rows in self._records(_row):
            yield rows
        yield exporting.END.encode()

    async def _records(self, written: Callable[[Any], bytes]) -> AsyncIterator[bytes]:
        before: int | None = None
        while records := self._host.activity.read(before=before, count=200):
            yield b"".join(map(written, records))
            before = records[-1].number
            await asyncio.sleep(0)


def _line(record: Any) -> bytes:
    return encoded(record) + b"\n"


def _row(record: Any) -> bytes:
    return exporting.row(record).encode(errors="replace")


async def _body(request: Request, kind: type[Kind]) -> Kind:
    """Read a request's JSON. Raises `HostError` when it is none, does not fit, is too large or too slow."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HostError("A command is JSON.")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY:
                    raise HostError(f"The request has more than {MAX_BODY // 1024 // 1024} MB.")
        return msgspec.json.decode(bytes(body) or b"{}", type=kind)
    except (TimeoutError, ClientDisconnect) as error:
        raise HostError("The request did not arrive whole.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HostError(f"The request was malformed: {one_line(str(error))[:300]}") from error


def _answer(value: Any) -> Response:
    return Response(encoded(value), media_type="application/json")


def _refused(why: str, status: int) -> Response:
    return Response(encoded({"error": why}), status, media_type="application/json")


_WORDS = escape(encoded({"kinds": KINDS, "ways": WAYS, "facts": FACTS}).decode())
"""What the page names of the activity log."""

_PAGE = """<!doctype html>
<html lang="en"{theme}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="project" content="{name}">
<meta name="proposed" content="{proposed}">
<meta name="words" content="{words}">
<title>Splice</title>
<link rel="icon" href="/static/mark.svg">
<link rel="stylesheet" href="/static/splice.css">
<link rel="stylesheet" href="/static/face.css">
<script type="module" src="/static/main.js"></script>
</head>
<body><div id="root"><noscript>This page needs JavaScript, all of it from this computer.</noscript></div></body>
</html>
"""
