"""Each screen as it was when a person looked at it last: its text, and its colours in every look.

`SPLICE_GOLDENS=write pytest tests/faces/terminal/test_goldens.py` writes them anew; a person reads the difference.
"""

import asyncio
import difflib
import os
import string
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.filter import Monochrome

from faces.terminal.acting import Acting, acting
from splice.host.asked import RootsAsked
from splice.host.items import Block, Call, Root, Step
from splice.host.terminal import glyphs
from support import scenes
from support.stage import Stage

FOLDER = Path(__file__).parent / "goldens"

MAX_BYTES = 400_000
"""How much they may be in all."""

Scene = Callable[[Stage], None]


def tools(stage: Stage) -> None:
    scenes.mid_turn(stage)
    scenes.changed_tool(stage)


def folders(stage: Stage) -> None:
    scenes.empty(stage)
    stage.board.put(Root(id="root:file:///trips", uri="file:///trips", name="trips"))
    scenes.ask(stage, 1, "files", RootsAsked(["file:///trips", "file:///home/ada/notes"]))


def sampling(stage: Stage) -> None:
    scenes.sampling(stage)
    scenes.tools_for_the_model(stage)


def one_call(stage: Stage) -> None:
    scenes.empty(stage)
    stage.board.put(scenes.model_says(2, "I look at the weather."))
    steps = [Step(0, "the rule weather/*", "Allowed")]
    result = [Block("text", "24-27 °C, dry")]
    done = {"seconds": 0.3, "bytes": 14, "tokens": 4, "trail": steps, "result": result}
    stage.board.put(scenes.call(3, "weather", "forecast", state="done", arguments={"city": "Barcelona"}, **done))


SCREENS: dict[str, tuple[Scene, tuple[str, ...]]] = {
    "chat": (scenes.mid_turn, ()),
    "start": (scenes.empty, ()),
    "call": (one_call, ("ctrl+f", *"24-27", "enter", "enter")),
    "approval": (scenes.mid_turn, ("ctrl+o",)),
    "grave": (scenes.grave, ("ctrl+o", "]", "]")),
    "arguments": (scenes.mid_turn, ("ctrl+o", "e")),
    "form": (scenes.form, ("ctrl+o", "space", "ctrl+s")),
    "visit": (scenes.visit, ("ctrl+o",)),
    "sampling": (sampling, ("ctrl+o", "end")),
    "completion": (scenes.completion, ("ctrl+o",)),
    "trust": (scenes.trust, ("ctrl+o", "]")),
    "folders": (folders, ("ctrl+o",)),
    "prompt": (scenes.empty, ("ctrl+p", *"plan", "enter")),
    "servers": (scenes.crashed, ("f3", "down", "down")),
    "tools": (tools, ("f4",)),
    "resources": (scenes.resources, ("f5", "end", "up", "up", "enter")),
    "activity": (scenes.records, ("f6",)),
    "permissions": (scenes.permissions, ("f7",)),
    "settings": (scenes.empty, ("f8",)),
    "palette": (scenes.mid_turn, ("ctrl+p",)),
    "help": (scenes.mid_turn, ("f1",)),
}
"""By name: what is on the board, and the keys that are pressed."""

LAYOUTS = ((40, 10), (120, 40), (160, 40))
"""Sizes in which the chat is drawn too."""


def lines(person: Acting) -> list[list[Segment]]:
    """Return what is on the screen: segments of one style, cells of nothing at the end of a line left out."""
    return [list(Segment.simplify(strip)) for strip in person.app.screen._compositor.render_strips()]


def text(drawn: list[list[Segment]]) -> Iterator[str]:
    for line in drawn:
        yield "".join(segment.text for segment in line).rstrip()


def told(style: Style | None) -> str:
    """Write a style in a steady form."""
    if style is None:
        return "plain"
    colours = [each.name if each else "-" for each in (style.color, style.bgcolor)]
    words = [word for word in ("bold", "dim", "italic", "underline", "reverse") if getattr(style, word)]
    return " ".join([f"{colours[0]}/{colours[1]}", *words])


