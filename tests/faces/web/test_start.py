"""The first minutes on the page: the first run, adding servers, what runs, what is said on the wire; short words."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # it has no types
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page, Route, expect

from faces.web.engine import engine
from faces.web.face import served, still
from splice.host.asked import Trust
from splice.host.connecting.wire import Message as Sent
from splice.host.items import Model, Notice, Output, Settings
from splice.host.looks import Look
from support import scenes
from support.stage import Stage, open_chat

ODD = "uvx --from travel-server==2.3.1 travel-server --profile 'my own' --offers https://offers.example.com/v2/feed"
NOTES = """
from splice import Server

server = Server("notes")


@server.tool
def write(text: str) -> str:
    return text


server.run()
"""


NEITHER = "it has neither a command nor a URL"


def first(stage: Stage) -> None:
    """Show a host that nobody has used yet."""
    open_chat(stage)
    stage.board.put(Model(id="model:demo", label="Demo model (no AI)", is_ai=False, is_chosen=True, window=128_000))
    stage.board.put(Settings(id="settings:now", values={"welcomed": False, "model": "", "models": []}))


def elsewhere(stage: Stage) -> None:
    """Show what another host has: one to take, one that is here, one that is broken."""
    words = ["npx", "-y", "server-filesystem", "/home/you"]
    asked = Trust(" ".join(words), words, "~/.cursor/mcp.json", "/home/you", ignored=["alwaysAllow: *"])
    taken = replace(asked, fingerprint="ab" * 32)
    stage.others = [
        Look(name="files", asked=taken, scope="user", host="cursor", host_title="Cursor"),
        Look(name="travel", asked=asked, scope="user", host="cursor", host_title="Cursor", is_known=True),
        Look(
            name="bad",
            asked=replace(asked, words=[]),
            scope="user",
            host="claude",
            host_title="Claude",
            problem=NEITHER,
        ),
    ]


def wire(stage: Stage) -> None:
    """Show what went to a server and came from it."""
    scenes.servers(stage)
    evil = "\x1b[31mred\u202e<b>"
    said: list[tuple[Any, dict[str, Any]]] = [
        ("to", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "book", "arguments": {}}}),
        ("from", {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": evil}}),
        ("from", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no seats"}}),
    ]
    sent = [Sent(n, 1_718_000_000 + n / 4, way, json.dumps(each), cut=False) for n, (way, each) in enumerate(said, 1)]
    stage.wire["travel"] = [*sent, Sent(4, 1_718_000_002, "from", '{"jsonrpc": "2.0", "resu', cut=True)]
    stage.board.put(Output(id="output:travel", server="travel", messages=4))


def more(stage: Stage) -> None:
    """Let one more message go to it."""
    stage.wire["travel"].append(Sent(5, 1_718_000_003, "to", '{"jsonrpc": "2.0", "method": "ping"}', cut=False))
    stage.board.change("output:travel", messages=5)


def told(stage: Stage) -> None:
    """Say five things in passing."""
    for number in range(5):
        stage.board.put(Notice(id=f"notice:{number}", text=f"word {number}"))


def taking_clicks(dialog: Locator) -> None:
    """Wait until what has only just appeared takes clicks."""
    expect(dialog.locator("footer[data-fresh]")).to_have_count(0)


def findings(page: Page) -> list[Any]:
    found = Axe().run(page).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found if each["impact"] in ("serious", "critical")]


def test_the_first_run_takes_three_steps_and_comes_once(browser: Browser) -> None:
    with served(first) as face:
        page = face.opened(browser)
        expect(page.get_by_role("heading", name="Which model answers?")).to_be_visible()
        expect(page.get_by_role("radio", checked=True)).to_contain_text("Demo model · no AI, offline")
        expect(page.locator(".keys")).to_contain_text(re.compile("OPENAI_API_KEY.*not set.*ANTHROPIC_API_KEY.*set"))
        assert page.locator("input").count() == 0  # a key is not typed here
        assert face.told("set") == [{"name": "welcomed", "value": True}]
        assert face.stage.named("find_models") == []  # nothing is looked for unasked
        page.get_by_role("button", name="Look for models on this computer").click()
        expect(page.get_by_role("status").filter(has_text="Nothing answered")).to_be_visible()
        page.get_by_role("button", name="Next: servers").click()
        expect(page.get_by_role("heading", name="What may it use?")).to_be_focused()
        page.reload()  # it goes on where it was
        expect(page.get_by_role("heading", name="What may it use?")).to_be_visible()
        page.get_by_role("button", name="Go on without servers").click()
        page.get_by_role("button", name="Begin the first chat").click()
        expect(page.get_by_role("textbox", name="Message")).to_be_focused()
        page.reload()
        expect(page.get_by_role("textbox", name="Message")).to_be_visible()
        page.goto(f"{face.origin}/#/settings")
        page.get_by_role("button", name="Show the first steps").click()
        page.get_by_role("button", name="Skip the set-up").click()
        expect(page.get_by_role("textbox", name="Message")).to_be_visible()
        assert not face.faults


@pytest.mark.parametrize("used", [scenes.servers, lambda stage: stage.board.change("chat:1", turn=2)])
def test_who_has_used_it_sees_no_first_run(browser: Browser, used: Any) -> None:
    with served(first, used) as face:
        expect(face.opened(browser).get_by_role("textbox", name="Message")).to_be_visible()


def test_the_first_run_fits_and_reads_well(browser: Browser) -> None:
    with served(first, elsewhere) as face:
        page = face.opened(browser)
        steps = page.locator(".first .primary")
        for _ in range(3):
            still(page)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                still(page)
                assert findings(page) == []
            for width in (320, 768, 1280):
                page.set_viewport_size({"width": width, "height": 760})
                still(page)
                assert page.evaluate("document.documentElement.scrollWidth") <= width
            steps.click()
        assert not face.faults


def test_a_server_is_added_by_its_command_after_it_was_looked_at(browser: Browser) -> None:
    with served(scenes.empty) as face:
        page = face.opened(browser, "/servers")
        page.get_by_role("button", name="Add server").first.click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Command, address, or JSON").fill("uvx 'not closed")
        dialog.get_by_role("button", name="Look at it").click()
        expect(dialog.get_by_role("alert")).to_contain_text("quotation mark is not closed")
        dialog.get_by_label("Command, address, or JSON").fill(ODD)
        expect(dialog.get_by_label("Name here")).to_have_attribute("placeholder", "travel")
        dialog.get_by_role("button", name="Look at it").click()
        expect(dialog.get_by_role("heading", name="Start “travel”?")).to_be_focused()  # no button is
        expect(dialog).to_contain_text("7f3a 91c2 e05b 4d18")
        assert face.stage.named("add_server") == []
        taking_clicks(dialog)
        dialog.get_by_role("button", name="Trust and start “travel”").click()
        expect(dialog).to_have_count(0)
        (added,) = face.told("add_server")
        assert added["entry"]["args"][3:5] == ["--profile", "my own"]
        assert face.told("start_server") == [{"name": "travel"}]


def test_pasted_json_is_looked_at_server_by_server(browser: Browser) -> None:
    pasted = {"mcpServers": {"mail": {"url": "https://mail.example.com/mcp"}, "notes": {"command": "notes"}}}
    with served(scenes.empty) as face:
        page = face.opened(browser, "/servers")
        page.get_by_role("button", name="Add server").first.click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Command, address, or JSON").fill(json.dumps(pasted))
        dialog.get_by_role("button", name="Look at it").click()
        expect(dialog).to_contain_text("It connects to exactly this")
        expect(dialog).to_contain_text("1 of 2")
        taking_clicks(dialog)
        dialog.get_by_role("button", name="Skip it").click()
        expect(dialog).to_contain_text("Start “notes”?")
        taking_clicks(dialog)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert face.stage.named("add_server") == []


def test_keys_write_into_every_field_that_waits_for_enter(browser: Browser) -> None:
    with served(scenes.servers) as face:
        page = face.opened(browser, "/servers")
        page.get_by_role("button", name="Add server").first.click()
        dialog = page.get_by_role("dialog")
        for label in ("Command, address, or JSON", "Name here"):
            field = dialog.get_by_label(label)
            field.press_sequentially("uvx mapss")
            field.press("Backspace")
            expect(field).to_have_value("uvx maps")
        dialog.get_by_role("button", name="Cancel").click()
        page.goto(f"{face.origin}/#/settings")
        fields = page.locator("main input[type=text], main input:not([type])")
        assert fields.count() > 2
        for number in range(fields.count()):
            fields.nth(number).fill("")
            fields.nth(number).press_sequentially("12")
            expect(fields.nth(number)).to_have_value("12")


def test_a_name_is_proposed_while_it_is_typed_and_an_answer_that_is_overtaken_counts_no_more(browser: Browser) -> None:
    with served(scenes.servers) as face:
        page = face.opened(browser, "/servers")
        page.get_by_role("button", name="Add server").first.click()
        dialog = page.get_by_role("dialog")
        typed, name = dialog.get_by_label("Command, address, or JSON"), dialog.get_by_label("Name here")
        with page.expect_response("**/do/read_servers"):
            typed.fill(r"C:\Apps\node.exe C:\srv\post.js")
        expect(name).to_have_attribute("placeholder", "post")
        held: list[Route] = []
        page.route("**/do/read_servers", lambda route: held.append(route) if not held else route.continue_())
        with page.expect_request("**/do/read_servers"):
            typed.fill("uvx slow")
        typed.fill("uvx travel")
        expect(name).to_have_attribute("placeholder", "travel-2")  # there is a server travel
        with page.expect_response("**/do/read_servers") as late:
            held[0].continue_()
        assert late.value.json()[0]["name"] == "slow"
        expect(name).to_have_attribute("placeholder", "travel-2")
        typed.fill('{"servers": {"mail\u202e": {"command": "uvx"}}}')
        expect(dialog).to_contain_text("only if the JSON has none")
        expect(name).to_have_attribute("placeholder", "mailU+202E")
        typed.fill("")
        expect(name).to_have_attribute("placeholder", "travel")
        typed.fill('{"servers": [')
        dialog.get_by_role("button", name="Look at it").click()
        expect(dialog.get_by_role("alert")).to_contain_text("This is not JSON: line 1, column 14")
        typed.fill("\u3164")
        dialog.get_by_role("button", name="Look at it").click()
        expect(dialog.get_by_role("alert")).to_contain_text("Give it a name.")
        assert not face.faults


def test_servers_of_another_host_are_ticked_and_looked_at(browser: Browser) -> None:
    with served(scenes.empty, elsewhere) as face:
        page = face.opened(browser, "/servers")
        page.get_by_role("button", name="Import from another host").first.click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("checkbox")).to_have_count(1)  # the others cannot be taken, and say why
        dialog.get_by_role("checkbox", name="files").click()
        dialog.get_by_role("button", name="Look at it").click()
        expect(dialog).to_contain_text("npx -y server-filesystem /home/you")
        expect(dialog).to_contain_text("alwaysAllow: *. Ignored")
        taking_clicks(dialog)
        dialog.get_by_role("button", name="Trust and start “files”").click()
        expect(dialog).to_have_count(0)
        assert face.told("import_server") == [{"host": "cursor", "name": "files", "fingerprint": "ab" * 32}]


def test_messages_of_a_server_are_shown_both_ways(browser: Browser) -> None:
    with served(scenes.empty, wire) as face:
        page = face.opened(browser, "/servers/travel")
        page.get_by_role("tab", name="Messages").click()
        rows = page.locator(".msg-h")
        expect(rows).to_have_count(4)
        expect(rows.nth(0)).to_contain_text("tools/call book")
        expect(rows.nth(2)).to_contain_text("tools/call no seats")  # an answer has the name of what it answers
        expect(rows.nth(2)).to_contain_text("500 ms")
        rows.nth(1).click()
        expect(page.get_by_role("region", name="Message")).to_contain_text("U+202E<b>")
        rows.nth(3).click()
        expect(page.locator(".msg").nth(3)).to_contain_text("Longer than 64 KiB")
        page.get_by_role("button", name="To it", exact=True).click()
        expect(rows).to_have_count(1)
        face.do(more)
        expect(rows).to_have_count(2)
        assert findings(page) == []
        assert not face.faults


def test_the_configuration_says_exactly_what_runs_and_why_it_may(browser: Browser) -> None:
    with served(scenes.empty, scenes.servers) as face:
        page = face.opened(browser, "/servers/travel")
        page.get_by_role("tab", name="Configuration").click()
        expect(page.get_by_role("region", name="Command")).to_have_text("python travel_server.py")
        page.get_by_role("button", name="Withdraw").click()
        page.get_by_role("button", name="Open log").click()
        expect(page).to_have_url(re.compile("#/activity"))
        assert face.told("withdraw_trust") == [{"name": "travel"}]


def test_a_notice_goes_by_itself_but_not_while_it_is_read(browser: Browser) -> None:
    with served(scenes.empty) as face:
        page = face.opened(browser)
        page.clock.install()
        page.reload()
        face.do(told)
        toasts = page.locator(".toast")
        expect(toasts).to_have_count(3)
        toasts.last.hover()
        page.clock.run_for(6_500)
        expect(toasts).to_have_text(["word 4"])
        page.mouse.move(5, 5)
        page.clock.run_for(1_500)
        expect(toasts).to_have_count(0)


def test_who_was_left_is_told_how_to_come_back(browser: Browser) -> None:
    with served(scenes.empty) as face:
        page = face.opened(browser)
        page.get_by_role("textbox", name="Message").fill("kept")
        face.door.csrf = "of another start"
        face.break_streams()
        banner = page.locator(".banner")
        expect(banner).to_contain_text("It was started anew: open the link that splice host web printed.")
        expect(page.get_by_role("textbox", name="Message")).to_have_value("kept")
        page.evaluate("document.querySelector('.banner button').focus()")
        expect(page.get_by_role("button", name="Send")).to_be_disabled()


def test_settings_are_ticked_and_wrong_values_are_told_where_they_stand(browser: Browser, tmp_path: Path) -> None:
    with engine(tmp_path, {}) as running:
        page = running.opened(browser)
        page.evaluate("location.hash = '#/settings'")
        limits = page.locator("section", has_text="Calls in a turn")
        field = page.get_by_label("Calls in a turn", exact=False).first
        field.fill("40")
        field.press("Enter")
        expect(limits.get_by_text("Saved")).to_be_visible()
        assert running.host.settings["max_calls"] == 40
        page.get_by_label("Tokens in a turn", exact=False).fill("50,000")
        page.get_by_label("Tokens in a turn", exact=False).press("Enter")
        expect(limits.get_by_text("Saved")).to_have_count(2)
        assert running.host.settings["max_turn_tokens"] == 50_000
        field.fill("5000")
        field.press("Enter")
        expect(page.locator("#max_calls-error")).to_contain_text("must be a number from 1 to 1000")
        assert page.locator("div:has(> #max_calls-error)").get_by_text("Saved").count() == 0, (
            "it was saved before, not now"
        )
        page.get_by_label("What every model is told first").fill("Be short.")
        page.get_by_role("heading", name="Data").click()
        expect(page.locator("section", has_text="told first").get_by_text("Saved")).to_be_visible()
        page.get_by_role("button", name="Delete all chats…").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete all chats").click()
        expect(page.locator(".toast")).to_contain_text("1 chat deleted")
        assert running.host.settings["instructions"] == "Be short."


def test_a_server_runs_once_it_was_looked_at_and_its_messages_are_seen(browser: Browser, tmp_path: Path) -> None:
    program = tmp_path / "notes.py"
    program.write_text(NOTES)
    with engine(tmp_path, {}) as running:
        page = running.opened(browser)
        page.evaluate("location.hash = '#/servers'")
        page.get_by_role("button", name="Add server").first.click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Command, address, or JSON").fill(f"{sys.executable} {program}")
        dialog.get_by_label("Name here").fill("notes")
        dialog.get_by_role("button", name="Look at it").click()
        expect(dialog).to_contain_text(str(program))
        taking_clicks(dialog)
        dialog.get_by_role("button", name="Trust and start “notes”").click()
        expect(page.locator(".pane .tabs")).to_be_visible()
        expect(page.locator(".li.on")).to_contain_text("ready")
        page.get_by_role("tab", name="Messages").click()
        expect(page.locator(".msg-h", has_text="tools/list").first).to_be_visible()
