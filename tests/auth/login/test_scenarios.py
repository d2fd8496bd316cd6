"""The client scenarios `auth/*` of the conformance suite, as flows: what a client asks for, and what it must not."""

from typing import Any

import pytest

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.challenges import Challenge
from splice.auth.login.code import OAuth
from splice.auth.login.discovery import Needed
from splice.auth.login.kept import Kept
from support.authority import AS, BACK, BASE, URL, Authority, World
from support.flows import reply

PRM = f"{BASE}/.well-known/oauth-protected-resource"
SECOND = "https://second.example.com"


def needed(
    status: int = 401, *, prm: str | None = f"{PRM}/mcp", now: float = 1000.0, scheme: str = "bearer", **params: str
) -> Needed:
    named = {} if prm is None else {"resource_metadata": prm}
    return Needed(url=URL, challenge=Challenge(scheme, {**named, **params}), status=status, now=now, redirect_uri=BACK)


def refused(
    world: World, request: Needed, kept: Kept | None = None, policy: OAuth | None = None
) -> AuthorizationFailed:
    with pytest.raises(AuthorizationFailed) as caught:
        world.run((policy or OAuth()).obtain(request, kept or Kept()))
    return caught.value


@pytest.mark.requirement(475)
@pytest.mark.parametrize(
    ("places", "prm", "never"),
    [
        pytest.param({}, f"{PRM}/mcp", PRM, id="metadata-default"),
        pytest.param({"metadata_at": f"{AS}/.well-known/openid-configuration"}, None, PRM, id="metadata-var1"),
        pytest.param(
            {
                "prm_at": PRM,
                "resource": BASE,
                "issuer": f"{AS}/tenant1",
                "metadata_at": f"{AS}/.well-known/oauth-authorization-server/tenant1",
            },
            None,
            f"{AS}/.well-known/oauth-authorization-server",
            id="metadata-var2",
        ),
        pytest.param(
            {
                "prm_at": f"{BASE}/custom/metadata/location.json",
                "issuer": f"{AS}/tenant1",
                "metadata_at": f"{AS}/tenant1/.well-known/openid-configuration",
            },
            f"{BASE}/custom/metadata/location.json",
            f"{AS}/.well-known/oauth-authorization-server",
            id="metadata-var3",
        ),
    ],
)
def test_metadata(places: dict[str, Any], prm: str | None, never: str) -> None:
    authority = Authority(places.pop("issuer", AS))
    world = World(authority, **places)

    kept = world.run(OAuth().obtain(needed(prm=prm), Kept()))

    assert kept.grant is not None
    assert kept.grant.access_token == "auth-access-1"
    assert never not in world.asked
    resource = places.get("resource", URL)
    assert authority.visits[0]["resource"] == authority.exchanges[0]["resource"] == kept.grant.resource == resource
    assert authority.registered[0]["application_type"] == "native"
    assert authority.registered[0]["grant_types"] == ["authorization_code", "refresh_token"]
    assert "scope" not in authority.visits[0]


@pytest.mark.requirement(447)
def test_basic_cimd() -> None:
    authority = Authority(client_id_metadata_document_supported=True)
    authority.clients["https://client.example.com/me.json"] = None
    world = World(authority)

    world.run(OAuth(client_metadata_url="https://client.example.com/me.json").obtain(needed(), Kept()))

    assert authority.visits[0]["client_id"] == "https://client.example.com/me.json"
    assert authority.registered == []


@pytest.mark.requirement(468, 469, 471)
@pytest.mark.parametrize(
    ("challenged", "listed", "asked"),
    [
        pytest.param("mcp:basic", ["mcp:profile"], "mcp:basic", id="scope-from-www-authenticate"),
        pytest.param(
            None, ["mcp:basic", "mcp:read", "mcp:write"], "mcp:basic mcp:read mcp:write", id="scopes-supported"
        ),
        pytest.param(None, None, None, id="scope-omitted-when-undefined"),
    ],
)
def test_scope(challenged: str | None, listed: list[str] | None, asked: str | None) -> None:
    world = World(scopes=listed)

    params: dict[str, Any] = {} if challenged is None else {"scope": challenged}

    world.run(OAuth().obtain(needed(**params), Kept()))

    assert world.authorities[0].visits[0].get("scope") == asked


@pytest.mark.requirement(470)
def test_scope_step_up() -> None:
    world = World(scopes=["mcp:profile"])
    policy = OAuth()

    kept = world.run(policy.obtain(needed(scope="mcp:basic"), Kept()))
    kept = world.run(policy.obtain(needed(403, error="insufficient_scope", scope="mcp:write"), kept))

    assert [visit["scope"] for visit in world.authorities[0].visits] == ["mcp:basic", "mcp:basic mcp:write"]
    assert len(world.authorities[0].registered) == 1
    assert kept.grant is not None
    assert kept.grant.scopes == ("mcp:basic", "mcp:write")


@pytest.mark.requirement(485)
@pytest.mark.parametrize("wanted", ["mcp:basic", "mcp:more-{}"], ids=["the same", "ever more"])
def test_scope_retry_limit(wanted: str) -> None:
    world = World()
    policy = OAuth()
    kept = world.run(policy.obtain(needed(scope="mcp:basic"), Kept()))

    for number in range(10):
        request = needed(403, error="insufficient_scope", scope=wanted.format(number), now=1000.0 + number)
        try:
            kept = world.run(policy.obtain(request, kept))
        except AuthorizationFailed:
            break
    else:
        pytest.fail("it goes on for ever")

    assert 1 <= len(world.authorities[0].visits) <= 3


