"""Every screen at three widths, light and dark: what a picture of it must hold, and the picture itself."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from faces.web.face import served
from faces.web.pictures import SIZES, THEMES, shots, small
from faces.web.screens import SCREENS, Screen

FOLDER = os.environ.get("SPLICE_PICTURES", "")
"""Where the pictures are kept; empty: nowhere."""

FONTS = ("Inter", "JetBrains Mono")
"""What pictures are made with; each weight has a name of its own."""

CUT = """() => [...document.querySelectorAll("button, a.btn, [role=tab], [role=switch], h1, h2")].filter((node) => {
    const box = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    if (!box.width || !box.height || style.visibility === "hidden") return false;
    if (node.closest(".skip, .sr, .wide-x, [inert]")) return false;
    const isScrolled = node.closest(".tabs");
    const isCut = node.matches(".btn") && !node.querySelector(".clip") && node.scrollWidth > node.clientWidth + 1;
    return isCut || (!isScrolled && (box.right > innerWidth + 1 || box.left < -1));
}).map((node) => node.outerHTML.slice(0, 140))"""
"""Buttons and titles that are not there whole."""


@pytest.mark.parametrize("screen", SCREENS, ids=[screen.name for screen in SCREENS])
def test_a_picture_shows_a_whole_page_in_its_own_theme(browser: Browser, tmp_path: Path, screen: Screen) -> None:
    folder = Path(FOLDER) if FOLDER else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    said: list[str] = []
    taken: dict[tuple[int, str], bytes] = {}
    with served(screen.scene) as face:
        for page, width, theme in shots(face, browser, screen):
            if not taken:
                page.on("console", lambda message: said.append(_trouble(message)))
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, theme)
            assert page.evaluate(CUT) == [], (width, theme)
            taken[width, theme] = page.screenshot()
            if FOLDER:
                (folder / f"{screen.name}-{width}-{theme}.png").write_bytes(small(taken[width, theme]))
        if FOLDER:  # a machine that only runs the tests need not have them
            assert {font for font in _fonts(page) if not font.startswith(FONTS)} == set()
        assert not face.faults
    assert [each for each in said if each] == []
    assert len(taken) == len(SIZES) * len(THEMES)
    for width in SIZES:
        assert taken[width, "light"] != taken[width, "dark"]


def _trouble(message: ConsoleMessage) -> str:
    return message.text if message.type in ("error", "warning") else ""


def _fonts(page: Page) -> set[str]:
    """Name the fonts that the page is really drawn with."""
    session = page.context.new_cdp_session(page)
    for each in ("DOM.enable", "CSS.enable"):
        session.send(each)
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    ids = session.send("DOM.querySelectorAll", {"nodeId": root, "selector": "h1, h2, p, button, code, .mono"})[
        "nodeIds"
    ]
    found = [session.send("CSS.getPlatformFontsForNode", {"nodeId": id})["fonts"] for id in ids]
    return {font["familyName"] for fonts in found for font in fonts}
