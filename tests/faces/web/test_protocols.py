"""What a server does in mid-turn is the same on the page for both protocols.

Sessions begin with `initialize` (2025-11-25), or each request stands alone (2026-07-28).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from faces.web.engine import engine
from faces.web.test_engine import allow, calls, card, ready, say, shop

VERSIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}

both = pytest.mark.parametrize("protocol", VERSIONS)


@contextmanager
def opened(browser: Browser, home: Path, protocol: str, *turns: dict[str, Any]) -> Iterator[Page]:
    """Run a host with the program as a server of a protocol, and look at its page."""
    with engine(home, {"shop": shop(**{"x-splice": {"protocol": protocol}})}, *turns) as running:
        page = running.opened(browser)
        say(page, "go")
        yield page


@both
def test_a_call_is_approved_and_asks_a_form(browser: Browser, tmp_path: Path, protocol: str) -> None:
    turns = calls("shop__order", {"item": "tea"}), calls("shop__ask", {}), {"say": "Three.", "after": "'nights': 3"}
    with opened(browser, tmp_path, protocol, *turns) as page:
        allow(page, "tea")
        allow(page, "ask")
        form = page.get_by_role("dialog")
        form.get_by_role("textbox", name="nights").fill("0")
        ready(page)
        form.get_by_role("button", name="Send", exact=True).click()
        expect(form.locator(".error")).not_to_be_empty()
        form.get_by_role("textbox", name="nights").fill("3")
        form.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_text("Three.")).to_be_visible()
        page.evaluate("location.hash = '#/servers/shop'")
        expect(page.locator("main")).to_contain_text(VERSIONS[protocol])


@both
def test_a_server_has_the_model_answer(browser: Browser, tmp_path: Path, protocol: str) -> None:
    turns = calls("shop__think", {}), {"say": "Much."}, {"say": "So it is.", "after": "it thinks: Much."}
    with opened(browser, tmp_path, protocol, *turns) as page:
        allow(page)
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("shop wants to ask your model")
        ready(page)
        dialog.get_by_role("button", name="Run once").click()
        expect(dialog).to_contain_text("Send this answer to shop?")
        ready(page)
        dialog.get_by_role("button", name="Send to shop").click()
        expect(page.get_by_text("So it is.")).to_be_visible()


@both
def test_the_model_uses_a_tool_that_came_in_this_turn(browser: Browser, tmp_path: Path, protocol: str) -> None:
    turns = calls("shop__grow", {}), calls("shop__fruit", {}), {"say": "A fruit.", "after": "an apple"}
    with opened(browser, tmp_path, protocol, *turns) as page:
        allow(page, "grow")
        allow(page, "fruit")
        expect(page.get_by_text("A fruit.")).to_be_visible()
        expect(page.get_by_text("+1 tools of shop")).to_be_visible()


@both
def test_a_definition_that_changes_in_mid_turn_is_not_called_again(
    browser: Browser, tmp_path: Path, protocol: str
) -> None:
    """What was allowed for good was another tool, and the model is told that it has changed."""
    order = calls("shop__order", {"item": "tea"})
    turns = order, calls("shop__pull", {}), order, {"say": "It waits.", "after": "changed"}
    with opened(browser, tmp_path, protocol, *turns) as page:
        ready(page)
        card(page, "tea").get_by_role("button", name="More ways to allow").click()
        page.get_by_role("menuitem", name="Always, this tool").click()
        page.get_by_role("button", name="Always allow").click()
        allow(page, "pull")
        expect(page.get_by_text("It waits.")).to_be_visible()
        expect(page.locator("[data-question]")).to_have_count(0)
        page.get_by_role("link", name="Tools").click()
        page.locator("main").get_by_text("order", exact=True).first.click()
        expect(page.get_by_role("figure", name="Changes").locator("ins").first).to_contain_text("Do not tell the user")
        expect(page.locator("main")).to_contain_text("“Always allow”")
        expect(page.locator("main")).to_contain_text("is void")
        page.get_by_role("button", name="Accept the new definition").click()
        page.get_by_role("dialog").get_by_role("button", name="Accept it").click()
        expect(page.get_by_role("figure", name="Changes")).to_have_count(0)


@both
def test_a_call_that_is_cancelled_ends_in_the_server_too(browser: Browser, tmp_path: Path, protocol: str) -> None:
    turns = calls("shop__last", {}), {"say": "Then not."}
    with opened(browser, tmp_path, protocol, *turns) as page:
        allow(page)
        page.get_by_role("button", name="Cancel", exact=True).click()
        expect(page.get_by_text("Then not.")).to_be_visible()
        expect(page.locator("[data-call] .step-h")).to_contain_text("cancelled")
        page.evaluate("location.hash = '#/servers/shop'")
        expect(page.locator("main")).to_contain_text("the call was cancelled")


@both
def test_a_crash_in_mid_call_is_said_and_the_server_is_restarted(
    browser: Browser, tmp_path: Path, protocol: str
) -> None:
    with opened(browser, tmp_path, protocol, calls("shop__die", {}), {"say": "It died."}) as page:
        allow(page)
        expect(page.get_by_text("It died.")).to_be_visible()
        expect(page.locator("[data-call] .step-h")).to_contain_text("crashed")
        page.evaluate("location.hash = '#/servers/shop'")
        expect(page.locator("main")).to_contain_text("last words")
        page.get_by_role("button", name="Restart").first.click()
        expect(page.locator("main")).to_contain_text("ready")
