"""Colours and keys of the terminal app: contrast is computed, keys are compared with their table."""

import asyncio
import os
import re
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.widgets import Input, TextArea

from faces.terminal.acting import acting
from splice.host.board import Board
from splice.host.items import Chat, Message
from splice.host.terminal import app, dialogs, keyfile, keys, theme
from splice.host.terminal.adding import LookDialog
from splice.host.terminal.asides import EditArguments
from splice.host.terminal.asking import Asking
from splice.host.terminal.calls import CallRow
from splice.host.terminal.chat import Chat as ChatView
from splice.host.terminal.chat import Said
from splice.host.terminal.composer import Composer
from splice.host.terminal.full import goodbye
from splice.host.terminal.glyphs import ASCII, UNICODE
from splice.host.terminal.glyphs import choose as choose_glyphs
from splice.host.terminal.panels import Panel, Table
from splice.host.terminal.prompting import PromptDialog
from support import scenes


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


DESIGNED = {
    "f1": "help",
    "f9": "sides",
    "ctrl+c": "interrupt",
    "ctrl+p": "palette",
    "ctrl+o": "answer",
    "ctrl+f": "find",
    "ctrl+g": "editor",
    "ctrl+n": "new",
    "escape": "escape",
    "pageup": "scroll_chat('pageup')",
    **{f"f{number}": f"view('{view}')" for number, view in enumerate(keys.VIEWS, 2)},
    **{str(number): f"view('{view}')" for number, view in enumerate(keys.VIEWS, 1)},
}
"""The keys that act everywhere, as the design has them."""

KINDS: list[type] = [
    *(app.Splice, Composer, Said, ChatView, CallRow, Table, Asking, PromptDialog, EditArguments, LookDialog),
    *dialogs._DIALOGS.values(),
    *(*Panel.__subclasses__(), *Table.__subclasses__()),
]


def bound(kind: type) -> dict[str, Binding]:
    """List a class's own bindings by their keys."""
    found = [each for each in kind.__dict__.get("BINDINGS", ()) if isinstance(each, Binding)]
    return {key: each for each in found for key in each.key.split(",")}


def test_the_keys_of_the_app_are_those_of_the_design() -> None:
    own = {key: each.action for key, each in bound(app.Splice).items()}
    assert DESIGNED.items() <= own.items()
    assert set(own) - set(DESIGNED) == {"pagedown", "home", "end", "ctrl+l"}


def test_each_key_of_the_table_is_bound_where_it_says() -> None:
    named = {each.id for kind in KINDS for each in bound(kind).values() if each.id}
    assert named == {named for named, _, _ in keys.all_keys()}


def test_keys_of_terminals_and_of_editing_are_left_alone() -> None:
    for kind in KINDS:
        assert set(bound(kind)) & keys.NEVER == set(), kind
        for key, each in bound(kind).items():
            assert not each.priority or re.fullmatch(r"f\d|ctrl\+[cgrs]", key), f"{key} is taken from fields"
    assert set(bound(app.Splice)) & {*bound(Input), *bound(TextArea)} <= {
        *("home", "end", "pageup", "pagedown", "f6", "f7", "ctrl+c", "ctrl+f"),
    }


def test_keys_of_one_place_do_not_meet() -> None:
    for place, own in keys.PLACES.items():
        known = [key for each in own for key in each.keys.split(",")]
        assert len(known) == len(set(known)), place
        assert place not in keys.DECIDES or not {"enter", "space", "escape"} & set(known)


def test_each_footer_shows_keys_that_act() -> None:
    signs = keys.Signs()
    written = {"Enter", "^J", "Tab", "/", "@"}
    for view in ("start", *keys.VIEWS):
        foot = signs.foot(view)
        assert len(foot) <= 6
        assert foot[-1] == ("F1", "help")
        acting = {signs.of(keys.name(place, key)) for place in ("app", view) for key in keys.PLACES.get(place, ())}
        assert {key for key, _ in foot} <= acting | written, view


def test_the_page_on_the_terminal_names_all_keys() -> None:
    page = (Path(__file__).parents[3] / "docs/host/terminal.md").read_text(encoding="utf-8")
    section = page.partition("## Your own keys")[2].partition("## ")[0]
    written = set(re.findall(r"`([a-z_-]+)`", section))
    assert {part for named, _, _ in keys.all_keys() for part in named.split(".", 1)} <= written


CHANGED = """
[app]
palette = "ctrl+t"
new = "n"
[servers]
restart = "t"
logs = "o"
[approval]
once = "enter"
deny = "N"
[help]
x = "y"
[tools]
switch = ["a"]
accept = "ctrl+b"
"""


def test_keys_are_changed_by_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    assert keyfile.read(path) == keyfile.Read({}, [])
    path.write_text(CHANGED)
    found = keyfile.read(path)
    assert found.keys == {"app.palette": "ctrl+t", "servers.restart": "t", "approval.deny": "N"}
    assert [each.partition(": ")[2] for each in found.problems] == [
        "app.new: in the app only ctrl+LETTER and F keys leave text to be typed",
        "servers.logs: o is servers.switch already",
        "approval.once: enter decides nothing, so that nothing is decided by reflex",
        "help.x: there is no key of this name",
        "tools.switch: write one key: x, X, ctrl+x, f5, slash",
        "tools.accept: ctrl+b is left to the terminal and to editing",
    ]
    for bad in (b"[", b"\xff", b"a = 1", b"x" * 70_000):
        path.write_bytes(bad)
        assert keyfile.read(path).keys == {}
        assert len(keyfile.read(path).problems) == 1
    path.unlink()
    os.mkfifo(path)  # opening it would wait for somebody who writes
    assert keyfile.read(path) == keyfile.Read({}, ["keys.toml is no file"])

    async def play() -> None:
        async with acting(scenes.mid_turn) as person:
            person.app.change_keys(found)
            person.app.show_view("servers")
            await person.sees("t restart")
            await person.press("down", "r", "t")
            assert person.named("restart_server") == [{"name": "weather"}]
            await person.press("ctrl+t")
            await person.sees("F3, t")
            await person.press("escape", "escape", "ctrl+o")
            await person.sees("N Deny")
            await person.press("d")
            assert person.answers() == []
            await person.press("N")
            assert len(person.answers()) == 1

    asyncio.run(play())


def test_what_stays_when_the_app_ends_says_how_to_go_on() -> None:
    board = Board()
    assert goodbye(board) == ""
    board.put(Chat(id="chat:7f3a0000aa", title="Barcelona\x1b[2J", is_open=True))
    board.put(Chat(id="chat:7f3a1111bb", title="Another"))
    assert goodbye(board) == "", "nothing was said"
    board.put(Message(id="message:1", chat="7f3a0000aa", role="user", text="hello"))
    assert goodbye(board) == 'Chat "Barcelona<ESC>[2J" kept.\nGo on: splice host chat --resume 7f3a0\n'
