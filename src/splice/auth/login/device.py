"""A user logs in on another device: this machine shows a code and waits, as it has no browser.

It works like `OAuth` but for that: a code instead of a redirect. So there is nothing to come back to here, and nobody
can be sure that who enters the code is who started this; therefore the code is shown with the page it is for.

https://www.rfc-editor.org/rfc/rfc8628
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Unpack

from msgspec import Struct
from msgspec.structs import replace

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.code import LoginOptions, OAuth
from splice.auth.login.discovery import Found, Needed
from splice.auth.login.kept import Grant, Kept
from splice.auth.login.registration import register
from splice.auth.login.steps import Flow, Show, Wait
from splice.auth.login.tokens import UNAVAILABLE, ask, request_token
from splice.auth.login.urls import is_usable, shown_address
from splice.errors import ConnectionClosed
from splice.rules.options import Option, option_table

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"

INTERVAL_SECONDS = 5.0
"""How long to wait between two questions, unless the server says so; and how much longer after each `slow_down`."""
LEAST_INTERVAL_SECONDS, MOST_INTERVAL_SECONDS = 1.0, 60.0
EXPIRES_SECONDS, MOST_EXPIRES_SECONDS = 600.0, 1800.0
"""How long a code can be entered if the server does not say, and at most."""
MAX_DEVICE_CODE = 4096
"""Characters of the code that this machine asks with."""

_DEVICE_CODE = re.compile(r"[ -~]+")
_USER_CODE = re.compile(r"[!-~](?:[ -~]{0,62}[!-~])?")


class _Codes(Struct, kw_only=True):
    """What a server answered who was asked for a code."""

    device_code: str
    shown: Show
    expires: float
    """In seconds from now."""
    interval: float

    def __repr__(self) -> str:
        return f"_Codes({self.shown!r})"


class DeviceCode(OAuth):
    """Log in as a user, on another device: for a machine without a browser.

    It takes the options of `OAuth` but for those of a browser, and `show`, a function, async or not, which shows the
    user where to enter which code; unless given, both are written to stderr.
    """

    interactive: ClassVar[bool] = False  # no browser comes back to this machine
    needs_pkce: ClassVar[bool] = False
    known: ClassVar[Mapping[str, Option]] = option_table(LoginOptions)

    def __init__(self, *, show: Callable[[Show], object] | None = None, **options: Unpack[LoginOptions]) -> None:
        super().__init__(**options)
        self.show = show
        self._identity = replace(self._identity, grant_types=(DEVICE_GRANT, "refresh_token"))

    def _log_in(self, request: Needed, found: Found, kept: Kept) -> Flow[Kept]:
        """Show a code, and ask whether it was entered until it was, or cannot be any more."""
        endpoint = found.metadata.device_authorization_endpoint
        if endpoint is None:
            raise AuthorizationFailed(
                f"{found.issuer!a} has no login on another device: its metadata has no device_authorization_endpoint"
            )
        asked = self._asked(request.challenge, found, kept)
        registration = yield from register(found, self._identity, kept, now=request.now, scopes=asked)
        key = self._key(request.challenge, found, kept.grant)
        resource = found.resource if found.has_resource_metadata else None
        fields = {"scope": " ".join(asked)} if asked else {}
        if resource is not None:
            fields["resource"] = resource
        codes = _read((yield from ask(endpoint, registration, fields, now=request.now)), endpoint)
        yield codes.shown
        form = {"grant_type": DEVICE_GRANT, "device_code": codes.device_code}
        once = partial(request_token, found.metadata, registration, form, resource=resource, asked=asked, key=key)
        grant = yield from _until_entered(codes, once, request.now)
        return Kept(registration=registration, grant=grant, asked=asked)


def _until_entered(codes: _Codes, once: Callable[..., Flow[Grant]], now: float) -> Flow[Grant]:
    """Ask for the token again and again, until the code was entered or cannot be any more."""
    waited, interval = 0.0, codes.interval
    while waited + interval <= codes.expires:
        yield Wait(interval)
        waited += interval
        try:
            return (yield from once(now=now + waited))
        except ConnectionClosed:
            interval = min(interval * 2, MOST_INTERVAL_SECONDS)
        except AuthorizationFailed as error:
            interval = _longer(interval, error, codes.shown)
    raise _too_late(codes.shown)


def _longer(interval: float, error: AuthorizationFailed, shown: Show) -> float:
    """Tell how long to wait now. Raises `AuthorizationFailed` when there is nothing left to wait for."""
    match error.code:
        case "authorization_pending":
            return interval
        case "slow_down":
            return interval + INTERVAL_SECONDS
        case code if code == UNAVAILABLE:
            return min(max(interval * 2, error.retry_after), MOST_INTERVAL_SECONDS)
        case "access_denied":
            where = shown_address(shown.url)
            raise AuthorizationFailed(f"the user did not allow it at {where}", code="access_denied") from None
        case "expired_token":
            raise _too_late(shown) from None
        case _:
            raise error


def _too_late(shown: Show) -> AuthorizationFailed:
    where = shown_address(shown.url)
    return AuthorizationFailed(f"nobody entered the code at {where} in time: start again", code="expired_token")


def _read(members: Mapping[str, Any], endpoint: str) -> _Codes:
    """Read the answer with the codes. The user sees what is in it, so it must not be more than it seems."""
    where = shown_address(endpoint)
    secret, code = members.get("device_code"), members.get("user_code")
    if not isinstance(secret, str) or len(secret) > MAX_DEVICE_CODE or not _DEVICE_CODE.fullmatch(secret):
        raise AuthorizationFailed(f"{where} gave no device_code that could be sent")
    if not isinstance(code, str) or not _USER_CODE.fullmatch(code):
        raise AuthorizationFailed(f"{where} gave no user_code that could be shown")
    page = members.get("verification_uri", members.get("verification_url"))  # so named in drafts, and still at some
    if not isinstance(page, str) or not is_usable(page):
        raise AuthorizationFailed(f"{where} gave no verification_uri that a user could open: https is expected")
    complete = members.get("verification_uri_complete")
    complete_url = complete if isinstance(complete, str) and is_usable(complete) else None
    return _Codes(
        device_code=secret,
        shown=Show(page, code, complete_url),
        expires=_seconds(members.get("expires_in"), EXPIRES_SECONDS, 0.0, MOST_EXPIRES_SECONDS),
        interval=_seconds(members.get("interval"), INTERVAL_SECONDS, LEAST_INTERVAL_SECONDS, MOST_INTERVAL_SECONDS),
    )


def _seconds(given: object, usual: float, least: float, most: float) -> float:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return min(max(given, least), most) if isinstance(given, int | float) and is_number else usual
