"""A user logs in with a browser: authorization code and PKCE, with as few questions to the user as possible.

A token is refreshed where it can be. More scopes are asked for when a server wants more; none is lost by that.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1-13
"""

import secrets
from base64 import urlsafe_b64encode
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, ClassVar, TypedDict, Unpack
from urllib.parse import urlencode

from msgspec.structs import replace

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.challenges import Challenge, scopes_of
from splice.auth.login.discovery import Found, Needed, discover
from splice.auth.login.dpop import DPoPKey
from splice.auth.login.keeping import TokenStore
from splice.auth.login.kept import Grant, Kept, Registration
from splice.auth.login.redirects import code_of
from splice.auth.login.registration import METHODS, Identity, pinned_issuer, register
from splice.auth.login.steps import Browse, Flow, Redirect
from splice.auth.login.tokens import foreign, refresh, request_token
from splice.auth.login.urls import is_usable, parts_of, shown, shown_address
from splice.rules.options import Option, checked, option_table

MAX_STEPS_UP = 2
"""How often more scopes are asked for within `STEP_UP_SECONDS`: a server may want ever more, or not see what it got."""
STEP_UP_SECONDS = 60.0
MAX_SCOPE_CHARACTERS = 4096
"""Of all scopes together: they go into a URL."""

OFFLINE = "offline_access"
"""The scope that a refresh token takes at some servers."""

_LOGIN_AGAIN = {"invalid_grant", "invalid_scope", "invalid_target", "unauthorized_client", "unsupported_grant_type"}
"""Errors of a refresh that a new login may mend."""
_UNKNOWN_CLIENT = "invalid_client"
_REGISTER_AGAIN = {_UNKNOWN_CLIENT, "invalid_scope"}
"""The server has forgotten a client that registered itself, or grants it only scopes that it registered with."""


def _is_document(url: str) -> bool:
    parts = parts_of(url)
    return parts is not None and parts.scheme == "https" and parts.path not in ("", "/")


def _are_scopes(texts: Sequence[str]) -> bool:
    return set(scopes_of(texts)) == set(texts)


_TEXT = Option(str, "a text that is not empty", len)
_SECRET = Option(str, "a text that is not empty", len, is_secret=True)
_SWITCH = Option(bool, "True or False")


class LoginOptions(TypedDict, total=False):
    """What every login of a user may be told. `OAuth` says what each one does."""

    client_id: Annotated[str | None, _TEXT]
    client_secret: Annotated[str | None, _SECRET]
    issuer: Annotated[str | None, Option(str, "an https URL", is_usable)]
    client_metadata_url: Annotated[str | None, Option(str, "an https URL with a path", _is_document)]
    client_name: Annotated[str | None, _TEXT]
    scopes: Annotated[
        Sequence[str] | None, Option((list, tuple), "a list of scopes, each without blanks", _are_scopes, item=str)
    ]
    offline: Annotated[bool, _SWITCH]
    dpop: Annotated[bool, _SWITCH]
    tokens: Annotated[
        TokenStore | None, Option(object, "a store such as FileTokens()", lambda it: hasattr(it, "locked"))
    ]
    token_endpoint_auth_method: Annotated[str | None, Option(str, f"one of {', '.join(METHODS)}", METHODS.__contains__)]


class OAuthOptions(LoginOptions, total=False):
    """Everything an `OAuth` may be told. The class says what each one does."""

    redirect_port: Annotated[int, Option(int, "a port, or 0 for any", lambda port: 0 <= port < 65536)]
    browse: Annotated[Callable[[str], object] | None, Option(Callable, "a function that takes a URL")]


OPTIONS = option_table(OAuthOptions)


