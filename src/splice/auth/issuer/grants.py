"""What users granted to clients: codes, and the refresh tokens that come of them.

A code is good once, for a minute, for the client, redirect URI and challenge it was made for. A second use shows that
it was stolen, and ends what came of the first. Each use of a refresh token makes a new one. An older one shows a theft,
and ends the grant, but for a short time in which a client may send the last one again: it may have lost the answer.
Even then only the newest token stays good, so that a thief and a client who use that time both find out.

OAuth 2.1 sections 4.1.3 and 4.3.1. A refresh token is the name of its grant and a secret; only hashes of them are kept,
so that neither the file nor an access token, which has the hash of the name in it, tells a refresh token.
"""

import hashlib
import hmac
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable

from msgspec import Struct, structs

from splice.auth.issuer.clients import Client
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Found, Records, digest, new_secret
from splice.stores.base import Conflict

CODE_SECONDS = 60.0
"""How long a code is good."""

CODE_KEPT_SECONDS = 3600.0
"""How long it is remembered, to notice that it is used again."""

GRACE_SECONDS = 20.0
"""How long the last refresh token is taken again: as long as a client waits for an answer, and tries anew."""

ATTEMPTS = 5

CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


OFFLINE = "offline_access"
"""The scope by which a client asks for a refresh token, which it gets here anyway: it allows nothing."""


class Terms(Struct, kw_only=True, frozen=True):
    """Who may do what, where."""

    client_id: str
    user: str
    mark: str | None = None
    """That of the user's password, see `users.py`: under another one all this has ended."""
    scopes: tuple[str, ...] = ()
    resource: str
    """The audience of the tokens."""
    jkt: str | None = None
    """The thumbprint of the key that they are bound to."""


class Code(Struct, kw_only=True):
    """An authorization code, under its hash."""

    terms: Terms
    redirect_uri: str
    challenge: str
    expires: float
    grant: str | None = None
    """The grant that came of it."""


class Grant(Struct, kw_only=True):
    """Something that was granted, under the hash of its name. When the record is gone, its tokens are not good."""

    terms: Terms
    expires: float
    current: str | None = None
    """The hash of the newest refresh token; None: there is none."""
    former: str | None = None
    """The hash of the one before."""
    replaced: float = 0.0
    """When that was replaced."""


class Granted(Struct, frozen=True):
    """A grant with the tokens to be made for it: its key, and the refresh token."""

    key: str
    terms: Terms
    refresh_token: str | None = None

    def __repr__(self) -> str:
        return f"Granted(terms={self.terms!r})"


