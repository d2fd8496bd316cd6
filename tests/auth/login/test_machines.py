"""A program logs in by itself: what it sends to whom, and that it sends nothing to anybody else."""

import asyncio
import json
from base64 import b64encode
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from joserfc import jwt as jose
from joserfc.jwk import ECKey

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.challenges import Challenge
from splice.auth.login.discovery import Needed
from splice.auth.login.kept import Kept, Registration
from splice.auth.login.machines import ClientCredentials, EnterpriseManaged, WorkloadIdentity
from splice.auth.login.signing import SigningKey
from splice.auth.login.steps import HTTP, Flow, HTTPReply, Step, Supply
from splice.auth.login.supplies import supplied
from support.flows import Web, form, jwt, reply
from support.tables import rows

MCP, AS, NOW = "https://mcp.example/mcp", "https://as.example", 1_800_000_000.0
ROGUE = "https://rogue.example"
TOKEN, IDP = f"{AS}/token", "https://idp.example/token"
SECRET = "s3cret-of-the-client"
NEEDED = Needed(url=MCP, now=NOW)
PEM = SigningKey.make()._key.as_pem(private=True).decode()
GOOD = reply(access_token="abc", token_type="Bearer", expires_in=300)
JAG = "urn:ietf:params:oauth:token-type:id-jag"
IDP_GOOD = reply(access_token="the-jag", issued_token_type=JAG, token_type="N_A", expires_in=300)
Policy: TypeAlias = ClientCredentials | EnterpriseManaged | WorkloadIdentity


class Sites(Web):
    """A server, who issues its tokens, and an identity provider."""

    def __init__(self, token: Any = None, *, issuer: str = AS, idp: Any = IDP_GOOD, **metadata: Any) -> None:
        described = {"issuer": issuer, "token_endpoint": f"{issuer}/token", **metadata}
        super().__init__(
            {
                "https://mcp.example/.well-known/oauth-protected-resource/mcp": lambda _: reply(
                    resource=MCP, authorization_servers=[issuer], scopes_supported=["read"]
                ),
                f"{issuer}/.well-known/oauth-authorization-server": lambda _: reply(**described),
                f"{issuer}/token": GOOD if token is None else token,
                IDP: idp,
            }
        )

    def outcome(self, step: Any) -> Any:
        return asyncio.run(supplied(step)) if isinstance(step, Supply) else super().outcome(step)


def credentials(**options: Any) -> ClientCredentials:
    return ClientCredentials("me", SECRET, **options)


def managed(**options: Any) -> EnterpriseManaged:
    given: dict[str, Any] = {
        "id_token": "the-id-token",
        "idp_token_endpoint": IDP,
        "idp_client_id": "me-there",
        **options,
    }
    return EnterpriseManaged("me", SECRET, **given)


def workload(**options: Any) -> WorkloadIdentity:
    return WorkloadIdentity("me", **{"assertion": "the-assertion", **options})


POLICIES = [
    pytest.param(credentials, id="secret"),
    pytest.param(lambda **options: ClientCredentials("me", private_key=PEM, **options), id="key"),
    pytest.param(managed, id="enterprise"),
    pytest.param(workload, id="workload"),
]


def obtain(web: Web, policy: Policy, request: Needed = NEEDED, kept: Kept | None = None) -> Kept:
    return web.run(policy.obtain(request, kept or Kept()))


def test_a_secret_gets_a_token() -> None:
    web = Sites()
    kept = obtain(web, credentials())
    (request,) = web.sent(TOKEN)
    assert form(request) == {"grant_type": "client_credentials", "resource": MCP, "scope": "read"}
    assert request.headers["authorization"] == "Basic " + b64encode(f"me:{SECRET}".encode()).decode()
    assert kept.grant is not None
    assert (kept.grant.access_token, kept.grant.expires, kept.grant.issuer) == ("abc", NOW + 300, AS)
    assert kept.asked == ("read",)


