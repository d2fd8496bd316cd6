"""Colours: one hue is kept for what the person must answer. Dark, light, and the sixteen of the terminal's own.

Text has a contrast of at least 4.5 (WCAG AA) on every surface that it is drawn on; a test computes it.
"""

from collections.abc import Mapping

from textual.theme import BUILTIN_THEMES, Theme

DARK = {
    "ink": "#15171C",
    "surface": "#1B1E25",
    "raised": "#232832",
    "line": "#363D4A",
    "edge": "#6C7688",
    "muted": "#9BA5B5",
    "text": "#DDE2EA",
    "accent": "#9DB2FF",
    "wait": "#EBC06D",
    "bad": "#F59A90",
    "ok": "#8CCB9B",
}
LIGHT = {
    "ink": "#FBFAF7",
    "surface": "#F3F2ED",
    "raised": "#FFFFFF",
    "line": "#D5D3CB",
    "edge": "#80858E",
    "muted": "#5A616C",
    "text": "#23272F",
    "accent": "#3A50BE",
    "wait": "#855300",
    "bad": "#B02A20",
    "ok": "#226B3B",
}
_SIXTEEN = {
    "ink": "ansi_default",
    "surface": "ansi_default",
    "raised": "ansi_default",
    "line": "ansi_bright_black",
    "edge": "ansi_bright_black",
    "muted": "ansi_default",
    "text": "ansi_default",
    "wait": "ansi_yellow",
    "bad": "ansi_red",
    "ok": "ansi_green",
}
SIXTEEN_DARK = {**_SIXTEEN, "accent": "ansi_bright_blue"}
SIXTEEN_LIGHT = {**_SIXTEEN, "accent": "ansi_blue"}

NAMES = ("ink", "line", "edge", "muted", "raised", "wait", "bad", "ok")
"""Names of ours, which Textual's own do not have. `fill` is what text on a filled colour is written in."""


def _theme(name: str, colours: Mapping[str, str], *, dark: bool, ansi: bool = False) -> Theme:
    own = {each: colours[each] for each in NAMES} | {"fill": "ansi_black" if ansi else colours["ink"]}
    given = BUILTIN_THEMES["ansi-dark" if dark else "ansi-light"].variables if ansi else {}
    return Theme(
        name=name,
        dark=dark,
        ansi=ansi,
        primary=colours["accent"],
        accent=colours["accent"],
        success=colours["ok"],
        warning=colours["wait"],
        error=colours["bad"],
        foreground=colours["text"],
        background=colours["ink"],
        surface=colours["surface"],
        panel=colours["raised"],
        boost=colours["raised"] if ansi else None,
        variables={**given, **own},
    )


THEMES = (
    _theme("splice-dark", DARK, dark=True),
    _theme("splice-light", LIGHT, dark=False),
    _theme("splice-16-dark", SIXTEEN_DARK, dark=True, ansi=True),
    _theme("splice-16-light", SIXTEEN_LIGHT, dark=False, ansi=True),
)

FALLBACKS = {name: DARK[name] for name in NAMES} | {"fill": DARK["ink"]}
"""What the stylesheet is read with before a theme is set."""


def is_light(environ: Mapping[str, str], answer: str = "") -> bool:
    """Tell whether the terminal is light: by its answer to OSC 11, else by `COLORFGBG`."""
    if "rgb:" in answer:
        red, green, blue = (_part(each) for each in (*answer.split("rgb:")[1].split("/"), "", "")[:3])
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5
    return environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")


def _part(digits: str) -> float:
    """Read one colour of an answer to OSC 11: one to four hexadecimal digits of a whole."""
    known = "".join(each for each in digits[:4] if each in "0123456789abcdefABCDEF")
    return int(known, 16) / (16 ** len(known) - 1) if known else 0.0


def choose(environ: Mapping[str, str], *, setting: str = "", answer: str = "") -> str:
    """Choose the theme: by the setting, else by the terminal; of sixteen colours where it has no more."""
    light = setting == "light" or (setting != "dark" and is_light(environ, answer))
    term = environ.get("TERM", "")
    has_many = environ.get("COLORTERM", "") in ("truecolor", "24bit") or "256" in term or "direct" in term
    return f"splice-{'' if has_many else '16-'}{'light' if light else 'dark'}"
