"""The terminal app over a stage, or over a host, and a person at its keys.

Textual's pilot takes the app for done once the process is idle, which on a busy machine it seems to be at any time.
Here it takes so many turns of the event loop instead, on any machine: what needs time, a thread or another process, is
waited for by what there is to see of it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from typing import Any, TypeVar
from unittest.mock import patch

from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widget import Widget

from splice.host.board import Batch
from splice.host.terminal.app import Splice
from splice.host.terminal.asking import Asking
from support.stage import Stage
from support.waiting import settle

AWidget = TypeVar("AWidget", bound=Widget)

LIMIT_SECONDS = 30.0
"""How long anything may take to be seen."""
TURNS = 50
"""Of the event loop: so many the app gets after each key, for what it does by itself."""


class Acting:
    """A person at the app."""

    def __init__(self, stage: Stage, app: Splice, pilot: Pilot[int]) -> None:
        self.stage, self.app, self.pilot = stage, app, pilot
        self.batches: list[Batch] = []
        """What the app has taken from the board."""

    @property
    def asked(self) -> Asking[Any] | None:
        """The question that is open."""
        screen = self.app.screen
        return screen if isinstance(screen, Asking) and not screen.is_over else None

    async def press(self, *keys: str) -> None:
        """Press keys, and let the app take them."""
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()

    async def write(self, text: str) -> None:
        """Type a text, faster than the app draws."""
        for each in text:
            name = "ctrl+j" if each == "\n" else _character_to_key(each)
            self.app.post_message(Key(name, None if each == "\n" else each))
        await self.pilot.pause()

    async def until(self, holds: Callable[[], Any], what: str = "it never holds") -> None:
        """Wait until something holds."""
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                while not holds():
                    await self.pilot.pause(0.01)
        except TimeoutError:
            raise AssertionError(f"{what}:\n{self.text()}") from None

    async def takes(self) -> None:
        """Wait until the app has taken all that is on the board, and drawn it."""
        await self.until(lambda: self.batches and self.batches[-1].number == self.stage.board.number)
        await self.pilot.pause()

    async def sees(self, words: str) -> None:
        """Wait until words stand on the screen."""
        await self.until(lambda: words in self.text(), f"{words!r} is not on the screen")

    def text(self) -> str:
        """Return the screen as text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    def named(self, name: str) -> list[dict[str, Any]]:
        return self.stage.named(name)

    def answers(self) -> list[object]:
        return [each["answer"] for each in self.stage.named("answer")]

    def find(self, kind: type[AWidget]) -> AWidget:
        return self.app.screen.query_one(kind)


@asynccontextmanager
async def acting(
    scene: Callable[[Stage], None], size: tuple[int, int] = (80, 24), *, alone: bool = False, **fields: Any
) -> AsyncIterator[Acting]:
    """Run the app over a scene. Without `alone` no question opens by itself."""
    stage = Stage()
    scene(stage)
    async with sitting(stage, size, alone=alone, **fields) as person:
        yield person


@asynccontextmanager
async def sitting(
    host: Any,
    size: tuple[int, int] = (80, 24),
    *,
    alone: bool = False,
    first: str = "",
    address: str = "",
    **fields: Any,
) -> AsyncIterator[Acting]:
    """Run the app over a host. What it says in passing is seen only where an `address` is said."""
    app = Splice(host, **fields)
    app.first, app.address = first, address
    app.guard = 0
    app.opens_alone = alone
    taken = list[Batch]()

    def apply(batch: Batch) -> None:
        Splice.apply(app, batch)
        taken.append(batch)

    with ExitStack() as patches:
        patches.enter_context(patch.object(app, "apply", apply))
        for module in ("app", "pilot"):
            patches.enter_context(patch(f"textual.{module}.wait_for_idle", _turns))
        async with app.run_test(size=size, notifications=bool(address)) as pilot:
            person = Acting(host, app, pilot)
            person.batches = taken
            await person.takes()
            yield person


async def _turns(*_: float) -> None:
    await settle(TURNS)
