"""A model for tests of the host."""

from collections.abc import AsyncIterator

from msgspec import Struct

from splice.host.models.base import ModelEvent, ModelFailed, Stop, Text, Usage, Use
from splice.types import CreateMessageParams


class Parrot(Struct):
    """A model that numbers its answers, and remembers what it was told."""

    id: str = "demo"
    label: str = "Demo model"
    where: str = "on this computer"
    provider: str = "demo"
    is_ai: bool = False
    window: int = 1000
    told: list[CreateMessageParams] = []
    fails: bool = False

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        self.told.append(params)
        if self.fails:
            raise ModelFailed("login", "The key sk-1 is wrong.")
        yield Text(f"Answer {len(self.told)}")
        if params.tools:
            yield Use("1", params.tools[0].name, {"day": "Monday"})
        yield Usage(10, 3)
        yield Stop("toolUse" if params.tools else "endTurn")
