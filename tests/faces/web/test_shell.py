"""The frame of the page at its widths: the sidebar, the context, the servers in it, and what keys do with them."""

from playwright.sync_api import Browser, expect

from faces.web.face import served
from support import scenes
from support.stage import Stage


def many(stage: Stage) -> None:
    """Show more servers than a list holds."""
    scenes.mid_turn(stage)
    for number in range(20):
        stage.board.put(scenes.server(f"server-{number}", 1 + number % 6, tools=number))


def unasked(stage: Stage) -> None:
    """Let nothing wait."""
    stage.board.drop("question:1")
    stage.board.drop("question:2")


def test_many_servers_scroll_by_themselves_and_are_filtered(browser: Browser) -> None:
    with served(many) as face:
        page = face.opened(browser)
        names = page.locator(".nav.srv > li")
        expect(names).to_have_count(26)
        assert page.locator(".nav.srv").evaluate("node => node.scrollHeight > node.clientHeight + 100")
        page.get_by_role("textbox", name="Filter servers").fill("wea")
        expect(names).to_have_count(1)
        expect(names).to_contain_text("weather")
        page.get_by_role("textbox", name="Filter servers").fill("nobody")
        expect(page.get_by_text("No server has this name.")).to_be_visible()
        assert not face.faults


def test_a_few_servers_have_no_filter(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        expect(page.locator(".nav.srv > li")).to_have_count(6)
        expect(page.get_by_role("textbox", name="Filter servers")).to_have_count(0)


def test_the_sidebar_folds_where_it_has_room_and_stays_folded(browser: Browser) -> None:
    with served(scenes.empty) as face:
        page = face.opened(browser)
        side = page.get_by_role("complementary", name="Sidebar")
        expect(page.get_by_role("button", name="Menu")).to_be_hidden()
        page.locator("#main").focus()
        page.keyboard.press("[")
        expect(side).to_be_hidden()
        page.reload()
        expect(side).to_be_hidden()
        page.get_by_role("button", name="Menu").click()
        expect(side).to_be_visible()
        context = page.get_by_role("complementary", name="Context")
        page.keyboard.press("]")
        expect(context).to_be_hidden()
        page.keyboard.press("]")
        expect(context).to_be_visible()


def test_on_a_rail_the_whole_sidebar_opens_over_the_page(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        face.do(unasked)
        page = face.opened(browser, width=768)
        box = page.locator("#main").bounding_box()
        page.get_by_role("button", name="Menu").click()
        expect(page.get_by_role("link", name="Chat", exact=True)).to_be_focused()
        expect(page.get_by_role("button", name="New chat")).to_be_visible()
        expect(page.locator(".chats").get_by_text("Barcelona in June")).to_be_visible()
        assert page.locator("#main").bounding_box() == box
        page.keyboard.press("Escape")
        expect(page.locator(".chats")).to_be_hidden()
        expect(page.get_by_role("button", name="Menu")).to_be_focused()
        page.get_by_role("button", name="Show context").click()
        context = page.get_by_role("complementary", name="Context")
        expect(context).to_be_visible()
        page.locator(".drawer-scrim").click(position={"x": 80, "y": 400})
        expect(context).to_have_count(0)
        assert not face.faults


def test_a_word_that_finds_nothing_in_the_jump_dialog_is_no_fault(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        face.do(unasked)
        page = face.opened(browser)
        page.keyboard.press("Control+k")
        page.keyboard.type("nowhere at all")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)
        assert not face.faults
