"""Clients prove themselves by secrets, keys and proofs."""

import json
import secrets
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from auth.issuer.serving import RESOURCE, SECRET, Reply, Served, basic, serving
from splice.auth.issuer import proofs
from splice.auth.issuer.authentication import ASSERTION

KEY = ECKey.generate_key("P-256", auto_kid=True)
OTHER = ECKey.generate_key("P-256", auto_kid=True)
JWKS: Any = KeySet([KEY]).as_dict(private=False)


async def machine(served: Served, **form: str) -> Reply:
    return await served.post("/token", grant_type="client_credentials", resource=RESOURCE, **form)


def assertion(served: Served, key: ECKey = KEY, **changes: Any) -> str:
    now = served.clock.now
    claims = {"iss": "robot", "sub": "robot", "aud": served.browser.base, "exp": now + 60, "iat": now, "jti": "1"}
    return jwt.encode({"alg": "ES256", "kid": key.kid}, {**claims, **changes}, key)


@pytest.mark.requirement(522)
async def test_a_program_acts_for_itself_by_a_secret_in_the_header_or_the_form() -> None:
    async with serving() as served:
        header = {"authorization": basic("api", SECRET)}
        form = {"grant_type": "client_credentials", "scope": "read"}
        by_header = await served.send("POST", "/token", data=form, headers=header)
        assert "refresh_token" not in by_header.json
        by_form = await machine(served, client_id="api", client_secret=SECRET)
        found = await served.introspect(by_form.json["access_token"])
        assert (found["sub"], found["client_id"], found["aud"]) == ("client:api", "api", RESOURCE)
        both = await served.send("POST", "/token", data={**form, "client_secret": SECRET}, headers=header)
        assert both.json["error"] == "invalid_request"
        other = await served.send("POST", "/token", data={**form, "client_id": "demo"}, headers=header)
        assert other.json["error"] == "invalid_request"


@pytest.mark.parametrize("header", ["", "Basic", "Basic !", "Bearer x", "Basic eA==", basic("api", "wrong")])
async def test_a_wrong_header_is_refused(header: str) -> None:
    async with serving() as served:
        reply = await served.send(
            "POST", "/token", data={"grant_type": "client_credentials"}, headers={"authorization": header}
        )
        assert (reply.status, reply.json["error"]) == (401, "invalid_client")
        assert reply.headers["www-authenticate"].startswith("Basic")


async def test_a_client_without_a_secret_cannot_act_for_itself() -> None:
    async with serving() as served:
        assert (await machine(served, client_id="demo")).json["error"] == "unauthorized_client"
        assert (await machine(served, client_id="demo", client_secret="")).json["error"] == "unauthorized_client"
        assert (await machine(served, client_id="demo", client_secret="x")).json["error"] == "invalid_client"
        assert (await machine(served, client_id="nobody", client_secret="x")).json["error"] == "invalid_client"
        assert (await machine(served)).json["error"] == "invalid_client"


async def test_a_program_acts_for_itself_by_a_key() -> None:
    async with serving() as served:
        await served.issuer.add_client("robot", jwks=JWKS)
        told = {"client_assertion_type": ASSERTION, "client_assertion": assertion(served)}
        assert (await machine(served, **told)).status == 200
        assert "used already" in (await machine(served, **told)).json["error_description"]
        token_endpoint = assertion(served, jti="2", aud=[f"{served.browser.base}/token"])
        assert (await machine(served, **{**told, "client_assertion": token_endpoint})).status == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "other"},
        {"sub": "demo"},
        {"sub": "nobody"},
        {"aud": "https://other.example"},
        {"exp": 1},
        {"exp": None},
        {"exp": 9_999_999_999},
        {"nbf": 9_999_999_999},
        {"jti": None},
        {"key": OTHER},
    ],
)
async def test_assertions_that_do_not_hold(changes: Any) -> None:
    async with serving() as served:
        await served.issuer.add_client("robot", jwks=JWKS)
        told = {"client_assertion_type": ASSERTION, "client_assertion": assertion(served, **changes)}
        reply = await machine(served, **told)
        assert (reply.status, reply.json["error"]) == (401, "invalid_client")


