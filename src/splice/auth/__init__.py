"""Authorization: logging in to servers, guarding one, and the servers that issue tokens.

    splice.auth.login     a client gets tokens, keeps them and sends them
    splice.auth.guard     a server checks who calls, and what they may do
    splice.auth.issuer    authorization servers: one of our own, and one in front of another identity provider

`WebFetcher` reads from URLs that a model or a user chose, for servers whose tools do that.

Names are imported when they are first used. Those that end in `Options` are the keyword options of the class beside
them, for who passes them on: ``**options: Unpack[AuthOptions]``.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from splice.auth.errors import AuthorizationFailed as AuthorizationFailed
    from splice.auth.guard.challenges import Forbidden as Forbidden
    from splice.auth.guard.guard import Auth as Auth
    from splice.auth.guard.guard import AuthOptions as AuthOptions
    from splice.auth.guard.introspection import IntrospectionOptions as IntrospectionOptions
    from splice.auth.guard.introspection import IntrospectionVerifier as IntrospectionVerifier
    from splice.auth.guard.jwts import JWTOptions as JWTOptions
    from splice.auth.guard.jwts import JWTVerifier as JWTVerifier
    from splice.auth.guard.keys import APIKeys as APIKeys
    from splice.auth.guard.keys import StaticTokens as StaticTokens
    from splice.auth.issuer.local import IssuerOptions as IssuerOptions
    from splice.auth.issuer.local import LocalAuthorizationServer as LocalAuthorizationServer
    from splice.auth.issuer.proxy import OAuthProxy as OAuthProxy
    from splice.auth.issuer.proxy import ProxyOptions as ProxyOptions
    from splice.auth.login.code import LoginOptions as LoginOptions
    from splice.auth.login.code import OAuth as OAuth
    from splice.auth.login.code import OAuthOptions as OAuthOptions
    from splice.auth.login.device import DeviceCode as DeviceCode
    from splice.auth.login.keeping import FileTokens as FileTokens
    from splice.auth.login.keeping import KeyringTokens as KeyringTokens
    from splice.auth.login.keeping import MemoryTokens as MemoryTokens
    from splice.auth.login.machines import ClientCredentials as ClientCredentials
    from splice.auth.login.machines import EnterpriseManaged as EnterpriseManaged
    from splice.auth.login.machines import KeyOptions as KeyOptions
    from splice.auth.login.machines import MachineOptions as MachineOptions
    from splice.auth.login.machines import WorkloadIdentity as WorkloadIdentity
    from splice.auth.web import NotFetched as NotFetched
    from splice.auth.web import WebFetcher as WebFetcher
    from splice.auth.web import WebReply as WebReply
    from splice.rules.principal import Principal as Principal

_HOMES = {
    "splice.auth.errors": ("AuthorizationFailed",),
    "splice.auth.guard.challenges": ("Forbidden",),
    "splice.auth.guard.guard": ("Auth", "AuthOptions"),
    "splice.auth.guard.introspection": ("IntrospectionOptions", "IntrospectionVerifier"),
    "splice.auth.guard.jwts": ("JWTOptions", "JWTVerifier"),
    "splice.auth.guard.keys": ("APIKeys", "StaticTokens"),
    "splice.auth.issuer.local": ("IssuerOptions", "LocalAuthorizationServer"),
    "splice.auth.issuer.proxy": ("OAuthProxy", "ProxyOptions"),
    "splice.auth.login.code": ("LoginOptions", "OAuth", "OAuthOptions"),
    "splice.auth.login.device": ("DeviceCode",),
    "splice.auth.login.keeping": ("FileTokens", "KeyringTokens", "MemoryTokens"),
    "splice.auth.login.machines": (
        "ClientCredentials",
        "EnterpriseManaged",
        "KeyOptions",
        "MachineOptions",
        "WorkloadIdentity",
    ),
    "splice.auth.web": ("NotFetched", "WebFetcher", "WebReply"),
    "splice.rules.principal": ("Principal",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from where it lives."""
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'splice.auth' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
