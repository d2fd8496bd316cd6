"""Pictures of every screen, at three widths, light and dark, each with 256 colours.

All of them, checked, into a folder: each is `screen-width-theme.png`, as in `03-approvals-360-dark.png`:

    SPLICE_PICTURES=DIR pytest -n 2 tests/faces/web/test_pictures.py

Those of some screens: add `-k approvals`. Every test run makes and checks them; without that variable it keeps none.
The documentation has all of them, in `docs/host/pictures`. A person looks at pictures before they are kept.

Install the fonts Inter and JetBrains Mono, so that they are the same on every machine: without them the command fails.
The boards are staged in `screens` beside this and in `support.scenes`.
"""

import io
from collections.abc import Iterator
from typing import Literal, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page

from faces.web.face import Served, still
from faces.web.screens import Screen

SIZES = {1280: 800, 768: 1024, 360: 780}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


class Shot(NamedTuple):
    """A picture in the making: the page stands as it will be taken."""

    page: Page
    width: int
    theme: str


def shots(face: Served, browser: Browser, screen: Screen) -> Iterator[Shot]:
    """Bring a page to where its pictures are taken: at every width in every theme."""
    page = face.opened(browser, f"/{screen.place}", device_scale_factor=1)
    for width, height in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.reload()
        still(page)
        screen.act(page)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            still(page)
            yield Shot(page, width, theme)


def small(png: bytes) -> bytes:
    """Write a picture with the 256 colours that come closest to its own: nobody sees the difference."""
    written = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        written, "PNG", optimize=True
    )
    return written.getvalue()