@pytest.mark.parametrize("text", ["x", "a.b.c", "..", "eyJhbGciOiJub25lIn0.e30."])
async def test_assertions_that_are_none(text: str) -> None:
    async with serving() as served:
        await served.issuer.add_client("robot", jwks=JWKS)
        told = {"client_assertion_type": ASSERTION, "client_assertion": text}
        assert (await machine(served, **told, client_id="robot")).json["error"] == "invalid_client"
        assert (await machine(served, **told)).json["error"] == "invalid_client"
        told["client_assertion_type"] = "other"
        assert (await machine(served, **told)).json["error"] == "invalid_request"


def proof(served: Served, key: ECKey = KEY, *, header: Any = None, **changes: Any) -> dict[str, str]:
    claims = {"jti": secrets.token_hex(8), "htm": "POST", "htu": f"{served.browser.base}/token"}
    given = {"typ": "dpop+jwt", "alg": "ES256", "jwk": key.as_dict(private=False), **(header or {})}
    return {"dpop": jwt.encode(given, {**claims, "iat": served.clock.now, **changes}, key)}


async def test_a_token_is_bound_to_the_key_of_a_proof() -> None:
    async with serving() as served:
        form = {"grant_type": "client_credentials", "client_id": "api", "client_secret": SECRET}
        reply = await served.send("POST", "/token", data=form, headers=proof(served))
        assert reply.json["token_type"] == "DPoP"
        found = await served.introspect(reply.json["access_token"])
        assert found["cnf"] == {"jkt": KEY.thumbprint()}
        assert found["token_type"] == "DPoP"


async def test_a_code_and_its_refresh_tokens_stay_bound() -> None:
    async with serving() as served:
        form = {"grant_type": "refresh_token", "client_id": "demo"}
        code = await served.code(dpop_jkt=KEY.thumbprint())
        assert (await served.redeem(code)).json["error"] == "invalid_grant"
        code = await served.code(dpop_jkt=KEY.thumbprint())
        redeem = {"grant_type": "authorization_code", "code": code, "client_id": "demo"}
        from auth.issuer.serving import CALLBACK, VERIFIER

        redeem |= {"redirect_uri": CALLBACK, "code_verifier": VERIFIER}
        tokens = (await served.send("POST", "/token", data=redeem, headers=proof(served))).json
        form["refresh_token"] = tokens["refresh_token"]
        for headers in ({}, proof(served, OTHER)):
            reply = await served.send("POST", "/token", data=form, headers=headers)
            assert reply.json["error"] == "invalid_grant"
        assert (await served.send("POST", "/token", data=form, headers=proof(served))).status == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"htm": "GET"},
        {"htu": "https://other.example/token"},
        {"htu": "http://[::1"},
        {"iat": 1},
        {"iat": 9_999_999_999},
        {"iat": None},
        {"jti": None},
        {"header": {"typ": "JWT"}},
        {"header": {"jwk": OTHER.as_dict(private=False)}},
        {"header": {"jwk": KEY.as_dict(private=True)}},
        {"header": {"jwk": {"kty": "oct", "k": "AAAA"}}},
    ],
)
async def test_proofs_that_do_not_hold(changes: Any) -> None:
    async with serving() as served:
        form = {"grant_type": "client_credentials", "client_id": "api", "client_secret": SECRET}
        reply = await served.send("POST", "/token", data=form, headers=proof(served, **changes))
        assert (reply.status, reply.json["error"]) == (400, "invalid_dpop_proof")


@pytest.mark.parametrize("text", ["x", "a.b.c", "é", "x" * 5000])
async def test_proofs_that_are_none(text: str) -> None:
    async with serving() as served:
        form = {"grant_type": "client_credentials", "client_id": "api", "client_secret": SECRET}
        reply = await served.send("POST", "/token", data=form, headers={"dpop": text})
        assert (reply.status, reply.json["error"]) == (400, "invalid_dpop_proof")


async def test_proofs_of_anybody_do_not_fill_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "PROOF_RATE", 1e-3)
    monkeypatch.setattr(proofs, "PROOF_BURST", 2.0)
    async with serving() as served:
        form = {"grant_type": "authorization_code", "code": "x", "client_id": "demo"}
        sent = [await served.send("POST", "/token", data=form, headers=proof(served, jti=f"{n}")) for n in range(3)]
        assert [each.status for each in sent] == [400, 400, 503]
        assert (await served.tokens())["token_type"] == "Bearer"


