"""Cleanup that must come to its end, whatever happens to the one who waits for it."""

import asyncio
from typing import Any


async def finish(work: "asyncio.Task[Any]") -> None:
    """Wait for `work` even while being cancelled; the cancellation is passed on when it is done.

    What `work` raises is not raised here. Its time must be bounded.
    """
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait((work,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