@pytest.mark.parametrize("methods", [["client_secret_post"], ["client_secret_post", "private_key_jwt"]])
def test_a_secret_is_sent_in_the_form_where_that_is_the_only_way(methods: list[str]) -> None:
    web = Sites(token_endpoint_auth_methods_supported=methods)
    obtain(web, credentials())
    assert form(web.sent(TOKEN)[0])["client_secret"] == SECRET
    assert "authorization" not in web.sent(TOKEN)[0].headers


@pytest.mark.parametrize("methods", [None, [], ["client_secret_post", "client_secret_basic"], ["private_key_jwt"]])
def test_a_secret_is_sent_in_a_header_where_that_is_possible(methods: list[str] | None) -> None:
    web = Sites(token_endpoint_auth_methods_supported=methods)
    obtain(web, credentials())
    assert "authorization" in web.sent(TOKEN)[0].headers


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "Ed25519"])
@pytest.mark.parametrize("shape", ["pem", "bytes", "jwk"])
def test_a_key_gets_a_token(algorithm: str, shape: str) -> None:
    key = SigningKey.make(algorithm)._key
    pem = key.as_pem(private=True)
    given: Any = {"jwk": key.as_dict(private=True), "bytes": pem, "pem": pem.decode()}[shape]
    web = Sites(token_endpoint_auth_methods_supported=["private_key_jwt", "client_secret_basic"])
    obtain(web, ClientCredentials("me", private_key=given, algorithm=algorithm))
    sent = form(web.sent(TOKEN)[0])
    claims = jose.decode(sent.pop("client_assertion"), key, algorithms=[algorithm]).claims
    assert (claims["iss"], claims["sub"], claims["aud"]) == ("me", "me", AS)
    assert claims["iat"] <= NOW < claims["exp"] <= NOW + 600
    assert sent == {
        "grant_type": "client_credentials",
        "resource": MCP,
        "scope": "read",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    }


def test_a_key_says_which_one_it_is() -> None:
    key = {**SigningKey.make()._key.as_dict(private=True), "kid": "k-1"}
    web = Sites()
    obtain(web, ClientCredentials("me", private_key=key))
    assert jwt(form(web.sent(TOKEN)[0])["client_assertion"])[0] == {"alg": "ES256", "typ": "JWT", "kid": "k-1"}


@pytest.mark.parametrize("text", [PEM, json.dumps(ECKey.import_key(PEM).as_dict(private=True))], ids=["PEM", "JWK"])
def test_a_private_key_in_a_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(text)
    web = Sites(token_endpoint_auth_methods_supported=["private_key_jwt"])
    obtain(web, ClientCredentials("me", private_key=file))
    assert obtain(web, ClientCredentials("me", private_key=text)).grant is not None


def test_each_login_signs_anew() -> None:
    policy = ClientCredentials("me", private_key=PEM)
    webs = [Sites(), Sites()]
    for web in webs:
        obtain(web, policy)
    first, second = (jwt(form(web.sent(TOKEN)[0])["client_assertion"])[1]["jti"] for web in webs)
    assert first != second


def test_the_company_decides() -> None:
    web = Sites()
    kept = obtain(web, managed())
    (exchange,), (ask,) = web.sent(IDP), web.sent(TOKEN)
    assert form(exchange) == {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "requested_token_type": JAG,
        "audience": AS,
        "resource": MCP,
        "scope": "read",
        "subject_token": "the-id-token",
        "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
        "client_id": "me-there",
    }
    assert "authorization" not in exchange.headers
    assert form(ask) == {
        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "assertion": "the-jag",
        "resource": MCP,
    }
    assert ask.headers["authorization"] == "Basic " + b64encode(f"me:{SECRET}".encode()).decode()
    assert kept.grant is not None
    assert kept.grant.access_token == "abc"


