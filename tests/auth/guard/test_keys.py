"""Tests of `splice.auth.guard.keys`: tokens and keys that are written down."""

import hashlib
from typing import Any

import pytest

from splice.auth.guard.keys import APIKeys, StaticTokens
from splice.rules.principal import Principal
from support.tables import rows

TOKEN = "a-token-of-some-length"


async def test_a_token_stands_for_who_it_was_given_to() -> None:
    boss = Principal(subject="boss", scopes=frozenset({"all"}))
    made = StaticTokens({TOKEN: "ada", "another-token": boss})
    assert await made.verify(TOKEN) == Principal(subject="ada")
    assert await made.verify("another-token") is boss
    for wrong in ("", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\u20ac"):
        assert await made.verify(wrong) is None


async def test_a_hash_does_in_its_place() -> None:
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    for written in (f"sha256:{digest}", f"sha256:{digest.upper()}"):
        made = StaticTokens({written: "ada"})
        assert await made.verify(TOKEN) is not None
        assert await made.verify(written) is None
        assert await made.verify(digest) is None


def test_nothing_is_kept_that_could_be_sent() -> None:
    made = StaticTokens({TOKEN: "ada"})
    digest = hashlib.sha256(TOKEN.encode()).digest()
    assert TOKEN not in repr(vars(made))
    assert digest not in made._principals
    assert StaticTokens({TOKEN: "ada"})._principals.keys().isdisjoint(made._principals)


@pytest.mark.parametrize("token", ["", "short", "with a blank", "with\nbreak-------", "sha256:abc", "ü" * 20])
def test_tokens_that_could_be_guessed_or_not_be_sent_are_refused(token: str) -> None:
    for make in (StaticTokens, APIKeys):
        with pytest.raises(ValueError, match=r"characters that a header can carry|64 hexadecimal") as raised:
            make({token: "ada"})
        assert not token or repr(token) not in str(raised.value)


@pytest.mark.parametrize("header", ["Authorization", "Cookie", "X Key", "", "X-Key\n"])
def test_a_key_has_a_header_of_its_own(header: str) -> None:
    with pytest.raises(ValueError, match=r"header"):
        APIKeys({TOKEN: "shop"}, header=header)


@pytest.mark.parametrize("make", [StaticTokens, APIKeys])
def test_somebody_is_to_be_let_in(make: Any) -> None:
    with pytest.raises(ValueError, match="nobody could call"):
        make({})


@rows("make", [StaticTokens, APIKeys])
@rows("wrong", ["abc", [TOKEN], {TOKEN}, {TOKEN: 5}, {TOKEN.encode(): "ada"}, None])
def test_what_is_no_mapping_is_explained(make: Any, wrong: Any) -> None:
    with pytest.raises(TypeError, match="takes a dict from text") as raised:
        make(wrong)
    assert TOKEN not in str(raised.value)


async def test_the_log_says_that_a_token_is_not_known(caplog: pytest.LogCaptureFixture) -> None:
    assert await StaticTokens({TOKEN: "ada"}).verify("another-token") is None
    assert "refused a token: it is none of those that StaticTokens was given" in caplog.text
    assert "another-token" not in caplog.text
