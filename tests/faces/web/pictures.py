"""Pictures of every screen, at three widths, light and dark: `PYTHONPATH=tests python tests/faces/web/pictures.py DIR`.

A person looks at them before they are kept. `pictures.py docs` makes those of the documentation anew, and no others.
Install the fonts Inter and JetBrains Mono, so that they are the same on every machine.
"""

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from playwright.sync_api import Page

from faces.web.face import chromium, served
from faces.web.test_pages import rich
from splice.host.items import Block, Progress
from support import scenes
from support.stage import Stage

SIZES = {1280: 800, 768: 1024, 360: 780}
THEMES = ("light", "dark")

DOCS = Path(__file__).parents[3] / "docs" / "host" / "pictures"
KEPT = {
    "chat": ("02-running", 1280, "light"),
    "new-chat": ("09-new-chat", 1280, "light"),
    "approvals": ("03-approvals", 1280, "light"),
    "approval-phone": ("03-approvals", 360, "dark"),
    "form": ("04-form", 1280, "light"),
    "page-to-open": ("07-visit", 1280, "light"),
    "sampling": ("05-sampling", 1280, "dark"),
    "trust": ("01-trust", 1280, "light"),
    "servers": ("12-servers", 1280, "light"),
    "tool-changed": ("13-tool-changed", 1280, "light"),
    "activity": ("14-activity", 1280, "dark"),
    "permissions": ("15-permissions", 1280, "light"),
}
"""Which pictures the documentation has: their names, the screen, its width and theme."""


def running(stage: Stage) -> None:
    """Show a turn without a question in it."""
    scenes.mid_turn(stage)
    stage.board.drop("question:1")
    stage.board.drop("question:2")
    stage.board.drop("call:7")
    stage.board.drop("call:8")
    fares = Progress(31, 47, "Asking airlines: Vueling, 4 fares so far")
    given = {"origin": "NYC", "destination": "Barcelona", "date": "2024-06-15", "travelers": 2}
    stage.board.put(
        scenes.call(
            6, "travel", "findBestFlight", state="running", progress=fares, arguments=given, began=time.time() - 12.4
        )
    )


def result(stage: Stage) -> None:
    """Show a result, and what the model makes of it."""
    begun(stage)
    table = "| Airline | Leaves | Arrives | Price |\n|---|---|---|--:|\n| Iberia | JFK 08:10 | BCN 21:55 | $612 |\n"
    found = [
        Block("text", table + "| TAP | EWR 09:25 | BCN 23:40 | $548 |\n| Vueling | JFK 17:30 | BCN 07:20 | $705 |")
    ]
    given = {"origin": "NYC", "date": "2024-06-15"}
    put = stage.board.put
    put(
        scenes.call(
            3, "travel", "searchFlights", state="done", seconds=3.1, arguments=given, result=found, bytes=48_300
        )
    )
    put(scenes.call(4, "weather", "forecast", state="failed", word="The server answered: no such city", arguments={}))
    put(
        scenes.model_says(
            5, "**I would take Iberia at 08:10, $612.** It is the only morning departure:\n\n- lands early\n- one stop"
        )
    )


def rich_without_questions(stage: Stage) -> None:
    """Show something of everything; nothing waits."""
    rich(stage)
    stage.board.drop("question:1")
    stage.board.drop("question:2")


def begun(stage: Stage) -> None:
    """Show an empty chat with servers."""
    scenes.empty(stage)
    scenes.servers(stage)
    scenes.tools(stage)


def log(stage: Stage) -> None:
    """Show a long log."""
    scenes.records(stage)
    scenes.servers(stage)


def opened(page: Page) -> None:
    page.locator("[data-call='call:3'] .step-h").click()


def picker(page: Page) -> None:
    page.get_by_role("button", name="Resources").last.click()
    page.get_by_role("treeitem", name="Trip 3").click()


def prompt(page: Page) -> None:
    page.locator(".start").first.click()


def slash(page: Page) -> None:
    page.locator(".say").fill("/")


def event(page: Page) -> None:
    page.locator(".vrow").nth(2).click()


def nothing(page: Page) -> None:
    """Take it as it is."""


SCREENS: list[tuple[str, str, Callable[[Stage], None], Callable[[Page], None]]] = [
    ("01-trust", "chat", scenes.trust, nothing),
    ("02-running", "chat", running, nothing),
    ("03-approvals", "chat", scenes.mid_turn, nothing),
    ("04-form", "chat", scenes.form, nothing),
    ("05-sampling", "chat", scenes.sampling, nothing),
    ("06-completion", "chat", scenes.completion, nothing),
    ("07-visit", "chat", scenes.visit, nothing),
    ("08-result", "chat", result, opened),
    ("09-new-chat", "chat", begun, slash),
    ("10-attach", "chat", rich_without_questions, picker),
    ("11-prompt", "prompts", rich, prompt),
    ("12-servers", "servers", rich, nothing),
    ("13-tool-changed", "tools/tool:travel%2FcancelTrip", rich, nothing),
    ("14-activity", "activity", log, event),
    ("15-permissions", "permissions", rich, nothing),
    ("16-settings", "settings", rich, nothing),
]


def main(folder: Path, only: str = "") -> None:
    """Make all pictures, or those of the screens with a word in their names."""
    wanted = {
        f"{screen}-{width}-{theme}": (screen, width, theme)
        for screen, *_ in SCREENS
        if only in screen
        for width in SIZES
        for theme in THEMES
    }
    make(folder, wanted)


def make(folder: Path, wanted: Mapping[str, tuple[str, int, str]]) -> None:
    """Make the pictures that are wanted, each screen served once."""
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for name, place, scene, act in SCREENS:
            shots = [(file, width, theme) for file, (screen, width, theme) in wanted.items() if screen == name]
            if not shots:
                continue
            with served(scene) as face:
                page = face.opened(browser, f"/{place}")
                for file, width, theme in shots:
                    page.set_viewport_size({"width": width, "height": SIZES[width]})
                    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
                    page.goto(f"{face.origin}/#/{place}")
                    page.reload()
                    page.wait_for_selector(".app")
                    page.wait_for_timeout(600)
                    act(page)
                    page.wait_for_timeout(350)
                    page.screenshot(path=folder / f"{file}.png")


if __name__ == "__main__":
    if sys.argv[1] == "docs":
        make(DOCS, KEPT)
    else:
        main(Path(sys.argv[1]), *sys.argv[2:])