class OAuth:
    """Log in as a user, with a browser.

    client_id, client_secret: what somebody registered for this client at an authorization server. They are sent to
    `issuer` only; unless that is given, to the authorization server that is named first, by whichever MCP server this
    object is used for, and never to another one. client_metadata_url: the https URL of a document that describes this
    client, its id at servers that support that. With neither the client registers itself, as `client_name`.

    scopes: ask for these, and for what a server demands besides; unless given, for what the server says it needs.
    redirect_port: where the browser comes back to on this machine; 0: any free port. offline: ask for a refresh token
    where that takes a scope of its own. dpop: bind tokens to a key, so that they are of no use to a thief; done also
    where a server asks for it. browse: lets the user open a URL, in place of the browser of the system; it may be a
    coroutine function. token_endpoint_auth_method: ``none``, ``client_secret_basic`` or
    ``client_secret_post``; unless given, as the server supports it.
    tokens: where logins are kept, such as `FileTokens()`; unless given, in memory, for all clients with this object.
    """

    interactive: ClassVar[bool] = True
    needs_pkce: ClassVar[bool] = True
    known: ClassVar[Mapping[str, Option]] = OPTIONS
    """Its options."""

    def __init__(self, **options: Unpack[OAuthOptions]) -> None:
        name = type(self).__name__
        known = checked(name, options, self.known)
        if "client_id" not in known and ("client_secret" in known or "issuer" in known):
            raise ValueError(f"client_secret= and issuer= of {name} belong to a client_id=, which is missing")
        is_public = "client_secret" not in known
        if is_public and "client_id" in known and known.get("token_endpoint_auth_method", "none") != "none":
            raise ValueError(f"token_endpoint_auth_method= of {name} takes a client_secret=, which is missing")
        self.redirect_port: int = known.pop("redirect_port", 0)
        self.tokens: TokenStore | None = known.pop("tokens", None)
        self.browse: Callable[[str], object] | None = known.pop("browse", None)
        self._scopes = scopes_of(known.pop("scopes", ()))
        self._offline: bool = known.pop("offline", True)
        self._dpop: bool = known.pop("dpop", False)
        method: str | None = known.pop("token_endpoint_auth_method", None)
        self._identity = Identity(method=method, **known)
        self._met: str | None = None
        """The first issuer that credentials which a person gave were for: a server that is met later names no other."""
        self._steps_up: dict[str, deque[float]] = {}
        """When each server wanted more scopes."""

    def obtain(self, request: Needed, kept: Kept) -> Flow[Kept]:
        """Get a token for a server that refused a request: refresh the one there is, or let the user log in.

        Returns what to keep. Raises `AuthorizationFailed`.
        """
        if request.status == 403:
            self._check_step_up(request, kept.grant)
        pinned = pinned_issuer(self._identity, kept) or self._met
        found = yield from discover(request.url, request.challenge, issuer=pinned, pkce=self.needs_pkce)
        if self._identity.client_id is not None:
            if self._met not in (None, found.issuer):  # by a login that ran meanwhile
                raise foreign(str(self._met), found.issuer)
            self._met = found.issuer
        kept = before = _without_foreign(kept, found)
        if request.status == 401:
            kept = yield from self._refresh(request, found, kept)
            if kept.grant is not before.grant:
                return kept
        try:
            return (yield from self._log_in(request, found, kept))
        except AuthorizationFailed as error:
            if error.code not in _REGISTER_AGAIN or kept.registration is None or not kept.registration.is_dynamic:
                raise
        return (yield from self._log_in(request, found, replace(kept, registration=None)))

    def _check_step_up(self, request: Needed, grant: Grant | None) -> None:
        """Raise `AuthorizationFailed` unless it makes sense to ask for more scopes."""
        where = shown_address(request.url)
        challenge = request.challenge or Challenge("bearer")
        if challenge.error != "insufficient_scope" or not challenge.scopes:
            raise AuthorizationFailed(f"{where} does not let this user do that (403), and names no scope to ask for")
        wanted = shown(" ".join(challenge.scopes))
        if grant is not None and set(challenge.scopes) <= set(grant.scopes):
            raise AuthorizationFailed(f"{where} wants the scopes {wanted}, and does not see that the token has them")
        steps = self._steps_up.setdefault(request.url, deque(maxlen=MAX_STEPS_UP))
        if len(steps) == MAX_STEPS_UP and request.now - steps[0] < STEP_UP_SECONDS:
            raise AuthorizationFailed(f"{where} goes on asking for more scopes, now {wanted}: given up")
        steps.append(request.now)

    def _refresh(self, request: Needed, found: Found, kept: Kept) -> Flow[Kept]:
        """Refresh the grant. It stays as it is if the user has to log in."""
        registration, grant = kept.registration, kept.grant
        if registration is None or grant is None or not self._may_refresh(request, found, registration, grant):
            return kept
        if self._identity.client_id is not None:
            registration = yield from register(found, self._identity, kept, now=request.now)  # its secret may be new
        try:
            grant = yield from refresh(found.metadata, registration, grant, request.now)
        except AuthorizationFailed as error:
            if error.code == _UNKNOWN_CLIENT and registration.is_dynamic:
                return replace(kept, registration=None)
            if error.code not in _LOGIN_AGAIN:
                raise
            return kept
        return replace(kept, registration=registration, grant=grant)

    def _may_refresh(self, request: Needed, found: Found, registration: Registration, grant: Grant) -> bool:
        """Tell whether a grant has a refresh token, and is what would be asked for now."""
        is_ours = self._identity.client_id in (None, registration.client_id)
        is_bound = grant.dpop_key is not None or not self._binds(request.challenge)
        return grant.refresh_token is not None and grant.resource == _resource(found) and is_ours and is_bound

    def _log_in(self, request: Needed, found: Found, kept: Kept) -> Flow[Kept]:
        """Let the user decide in a browser, and exchange the code that comes back."""
        page = _page_of(request, found)
        asked = self._asked(request.challenge, found, kept)
        registration = yield from register(
            found,
            self._identity,
            kept,
            now=request.now,
            redirect_uri=request.redirect_uri,
            scopes=scopes_of([*asked, *(found.scopes_supported or ())]),
        )
        key = self._key(request.challenge, found, kept.grant)
        verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(32)
        resource = _resource(found)
        query = {
            "response_type": "code",
            "client_id": registration.client_id,
            "redirect_uri": request.redirect_uri,
            "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "state": state,
            **({"scope": " ".join(asked)} if asked else {}),
            **({"prompt": "consent"} if OFFLINE in asked else {}),  # OpenID Connect Core, section 11
            **({} if resource is None else {"resource": resource}),
            **({} if key is None else {"dpop_jkt": key.thumbprint}),
        }
        url = f"{page}{'&' if '?' in page else '?'}{urlencode(query)}"
        redirect: Redirect = yield Browse(url, request.redirect_uri)
        form = {
            "grant_type": "authorization_code",
            "code": code_of(redirect, state, found),
            "redirect_uri": request.redirect_uri,
            "code_verifier": verifier,
        }
        grant = yield from request_token(
            found.metadata, registration, form, resource=resource, asked=asked, now=request.now, key=key
        )
        return Kept(registration=registration, grant=grant, asked=asked)

    def _asked(self, challenge: Challenge | None, found: Found, kept: Kept) -> tuple[str, ...]:
        """Choose the scopes: what the server demands now, else what it lists; and all that was asked for before."""
        demanded = () if challenge is None else challenge.scopes
        before = kept.asked or (kept.grant.scopes if kept.grant is not None else ())
        listed = () if self._scopes or before else scopes_of(found.scopes_supported or ())
        scopes = scopes_of([*before, *self._scopes, *(demanded or listed)])
        # That a token lives on without the user is for the client to want, not for the server (SEP-2207).
        scopes = tuple(each for each in scopes if each != OFFLINE or each in self._scopes)
        if self._offline and scopes and OFFLINE in (found.metadata.scopes_supported or ()):
            scopes = scopes_of([*scopes, OFFLINE])
        if len(" ".join(scopes)) > MAX_SCOPE_CHARACTERS:
            raise AuthorizationFailed(f"{shown_address(found.url)} wants more scopes than fit into a URL: give scopes=")
        return scopes

    def _key(self, challenge: Challenge | None, found: Found, grant: Grant | None) -> DPoPKey | None:
        """Return the key that the token is to be bound to: the one there was, if there was one."""
        if grant is not None and grant.dpop_key is not None:
            return DPoPKey.load(grant.dpop_key)
        if not self._binds(challenge):
            return None
        return DPoPKey.agreed(found.metadata.dpop_signing_alg_values_supported)

    def _binds(self, challenge: Challenge | None) -> bool:
        return self._dpop or (challenge is not None and challenge.scheme == "dpop")


def _page_of(request: Needed, found: Found) -> str:
    """Return the URL to log in at. Raises `AuthorizationFailed` if there is none, or nobody to open it."""
    if not request.redirect_uri:
        needed = "the user to log in"
        if request.status == 403 and request.challenge is not None:
            needed = f"the scopes {shown(' '.join(request.challenge.scopes))}"
        raise AuthorizationFailed(f"{shown_address(request.url)} wants {needed}, and nobody is asked now")
    page = found.metadata.authorization_endpoint
    if page is None:
        raise AuthorizationFailed(f"{shown(found.issuer)} has no page to log in at: users need another way")
    return page


def _resource(found: Found) -> str | None:
    """Tell how requests name the server. Before there was resource metadata they did not."""
    return found.resource if found.has_resource_metadata else None


def _without_foreign(kept: Kept, found: Found) -> Kept:
    """Leave out what belongs to another authorization server."""
    return replace(
        kept,
        registration=kept.registration if kept.registration and kept.registration.issuer == found.issuer else None,
        grant=kept.grant if kept.grant and kept.grant.issuer == found.issuer else None,
    )
