"""Who a client is at an authorization server: an id that a person registered, its metadata's URL, or one it is given.

Credentials belong to one issuer. A server that names another one gets none of them: what was registered dynamically
is registered anew, what a person registered is not sent.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
https://www.rfc-editor.org/rfc/rfc7591
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.discovery import Found, ServerMetadata
from splice.auth.login.kept import Kept, Registration
from splice.auth.login.steps import HTTP, Flow, HTTPReply
from splice.auth.login.urls import error_code, shown, shown_address

MAX_CREDENTIAL = 4096
"""Characters of an id or a secret that a server gives."""
MIN_LIFE_SECONDS = 60.0
"""A secret that ends sooner is not used any more."""

_POST, _BASIC = "client_secret_post", "client_secret_basic"
METHODS = ("none", _POST, _BASIC)
"""The ways to prove itself that a registration may ask for, the best for a program on somebody's machine first.

Every server takes a secret in the body, which OAuth 2.1 demands; some want the id there even beside a header.
"""

_PRINTABLE = re.compile(r"[ -~]+")


class Identity(Struct, kw_only=True, frozen=True):
    """Who a client is before any server knows it."""

    client_id: str | None = None
    client_secret: str | None = None
    issuer: str | None = None
    """Who gave the id. Unless said: who is met first."""
    client_metadata_url: str | None = None
    client_name: str = "splice"
    method: str | None = None
    """How it proves itself at the token endpoint; None: as the server supports it."""
    grant_types: tuple[str, ...] = ("authorization_code", "refresh_token")

    def __repr__(self) -> str:
        return f"Identity(client_id={self.client_id!r}, issuer={self.issuer!r}, client_name={self.client_name!r})"


def pinned_issuer(identity: Identity, kept: Kept) -> str | None:
    """Tell which authorization server the credentials that a person gave belong to; None: any, or not yet known."""
    if identity.client_id is None or identity.issuer is not None:
        return identity.issuer
    known = kept.registration
    return known.issuer if known is not None and known.client_id == identity.client_id else None


def register(
    found: Found,
    identity: Identity,
    kept: Kept,
    *,
    now: float,
    redirect_uri: str = "",
    scopes: tuple[str, ...] = (),
) -> Flow[Registration]:
    """Return how `found.issuer` knows this client, and make that so where it does not.

    `redirect_uri` is where the browser comes back to; empty for a grant without one. `scopes` are what the client may
    ever ask for. Raises `AuthorizationFailed`.
    """
    metadata = found.metadata
    if identity.client_id is not None:
        return Registration(
            issuer=found.issuer,
            client_id=identity.client_id,
            client_secret=identity.client_secret,
            method=_method_of_given(identity, metadata),
        )
    if identity.client_metadata_url is not None and metadata.client_id_metadata_document_supported:
        return Registration(issuer=found.issuer, client_id=identity.client_metadata_url)
    known = kept.registration
    if known is not None and _is_good(known, found.issuer, redirect_uri, now):
        return known
    return (yield from _register_dynamically(found, identity, redirect_uri, scopes))


def _method_of_given(identity: Identity, metadata: ServerMetadata) -> str:
    if identity.method is not None:
        return identity.method
    if identity.client_secret is None:
        return "none"
    supported = metadata.token_endpoint_auth_methods_supported or ()
    # Basic is what a server supports that says nothing (RFC 8414 section 2).
    return _POST if _POST in supported and _BASIC not in supported else _BASIC


def _is_good(known: Registration, issuer: str, redirect_uri: str, now: float) -> bool:
    return (
        known.is_dynamic
        and known.issuer == issuer
        and (known.expires is None or known.expires - MIN_LIFE_SECONDS > now)
        and (not redirect_uri or redirect_uri in known.redirect_uris)
    )


def _register_dynamically(
    found: Found, identity: Identity, redirect_uri: str, scopes: tuple[str, ...]
) -> Flow[Registration]:
    endpoint = found.metadata.registration_endpoint
    if endpoint is None:
        raise AuthorizationFailed(_cannot_register(found, identity, redirect_uri))
    method = identity.method or _method_to_ask_for(found.metadata)
    wanted: dict[str, Any] = {
        "client_name": identity.client_name,
        "grant_types": identity.grant_types,
        "token_endpoint_auth_method": method,
        "application_type": "native",
    }
    if redirect_uri:
        wanted |= {"redirect_uris": [redirect_uri], "response_types": ["code"]}
    if scopes:
        wanted["scope"] = " ".join(scopes)
    reply: HTTPReply = yield HTTP(
        method="POST",
        url=endpoint,
        headers={"content-type": "application/json", "accept": "application/json"},
        body=msgspec.json.encode(wanted),
    )
    members = reply.members()
    if reply.status not in (200, 201) or not members:
        raise _refused(found, endpoint, reply, members)
    return _accepted(members, found.issuer, method, redirect_uri)


def _method_to_ask_for(metadata: ServerMetadata) -> str:
    supported = metadata.token_endpoint_auth_methods_supported
    if supported is None:
        return _BASIC  # what RFC 8414 and RFC 7591 mean by saying nothing
    method = next((each for each in METHODS if each in supported), None)
    if method is None:
        raise AuthorizationFailed(
            f"{shown(metadata.issuer)} wants clients to prove themselves by {shown(', '.join(supported))}, which a"
            " dynamic registration cannot: register the client there, and give client_id="
        )
    return method


def _accepted(members: Mapping[str, Any], issuer: str, method: str, redirect_uri: str) -> Registration:
    """Read what the server made of the registration. What it says replaces what was asked for."""
    client_id = _credential(members, "client_id", issuer)
    if client_id is None:
        raise AuthorizationFailed(f"{shown(issuer)} registered the client, but gave it no client_id")
    secret = _credential(members, "client_secret", issuer)
    given = members.get("token_endpoint_auth_method")
    if given is None:
        given = "none" if secret is None else method if method != "none" else _BASIC
    if given not in METHODS or (given != "none" and secret is None):
        raise AuthorizationFailed(
            f"{shown(issuer)} registered the client to prove itself by {shown(str(given))}, and gave it nothing to do"
            " that with: register it by hand, and give client_id="
        )
    return Registration(
        issuer=issuer,
        client_id=client_id,
        client_secret=secret if given != "none" else None,
        method=given,
        expires=_end(members.get("client_secret_expires_at")) if given != "none" else None,
        redirect_uris=(redirect_uri,) if redirect_uri else (),
        is_dynamic=True,
    )


def _end(given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 < given < 2**53:
        return None  # 0: never
    return float(given)


def _credential(members: Mapping[str, Any], name: str, issuer: str) -> str | None:
    value = members.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > MAX_CREDENTIAL or _PRINTABLE.fullmatch(value) is None:
        raise AuthorizationFailed(f"{shown(issuer)} gave the client a {name} that cannot be sent")
    return value


def _refused(found: Found, endpoint: str, reply: HTTPReply, members: Mapping[str, Any]) -> AuthorizationFailed:
    code = members.get("error")
    told = [shown(each) for each in (code, members.get("error_description")) if isinstance(each, str) and each]
    said = ", ".join([f"HTTP {reply.status}", *told])
    message = f"{shown_address(endpoint)} did not register the client: {said}"
    if reply.status in (401, 403, 404):
        message += ". Register it there by hand, and give client_id="
    if not found.has_resource_metadata:
        message += (
            f". ({shown_address(found.url)} does not say who issues its tokens, so its origin was asked, as was usual"
            " before servers had resource metadata)"
        )
    return AuthorizationFailed(message, code=error_code(code))


def _cannot_register(found: Found, identity: Identity, redirect_uri: str) -> str:
    back = f" with the redirect URI {redirect_uri}" if redirect_uri else ""
    hosted = "" if identity.client_metadata_url is None else ", nor takes the URL of a client's metadata as its id"
    port = ", and redirect_port= to keep that port" if redirect_uri else ""
    return (
        f"{shown(found.issuer)} does not register clients{hosted}. Register this one there by hand{back}, and give its"
        f" client_id= (and client_secret=, if it got one){port}"
    )
