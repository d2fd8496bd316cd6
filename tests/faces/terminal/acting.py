"""The terminal app over a stage, or over a host, and a person at its keys."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widget import Widget

from splice.host.terminal.app import Splice
from splice.host.terminal.asking import Asking
from support.stage import Stage

AWidget = TypeVar("AWidget", bound=Widget)

STEPS = 200


class Acting:
    """A person at the app."""

    def __init__(self, stage: Stage, app: Splice, pilot: Pilot[int]) -> None:
        self.stage, self.app, self.pilot = stage, app, pilot

    @property
    def asked(self) -> Asking[Any] | None:
        """The question that is open."""
        screen = self.app.screen
        return screen if isinstance(screen, Asking) and not screen.is_over else None

    async def press(self, *keys: str) -> None:
        """Press keys, and let the app take them."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def write(self, text: str) -> None:
        """Type a text, faster than the app draws."""
        for each in text:
            name = "ctrl+j" if each == "\n" else _character_to_key(each)
            self.app.post_message(Key(name, None if each == "\n" else each))
        await self.pilot.pause()

    async def until(self, holds: Callable[[], Any], what: str = "it never holds") -> None:
        """Wait until something holds."""
        for _ in range(STEPS):
            if holds():
                return
            await self.pilot.pause(0.02)
        raise AssertionError(f"{what}:\n{self.text()}")

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
    async with app.run_test(size=size, notifications=bool(address)) as pilot:
        person = Acting(host, app, pilot)
        await pilot.pause(0.05)
        yield person
