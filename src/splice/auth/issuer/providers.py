"""Well-known identity providers, as data: where they are, what to ask them for, and how their tokens are told apart.

A provider is used in one of two ways. Where `registers` is true, and its access tokens name the server they are for, it
is the authorization server itself: clients register there, and a server is guarded by a verifier with its `issuer`.
Else an `OAuthProxy` stands in front of it, with a client id that was registered by hand.

The functions fill in what differs from customer to customer. `openid` is for any other OpenID provider.

https://openid.net/specs/openid-connect-discovery-1_0.html
"""

import re
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from splice.protocol.uri import is_web
from splice.rules.http.origins import is_loopback

_GITHUB = "https://github.com/login/oauth"
_NAME = re.compile(r"[A-Za-z0-9._-]+")

Verified = Literal["jwt", "introspection", "userinfo"]
"""How a server checks an access token of a provider: by its signature, or by asking the provider."""


class Provider(Struct, kw_only=True, frozen=True):
    """An identity provider. `authorization_endpoint` and those behind it are discovered at `issuer` unless given."""

    name: str
    """For people."""
    issuer: str
    """Byte for byte as its tokens name it."""
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    jwks_uri: str = ""
    userinfo_endpoint: str = ""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    """What a login asks for: enough to know who the user is, and no access to anything of theirs."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Further parameters of a login."""
    method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"
    """How a client with a secret proves itself at the token endpoint."""
    subject: str = "sub"
    """The claim that names a user, once and for ever."""
    verified: Verified = "jwt"
    scope_claim: str = "scope"
    """Where its access tokens say what they are good for."""
    registers: bool = False
    """Clients can register themselves there (RFC 7591), or have a client id metadata document."""
    notes: str = ""
    """What has to be set up there by hand."""

    @property
    def is_openid(self) -> bool:
        """A login brings an ID token; else `userinfo_endpoint` says who the user is."""
        return "openid" in self.scopes

    @property
    def discovery_url(self) -> str:
        """Where it describes itself, unless its endpoints are given."""
        return f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"


def openid(issuer: str, *, name: str = "", scopes: tuple[str, ...] = ("openid", "profile", "email")) -> Provider:
    """Describe any OpenID provider by its issuer. Raises `ValueError`."""
    return Provider(name=name or urlsplit(issuer).netloc, issuer=configured(issuer), scopes=scopes)


def google() -> Provider:
    """Google accounts. Access tokens are opaque and for Google itself: use a proxy."""
    return Provider(
        name="Google",
        issuer="https://accounts.google.com",
        verified="userinfo",
        notes="Cloud console, APIs & Services, Credentials: an OAuth client of the type web application. The claim hd "
        "names the organisation of a user; without one, everybody with a Google account is somebody.",
    )


def github() -> Provider:
    """GitHub accounts. No OpenID provider for users, and access tokens are opaque: use a proxy."""
    return Provider(
        name="GitHub",
        issuer=_GITHUB,
        authorization_endpoint=f"{_GITHUB}/authorize",
        token_endpoint=f"{_GITHUB}/access_token",
        userinfo_endpoint="https://api.github.com/user",
        scopes=("read:user",),
        method="client_secret_post",
        subject="id",
        verified="userinfo",
        notes="Settings, Developer settings, OAuth Apps. A login name can change hands, the number in id does not.",
    )


def entra(tenant: str) -> Provider:
    """Microsoft Entra ID: one tenant, by its id. The ids that stand for many tenants have no issuer of their own."""
    if tenant in ("common", "organizations", "consumers"):
        raise ValueError(f"{tenant!r} stands for many tenants, and each is an issuer of its own: name one by its id")
    return Provider(
        name="Microsoft Entra ID",
        issuer=f"https://login.microsoftonline.com/{_part(tenant)}/v2.0",
        method="client_secret_post",
        scope_claim="scp",
        notes="App registrations: a platform of the type web; accessTokenAcceptedVersion must be 2 in the manifest. It "
        "refuses the parameter resource: an API is named by its scopes, api://<client id>/<name>. sub differs from "
        "application to application; oid is the user.",
    )


def auth0(domain: str) -> Provider:
    """Auth0: a tenant, or a domain of your own. The issuer ends with a slash."""
    return Provider(
        name="Auth0",
        issuer=f"https://{_host(domain)}/",
        registers=True,
        notes="Dynamic registration has to be switched on for the tenant, and connections for clients of third "
        "parties. Without an audience access tokens are opaque: create an API with the URL of the server as its "
        "identifier, and switch on the compatibility profile for the parameter resource.",
    )


def okta(domain: str, server: str = "default") -> Provider:
    """Okta: one of its custom authorization servers. The one of the organisation issues tokens for Okta only."""
    return Provider(
        name="Okta",
        issuer=f"https://{_host(domain)}/oauth2/{_part(server)}",
        scope_claim="scp",
        notes="Applications: a web application; the access policy of the authorization server must allow it. The "
        "registration endpoint wants an administrator's token, so that clients cannot use it.",
    )


def keycloak(url: str, realm: str) -> Provider:
    """Keycloak: a realm of the installation at `url`."""
    return Provider(
        name="Keycloak",
        issuer=f"{configured(url).rstrip('/')}/realms/{_part(realm)}",
        registers=True,
        notes="Clients of strangers are subject to the client registration policies of the realm. aud names the "
        "server only with an audience mapper in a client scope that is a default one.",
    )


def workos(domain: str) -> Provider:
    """WorkOS AuthKit, such as ``name.authkit.app``."""
    return Provider(
        name="WorkOS AuthKit",
        issuer=f"https://{_host(domain)}",
        registers=True,
        notes="Connect, Configuration: switch on client id metadata documents or dynamic registration, and name the "
        "URL of the server as a resource.",
    )


def descope(project: str, server: str = "") -> Provider:
    """Descope: the inbound apps of a project, or one of its MCP servers by its id."""
    path = f"agentic/{_part(project)}/{_part(server)}" if server else _part(project)
    return Provider(
        name="Descope",
        issuer=f"https://api.descope.com/v1/apps/{path}",
        registers=True,
        notes="Dynamic registration has to be switched on. aud names the project and the client, not the URL of the "
        "server.",
    )


def cognito(region: str, pool: str) -> Provider:
    """Amazon Cognito: a user pool, such as ``eu-west-1_AbCdEf``."""
    return Provider(
        name="Amazon Cognito",
        issuer=f"https://cognito-idp.{_part(region)}.amazonaws.com/{_part(pool)}",
        notes="The pool needs a domain and managed login. Access tokens have client_id and token_use in place of aud, "
        "unless the login named a resource, which costs a larger plan.",
    )


def _part(text: str) -> str:
    """Check what becomes one part of a URL. Raises `ValueError`."""
    if not _NAME.fullmatch(text) or text in (".", ".."):
        raise ValueError(f"{text!r} must consist of letters, digits, '.', '_' and '-'")
    return text


def _host(text: str) -> str:
    if "." not in text.strip("."):
        raise ValueError(f"{text!r} is not a domain, such as 'name.example.com'")
    return _part(text)


def configured(url: str) -> str:
    """Check a URL that somebody configured: https, or http to this machine. Raises `ValueError`."""
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not is_web(url) or not is_safe or parts.query or parts.fragment:
        raise ValueError(f"{url!r} must be an https URL, without query and fragment")
    return url
