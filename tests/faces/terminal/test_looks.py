"""Colours and keys of the terminal app: contrast is computed, keys are compared with their table."""

import re

import pytest
from textual.binding import Binding
from textual.widgets import Input

from splice.host.terminal import app, dialogs, keys, theme
from splice.host.terminal.composer import Composer
from splice.host.terminal.glyphs import ASCII, UNICODE
from splice.host.terminal.glyphs import choose as choose_glyphs
from splice.host.terminal.panels import Panel


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [theme.DARK, theme.LIGHT], ids=["dark", "light"])
def test_text_can_be_read_on_every_surface(colours: dict[str, str]) -> None:
    for surface in ("ink", "surface", "raised"):
        for name in ("text", "muted", "accent", "wait", "bad", "ok"):
            assert contrast(colours[name], colours[surface]) >= 4.5, f"{name} on {surface}"
        assert contrast(colours["edge"], colours[surface]) >= 3, f"frames on {surface}"
        assert contrast(colours["text"], colours[surface]) >= 7
    for filled in ("wait", "accent"):
        assert contrast(colours["ink"], colours[filled]) >= 4.5, f"text on {filled}"


@pytest.mark.parametrize(
    ("environ", "setting", "answer", "name"),
    [
        ({"COLORTERM": "truecolor"}, "", "", "splice-dark"),
        ({"COLORTERM": "truecolor"}, "light", "", "splice-light"),
        ({"TERM": "xterm-256color"}, "", "\x1b]11;rgb:ffff/ffff/ffff", "splice-light"),
        ({"TERM": "xterm-256color"}, "", "\x1b]11;rgb:1515/1717/1c1c", "splice-dark"),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "", "", "splice-light"),
        ({"TERM": "xterm"}, "", "rgb:x/", "splice-16-dark"),
        ({"TERM": "xterm", "COLORFGBG": "0;15"}, "dark", "", "splice-16-dark"),
    ],
)
def test_the_theme_is_chosen(environ: dict[str, str], setting: str, answer: str, name: str) -> None:
    assert theme.choose(environ, setting=setting, answer=answer) == name


def test_the_signs_are_chosen() -> None:
    assert choose_glyphs({}) is UNICODE
    assert choose_glyphs({"TERM": "linux"}) is ASCII
    assert choose_glyphs({}, setting="ascii") is ASCII
    assert choose_glyphs({}, encoding="ISO-8859-1") is ASCII


def bound(kind: type) -> set[str]:
    """List the keys of a class's own bindings."""
    found = [each for each in kind.__dict__.get("BINDINGS", ()) if isinstance(each, Binding)]
    return {key for each in found for key in each.key.split(",")}


def test_keys_of_terminals_and_of_editing_are_left_alone() -> None:
    kinds: list[type] = [app.Splice, Composer, *dialogs._DIALOGS.values(), *Panel.__subclasses__()]
    for kind in kinds:
        assert bound(kind) & keys.NEVER == set(), kind


def test_keys_that_write_are_not_taken_from_fields() -> None:
    for kind in (app.Splice, *dialogs._DIALOGS.values(), *Panel.__subclasses__()):
        for each in kind.__dict__.get("BINDINGS", ()):
            if isinstance(each, Binding) and each.priority:
                assert re.fullmatch(r"f\d|ctrl\+[crs]", each.key), f"{each.key} is taken from fields"
    assert bound(app.Splice) & bound(Input) <= {"home", "end", "ctrl+c"}


def test_each_view_has_its_key_and_its_footer() -> None:
    for number, view in enumerate(keys.VIEWS, 2):
        assert f"f{number}" in bound(app.Splice)
        assert len(keys.FOOTERS[view]) <= 6
        assert keys.FOOTERS[view][-1] == ("F1", "help")