async def test_a_proof_is_taken_once() -> None:
    async with serving() as served:
        form = {"grant_type": "client_credentials", "client_id": "api", "client_secret": SECRET}
        headers = proof(served)
        assert (await served.send("POST", "/token", data=form, headers=headers)).status == 200
        assert (await served.send("POST", "/token", data=form, headers=headers)).json["error"] == "invalid_dpop_proof"
        twice = [("dpop", proof(served)["dpop"]), ("dpop", proof(served)["dpop"])]
        assert (await served.send("POST", "/token", data=form, headers=twice)).json["error"] == "invalid_request"


async def test_a_nonce_is_asked_for_and_grows_old() -> None:
    async with serving(dpop_nonces=True) as served:
        form = {"grant_type": "client_credentials", "client_id": "api", "client_secret": SECRET}
        first = await served.send("POST", "/token", data=form, headers=proof(served))
        assert (first.status, first.json["error"]) == (400, "use_dpop_nonce")
        nonce = first.headers["dpop-nonce"]
        assert (await served.send("POST", "/token", data=form, headers=proof(served, nonce=nonce))).status == 200
        served.clock.now += 700
        late = await served.send("POST", "/token", data=form, headers=proof(served, nonce=nonce))
        assert late.json["error"] == "use_dpop_nonce"
        assert late.headers["dpop-nonce"] != nonce


EC = KEY.as_dict(private=False)


@pytest.mark.parametrize(
    "jwks", [KEY.as_pem(private=False).decode(), KEY.as_pem(private=False), EC, json.dumps(EC), JWKS, json.dumps(JWKS)]
)
async def test_a_public_key_is_taken_as_it_is_written_down(jwks: Any) -> None:
    async with serving() as served:
        await served.issuer.add_client("robot", jwks=jwks)
        key = {"client_assertion_type": ASSERTION}
        assert (await machine(served, client_assertion=assertion(served), **key)).status == 200
        forged = assertion(served, OTHER, jti="2")
        assert (await machine(served, client_assertion=forged, **key)).json["error"] == "invalid_client"


@pytest.mark.parametrize(
    ("jwks", "told"),
    [
        ("hello", "PEM text, a JWK, or a JWK set"),
        (b"\xff", "PEM text, a JWK, or a JWK set"),
        ("", "PEM text, a JWK, or a JWK set"),
        ({}, "PEM text, a JWK, or a JWK set"),
        ({"keys": []}, "PEM text, a JWK, or a JWK set"),
        ({"keys": ["x"]}, "PEM text, a JWK, or a JWK set"),
        ([EC], "PEM text, a JWK, or a JWK set"),
        (7, "PEM text, a JWK, or a JWK set"),
        ({"kty": "oct", "k": "c2VjcmV0"}, "PEM text, a JWK, or a JWK set"),
        (ECKey.generate_key("P-521").as_dict(private=False), "P-256 or P-384"),
        (KEY.as_pem(private=True), "private key in it"),
        (KEY.as_pem(private=True).decode(), "private key in it"),
        (KEY.as_dict(private=True), "private key in it"),
        ({"keys": [KEY.as_dict(private=True)]}, "private key in it"),
        (json.dumps(KEY.as_dict(private=True)), "private key in it"),
    ],
)
async def test_what_is_no_public_key_is_told_when_it_is_given(jwks: Any, told: str) -> None:
    async with serving() as served:
        with pytest.raises(ValueError, match=told) as raised:
            await served.issuer.add_client("robot", jwks=jwks)
        assert str(KEY.as_dict(private=True)["d"]) not in str(raised.value)
        assert (await machine(served, client_id="robot")).json["error"] == "invalid_client"


async def test_a_client_is_replaced_unless_that_is_forbidden() -> None:
    async with serving() as served:
        with pytest.raises(ValueError, match="there is a client 'demo' already"):
            await served.issuer.add_client("demo", secret=SECRET, replace=False)
        await served.issuer.add_client("demo", secret=SECRET)
        assert (await machine(served, client_id="demo", client_secret=SECRET)).status == 200
