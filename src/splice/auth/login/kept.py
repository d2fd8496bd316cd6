"""What a client keeps between two logins: who it is at an authorization server, and what it was granted there.

Both name their issuer and are used with no other one. No `repr` shows a secret.
"""

from msgspec import Struct

BEARER = "Bearer"
"""The type of a token that is not bound to a key."""


class Registration(Struct, kw_only=True, repr_omit_defaults=True):
    """How an authorization server knows this client."""

    issuer: str
    client_id: str
    client_secret: str | None = None
    method: str = "none"
    """How it proves itself at the token endpoint: ``none``, ``client_secret_basic``, ``client_secret_post``,
    ``private_key_jwt``."""
    expires: float | None = None
    """When the secret ends, in seconds since 1970; None: never."""
    redirect_uris: tuple[str, ...] = ()
    is_dynamic: bool = False
    """It was made by dynamic registration, and can be made anew."""

    def __repr__(self) -> str:
        return f"Registration(issuer={self.issuer!r}, client_id={self.client_id!r}, method={self.method!r})"


class Grant(Struct, kw_only=True):
    """What an authorization server granted."""

    issuer: str
    access_token: str
    token_type: str = BEARER
    resource: str | None = None
    """The server it is for, as the token request named it."""
    scopes: tuple[str, ...] = ()
    """What was granted, or asked for if the answer did not say."""
    expires: float | None = None
    """When the access token ends, in seconds since 1970; None: unknown."""
    refresh_token: str | None = None
    token_endpoint: str = ""
    dpop_key: str | None = None
    """The private JWK, as JSON, that the token is bound to; None: it is a bearer token."""

    def __repr__(self) -> str:
        return f"Grant(issuer={self.issuer!r}, resource={self.resource!r}, scopes={self.scopes!r})"


class Kept(Struct, kw_only=True):
    """Everything that is kept of one server."""

    registration: Registration | None = None
    grant: Grant | None = None
    asked: tuple[str, ...] = ()
    """All scopes that were ever asked for, so that a step up does not lose any."""
