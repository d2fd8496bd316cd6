"""Approvals in a browser: whole, never by accident, never lost, and the first answer counts."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from faces.web.face import Served, fresh, served
from splice.host.asked import Answer, Approval, Decision, Filled, RootsAsked
from splice.host.items import Block, Question
from support import scenes
from support.stage import Stage

FOLDERS = ["file:///home/ada/trips", "file:///home/ada/photos"]


def answered(face: Served, page: Page, count: int) -> None:
    """Wait for so many answers: each takes its card away."""
    expect(page.locator(".ask")).to_have_count(2 - count)
    assert len(face.answers(count)) == count


def test_two_wait_side_by_side_and_each_has_its_own_answer(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        second, first = (page.locator(f'[data-question="question:{n}"]:not([data-fresh])') for n in (2, 1))
        expect(first).to_contain_text("ada@example.com")
        expect(page.get_by_text("2 waiting for you", exact=True)).to_be_visible()
        second.get_by_role("button", name="Allow once").click()
        answered(face, page, 1)
        first.get_by_role("button", name="Deny", exact=True).click()
        answered(face, page, 2)
        assert face.answers() == [Decision("once"), Decision("deny")]
        assert [each["by"] for each in face.stage.named("answer")] == ["web", "web"]
        assert not face.faults


def test_deny_with_a_reason_tells_the_model(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        ask = page.locator('[data-question="question:2"]:not([data-fresh])')
        ask.get_by_role("button", name="With a reason…").click()
        page.keyboard.type("not today")
        page.keyboard.press("Enter")
        answered(face, page, 1)
        assert face.answers() == [Decision("deny", reason="not today")]


def test_arguments_are_edited_as_fields_and_as_json(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        ask = page.locator('[data-question="question:1"]:not([data-fresh])')
        ask.get_by_role("button", name="Edit").click()
        travelers = ask.get_by_role("textbox", name="travelers", exact=True)
        travelers.fill("0")
        expect(ask.locator("footer")).to_contain_text("1 field does not fit")
        travelers.fill("3")
        expect(ask.locator("footer")).not_to_contain_text("does not fit")
        ask.get_by_role("tab", name="JSON").click()
        source = ask.get_by_role("textbox", name="Arguments as JSON")
        source.fill('{"travelers": ')
        expect(ask.get_by_role("alert")).to_contain_text("This is not JSON")
        expect(ask.get_by_role("button", name="Allow with your changes")).to_be_disabled()
        source.fill('{"travelers": 12345678901234567890, "note": "hi"}')
        ask.get_by_role("button", name="Allow with your changes").click()
        answered(face, page, 1)
        (answer,) = face.answers()
        assert answer.arguments == {"travelers": 12345678901234567890, "note": "hi"}


def test_json_that_is_no_object_is_not_sent_and_the_line_of_a_fault_is_said(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        ask = page.locator('[data-question="question:1"]:not([data-fresh])')
        ask.get_by_role("button", name="Edit").click()
        ask.get_by_role("tab", name="JSON").click()
        source = ask.get_by_role("textbox", name="Arguments as JSON")
        for text, told in (
            ("[1]", "are an object"),
            ("12", "are an object"),
            ('{\n"a": 1,\n', "Line 3"),
            ("", "Line 1"),
        ):
            source.fill(text)
            expect(ask.get_by_role("alert")).to_contain_text(told)
            expect(ask.get_by_role("button", name="Allow with your changes")).to_be_disabled()
        source.fill("{}")
        expect(ask.get_by_role("alert")).to_have_count(0)


def test_what_the_last_call_had_and_this_one_has_not_is_said(browser: Browser) -> None:
    def fewer(stage: Stage) -> None:
        scenes.mid_turn(stage)
        before = {"to": "bob@example.com", "cc": "boss@example.com"}
        why = "no rule covers it"
        scenes.ask(stage, 2, "mail", Approval("call:8", "tool:mail/sendEmail", why, "The model", before=before))

    with served(fewer) as face:
        page = face.opened(browser)
        ask = page.locator('[data-question="question:2"]')
        expect(ask.locator("dt", has_text="cc")).to_be_visible()
        expect(ask.get_by_text("not sent this time")).to_be_visible()


@pytest.mark.parametrize(
    ("scene", "words", "button", "answer"),
    [
        (scenes.roots, "Which folders may travel know of?", "Tell it nothing", Filled("decline")),
        (scenes.roots, "file:///home/ada/photos", "Tell it of 2", Filled("accept", {"uris": FOLDERS})),
        (scenes.go_on, "25 calls in this turn", "Stop here", Decision("deny")),
        (scenes.go_on, "25 calls in this turn", "Go on", Decision("once")),
        (scenes.result_review, "24-27 °C, dry", "Keep it back", Decision("deny")),
        (scenes.result_review, "24-27 °C, dry", "Let it read", Decision("once")),
    ],
)
@pytest.mark.parametrize("width", [320, 1280])
def test_a_question_that_is_no_call_has_two_answers(
    browser: Browser, width: int, scene: Callable[[Stage], None], words: str, button: str, answer: Answer
) -> None:
    with served(scene) as face:
        page = face.opened(browser, width=width)
        ask = page.locator("[data-question]:not([data-fresh])") if width > 600 else page.get_by_role("dialog")
        expect(ask).to_contain_text(words)
        fresh(page)
        ask.get_by_role("button", name=button).click()
        expect(page.locator("[data-question]")).to_have_count(0)
        assert face.answers(1) == [answer]
        assert not face.faults


def test_a_folder_that_is_left_out_is_not_told_and_one_that_came_since_is(browser: Browser) -> None:
    with served(scenes.roots) as face:
        page = face.opened(browser)
        ask = page.locator("[data-question]:not([data-fresh])")
        ask.get_by_role("checkbox", name="photos").click()
        ask.get_by_role("checkbox", name="trips").press(" ")
        expect(ask.get_by_role("button", name="Tell it of none")).to_be_visible()
        ask.get_by_role("checkbox", name="trips").press(" ")
        more = RootsAsked([*FOLDERS, "file:///home/ada/maps"])
        face.do(lambda stage: stage.board.change("question:3", asked=more))
        ask.get_by_role("button", name="Tell it of 2").click()
        expect(page.locator("[data-question]")).to_have_count(0)
        assert face.answers(1) == [Filled("accept", {"uris": [FOLDERS[0], "file:///home/ada/maps"]})]
        assert not face.faults


def test_a_result_is_read_whole_or_edited_and_what_is_not_shown_is_said(browser: Browser) -> None:
    def long(stage: Stage) -> None:
        scenes.result_review(stage)
        blocks = [Block("text", "rain " * 20_000), Block("image", mime_type="image/png", bytes=9)]
        stage.board.change("call:3", result=blocks)

    with served(long) as face:
        page = face.opened(browser)
        ask = page.locator("[data-question]:not([data-fresh])")
        expect(ask).to_contain_text("34,464 more characters go along")
        expect(ask).to_contain_text("Not shown: image/png.")
        ask.get_by_role("button", name="Edit").click()
        ask.get_by_role("textbox", name="What the model reads").fill("It rains.")
        ask.get_by_role("button", name="Let it read your text").click()
        expect(page.locator("[data-question]")).to_have_count(0)
        assert face.answers(1) == [Decision("once", arguments="It rains.")]
        assert not face.faults


def test_a_result_that_is_structured_alone_is_shown(browser: Browser) -> None:
    def structured(stage: Stage) -> None:
        scenes.result_review(stage)
        stage.board.change("call:3", result=[], structured={"sky": "grey"})

    with served(structured) as face:
        page = face.opened(browser)
        expect(page.locator("[data-question]").get_by_role("region", name="Result")).to_contain_text('"sky"')
        assert not face.faults


def test_a_second_click_gives_no_second_answer(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        ask = page.locator('[data-question="question:2"]:not([data-fresh])')
        ask.get_by_role("button", name="Allow once").dblclick()
        answered(face, page, 1)
        assert face.answers() == [Decision("once")]
        expect(page.locator(".toast")).to_have_count(0)


def test_deny_both_counts_only_once_both_could_be_seen(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        page.wait_for_selector("[data-question='question:2']:not([data-fresh])")
        page.get_by_role("button", name="Deny both").click()
        answered(face, page, 2)
        assert face.answers() == [Decision("deny"), Decision("deny")]


def test_what_was_typed_into_a_card_that_is_answered_elsewhere_is_said_to_be_lost(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        page.locator('[data-question="question:2"]:not([data-fresh])').get_by_role("button", name="Edit").click()
        face.do(lambda stage: stage.board.drop("question:2"))
        expect(page.locator(".toast")).to_contain_text("What you typed was not sent")


def test_a_menu_allows_for_longer_and_always_asks_once_more(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        ask = page.locator('[data-question="question:2"]:not([data-fresh])')
        ask.get_by_role("button", name="More ways to allow").click()
        page.get_by_role("menuitem", name="Always, this tool").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("mail/sendEmail")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert not face.answers()
        ask.get_by_role("button", name="More ways to allow").click()
        expect(page.get_by_role("menuitem").first).to_be_focused()
        page.keyboard.press("Enter")  # the first: for this chat
        answered(face, page, 1)
        assert face.answers() == [Decision("chat")]


def test_a_grave_call_is_only_allowed_by_holding(browser: Browser) -> None:
    with served(scenes.grave) as face:
        page = face.opened(browser)
        ask = page.locator('[data-question="question:3"]:not([data-fresh])')
        expect(ask).to_contain_text("This cannot be undone.")
        button = ask.get_by_role("button", name="Hold to allow once")
        button.click()
        ask.focus()
        page.keyboard.press("a")
        button.focus()
        page.keyboard.press("Enter")
        assert not face.has_answered()
        button.hover()
        page.mouse.down()
        expect(page.locator(".ask")).to_have_count(2)
        page.mouse.up()
        assert face.answers(1) == [Decision("once")]


def test_a_pending_approval_and_what_was_typed_outlive_a_reload(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        ask = page.locator('[data-question="question:2"]:not([data-fresh])')
        ask.get_by_role("button", name="With a reason…").click()
        page.keyboard.type("because")
        page.get_by_role("textbox", name="Message").fill("half a thought")
        page.reload()
        expect(page.get_by_placeholder("Why not? The model is told")).to_have_value("because")
        expect(page.get_by_role("textbox", name="Message")).to_have_value("half a thought")
        expect(page.locator(".ask")).to_have_count(2)


def test_typing_on_answers_nothing_that_appears_meanwhile(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        waiting = face.stage.board.all(Question)

        def taken(stage: Stage) -> None:
            for each in waiting:
                stage.board.drop(each.id)

        def given(stage: Stage) -> None:
            for each in waiting:
                stage.board.put(each)

        face.do(taken)
        page = face.opened(browser)
        page.get_by_role("textbox", name="Message").click()
        page.keyboard.type("a da")
        face.do(given)
        page.wait_for_selector(".ask")
        page.locator(".ask").first.evaluate("node => node.focus()")
        page.keyboard.type("ad")
        assert not face.has_answered()
        expect(page.locator(".ask")).to_have_count(2)


def test_another_face_is_faster(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        page.wait_for_selector("[data-question]:not([data-fresh])")
        face.do(lambda stage: stage.board.drop("question:2"))
        expect(page.locator(".ask")).to_have_count(1)
        gone = page.evaluate(
            """async () => (await fetch("/do/answer", {method: "POST", headers: {"content-type": "application/json",
            "x-splice-csrf": localStorage.getItem("splice-key")},
            body: JSON.stringify({question: "question:2", answer: {type: "decision", verdict: "once"}})})).json()"""
        )
        assert gone == "web"  # who was first


def test_on_a_phone_the_first_is_a_sheet_that_can_be_put_aside(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser, width=360)
        sheet = page.get_by_role("dialog")
        expect(sheet).to_contain_text("1 of 2")
        sheet.get_by_role("button", name="Put aside").click()
        expect(sheet).to_contain_text("2 of 2")
        fresh(page)
        sheet.get_by_role("button", name="Deny", exact=True).click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator(".ask")).to_have_count(1)


def test_keys_of_a_card_and_cancel_of_a_call(browser: Browser) -> None:
    with served(scenes.mid_turn) as face:
        page = face.opened(browser)
        page.wait_for_selector("[data-question]:not([data-fresh])")
        page.locator('[data-question="question:1"]').focus()
        page.keyboard.press("j")
        expect(page.locator('[data-question="question:2"]')).to_be_focused()
        page.keyboard.press("c")
        answered(face, page, 1)
        assert face.answers() == [Decision("chat")]
        page.locator('[data-call="call:6"] .step-h').focus()
        page.keyboard.press(".")
        assert face.told("cancel") == [{"call": "call:6"}]