def test_the_company_may_know_the_program_by_a_secret() -> None:
    web = Sites()
    obtain(web, managed(idp_client_secret="s3cret-there"))
    assert form(web.sent(IDP)[0])["client_secret"] == "s3cret-there"


def test_an_id_token_is_fresh_each_time() -> None:
    made = iter(["id-1", "id-2"])
    policy = managed(id_token=lambda: next(made))
    webs = [Sites(), Sites()]
    for web in webs:
        obtain(web, policy)
    assert [form(web.sent(IDP)[0])["subject_token"] for web in webs] == ["id-1", "id-2"]


@pytest.mark.parametrize(
    ("answer", "why", "code"),
    [
        (reply(400, error="invalid_grant", error_description="the-id-token is too old"), "is too old", "invalid_grant"),
        (reply(400, error="access_denied", error_description="not for you"), "not for you", "access_denied"),
        (reply(token_type="N_A"), "gave no assertion", None),
        (reply(access_token=5), "gave no assertion", None),
        (reply(access_token=""), "gave no assertion", None),
        (reply(access_token="x" * 100_000), "gave no assertion", None),
        (reply(access_token="t", issued_token_type="urn:ietf:params:oauth:token-type:jwt"), "gave no assertion", None),
        (HTTPReply(302, {"location": ROGUE}), "it redirects", None),
        (HTTPReply(503), "try again later", "temporarily_unavailable"),
    ],
)
def test_what_the_company_does_not_allow_goes_no_further(answer: HTTPReply, why: str, code: str | None) -> None:
    web = Sites(idp=answer)
    with pytest.raises(AuthorizationFailed, match=why) as caught:
        obtain(web, managed())
    assert web.sent(TOKEN) == []
    assert caught.value.code == code
    assert "https://idp.example/token" in str(caught.value)
    assert "the-id-token" not in str(caught.value)


@pytest.mark.parametrize("client_id", ["me", ""])
def test_a_platform_vouches_for_a_program(client_id: str) -> None:
    web = Sites()
    obtain(web, WorkloadIdentity(client_id, assertion="the-assertion"))
    (request,) = web.sent(TOKEN)
    assert form(request) == {
        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "assertion": "the-assertion",
        "resource": MCP,
        **({"client_id": "me"} if client_id else {}),
    }
    assert request.headers.keys() == {"content-type", "accept"}


def test_an_assertion_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("from-the-file\n")
    web = Sites()
    obtain(web, workload(assertion=path, scopes=["a", "b"]))
    sent = form(web.sent(TOKEN)[0])
    assert (sent["assertion"], sent["scope"]) == ("from-the-file", "a b")


@rows("code", ["invalid_grant", "invalid_client", "unsupported_grant_type", "use_dpop_nonce"])
@rows("status", [400, 401, 503])
def test_a_refused_assertion_is_not_tried_again(status: int, code: str) -> None:
    web = Sites([reply(status, {"dpop-nonce": "n"}, error=code, error_description="the-assertion expired")])
    with pytest.raises(AuthorizationFailed, match="expired") as caught:
        obtain(web, workload())
    assert caught.value.code == code
    assert "the-assertion" not in str(caught.value)


@pytest.mark.parametrize("make", POLICIES)
def test_a_rogue_issuer_gets_nothing(make: Any) -> None:
    """A server that was honest names another authorization server: nothing secret leaves (security.md, row 14)."""
    policy = make()
    kept = obtain(Sites(), policy)
    restarted = make()
    for again in (policy, restarted):
        web = Sites(issuer=ROGUE)
        with pytest.raises(AuthorizationFailed, match="rogue"):
            obtain(web, again, kept=kept)
        assert {request.method for request in web.requests} == {"GET"}
    web = Sites(issuer=ROGUE)
    with pytest.raises(AuthorizationFailed, match="rogue"):
        obtain(web, policy)  # nothing was kept, but the policy remembers
    assert {request.method for request in web.requests} == {"GET"}


