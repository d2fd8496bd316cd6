"""The app may end at any moment: while a dialog opens, while keys come. Nobody sees an error of that."""

import asyncio
from collections.abc import Callable

import pytest
from textual.events import Key

from faces.terminal.acting import acting
from support import scenes
from support.stage import Stage

STEPS = 16
"""Of the event loop: after so many a dialog is there."""


@pytest.mark.parametrize(
    ("scene", "key"),
    [(scenes.mid_turn, "ctrl+o"), (scenes.form, "ctrl+o"), (scenes.sampling, "ctrl+o"), (scenes.mid_turn, "ctrl+p")],
    ids=["approval", "form", "sampling", "palette"],
)
def test_it_ends_in_any_step_of_a_dialog_that_opens(scene: Callable[[Stage], None], key: str) -> None:
    async def end_after(steps: int) -> None:
        async with acting(scene) as person:
            person.app.post_message(Key(key, None))
            for _ in range(steps):
                await asyncio.sleep(0)

    for steps in range(STEPS):
        asyncio.run(end_after(steps))
