"""The keys that tokens are checked by: written down, or published by their issuer and read again when they change.

A function may take the place of what is published, for an authorization server in the same process.

Only public keys count, and each with the algorithms of its own kind: a token does not choose how it is checked.

https://www.rfc-editor.org/rfc/rfc7517
https://www.rfc-editor.org/rfc/rfc8414
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import monotonic
from typing import Any, TypeAlias, cast

from splice.auth.errors import AuthorizationFailed
from splice.auth.fetcher import Fetcher
from splice.auth.guard.challenges import Unavailable
from splice.auth.guard.claims import items
from splice.auth.login.steps import HTTP
from splice.auth.login.urls import is_usable, parts_of, server_metadata_urls, shown
from splice.auth.publickeys import GivenKeysOrOne, Key, algorithms_of, read_key, read_keys
from splice.errors import ConnectionClosed
from splice.rules.http.origins import is_loopback

KEEP_SECONDS = 3600.0
"""How long published keys are used before they are read again; and if they cannot be read, until they can."""

AGAIN_SECONDS = 60.0
"""How often keys are read at the most because a token names one that is not known."""

FAILED_SECONDS = 5.0
"""How long it is not tried again after the keys could not be read."""

PATIENT_SECONDS = 2.0
"""How long callers wait for keys to be read again while there are some."""

MAX_KEYS = 100
GetsKeys: TypeAlias = Callable[[], GivenKeysOrOne | Awaitable[GivenKeysOrOne]]

log = logging.getLogger("splice.auth")


class GivenKeys:
    """Keys that were written down."""

    def __init__(self, given: GivenKeysOrOne) -> None:
        self._keys = read_keys(given)

    async def find(self, kid: str | None, algorithm: str) -> list[Key]:
        """Give the keys that a token may have been signed by."""
        return suitable(self._keys, kid, algorithm)


def suitable(keys: Iterable[Key], kid: str | None, algorithm: str) -> list[Key]:
    """Choose the keys that a token may have been signed by: of the id that it names, if both have one."""
    fitting = [key for key in keys if algorithm in algorithms_of(key)]
    if kid is None:
        return fitting
    return [key for key in fitting if key.get("kid") in (None, kid)]


class ChangingKeys:
    """Keys that are read when they are needed: each hour, and when a token names one that is not known."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._keys: list[Key] = []
        self._read_at = self._tried_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def find(self, kid: str | None, algorithm: str) -> list[Key]:
        """Give the keys that a token may have been signed by. Raises `Unavailable`."""
        now = monotonic()
        if not self._keys or now - self._read_at > KEEP_SECONDS:
            await self._read(FAILED_SECONDS, PATIENT_SECONDS if self._keys else None)
        found = suitable(self._keys, kid, algorithm)
        if not found and now - self._tried_at > AGAIN_SECONDS:
            await self._read(AGAIN_SECONDS)
            found = suitable(self._keys, kid, algorithm)
        return found

    async def _read(self, seconds: float, patience: float | None = None) -> None:
        """Read the keys, once for all who wait, for so long at most. Raises `Unavailable` when there are none then."""
        if self._reading is None and monotonic() - self._tried_at > seconds:
            self._reading = asyncio.get_running_loop().create_task(self._fetch())
            self._reading.add_done_callback(self._done)
        if self._reading is not None:
            done, _ = await asyncio.wait((self._reading,), timeout=patience)
            for task in done:
                task.result()
        if not self._keys:
            raise Unavailable(f"the keys of {self._issuer} cannot be read")

    def _done(self, _: asyncio.Task[None]) -> None:
        self._reading = None

    async def _fetch(self) -> None:
        try:
            keys = await self._current()
            if keys is not None:
                self._keys, self._read_at = keys, monotonic()
        finally:
            self._tried_at = monotonic()

    async def _current(self) -> list[Key] | None:
        """Read the keys; None, which is logged, when they cannot be read."""
        raise NotImplementedError


class KeysOfFunction(ChangingKeys):
    """Keys that a function returns: those of an authorization server in the same process. `def` runs on a thread."""

    def __init__(self, issuer: str, source: GetsKeys) -> None:
        super().__init__(issuer)
        self._source = source

    async def _current(self) -> list[Key] | None:
        source = self._source
        try:
            found: Any = await (source() if inspect.iscoroutinefunction(source) else asyncio.to_thread(source))
            found = await found if inspect.isawaitable(found) else found
            if not found or not isinstance(found, (list, tuple, Mapping, str, bytes)):
                what = type(found).__name__
                log.error("the function given as keys= returned no keys, but a %s: it must be as keys= itself", what)
                return None
            return read_keys(cast("GivenKeysOrOne", found))
        except Exception:
            log.exception("the function given as keys= failed")
            return None


class PublishedKeys(ChangingKeys):
    """Keys that an issuer publishes at `url`; without one, where its metadata say so."""

    def __init__(self, issuer: str, url: str | None, fetcher: Fetcher | None) -> None:
        """Take the issuer. Raises `ValueError` for URLs that cannot be trusted."""
        parts = parts_of(url or issuer)
        if parts is None:
            raise ValueError(f"keys are read by https, or by http from this machine: {url or issuer!r} is neither")
        host = parts.hostname or ""
        # Who set the server up named this host: it may be one that only the own network knows.
        self._fetcher = fetcher or Fetcher(allow_loopback=is_loopback(host), allow_private=[host])
        super().__init__(issuer)
        self._url = url

    async def _current(self) -> list[Key] | None:
        try:
            url = self._url or await self._discovered()
            members = await self._fetcher.get_json(url)
        except (ConnectionClosed, AuthorizationFailed) as error:
            log.warning("the keys of %s cannot be read: %s", self._issuer, error)
            return None
        read = [read_key(each) for each in items(members.get("keys"))[:MAX_KEYS]]
        keys = [key for key in read if key is not None and algorithms_of(key)]
        if not keys:
            log.warning("%s publishes no keys at %s that tokens can be checked by", self._issuer, shown(url))
        return keys

    async def _discovered(self) -> str:
        """Ask the issuer where its keys are. Raises `AuthorizationFailed` when it does not say."""
        parts = parts_of(self._issuer)
        for url in server_metadata_urls(parts) if parts else ():
            reply = await self._fetcher.send(HTTP(url=url, headers={"Accept": "application/json"}))
            members = reply.members() if reply.status == 200 else {}
            place = members.get("jwks_uri")
            if members.get("issuer") == self._issuer and isinstance(place, str) and is_usable(place):
                return place
        raise AuthorizationFailed(f"{self._issuer} does not say where its keys are: name them, jwks_url=...")
