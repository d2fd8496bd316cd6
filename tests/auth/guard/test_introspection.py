"""Tests of `splice.auth.guard.introspection`: the issuer is asked what a token is worth."""

import asyncio
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import pytest

from splice.auth.guard import introspection, remembered
from splice.auth.guard.challenges import Unavailable
from splice.auth.guard.introspection import IntrospectionVerifier
from transports.raw_http import RawServer, Visit, raw_server

ACTIVE = {"active": True, "aud": "us", "sub": "ada", "client_id": "cli", "scope": "read write"}


class Issuer:
    def __init__(self, said: Any = None, status: int = 200) -> None:
        self.said, self.status = ACTIVE if said is None else said, status

    async def __call__(self, visit: Visit) -> None:
        await visit.json(self.said, self.status)


@asynccontextmanager
async def asked(answering: Issuer, **options: Any) -> AsyncIterator[tuple[IntrospectionVerifier, RawServer]]:
    async with raw_server(answering) as server:
        yield IntrospectionVerifier(server.url, "us:1", "s3cr et", **{"audience": "us", **options}), server


async def test_an_active_token_tells_who_calls() -> None:
    async with asked(Issuer(), issuer="https://login.example") as (verifier, server):
        found = await verifier.verify("the-token")
        assert found is not None
        assert (found.subject, found.client, found.issuer) == ("ada", "cli", "https://login.example")
        assert found.scopes == {"read", "write"}
        (visit,) = server.visits
        assert visit.headers["authorization"] == "Basic " + b64encode(b"us%3A1:s3cr+et").decode()
        assert parse_qs(visit.body.decode()) == {"token": ["the-token"], "token_type_hint": ["access_token"]}
        assert "s3cr" not in repr(verifier)


async def test_a_good_answer_is_used_for_a_while_and_a_bad_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [time.time()]
    monkeypatch.setattr(remembered, "time", lambda: now[0])
    issuer = Issuer()
    async with asked(issuer) as (verifier, server):
        assert await verifier.verify("token") is not None
        issuer.said = {"active": False}
        assert await verifier.verify("token") is not None
        assert len(server.visits) == 1
        now[0] += 31
        for count in (2, 3):
            assert await verifier.verify("token") is None
            assert len(server.visits) == count


async def test_many_who_ask_at_once_ask_once() -> None:
    async with asked(Issuer()) as (verifier, server):
        assert None not in await asyncio.gather(*(verifier.verify("token") for _ in range(20)))
        assert len(server.visits) == 1
        assert not verifier._asking


async def test_a_flood_of_tokens_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(introspection, "MAX_ASKING", 5)
    async with asked(Issuer()) as (verifier, server):
        many = asyncio.gather(*(verifier.verify(f"token-{number}") for number in range(20)), return_exceptions=True)
        said = await many
        assert sum(isinstance(each, Unavailable) for each in said) == 15
        assert len(server.visits) == 5
        assert await verifier.verify("token-19") is not None


REFUSED: dict[str, Any] = {
    "inactive": {"active": False, "sub": "ada"},
    "expired": {**ACTIVE, "exp": time.time() - 1},
    "until a text": {**ACTIVE, "exp": "2999"},
    "beyond all bounds": {**ACTIVE, "aud": "us", "exp": 10**400},
    "for another": {**ACTIVE, "aud": "https://other.example"},
    "for nobody": {"active": True, "sub": "ada"},
    "for an object": {**ACTIVE, "aud": {"us": 1}},
    "of another issuer": {**ACTIVE, "aud": "us", "iss": "https://evil.example"},
    "of nobody": {"active": True, "aud": "us", "sub": 7},
}


@pytest.mark.requirement(441, 478)
@pytest.mark.parametrize("name", REFUSED)
async def test_a_token_is_refused(name: str, caplog: pytest.LogCaptureFixture) -> None:
    async with asked(Issuer(REFUSED[name]), issuer="https://login.example") as (verifier, _):
        assert await verifier.verify("the-token") is None
    (record,) = caplog.records
    assert (record.levelname, record.getMessage().startswith("refused a token: ")) == ("WARNING", True)
    assert "the-token" not in caplog.text


@pytest.mark.parametrize("audience", ["us", ["them", "us"]])
async def test_a_token_for_one_of_the_audience_is_taken(audience: Any) -> None:
    async with asked(Issuer({**ACTIVE, "aud": ["all", "us"]}), audience=audience) as (verifier, _):
        assert await verifier.verify("token") is not None


async def test_the_issuer_is_the_one_that_the_answer_names_else_who_was_asked() -> None:
    issuer = Issuer()
    async with asked(issuer, keep=0) as (verifier, server):
        for said, expected in (({}, server.url), ({"iss": None}, server.url), ({"iss": "https://a"}, "https://a")):
            issuer.said = {**ACTIVE, **said}
            found = await verifier.verify("token")
            assert found is not None
            assert found.issuer == expected
        for wrong in (7, "", ["https://a"]):
            issuer.said = {**ACTIVE, "iss": wrong}
            assert await verifier.verify("token") is None
        assert verifier.issuers == ()


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({}, 200),
        ({"active": "true"}, 200),
        ({"active": 1}, 200),
        ([], 200),
        (ACTIVE, 500),
        (ACTIVE, 401),
        (ACTIVE, 302),
    ],
)
async def test_what_is_no_answer_lets_nobody_in(said: Any, status: int) -> None:
    async with asked(Issuer(said, status)) as (verifier, _):
        with pytest.raises(Unavailable, match=f"status {status}") as raised:
            await verifier.verify("the-token")
        assert "the-token" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"keep": 61}, "0 to 60"),
        ({"url": "http://login.example/introspect"}, "by https"),
        ({"audience": []}, "other servers"),
        ({"audience": ""}, "other servers"),
    ],
)
def test_settings_that_make_no_sense_are_explained(options: Any, told: str) -> None:
    given = {"url": "https://login.example/introspect", "client_id": "us", "client_secret": "x", **options}
    with pytest.raises(ValueError, match=told):
        IntrospectionVerifier(**{"audience": "us", **given})


def test_an_audience_is_needed() -> None:
    with pytest.raises(TypeError, match="audience"):
        IntrospectionVerifier("https://login.example/introspect", "us", "x")  # type: ignore[call-arg]  # callers err
    for wrong in (None, 5, ["us", 5]):
        with pytest.raises(TypeError, match="a name such as"):
            IntrospectionVerifier("https://login.example/introspect", "us", "x", audience=wrong)  # type: ignore[arg-type]  # likewise