@pytest.mark.requirement(475)
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
def test_token_endpoint_auth(method: str) -> None:
    authority = Authority(token_endpoint_auth_methods_supported=[method])
    world = World(authority)

    world.run(OAuth().obtain(needed(), Kept()))

    assert authority.registered[0]["token_endpoint_auth_method"] == method
    assert ("authorization" in authority.headers[0]) == (method == "client_secret_basic")
    assert ("client_secret" in authority.exchanges[0]) == (method == "client_secret_post")
    assert authority.exchanges[0]["resource"] == authority.visits[0]["resource"] == URL


@pytest.mark.requirement(440, 462)
def test_pre_registration() -> None:
    authority = Authority(registration_endpoint=None, token_endpoint_auth_methods_supported=["client_secret_basic"])
    authority.clients["pre"] = "s3cret"
    world = World(authority)

    world.run(OAuth(client_id="pre", client_secret="s3cret").obtain(needed(), Kept()))

    assert authority.headers[0]["authorization"] == "Basic cHJlOnMzY3JldA=="
    assert "client_secret" not in authority.exchanges[0]


def test_resource_mismatch() -> None:
    world = World(resource="https://evil.example.com/mcp")

    refused(world, needed())

    assert world.asked == [f"{PRM}/mcp"]
    assert world.authorities[0].visits == []


@pytest.mark.parametrize("supported", [True, False], ids=["offline-access-scope", "offline-access-not-supported"])
@pytest.mark.parametrize("offline", [True, False])
def test_offline_access(supported: bool, offline: bool) -> None:
    authority = Authority(scopes_supported=["mcp:basic", "offline_access"] if supported else ["mcp:basic"])
    world = World(authority, scopes=["mcp:basic", "offline_access"])  # a server should not list it

    world.run(OAuth(offline=offline).obtain(needed(), Kept()))

    asks = supported and offline
    assert authority.visits[0]["scope"] == ("mcp:basic offline_access" if asks else "mcp:basic")
    assert authority.visits[0].get("prompt") == ("consent" if asks else None)


@pytest.mark.requirement(452, 465)
def test_authorization_server_migration() -> None:
    first, second = Authority(), Authority(SECOND)
    world = World(first, second)
    policy = OAuth()
    kept = world.run(policy.obtain(needed(scope="a"), Kept()))
    world.sites[f"{PRM}/mcp"] = reply(resource=URL, authorization_servers=[SECOND])
    world.sites[f"{SECOND}/.well-known/oauth-authorization-server"] = reply(**second.metadata)

    kept = world.run(policy.obtain(needed(), kept))

    assert kept.registration is not None
    assert kept.registration.client_id == second.visits[0]["client_id"] == "second-client-1"
    assert kept.grant is not None
    assert kept.grant.issuer == SECOND
    assert [form["grant_type"] for form in second.exchanges] == ["authorization_code"]
    assert not any(b"auth-" in request.body for request in world.requests if request.url.startswith(SECOND))


@pytest.mark.requirement(472, 474)
@pytest.mark.parametrize(
    ("announces", "iss", "is_used"),
    [
        pytest.param(True, AS, True, id="iss-supported"),
        pytest.param(False, None, True, id="iss-not-advertised"),
        pytest.param(True, None, False, id="iss-supported-missing"),
        pytest.param(True, "https://evil.example.com", False, id="iss-wrong-issuer"),
        pytest.param(False, "https://evil.example.com", False, id="iss-unexpected"),
        pytest.param(True, f"{AS}/", False, id="iss-normalized"),
    ],
)
def test_iss(announces: bool, iss: str | None, is_used: bool) -> None:
    authority = Authority(authorization_response_iss_parameter_supported=announces)
    authority.iss = iss
    world = World(authority)

    if is_used:
        world.run(OAuth().obtain(needed(), Kept()))
    else:
        refused(world, needed())

    assert len(authority.visits) == 1
    assert len(authority.exchanges) == is_used


@pytest.mark.requirement(457)
def test_metadata_issuer_mismatch() -> None:
    authority = Authority()
    world = World(authority)
    authority.metadata["issuer"] = "https://attacker.example.com"

    refused(world, needed())

    assert f"{AS}/.well-known/oauth-authorization-server" in world.asked
    assert authority.visits == authority.exchanges == authority.registered == []


@pytest.mark.requirement(523)
def test_2025_03_26_oauth_metadata_backcompat() -> None:
    authority = Authority(BASE, prefix=f"{BASE}/oauth")
    world = World(authority, prm_at=None, metadata_at=f"{BASE}/.well-known/oauth-authorization-server")

    kept = world.run(OAuth().obtain(needed(prm=None), Kept()))

    assert kept.grant is not None
    assert "resource" not in authority.visits[0]
    assert "resource" not in authority.exchanges[0]


@pytest.mark.requirement(523)
def test_2025_03_26_oauth_endpoint_fallback() -> None:
    authority = Authority(BASE)
    world = World(authority, prm_at=None, metadata_at=None)

    kept = world.run(OAuth().obtain(needed(prm=None), Kept()))

    assert kept.grant is not None
    assert world.asked[-2:] == [f"{BASE}/register", f"{BASE}/token"]
