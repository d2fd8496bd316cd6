"""An authorization server in front of an identity provider that knows no clients but those registered by hand.

    issuer = OAuthProxy(
        "https://auth.example.com",
        google(),
        "auth.db",
        client_id=...,
        client_secret=...,
        resources=["https://mcp.example.com/mcp"],
        admits=lambda who: who.claims.get("hd") == "example.com",
    )
    app = issuer.app(beside=server.http_app())

Clients register with the proxy, ask it, and get tokens of its own, each for one resource. The provider knows one
client, the proxy; at its place `<issuer>/callback` has to be registered as a redirect URI. What the provider hands out
is used to find out who the user is and dropped then: no client and no server gets to see it.

https://modelcontextprotocol.io/docs/tutorials/security/security_best_practices#confused-deputy-problem
"""

import inspect
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, Unpack
from urllib.parse import urlsplit

from msgspec import Struct

from splice.auth.fetcher import Fetcher
from splice.auth.issuer import endpoints
from splice.auth.issuer.authentication import Authentication
from splice.auth.issuer.base import REFRESH_SECONDS, Issuer
from splice.auth.issuer.clients import Clients, document_fetcher, is_loopback
from splice.auth.issuer.endpoints import Endpoints, Parts
from splice.auth.issuer.grants import Grants, Terms
from splice.auth.issuer.logins import Logins
from splice.auth.issuer.passing import Passing
from splice.auth.issuer.policy import Policy
from splice.auth.issuer.proofs import Proofs
from splice.auth.issuer.providers import Provider
from splice.auth.issuer.sessions import Sessions
from splice.auth.issuer.signing import SigningIn
from splice.auth.issuer.store import digest
from splice.auth.issuer.tokens import MAX_ACCESS_SECONDS, AccessTokens, Keys
from splice.auth.issuer.upstream import Identity, Upstream
from splice.auth.issuer.users import Users
from splice.auth.issuer.web import Route
from splice.rules.options import Option, checked, option_table
from splice.stores.base import Store

CALLBACK = "/callback"
"""Where the provider sends users back, below the issuer."""

LOGIN_SECONDS = 7 * 86_400.0
"""How long a login at the provider counts."""

_TEXTS = Option((list, tuple), "a list of texts", item=str)
_FLAG = Option(bool, "True or False")


class ProxyOptions(TypedDict, total=False):
    """Everything else that a proxy may be told."""

    resources: Annotated[Sequence[str], _TEXTS]
    """The URLs of the MCP servers that tokens are made for; at least one."""
    scopes: Annotated[Sequence[str], _TEXTS]
    """The scopes there are: the proxy's own, which have nothing to do with those of the provider. Default: none."""
    admits: Annotated[Callable[[Identity], bool], Option(object, "a function", callable)]
    """Tells whether a user of the provider may come in. Default: everybody may whom the provider knows."""
    registration: Annotated[bool, _FLAG]
    """Whether clients may register themselves. Default: yes."""
    documents: Annotated[bool, _FLAG]
    """Whether a client id may be the URL of a client's metadata document. Default: yes."""
    fetcher: Annotated[Fetcher, Option(Fetcher, "a Fetcher")]
    """How the provider is reached; one in a network of your own needs ``Fetcher(allow_private=[...])``."""
    access_seconds: Annotated[
        float, Option((int, float), "1 to 3600 seconds", lambda value: 1 <= value <= MAX_ACCESS_SECONDS)
    ]
    """How long an access token lives. Default: an hour."""
    login_seconds: Annotated[float, Option((int, float), "a number of seconds", lambda value: value >= 1)]
    """How long a login at the provider counts. After that refresh tokens are refused until the user logs in again, so
    that whom the provider dismissed comes in no more. Default: 7 days."""
    clock: Annotated[Callable[[], float], Option(object, "a function", callable)]
    """Tells the time, in seconds since 1970: for tests."""


_OPTIONS = option_table(ProxyOptions)

log = logging.getLogger("splice.auth.issuer")


class Known(Struct):
    """A user who logged in at the provider not long ago."""

    until: float
    """When that login counts no more."""


