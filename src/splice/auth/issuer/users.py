"""The users of an authorization server, and their passwords.

A password is kept as scrypt makes it, with a salt of its own. Checking one takes a quarter of a second and 32 MB, so
few are checked at once. A user who does not exist costs the same. Attempts are counted, by name and altogether.
"""

import asyncio
import hashlib
import hmac
import math
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable

from msgspec import Struct, structs

from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Records, digest

MIN_PASSWORD = 8
MAX_PASSWORD = 1000
"""How many characters a password has."""

USER_RATE, USER_BURST = 1 / 30, 10.0
"""How many attempts a second there are for one name, and how many at once after a pause."""

RATE, BURST = 5.0, 100.0
"""The same for all names together."""

AT_ONCE = 2
"""How many passwords are checked at the same time."""

NAME = re.compile(r"[\w.@+-]{1,100}")
"""Names of users. None has a colon: that tells them from programs, in the subject of a token."""


class Cost(Struct, frozen=True):
    """How dear it is to try a password: the parameters of scrypt."""

    n: int = 2**15
    r: int = 8
    p: int = 3


class User(Struct, kw_only=True):
    """A user, and how their password was hashed."""

    name: str
    salt: str
    hashed: str
    cost: Cost
    scopes: tuple[str, ...] | None = None
    """All that may be granted to them; None: whatever is asked for."""

    def __repr__(self) -> str:
        return f"User(name={self.name!r})"


class Users:
    """Keeps users and checks their passwords."""

    def __init__(self, records: Records, cost: Cost | None = None) -> None:
        self._records = records
        self._cost = cost or Cost()
        self._room = asyncio.Semaphore(AT_ONCE)
        self._nobody = User(name="", salt=_text(os.urandom(16)), hashed=_text(os.urandom(32)), cost=self._cost)

    async def add(self, name: str, password: str, scopes: Iterable[str] | None = None) -> None:
        """Add a user, or give them another password, which ends what was done under the one before.

        Without `scopes` a new user has all, and one who is there keeps theirs: another password lifts no limit.
        Raises `ValueError`.
        """
        check_new(name, password)
        before = await self._records.read("user", digest(name), User)
        if before is not None and before.cost == self._cost and await self._is_of(password, before):
            user = before
        else:
            salt = _text(os.urandom(16))
            hashed = await asyncio.to_thread(_hashed, password, salt, self._cost)
            kept = None if before is None else before.scopes
            user = User(name=name, salt=salt, hashed=hashed, cost=self._cost, scopes=kept)
        if scopes is not None:
            user = structs.replace(user, scopes=tuple(dict.fromkeys(scopes)))
        if user == before:
            return
        await self._records.write("user", digest(name), user, ttl=None)

    async def remove(self, name: str) -> bool:
        """Remove a user; tells whether there was one."""
        return await self._records.remove("user", digest(name))

    async def scopes(self, name: str) -> tuple[str, ...] | None:
        """Return all that may be granted to a user; None: whatever is asked for. It is so for who is no user, too."""
        user = await self._records.read("user", digest(name), User)
        return None if user is None else user.scopes

    async def mark(self, name: str) -> str | None:
        """Tell one password of a user from the next, and a user from another of the same name; None: there is none."""
        user = await self._records.read("user", digest(name), User)
        return None if user is None else digest(user.salt)

    async def check(self, name: str, password: str) -> bool:
        """Tell whether name and password belong together. Raises `Refused` (429) after too many attempts."""
        wait = await self._records.wait("logins", rate=RATE, burst=BURST)
        wait = wait or await self._records.wait(f"login/{digest(name)}", rate=USER_RATE, burst=USER_BURST)
        if wait:
            seconds = str(math.ceil(wait))
            told = f"Too many attempts: wait {seconds} s, then try again"
            raise Refused("slow_down", told, status=429, headers=[("retry-after", seconds)])
        user = await self._records.read("user", digest(name), User) or self._nobody
        return await self._is_of(password[:MAX_PASSWORD], user) and user is not self._nobody

    async def _is_of(self, password: str, user: User) -> bool:
        async with self._room:
            hashed = await asyncio.to_thread(_hashed, password, user.salt, user.cost)
        return hmac.compare_digest(hashed, user.hashed)


def check_new(name: str, password: str) -> None:
    """Check what a new user is to be called, and their password. Raises `ValueError`."""
    if not NAME.fullmatch(name):
        raise ValueError(f"a user's name has 1 to 100 letters, digits, or any of . _ @ + -, not {name[:120]!a}")
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise ValueError(f"a password has {MIN_PASSWORD} to {MAX_PASSWORD} characters")


def _hashed(password: str, salt: str, cost: Cost) -> str:
    secret = password.encode(errors="surrogatepass")
    memory = 256 * cost.n * cost.r + 2**20
    return _text(hashlib.scrypt(secret, salt=b64decode(salt), n=cost.n, r=cost.r, p=cost.p, maxmem=memory, dklen=32))


def _text(value: bytes) -> str:
    return b64encode(value).decode()