@pytest.mark.parametrize("make", POLICIES)
def test_an_issuer_can_be_given(make: Any) -> None:
    kept = obtain(Sites(), make(issuer=AS))
    assert kept.grant is not None
    web = Sites(issuer=ROGUE)
    with pytest.raises(AuthorizationFailed, match=r"rogue.*as\.example"):
        obtain(web, make(issuer=AS))
    assert {request.method for request in web.requests} == {"GET"}


def test_a_given_issuer_counts_for_more_than_the_kept_one() -> None:
    old = Kept(registration=Registration(issuer=ROGUE, client_id="me"))
    assert obtain(Sites(), credentials(issuer=AS), kept=old).grant is not None


def test_what_is_kept_of_another_client_says_nothing() -> None:
    old = Kept(registration=Registration(issuer=ROGUE, client_id="somebody"))
    assert obtain(Sites(), credentials(), kept=old).grant is not None


def test_two_logins_at_once_do_not_get_to_two_issuers() -> None:
    policy = credentials()
    slow = policy.obtain(NEEDED, Kept())
    next(slow)
    obtain(Sites(), policy)  # meanwhile
    web = Sites(issuer=ROGUE)
    with pytest.raises(
        AuthorizationFailed, match=r"credentials of 'https://as\.example' are not sent to 'https://rogue"
    ):
        web.run(rest(slow))
    assert {request.method for request in web.requests} == {"GET"}


def rest(flow: Flow[Kept]) -> Flow[Kept]:
    """Go on with a flow that asked for the first document already."""
    step: Step = HTTP(url="https://mcp.example/.well-known/oauth-protected-resource/mcp")
    while True:
        outcome = yield step
        step = flow.send(outcome)


@pytest.mark.parametrize("make", POLICIES)
def test_no_secret_is_kept(make: Any) -> None:
    kept = obtain(Sites(), make())
    assert kept.registration is not None
    assert (kept.registration.issuer, kept.registration.client_id) == (AS, "me")
    assert kept.registration.client_secret is None
    assert kept.grant is not None
    assert kept.grant.refresh_token is None


@pytest.mark.parametrize("make", POLICIES)
def test_a_token_can_be_bound_to_a_key(make: Any) -> None:
    bound = reply(access_token="abc", token_type="DPoP")
    web = Sites(
        [reply(400, {"dpop-nonce": "n-1"}, error="use_dpop_nonce"), bound],
        dpop_signing_alg_values_supported=["ES384"],
    )
    kept = obtain(web, make(dpop=True))
    first, second = (jwt(request.headers["dpop"]) for request in web.sent(TOKEN))
    assert (first[0]["alg"], second[1]["nonce"]) == ("ES384", "n-1")
    assert first[0]["jwk"] == second[0]["jwk"]
    assert all("dpop" not in request.headers for request in web.sent(IDP))
    assert kept.grant is not None
    assert kept.grant.dpop_key is not None


def test_a_server_that_wants_dpop_gets_it() -> None:
    web = Sites(reply(access_token="abc", token_type="DPoP"))
    obtain(web, credentials(), Needed(url=MCP, now=NOW, challenge=Challenge("dpop")))
    assert "dpop" in web.sent(TOKEN)[0].headers


def challenged(status: int, scope: str) -> Needed:
    return Needed(url=MCP, now=NOW, status=status, challenge=Challenge("bearer", {"scope": scope}))


@pytest.mark.parametrize(
    ("options", "request_", "asked", "scope"),
    [
        ({}, NEEDED, (), "read"),
        ({}, NEEDED, ("old",), "old read"),
        ({}, challenged(401, "write"), (), "write"),
        ({}, challenged(403, "write"), ("read",), "read write"),
        ({"scopes": ["mine"]}, challenged(401, "write"), ("old",), "mine"),
        ({"scopes": []}, NEEDED, (), None),
    ],
)
def test_scopes(options: dict[str, Any], request_: Needed, asked: tuple[str, ...], scope: str | None) -> None:
    web = Sites()
    kept = obtain(web, credentials(**options), request_, Kept(asked=asked))
    assert form(web.sent(TOKEN)[0]).get("scope") == scope
    assert kept.asked == tuple((scope or "").split())


