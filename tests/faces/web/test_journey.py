"""The journey to Barcelona by clicks: `splice demo --web` as a process, in a real browser."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, expect

START_SECONDS = 30
TURN_SECONDS = 60.0
OPENER = "#!/bin/sh\nprintf %s \"$1\" > '{}'\n"


class Demo(NamedTuple):
    """A demo that runs."""

    link: str
    folder: Path
    opened: Path
    """Where the address stands that was to be opened in the user's browser."""


@contextmanager
def demo(folder: Path) -> Iterator[Demo]:
    """Run `splice demo --web`. What stands for the user's browser writes down where it was sent."""
    opener, opened = folder / "browser", folder / "opened"
    opener.write_text(OPENER.format(opened), encoding="utf-8")
    opener.chmod(0o700)
    command = [sys.executable, "-m", "splice.cli", "demo", "--web", "--no-browser", "--folder", str(folder / "kept")]
    environment = {**os.environ, "BROWSER": f"{opener} %s"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            found = re.search(r"http://\S+", process.stderr.readline())
            assert found is not None
            yield Demo(found[0], folder / "kept", opened)
        finally:
            process.terminate()
            assert process.wait(START_SECONDS) == 0


class User:
    """Answers what is asked on the page, by clicks and keys, and keeps a list of it."""

    def __init__(self, page: Page, opened: Path) -> None:
        self.page = page
        self.answered: list[str] = []
        self._opened = opened
        self._dialog = page.get_by_role("dialog")
        self._card = page.locator("[data-question]").first
        self._send, self._stop = (page.locator(f".dock [aria-label={each}]") for each in ("Send", "Stop"))

    def until_over(self) -> None:
        """Answer from the beginning of a turn until it is over."""
        self._stop.wait_for()
        end = time.monotonic() + TURN_SECONDS
        asked = self._dialog.or_(self._card)
        while time.monotonic() < end:
            asked.or_(self._send).first.wait_for()
            if not asked.count():
                return
            self.page.wait_for_selector("[data-fresh]", state="detached")  # what has only just appeared takes no click
            if self._dialog.count():
                identity = self._dialog.get_attribute("data-dialog")
                self._talk(self._dialog.locator("h2").first.inner_text())
                self.page.wait_for_selector(f"[data-dialog='{identity}']", state="detached")
            elif self._card.count():
                self._allow(self._card.locator("h2").inner_text())
        raise AssertionError(self.answered)

    def _click(self, name: str) -> None:
        self._dialog.get_by_role("button", name=name).click()

    def _talk(self, title: str) -> None:
        dialog = self._dialog
        name = title
        if title == "Book a trip: a question":
            name = "confirm" if dialog.get_by_role("checkbox").count() else "contact"
        self.answered.append(name)
        expect(dialog.locator(".dlg-title")).to_be_focused()
        if name == "The model asks you":
            dialog.get_by_role("textbox").fill("NYC")
            self._click("Send")
        elif name == "travel wants to ask your model":
            expect(dialog).to_contain_text("which it cannot see")
            self._click("Run once")
        elif name == "Send this answer to travel?":
            expect(dialog.get_by_role("region", name="Tools")).to_contain_text("best")
            self._click("Send to travel")
        elif name == "confirm":
            self._click("Review and send")
            expect(dialog).to_contain_text("1 field needs a change")
            dialog.get_by_role("checkbox", name="Confirm the booking").click()
            dialog.get_by_role("radio", name="aisle").click()
            self._review("aisle")
        elif name == "contact":
            with self.page.expect_response(lambda each: "+1 212" in (each.request.post_data or "")):
                dialog.get_by_label("Who travels").fill("Ada Traveller")
                dialog.get_by_label("Where the tickets go").fill("ada@")
                dialog.get_by_label("For changes").fill("+1 212 555 0100")
            expect(dialog).to_contain_text("Not a complete email address")
            self.page.reload()  # what was typed is kept
            expect(dialog.get_by_label("Who travels")).to_have_value("Ada Traveller")
            self.page.wait_for_selector("[data-fresh]", state="detached")  # to the new page the question is a new one
            dialog.get_by_label("Where the tickets go").fill("ada@example.com")
            self._review("ada@example.com")
        else:
            assert name == "travel wants you to open a page"
            self._pay()

    def _review(self, shown: str) -> None:
        self._click("Review and send")
        expect(self._dialog).to_contain_text("Send this?")
        expect(self._dialog).to_contain_text(shown)
        self._click("Send to travel")

    def _pay(self) -> None:
        """Open the page as the user's own browser would, press its button, and come back."""
        url = self._dialog.locator(".url").inner_text()
        assert not self._opened.exists()
        self._click("Open in browser")
        expect(self._dialog).to_contain_text("Finished there?")
        assert self._opened.read_text(encoding="utf-8") == url
        bank = self.page.context.new_page()
        bank.goto(url)
        bank.get_by_role("button").click()
        expect(bank.get_by_text("is confirmed")).to_be_visible()
        bank.close()
        self._click("I finished")

    def _allow(self, title: str) -> None:
        self.answered.append(title)
        hold = self._card.get_by_role("button", name="Hold to allow once")
        identity = self._card.get_attribute("data-question")
        if hold.count():
            hold.focus()
            self.page.keyboard.down(" ")
        else:
            self._card.get_by_role("button", name="Allow once").first.click()
        self.page.wait_for_selector(f"[data-question='{identity}']", state="detached")
        self.page.keyboard.up(" ")


def plan(page: Page) -> None:
    """Choose the prompt by /, and fill in its form; the dates of a free week are proposed."""
    expect(page.get_by_text("Where do you want to begin?")).to_be_visible()
    page.get_by_role("textbox", name="Message").press_sequentially("/pl")
    expect(page.get_by_role("option")).to_contain_text("/plan-vacation")
    page.keyboard.press("Enter")
    form = page.get_by_role("dialog")
    expect(form.get_by_role("combobox", name="destination")).to_be_focused()
    expect(form.get_by_label("departure_date")).to_have_value(re.compile(r"^\d{4}-\d\d-\d\d$"))
    form.get_by_role("combobox", name="destination").fill("Barc")
    expect(page.get_by_role("option", name="Barcelona")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(form.get_by_role("combobox", name="destination")).to_have_value("Barcelona")
    expect(form.locator("mark", has_text="Barcelona").first).to_be_visible()
    page.keyboard.press("Control+Enter")


def attach(page: Page) -> None:
    """Attach one more resource, by the picker."""
    page.get_by_role("button", name="Resources").last.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").first.fill("Barcelona")
    row = dialog.get_by_role("treeitem", name="Barcelona, the second week").first
    row.click()
    expect(dialog.get_by_role("region", name="Chosen resource")).to_contain_text("Bogatell before breakfast")
    row.locator(".check").click()
    dialog.get_by_role("button", name="Attach 1").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("group", name="Goes along")).to_contain_text("Barcelona, the second week")


def test_the_journey_by_clicks(browser: Browser, tmp_path: Path) -> None:
    with demo(tmp_path) as running:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(10_000)
        page = context.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(running.link)
        expect(page.get_by_role("complementary", name="Context")).to_contain_text("Two weeks in Spain")
        attach(page)
        plan(page)
        user = User(page, running.opened)
        user.until_over()
        expect(page.get_by_text("Shall I go on")).to_be_visible()
        page.get_by_role("textbox", name="Message").fill("Yes, please go on.")
        page.keyboard.press("Enter")
        user.until_over()
        expect(page.get_by_text("All steps are done")).to_be_visible()
        assert user.answered[:2] == ["The model asks you", "travel wants to ask your model"]
        assert user.answered.count("Send this answer to travel?") == 2
        booking = ["Book a trip", "confirm", "contact", "travel wants you to open a page"]
        assert user.answered[5:] == [*booking, "Write the itinerary", "Create a calendar event", "Send an email"]
        looked_up(page)
        assert not faults
        context.close()
    kept(running.folder)


def looked_up(page: Page) -> None:
    """Look at all steps on the activity page: each with what was decided, and by whom."""
    page.get_by_role("link", name="Activity").click()
    log = page.get_by_role("grid")
    for kind in ("sendEmail", "createCalendarEvent", "writeItinerary", "bookTrip"):
        page.get_by_label("Search names").fill(kind)
        call = log.get_by_role("row").filter(has=page.get_by_role("gridcell", name="call", exact=True))
        expect(call).to_have_count(1)
        expect(call).to_contain_text("Allowed once by you, in the browser")
        answer = log.get_by_role("row").filter(has=page.get_by_role("gridcell", name="answer", exact=True))
        expect(answer).to_contain_text("Allowed once by you, in the browser")


def kept(folder: Path) -> None:
    """Look at what is left of it: the mail, the itinerary, the chat."""
    [mail] = (folder / "mails").iterdir()
    found = re.search(r"Booking (\w+)", mail.read_text(encoding="utf-8"))
    assert found is not None
    itineraries = [each.read_text(encoding="utf-8") for each in (folder / "travel-planning").rglob("*.md")]
    assert any(found[1] in each for each in itineraries)
