"""What all authorization servers have in common: they are ASGI applications, and sign with keys that they keep.

What needs the keys is made when it is first needed, on the event loop that serves.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from splice.auth.issuer.clients import checked_redirect_uri, is_loopback
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Records
from splice.auth.issuer.tokens import AccessTokens, Keys, kept_keys
from splice.auth.issuer.web import App, Receive, Route, Send, Site
from splice.rules.http.origins import Origins
from splice.stores import opening
from splice.stores.base import Store

if TYPE_CHECKING:
    from splice.auth.guard.jwts import JWTVerifier

REFRESH_SECONDS = 30 * 86_400.0
"""How long a refresh token lives that nobody uses, unless told otherwise."""

_HERE = Origins()


class Issuer:
    """An authorization server, known by the URL `issuer`, that keeps everything at `path`: a file, or a `Store`.

    `kept_as` tells its records from those of another one in the same file. Raises `ValueError` for a URL that cannot be
    an issuer's, and `StoreError` for a file that is none.
    """

    def __init__(self, issuer: str, path: str | os.PathLike[str] | Store, kept_as: str = "auth") -> None:
        self.issuer = _checked_issuer(issuer)
        """Its URL."""
        self._is_local = is_loopback(issuer)
        self._store = _opened(path)
        self._records = Records(self._store, kept_as)
        self._made: tuple[Mapping[str, Route], AccessTokens] | None = None
        self._starting = asyncio.Lock()
        self._alone = self.app()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve as an ASGI application that answers nothing else."""
        await self._alone(scope, receive, send)

    def app(self, beside: App | None = None) -> App:
        """Return an ASGI application that answers at the paths of this server, and lets `beside` answer the rest.

        It must see whole paths: the metadata stands at the root of the host, whatever the path of the issuer.
        """
        return Site(self._routes, self.close, is_host=_is_here if self._is_local else _any_host, beside=beside)

    def verifier(self, audience: str | Sequence[str]) -> "JWTVerifier":
        """Return a verifier for `Auth`, of a server in the same process: the keys are not asked for by HTTP.

        `audience` is the public URL of that server's endpoint, as for `JWTVerifier`. Raises `ValueError`.
        """
        from splice.auth.guard.jwts import JWTVerifier  # noqa: PLC0415

        return JWTVerifier(self.issuer, audience, keys=self.jwks)

    async def jwks(self) -> dict[str, Any]:
        """Return the public keys, for a verifier in the same process."""
        return (await self._start())[1].jwks()

    async def close(self) -> None:
        """Let go of the file."""
        await self._store.close()

    async def _begin(self) -> None:
        """Do what comes before the first answer."""

    def _make(self, keys: Keys) -> tuple[Mapping[str, Route], AccessTokens]:
        """Make what answers where, and what makes tokens."""
        raise NotImplementedError

    async def _routes(self) -> Mapping[str, Route]:
        return (await self._start())[0]

    async def _start(self) -> tuple[Mapping[str, Route], AccessTokens]:
        if self._made is None:
            async with self._starting:
                if self._made is None:
                    await self._begin()
                    self._made = self._make(await kept_keys(self._records))
        return self._made


def _checked_issuer(issuer: str) -> str:
    """Check the URL of an issuer. Raises `ValueError`."""
    try:
        checked_redirect_uri(issuer)  # which must be https or on this machine, too
    except Refused:
        told = "https, or http on this machine, such as http://127.0.0.1:9000"
        raise ValueError(f"the issuer is a URL that begins with {told}, not {issuer!a}") from None
    if issuer.endswith("/") or "?" in issuer:
        raise ValueError(f"the issuer {issuer!a} has a query, or a slash at the end: leave that away")
    return issuer


def _opened(path: str | os.PathLike[str] | Store) -> Store:
    """Open what an authorization server keeps. Raises `StoreError`."""
    if isinstance(path, str | os.PathLike):
        return opening.open("memory:" if path == ":memory:" else os.fspath(path))
    return path


def _is_here(host: str) -> bool:
    """Tell whether a Host header names this machine."""
    return _HERE.welcomes_host(host.encode("latin-1"))


def _any_host(_: str) -> bool:
    """Take any Host header."""
    return True  # a name that leads to this machine without its owner's will is no danger to a server for everybody