class OAuthProxy(Issuer):
    """An authorization server in front of an identity provider, as an ASGI application.

    `issuer` is its URL, by which everybody knows it: https, or http on this machine. `upstream` is the provider; the
    client id and the secret are those that were registered there by hand. `path` is the SQLite file where clients and
    grants are kept, ``":memory:"``, or a `Store`. The class `ProxyOptions` says what else there is.
    Raises `ValueError` and `TypeError` for options that cannot be meant, and `StoreError` for a file that is none.
    """

    def __init__(
        self,
        issuer: str,
        upstream: Provider,
        path: str | os.PathLike[str] | Store = ":memory:",
        *,
        client_id: str,
        client_secret: str,
        **options: Unpack[ProxyOptions],
    ) -> None:
        self._options = checked("OAuthProxy", options, _OPTIONS)
        super().__init__(issuer, path, kept_as="proxy")
        if not self._options.get("resources"):
            raise ValueError("resources= of OAuthProxy names the MCP servers that tokens are made for: at least one")
        if not client_id or not client_secret:
            raise ValueError("an OAuthProxy needs the client id and the secret that were registered at the provider")
        self._clock: Callable[[], float] = self._options.get("clock", time.time)
        fetcher = self._options.get("fetcher") or Fetcher(allow_loopback=is_loopback(upstream.issuer))
        self._upstream = Upstream(upstream, client_id, client_secret, fetcher=fetcher, clock=self._clock)

    async def dismiss(self, subject: str) -> bool:
        """Let a user refresh no more, until they log in again. Tells whether there was one of that subject.

        Access tokens that are out live on for an hour at most.
        """
        return await self._records.remove("known", digest(subject))

    def _make(self, keys: Keys) -> tuple[Mapping[str, Route], AccessTokens]:
        options, records, clock = self._options, self._records, self._clock
        access_seconds = float(options.get("access_seconds", MAX_ACCESS_SECONDS))
        policy = Policy(
            issuer=self.issuer, scopes=tuple(options.get("scopes", ())), resources=tuple(options["resources"])
        )
        clients = Clients(
            records,
            document_fetcher() if options.get("documents", True) else None,
            clock,
        )
        tokens = AccessTokens(self.issuer, keys, clock)
        parts = Parts(
            policy=policy,
            clients=clients,
            authentication=Authentication(clients, records, (self.issuer, policy.url(endpoints.TOKEN)), clock),
            grants=Grants(records, access_seconds=access_seconds, refresh_seconds=REFRESH_SECONDS, clock=clock),
            tokens=tokens,
            proofs=Proofs(records, keys.sealing, nonces=False, clock=clock),
            has_user=self._is_known,
        )
        registers = options.get("registration", True)
        programs = _Programs(parts, {}, access_seconds=access_seconds, registers=registers)
        return _table(policy, programs, self._passing(parts, keys)), tokens

    def _passing(self, parts: Parts, keys: Keys) -> Passing:
        """Make what users see."""
        is_https = not is_loopback(self.issuer)
        cookie = f"splice-auth-{digest(self.issuer)[:8]}"  # cookies do not tell ports apart
        sessions = Sessions(self._records, keys.sealing, is_https=is_https, name=cookie, clock=self._clock)
        signing_in = SigningIn(Users(self._records), sessions, urlsplit(self.issuer).netloc)
        logins = Logins(self._records, self._upstream, keys.sealing, callback=self.issuer + CALLBACK, clock=self._clock)
        name = self._upstream.provider.name
        return Passing(parts, self._records, signing_in, logins, admits=self._admits, provider=name)

    async def _admits(self, who: Identity) -> bool:
        """Tell whether somebody who logged in may come in, and remember that they did."""
        admits = self._options.get("admits")
        if admits is not None and not _says_yes(admits, who):
            return False
        seconds = float(self._options.get("login_seconds", LOGIN_SECONDS))
        await self._records.write("known", digest(who.subject), Known(self._clock() + seconds), ttl=seconds)
        return True

    async def _is_known(self, terms: Terms) -> bool:
        known = await self._records.read("known", digest(terms.user), Known)
        return known is not None and known.until > self._clock()


def _says_yes(admits: Callable[[Identity], Any], who: Identity) -> bool:
    """Ask whether a user may come in. A function that fails, or that would have to be awaited, lets nobody in."""
    try:
        said = admits(who)
    except Exception:
        log.exception("admits= of OAuthProxy failed: the user does not come in")
        return False
    if inspect.isawaitable(said):
        getattr(said, "close", bool)()
        log.error("admits= of OAuthProxy takes a plain function, and %r returned a coroutine: nobody comes in", admits)
        return False
    return bool(said)


class _Programs(Endpoints):
    """What programs use, but that none of them can act for itself here: somebody has to log in."""

    def __init__(self, parts: Parts, more: Mapping[str, Any], *, access_seconds: float, registers: bool) -> None:
        super().__init__(parts, more, access_seconds=access_seconds, registers=registers)
        del self._redeem["client_credentials"]

    def described(self) -> dict[str, Any]:
        """Return the metadata."""
        return {name: value for name, value in super().described().items() if not name.startswith("introspection")}


def _table(policy: Policy, programs: Endpoints, browsers: Passing) -> dict[str, Route]:
    """Lay out the paths."""
    return programs.routes() | {
        policy.path(endpoints.AUTHORIZE): Route({"GET": browsers.show, "POST": browsers.answer}),
        policy.path(CALLBACK): Route({"GET": browsers.back}),
    }