class Grants:
    """Makes codes and grants, and takes them back. Times are seconds."""

    def __init__(
        self,
        records: Records,
        *,
        access_seconds: float,
        refresh_seconds: float,
        clock: Callable[[], float] = time.time,
        scopes_of: Callable[[str], Awaitable[tuple[str, ...] | None]] | None = None,
    ) -> None:
        """Take where to keep it. `scopes_of` tells all that may be granted to a user; None: whatever is asked for."""
        self._records = records
        self._scopes_of = scopes_of
        self._access_seconds = access_seconds
        self._refresh_seconds = refresh_seconds
        self._clock = clock

    async def allowed(self, user: str, scopes: tuple[str, ...]) -> tuple[str, ...]:
        """Return those scopes that may be granted to a user. Raises `Refused` when none of several is left."""
        limit = None if self._scopes_of is None else await self._scopes_of(user)
        if limit is None:
            return scopes
        left = tuple(each for each in scopes if each in limit or each == OFFLINE)
        if {*scopes} - {OFFLINE} and not {*left} - {OFFLINE}:
            raise Refused("invalid_scope", "Nothing of what was asked for may be granted to this user")
        return left

    async def code(self, terms: Terms, *, redirect_uri: str, challenge: str) -> str:
        """Make a code."""
        code = new_secret()
        made = Code(terms=terms, redirect_uri=redirect_uri, challenge=challenge, expires=self._clock() + CODE_SECONDS)
        await self._records.write("code", digest(code), made, ttl=CODE_KEPT_SECONDS)
        return code

    async def redeem(self, code: str, client: Client, form: dict[str, str], jkt: str | None) -> Granted:
        """Make a grant of a code. A code that does not fit its sender is used up, too. Raises `Refused`."""
        name = digest(code)
        found = await self._records.find("code", name, Code)
        if found is None:
            raise Refused("invalid_grant", "There is no such code, or it was used already")
        if found.value.grant is not None:
            await self.revoke(found.value.grant)
            raise Refused("invalid_grant", "This code was used already: all that came of it is revoked")
        if fault := self._fault(found.value, client, form, jkt):
            await self._records.remove("code", name)
            raise Refused("invalid_grant", f"This code cannot be used: {fault}")
        granted = await self.grant(structs.replace(found.value.terms, jkt=jkt), client)
        try:
            used = structs.replace(found.value, grant=granted.key)
            await self._records.write("code", name, used, ttl=CODE_KEPT_SECONDS, expect=found.version)
        except Conflict:
            await self.revoke(granted.key)
            return await self.redeem(code, client, form, jkt)  # which finds it used
        return granted

    def _fault(self, code: Code, client: Client, form: dict[str, str], jkt: str | None) -> str | None:
        terms = code.terms
        faults = {
            "it is older than a minute": code.expires <= self._clock(),
            "another client asked for it": terms.client_id != client.client_id,
            "redirect_uri is not the one it was sent to": form.get("redirect_uri") != code.redirect_uri,
            "code_verifier does not fit the challenge": not _proves(form.get("code_verifier", ""), code.challenge),
            "resource is not the one it was asked for": form.get("resource", terms.resource) != terms.resource,
            "the DPoP key is not the one it was asked with": terms.jkt is not None and terms.jkt != jkt,
        }
        return next((fault for fault, is_so in faults.items() if is_so), None)

    async def grant(self, terms: Terms, client: Client, *, refreshes: bool = True) -> Granted:
        """Make a grant, with a refresh token if the client takes them and `refreshes` does not forbid it."""
        terms = structs.replace(terms, scopes=await self.allowed(terms.user, terms.scopes))
        name = new_secret()
        refresh_token = f"{name}.{new_secret()}" if refreshes and "refresh_token" in client.grants else None
        seconds = self._access_seconds if refresh_token is None else self._refresh_seconds
        current = None if refresh_token is None else digest(refresh_token)
        made = Grant(terms=terms, expires=self._clock() + seconds, current=current)
        await self._records.write("grant", digest(name), made, ttl=seconds)
        return Granted(digest(name), terms, refresh_token)

    async def refresh(self, token: str, client: Client, form: dict[str, str], jkt: str | None) -> Granted:
        """Take a refresh token, and make the next one. Raises `Refused`."""
        name, _, _ = token.partition(".")
        key = digest(name)
        for _ in range(ATTEMPTS):
            found = await self._of(token, client)
            if found is None:
                raise Refused("invalid_grant", "There is no such refresh token, or it has ended")
            terms = _narrowed(found.value.terms, client, form, jkt)
            terms = structs.replace(terms, scopes=await self.allowed(terms.user, terms.scopes))
            replaced = self._replaced(found.value, token)
            if replaced is None:
                await self.revoke(key)
                raise Refused("invalid_grant", "This refresh token was replaced: all that came of it is revoked")
            refresh_token = f"{name}.{new_secret()}"
            changed = structs.replace(
                replaced, current=digest(refresh_token), expires=self._clock() + self._refresh_seconds
            )
            try:
                await self._records.write("grant", key, changed, ttl=self._refresh_seconds, expect=found.version)
            except Conflict:
                continue  # it was used twice at once, or revoked: look again
            return Granted(key, terms, refresh_token)
        raise Refused("temporarily_unavailable", "This refresh token is used too often at once", status=503)

    def _replaced(self, grant: Grant, token: str) -> Grant | None:
        """Return the grant as it is when a refresh token was used; None if that was replaced before."""
        told, now = digest(token), self._clock()
        if hmac.compare_digest(told, grant.current or ""):
            return structs.replace(grant, former=told, replaced=now)
        if hmac.compare_digest(told, grant.former or "") and now - grant.replaced <= GRACE_SECONDS:
            return grant  # with the time of the first use, so that this does not go on for ever
        return None

    async def _of(self, token: str, client: Client) -> Found[Grant] | None:
        """Return the grant whose name is in a refresh token, if it is the client's and has not ended."""
        name, dot, _ = token.partition(".")
        found = await self._records.find("grant", digest(name), Grant) if dot else None
        if found is None or found.value.terms.client_id != client.client_id or found.value.current is None:
            return None
        return found if found.value.expires > self._clock() else None

    async def key_of(self, token: str, client: Client) -> str | None:
        """Return the key of the grant that a refresh token of a client's belongs to."""
        found = await self._of(token, client)
        return None if found is None else digest(token.partition(".")[0])

    async def find(self, key: str) -> Grant | None:
        """Return a grant by its key."""
        return await self._records.read("grant", key, Grant)

    async def revoke(self, key: str) -> None:
        """End a grant: no token of it is good any more, for those who ask here."""
        await self._records.remove("grant", key)


def _proves(verifier: str, challenge: str) -> bool:
    """Compare a verifier with its challenge (RFC 7636 section 4.6, S256)."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    hashed = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    return hmac.compare_digest(hashed, challenge)


def _narrowed(terms: Terms, client: Client, form: dict[str, str], jkt: str | None) -> Terms:
    """Return the terms of the next access token: those of the grant, or less. Raises `Refused`."""
    scopes = tuple(dict.fromkeys(form["scope"].split())) if "scope" in form else terms.scopes
    if not set(scopes) <= set(terms.scopes):
        raise Refused("invalid_scope", "A refresh token grants no more scopes than were granted before")
    if form.get("resource", terms.resource) != terms.resource:
        raise Refused("invalid_target", "This refresh token is for another resource")
    if client.method == "none" and terms.jkt != jkt:  # any other client proves itself anyway (RFC 9449 section 5)
        raise Refused("invalid_grant", "This refresh token is bound to another DPoP key, or to none")
    return structs.replace(terms, scopes=scopes, jkt=jkt)
