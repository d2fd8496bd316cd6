"""A login at an identity provider: what is asked, and which answers are believed."""

import time
from typing import Any

import pytest
from joserfc.jwk import OctKey

from auth.issuer.openid_provider import CLIENT_ID, CLIENT_SECRET, Identities, another_key, identities, query_of
from splice.auth.errors import AuthorizationFailed
from splice.auth.fetcher import Fetcher
from splice.auth.issuer.providers import Provider
from splice.auth.issuer.upstream import Identity, Upstream

CALLBACK = "https://proxy.test/callback"
VERIFIER = "v" * 43


def upstream_of(provider: Provider, secret: str = CLIENT_SECRET) -> Upstream:
    return Upstream(provider, CLIENT_ID, secret, fetcher=Fetcher(allow_loopback=True, timeout=5))


async def log_in(identities: Identities, upstream: Upstream | None = None) -> Identity:
    upstream = upstream or upstream_of(identities.provider())
    address = await upstream.address(redirect_uri=CALLBACK, state="s", verifier=VERIFIER)
    code = identities.decide(address)["code"]
    return await upstream.identity(code=code, redirect_uri=CALLBACK, verifier=VERIFIER)


async def test_a_login() -> None:
    async with identities() as made:
        upstream = upstream_of(made.provider(parameters=(("hd", "example.com"),)))
        address = await upstream.address(redirect_uri=CALLBACK, state="s", verifier=VERIFIER)
        asked = query_of(address)
        who = await log_in(made, upstream)
    assert address.startswith(f"{made.issuer}/authorization?")
    assert {name: asked[name] for name in ("client_id", "redirect_uri", "state", "response_type", "hd")} == {
        "client_id": CLIENT_ID,
        "redirect_uri": CALLBACK,
        "state": "s",
        "response_type": "code",
        "hd": "example.com",
    }
    assert asked["scope"] == "openid profile email"
    assert asked["code_challenge_method"] == "S256"
    assert VERIFIER not in address
    assert asked["nonce"] != asked["code_challenge"]
    assert (who.subject, who.claims["email"]) == ("ann", "ann@example.com")
    assert sum(visit.path.endswith("openid-configuration") for visit in made.server.visits) == 1


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_how_the_client_proves_itself(method: Any) -> None:
    async with identities() as made:
        assert (await log_in(made, upstream_of(made.provider(method=method)))).subject == "ann"


async def test_a_provider_without_openid_is_asked_who_the_user_is() -> None:
    async with identities() as made:
        provider = made.provider(
            authorization_endpoint=f"{made.issuer}/authorization",
            token_endpoint=f"{made.issuer}/token",
            userinfo_endpoint=f"{made.issuer}/userinfo",
            scopes=("read:user",),
            subject="id",
            method="client_secret_post",
        )
        assert (await log_in(made, upstream_of(provider))).subject == "4711"
        assert not any("openid" in visit.path for visit in made.server.visits)
        wrong: list[Any] = [{}, {"id": None}, {"id": True}, {"id": ""}, {"id": "x" * 256}, {"id": [1]}, []]
        for user in wrong:
            made.user = user
            with pytest.raises(AuthorizationFailed, match="does not name the user by id"):
                await log_in(made, upstream_of(provider))
        made.answer = {"access_token": "another"}
        with pytest.raises(AuthorizationFailed, match="status 401"):
            await log_in(made, upstream_of(provider))


@pytest.mark.requirement(528)
@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ({"iss": "https://other.test"}, "another issuer"),
        ({"iss": None}, "must name"),
        ({"aud": "another"}, "another client"),
        ({"aud": None}, "must name"),
        ({"aud": [CLIENT_ID, "another"]}, "another client"),
        ({"aud": [CLIENT_ID, "another"], "azp": "another"}, "another client"),
        ({"aud": f"{CLIENT_ID}x"}, "another client"),
        ({"exp": int(time.time()) - 120}, "has ended"),
        ({"exp": None}, "must name"),
        ({"exp": "9999999999"}, "must name"),
        ({"exp": True}, "must name"),
        ({"exp": float("nan")}, "has ended"),
        ({"exp": 10**400}, "must name"),
        ({"aud": []}, "another client"),
        ({"aud": [CLIENT_ID, CLIENT_ID]}, "another client"),
        ({"aud": {"a": 1}}, "must name"),
        ({"nonce": None}, "must name"),
        ({"nonce": "x"}, "another login"),
        ({"nonce": 1}, "must name"),
        ({"sub": None}, "does not name the user"),
        ({"sub": ""}, "does not name the user"),
        ({"sub": "a\n"}, "does not name the user"),
        ({"sub": {"a": 1}}, "does not name the user"),
    ],
)
async def test_an_id_token_that_is_not_believed(claims: dict[str, Any], told: str) -> None:
    async with identities() as made:
        made.claims = claims
        with pytest.raises(AuthorizationFailed, match=told):
            await log_in(made)


