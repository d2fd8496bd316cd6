"""Well-known providers: that the data is well formed, and that nothing given slips into another part of a URL."""

import pytest

from splice.auth.issuer import providers
from splice.auth.issuer.providers import Provider
from splice.protocol.uri import is_web
from support.tables import rows

ALL = [
    providers.google(),
    providers.github(),
    providers.entra("72f988bf-86f1-41af-91ab-2d7cd011db47"),
    providers.auth0("name.eu.auth0.com"),
    providers.okta("name.okta.com"),
    providers.keycloak("https://id.example.com", "main"),
    providers.workos("name.authkit.app"),
    providers.descope("P2abc"),
    providers.cognito("eu-west-1", "eu-west-1_AbC"),
]


@pytest.mark.parametrize("provider", ALL, ids=lambda provider: provider.name)
def test_a_provider_is_whole(provider: Provider) -> None:
    given = [provider.authorization_endpoint, provider.token_endpoint, provider.userinfo_endpoint]
    assert is_web(provider.issuer)
    assert all(url.startswith("https://") for url in (provider.issuer, provider.discovery_url, *filter(None, given)))
    assert provider.is_openid or all(given)
    assert provider.notes
    assert not provider.registers or provider.verified == "jwt"


@pytest.mark.parametrize(
    ("provider", "issuer"),
    [
        (providers.auth0("name.eu.auth0.com"), "https://name.eu.auth0.com/"),
        (providers.okta("name.okta.com", "aus1"), "https://name.okta.com/oauth2/aus1"),
        (providers.keycloak("https://id.example.com/auth/", "main"), "https://id.example.com/auth/realms/main"),
        (providers.keycloak("http://localhost:8080", "main"), "http://localhost:8080/realms/main"),
        (providers.descope("P2", "MS3"), "https://api.descope.com/v1/apps/agentic/P2/MS3"),
        (providers.openid("https://id.example.com/"), "https://id.example.com/"),
    ],
)
def test_issuers(provider: Provider, issuer: str) -> None:
    assert provider.issuer == issuer


def test_where_a_provider_describes_itself() -> None:
    told = providers.auth0("name.auth0.com").discovery_url
    assert told == "https://name.auth0.com/.well-known/openid-configuration"


@rows("bad", ["", "..", "a/b", "a?b", "a#b", "a@b", "a b", "a:1", "%2e", "a\\b", "a\n", "é"])
def test_no_part_of_a_url_becomes_two(bad: str) -> None:
    with pytest.raises(ValueError, match="must consist of"):
        providers.entra(bad)
    with pytest.raises(ValueError, match="must"):
        providers.keycloak("https://id.example.com", bad)
    with pytest.raises(ValueError, match=r"."):
        providers.auth0(bad)


@pytest.mark.parametrize("tenant", ["common", "organizations", "consumers"])
def test_a_tenant_is_one(tenant: str) -> None:
    with pytest.raises(ValueError, match="stands for many tenants"):
        providers.entra(tenant)


@pytest.mark.parametrize(
    "url", ["", "x", "http://id.example.com", "https://a@b", "https://a?b", "https://a#b", "ftp://a"]
)
def test_what_is_no_base_of_a_provider(url: str) -> None:
    with pytest.raises(ValueError, match="must be an https URL"):
        providers.openid(url)
