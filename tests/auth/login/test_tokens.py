"""The token endpoint: who asks, what is sent, and what is made of each answer."""

import re
from base64 import b64encode
from typing import Any

import pytest
from joserfc import jwt as jose

from splice.auth.errors import AuthorizationFailed
from splice.auth.login import tokens
from splice.auth.login.discovery import ServerMetadata
from splice.auth.login.dpop import DPoPKey
from splice.auth.login.kept import Grant, Registration
from splice.auth.login.signing import SigningKey
from splice.auth.login.steps import HTTP, HTTPReply
from splice.errors import ConnectionClosed
from support.flows import Driver, form, jwt, reply
from support.tables import rows

ISSUER, URL, NOW = "https://as.example", "https://as.example/token", 1_800_000_000.0
METADATA = ServerMetadata(issuer=ISSUER, token_endpoint=URL)
PUBLIC = Registration(issuer=ISSUER, client_id="me")
SECRET = "s3cret/with+signs :%"
GOOD: dict[str, Any] = {"access_token": "abc", "token_type": "Bearer"}
KEY = DPoPKey.make()


def ask(driver: Driver, registration: Registration = PUBLIC, **options: Any) -> Grant:
    sent = {"grant_type": "authorization_code", "code": "c0de-of-the-user"}
    given: dict[str, Any] = {"resource": "https://mcp.example/mcp", "asked": ("read",), "now": NOW, **options}
    return driver.run(tokens.request_token(METADATA, registration, sent, **given))


def client(method: str, secret: str | None = SECRET) -> Registration:
    return Registration(issuer=ISSUER, client_id="me:&", client_secret=secret, method=method)


@pytest.mark.requirement(441)
def test_what_is_sent() -> None:
    driver = Driver(reply(**GOOD))
    ask(driver)
    (request,) = driver.requests
    assert (request.method, request.url) == ("POST", URL)
    assert request.headers == {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    assert form(request) == {
        "grant_type": "authorization_code",
        "code": "c0de-of-the-user",
        "resource": "https://mcp.example/mcp",
        "client_id": "me",
    }


def test_a_server_of_the_first_days_is_sent_no_resource() -> None:
    driver = Driver(reply(**GOOD))
    assert ask(driver, resource=None).resource is None
    assert "resource" not in form(driver.steps[0])


def test_a_secret_in_a_header_is_url_encoded_first() -> None:
    driver = Driver(reply(**GOOD))
    ask(driver, client("client_secret_basic"))
    pair = b"me%3A%26:s3cret%2Fwith%2Bsigns%20%3A%25"
    assert driver.requests[0].headers["authorization"] == "Basic " + b64encode(pair).decode()
    assert form(driver.steps[0]).keys() == {"grant_type", "code", "resource"}


def test_a_secret_in_the_form() -> None:
    driver = Driver(reply(**GOOD))
    ask(driver, client("client_secret_post"))
    sent = form(driver.steps[0])
    assert (sent["client_id"], sent["client_secret"]) == ("me:&", SECRET)
    assert "authorization" not in driver.requests[0].headers


def test_a_key_signs_for_the_client() -> None:
    key = SigningKey.make()
    driver = Driver(reply(**GOOD))
    ask(driver, client("private_key_jwt"), assertion=lambda: key.client_assertion("me", ISSUER, NOW))
    sent = form(driver.steps[0])
    claims = jose.decode(sent["client_assertion"], key._key, algorithms=["ES256"]).claims
    assert sent["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    assert "client_id" not in sent
    assert claims == {
        "iss": "me",
        "sub": "me",
        "aud": ISSUER,
        "iat": int(NOW),
        "exp": int(NOW) + 300,
        "jti": claims["jti"],
    }


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ("client_secret_basic", "has no secret"),
        ("client_secret_post", "has no secret"),
        ("private_key_jwt", "has no private key"),
        ("tls_client_auth", "cannot prove itself in that way"),
    ],
)
def test_a_client_that_cannot_prove_itself_sends_nothing(method: str, why: str) -> None:
    with pytest.raises(AuthorizationFailed, match=why):
        ask(Driver(), client(method, secret=None))


