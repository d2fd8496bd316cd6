"""Tests of `splice.auth.guard.jwts`: which tokens are good."""

import hmac
import json
import time
import warnings
from base64 import urlsafe_b64encode
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from joserfc import jwt
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, OKPKey, RSAKey

from splice.auth.guard import jwts, remembered
from splice.auth.guard.jwts import JWTVerifier
from splice.auth.guard.published import GivenKeys
from splice.rules.principal import Principal
from support.tables import rows

ISSUER, AUDIENCE = "https://login.example", "https://shop.example/mcp"
KEY = ECKey.generate_key("P-256", {"kid": "one", "use": "sig"})
OTHER = ECKey.generate_key("P-256", {"kid": "one"})
WEAK = {"kty": "RSA", "kid": "weak", "n": urlsafe_b64encode(b"\xff" * 128).rstrip(b"=").decode(), "e": "AQAB"}
ED = OKPKey.generate_key("Ed25519", {"kid": "ed"})


@cache
def rsa() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "rsa"})


def public(*keys: Any) -> dict[str, Any]:
    return {"keys": [key.as_dict(private=False) for key in keys]}


def claims(**more: Any) -> dict[str, Any]:
    now = int(time.time())
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": now + 300, "iat": now, **more}
    timed = {name: now + each.total_seconds() if isinstance(each, timedelta) else each for name, each in said.items()}
    return {name: value for name, value in timed.items() if value is not None}


