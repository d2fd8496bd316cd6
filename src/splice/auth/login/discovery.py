"""Who issues tokens for a server: its resource metadata, then the metadata of its authorization server.

A server of 2025-03-26 has no resource metadata: there the origin of the server issues the tokens.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
https://modelcontextprotocol.io/specification/2025-03-26/basic/authorization#server-metadata-discovery
"""

from typing import Any, TypeVar
from urllib.parse import SplitResult

import msgspec
from msgspec import Struct

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.challenges import Challenge
from splice.auth.login.steps import HTTP, Flow, HTTPReply
from splice.auth.login.urls import (
    covers,
    origin_of,
    parts_of,
    resource_metadata_urls,
    server_metadata_urls,
    shown,
    shown_address,
)
from splice.errors import ConnectionClosed
from splice.rules.http.origins import is_loopback

MAX_SERVERS = 5
"""How many authorization servers of one list are asked."""

_ENDPOINTS = (
    "token_endpoint",
    "authorization_endpoint",
    "registration_endpoint",
    "revocation_endpoint",
    "device_authorization_endpoint",
)

T = TypeVar("T", bound=Struct)


class Needed(Struct, kw_only=True):
    """A server refused a request: what a policy has to know to get a token for it."""

    url: str
    """The server."""
    challenge: Challenge | None = None
    status: int = 401
    """401: there was no token, or not a good one. 403: it may not do this."""
    now: float
    """Seconds since 1970."""
    redirect_uri: str = ""
    """Where the driver awaits the browser, such as ``http://127.0.0.1:49152/callback``; unless interactive: empty."""


class ServerMetadata(Struct, kw_only=True):
    """An authorization server as it describes itself (RFC 8414). What is not used here is not read."""

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    device_authorization_endpoint: str | None = None
    scopes_supported: tuple[str, ...] | None = None
    grant_types_supported: tuple[str, ...] | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] | None = None
    token_endpoint_auth_signing_alg_values_supported: tuple[str, ...] | None = None
    code_challenge_methods_supported: tuple[str, ...] | None = None
    dpop_signing_alg_values_supported: tuple[str, ...] | None = None
    authorization_response_iss_parameter_supported: bool = False
    client_id_metadata_document_supported: bool = False


class Found(Struct, kw_only=True):
    """Where to get a token for a server, and how to ask for it."""

    url: str
    """The server."""
    resource: str
    """How token requests name it: as its metadata does, byte for byte; without metadata its URL."""
    has_resource_metadata: bool = True
    """False: a server of the time before resource metadata; token requests do not name a resource."""
    scopes_supported: tuple[str, ...] | None = None
    """By the metadata of the server, not of the authorization server."""
    issuer: str
    metadata: ServerMetadata


class ResourceMetadata(Struct, kw_only=True):
    """A server as it describes itself (RFC 9728). What is not used here is not read."""

    resource: str
    authorization_servers: tuple[str, ...] = ()
    scopes_supported: tuple[str, ...] | None = None


def discover(url: str, challenge: Challenge | None, *, issuer: str | None = None, pkce: bool = True) -> Flow[Found]:
    """Find out who issues tokens for the server at `url`.

    `issuer`: no other authorization server will do, as there are credentials for that one only. `pkce`: it must
    support S256, as every grant with a browser needs. Raises `AuthorizationFailed`.
    """
    parts = parts_of(url.partition("#")[0])
    if parts is None:
        raise AuthorizationFailed(f"{shown_address(url)} gets no token: its URL must be https, or http to this machine")
    asked = _Asked(parts)
    resource = yield from _resource_metadata(url, parts, challenge, asked)
    if resource is not None:
        return (yield from _listed(url, resource, asked, issuer, pkce=pkce))
    metadata = yield from _of_origin(url, parts, asked, pkce=pkce)
    if issuer not in (None, metadata.issuer):
        raise _other_issuer(url, (metadata.issuer,), issuer)
    canonical = origin_of(parts) + ("" if parts.path == "/" else parts.path)
    return Found(url=url, resource=canonical, has_resource_metadata=False, issuer=metadata.issuer, metadata=metadata)


class _Asked:
    """Asks one URL after the other for a JSON document, and remembers what came for the message if none will do."""

    def __init__(self, server: SplitResult) -> None:
        self._is_local = is_loopback(server.hostname or "")
        self._notes: list[str] = []
        self.is_absent = True
        """Nothing went wrong so far: each URL said that it has no such document."""

    def get(self, url: str) -> Flow[dict[str, Any]]:
        """Return the members of the document; empty if there is none."""
        try:
            reply: HTTPReply = yield HTTP(url=url, headers={"accept": "application/json"})
        except ConnectionClosed as error:
            self.is_absent = False
            self.note(url, f"no answer ({shown(str(error))})")
            return {}
        members = reply.members() if reply.status == 200 else {}
        self.is_absent &= not members and (reply.status == 200 or 300 <= reply.status < 500) and reply.status != 429
        if not members:
            self.note(url, "not a JSON object" if reply.status == 200 else f"HTTP {reply.status}")
        return members

    def objection(self, url: str) -> str | None:
        """Say what speaks against asking or opening a URL that the server, or its authorization server, named.

        A server elsewhere has no business with services of this machine, which trust who is on it.
        """
        parts = parts_of(url)
        if parts is None:
            return "neither https nor on this machine"
        is_inward = is_loopback(parts.hostname or "") and not self._is_local
        return "on this machine, where the server is not" if is_inward else None

    def note(self, url: str, what: str) -> None:
        """Remember why a URL, or what it led to, was of no use."""
        self._notes.append(f"{shown_address(url)}: {what}")

    def failure(self, message: str) -> AuthorizationFailed:
        """Make an error that says what was tried."""
        return AuthorizationFailed(f"{message}. Tried {'; '.join(self._notes) or 'nothing'}")


