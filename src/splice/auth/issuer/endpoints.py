"""The endpoints that programs use: metadata, keys, tokens, registration, revocation, introspection.

RFC 8414, 6749, 7591, 7009 and 7662. What pages of any origin may use has no cookies. Of tokens, only hashes are kept.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from splice.auth.issuer import authentication, proofs
from splice.auth.issuer.authentication import Authentication
from splice.auth.issuer.clients import DEVICE_CODE, METHODS, Client, Clients
from splice.auth.issuer.grants import Granted, Grants, Terms
from splice.auth.issuer.policy import Policy
from splice.auth.issuer.proofs import Proofs
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.tokens import AccessTokens
from splice.auth.issuer.web import Answer, Request, Route, as_json

AUTHORIZE, TOKEN, REGISTER, REVOKE, INTROSPECT = "/authorize", "/token", "/register", "/revoke", "/introspect"
DEVICE_AUTHORIZATION = "/device_authorization"
JWKS = "/jwks.json"

PROGRAM = "client:"
"""Stands before the id of a client that acts for itself, where the subject is else a user: no user has a colon."""

Redeem: TypeAlias = Callable[[dict[str, str], Client, str | None], Awaitable[Granted]]


class Parts(Struct, frozen=True):
    """What the endpoints are made of."""

    policy: Policy
    clients: Clients
    authentication: Authentication
    grants: Grants
    tokens: AccessTokens
    proofs: Proofs
    has_user: Callable[[Terms], Awaitable[bool]]
    """Tells whether the user who granted something is still there, and the same."""


class Endpoints:
    """Answers programs. `more` are further grants, by name."""

    def __init__(self, parts: Parts, more: Mapping[str, Redeem], *, access_seconds: float, registers: bool) -> None:
        self._parts = parts
        self._access_seconds = access_seconds
        self._registers = registers
        self._redeem: dict[str, Redeem] = {
            "authorization_code": self._by_code,
            "refresh_token": self._by_refresh_token,
            "client_credentials": self._by_itself,
            **more,
        }

    def routes(self) -> dict[str, Route]:
        """Lay out the paths that all authorization servers have."""
        policy, metadata = self._parts.policy, Route({"GET": self.metadata}, is_open=True)
        path = policy.path("")
        routes = {
            f"/.well-known/oauth-authorization-server{path}": metadata,
            f"/.well-known/openid-configuration{path}": metadata,
            f"{path}/.well-known/openid-configuration": metadata,
            policy.path(JWKS): Route({"GET": self.jwks}, is_open=True),
            policy.path(TOKEN): Route({"POST": self.token}, is_open=True),
            policy.path(REVOKE): Route({"POST": self.revoke}, is_open=True),
        }
        if self._registers:
            routes[policy.path(REGISTER)] = Route({"POST": self.register}, is_open=True)
        return routes

    async def metadata(self, _: Request) -> Answer:
        """Say where everything is, and what it can do."""
        return as_json(self.described(), headers=[("cache-control", "public, max-age=300")])

    def described(self) -> dict[str, Any]:
        """Return the metadata."""
        url, scopes = self._parts.policy.url, self._parts.policy.scopes
        members: dict[str, Any] = {
            "issuer": self._parts.policy.issuer,
            "authorization_endpoint": url(AUTHORIZE),
            "token_endpoint": url(TOKEN),
            "jwks_uri": url(JWKS),
            "revocation_endpoint": url(REVOKE),
            "introspection_endpoint": url(INTROSPECT),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": list(self._redeem),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": list(METHODS),
            "token_endpoint_auth_signing_alg_values_supported": list(authentication.ALGORITHMS),
            "revocation_endpoint_auth_methods_supported": list(METHODS),
            "introspection_endpoint_auth_methods_supported": list(METHODS[1:]),
            "dpop_signing_alg_values_supported": list(proofs.ALGORITHMS),
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": self._parts.clients.reads_documents,
            # The rest is what the form of this document for OpenID must have; there are no ID tokens.
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        }
        if DEVICE_CODE in self._redeem:
            members["device_authorization_endpoint"] = url(DEVICE_AUTHORIZATION)
        if self._registers:
            members["registration_endpoint"] = url(REGISTER)
        if scopes is not None:
            members["scopes_supported"] = list(dict.fromkeys((*scopes, "offline_access")))
        return members

    async def jwks(self, _: Request) -> Answer:
        """Show the public keys."""
        return as_json(self._parts.tokens.jwks(), headers=[("cache-control", "public, max-age=300")])

    async def token(self, request: Request) -> Answer:
        """Give tokens."""
        form = request.form()
        redeem = self._redeem.get(form.get("grant_type", ""))
        if redeem is None:
            raise Refused("unsupported_grant_type", f"grant_type must be one of {', '.join(self._redeem)}")
        client = await self._parts.authentication.client(request, form)
        if form["grant_type"] not in client.grants:
            raise Refused("unauthorized_client", f"This client is not registered for {form['grant_type']}")
        jkt = await self._parts.proofs.check(request, self._parts.policy.url(TOKEN))
        granted = await redeem(form, client, jkt)
        if redeem != self._by_itself and not await self._parts.has_user(granted.terms):
            await self._parts.grants.revoke(granted.key)
            raise Refused("invalid_grant", "The user who granted this is not there any more, or has another password")
        await self._parts.clients.used(client)
        return as_json(self._members(granted), headers=[("pragma", "no-cache")])

    def _members(self, granted: Granted) -> dict[str, Any]:
        terms = granted.terms
        bound = {} if terms.jkt is None else {"cnf": {"jkt": terms.jkt}}
        access_token = self._parts.tokens.make(
            subject=terms.user,
            client=terms.client_id,
            audience=terms.resource,
            scopes=terms.scopes,
            seconds=self._access_seconds,
            more={"grant": granted.key, **bound},
        )
        members: dict[str, Any] = {
            "access_token": access_token,
            "token_type": "Bearer" if terms.jkt is None else "DPoP",
            "expires_in": int(self._access_seconds),
            "scope": " ".join(terms.scopes),
        }
        if granted.refresh_token is not None:
            members["refresh_token"] = granted.refresh_token
        return members

    async def _by_code(self, form: dict[str, str], client: Client, jkt: str | None) -> Granted:
        return await self._parts.grants.redeem(form.get("code", ""), client, form, jkt)

    async def _by_refresh_token(self, form: dict[str, str], client: Client, jkt: str | None) -> Granted:
        return await self._parts.grants.refresh(form.get("refresh_token", ""), client, form, jkt)

    async def _by_itself(self, form: dict[str, str], client: Client, jkt: str | None) -> Granted:
        if client.method == "none":
            raise Refused("unauthorized_client", "A client without a secret or key cannot act for itself")
        terms = Terms(
            client_id=client.client_id,
            user=f"{PROGRAM}{client.client_id}",
            scopes=self._parts.policy.scopes_of(form, client),
            resource=self._parts.policy.resource_of(form),
            jkt=jkt,
        )
        return await self._parts.grants.grant(terms, client, refreshes=False)

    async def register(self, request: Request) -> Answer:
        """Register a client."""
        client, secret = await self._parts.clients.register(request.json())
        members: dict[str, Any] = {
            "client_id": client.client_id,
            "client_name": client.name,
            "redirect_uris": client.redirect_uris,
            "token_endpoint_auth_method": client.method,
            "grant_types": client.grants,
            "response_types": ["code"],
        }
        if client.scopes is not None:
            members["scope"] = " ".join(client.scopes)
        if secret is not None:
            members |= {"client_secret": secret, "client_secret_expires_at": 0}
        return as_json(members, status=201)

    async def revoke(self, request: Request) -> Answer:
        """End what a token belongs to. A token that is none is no error: it is as its sender wants it."""
        form = request.form()
        client = await self._parts.authentication.client(request, form)
        token = form.get("token", "")
        key = await self._parts.grants.key_of(token, client)
        if key is None:
            claims = self._parts.tokens.read(token) or {}
            key = claims.get("grant") if claims.get("client_id") == client.client_id else None
        if key is not None:
            await self._parts.grants.revoke(key)
        return as_json({})

    async def introspect(self, request: Request) -> Answer:
        """Tell a server that the operator added what an access token is good for."""
        form = request.form()
        client = await self._parts.authentication.client(request, form)
        if client.origin != "operator" or client.method == "none":
            raise Refused("access_denied", "Only a client with a secret that was added here may ask", status=403)
        claims = self._parts.tokens.read(form.get("token", ""))
        grant = None if claims is None else await self._parts.grants.find(str(claims.get("grant")))
        if claims is None or grant is None:
            return as_json({"active": False})
        if not grant.terms.user.startswith(PROGRAM) and not await self._parts.has_user(grant.terms):
            return as_json({"active": False})
        shown = {name: value for name, value in claims.items() if name != "grant"}
        try:
            scopes = await self._parts.grants.allowed(grant.terms.user, tuple(claims["scope"].split()))
        except Refused:
            return as_json({"active": False})
        shown["scope"] = " ".join(scopes)
        return as_json({"active": True, "token_type": "DPoP" if "cnf" in claims else "Bearer", **shown})