def test_credentials_of_one_issuer_are_not_sent_to_another() -> None:
    rogue = ServerMetadata(issuer="https://rogue.example", token_endpoint="https://rogue.example/token")
    driver = Driver()
    with pytest.raises(
        AuthorizationFailed, match=r"credentials of 'https://as.example' are not sent to 'https://rogue"
    ):
        driver.run(tokens.request_token(rogue, PUBLIC, {}, resource=None, asked=(), now=NOW))
    grant = Grant(issuer=ISSUER, access_token="abc", refresh_token="r")
    registered = Registration(issuer=rogue.issuer, client_id="me")
    with pytest.raises(AuthorizationFailed, match="are not sent to"):
        driver.run(tokens.refresh(rogue, registered, grant, NOW))
    assert driver.steps == []


def test_a_server_without_a_token_endpoint_issues_none() -> None:
    bare = ServerMetadata(issuer=ISSUER, token_endpoint="")
    with pytest.raises(AuthorizationFailed, match="its metadata has no token_endpoint"):
        Driver().run(tokens.request_token(bare, PUBLIC, {}, resource=None, asked=(), now=NOW))


@rows(
    ("members", "expected"),
    [
        ({}, {}),
        ({"token_type": "BEARER"}, {}),
        ({"token_type": "bearer"}, {}),
        ({"expires_in": 3600}, {"expires": NOW + 3600}),
        ({"expires_in": 59.5}, {"expires": NOW + 59.5}),
        ({"expires_in": "3600"}, {"expires": NOW + 3600}),
        ({"expires_in": 0}, {"expires": NOW}),
        *[
            ({"expires_in": odd}, {"expires": None})
            for odd in list[Any]([-1, True, "1e9", "", "9" * 5000, "٣", 10**30, 1e300, None, [], {}, "-5", " 5"])
        ],
        ({"scope": "read write"}, {"scopes": ("read", "write")}),
        ({"scope": " write  write "}, {"scopes": ("write",)}),
        *[({"scope": odd}, {"scopes": ("read",)}) for odd in ("", " ", None, 5, ["a"], "a\nb", "é")],
        ({"refresh_token": "r3fresh"}, {"refresh_token": "r3fresh"}),
        *[({"refresh_token": odd}, {"refresh_token": None}) for odd in ("", None, 5, "a\nb", "x" * 40_000)],
        ({"unknown": {"deep": [1]}, "id_token": "x"}, {}),
    ],
)
def test_what_comes_is_read(members: dict[str, Any], expected: dict[str, Any]) -> None:
    grant = ask(Driver(reply(**{**GOOD, **members})))
    plain = {"expires": None, "scopes": ("read",), "refresh_token": None, "token_type": "Bearer", "dpop_key": None}
    plain |= {"access_token": "abc", "issuer": ISSUER, "token_endpoint": URL, "resource": "https://mcp.example/mcp"}
    assert {name: getattr(grant, name) for name in plain} == {**plain, **expected}


@pytest.mark.parametrize("content_type", ["text/html", "application/json; charset=utf-8", ""])
def test_the_content_type_of_an_answer_does_not_matter(content_type: str) -> None:
    assert ask(Driver(reply(201, {"content-type": content_type}, **GOOD))).access_token == "abc"


def test_an_answer_without_a_type_is_a_bearer_token() -> None:
    assert ask(Driver(reply(access_token="abc"))).token_type == "Bearer"


