"""An authorization server of one's own: for development, tests, and small installations.

    issuer = LocalAuthorizationServer("http://127.0.0.1:9000", "auth.db", scopes=["notes"])
    await issuer.add_user("anna", password)
    app = issuer.app(beside=server.http_app())

OAuth 2.1 with PKCE; users sign in by a password. Everything is kept in one SQLite file, or in this process.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

import hmac
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, Unpack
from urllib.parse import urlsplit

from splice.auth.issuer import endpoints
from splice.auth.issuer.authentication import Authentication
from splice.auth.issuer.authorize import Authorization
from splice.auth.issuer.base import REFRESH_SECONDS, Issuer
from splice.auth.issuer.clients import (
    DEVICE_CODE,
    Client,
    Clients,
    Fetch,
    checked_redirect_uri,
    document_fetcher,
    is_loopback,
)
from splice.auth.issuer.devices import PATH as DEVICE
from splice.auth.issuer.devices import Devices
from splice.auth.issuer.endpoints import TOKEN, Endpoints, Parts
from splice.auth.issuer.grants import OFFLINE, Grants, Terms
from splice.auth.issuer.policy import SCOPE, Policy
from splice.auth.issuer.proofs import Proofs
from splice.auth.issuer.publickeys import read_public
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.sessions import Sessions
from splice.auth.issuer.signing import SigningIn
from splice.auth.issuer.store import digest
from splice.auth.issuer.tokens import MAX_ACCESS_SECONDS, AccessTokens, Keys
from splice.auth.issuer.users import NAME as USER_NAME
from splice.auth.issuer.users import Cost, Users, check_new
from splice.auth.issuer.web import Route
from splice.rules.options import Option, checked, option_table
from splice.stores.base import Conflict, Store

MAX_REFRESH_SECONDS = 365 * 86_400.0

MIN_SECRET_CHARS = 24
"""The shortest secret of a client. It is kept as a plain hash, so that it must be beyond guessing."""

_TEXTS = Option((list, tuple), "a list of texts", item=str)
_FLAG = Option(bool, "True or False")


class IssuerOptions(TypedDict, total=False):
    """Everything else that an authorization server may be told."""

    users: Annotated[Mapping[str, str], Option(dict, "names and passwords", is_secret=True)]
    """Users to be there from the beginning, with their passwords: for tests and development."""
    scopes: Annotated[Sequence[str], _TEXTS]
    """The scopes there are. Default: whatever a client asks for and the user allows."""
    resources: Annotated[Sequence[str], _TEXTS]
    """The URLs of the MCP servers that tokens are made for. Default: whichever a client names."""
    registration: Annotated[bool, _FLAG]
    """Whether clients may register themselves. Default: on this machine only."""
    documents: Annotated[bool, _FLAG]
    """Whether a client id may be the URL of a client's metadata document. Default: yes."""
    fetch: Annotated[
        Fetch, Option(object, "an object with `async def send(step)`", lambda value: hasattr(value, "send"))
    ]
    """How they are fetched. Default: by a `Fetcher`, which leads to public addresses only."""
    auto_approve: Annotated[str | None, Option(str, "the name of a user", USER_NAME.fullmatch)]
    """A user who allows everything at once, without a page: for tests, on this machine only."""
    access_seconds: Annotated[
        float, Option((int, float), "1 to 3600 seconds", lambda value: 1 <= value <= MAX_ACCESS_SECONDS)
    ]
    """How long an access token lives. Default: an hour."""
    refresh_seconds: Annotated[
        float, Option((int, float), "1 second to a year", lambda value: 1 <= value <= MAX_REFRESH_SECONDS)
    ]
    """How long a refresh token lives that nobody uses. Default: 30 days."""
    dpop_nonces: Annotated[bool, _FLAG]
    """Whether proofs of DPoP must hold a nonce. Default: no."""
    password_cost: Annotated[Cost, Option(Cost, "a Cost")]
    """How dear it is to try a password. Default: a quarter of a second, and 32 MB."""
    clock: Annotated[Callable[[], float], Option(object, "a function", callable)]
    """Tells the time, in seconds since 1970: for tests."""


_OPTIONS = option_table(IssuerOptions)


