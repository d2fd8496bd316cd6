"""Tests of `splice.auth.guard.proofs`: tokens that are bound to a key."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from auth.guard.guarded import Guest, server
from splice.auth.guard import proofs
from splice.auth.guard.guard import Auth
from splice.auth.guard.proofs import Proofs
from splice.auth.login.dpop import DPoPKey
from splice.rules.principal import Principal
from support.tables import rows

URL, TOKEN = "http://localhost:8000/mcp", "bound-token"
KEY, OTHER = DPoPKey.make(), DPoPKey.make()
WHO = {"name": "who"}


def proof(key: DPoPKey = KEY, method: str = "POST", url: str = URL, age: float = 0, token: str = TOKEN) -> str:
    return key.proof(method, url, time.time() - age, access_token=token)


def guest(cnf: Any = None) -> Guest:
    bound = Principal(subject="ada", claims={"cnf": {"jkt": KEY.thumbprint} if cnf is None else cnf})
    return Guest(server(Auth(lambda _: bound)).http_app(path="/mcp"), None)


async def status(caller: Guest, proof: str | None, scheme: str = "DPoP") -> int:
    caller.defaults = {"authorization": f"{scheme} {TOKEN}", **({} if proof is None else {"dpop": proof})}
    return (await caller.ask("tools/call", WHO)).status


async def test_who_has_the_key_is_let_in_once_with_each_proof() -> None:
    caller, made = guest(), proof()
    assert await status(caller, made) == 200
    assert await status(caller, made) == 401
    assert await status(caller, proof(), "dpop") == 200
    for url in (URL + "?x=1", "http://LOCALHOST:8000/mcp"):
        assert await status(caller, proof(url=url)) == 200


BAD: dict[str, Callable[[], str | None]] = {
    "of another key": lambda: proof(OTHER),
    "for another method": lambda: proof(method="GET"),
    "for another path": lambda: proof(url=URL + "/other"),
    "for another host": lambda: proof(url="http://shop.example/mcp"),
    "for another scheme": lambda: proof(url=URL.replace("http:", "https:")),
    "of the past": lambda: proof(age=400),
    "of the future": lambda: proof(age=-400),
    "for another token": lambda: proof(token="other"),
    "missing": lambda: None,
    "empty": lambda: "",
    "garbage": lambda: "a.b.c",
    "too long": lambda: "a" * 9000,
    "without its signature": lambda: proof().rpartition(".")[0] + ".",
    "signed by another": lambda: ".".join([*proof().split(".")[:2], proof(OTHER).split(".")[2]]),
    "not for a token": lambda: KEY.proof("POST", URL, time.time()),
}


@rows("name", BAD)
async def test_what_proves_nothing_lets_nobody_in(name: str) -> None:
    assert await status(guest(), BAD[name]()) == 401


async def test_a_bound_token_is_not_a_bearers_nor_the_other_way() -> None:
    assert await status(guest(), proof(), "Bearer") == 401
    assert await status(guest({"x5t#S256": "x"}), proof()) == 401
    assert await status(guest({"jkt": 7}), proof()) == 401
    assert await status(guest({}), proof()) == 401
    assert await status(guest({}), None, "Bearer") == 200


def test_only_so_many_proofs_are_remembered_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Proofs(limit=2)
    for _ in range(4):
        assert made.prove([proof().encode()], TOKEN, KEY.thumbprint, "POST", [URL])
    assert len(made._seen) == 2
    late = time.time() + 700
    last = proof(age=-700).encode()
    monkeypatch.setattr(proofs, "time", lambda: late)
    assert made.prove([last], TOKEN, KEY.thumbprint, "POST", [URL])
    assert len(made._seen) == 1