@pytest.mark.parametrize(
    ("policy", "request_", "why"),
    [
        (credentials(), challenged(403, "read"), "names no scope to ask for"),
        (credentials(), challenged(403, ""), "names no scope to ask for"),
        (credentials(), Needed(url=MCP, now=NOW, status=403), "names no scope to ask for"),
        (credentials(scopes=["read"]), challenged(403, "read write"), "wants the scope 'write': add it to scopes="),
        (credentials(), challenged(403, " ".join(f"scope-{n}" for n in range(500))), "wants too many scopes"),
        (workload(), challenged(403, "write"), "wants the scope 'write': add it to scopes="),
    ],
)
def test_what_stays_forbidden_is_not_asked_for_again(policy: Policy, request_: Needed, why: str) -> None:
    web = Sites()
    with pytest.raises(AuthorizationFailed, match=why) as caught:
        obtain(web, policy, request_, Kept(asked=("read",)))
    assert caught.value.code == (None if "many" in why else "insufficient_scope")
    assert web.sent(TOKEN) == []


@rows(
    ("make", "error", "why"),
    [
        (lambda: ClientCredentials("me"), TypeError, "takes client_secret= or private_key="),
        (lambda: ClientCredentials("me", SECRET, private_key=PEM), TypeError, "not both"),
        (lambda: ClientCredentials("", SECRET), TypeError, "client_id= of ClientCredentials takes a text"),
        (lambda: ClientCredentials("me", ""), TypeError, "client_secret= of ClientCredentials takes a text"),
        (lambda: ClientCredentials("me", private_key=PEM, algorithm="HS256"), ValueError, "takes one of ES256"),
        (lambda: ClientCredentials("me", private_key=PEM, algorithm="RS256"), ValueError, "not one for RS256"),
        (lambda: ClientCredentials("me", private_key="s3cret"), ValueError, "not one for ES256"),
        (lambda: ClientCredentials("me", private_key="key.pem"), ValueError, r"the name of a file: give it as Path\("),
        (lambda: ClientCredentials("me", private_key="~/keys/s3cret"), ValueError, "the name of a file"),
        (lambda: ClientCredentials("me", private_key=Path("no/s3")), ValueError, "from 'no/s3': No such file"),
        (lambda: credentials(issuer="http://as.example"), ValueError, "takes a URL: https"),
        (lambda: credentials(issuer="javascript:alert(1)"), ValueError, "takes a URL: https"),
        (lambda: credentials(scopes="read"), TypeError, "takes a list of scopes"),
        (lambda: credentials(scopes=["a b"]), ValueError, "takes a list of scopes"),
        (lambda: credentials(dpop=1), TypeError, "takes True or False"),
        (lambda: credentials(unknown=1), TypeError, "has no option unknown"),
        (lambda: managed(idp_token_endpoint="http://idp.example"), ValueError, "idp_token_endpoint= .* takes a URL"),
        (lambda: managed(idp_client_id=""), TypeError, "idp_client_id= of EnterpriseManaged takes a text"),
        (lambda: managed(idp_client_secret=""), TypeError, "idp_client_secret= of EnterpriseManaged takes a text"),
        (lambda: workload(private_key=PEM), TypeError, "has no option private_key"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(make: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why) as caught:
        make()
    assert "s3cret" not in str(caught.value)
    assert "PRIVATE" not in str(caught.value)


@pytest.mark.parametrize("make", POLICIES)
def test_a_policy_does_not_show_its_secrets(make: Any) -> None:
    policy = make()
    assert repr(policy) == f"{type(policy).__name__}(client_id='me')"
    assert policy.interactive is False
