"""Colours of the web face: every pair that is read has the contrast of WCAG AA, in both themes."""

import re

import pytest

from splice.host.web.app import STATIC

TOKEN = re.compile(r"--([\w-]+):\s*light-dark\((#\w{6}), (#\w{6})\)")
TOKENS = {name: colours for name, *colours in TOKEN.findall((STATIC / "splice.css").read_text(encoding="utf-8"))}
SURFACES = ["bg", "bg-sunk", "bg-raised", "bg-quote", "bg-hover"]

PAIRS = [
    (4.5, ["text", "text-2", "text-3"], [*SURFACES, "bg-me"]),
    (4.5, ["text", "text-2"], ["bg-active", "accent-bg", "warn-bg", "bad-bg"]),
    (4.5, ["accent"], [*SURFACES, "accent-bg"]),
    (4.5, ["on-ink"], ["ink", "ink-hover"]),
    (4.5, ["on-accent"], ["accent-solid"]),
    *((4.5, [tone], [*SURFACES, f"{tone}-bg"]) for tone in ("ok", "warn", "bad")),
    *((4.5, [f"id-{hue}"], [f"id-{hue}-bg"]) for hue in range(1, 7)),
    (4.5, ["text"], ["del-bg", "del-mark", "add-bg", "add-mark"]),
    (3.0, ["line-control", "focus", "bar"], SURFACES[:4]),
]


def light(colour: str) -> float:
    """Give the relative luminance of WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_pair_of_colours_is_read_with_ease(theme: int) -> None:
    for least, front, back in PAIRS:
        for one, other in ((one, other) for one in front for other in back):
            dark, bright = sorted((light(TOKENS[one][theme]), light(TOKENS[other][theme])))
            assert (bright + 0.05) / (dark + 0.05) >= least, f"{one} on {other}"
