"""A server and its authorization server, as tables of replies; the token endpoint is a strict one.

`visits` are the queries of all authorization requests, `exchanges` the forms of all token requests.
"""

import json
from base64 import b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from splice.auth.login.steps import HTTP, Browse, HTTPReply, Redirect
from support.flows import Outcome, Web, form, reply

BASE = "https://mcp.example.com"
URL = f"{BASE}/mcp"
AS = "https://auth.example.com"
BACK = "http://127.0.0.1:49152/callback"


class Authority:
    """An authorization server: registers clients, sends browsers back with codes, exchanges them for tokens."""

    def __init__(self, issuer: str = AS, *, prefix: str | None = None, **metadata: Any) -> None:
        self.base = issuer if prefix is None else prefix
        self.metadata: dict[str, Any] = {
            "issuer": issuer,
            "authorization_endpoint": f"{self.base}/authorize",
            "token_endpoint": f"{self.base}/token",
            "registration_endpoint": f"{self.base}/register",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
            **metadata,
        }
        self.iss: str | None = issuer
        self.registered: list[dict[str, Any]] = []
        self.clients: dict[str, str | None] = {}
        self.visits: list[dict[str, str]] = []
        self.exchanges: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: dict[str, Any] = {}
        """Members that the token endpoint adds to an answer, or changes; None: leaves out."""
        self.refusals: list[HTTPReply] = []
        """Replies of the token endpoint, before it works."""
        self._codes: dict[str, dict[str, str]] = {}
        self._name = urlsplit(issuer).netloc.partition(".")[0]

    @property
    def sites(self) -> dict[str, Outcome]:
        return {f"{self.base}/token": self.exchange, f"{self.base}/register": self.register}

    def describe(self, _request: HTTP) -> HTTPReply:
        return reply(200, **self.metadata)

    def register(self, request: HTTP) -> HTTPReply:
        wanted: dict[str, Any] = json.loads(request.body)
        self.registered.append(wanted)
        client_id, method = f"{self._name}-client-{len(self.registered)}", wanted["token_endpoint_auth_method"]
        secret = None if method == "none" else f"{client_id}-s:e%c"
        self.clients[client_id] = secret
        return reply(201, **{**wanted, "client_id": client_id, "client_secret": secret, "client_secret_expires_at": 0})

    def browse(self, step: Browse) -> Redirect:
        query = dict(parse_qsl(urlsplit(step.url).query, strict_parsing=True))
        self.visits.append(query)
        assert query["redirect_uri"] == step.redirect_uri
        assert query["client_id"] in self.clients or query["client_id"].startswith("https://")
        code = f"code-{len(self.visits)}"
        self._codes[code] = query
        return [("code", code), ("state", query["state"]), *([("iss", self.iss)] if self.iss else [])]

    def exchange(self, request: HTTP) -> HTTPReply:
        fields = form(request)
        self.exchanges.append(fields)
        self.headers.append(dict(request.headers))
        if self.refusals:
            return self.refusals.pop(0)
        scope = self._scope(fields, request.headers.get("authorization"))
        number = len(self.exchanges)
        answer: dict[str, Any] = {
            "access_token": f"{self._name}-access-{number}",
            "token_type": "Bearer",
            "expires_in": 3600,
            "refresh_token": f"{self._name}-refresh-{number}",
            "scope": scope,
            **self.answers,
        }
        return reply(200, **{name: value for name, value in answer.items() if value is not None})

    def _scope(self, fields: dict[str, str], basic: str | None) -> str | None:
        client_id, secret = fields.get("client_id", ""), fields.get("client_secret")
        if basic is not None:
            client_id, secret = map(unquote, b64decode(basic.removeprefix("Basic ")).decode().split(":"))
        assert self.clients.get(client_id) == secret
        if fields["grant_type"] == "refresh_token":
            return None
        asked = self._codes.pop(fields["code"])
        challenge = urlsafe_b64encode(sha256(fields["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        assert asked["code_challenge_method"] == "S256"
        assert (asked["code_challenge"], asked["redirect_uri"]) == (challenge, fields["redirect_uri"])
        assert (asked["client_id"], asked.get("resource")) == (client_id, fields.get("resource"))
        return asked.get("scope")


class World(Web):
    """A server, its authorization servers, and the browser of a user who agrees to everything."""

    def __init__(
        self,
        *authorities: Authority,
        prm_at: str | None = f"{BASE}/.well-known/oauth-protected-resource/mcp",
        metadata_at: str | None = f"{AS}/.well-known/oauth-authorization-server",
        resource: str = URL,
        scopes: list[str] | None = None,
    ) -> None:
        self.authorities = list(authorities) or [Authority()]
        first = self.authorities[0]
        super().__init__({})
        for each in self.authorities:
            self.sites |= each.sites
        if prm_at is not None:
            prm: dict[str, Any] = {"resource": resource, "authorization_servers": [first.metadata["issuer"]]}
            self.sites[prm_at] = reply(**(prm if scopes is None else {**prm, "scopes_supported": scopes}))
        if metadata_at is not None:
            self.sites[metadata_at] = first.describe

    def outcome(self, step: Any) -> Outcome:
        if isinstance(step, Browse):
            [authority] = [each for each in self.authorities if step.url.startswith(f"{each.base}/authorize?")]
            return authority.browse(step)
        return super().outcome(step)

    @property
    def asked(self) -> list[str]:
        """All URLs that were asked for, in their order."""
        return [request.url for request in self.requests]