@rows(
    ("answer", "why"),
    [
        (reply(token_type="Bearer"), "has no access_token"),
        (reply(**{**GOOD, "access_token": ""}), "has no access_token"),
        (reply(**{**GOOD, "access_token": 5}), "has no access_token"),
        (HTTPReply(200, {}, b"access_token=abc&token_type=bearer"), "has no access_token"),
        (HTTPReply(200, {}, b'["abc"]'), "has no access_token"),
        (HTTPReply(200, {}, b"\xff"), "has no access_token"),
        (HTTPReply(200, {}, b"[" * 100_000), "has no access_token"),
        (HTTPReply(200), "has no access_token"),
        (reply(**{**GOOD, "access_token": "a\r\nX-Admin: yes"}), "cannot be sent in a header"),
        (reply(**{**GOOD, "access_token": "a b"}), "cannot be sent in a header"),
        (reply(**{**GOOD, "access_token": "é"}), "cannot be sent in a header"),
        (reply(**{**GOOD, "access_token": "a" * 40_000}), "cannot be sent in a header"),
        (reply(**{**GOOD, "token_type": "mac"}), "only Bearer and DPoP are known"),
        (reply(**{**GOOD, "token_type": None}), "only Bearer and DPoP are known"),
        (reply(**{**GOOD, "token_type": ["Bearer"]}), "only Bearer and DPoP are known"),
        (reply(**{**GOOD, "token_type": "DPoP"}), "turn DPoP on"),
        (HTTPReply(302, {"location": "https://rogue.example"}), "it redirects, and credentials are not sent elsewhere"),
        (HTTPReply(307, {"location": "https://rogue.example"}), "it redirects"),
        (HTTPReply(204), "HTTP 204"),
        (HTTPReply(404, {}, b"<html>"), "HTTP 404"),
        (HTTPReply(503, {}, b"<html>"), "HTTP 503, it cannot answer now: try again later"),
        (HTTPReply(429), "HTTP 429, it cannot answer now: try again later"),
        (reply(400, error=5, error_description=["x"]), "HTTP 400"),
        (reply(200, error={"code": 5}), "HTTP 200, the answer is not a token"),
    ],
)
def test_what_is_not_a_token_is_refused(answer: HTTPReply, why: str) -> None:
    with pytest.raises(AuthorizationFailed, match=re.escape(why)) as caught:
        ask(Driver(answer))
    assert "https://as.example/token" in str(caught.value)
    assert caught.value.code == ("temporarily_unavailable" if answer.status in (429, 503) else None)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_an_error_that_the_server_names_is_passed_on(status: int) -> None:
    with pytest.raises(AuthorizationFailed, match=f"HTTP {status}.*'invalid_grant', 'too \\\\n old \\\\x1b") as caught:
        ask(Driver(reply(status, error="invalid_grant", error_description="too \n old \x1b[31m" + "x" * 5000)))
    assert caught.value.code == "invalid_grant"
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7", 7), ("999999999", 3600), ("-1", 0), ("Wed, 21 Oct 2026 07:28:00 GMT", 0), ("9" * 99, 0), ("٣", 0)],
)
def test_a_server_may_say_when_to_ask_again(text: str, seconds: int) -> None:
    with pytest.raises(AuthorizationFailed) as caught:
        ask(Driver(HTTPReply(503, {"retry-after": text})))
    assert caught.value.retry_after == seconds


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "private_key_jwt"])
def test_no_secret_comes_back_in_a_message(method: str) -> None:
    def parrot(request: HTTP) -> HTTPReply:
        told = " ".join([request.body.decode(), *form(request).values(), *request.headers.values()])
        return reply(400, error=f"bad {SECRET}", error_description=told + SECRET)

    with pytest.raises(AuthorizationFailed) as caught:
        ask(Driver(parrot), client(method), assertion=lambda: "the-assertion-of-the-client", key=KEY)
    for secret in (SECRET, "c0de-of-the-user", "the-assertion", "s3cret"):
        assert secret not in str(caught.value)
        assert secret not in repr(caught.value) + str(caught.value.code)


def test_a_token_is_bound_to_a_key() -> None:
    driver = Driver(reply(access_token="abc", token_type="dpop"))
    grant = ask(driver, key=KEY)
    header, claims = jwt(driver.requests[0].headers["dpop"])
    assert (header["jwk"], claims["htm"], claims["htu"]) == (KEY.public, "POST", URL)
    assert "nonce" not in claims
    assert "ath" not in claims
    assert grant.token_type == "DPoP"
    assert DPoPKey.load(grant.dpop_key or "").thumbprint == KEY.thumbprint


@pytest.mark.parametrize("kind", ["Bearer", None])
def test_a_token_that_is_not_bound_is_not_taken_for_one(kind: str | None) -> None:
    members: dict[str, Any] = {"access_token": "abc"} if kind is None else {"access_token": "abc", "token_type": kind}
    with pytest.raises(AuthorizationFailed, match="turn DPoP off to accept that"):
        ask(Driver(reply(**members)), key=KEY)


