"""A user's login, beyond the scenarios of the conformance suite: refreshing, secrets that stay, odd servers."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.challenges import Challenge
from splice.auth.login.code import OAuth
from splice.auth.login.discovery import Needed
from splice.auth.login.kept import Kept
from splice.auth.login.steps import Browse
from support.authority import AS, BACK, BASE, URL, Authority, World
from support.flows import reply
from support.tables import rows

PRM = f"{BASE}/.well-known/oauth-protected-resource/mcp"
ROGUE = "https://rogue.example.com"


def needed(status: int = 401, *, scheme: str = "bearer", now: float = 1000.0, **params: str) -> Needed:
    return Needed(url=URL, challenge=Challenge(scheme, params), status=status, now=now, redirect_uri=BACK)


def logged_in(world: World, policy: OAuth | None = None, **params: Any) -> Kept:
    return world.run((policy or OAuth()).obtain(needed(**params), Kept()))


def refuse(world: World, request: Needed, kept: Kept | None = None, policy: OAuth | None = None) -> AuthorizationFailed:
    with pytest.raises(AuthorizationFailed) as caught:
        world.run((policy or OAuth()).obtain(request, kept or Kept()))
    return caught.value


def test_a_token_is_refreshed_without_the_user() -> None:
    world = World()
    [authority] = world.authorities
    before = logged_in(world, scope="a b")

    kept = world.run(OAuth().obtain(needed(), before))

    assert len(authority.visits) == 1
    assert authority.exchanges[1]["grant_type"] == "refresh_token"
    assert authority.exchanges[1]["refresh_token"] == "auth-refresh-1"
    assert authority.exchanges[1]["resource"] == URL
    assert kept.grant is not None
    assert kept.grant.access_token == "auth-access-2"
    assert kept.grant.scopes == ("a", "b")
    assert (kept.registration, kept.asked) == (before.registration, before.asked)


@pytest.mark.parametrize("code", ["invalid_grant", "invalid_scope", "unauthorized_client", "invalid_target"])
def test_a_refresh_token_that_is_over_makes_a_login(code: str) -> None:
    world = World()
    [authority] = world.authorities
    before = logged_in(world, scope="a")
    authority.refusals = [reply(400, error=code)]

    kept = world.run(OAuth().obtain(needed(scope="b"), before))

    assert [visit["scope"] for visit in authority.visits] == ["a", "a b"]
    assert [form["grant_type"] for form in authority.exchanges[1:]] == ["refresh_token", "authorization_code"]
    assert len(authority.registered) == 1
    assert kept.asked == ("a", "b")


@pytest.mark.parametrize("trouble", [reply(503), reply(429), reply(400, error="slow_down")])
def test_trouble_while_refreshing_does_not_bother_the_user(trouble: Any) -> None:
    world = World()
    before = logged_in(world)
    world.authorities[0].refusals = [trouble]

    refuse(world, needed(), before)

    assert len(world.authorities[0].visits) == 1


def test_a_server_that_forgot_the_client_registers_it_anew() -> None:
    world = World()
    [authority] = world.authorities
    before = logged_in(world)
    authority.refusals = [reply(401, error="invalid_client")]

    kept = world.run(OAuth().obtain(needed(), before))

    assert kept.registration is not None
    assert kept.registration.client_id == authority.visits[1]["client_id"] == "auth-client-2"


@pytest.mark.parametrize("code", ["invalid_client", "invalid_scope"])
def test_a_login_that_fails_for_the_registration_is_tried_once_more_with_a_new_one(code: str) -> None:
    world = World()
    [authority] = world.authorities
    policy = OAuth()
    before = logged_in(world, policy, scope="a")
    authority.refusals = [reply(400, error=code)] * 2

    error = refuse(world, needed(403, error="insufficient_scope", scope="b"), before, policy)

    assert error.code == code
    assert [visit["client_id"] for visit in authority.visits] == ["auth-client-1", "auth-client-1", "auth-client-2"]
    assert authority.registered[1]["scope"] == "a b"


def test_a_client_that_a_person_registered_is_not_registered_anew() -> None:
    authority = Authority()
    authority.clients["pre"] = None
    world = World(authority)
    policy = OAuth(client_id="pre")
    before = logged_in(world, policy)
    authority.refusals = [reply(401, error="invalid_client")]

    assert refuse(world, needed(), before, policy).code == "invalid_client"
    assert authority.registered == []


def test_a_secret_that_a_person_changed_is_used_from_then_on() -> None:
    authority = Authority(token_endpoint_auth_methods_supported=["client_secret_post"])
    authority.clients["pre"] = "old"
    world = World(authority)
    before = logged_in(world, OAuth(client_id="pre", client_secret="old"))
    authority.clients["pre"] = "new"

    kept = world.run(OAuth(client_id="pre", client_secret="new").obtain(needed(), before))

    assert [form["client_secret"] for form in authority.exchanges] == ["old", "new"]
    assert kept.registration is not None
    assert kept.registration.client_secret == "new"


def test_a_token_of_another_client_is_not_refreshed() -> None:
    authority = Authority()
    authority.clients |= {"one": None, "two": None}
    world = World(authority)
    before = logged_in(world, OAuth(client_id="one"))

    world.run(OAuth(client_id="two").obtain(needed(), before))

    assert [form["grant_type"] for form in authority.exchanges] == ["authorization_code"] * 2
    assert [visit["client_id"] for visit in authority.visits] == ["one", "two"]


@pytest.mark.requirement(481)
def test_without_a_refresh_token_the_user_logs_in_again() -> None:
    world = World()
    world.authorities[0].answers = {"refresh_token": None}
    before = logged_in(world)

    world.run(OAuth().obtain(needed(), before))

    assert len(world.authorities[0].visits) == 2


@pytest.mark.requirement(479)
def test_a_grant_for_another_resource_is_not_refreshed() -> None:
    world = World()
    before = logged_in(world)
    world.sites[PRM] = reply(resource=BASE, authorization_servers=[AS])

    kept = world.run(OAuth().obtain(needed(), before))

    assert [form["grant_type"] for form in world.authorities[0].exchanges] == ["authorization_code"] * 2
    assert kept.grant is not None
    assert kept.grant.resource == BASE


@pytest.mark.requirement(465)
@pytest.mark.parametrize("options", [{"issuer": AS}, {}], ids=["issuer given", "issuer met first"])
@pytest.mark.parametrize("status", [401, 403])
def test_no_secret_leaves_for_an_issuer_that_the_server_names_anew(options: Any, status: int) -> None:
    first, rogue = Authority(), Authority(ROGUE)
    first.clients["pre"] = "s3cret"
    world = World(first, rogue)
    policy = OAuth(client_id="pre", client_secret="s3cret", **options)
    before = logged_in(world, policy, scope="a")
    world.sites[PRM] = reply(resource=URL, authorization_servers=[ROGUE])
    world.sites[f"{ROGUE}/.well-known/oauth-authorization-server"] = reply(**rogue.metadata)
    count = len(world.requests)

    error = refuse(world, needed(status, error="insufficient_scope", scope="b"), before, policy)

    assert "rogue" in str(error)
    assert "issuer=" in str(error)
    assert "s3cret" not in str(error)
    assert [request.url for request in world.requests[count:]] == [PRM]
    assert rogue.visits == []


def test_credentials_are_for_their_issuer_from_the_first_login_on() -> None:
    world = World()
    world.authorities[0].clients["pre"] = "s3cret"

    error = refuse(world, needed(), policy=OAuth(client_id="pre", client_secret="s3cret", issuer=ROGUE))

    assert "https://auth.example.com" in str(error)
    assert world.authorities[0].visits == []


def test_credentials_of_a_policy_for_several_servers_stay_with_their_issuer() -> None:
    honest, world, policy = Authority(), World(Authority(ROGUE)), OAuth(client_id="me", client_secret="s3cret")
    honest.clients["me"] = "s3cret"
    world.authorities.append(honest)
    other = "https://other.example.com/mcp"
    world.sites |= honest.sites | {
        "https://other.example.com/.well-known/oauth-protected-resource/mcp": reply(
            resource=other, authorization_servers=[AS]
        ),
        f"{AS}/.well-known/oauth-authorization-server": honest.describe,
        f"{ROGUE}/.well-known/oauth-authorization-server": world.authorities[0].describe,
    }
    world.run(policy.obtain(Needed(url=other, now=1000.0, redirect_uri=BACK), Kept()))

    error = refuse(world, needed(), policy=policy)

    assert "credentials are for" in str(error)
    assert not [url for url in world.asked if url.startswith(ROGUE)]
    assert len(honest.visits) == 1


def test_steps_up_of_one_server_are_not_those_of_another() -> None:
    world, policy = World(), OAuth()
    kept = logged_in(world, policy, scope="a")
    other = "https://other.example.com/mcp"
    for number in range(3):
        more = Challenge("bearer", {"error": "insufficient_scope", "scope": f"s{number}"})
        with pytest.raises(AuthorizationFailed):
            world.run(policy.obtain(Needed(url=other, challenge=more, status=403, now=1000.0), Kept()))

    kept = world.run(policy.obtain(needed(403, error="insufficient_scope", scope="b"), kept))

    assert kept.asked == ("a", "b")


def test_a_refresh_token_does_not_leave_for_another_issuer() -> None:
    first, rogue = Authority(), Authority(ROGUE)
    world = World(first, rogue)
    before = logged_in(world)
    world.sites[PRM] = reply(resource=URL, authorization_servers=[ROGUE])
    world.sites[f"{ROGUE}/.well-known/oauth-authorization-server"] = reply(
        **{**rogue.metadata, "token_endpoint": f"{ROGUE}/token"}
    )

    world.run(OAuth().obtain(needed(), before))

    sent = b"".join(request.body for request in world.requests if request.url.startswith(ROGUE))
    assert b"auth-" not in sent


def test_scopes_of_the_user_are_asked_for_besides_what_a_server_demands() -> None:
    world = World(scopes=["listed"])
    logged_in(world, OAuth(scopes=["mine", "mine", "offline_access"]), scope="demanded")
    logged_in(world, OAuth(scopes=["mine"]))

    assert [visit["scope"] for visit in world.authorities[0].visits] == ["mine offline_access demanded", "mine"]


@pytest.mark.requirement(470)
def test_scopes_that_a_server_granted_unasked_are_not_lost_by_a_step_up() -> None:
    world = World()
    world.authorities[0].answers = {"scope": "read"}
    before = logged_in(world)

    world.run(OAuth().obtain(needed(403, error="insufficient_scope", scope="write"), before))

    assert [visit.get("scope") for visit in world.authorities[0].visits] == [None, "read write"]


@pytest.mark.parametrize("params", [{}, {"error": "insufficient_scope"}, {"error": "invalid_token", "scope": "a"}])
def test_a_refusal_that_no_scope_mends(params: dict[str, Any]) -> None:
    world = World()

    error = refuse(world, needed(403, **params), logged_in(world))

    assert "403" in str(error)
    assert len(world.authorities[0].visits) == 1


def test_a_user_who_grants_less_can_be_asked_again_later() -> None:
    world = World()
    policy = OAuth()
    kept = logged_in(world, policy, scope="a")
    world.authorities[0].answers = {"scope": "a"}
    for second in range(2):
        request = needed(403, error="insufficient_scope", scope="b", now=1000.0 + second)
        kept = world.run(policy.obtain(request, kept))

    assert "given up" in str(
        refuse(world, needed(403, error="insufficient_scope", scope="b", now=1002.0), kept, policy)
    )
    world.run(policy.obtain(needed(403, error="insufficient_scope", scope="b", now=1061.0), kept))


def test_more_scopes_than_fit_into_a_url() -> None:
    world = World(scopes=[f"scope-{number}" for number in range(10_000)])

    assert "scopes=" in str(refuse(world, needed()))


@pytest.mark.requirement(441, 490, 522)
def test_the_authorization_request() -> None:
    authority = Authority(authorization_endpoint=f"{AS}/authorize?tenant=1")
    world = World(authority)
    logged_in(world, scope="a")
    logged_in(world, scope="a")

    pages = [step.url for step in world.steps if isinstance(step, Browse)]
    first, second = authority.visits
    assert pages[0].startswith(f"{AS}/authorize?tenant=1&")
    assert urlsplit(pages[0]).fragment == ""
    assert set(first) == {
        "tenant",
        "response_type",
        "client_id",
        "redirect_uri",
        "code_challenge",
        "code_challenge_method",
        "state",
        "scope",
        "resource",
    }
    assert first["response_type"] == "code"
    assert len(first["state"]) >= 43
    assert len(authority.exchanges[0]["code_verifier"]) >= 43
    assert first["state"] != second["state"]
    assert first["code_challenge"] != second["code_challenge"]
    assert authority.exchanges[0]["code_verifier"] not in pages[0]


def test_nobody_is_registered_or_asked_while_there_is_no_browser() -> None:
    world = World()
    before = logged_in(world)
    world.authorities[0].refusals = [reply(400, error="invalid_grant")]
    ahead = replace(needed(), redirect_uri="")

    assert "log in" in str(refuse(world, ahead, before))
    refuse(world, ahead)
    assert len(world.authorities[0].registered) == len(world.authorities[0].visits) == 1


def test_who_lacks_a_scope_is_told_which_while_there_is_no_browser() -> None:
    world = World()
    lacking = replace(needed(403, error="insufficient_scope", scope="read write"), redirect_uri="")

    error = refuse(world, lacking, logged_in(world))
    assert "wants the scopes 'read write', and nobody is asked now" in str(error)


def test_an_authorization_server_without_a_page() -> None:
    world = World(Authority(authorization_endpoint=None))

    assert "no page to log in" in str(refuse(world, needed()))


@pytest.mark.parametrize(("policy", "scheme"), [(OAuth(dpop=True), "bearer"), (OAuth(), "dpop")])
def test_a_token_is_bound_to_a_key_and_stays_so(policy: OAuth, scheme: str) -> None:
    authority = Authority(dpop_signing_alg_values_supported=["ES256"])
    authority.answers = {"token_type": "DPoP"}
    world = World(authority)

    kept = world.run(policy.obtain(needed(scheme=scheme), Kept()))
    again = world.run(policy.obtain(needed(scheme=scheme), kept))

    assert authority.visits[0]["dpop_jkt"]
    assert all("dpop" in headers for headers in authority.headers)
    assert kept.grant is not None
    assert again.grant is not None
    assert kept.grant.dpop_key == again.grant.dpop_key is not None
    assert kept.grant.token_type == "DPoP"


def test_a_token_that_is_not_bound_is_not_refreshed_where_one_has_to_be() -> None:
    world = World()
    [authority] = world.authorities
    before = logged_in(world)
    authority.answers = {"token_type": "DPoP"}

    kept = world.run(OAuth(dpop=True).obtain(needed(), before))

    assert len(authority.visits) == 2
    assert kept.grant is not None
    assert kept.grant.dpop_key is not None


def test_what_is_kept_shows_no_secret() -> None:
    authority = Authority(token_endpoint_auth_methods_supported=["client_secret_post"])
    kept = logged_in(World(authority))

    assert kept.registration is not None
    assert kept.registration.client_secret is not None
    shown = repr(kept)
    assert not any(word in shown for word in ("auth-access", "auth-refresh", "s:e%c", kept.registration.client_secret))


@pytest.mark.requirement(452)
def test_nothing_of_another_issuer_is_kept() -> None:
    world = World()
    before = logged_in(world)
    assert before.grant is not None
    old = replace(before, grant=replace(before.grant, issuer=ROGUE))

    world.run(OAuth().obtain(needed(), old))

    assert [form["grant_type"] for form in world.authorities[0].exchanges] == ["authorization_code"] * 2


@pytest.mark.requirement(459)
@rows(
    ("options", "error", "words"),
    [
        ({"client_secret": "s3cret"}, ValueError, "client_id="),
        ({"issuer": AS}, ValueError, "client_id="),
        ({"client_id": ""}, ValueError, "client_id="),
        ({"client_id": "c", "client_secret": 7}, TypeError, "client_secret="),
        ({"client_id": "c", "issuer": "http://auth.example.com"}, ValueError, "issuer="),
        ({"client_id": "c", "token_endpoint_auth_method": "client_secret_post"}, ValueError, "client_secret="),
        ({"client_metadata_url": "https://client.example.com"}, ValueError, "client_metadata_url="),
        ({"client_metadata_url": "http://127.0.0.1/me.json"}, ValueError, "client_metadata_url="),
        ({"scopes": "a b"}, TypeError, "scopes="),
        ({"scopes": [1]}, TypeError, "scopes="),
        ({"scopes": ["a b"]}, ValueError, "scopes="),
        ({"redirect_port": 65536}, ValueError, "redirect_port="),
        ({"token_endpoint_auth_method": "tls_client_auth"}, ValueError, "token_endpoint_auth_method="),
        ({"browse": "lynx"}, TypeError, "browse="),
        ({"token": 1}, TypeError, "token"),
        ({"tokens": 1}, ValueError, "a store such as"),
    ],
)
def test_options_are_checked_where_they_are_given(options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        OAuth(**options)
    assert "s3cret" not in str(caught.value)


def test_a_policy_shows_no_secret() -> None:
    policy = OAuth(client_id="c", client_secret="s3cret", redirect_port=4000)

    assert "s3cret" not in repr(policy) + repr(vars(policy))
    assert policy.interactive
    assert policy.redirect_port == 4000