def token(key: Any = KEY, algorithm: str = "ES256", header: Any = None, **more: Any) -> str:
    head = {"alg": algorithm, "kid": key.get("kid"), "typ": "at+jwt", **(header or {})}
    said = {name: value for name, value in head.items() if value is not None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # EdDSA has a new name
        return jwt.encode(said, claims(**more), key, algorithms=[algorithm], default_type=None)


def verifier(*keys: Any, **options: Any) -> JWTVerifier:
    return JWTVerifier(ISSUER, AUDIENCE, keys=public(*(keys or (KEY,))), **options)


async def test_a_good_token_tells_who_calls_for_whom_and_what_is_allowed() -> None:
    text = token(client_id="cli", scope="read write", jti="x")
    found = await verifier().verify(text)
    assert found is not None
    assert (found.subject, found.issuer, found.client) == ("ada", ISSUER, "cli")
    assert found.scopes == {"read", "write"}
    assert found.claims["jti"] == "x"
    assert found.expires == found.claims["exp"] + 60


@pytest.mark.parametrize(
    ("made", "algorithm"),
    [(rsa, "RS256"), (rsa, "PS512"), (lambda: KEY, "ES256"), (lambda: ED, "Ed25519"), (lambda: ED, "EdDSA")],
    ids=["RS256", "PS512", "ES256", "Ed25519", "EdDSA"],
)
async def test_keys_of_every_kind(made: Callable[[], Any], algorithm: str) -> None:
    key = made()
    assert await verifier(KEY, rsa(), ED).verify(token(key, algorithm)) is not None
    pem = key.as_pem(private=False)
    for given in (key.as_dict(private=False), pem, pem.decode(), json.dumps(public(key)), [pem]):
        assert await JWTVerifier(ISSUER, AUDIENCE, keys=given).verify(token(key, algorithm)) is not None


async def test_a_private_key_that_was_given_is_used_as_the_public_one_it_has() -> None:
    made = JWTVerifier(ISSUER, AUDIENCE, keys=[KEY.as_dict(private=True)])
    assert await made.verify(token()) is not None
    assert not any(key.is_private for key in await made._keys.find("one", "ES256"))


GOOD = [
    {"aud": [AUDIENCE, "https://other.example"]},
    {"exp": timedelta(seconds=-30)},
    {"nbf": timedelta(seconds=30)},
    {"iat": timedelta(seconds=30)},
    {"exp": timedelta(seconds=99.5)},
]


@pytest.mark.parametrize("more", GOOD, ids=lambda more: next(iter(more)))
async def test_clocks_may_differ_a_little(more: Any) -> None:
    assert await verifier().verify(token(**more)) is not None


BAD: dict[str, dict[str, Any]] = {
    "of another issuer": {"iss": "https://login.example/"},
    "of nobody": {"iss": None},
    "of several": {"iss": [ISSUER]},
    "for nobody": {"aud": None},
    "for another": {"aud": "https://other.example"},
    "for one that begins alike": {"aud": AUDIENCE + "/x"},
    "for a parent": {"aud": "https://shop.example"},
    "with a slash more": {"aud": AUDIENCE + "/"},
    "in another case": {"aud": AUDIENCE.upper()},
    "for a list of others": {"aud": ["https://other.example", ["x"], 1]},
    "for an object": {"aud": {AUDIENCE: 1}},
    "expired": {"exp": timedelta(seconds=-61)},
    "for ever": {"exp": None},
    "until a text": {"exp": "2999"},
    "until true": {"exp": True},
    "beyond all bounds": {"exp": 10**400},
    "not yet": {"nbf": timedelta(seconds=90)},
    "of tomorrow": {"iat": timedelta(seconds=86400)},
    "of a text": {"iat": "now"},
    "without a subject": {"sub": None},
    "with a number as subject": {"sub": 7},
    "with an empty subject": {"sub": ""},
}


@pytest.mark.requirement(441, 478, 480, 496, 498)
@pytest.mark.parametrize("name", BAD)
async def test_a_token_is_refused(name: str, caplog: pytest.LogCaptureFixture) -> None:
    text = token(**BAD[name])
    assert await verifier().verify(text) is None
    assert "refused a token: " in caplog.text
    assert text not in caplog.text


def forged(header: Any, payload: Any = None, signature: str = "") -> str:
    parts = (json.dumps(each).encode() for each in (header, claims() if payload is None else payload))
    return ".".join([*(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts), signature])


async def test_nobody_can_make_one() -> None:
    good = token()
    head, body, signature = good.split(".")
    begun = forged({"alg": "HS256", "kid": "one"}).rstrip(".")
    mac = hmac.digest(KEY.as_pem(private=False), begun.encode(), "sha256")
    by_public_key = f"{begun}.{urlsafe_b64encode(mac).rstrip(b'=').decode()}"
    jwk = {"alg": "ES256", "kid": "one", "jwk": OTHER.as_dict(private=False), "jku": "https://evil.example/jwks"}
    for name, text in {
        "none": forged({"alg": "none"}),
        "None": forged({"alg": "None", "kid": "one"}),
        "no algorithm": forged({"kid": "one"}),
        "a number as its kind": forged({"alg": "ES256", "kid": "one", "typ": 7}),
        "a list": forged({"alg": ["ES256"]}),
        "the public key as a secret": by_public_key,
        "another key of that name": token(OTHER),
        "a key that it brings along": jwt.encode(jwk, claims(), OTHER, algorithms=["ES256"]),
        "another signature": f"{head}.{body}.{'A' * len(signature)}",
        "no signature": f"{head}.{body}.",
        "another body": f"{head}.{urlsafe_b64encode(json.dumps(claims(sub='root')).encode()).decode()}.{signature}",
        "two parts": f"{head}.{body}",
        "four parts": f"{good}.x",
        "five parts": f"{good}.x.y",
        "garbage": "a.b.c",
        "not JSON": forged("x"),
        "a header that is huge": "A" * 10_000 + ".a.a",
        "deep": forged(json.loads("[" * 500 + "]" * 500)),
        "a critical header": forged({"alg": "ES256", "kid": "one", "crit": ["x"], "x": 1}),
        "an unknown key": token(ECKey.generate_key("P-256", {"kid": "two"})),
    }.items():
        assert await verifier().verify(text) is None, name


@pytest.mark.parametrize("kind", ["logout+jwt", "dpop+jwt", "oauth-authz-req+jwt", ""])
async def test_a_token_of_another_kind_gives_no_access(kind: Any) -> None:
    assert await verifier().verify(token(header={"typ": kind})) is None


@pytest.mark.parametrize("kind", ["JWT", "AT+JWT", "application/at+jwt", None])
async def test_a_token_may_leave_open_what_it_is(kind: Any) -> None:
    assert await verifier().verify(token(header={"typ": kind})) is not None


async def test_only_the_algorithms_that_are_wanted() -> None:
    assert await verifier(rsa(), algorithms=["PS256"]).verify(token(rsa(), "RS256")) is None
    assert await verifier(rsa(), algorithms=["PS256"]).verify(token(rsa(), "PS256")) is not None
    told = RSAKey.import_key({**rsa().as_dict(private=True), "alg": "PS256"})
    assert await verifier(told).verify(token(rsa(), "RS256")) is None


@pytest.mark.parametrize(
    ("said", "scopes"),
    [
        ({"scope": "a b"}, {"a", "b"}),
        ({"scope": ["a", 1, "b"]}, {"a", "b"}),
        ({"scp": ["a"]}, {"a"}),
        ({"scp": "a b"}, {"a", "b"}),
        ({"scope": "a", "permissions": ["b:c"]}, {"a", "b:c"}),
        ({"scope": None}, set()),
        ({"scope": 7}, set()),
    ],
)
async def test_scopes_are_read_wherever_issuers_put_them(said: Any, scopes: set[str]) -> None:
    found = await verifier().verify(token(**said))
    assert found is not None
    assert found.scopes == scopes


async def test_a_program_that_acts_for_itself_is_its_own_subject() -> None:
    found = await verifier().verify(token(sub=None, client_id="robot"))
    assert found is not None
    assert (found.subject, found.client) == ("robot", "robot")


async def test_a_verified_token_is_remembered_until_it_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    made, text = verifier(leeway=0), token()
    first = await made.verify(text)
    monkeypatch.setattr(made, "_claims", None)  # a second check would fail
    assert await made.verify(text) is first
    assert text not in repr(vars(made._remembered))
    for module in (remembered, jwts):
        monkeypatch.setattr(module, "time", lambda: time.time() + 301)
    with pytest.raises(TypeError):
        await made.verify(text)


async def test_a_token_is_not_remembered_longer_than_the_keys_of_its_issuer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [time.time()]
    monkeypatch.setattr(remembered, "time", lambda: now[0])
    made, text = verifier(), token(exp=time.time() + 1e6)
    assert await made.verify(text)
    made._keys = GivenKeys([OTHER.as_dict(private=False)])
    assert await made.verify(text)
    now[0] += 3601
    assert await made.verify(text) is None


def test_only_so_many_tokens_are_remembered() -> None:
    kept = remembered.Remembered(limit=2)
    for name in ("a", "b", "c"):
        kept.add(name, Principal(subject=name))
    assert [kept.get(name) is not None for name in ("a", "b", "c")] == [False, True, True]


@rows(
    ("arguments", "told"),
    [
        ({"audience": ""}, "an audience"),
        ({"audience": []}, "an audience"),
        ({"issuer": ""}, "an issuer"),
        ({"keys": {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA"}}, "are not taken"),
        ({"keys": "a secret that both sides know"}, "are not taken"),
        ({"keys": [WEAK]}, "2048 bits"),
        ({"keys": []}, "a public key"),
        ({"algorithms": ["HS256"]}, "a list of"),
        ({"algorithms": ["none"]}, "a list of"),
        ({"keys": None, "jwks_url": "http://login.example/jwks"}, "by https"),
        ({"keys": None, "issuer": "login.example"}, "by https"),
        ({"leeway": -1}, "0 to 600"),
    ],
)
def test_settings_that_make_no_sense_are_explained(arguments: Any, told: str) -> None:
    given = {"issuer": ISSUER, "audience": AUDIENCE, "keys": public(KEY), **arguments}
    with pytest.raises(ValueError, match=told) as raised:
        JWTVerifier(**given)
    assert "secret that both" not in str(raised.value).replace("secrets that both", "")
    with pytest.raises(TypeError, match="a name such as"):
        JWTVerifier(ISSUER, 5)  # type: ignore[arg-type]  # callers err
    with pytest.raises(TypeError, match="no option secret"):
        JWTVerifier(ISSUER, AUDIENCE, secret="x")  # type: ignore[call-arg]  # callers err