class LocalAuthorizationServer(Issuer):
    """An authorization server, as an ASGI application.

    `issuer` is its URL, by which everybody knows it: https, or http on this machine. `path` is the SQLite file where
    everything is kept, ``":memory:"``, or a `Store`.

    users: names and passwords of users to be there from the beginning, for tests and development. scopes: those there
    are; unless given, whatever a client asks for and the user allows. resources: the URLs of the MCP servers that
    tokens are made for; unless given, whichever a client names. registration: whether clients may register themselves;
    by default on this machine only. documents: whether a client id may be the URL of a document, which is by default;
    fetch: reads those, in place of a `Fetcher`. auto_approve: a user who allows everything at once, without a page, for
    tests on this machine. access_seconds: how long an access token lives, an hour at most, and by default.
    refresh_seconds: how long a refresh token lives that nobody uses; 30 days by default. dpop_nonces: whether proofs of
    DPoP must hold a nonce; by default they need not. password_cost: how dear it is to try a password, as a `Cost`.
    clock: tells the time, in seconds since 1970, for tests.

    Raises `ValueError` and `TypeError` for options that cannot be meant, and `StoreError` for a file that is none.
    """

    def __init__(
        self, issuer: str, path: str | os.PathLike[str] | Store = ":memory:", **options: Unpack[IssuerOptions]
    ) -> None:
        given = checked("LocalAuthorizationServer", options, _OPTIONS)
        if "auto_approve" in given and not is_loopback(issuer):
            raise ValueError("auto_approve= lets anybody in, so it needs an issuer on this machine: http://127.0.0.1")
        for name, password in given.get("users", {}).items():
            check_new(name, password)
        super().__init__(issuer, path)
        self._options = given
        self._clock: Callable[[], float] = given.get("clock", time.time)
        self._users = Users(self._records, given.get("password_cost"))
        fetch = given.get("fetch") or document_fetcher()
        self._clients = Clients(self._records, fetch if given.get("documents", True) else None, self._clock)

    async def _begin(self) -> None:
        for name, password in self._options.get("users", {}).items():
            await self._users.add(name, password)

    async def add_user(self, name: str, password: str, scopes: Sequence[str] | None = None) -> None:
        """Add a user, or give them another password, which signs them out and ends their refresh tokens.

        `scopes` are all that may be granted to them, from now on; None: all there are, but for a user who is there
        already, who keeps theirs. Raises `ValueError` for a name, password or scope that is none.
        """
        await self._users.add(name, password, None if scopes is None else self._checked_scopes(scopes))

    async def remove_user(self, name: str) -> bool:
        """Remove a user, who is signed out, and whose refresh tokens end. Tells whether there was one."""
        return await self._users.remove(name)

    async def add_client(
        self,
        client_id: str,
        *,
        redirect_uris: Sequence[str] = (),
        secret: str | None = None,
        jwks: Mapping[str, Any] | str | bytes | None = None,
        name: str | None = None,
        scopes: Sequence[str] | None = None,
        replace: bool = True,
    ) -> None:
        """Add a client by hand, or put it in the place of the one with this id, unless `replace` is False.

        With `redirect_uris` it may send users here. With a `secret`, or public keys as `jwks` (PEM text, a JWK, or a
        JWK set), it may get tokens for itself. `scopes` are all that it may ask for. Raises `ValueError`.
        """
        if secret is not None and len(secret) < MIN_SECRET_CHARS:
            raise ValueError(f"the secret of a client has at least {MIN_SECRET_CHARS} characters, by chance")
        if not 1 <= len(client_id) <= 200 or not client_id.isprintable() or not client_id.isascii():
            raise ValueError("a client id has 1 to 200 printable ASCII characters")
        method = "client_secret_basic" if secret is not None else "none" if jwks is None else "private_key_jwt"
        client = Client(
            client_id=client_id,
            name=name or client_id,
            origin="operator",
            redirect_uris=tuple(map(_checked_uri, redirect_uris)),
            method=method,
            secret=None if secret is None else digest(secret),
            jwks=None if jwks is None else read_public(jwks),
            grants=_grants_of(method, has_pages=bool(redirect_uris)),
            scopes=None if scopes is None else self._checked_scopes(scopes),
        )
        try:
            await self._clients.add(client, replace=replace)
        except Conflict:
            how = "choose another id, or replace it (replace=True, --replace)"
            raise ValueError(f"there is a client {client_id!a} already: {how}") from None

    def _checked_scopes(self, scopes: Sequence[str]) -> tuple[str, ...]:
        """Check scopes that somebody may have. Raises `ValueError`."""
        if not _TEXTS.takes(scopes) or not all(map(SCOPE.fullmatch, scopes)):
            raise ValueError(f"scopes= takes a list of texts without blanks and quotes, not {scopes!a:.200}")
        known: Sequence[str] | None = self._options.get("scopes")
        unknown = [] if known is None else [each for each in scopes if each not in (*known, OFFLINE)]
        if known is not None and unknown:
            raise ValueError(f"there is no scope {unknown[0]!a} here: scopes= of the server has {', '.join(known)}")
        return tuple(scopes)

    def _make(self, keys: Keys) -> tuple[Mapping[str, Route], AccessTokens]:
        options, records, clock = self._options, self._records, self._clock
        scopes, resources = options.get("scopes"), options.get("resources")
        policy = Policy(
            issuer=self.issuer,
            scopes=None if scopes is None else tuple(scopes),
            resources=None if resources is None else tuple(resources),
        )
        access_seconds = float(options.get("access_seconds", MAX_ACCESS_SECONDS))
        refresh_seconds = float(options.get("refresh_seconds", REFRESH_SECONDS))
        grants = Grants(
            records,
            access_seconds=access_seconds,
            refresh_seconds=refresh_seconds,
            clock=clock,
            scopes_of=self._users.scopes,
        )
        cookie = f"splice-auth-{digest(self.issuer)[:8]}"  # cookies do not tell ports apart
        sessions = Sessions(records, keys.sealing, is_https=not self._is_local, name=cookie, clock=clock)
        signing_in = SigningIn(self._users, sessions, urlsplit(self.issuer).netloc)
        authentication = Authentication(self._clients, records, (self.issuer, policy.url(TOKEN)), clock)
        tokens = AccessTokens(self.issuer, keys, clock)
        parts = Parts(
            policy=policy,
            clients=self._clients,
            authentication=authentication,
            grants=grants,
            tokens=tokens,
            proofs=Proofs(records, keys.sealing, nonces=options.get("dpop_nonces", False), clock=clock),
            has_user=self._has_user,
        )
        devices = Devices(policy, records, (self._clients, authentication), grants, signing_in, clock)
        registers = options.get("registration", self._is_local)
        programs = Endpoints(parts, {DEVICE_CODE: devices.redeem}, access_seconds=access_seconds, registers=registers)
        browsers = Authorization(policy, records, self._clients, grants, signing_in, options.get("auto_approve"))
        return _table(policy, programs, browsers, devices), tokens

    async def _has_user(self, terms: Terms) -> bool:
        if terms.user == self._options.get("auto_approve"):
            return True
        mark = await self._users.mark(terms.user)
        return mark is not None and hmac.compare_digest(mark, terms.mark or "")


def _grants_of(method: str, *, has_pages: bool) -> tuple[str, ...]:
    """Choose what a client may ask for: with a place for users to come back to, and with a way to prove itself."""
    by_user = ("authorization_code",) if has_pages else ()
    by_itself = ("client_credentials",) if method != "none" else ()
    return (*by_user, *by_itself, "refresh_token", DEVICE_CODE)


def _table(policy: Policy, programs: Endpoints, browsers: Authorization, devices: Devices) -> dict[str, Route]:
    """Lay out the paths."""
    return programs.routes() | {
        policy.path(endpoints.INTROSPECT): Route({"POST": programs.introspect}),
        policy.path(endpoints.DEVICE_AUTHORIZATION): Route({"POST": devices.start}, is_open=True),
        policy.path(endpoints.AUTHORIZE): Route({"GET": browsers.show, "POST": browsers.answer}),
        policy.path(DEVICE): Route({"GET": devices.show, "POST": devices.answer}),
    }


def _checked_uri(uri: str) -> str:
    try:
        return checked_redirect_uri(uri)
    except Refused as refused:
        raise ValueError(refused.description) from None
