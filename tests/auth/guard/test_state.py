"""The state of a call that waits for an answer is of use to whoever was asked, by whatever token; to nobody else."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from auth.guard.guarded import Guest, auth
from splice import Context, Server
from splice.auth.guard.keys import StaticTokens
from splice.rules.principal import Principal
from support.caller import accept
from support.wire import meta

KEY = bytes(range(32))
HERS = Principal(issuer="https://a.example", subject="ada", client="cli")
TOKENS = {
    "token-of-ada": HERS,
    "newer-token-of-ada": Principal(issuer="https://a.example", subject="ada", client="cli", scopes=frozenset({"all"})),
    "another-subject": Principal(issuer="https://a.example", subject="eve", client="cli"),
    "another-issuer": Principal(issuer="https://b.example", subject="ada", client="cli"),
    "another-client": Principal(issuer="https://a.example", subject="ada", client="app"),
    "no-issuer": Principal(subject="ada", client="cli"),
    "no-client": Principal(issuer="https://a.example", subject="ada"),
    "names-that-run-together": Principal(issuer="https://a.example", subject='ada","cli', client=""),
    "the-text-of-ada": Principal(subject=str(HERS)),
}
OTHERS = list(TOKENS)[2:]


class Shop:
    """A server that asks before it pays, and what was paid."""

    def __init__(self, given: Any) -> None:
        self.paid: list[str] = []
        self.server = Server("shop", auth=given, state_keys=[KEY])
        self.server.add_tool(self.pay)
        self.app = self.server.http_app(path="/mcp")

    async def pay(self, ctx: Context) -> str:
        """Pay, if the user says so."""
        answer = await ctx.elicit("Pay?", {"type": "object", "properties": {"x": {"type": "string"}}})
        self.paid.append(f"{ctx.principal} {answer.action}")
        return "paid"


@pytest.fixture
def shop() -> Shop:
    return Shop(auth(StaticTokens(TOKENS)))


async def asked(shop: Shop, token: str | None) -> dict[str, Any]:
    """Begin to pay. Returns what is to be sent back, with an answer."""
    result = json.loads((await send(shop, token, {})).body)["result"]
    answers = {key: accept(x="yes") for key in result["inputRequests"]}
    return {"inputResponses": answers, "requestState": result["requestState"]}


async def send(shop: Shop, token: str | None, more: dict[str, Any]) -> Any:
    guest = Guest(shop.app, token)
    body, headers = guest.message("tools/call", {"name": "pay", "arguments": {}, **more})
    body["params"]["_meta"] = meta(capabilities={"elicitation": {"form": {}}})
    return await guest.post(body, headers)


async def refused(shop: Shop, token: str | None, more: dict[str, Any]) -> None:
    answer = await send(shop, token, more)
    assert answer.json["error"]["code"] == -32602
    assert "requestState" in answer.json["error"]["message"]
    assert shop.paid == []


@pytest.mark.requirement(221, 390, 500)
@pytest.mark.parametrize("token", OTHERS)
async def test_nobody_else_goes_on_with_a_call(token: str, shop: Shop) -> None:
    await refused(shop, token, await asked(shop, "token-of-ada"))


@pytest.mark.requirement(221)
async def test_a_newer_token_goes_on_with_a_call(shop: Shop) -> None:
    more = await asked(shop, "token-of-ada")
    assert (await send(shop, "newer-token-of-ada", more)).json["result"]["content"][0]["text"] == "paid"
    assert shop.paid == [f"{HERS} accept"]


def tampered(hers: str, theirs: str) -> Iterator[str]:
    """Change a state in every way that another one helps with."""
    for at in range(len(hers)):
        yield hers[:at] + theirs[at:]  # the head of one, the tail of the other
        yield theirs[:at] + hers[at:]
        yield hers[:at] + ("A" if hers[at] != "A" else "B") + hers[at + 1 :]
    yield from (hers + theirs, theirs + hers, hers[:-1], hers + "=", hers.swapcase(), "")


@pytest.mark.requirement(218, 219, 220, 221)
async def test_no_mixture_of_two_states_is_one(shop: Shop) -> None:
    hers, theirs = await asked(shop, "token-of-ada"), await asked(shop, "another-subject")
    for state in {*tampered(hers["requestState"], theirs["requestState"])} - {theirs["requestState"]}:
        await refused(shop, "another-subject", {**theirs, "requestState": state})
    assert (await send(shop, "another-subject", theirs)).status == 200


async def test_what_somebody_without_a_name_began_is_not_for_users_nor_the_other_way_round(shop: Shop) -> None:
    """The same server, with the same keys, also where nobody is asked for a token."""
    free = Shop(None)
    await refused(shop, "token-of-ada", await asked(free, None))
    await refused(free, None, await asked(shop, "token-of-ada"))