def _resource_metadata(
    url: str, parts: SplitResult, challenge: Challenge | None, asked: _Asked
) -> Flow[ResourceMetadata | None]:
    """Read the metadata of a server. None: it has none, as was usual up to 2025-03-26."""
    named = None if challenge is None else challenge.resource_metadata
    objection = None if named is None else asked.objection(named)
    if named is not None and objection is not None:
        raise AuthorizationFailed(
            f"{shown_address(url)} names {shown_address(named)} as its metadata, which is {objection}. A server behind"
            " a proxy has to be told its public URL"
        )
    for place in resource_metadata_urls(parts) if named is None else [named]:
        members = yield from asked.get(place)
        resource = _read(members, ResourceMetadata, place, asked) if members else None
        if resource is None:
            continue
        if not covers(resource.resource, url.partition("#")[0]):
            raise AuthorizationFailed(
                f"{shown_address(place)} is the metadata of {shown_address(resource.resource)}, not of"
                f" {shown_address(url)}: a token for the one must not go to the other"
            )
        return resource
    if named is not None or not asked.is_absent:
        raise asked.failure(f"{shown_address(url)} wants a token, but its resource metadata cannot be read")
    return None


def _listed(url: str, resource: ResourceMetadata, asked: _Asked, issuer: str | None, *, pkce: bool) -> Flow[Found]:
    """Choose the first authorization server of the list that can be used."""
    servers = resource.authorization_servers
    if issuer is not None and issuer not in servers:
        raise _other_issuer(url, servers, issuer)
    for each in servers[:MAX_SERVERS] if issuer is None else (issuer,):
        parts = parts_of(each)
        objection = asked.objection(each) or ("not an issuer" if "?" in each else None)
        if parts is None or objection is not None:
            asked.note(each, objection or "")
            continue
        for place in server_metadata_urls(parts):
            members = yield from asked.get(place)
            metadata = _checked(members, place, asked, pkce=pkce) if members else None
            if metadata is not None and metadata.issuer != each:
                asked.note(place, f"it is of the issuer {shown(metadata.issuer)}, not of {shown(each)}")
            elif metadata is not None:
                return Found(
                    url=url,
                    resource=resource.resource,
                    scopes_supported=resource.scopes_supported,
                    issuer=each,
                    metadata=metadata,
                )
    raise asked.failure(f"{shown_address(url)} names no authorization server that can be used")


def _of_origin(url: str, parts: SplitResult, asked: _Asked, *, pkce: bool) -> Flow[ServerMetadata]:
    """Take the origin of a server for its authorization server, as 2025-03-26 has it."""
    origin = origin_of(parts)
    place = f"{origin}/.well-known/oauth-authorization-server"
    members = yield from asked.get(place)
    if not members and asked.is_absent:
        return ServerMetadata(
            issuer=origin,
            authorization_endpoint=f"{origin}/authorize",
            token_endpoint=f"{origin}/token",
            registration_endpoint=f"{origin}/register",
        )
    if members:
        # That revision demands PKCE of every client, and says nothing of how a server tells that it supports it.
        is_silent = members.get("code_challenge_methods_supported") is None
        given = {**members, "issuer": members.get("issuer") or origin}
        metadata = _checked(given, place, asked, pkce=pkce and not is_silent)
        issuer = parts_of(metadata.issuer) if metadata is not None else None
        if metadata is not None and issuer is not None and origin_of(issuer) == origin:
            return metadata
        if metadata is not None:
            asked.note(place, f"it is of the issuer {shown(metadata.issuer)}, which is elsewhere")
    raise asked.failure(f"{shown_address(url)} wants a token, but does not say who issues it")


def _checked(members: dict[str, Any], place: str, asked: _Asked, *, pkce: bool) -> ServerMetadata | None:
    """Read the metadata of an authorization server; None, with a note, if it cannot be used."""
    metadata = _read(members, ServerMetadata, place, asked)
    if metadata is None:
        return None
    for name in _ENDPOINTS:
        endpoint: str | None = getattr(metadata, name)
        objection = None if endpoint is None else asked.objection(endpoint)
        if endpoint is not None and objection is not None:
            asked.note(place, f"its {name} {shown_address(endpoint)} is {objection}")
            return None
    if pkce and "S256" not in (metadata.code_challenge_methods_supported or ()):
        asked.note(place, "it does not say that it supports PKCE (code_challenge_methods_supported lacks S256)")
        return None
    return metadata


def _read(members: dict[str, Any], shape: type[T], place: str, asked: _Asked) -> T | None:
    """Read a document; None, with a note, if a field has another type than it must have. A null is absent."""
    try:
        return msgspec.convert({name: value for name, value in members.items() if value is not None}, shape)
    except msgspec.ValidationError as error:
        asked.note(place, shown(str(error)))
        return None


def _other_issuer(url: str, servers: tuple[str, ...], issuer: str | None) -> AuthorizationFailed:
    named = ", ".join(shown(each) for each in servers[:MAX_SERVERS]) or "none"
    return AuthorizationFailed(
        f"{shown_address(url)} names the authorization servers {named}, but the client's credentials are for"
        f" {shown(issuer or '')}. They are not sent elsewhere: if the change is meant, log out, and set issuer= anew"
    )
