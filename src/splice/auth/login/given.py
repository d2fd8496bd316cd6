"""Tokens that the user brings: one as text, or a function that returns one."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.place import Place
from splice.rules.http.headers import check_header

GetsToken: TypeAlias = Callable[[], str | Awaitable[str]]


class GivenTokens:
    """Sends a token to the server at `url`. A function is called for the first request, and again after each 401.

    `def` functions run on a thread. Raises `ValueError` for a token that does not fit into a header.
    """

    def __init__(self, url: str, source: str | GetsToken) -> None:
        self._place = Place(url)
        self._source = source
        self._header = _header(source) if isinstance(source, str) else None
        self._lock = asyncio.Lock()

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        """Make the header with the token. Raises `AuthorizationFailed` when the function fails."""
        del method
        if not self._place.holds(url):
            return {}
        if self._header is None:
            await self._renew(None)
        return {"Authorization": self._header or ""}

    async def refused(self, url: str, status: int, headers: Mapping[str, str], sent: Mapping[str, str]) -> bool:
        """Ask the function for another token. True: there is one. Raises `AuthorizationFailed` as `headers` does."""
        del headers
        if isinstance(self._source, str) or status != 401 or not self._place.holds(url):
            return False
        was = sent.get("Authorization")
        await self._renew(was)
        return self._header != was

    async def close(self) -> None:
        """Do nothing: there is nothing to end."""

    async def _renew(self, was: str | None) -> None:
        """Ask the function, unless somebody else did meanwhile."""
        async with self._lock:
            if self._header == was and not isinstance(self._source, str):
                given = await _asked(self._source)
                try:
                    self._header = _header(given)
                except ValueError as error:
                    raise AuthorizationFailed(f"The function given as auth= returned no token: {error}") from None


async def _asked(source: GetsToken) -> str:
    try:
        found: Any = await (source() if inspect.iscoroutinefunction(source) else asyncio.to_thread(source))
        if inspect.isawaitable(found):
            found = await found
    except Exception as error:
        told = f"The function given as auth= raised {type(error).__name__}, so there is no token to send"
        raise AuthorizationFailed(told) from error
    if not isinstance(found, str):
        raise AuthorizationFailed(
            f"The function given as auth= must return a token as text, not {type(found).__name__}"
        )
    return found


def _header(token: str) -> str:
    if not token or " " in token:
        raise ValueError("auth= takes a token alone, without `Bearer` before it and not empty")
    header = f"Bearer {token}"
    check_header("Authorization", header)
    if not header.isascii():
        raise ValueError("auth= takes a token in ASCII")
    return header
