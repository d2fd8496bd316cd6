"""Messages and calls of a chat: what can be done with them, and how the long ones fold."""

from playwright.sync_api import Browser, expect

from faces.web.face import served
from splice.host.items import Block, Message, Step
from support import scenes
from support.stage import Stage, open_chat


def talk(stage: Stage) -> None:
    """Show two turns that are over; the first has a long answer."""
    scenes.empty(stage)
    scenes.servers(stage)
    scenes.tools(stage)
    open_chat(stage, turn=2)
    put = stage.board.put
    put(Message(id="message:1", chat="chat:1", role="user", text="How?", turn=1))
    put(scenes.model_says(2, "\n".join(f"line {number}  " for number in range(80)), turn=1))
    put(Message(id="message:3", chat="chat:1", role="user", text="Book it", turn=2))
    for number in range(10, 18):
        put(scenes.call(number, "travel", "searchFlights", state="done", seconds=1.5, turn=2))
    found, trail = [Block("text", "47 flights")], [Step(0, "you", "Allowed once")]
    mismatch = "price is text"
    put(
        scenes.call(
            18, "travel", "bookTrip", state="done", structured={"a": 1}, result=found, mismatch=mismatch, trail=trail
        )
    )
    put(scenes.model_says(19, "\n".join(f"row {number}  " for number in range(80)), turn=2))


def test_a_message_is_copied_its_turn_taken_anew_or_left_for_another_chat(browser: Browser) -> None:
    with served(talk) as face:
        page = face.opened(browser, permissions=["clipboard-read", "clipboard-write"])
        last = page.locator(".said").last
        last.hover()
        last.get_by_role("button", name="Branch").click()
        expect(page.locator(".toast")).to_contain_text("new chat")
        page.locator(".said").first.get_by_role("button", name="Retry").click()
        expect(page.locator(".toast")).to_have_count(2)
        assert face.told("branch", 2) == [{"turn": 2, "again": False}, {"turn": 1, "again": True}]
        mine = page.locator(".me").first
        mine.hover()
        mine.get_by_role("button", name="Copy").click()
        assert page.evaluate("navigator.clipboard.readText()") == "How?"
        expect(mine.get_by_role("button", name="Retry")).to_have_count(0)  # the model has answered it
        face.do(lambda stage: open_chat(stage, turn=2, is_busy=True))
        expect(page.get_by_role("button", name="Retry")).to_have_count(0)
        assert not face.faults


def test_a_long_answer_folds_once_another_stands_below_it(browser: Browser) -> None:
    with served(talk) as face:
        page = face.opened(browser)
        first, last = page.locator(".said").first, page.locator(".said").last
        expect(last.get_by_role("button", name="Show all")).to_have_count(0)
        assert first.evaluate("node => node.getBoundingClientRect().height") < 700
        first.get_by_role("button", name="Show all 80 lines").click()
        expect(first.get_by_role("button", name="Fold")).to_be_visible()
        assert first.evaluate("node => node.getBoundingClientRect().height") > 1_500


def test_finished_calls_fold_and_an_opened_one_says_why_and_walks_by_arrows(browser: Browser) -> None:
    with served(talk) as face:
        page = face.opened(browser)
        fold = page.get_by_role("button", name="9 calls")
        expect(page.locator("[data-call]")).to_have_count(0)
        fold.click()
        expect(page.locator("[data-call]")).to_have_count(9)
        page.locator("[data-call='call:18'] .step-h").click()
        body = page.locator("[data-call='call:18'] .step-b")
        expect(body.get_by_role("link", name="Why was I asked?")).to_be_visible()
        note, tabs = body.locator(".note").bounding_box(), body.get_by_role("tablist").bounding_box()
        assert note is not None
        assert tabs is not None
        assert note["y"] < tabs["y"]  # what is wrong with a result is said before it
        body.get_by_role("tab", name="Rendered").focus()
        for key, name in (("ArrowRight", "Structured"), ("End", "Arguments"), ("ArrowRight", "Rendered")):
            page.keyboard.press(key)
            expect(body.get_by_role("tab", name=name)).to_be_focused()
        assert not face.faults
