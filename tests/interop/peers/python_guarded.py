"""A server on the official SDK with its own authorization server, which approves everybody at once.

python python_guarded.py PORT
"""

import secrets
import sys
import time
from typing import Any

from mcp.server import MCPServer
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

port = int(sys.argv[1])
base = f"http://127.0.0.1:{port}"


class Provider:
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refreshing: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[str(client_info.client_id)] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24),
            client_id=str(client.client_id),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, _client: Any, authorization_code: str) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: Any, authorization_code: AuthorizationCode) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._issue(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, _client: Any, refresh_token: str) -> RefreshToken | None:
        return self.refreshing.get(refresh_token)

    async def exchange_refresh_token(self, client: Any, refresh_token: RefreshToken, scopes: list[str]) -> OAuthToken:
        del self.refreshing[refresh_token.token]
        return self._issue(client.client_id, scopes, f"{base}/mcp")

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: Any) -> None:
        self.access.pop(token.token, None)

    def _issue(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        token, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        ends = int(time.time()) + 3600
        self.access[token] = AccessToken(
            token=token, client_id=client_id, scopes=scopes, expires_at=ends, resource=resource
        )
        self.refreshing[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes)
        return OAuthToken(access_token=token, expires_in=3600, scope=" ".join(scopes), refresh_token=refresh)


settings = AuthSettings(
    issuer_url=base,  # type: ignore[arg-type]  # pydantic reads it
    resource_server_url=f"{base}/mcp",  # type: ignore[arg-type]  # likewise
    client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["user"], default_scopes=["user"]),
    required_scopes=["user"],
    validate_token_resource=True,
)
server = MCPServer("guarded", auth_server_provider=Provider(), auth=settings)


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


server.run("streamable-http", host="127.0.0.1", port=port)
