"""What an authorization server keeps, as typed records over a `Store`: memory, or one SQLite file.

A record is a Struct, written as JSON, under a kind and a name. Names that are secrets (codes, refresh tokens, cookies)
are written as their SHA-256, so that whoever reads the file learns none. A record is gone after its `ttl`, in seconds.
"""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from splice.stores.base import Conflict, Store

R = TypeVar("R", bound=Struct)

ATTEMPTS = 20
"""How often a change is tried anew when somebody else wrote at the same time."""


def new_secret() -> str:
    """Make a secret that nobody guesses: 256 bits, in characters that need no escape anywhere."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Hash a secret of high entropy, to be kept or compared in its place. Passwords need more: see `users.py`."""
    return urlsafe_b64encode(hashlib.sha256(secret.encode(errors="surrogatepass")).digest()).rstrip(b"=").decode()


class Found(Struct, Generic[R]):
    """A record as it was read, and the version to expect when it is written back."""

    value: R
    version: int


class Records:
    """Typed records in a store. Raises `StoreError` as the store does."""

    def __init__(self, store: Store, prefix: str = "auth") -> None:
        self.store = store
        self._prefix = prefix

    def _key(self, kind: str, name: str) -> str:
        return f"{self._prefix}/{kind}/{name}"

    async def find(self, kind: str, name: str, type: type[R], *, touch: float | None = None) -> Found[R] | None:
        """Read a record with its version; with `touch`, let it live that many seconds from now on."""
        entry = await self.store.get(self._key(kind, name), touch=touch)
        return None if entry is None else Found(msgspec.json.decode(entry.value, type=type), entry.version)

    async def read(self, kind: str, name: str, type: type[R], *, touch: float | None = None) -> R | None:
        """Read a record."""
        found = await self.find(kind, name, type, touch=touch)
        return None if found is None else found.value

    async def write(self, kind: str, name: str, value: Struct, *, ttl: float | None, expect: int | None = None) -> None:
        """Write a record. `expect` is the version that must be there, 0 for none. Raises `Conflict`."""
        await self.store.put(self._key(kind, name), msgspec.json.encode(value), ttl=ttl, expect=expect)

    async def remove(self, kind: str, name: str) -> bool:
        """Delete a record. Of several who do, one is told True."""
        return await self.store.delete(self._key(kind, name))

    async def change(self, kind: str, name: str, empty: R, change: Callable[[R], R | None]) -> R | None:
        """Write what `change` makes of a record that stays, or of `empty`; None from it changes nothing.

        `change` is called again when somebody else wrote in between. Raises `Conflict` if that happens all the time.
        """
        for attempt in range(ATTEMPTS):
            found = await self.find(kind, name, type(empty))
            changed = change(empty if found is None else found.value)
            if changed is None:
                return None
            try:
                await self.write(kind, name, changed, ttl=None, expect=0 if found is None else found.version)
            except Conflict:
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                return changed
        return None

    async def first(self, kind: str, name: str, *, ttl: float) -> bool:
        """Tell whether a name is used for the first time within `ttl` seconds: it is not, from now on."""
        try:
            await self.store.put(self._key(kind, name), b"", ttl=ttl, expect=0)
        except Conflict:
            return False
        return True

    async def once(self, kind: str, made: R) -> R:
        """Return the one record of a kind, which is `made` if there is none yet. It stays."""
        try:
            await self.write(kind, "", made, ttl=None, expect=0)
        except Conflict:
            return await self.read(kind, "", type(made)) or made
        return made

    async def wait(self, what: str, *, rate: float, burst: float) -> float:
        """Count an attempt. 0.0: it may be made; else how many seconds to wait. `rate` is per second."""
        return await self.store.take(f"{self._prefix}/{what}", 1, rate=rate, burst=burst)
