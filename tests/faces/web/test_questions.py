"""Forms, visits, samplings and trust in a browser: what is asked stands whole, and what goes out was seen."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from faces.web.face import Served, fresh, served
from splice.host.addresses import host_of, loudest, warnings_about
from splice.host.asked import Decision, Filled, Form, Trust, Visit
from support import scenes
from support.stage import Stage

FIELD = {
    "name": {"type": "string", "minLength": 2, "maxLength": 5},
    "letters": {"type": "string", "pattern": "^[a-z]+$"},
    "email": {"type": "string", "format": "email"},
    "site": {"type": "string", "format": "uri"},
    "day": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"},
    "nights": {"type": "integer", "minimum": 1, "maximum": 14},
    "budget": {"type": "number", "maximum": 3000},
}

WRONG = [
    ("name", "x", "Maria"),
    ("name", "Marianne", "Maria"),
    ("letters", "A1", "abc"),
    ("email", "anna@", "anna@home.example"),
    ("site", "nowhere", "https://example.com/a"),
    ("day", "June", "2024-06-15"),
    ("moment", "now", "2024-06-15T09:30:00Z"),
    ("nights", "20", "7"),
    ("nights", "0", "7"),
    ("nights", "1.5", "7"),
    ("budget", "3500", "2999.5"),
]


def asks(schema: dict[str, Any]) -> Any:
    return lambda stage: scenes.form(stage, schema)


def settled(face: Served, page: Page) -> Any:
    """Wait for the dialog to go, and return the one answer."""
    expect(page.get_by_role("dialog")).to_have_count(0)
    (answer,) = face.answers(1)
    return answer


def test_every_violation_is_said_beside_its_field(browser: Browser) -> None:
    with served(asks({"type": "object", "properties": FIELD, "required": [*FIELD]})) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        fresh(page)
        form.get_by_role("button", name="Review and send").click()
        expect(form.locator(".error")).to_have_count(len(FIELD))
        expect(form.get_by_role("textbox", name="name", exact=True)).to_be_focused()  # the first that is wrong
        for name, wrong, right in WRONG:
            field = form.locator(f'[data-field="{name}"]')
            field.locator("input").fill(wrong)
            expect(field.locator(".error")).not_to_be_empty()
            expect(field.locator("input")).to_have_attribute("aria-invalid", "true")
            field.locator("input").fill(right)
            expect(field.locator(".error")).to_have_count(0)
        form.get_by_role("button", name="Review and send").click()
        expect(form).to_contain_text("Send this?")
        expect(form).to_contain_text("anna@home.example")
        form.get_by_role("button", name="Send to travel").click()
        content = settled(face, page).content
        assert content == {name: right for name, _, right in WRONG} | {"nights": 7, "budget": 2999.5}


def test_a_choice_goes_by_its_title_and_what_is_sent_is_its_value(browser: Browser) -> None:
    schema = {
        "type": "object",
        "properties": {
            "seat": {
                "type": "string",
                "oneOf": [{"const": "w", "title": "By the window"}, {"const": "a", "title": "On the aisle"}],
            },
            "extras": {
                "type": "array",
                "items": {"anyOf": [{"const": "m", "title": "A meal"}, {"const": "b", "title": "A bag"}]},
                "minItems": 1,
            },
        },
        "required": ["seat", "extras"],
    }
    with served(asks(schema)) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        fresh(page)
        form.get_by_role("button", name="Review and send").click()
        expect(form.locator(".error")).to_have_count(2)
        form.get_by_role("radio", name="On the aisle").click()
        form.get_by_role("checkbox", name="A bag").click()
        form.get_by_role("button", name="Review and send").click()
        expect(form).to_contain_text("On the aisle")
        form.get_by_role("button", name="Send to travel").click()
        assert settled(face, page) == Filled("accept", {"seat": "a", "extras": ["b"]})


def test_choices_are_made_without_a_native_control(browser: Browser) -> None:
    cities = ["Barcelona", "Madrid", "Sevilla", "Malaga", "Valencia", "Bilbao", "Girona"]
    schema = {
        "type": "object",
        "properties": {
            "confirm": {"type": "boolean"},
            "insured": {"type": "boolean", "default": False},
            "seat": {"type": "string", "enum": ["window", "aisle"]},
            "room": {"type": "string", "enum": ["sea", "city", "garden", "yard"]},
            "city": {"type": "string", "enum": cities},
            "extras": {
                "type": "array",
                "items": {"type": "string", "enum": ["meal", "bag", "wifi"]},
                "minItems": 1,
                "maxItems": 2,
            },
            "arrival": {"type": "string", "format": "date"},
        },
        "required": ["confirm", "extras"],
    }
    with served(asks(schema)) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        fresh(page)
        expect(form.locator("select")).to_have_count(0)
        form.get_by_role("button", name="Review and send").click()
        expect(form.locator(".error")).to_have_count(2)
        form.get_by_role("checkbox", name="confirm").click()
        form.get_by_role("switch", name="insured").click()
        form.get_by_role("radio", name="window").click()
        page.keyboard.press("ArrowRight")
        form.get_by_role("radio", name="garden").click()
        form.get_by_role("combobox", name="city").click()
        page.keyboard.type("gir")
        expect(form.get_by_role("option")).to_have_count(1)
        page.keyboard.press("Enter")
        for extra in ("meal", "bag", "wifi"):
            form.get_by_role("checkbox", name=extra).click()
        expect(form.locator('[data-field="extras"] .error')).not_to_be_empty()
        form.get_by_role("checkbox", name="bag").click()
        day = form.get_by_label("arrival")
        day.fill("2024-06-15")
        day.press("ArrowDown")
        expect(form.get_by_role("button", name="June 15, 2024")).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(form.get_by_role("button", name="June 16, 2024")).to_be_focused()
        page.keyboard.press("Enter")
        expect(day).to_have_value("2024-06-16")
        expect(form.locator(".error")).to_have_count(0)
        form.get_by_role("button", name="Review and send").click()
        form.get_by_role("button", name="Send to travel").click()
        assert settled(face, page).content == {
            "confirm": True,
            "insured": True,
            "seat": "aisle",
            "room": "garden",
            "city": "Girona",
            "extras": ["meal", "wifi"],
            "arrival": "2024-06-16",
        }


@pytest.mark.parametrize(("button", "action"), [("Decline", "decline"), ("Cancel the call", "cancel")])
def test_decline_and_cancel_are_different_answers(browser: Browser, button: str, action: Any) -> None:
    with served(scenes.form) as face:
        page = face.opened(browser)
        fresh(page)
        page.keyboard.press("Escape")  # answers nothing
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("button", name="travel: A form").click()
        page.get_by_role("dialog").get_by_role("button", name=button).click()
        assert settled(face, page) == Filled(action)


def test_a_secret_is_warned_of_and_what_was_typed_outlives_a_reload(browser: Browser) -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    with served(lambda stage: scenes.form(stage, schema, secrets=["password"])) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        expect(form).to_contain_text("looks like a secret")
        form.get_by_label("password").fill("hunter2")
        page.reload()
        expect(form.get_by_label("password")).to_have_value("hunter2")
        form.get_by_role("button", name="Review and send").click()
        expect(form.get_by_role("button", name="Hold to send")).to_be_visible()
        expect(form).not_to_contain_text("hunter2")
        assert not face.answers()


def test_an_address_that_deceives_is_declined_first_and_opened_by_holding(browser: Browser) -> None:
    with served(scenes.visit) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        expect(form.locator(".host-strong")).to_have_text("xn--pple-43d.com")
        expect(form).to_contain_text("U+0430")
        expect(form.locator("a")).to_have_count(0)
        expect(form.locator(".btn.primary")).to_have_text("Decline")
        fresh(page)
        hold = form.get_by_role("button", name="Hold to open anyway")
        hold.click()
        assert not face.stage.named("visit")
        hold.focus()
        page.keyboard.down(" ")
        expect(form).to_contain_text("Finished there?")
        page.keyboard.up(" ")
        assert face.told("visit") == [{"question": "question:1"}]
        form.get_by_role("button", name="I finished").click()
        assert settled(face, page) == Filled("accept")
        assert all(url.startswith((face.origin, "data:")) for url in face.requests)


@pytest.mark.parametrize(
    ("url", "host", "words"),
    [
        ("https://bank.example@evil.example/pay", "evil.example", "What stands before the @ is not the host"),
        ("https://bank.example:x@evil.example/", "evil.example", "What stands before the @ is not the host"),
        ("https://192.0.2.7/pay", "192.0.2.7", "The host is a number and not a name"),
        ("https://[2001:db8::7]:8443/pay", "[2001:db8::7]", "The host is a number and not a name"),
        ("https://2130706433/pay", "2130706433", "The host is a number and not a name"),
        ("https://p\u0430ypal.example/", "p\u0430 U+0430ypal.example", "mixes letters of Cyrillic and Latin"),
        ("http://shop.example/pay", "shop.example", "It is not https"),
    ],
)
def test_what_deceives_about_an_address_is_said_and_its_host_stands_out(
    browser: Browser, url: str, host: str, words: str
) -> None:
    def asked(stage: Stage) -> None:
        scenes.empty(stage)
        scenes.servers(stage)
        visit = Visit("Pay here.", url, host_of(url), list(warnings_about(url)), loud=loudest(url))
        scenes.ask(stage, 1, "travel", visit)

    with served(asked) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        expect(form.locator(".host-strong")).to_have_text(host)
        expect(form.locator(".warnings")).to_contain_text(words)
        expect(form.locator(".loud")).to_have_text(loudest(url))
        expect(form.get_by_role("button", name="Open in browser")).to_have_count(0)
        fresh(page)
        form.get_by_role("button", name="Decline").click()
        assert settled(face, page) == Filled("decline")
        assert all(each.startswith((face.origin, "data:")) for each in face.requests)


def test_trust_is_given_one_server_at_a_time(browser: Browser) -> None:
    with served(scenes.trust) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        expect(form).to_contain_text("python travel_server.py --data ./trips")
        expect(form.locator(".dlg-title")).to_be_focused()  # no button is
        fresh(page)
        page.keyboard.press("ArrowDown")
        expect(form).to_contain_text("This is not what you trusted.")
        expect(form.locator("ins")).to_have_text(["--upload", "https://collect.example.net"])
        expect(form).to_contain_text("autoApprove: *")
        fresh(page)
        form.get_by_role("button", name="t start").click()
        expect(form).to_contain_text("Start “travel”?")
        form.get_by_role("button", name="Trust and start “travel”").click()
        expect(form).to_have_count(0)
        assert face.answers(2) == [Decision("deny"), Decision("once")]


@pytest.mark.parametrize(
    ("second", "title"),
    [
        ("~/.config/splice/mcp.json", "~/.config/splice/mcp.json brings 2 servers"),
        (".mcp.json", "2 servers wait for your word"),
    ],
)
def test_trust_names_the_file_that_brings_the_servers(browser: Browser, second: str, title: str) -> None:
    def both(stage: Stage) -> None:
        scenes.empty(stage)
        for number, source in enumerate(("~/.config/splice/mcp.json", second), 1):
            scenes.ask(stage, number, f"server{number}", Trust("run it", ["run", "it"], source, "~/trips"))

    with served(both) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        expect(form.locator("h2").first).to_have_text(title)
        for source in ("~/.config/splice/mcp.json", second):
            expect(form).to_contain_text(source)
        expect(form).not_to_contain_text("This folder")
        assert not face.faults


def test_the_focus_is_caught_and_given_back(browser: Browser) -> None:
    with served(scenes.empty, scenes.servers) as face:
        page = face.opened(browser)
        page.get_by_role("textbox", name="Message").focus()

        def asked(stage: Stage) -> None:
            scenes.ask(stage, 1, "travel", Form("Go?", {"type": "object", "properties": {}}))

        face.do(asked)
        form = page.get_by_role("dialog")
        expect(form.locator(".dlg-title")).to_be_focused()
        for _ in range(8):
            page.keyboard.press("Tab")
            assert page.evaluate("document.querySelector('[role=dialog]').contains(document.activeElement)")
        fresh(page)
        form.get_by_role("button", name="Confirm").click()
        assert settled(face, page) == Filled("accept", {})
        expect(page.get_by_role("textbox", name="Message")).to_be_focused()


def test_a_form_that_its_server_took_back_stays_to_be_read_and_cannot_be_sent(browser: Browser) -> None:
    with served(scenes.form) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        form.get_by_label("Where the tickets go").fill("anna@home.example")
        face.stage.withdrawn = "Withdrawn: who asked no longer waits"

        def gone(stage: Stage) -> None:
            stage.board.change("server:travel", state="crashed")
            stage.board.drop("question:3")

        face.do(gone)
        expect(form).to_contain_text("travel is gone")
        expect(form).to_contain_text("Who asked no longer waits.")
        expect(form).to_contain_text("anna@home.example")
        expect(form.get_by_role("button", name="Send to travel")).to_be_disabled()
        form.get_by_role("button", name="Close").click()
        expect(form).to_have_count(0)
        assert not face.answers()
        assert not face.faults


def test_numbers_and_moments_are_typed_as_people_write_them(browser: Browser) -> None:
    schema = {
        "type": "object",
        "properties": {
            "price": {"type": "number"},
            "nights": {"type": "integer", "minimum": 1, "maximum": 3},
            "moment": {"type": "string", "format": "date-time"},
            "flag": {"type": "array", "items": {"type": "string", "enum": [f"colour {n}" for n in range(40)]}},
        },
        "required": ["price", "flag"],
    }
    with served(asks(schema)) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        fresh(page)
        price = form.get_by_role("textbox", name="price")
        price.press_sequentially("2.05")
        expect(price).to_have_value("2.05")
        price.press("ArrowUp")
        expect(price).to_have_value("3.05")
        price.fill("12345678901234567890")  # no number of this page: it is refused, not changed
        price.blur()
        expect(form.locator('[data-field="price"] .error')).not_to_be_empty()
        price.fill("2.50")
        for _ in range(5):
            form.get_by_role("button", name="More: nights").click()
        expect(form.get_by_role("textbox", name="nights")).to_have_value("3")
        moment = form.get_by_role("textbox", name="moment")
        moment.fill("2024-06-15 09:30")
        moment.press("ArrowDown")
        expect(form.get_by_role("button", name="June 15, 2024")).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(form.get_by_role("button", name="June 16, 2024")).to_be_focused()
        page.keyboard.press("Enter")
        expect(moment).to_have_value(re.compile(r"2024-06-16T09:30:00[+-]\d\d:\d\d"))
        flag = form.get_by_role("combobox", name="flag")
        flag.click()
        page.keyboard.type("colour 39")
        page.keyboard.press("Enter")
        page.keyboard.type("colour 7")
        page.keyboard.press("Enter")
        page.keyboard.type("colour 8")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        form.get_by_role("button", name="Take colour 7 off").click()
        form.get_by_role("button", name="Review and send").click()
        form.get_by_role("button", name="Send to travel").click()
        content = settled(face, page).content
        assert content.pop("moment").startswith("2024-06-16T09:30:00")
        assert content == {"price": 2.5, "nights": 3, "flag": ["colour 39", "colour 8"]}


def test_without_motion_a_secret_takes_two_presses_on_the_same_form(browser: Browser) -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    with served(lambda stage: scenes.form(stage, schema, secrets=["password"])) as face:
        page = face.opened(browser, reduced_motion="reduce")
        form = page.get_by_role("dialog")
        fresh(page)
        form.get_by_label("password").fill("hunter2")
        form.get_by_role("button", name="Review and send").click()
        form.get_by_role("button", name="Hold to send").click()
        again = form.get_by_role("button", name="Press again to send")
        expect(again).to_be_focused()
        form.get_by_role("button", name="Back").focus()  # looking away takes the press back
        expect(form.get_by_role("button", name="Hold to send")).to_be_visible()
        form.get_by_role("button", name="Hold to send").click()
        again.click()
        assert settled(face, page) == Filled("accept", {"password": "hunter2"})
