"""Waiting for something to become true, never for time to pass."""

import asyncio
from collections.abc import Callable

LIMIT_SECONDS = 5.0


async def until(condition: Callable[[], object], seconds: float = LIMIT_SECONDS) -> None:
    """Let the event loop turn until `condition` holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - there is nothing to be told by
            await asyncio.sleep(0)


async def settle(turns: int = 20) -> None:
    """Let everything happen that can happen by itself, without input or output."""
    for _ in range(turns):
        await asyncio.sleep(0)
