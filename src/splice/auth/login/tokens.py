"""The token endpoint: asking for tokens, and reading what came.

A client proves itself in one of four ways (`Registration.method`). Its secrets go to the issuer they belong to and to
no other one, and appear in no message, even where the server repeats them. What came is checked: a token that could
not stand in a header is refused, and what only describes it (`expires_in`, `scope`, `refresh_token`) is left out when
it cannot be used.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
https://www.rfc-editor.org/rfc/rfc6749#section-5
https://www.rfc-editor.org/rfc/rfc9449#section-5
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote, quote_plus, urlencode

from msgspec.structs import replace

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.discovery import ServerMetadata
from splice.auth.login.dpop import DPoPKey
from splice.auth.login.kept import Grant, Registration
from splice.auth.login.steps import HTTP, Flow, HTTPReply
from splice.protocol.uri import shown_url

MAX_TOKEN_CHARACTERS = 32_768
"""The longest token that is taken: it is sent with every request."""

MAX_EXPIRES_SECONDS = 10 * 366 * 86_400
"""A longer life of a token is taken for unknown."""

MAX_RETRY_AFTER_SECONDS = 3600
"""How long a server may ask to wait before it is asked again."""

UNAVAILABLE = "temporarily_unavailable"
"""The code of the error when a server fails, or is asked too often, and does not name one."""

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

Assertion: TypeAlias = Callable[[], str]
"""Makes a client assertion (`private_key_jwt`), a fresh one each time."""

_HEADER_SAFE = re.compile(r"[!-~]+")
_PRINTABLE = re.compile(r"[ -~]+")
_NONCE = re.compile(r"[!#-\[\]-~]{1,1024}")
_SECRET_FIELDS = {
    "assertion",
    "client_assertion",
    "client_secret",
    "code",
    "code_verifier",
    "device_code",
    "refresh_token",
    "subject_token",
}
_SHOWN_CHARACTERS = 200


def request_token(
    metadata: ServerMetadata,
    registration: Registration,
    form: Mapping[str, str],
    *,
    resource: str | None,
    asked: Iterable[str],
    now: float,
    key: DPoPKey | None = None,
    assertion: Assertion | None = None,
) -> Flow[Grant]:
    """Ask the token endpoint for a token.

    `form` has the fields of the grant, `scope` among them where it is asked for here; `resource` and what proves who
    the client is are added. `asked` is taken for granted if the answer names no scopes. With a `key` the token is
    bound to it, and nothing else is taken. `assertion` is needed by `private_key_jwt` only.

    Raises `AuthorizationFailed`; its `code` is the error the server named.
    """
    url = _endpoint(metadata, registration)
    fields = dict(form) if resource is None else {**form, "resource": resource}
    members = yield from ask(url, registration, fields, now=now, key=key, assertion=assertion)
    return Grant(
        issuer=metadata.issuer,
        access_token=_access_token(members, url),
        token_type=_token_type(members, url, is_bound=key is not None),
        resource=resource,
        scopes=_scopes(members.get("scope")) or tuple(asked),
        expires=_expires(members.get("expires_in"), now),
        refresh_token=_refresh_token(members.get("refresh_token")),
        token_endpoint=url,
        dpop_key=None if key is None else key.dump(),
    )


def refresh(
    metadata: ServerMetadata,
    registration: Registration,
    grant: Grant,
    now: float,
    *,
    assertion: Assertion | None = None,
) -> Flow[Grant]:
    """Exchange the refresh token of a grant for a new grant. Without a new refresh token the old one is kept.

    Raises `AuthorizationFailed`; its `code` is ``invalid_grant`` when the user has to log in again.
    """
    if grant.refresh_token is None:
        raise AuthorizationFailed(f"{grant.issuer!a} gave no refresh token: log in again")
    if grant.issuer != metadata.issuer:
        raise foreign(grant.issuer, metadata.issuer)
    new = yield from request_token(
        metadata,
        registration,
        {"grant_type": "refresh_token", "refresh_token": grant.refresh_token},
        resource=grant.resource,
        asked=grant.scopes,
        now=now,
        key=None if grant.dpop_key is None else DPoPKey.load(grant.dpop_key),
        assertion=assertion,
    )
    return new if new.refresh_token else replace(new, refresh_token=grant.refresh_token)


def ask(
    url: str,
    registration: Registration,
    form: Mapping[str, str],
    *,
    now: float,
    key: DPoPKey | None = None,
    assertion: Assertion | None = None,
) -> Flow[dict[str, Any]]:
    """Send a form to an endpoint of the registration's issuer, and return the members of the answer.

    A server that wants a nonce in the proof is asked once more, with it. Redirects are not followed. Raises
    `AuthorizationFailed` for anything but a success.
    """
    nonce: str | None = None
    while True:
        headers, proof = _authentication(registration, assertion)
        fields = {**form, **proof}
        if key is not None:
            headers["dpop"] = key.proof("POST", url, now, nonce=nonce)
        reply: HTTPReply = yield HTTP(
            method="POST",
            url=url,
            headers={
                "content-type": "application/x-www-form-urlencoded",
                "accept": "application/json",
                **headers,
            },
            body=urlencode(fields).encode(),
        )
        members = reply.members()
        code = members.get("error")
        if code is None and reply.status in (200, 201):
            return members
        given = reply.headers.get("dpop-nonce", "")
        if key is None or code != "use_dpop_nonce" or nonce is not None or not _NONCE.fullmatch(given):
            raise _refused(url, reply, members, _secrets(registration, fields, headers))
        nonce = given


def _endpoint(metadata: ServerMetadata, registration: Registration) -> str:
    if registration.issuer != metadata.issuer:
        raise foreign(registration.issuer, metadata.issuer)
    if not metadata.token_endpoint:
        raise AuthorizationFailed(f"{metadata.issuer!a} issues no tokens: its metadata has no token_endpoint")
    return metadata.token_endpoint


def foreign(ours: str, theirs: str) -> AuthorizationFailed:
    """Say that credentials stay where they belong."""
    return AuthorizationFailed(f"credentials of {ours!a} are not sent to {theirs!a}: log in there first")


def _authentication(registration: Registration, assertion: Assertion | None) -> tuple[dict[str, str], dict[str, str]]:
    """Prove who the client is: with headers, with fields of the form."""
    client_id, secret, method = registration.client_id, registration.client_secret, registration.method
    if method == "none":
        return {}, {"client_id": client_id} if client_id else {}
    if method == "private_key_jwt" and assertion is not None:
        return {}, {"client_assertion_type": ASSERTION_TYPE, "client_assertion": assertion()}
    if method == "client_secret_basic" and secret is not None:
        pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
        return {"authorization": "Basic " + b64encode(pair.encode()).decode()}, {}
    if method == "client_secret_post" and secret is not None:
        return {}, {"client_id": client_id, "client_secret": secret}
    what = "has no private key" if method == "private_key_jwt" else "has no secret"
    known = method in ("private_key_jwt", "client_secret_basic", "client_secret_post")
    why = what if known else "cannot prove itself in that way"
    raise AuthorizationFailed(f"{registration.issuer!a} wants {method!a} of client {client_id!a}, which {why}")


def _access_token(members: Mapping[str, Any], url: str) -> str:
    token = members.get("access_token")
    if not isinstance(token, str) or not token:
        raise AuthorizationFailed(f"the answer of {_shown(url)} has no access_token")
    if len(token) > MAX_TOKEN_CHARACTERS or not _HEADER_SAFE.fullmatch(token):
        raise AuthorizationFailed(f"{_shown(url)} issued a token that cannot be sent in a header")
    return token


def _token_type(members: Mapping[str, Any], url: str, *, is_bound: bool) -> str:
    """Read the type of a token. One that is not bound where a key was used would be of use to any thief: refused."""
    given = members.get("token_type", "Bearer")
    kind = given.lower() if isinstance(given, str) else None
    if kind == ("dpop" if is_bound else "bearer"):
        return "DPoP" if is_bound else "Bearer"
    where = _shown(url)
    if kind == "bearer":
        raise AuthorizationFailed(
            f"{where} does not bind tokens to a key, as DPoP was to do: turn DPoP off to accept that"
        )
    if kind == "dpop":
        raise AuthorizationFailed(f"{where} issued a token bound to a key (DPoP), and was given none: turn DPoP on")
    raise AuthorizationFailed(f"{where} issued a token of the type {_cut(given)}: only Bearer and DPoP are known")


def _scopes(given: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(given.split())) if isinstance(given, str) and _PRINTABLE.fullmatch(given) else ()


def _expires(given: object, now: float) -> float | None:
    """Read `expires_in`: a number, or digits. Anything else leaves the end unknown."""
    if isinstance(given, str) and len(given) <= 16 and given.isascii() and given.isdigit():
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= MAX_EXPIRES_SECONDS:
        return None
    return now + given


def _refresh_token(given: object) -> str | None:
    fits = isinstance(given, str) and len(given) <= MAX_TOKEN_CHARACTERS and _PRINTABLE.fullmatch(given)
    return given if isinstance(given, str) and fits else None


def _refused(url: str, reply: HTTPReply, members: Mapping[str, Any], secrets: list[str]) -> AuthorizationFailed:
    """Say why there is no token."""
    named, told = members.get("error"), members.get("error_description")
    code = named[:_SHOWN_CHARACTERS] if isinstance(named, str) and _PRINTABLE.fullmatch(named) else None
    parts = [f"{_shown(url)} refused: HTTP {reply.status}"]
    if 300 <= reply.status < 400:
        parts.append("it redirects, and credentials are not sent elsewhere")
    if reply.status == 429 or reply.status >= 500:
        parts.append("it cannot answer now: try again later")
        code = code or UNAVAILABLE
    parts += [_cut(_redacted(text, secrets)) for text in (named, told) if isinstance(text, str) and text]
    if reply.status in (200, 201) and code is None:
        parts.append("the answer is not a token")
    error = AuthorizationFailed(", ".join(parts), code=None if code is None else _redacted(code, secrets))
    error.retry_after = _retry_after(reply)
    return error


def _retry_after(reply: HTTPReply) -> float:
    text = reply.headers.get("retry-after", "")
    return float(min(int(text), MAX_RETRY_AFTER_SECONDS)) if re.fullmatch("[0-9]{1,9}", text) else 0.0


def _secrets(registration: Registration, fields: Mapping[str, str], headers: Mapping[str, str]) -> list[str]:
    """List what was sent that must not be shown, in each form it had on its way, the longest first."""
    sent = {value for name, value in fields.items() if name in _SECRET_FIELDS}
    sent |= {registration.client_secret or "", headers.get("authorization", "").removeprefix("Basic ")}
    forms = {form for text in sent if text for form in (text, quote(text, safe=""), quote_plus(text))}
    return sorted(forms, key=len, reverse=True)


def _redacted(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "[secret]")
    return text


def _shown(url: str) -> str:
    return ascii(shown_url(url)[:_SHOWN_CHARACTERS])


def _cut(given: object) -> str:
    return ascii(given)[:_SHOWN_CHARACTERS]
