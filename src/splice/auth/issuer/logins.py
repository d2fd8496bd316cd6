"""The way of a browser to an identity provider and back, so that nobody is carried along who did not ask for it.

A login begins when the user has allowed a client, never before: then its state is made, kept under its hash for ten
minutes, and the browser gets a cookie that is signed over the state, the client and the redirect URI. What comes back
is taken once, and only from that browser. So whoever is sent a link from the middle of somebody else's login, already
allowed there, gets nowhere with it (the "confused deputy").

https://modelcontextprotocol.io/docs/tutorials/security/security_best_practices#confused-deputy-problem
"""

import hashlib
import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable

from msgspec import Struct, structs

from splice.auth.issuer.grants import Terms
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Records, digest, new_secret
from splice.auth.issuer.upstream import Identity, Upstream
from splice.auth.issuer.web import Request

LOGIN_SECONDS = 600
"""How long a user may take to log in at the provider."""

LOGIN_RATE = 20.0
LOGIN_BURST = 200.0
"""How many logins a second begin, and how many at once after a pause: each is kept until it ends."""

_MARK_CHARS = 12
"""How much of the hash of a state is in the name of its cookie: several logins may go on in one browser."""


class Login(Struct, kw_only=True, frozen=True):
    """What a client asked for and a user allowed, but for the user, who is still to log in."""

    terms: Terms
    redirect_uri: str
    challenge: str
    state: str | None = None
    """The client's own."""
    expires: float = 0.0
    """When it is too late to come back, in seconds since 1970."""


class Back(Struct, frozen=True):
    """A browser came back from the provider."""

    login: Login
    code: str | None
    """What tells who the user is; None: the user, or the provider, said no."""
    verifier: str
    cookie: str
    """The header that takes the cookie of this login away."""

    def __repr__(self) -> str:
        return f"Back({self.login.terms.client_id!r})"


class Logins:
    """Sends browsers to a provider, and takes them back at `callback`."""

    def __init__(
        self,
        records: Records,
        upstream: Upstream,
        secret: str,
        *,
        callback: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._records = records
        self._upstream = upstream
        self._secret = secret
        self._callback = callback
        self._clock = clock
        is_https = callback.startswith("https:")
        self._name = "__Host-splice-login" if is_https else "splice-login"
        self._flags = "; HttpOnly; SameSite=Lax; Path=/" + ("; Secure" if is_https else "")

    async def begin(self, login: Login) -> tuple[str, str]:
        """Return where to send a browser whose user has just allowed a client, and the cookie to give it.

        Raises `Refused` if too many do this at once, and `AuthorizationFailed` and `ConnectionClosed` when the provider
        does not say where it is.
        """
        state = new_secret()
        if wait := await self._records.wait("logins", rate=LOGIN_RATE, burst=LOGIN_BURST):
            headers = [("retry-after", str(int(wait) + 1))]
            raise Refused("temporarily_unavailable", "Too many logins at once: try again", status=503, headers=headers)
        address = await self._upstream.address(
            redirect_uri=self._callback, state=state, verifier=self._derived("verifier", state)
        )
        login = structs.replace(login, expires=self._clock() + LOGIN_SECONDS)
        await self._records.write("login", digest(state), login, ttl=LOGIN_SECONDS)
        return address, self._cookie(state, self._mark(state, login), LOGIN_SECONDS)

    async def end(self, request: Request) -> Back:
        """Take back a browser. Raises `Refused` for one that did not begin this login, and a second time."""
        given = request.parameters()
        state = given.get("state", "")
        login = await self._records.read("login", digest(state), Login)
        cookie = (request.cookie(self._cookie_name(state)) or "").encode(errors="replace")
        is_theirs = login is not None and hmac.compare_digest(cookie, self._mark(state, login).encode())
        if login is None or not is_theirs or login.expires <= self._clock():
            told = "This login did not begin in this browser, was used already, or took too long: begin it anew"
            raise Refused("invalid_request", told, status=403)
        if not await self._records.remove("login", digest(state)):
            raise Refused("invalid_request", "This login was used already: begin it anew", status=403)
        if given.get("iss", self._upstream.provider.issuer) != self._upstream.provider.issuer:
            raise Refused("invalid_request", "This answer is not from the provider that was asked", status=403)
        code = None if "error" in given else given.get("code")
        return Back(login, code, self._derived("verifier", state), self._cookie(state, "", 0))

    async def who(self, back: Back) -> Identity | None:
        """Find out who came back; None: nobody who said yes. Raises `AuthorizationFailed` and `ConnectionClosed`."""
        if back.code is None:
            return None
        return await self._upstream.identity(code=back.code, redirect_uri=self._callback, verifier=back.verifier)

    def _mark(self, state: str, login: Login) -> str:
        return self._derived("browser", state, login.terms.client_id, login.redirect_uri)

    def _derived(self, *parts: str) -> str:
        """Make a secret of others, which need not be kept then: of the state only a hash is."""
        told = "\n".join(parts).encode(errors="surrogatepass")
        made = hmac.new(self._secret.encode(), told, hashlib.sha256).digest()
        return urlsafe_b64encode(made).rstrip(b"=").decode()

    def _cookie_name(self, state: str) -> str:
        return f"{self._name}-{digest(state)[:_MARK_CHARS]}"

    def _cookie(self, state: str, value: str, seconds: int) -> str:
        return f"{self._cookie_name(state)}={value}{self._flags}; Max-Age={seconds}"