def colours(drawn: list[list[Segment]]) -> Iterator[str]:
    """Write the styles: a letter for each, and for each line how many cells of which; equal lines once."""
    letters: dict[str, str] = {}
    runs: list[str] = []
    for line in drawn:
        known = [(told(segment.style), segment.cell_length) for segment in line]
        for style, _ in known:
            letters.setdefault(style, (string.ascii_letters + string.punctuation)[len(letters)])
        parts = groupby(known, key=lambda each: each[0])
        runs.append("".join(f"{letters[style]}{sum(size for _, size in part)}" for style, part in parts))
    yield from (f"  {letter} {style}" for style, letter in letters.items())
    yield from (f"  {run}{f' x {count}' if (count := len(list(same))) > 1 else ''}" for run, same in groupby(runs))


async def ready(person: Acting, keys: tuple[str, ...]) -> None:
    """Press the keys, and wait until nothing on the screen changes any more."""
    if person.stage.board.get("call:6", Call) is not None:
        person.stage.board.change("call:6", began=0.0, seconds=4.1)
    person.app.settle({"reduced_motion": True})
    for key in keys:
        await person.press({"]": "right_square_bracket"}.get(key, key))
    person.app.clear_notifications()  # they go by themselves, at any time
    await still(person)


async def still(person: Acting) -> None:
    before = None
    for _ in range(40):
        await person.pilot.pause(0.03)
        if (now := [[*map(tuple, line)] for line in lines(person)]) == before:
            return
        before = now


async def picture(name: str) -> str:
    """Draw a screen in all looks."""
    scene, keys = SCREENS[name]
    parts: list[str] = []
    async with acting(scene) as person:
        await ready(person, keys)
        parts += [f"== {name}, 80x24", *text(lines(person))]
        for theme in ("splice-dark", "splice-light", "splice-16-dark"):
            person.app.theme = theme
            await still(person)
            parts += [f"== {theme}", *colours(lines(person))]
        person.app.theme = "splice-dark"
        person.app._filters.append(Monochrome())  # what NO_COLOR does
        person.app.refresh_css()
        await still(person)
        parts += ["== NO_COLOR", *colours(lines(person))]
    async with acting(scene, look=glyphs.ASCII) as person:
        await ready(person, keys)
        parts += ["== ASCII", *text(lines(person))]
    return "\n".join(parts) + "\n"


async def layout(size: tuple[int, int]) -> str:
    async with acting(scenes.mid_turn, size) as person:
        await ready(person, ())
        return "\n".join([f"== chat, {size[0]}x{size[1]}", *text(lines(person))]) + "\n"


def compare(name: str, drawn: str) -> None:
    path = FOLDER / f"{name}.txt"
    if os.environ.get("SPLICE_GOLDENS") == "write":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(drawn, encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    changes = difflib.unified_diff(kept.splitlines(), drawn.splitlines(), "as it was", "as it is", lineterm="", n=1)
    assert kept == drawn, "\n".join([*changes][:60])


@pytest.fixture(autouse=True)
def greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let clocks show the same time everywhere."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_it_was(name: str) -> None:
    compare(name, asyncio.run(picture(name)))


@pytest.mark.parametrize("size", LAYOUTS)
def test_a_layout_is_as_it_was(size: tuple[int, int]) -> None:
    compare(f"chat-{size[0]}x{size[1]}", asyncio.run(layout(size)))


def test_pictures_are_small_and_none_is_left_over() -> None:
    kept = {path.stem: path.stat().st_size for path in FOLDER.glob("*")}
    assert set(kept) == {*SCREENS, *(f"chat-{width}x{height}" for width, height in LAYOUTS)}
    assert sum(kept.values()) <= MAX_BYTES