@pytest.mark.parametrize("claims", [{"aud": [CLIENT_ID]}, {"aud": [CLIENT_ID, "x"], "azp": CLIENT_ID}])
async def test_other_ways_to_name_the_audience(claims: dict[str, Any]) -> None:
    async with identities() as made:
        made.claims = claims
        assert (await log_in(made)).subject == "ann"


async def test_a_signature_of_somebody_else() -> None:
    async with identities() as made:
        made.signing, made.algorithm = another_key("r1"), "ES256"
        with pytest.raises(AuthorizationFailed, match="a signature that is not its own"):
            await log_in(made)


@pytest.mark.parametrize("token", ["", "a.b.c", "x", "é.é.é", "eyJhbGciOiJub25lIn0.e30.", 1, None, ["a"]])
async def test_what_is_no_signed_token(token: Any) -> None:
    async with identities() as made:
        made.answer = {"id_token": token}
        with pytest.raises(AuthorizationFailed, match="ID token"):
            await log_in(made)


@pytest.mark.parametrize(
    "published", [[], [1], [{}], [{"kty": "oct", "k": "AA"}], [{"kty": "RSA"}], [{"kty": "EC", "x": 1}]]
)
async def test_keys_that_cannot_be_used(published: Any) -> None:
    async with identities() as made:
        made.published = published
        with pytest.raises(AuthorizationFailed, match="a signature that is not its own"):
            await log_in(made)


async def test_a_key_that_cannot_be_read_does_not_keep_the_others_from_use() -> None:
    async with identities() as made:
        made.published = [{"kty": "EC", "crv": "unheard-of", "kid": "r1", "x": "AA", "y": "AA"}, *made.published]
        assert (await log_in(made)).subject == "ann"


async def test_a_public_key_is_no_shared_secret() -> None:
    """A token signed by HMAC with what everybody can read."""
    async with identities() as made:
        made.signing = OctKey.import_key(str(made.published[0]["n"]), {"kid": "r1"})
        made.algorithm = "HS256"
        with pytest.raises(AuthorizationFailed, match="a signature that is not its own"):
            await log_in(made)


async def test_keys_that_were_exchanged_are_read_anew() -> None:
    now = time.time()
    async with identities() as made:
        upstream = Upstream(
            made.provider(), CLIENT_ID, CLIENT_SECRET, fetcher=Fetcher(allow_loopback=True), clock=lambda: now
        )
        await log_in(made, upstream)
        made.signing, made.algorithm = another_key(), "ES256"
        made.published = [made.signing.as_dict(private=False)]
        with pytest.raises(AuthorizationFailed):  # so soon after it read them it does not ask again
            await log_in(made, upstream)
        now += 61
        assert (await log_in(made, upstream)).subject == "ann"


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://other.test"},
        {"issuer": 1},
        {"authorization_endpoint": "http://other.test/"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
        {"token_endpoint": ["x"]},
    ],
)
async def test_a_provider_that_describes_itself_wrongly(metadata: dict[str, Any]) -> None:
    async with identities() as made:
        made.metadata = metadata
        with pytest.raises(AuthorizationFailed, match="describes itself"):
            await log_in(made)


@pytest.mark.parametrize("uri", ["http://169.254.169.254/token", "https://10.0.0.1/", "file:///etc/passwd", ""])
@pytest.mark.parametrize("name", ["token_endpoint", "jwks_uri"])
async def test_endpoints_are_fetched_by_the_guard_only(name: str, uri: str) -> None:
    async with identities() as made:
        made.metadata = {name: uri}
        with pytest.raises(AuthorizationFailed, match=r"is not requested|not a URL"):
            await log_in(made)


async def test_no_secret_is_told() -> None:
    async with identities() as made:
        made.token_error = "invalid_grant"
        upstream = upstream_of(made.provider())
        with pytest.raises(AuthorizationFailed) as caught:
            await log_in(made, upstream)
        wrong = upstream_of(made.provider(), "wr0ng")
        made.token_error = None
        with pytest.raises(AuthorizationFailed) as refused:
            await log_in(made, wrong)
    told = f"{caught.value}{refused.value}{upstream!r}{wrong!r}{Identity('ann', {'email': 'ann@x'})!r}"
    assert (caught.value.code, refused.value.code) == ("invalid_grant", "invalid_client")
    assert not any(secret in told for secret in (CLIENT_SECRET, "wr0ng", VERIFIER, "ann@x"))
