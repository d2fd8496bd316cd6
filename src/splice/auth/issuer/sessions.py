"""Who sits in front of a browser: a cookie, the user who signed in with it, and tokens against forged forms.

Over https the cookie has the prefix ``__Host-``, so that no other host can plant it. The token in a form is an HMAC of
the cookie and of where the form leads: nothing is kept for browsers that have not signed in, and a token fits one form.
"""

import hashlib
import hmac
import re
import time
from collections.abc import Callable

from msgspec import Struct

from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Records, digest, new_secret
from splice.auth.issuer.web import Request

SESSION_SECONDS = 8 * 3600.0
"""How long a user stays signed in."""

_COOKIE = re.compile(r"[A-Za-z0-9_-]{43}")


class Session(Struct):
    """A browser in which a user signed in."""

    user: str
    expires: float
    mark: str | None = None
    """That of the password, see `users.py`."""


class Visitor(Struct, frozen=True):
    """A browser: its cookie, whether that is new to it, and the user who signed in."""

    cookie: str
    is_new: bool = False
    user: str | None = None
    mark: str | None = None

    def __repr__(self) -> str:
        return f"Visitor(user={self.user!r})"


class Sessions:
    """The browsers of an authorization server. `name` tells its cookie from those of others on the same host."""

    def __init__(
        self, records: Records, secret: str, *, is_https: bool, name: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._records = records
        self._secret = secret.encode()
        self._clock = clock
        self._name = f"__Host-{name}" if is_https else name
        self._flags = "; HttpOnly; SameSite=Lax; Path=/" + ("; Secure" if is_https else "")

    async def visitor(self, request: Request) -> Visitor:
        """Tell which browser a request is from."""
        cookie = request.cookie(self._name)
        if cookie is None or not _COOKIE.fullmatch(cookie):
            return Visitor(new_secret(), is_new=True)
        session = await self._records.read("session", digest(cookie), Session)
        if session is None or session.expires <= self._clock():
            return Visitor(cookie)
        return Visitor(cookie, user=session.user, mark=session.mark)

    async def sign_in(self, before: Visitor, user: str, mark: str | None) -> Visitor:
        """Note that a user signed in. The browser gets a new cookie: somebody else may know the one it had."""
        await self.sign_out(before)
        visitor = Visitor(new_secret(), is_new=True, user=user, mark=mark)
        session = Session(user, self._clock() + SESSION_SECONDS, mark)
        await self._records.write("session", digest(visitor.cookie), session, ttl=SESSION_SECONDS)
        return visitor

    async def sign_out(self, visitor: Visitor) -> None:
        """Forget who signed in."""
        await self._records.remove("session", digest(visitor.cookie))

    def headers(self, visitor: Visitor) -> list[tuple[str, str]]:
        """Return the header that gives a browser its cookie, if it does not have it yet."""
        return [("set-cookie", f"{self._name}={visitor.cookie}{self._flags}")] if visitor.is_new else []

    def form_token(self, visitor: Visitor, form: str) -> str:
        """Return the token of a form. `form` tells it from others, such as by the address it leads to."""
        told = f"{visitor.cookie}\n{visitor.user or ''}\n{form}".encode()
        return hmac.new(self._secret, told, hashlib.sha256).hexdigest()

    def check_form(self, visitor: Visitor, form: str, token: str) -> None:
        """Check that a form was filled in on a page of ours, in this browser. Raises `Refused`."""
        if not hmac.compare_digest(self.form_token(visitor, form).encode(), token.encode(errors="surrogatepass")):
            told = "This form is out of date, or your browser keeps no cookies. Go back, load the page anew, try again"
            raise Refused("invalid_request", told, status=403)
