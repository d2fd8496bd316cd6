"""The web face without a browser: who may come in, what is sent, and how text of others is rendered."""

import asyncio
import json
from typing import Any

import pytest

from splice.host.board import Board
from splice.host.items import Block, Message
from splice.host.web import app as web_app
from splice.host.web.app import Web
from splice.host.web.door import CSRF, Door
from splice.host.web.rendering import blocks
from splice.host.web.showing import Showing, pieces
from support import scenes
from support.stage import Stage
from support.tables import rows

HOST = {"host": "127.0.0.1:8123"}


class Visitor:
    """Asks the application, as a server for HTTP would."""

    def __init__(self, stage: Stage | None = None) -> None:
        self.stage = stage or Stage()
        self.is_over = False
        self.door = Door(Web(self.stage, is_over=lambda: self.is_over).app, 8123)
        self.cookie = ""

    async def ask(
        self, path: str, method: str = "GET", body: bytes = b"", **fields: str
    ) -> tuple[int, dict[str, str], bytes]:
        path, _, query = path.partition("?")
        named = HOST | {name.replace("_", "-"): value for name, value in fields.items()}
        if self.cookie:
            named.setdefault("cookie", self.cookie)
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
            "server": ("127.0.0.1", 8123),
        }
        sent: list[Any] = []
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            if parts:
                return parts.pop()
            await asyncio.sleep(5)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.door(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], headers, b"".join(each.get("body", b"") for each in sent[1:])

    async def enter(self) -> None:
        _, headers, _ = await self.ask(f"/?token={self.door.token}")
        self.cookie = headers["set-cookie"].partition(";")[0]


async def test_the_token_is_good_once_and_becomes_a_strict_cookie() -> None:
    visitor = Visitor()
    assert (await visitor.ask("/"))[0] == 403
    token = visitor.door.token
    assert visitor.door.link == f"http://127.0.0.1:8123/?token={token}"
    assert (await visitor.ask(f"/?token={token}", "HEAD"))[0] == 403  # somebody who only looks does not use it up
    status, headers, body = await visitor.ask(f"/?token={token}")
    assert status == 200
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(headers["set-cookie"].split("; "))
    assert token.encode() not in body
    assert [(await visitor.ask(f"/?token={each}"))[0] for each in (token, "")] == [403, 403]
    visitor.cookie = headers["set-cookie"].partition(";")[0]
    assert (await visitor.ask("/export"))[0] == 403  # the cookie alone opens only the empty page
    others = 'a[0]={"b": 1}; splice-8123=tossed'  # of programs on other ports
    status, headers, body = await visitor.ask("/", cookie=f"{others}; {visitor.cookie}; theme=dark")
    assert status == 200
    assert b'data-theme="dark"' in body
    assert headers["cache-control"] == "no-store"
    assert "script-src 'self';" in headers["content-security-policy"]


async def test_each_invitation_lets_one_more_browser_in_and_ends_the_one_before() -> None:
    visitor = Visitor()
    first = visitor.door.token
    visitor.door.invite()
    second = visitor.door.token
    assert [(await visitor.ask(f"/?token={each}"))[0] for each in (first, second, second)] == [403, 200, 403]
    visitor.door.invite()
    assert [(await visitor.ask(f"/?token={each}"))[0] for each in (second, visitor.door.token)] == [403, 200]


async def test_the_browser_keeps_the_icons_and_nothing_else() -> None:
    visitor = Visitor()
    for path, kept in (("icons.svg", "max-age=3600"), ("main.js", "no-store")):
        assert (await visitor.ask(f"/static/{path}"))[1]["cache-control"] == kept


