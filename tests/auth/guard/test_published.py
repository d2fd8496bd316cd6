"""Tests of `splice.auth.guard.published`: keys that an issuer publishes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from joserfc.jwk import ECKey

from auth.guard.test_jwts import claims
from splice.auth.guard import published
from splice.auth.guard.challenges import Unavailable
from splice.auth.guard.jwts import JWTVerifier
from splice.auth.issuer.local import LocalAuthorizationServer
from transports.raw_http import Visit, raw_server

FIRST = ECKey.generate_key("P-256", {"kid": "first"})
SECOND = ECKey.generate_key("P-256", {"kid": "second"})


class Issuer:
    """Publishes keys and metadata, and counts how often they are read."""

    def __init__(self) -> None:
        self.keys: Any = [FIRST.as_dict(private=False)]
        self.metadata: dict[str, Any] = {}
        self.status = 200
        self.read = 0
        self.hangs: asyncio.Event | None = None
        self.url = ""

    async def __call__(self, visit: Visit) -> None:
        if visit.path == "/jwks":
            self.read += 1
            if self.hangs is not None:
                await self.hangs.wait()
            await visit.json({"keys": self.keys}, self.status)
        elif visit.path in self.metadata:
            await visit.json(self.metadata[visit.path])
        else:
            await visit.reply(404)

    def token(self, key: Any) -> str:
        from joserfc import jwt

        head = {"alg": "ES256", "kid": key.kid, "typ": "at+jwt"}
        return jwt.encode(head, claims(iss=self.url, aud="us"), key, algorithms=["ES256"])

    def verifier(self, **options: Any) -> JWTVerifier:
        return JWTVerifier(self.url, "us", **options)


@asynccontextmanager
async def issuing() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    async with raw_server(issuer) as server:
        issuer.url = server.url.removesuffix("/mcp")
        yield issuer


@pytest.mark.parametrize(
    "path", ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"], ids=["OAuth", "OpenID"]
)
async def test_an_issuer_says_where_its_keys_are(path: str) -> None:
    async with issuing() as issuer:
        issuer.metadata[path] = {"issuer": issuer.url, "jwks_uri": issuer.url + "/jwks"}
        made = issuer.verifier()
        assert await made.verify(issuer.token(FIRST)) is not None
        assert await made.verify(issuer.token(FIRST)) is not None
        assert issuer.read == 1


async def test_metadata_of_another_issuer_do_not_count() -> None:
    async with issuing() as issuer:
        for other in (issuer.url + "/", "https://evil.example", None):
            issuer.metadata["/.well-known/openid-configuration"] = {"issuer": other, "jwks_uri": issuer.url + "/jwks"}
            with pytest.raises(Unavailable):
                await issuer.verifier().verify(issuer.token(FIRST))
        assert issuer.read == 0


async def test_many_tokens_at_once_read_the_keys_once() -> None:
    async with issuing() as issuer:
        made, texts = issuer.verifier(jwks_url=issuer.url + "/jwks"), [issuer.token(FIRST) for _ in range(20)]
        assert None not in await asyncio.gather(*map(made.verify, texts))
        assert issuer.read == 1


async def test_new_keys_are_found_but_not_looked_for_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(published, "monotonic", lambda: now[0])
    async with issuing() as issuer:
        made = issuer.verifier(jwks_url=issuer.url + "/jwks")
        assert await made.verify(issuer.token(FIRST)) is not None
        issuer.keys = [SECOND.as_dict(private=False)]
        for _ in range(3):
            assert await made.verify(issuer.token(SECOND)) is None
        assert issuer.read == 1
        now[0] += published.AGAIN_SECONDS + 1
        assert await made.verify(issuer.token(SECOND)) is not None
        for _ in range(3):
            stranger = ECKey.generate_key("P-256", {"kid": "stranger"})
            assert await made.verify(issuer.token(stranger)) is None
        assert issuer.read == 2


async def test_keys_that_are_withdrawn_are_used_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(published, "monotonic", lambda: now[0])
    async with issuing() as issuer:
        made = issuer.verifier(jwks_url=issuer.url + "/jwks")
        assert await made.verify(issuer.token(FIRST)) is not None
        issuer.keys = [SECOND.as_dict(private=False)]
        now[0] += published.KEEP_SECONDS + 1
        assert await made._keys.find("first", "ES256") == []


async def test_an_issuer_that_hangs_keeps_nobody_waiting_whose_key_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(published, "monotonic", lambda: now[0])
    monkeypatch.setattr(published, "PATIENT_SECONDS", 0.01)
    async with issuing() as issuer:
        verifier = issuer.verifier(jwks_url=f"{issuer.url}/jwks")
        assert await verifier.verify(issuer.token(FIRST))
        issuer.hangs, now[0] = asyncio.Event(), now[0] + published.KEEP_SECONDS + 1
        try:
            async with asyncio.timeout(5):
                assert await verifier.verify(issuer.token(FIRST))
        finally:
            issuer.hangs.set()


async def test_an_issuer_that_is_down_is_not_asked_for_every_token(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(published, "monotonic", lambda: now[0])
    async with issuing() as issuer:
        made = issuer.verifier(jwks_url=issuer.url + "/jwks")
        issuer.status = 500
        for _ in range(3):
            with pytest.raises(Unavailable, match="cannot be read"):
                await made.verify(issuer.token(FIRST))
        assert issuer.read == 1
        issuer.status, now[0] = 200, now[0] + published.FAILED_SECONDS + 1
        assert await made.verify(issuer.token(FIRST)) is not None
        issuer.status, now[0] = 500, now[0] + published.KEEP_SECONDS + 1
        assert (await made._keys.find("first", "ES256"))[0].kid == "first"  # better than nobody at all


HOSTILE: dict[str, Any] = {
    "no list": "x",
    "no objects": [1, None, "x", []],
    "secrets": [{"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQ", "kid": "first"}],
    "broken": [{"kty": "EC", "crv": "P-256", "x": "!", "y": 1, "kid": "first"}, {"kty": ["EC"]}, {"kty": "RSA"}],
    "for encryption": [{**FIRST.as_dict(private=False), "use": "enc"}],
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_is_no_public_key_is_left_out(name: str) -> None:
    async with issuing() as issuer:
        issuer.keys = HOSTILE[name]
        with pytest.raises(Unavailable):
            await issuer.verifier(jwks_url=issuer.url + "/jwks").verify(issuer.token(FIRST))
        issuer.keys = [*(issuer.keys if isinstance(issuer.keys, list) else []), FIRST.as_dict(private=False)]
        assert await issuer.verifier(jwks_url=issuer.url + "/jwks").verify(issuer.token(FIRST)) is not None


# Keys that a function returns.


class Source:
    """Returns keys, and counts how often."""

    def __init__(self, keys: Any) -> None:
        self.keys, self.asked = keys, 0

    def plain(self) -> Any:
        self.asked += 1
        if isinstance(self.keys, Exception):
            raise self.keys
        return self.keys

    async def slow(self) -> Any:
        await asyncio.sleep(0)
        return self.plain()

    async def later(self) -> Any:
        return self.plain()

    def verifier(self, way: str) -> tuple[Issuer, JWTVerifier]:
        issuer = Issuer()
        issuer.url = "http://127.0.0.1:9"
        ways: dict[str, Any] = {"def": self.plain, "async def": self.slow, "of a partial": partial(self.later)}
        return issuer, issuer.verifier(keys=ways[way])


def jwks(*keys: Any) -> Any:
    return {"keys": [key.as_dict(private=False) for key in keys]}


@pytest.mark.parametrize("way", ["def", "async def", "of a partial"])
async def test_a_function_is_asked_for_keys_when_they_are_needed(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(published, "monotonic", lambda: now[0])
    source = Source(jwks(FIRST))
    issuer, made = source.verifier(way)
    assert source.asked == 0
    found = await asyncio.gather(*(made.verify(issuer.token(FIRST)) for _ in range(9)))
    assert (None in found, source.asked) == (False, 1)
    source.keys = jwks(FIRST, SECOND)
    for _ in range(3):
        assert await made.verify(issuer.token(SECOND)) is None
    assert source.asked == 1
    now[0] += published.AGAIN_SECONDS + 1
    assert await made.verify(issuer.token(SECOND)) is not None
    assert source.asked == 2


@pytest.mark.parametrize(
    "wrong", [ValueError("no"), None, 5, [], {"keys": []}, "no key", [5], {"kty": "oct", "k": "c2VjcmV0"}], ids=repr
)
async def test_a_function_that_returns_no_keys_lets_nobody_in(wrong: Any, caplog: pytest.LogCaptureFixture) -> None:
    source = Source(wrong)
    issuer, made = source.verifier("async def")
    for _ in range(3):
        with pytest.raises(Unavailable, match="cannot be read"):
            await made.verify(issuer.token(FIRST))
    assert source.asked == 1
    assert "keys=" in caplog.text
    assert "c2VjcmV0" not in caplog.text


async def test_an_authorization_server_in_the_same_process_is_not_asked_over_http() -> None:
    issuer = LocalAuthorizationServer("http://127.0.0.1:9", users={"anna": "correct horse"})
    try:
        made = JWTVerifier("http://127.0.0.1:9", "us", keys=issuer.jwks)
        assert await made._keys.find(None, "ES256")
    finally:
        await issuer.close()