@pytest.mark.parametrize("status", [400, 401])
def test_a_nonce_is_used_once_it_is_asked_for(status: int) -> None:
    made = iter(["assertion-1", "assertion-2"])
    driver = Driver(
        reply(status, {"dpop-nonce": "n-1"}, error="use_dpop_nonce"),
        reply(access_token="abc", token_type="DPoP"),
    )
    ask(driver, client("private_key_jwt"), key=KEY, assertion=lambda: next(made))
    first, second = (jwt(request.headers["dpop"])[1] for request in driver.requests)
    assert "nonce" not in first
    assert second["nonce"] == "n-1"
    assert first["jti"] != second["jti"]
    assert [form(step)["client_assertion"] for step in driver.steps] == ["assertion-1", "assertion-2"]


NONCE_WANTED = reply(400, {"dpop-nonce": "n-1"}, error="use_dpop_nonce")


@pytest.mark.parametrize(
    ("answers", "options"),
    [
        ([NONCE_WANTED, NONCE_WANTED], {"key": KEY}),
        ([reply(400, error="use_dpop_nonce")], {"key": KEY}),
        ([reply(400, {"dpop-nonce": 'a"b'}, error="use_dpop_nonce")], {"key": KEY}),
        ([reply(400, {"dpop-nonce": "n" * 2000}, error="use_dpop_nonce")], {"key": KEY}),
        ([NONCE_WANTED], {}),
    ],
    ids=["twice", "none given", "not a nonce", "too long", "no key"],
)
def test_a_nonce_is_asked_for_once_only(answers: list[HTTPReply], options: dict[str, Any]) -> None:
    with pytest.raises(AuthorizationFailed) as caught:
        ask(Driver(*answers), **options)
    assert caught.value.code == "use_dpop_nonce"


OLD = Grant(
    issuer=ISSUER,
    access_token="old",
    resource="https://mcp.example/mcp",
    scopes=("read", "write"),
    refresh_token="r3fresh-0ne",
)


@pytest.mark.parametrize(("members", "kept"), [({}, "r3fresh-0ne"), ({"refresh_token": "r3fresh-two"}, "r3fresh-two")])
def test_a_grant_is_refreshed(members: dict[str, Any], kept: str) -> None:
    driver = Driver(reply(**GOOD, **members))
    grant = driver.run(tokens.refresh(METADATA, client("client_secret_basic"), OLD, NOW))
    assert form(driver.steps[0]) == {
        "grant_type": "refresh_token",
        "refresh_token": "r3fresh-0ne",
        "resource": "https://mcp.example/mcp",
    }
    assert (grant.access_token, grant.scopes, grant.refresh_token) == ("abc", ("read", "write"), kept)


def test_a_bound_grant_is_refreshed_with_its_key() -> None:
    driver = Driver(reply(access_token="new", token_type="DPoP"))
    bound = Grant(issuer=ISSUER, access_token="old", refresh_token="r", token_type="DPoP", dpop_key=KEY.dump())
    grant = driver.run(tokens.refresh(METADATA, PUBLIC, bound, NOW))
    assert jwt(driver.requests[0].headers["dpop"])[0]["jwk"] == KEY.public
    assert DPoPKey.load(grant.dpop_key or "").thumbprint == KEY.thumbprint


def test_a_refresh_that_fails_says_so_without_the_token() -> None:
    told = reply(400, error="invalid_grant", error_description="r3fresh-0ne is gone")
    with pytest.raises(AuthorizationFailed, match=r"'\[secret\] is gone'") as caught:
        Driver(told).run(tokens.refresh(METADATA, PUBLIC, OLD, NOW))
    assert caught.value.code == "invalid_grant"
    bare = Grant(issuer=ISSUER, access_token="old")
    with pytest.raises(AuthorizationFailed, match="gave no refresh token: log in again"):
        Driver().run(tokens.refresh(METADATA, PUBLIC, bare, NOW))


def test_a_lost_connection_is_passed_on() -> None:
    with pytest.raises(ConnectionClosed, match="gone"):
        ask(Driver(ConnectionClosed("gone")))


def test_steps_do_not_show_what_they_carry() -> None:
    driver = Driver(reply(**GOOD))
    ask(driver, client("client_secret_basic"))
    shown = repr(driver.steps[0]) + repr(reply(**GOOD))
    assert "c0de" not in shown
    assert "Basic" not in shown
    assert "abc" not in shown