@rows(
    ("fields", "status"),
    [
        ({}, 200),
        ({"host": "evil.example:8123"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": ""}, 421),
        ({"origin": "http://127.0.0.1:9"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:8123"}, 200),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"cookie": "splice-8123=guessed"}, 403),
        ({"cookie": "splice-8123=\u00e9"}, 403),
        ({"csrf": ""}, 403),
        ({"csrf": "guessed"}, 403),
        ({"content_type": "text/plain"}, 400),
        ({"body": "[" * 100_000}, 400),
        ({"body": '{"text": "\\ud800"}'}, 400),
        ({"body": '{"now": true}'}, 400),
        ({"body": "a" * (4 * 1024 * 1024 + 1)}, 400),
    ],
)
async def test_only_the_page_commands(fields: dict[str, str], status: int) -> None:
    visitor = Visitor()
    await visitor.enter()
    given = {"content_type": "application/json", **fields}
    body = given.pop("body", "{}").encode()
    given[CSRF.replace("-", "_")] = given.pop("csrf", visitor.door.csrf)
    assert (await visitor.ask("/do/stop", "POST", body, **given))[0] == status
    assert len(visitor.stage.told) == (status == 200)


async def test_the_board_is_streamed_from_a_number_on_and_ends_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_app, "LOOK_SECONDS", 0.01)
    stage = Stage()
    scenes.mid_turn(stage)
    visitor = Visitor(stage)
    await visitor.enter()
    before = stage.board.number
    stage.board.put(scenes.model_says(50, "half \ud800 a pair, **bold**"))
    asyncio.get_running_loop().call_later(0.05, setattr, visitor, "is_over", True)
    _, headers, body = await visitor.ask(f"/events?key={visitor.door.csrf}", last_event_id=str(before))
    assert headers["content-type"].startswith("text/event-stream")
    (data,) = [line for line in body.splitlines() if line.startswith(b"data: ")]
    batch = json.loads(data.removeprefix(b"data: "))
    assert not batch["everything"]
    (event,) = batch["events"]
    assert event["item"]["html"] == ['<p>half <span class="esc">U+D800</span> a pair, <strong>bold</strong></p>\n']


async def test_forms_are_checked_results_read_on_and_the_log_exported() -> None:
    stage = Stage()
    scenes.form(stage)
    scenes.records(stage, 3)
    stage.board.put(scenes.call(51, "travel", "x", result=[Block("text", "a" * 5_000_000)]))
    visitor = Visitor(stage)
    await visitor.enter()
    named = {"content_type": "application/json", CSRF.replace("-", "_"): visitor.door.csrf}
    asked = {"question": "question:3", "values": {"email": "anna@"}}
    _, _, body = await visitor.ask("/do/check", "POST", json.dumps(asked).encode(), **named)
    assert set(json.loads(body)) == {"confirmBooking", "email"}
    _, _, body = await visitor.ask("/text?call=call:51&block=0&from=4999990", "GET", b"", **named)
    assert json.loads(body)["text"] == "a" * 10
    assert (await visitor.ask("/text?call=call:51&block=7&from=0", "GET", b"", **named))[0] == 404
    assert (await visitor.ask("/text?call=call:51&block=x", "GET", b"", **named))[0] == 404
    _, _, body = await visitor.ask("/do/activity", "POST", b'{"count": 1, "words": "searchFlights"}', **named)
    [found] = json.loads(body)
    assert found["record"]["number"] == 3
    assert found["told"] == {
        "text": "searchFlights was called in 1 s, 3 bytes came back: the rule travel/*.",
        "name": "searchFlights",
        "word": "The rule travel/*",
    }
    _, _, body = await visitor.ask("/export", "GET", b"", **named)
    assert [json.loads(line)["number"] for line in body.splitlines()] == [3, 2, 1]


def test_what_is_shown_is_bounded_but_what_is_decided_is_whole() -> None:
    board = Board()
    long = "a\n\n" * 2_000_000
    board.put(scenes.call(1, "travel", "x", arguments={"a": long}, result=[Block("text", long)]))
    board.put(Message(id="message:2", chat="c", role="model", text=long))
    call, message = json.loads(Showing(board).batch(board.since()))["events"]
    assert call["item"]["arguments"]["a"] == long
    assert len(json.dumps(call["item"]["result"])) < 1_000_000
    assert len(json.dumps(message)) < 1_000_000


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](/do/stop)", "<p>x</p>"),
        ("[x](//evil.example)", "<p>x</p>"),
        ("![y](http://evil.example/?q=1)", '<p><span class="chip">picture from evil.example not loaded</span> y</p>'),
        ("![y](data:image/svg+xml,x)", "<p>![y](data:image/svg+xml,x)</p>"),
        ("&#x202e;", '<p><span class="esc">U+202E</span></p>'),
        ("# A", "<h3>A</h3>"),
        ("<a href=//e.example onclick=x>", "<p>&lt;a href=//e.example onclick=x&gt;</p>"),
    ],
)
def test_markdown_is_rendered_without_what_acts(text: str, html: str) -> None:
    assert "".join(blocks(text)).strip() == html


@pytest.mark.parametrize("text", ["[" * 5_000_000, "*a " * 2_000_000, "`" * 3 + "a`" * 2_000_000, "![a](<b" * 500_000])
def test_rendering_takes_no_longer_for_hostile_text(text: str) -> None:
    assert sum(map(len, blocks(text))) < 1_000_000


@pytest.mark.parametrize(
    ("url", "cut"),
    [
        ("https://e.example/a", ["https://", "e.example", "/a"]),
        ("http://a@e.example:8/b?c", ["http://a@", "e.example", ":8/b?c"]),
        ("https://[::1]:8/", ["https://", "[::1]", ":8/"]),
        ("mailto:a@b", ["mailto:a@b", "", ""]),
        ("https://[", ["https://[", "", ""]),
    ],
)
def test_an_address_is_cut_around_its_host(url: str, cut: list[str]) -> None:
    assert pieces(url) == cut


def test_what_a_server_says_of_itself_is_bounded_with_a_word_about_the_rest() -> None:
    board = Board()
    long = "A" * 1_000_000
    schema = {"type": "object", "properties": {long: {"title": long, "description": long}}}
    board.put(scenes.tool("travel", "x", title=long, description=long, claims=[long], schema=schema))
    board.put(Message(id="message:2", chat="c", role="host", text="crashed", server=long))
    written = Showing(board).batch(board.since())
    assert len(written) < 100_000
    tool, _ = (each["item"] for each in json.loads(written)["events"])
    assert tool["title"] == f"{'A' * 500}… (999,500 more characters)"


async def test_a_burst_of_streams_is_bounded_and_leaves_nothing_behind() -> None:
    visitor = Visitor()
    await visitor.enter()
    path = f"/events?key={visitor.door.csrf}"
    for _ in range(2):
        visitor.is_over = False
        asking = [asyncio.ensure_future(visitor.ask(path)) for _ in range(web_app.MAX_STREAMS + 10)]
        await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
        visitor.is_over = True
        found = [status for status, _, _ in await asyncio.gather(*asking)]
        assert sorted(found) == [200] * web_app.MAX_STREAMS + [503] * 10
