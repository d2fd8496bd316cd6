"""One answer of a model as it comes: text to the board, a few times a second, and uses of tools."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from splice.host.models.base import Model, ModelFailed, Stop, Text, Usage, Use, closing
from splice.host.text import whole
from splice.types import CreateMessageParams

SHOW_SECONDS = 0.05
"""How often the text on the board changes at most."""


class Speech:
    """What the model has said so far. `show` is called with the text, seldom enough for a face."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self.uses: list[Use] = []
        self.stop = ""
        self.usage: Usage | None = None
        self._parts: list[str] = []
        self._show = show
        self._shown_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def text(self) -> str:
        """All text so far."""
        return whole("".join(self._parts))

    async def hear(self, model: Model, params: CreateMessageParams) -> None:
        """Take the whole answer. Raises `ModelFailed`; what was said until then stays."""
        try:
            async with closing(model.stream(params)) as events:
                async for event in events:
                    match event:
                        case Text():
                            self._add(event.text)
                        case Use():
                            self.uses.append(replace(event, id=whole(event.id), name=whole(event.name)))
                        case Usage():
                            self.usage = event
                        case Stop():
                            self.stop = event.reason
        finally:
            self._end()
        if self.stop in ("maxTokens", "refusal"):
            self.uses.clear()  # the last one may have been cut off before its arguments
        if not self.stop:
            raise ModelFailed("connection", "The model's answer ended too early.")

    def _add(self, text: str) -> None:
        self._parts.append(text)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, self._shown_at + SHOW_SECONDS - loop.time()), self._put)

    def _put(self) -> None:
        self._timer = None
        self._shown_at = asyncio.get_running_loop().time()
        self._show(self.text)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
