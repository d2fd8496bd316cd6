"""Calling what the user gave us, which may be `def` or `async def`."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def call(function: Callable[..., Awaitable[T] | T], *arguments: Any) -> T:
    """Call it, and wait if it wants to be waited for."""
    result = function(*arguments)
    if inspect.isawaitable(result):
        return await result
    return result
