"""What decides can be reached: at every size, by keys alone, and in the colours of the system."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from faces.web.face import fresh, served
from faces.web.test_questions import FIELD, settled
from faces.web.test_samplings import brought
from splice.host.asked import Reviewed
from support import scenes
from support.stage import Stage


def every_row(stage: Stage) -> None:
    """Show a form with all that a server can make long, and every kind of field."""
    word = "Donaudampfschifffahrtsgesellschaftskapitaen" * 3
    kinds: dict[str, Any] = {
        **FIELD,
        "confirm": {"type": "boolean", "title": word},
        "seat": {"type": "string", "enum": ["window", "aisle", "no preference"]},
        "room": {"type": "string", "enum": [word, "b", "c", "d"]},
        "city": {"type": "string", "enum": [f"{word}{n}" for n in range(9)]},
        "extras": {"type": "array", "items": {"type": "string", "enum": [word, "bag"]}},
        "flags": {"type": "array", "items": {"type": "string", "enum": [f"{word}{n}" for n in range(9)]}},
    }
    scenes.form(stage, {"type": "object", "properties": kinds, "required": [*kinds]})


SMALL = {(640, 400): "1280 x 800 at 200 %", (320, 560): "a small phone", (360, 780): "a phone", (768, 1024): "a tablet"}


@pytest.mark.parametrize(
    "scene", [every_row, scenes.visit, scenes.sampling, scenes.completion, brought], ids=lambda each: each.__name__
)
def test_what_decides_is_in_view_at_every_size(browser: Browser, scene: Any) -> None:
    with served(scene) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        for (width, height), name in SMALL.items():
            page.set_viewport_size({"width": width, "height": height})
            fresh(page)
            cut = form.evaluate(
                """(dialog) => [dialog, ...dialog.querySelectorAll(".dlg-f button, .dlg-h h2")].filter((node) => {
                const box = node.getBoundingClientRect();
                const isOut = box.left < -1 || box.right > innerWidth + 1
                    || box.top < -1 || box.bottom > innerHeight + 1;
                return isOut || (node.matches("button") && node.scrollWidth > node.clientWidth + 1);
                }).map((node) => node.outerHTML.slice(0, 120))"""
            )
            assert cut == [], name
            wide = form.evaluate(
                """(dialog) => [...dialog.querySelectorAll(".dlg-b, .pane")].filter((node) =>
                node.scrollWidth > node.clientWidth + 1).map((node) => node.outerHTML.slice(0, 120))"""
            )
            assert wide == [], name
            room = form.evaluate("(dialog) => dialog.querySelector('.dlg-b, .cols').getBoundingClientRect().height")
            assert room >= 100, name
        assert not face.faults


def test_in_the_colours_of_the_system_edges_stay_and_what_is_not_ticked_has_no_tick(browser: Browser) -> None:
    with served(scenes.form) as face:
        page = face.opened(browser, forced_colors="active")
        form = page.get_by_role("dialog")
        tick = form.get_by_role("checkbox").locator(".check .i")
        expect(tick).to_be_hidden()
        form.get_by_role("checkbox").click()
        expect(tick).to_be_visible()
        for edged in (".btn", ".input", ".theirs", ".seg"):
            width = form.locator(edged).first.evaluate("(node) => getComputedStyle(node).borderLeftWidth")
            assert width != "0px", edged


def test_a_form_and_a_sampling_are_answered_by_keys_alone(browser: Browser) -> None:
    with served(scenes.form) as face:
        page = face.opened(browser)
        form = page.get_by_role("dialog")
        fresh(page)
        for key in ("Tab", " ", "Tab", "ArrowRight", "Tab", "Tab"):  # past the body, confirm, seat, room
            page.keyboard.press(key)
        page.keyboard.type("anna@home.example")
        page.keyboard.press("Control+Enter")
        expect(form).to_contain_text("Send this?")
        expect(form.locator(".dlg-title")).to_be_focused()
        send = form.get_by_role("button", name="Send to travel")
        for _ in range(4):
            if not send.evaluate("(node) => node === document.activeElement"):
                page.keyboard.press("Tab")
        expect(send).to_be_focused()
        page.keyboard.press("Enter")
        content = settled(face, page).content
        assert content["confirmBooking"] is True
        assert content["email"] == "anna@home.example"
    with served(scenes.sampling) as face:
        page = face.opened(browser)
        fresh(page)
        page.keyboard.press("a")
        assert settled(face, page) == Reviewed("once")
