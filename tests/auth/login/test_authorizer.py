"""Tokens are got once, kept, sent, and got anew: real clients against a real server over loopback."""

import asyncio
import gc
import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest

from auth.login.scripted import Browser, Scripted, scripted
from splice import Client, HTTPServer
from splice.auth.errors import AuthorizationFailed
from splice.auth.login import authorizer as authorizers
from splice.auth.login.challenges import Challenge
from splice.auth.login.code import OAuth
from splice.auth.login.discovery import Needed
from splice.auth.login.dpop import DPoPKey
from splice.auth.login.keeping import FileTokens, MemoryTokens
from splice.auth.login.kept import Grant, Kept
from splice.auth.login.steps import Flow, Wait
from splice.errors import ConnectionClosed, HTTPRefused


def policy(browser: Any, **options: Any) -> OAuth:
    return OAuth(browse=browser, **options)


@pytest.mark.requirement(455, 477)
async def test_a_client_logs_in_by_itself() -> None:
    browser = Browser()
    async with scripted() as both, Client(both.url, auth=policy(browser)) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == 3
    assert len(browser.opened) == 1
    assert both.seen["/token"] == 1
    assert both.seen["mcp nothing"] == 1
    assert b"close this window" in browser.pages[0]


async def test_a_policy_shares_its_login_between_clients() -> None:
    browser = Browser()
    both_in = policy(browser)
    async with scripted() as both:
        for _ in range(2):
            async with Client(both.url, auth=both_in) as client:
                await client.ping()
    assert len(browser.opened) == 1


async def test_fifty_refused_requests_cause_one_refresh() -> None:
    browser = Browser()
    async with scripted() as both, Client(both.url, auth=policy(browser)) as client:
        await client.call_tool("add", {"a": 1, "b": 2})
        both.tokens.clear()
        both.seen.clear()
        calls = (client.call_tool("add", {"a": number, "b": 1}) for number in range(50))
        done = await asyncio.gather(*calls)
        assert [each.structured_content for each in done] == [number + 1 for number in range(50)]
        assert both.seen["/token"] == 1
        assert both.forms[-1]["grant_type"] == "refresh_token"
    assert len(browser.opened) == 1


async def test_two_clients_that_share_files_refresh_once(tmp_path: Any) -> None:
    browser = Browser()
    async with scripted() as both:
        one = Client(both.url, auth=policy(browser, tokens=FileTokens(tmp_path / "tokens")))
        other = Client(both.url, auth=policy(browser, tokens=FileTokens(tmp_path / "tokens")))
        async with one, other:
            assert len(browser.opened) == 1
            both.tokens.clear()
            both.seen.clear()
            await asyncio.gather(*(each.call_tool("add", {"a": 1, "b": 1}) for each in [one, other] * 25))
            assert both.seen["/token"] == 1


async def test_who_is_cancelled_ends_no_refresh_and_loses_nothing() -> None:
    store = MemoryTokens()
    async with scripted() as both, Client(both.url, auth=policy(Browser(), tokens=store)) as client:
        await client.call_tool("add", {"a": 1, "b": 2})
        both.tokens.clear()
        both.token_gate = asyncio.Event()
        both.token_asked.clear()
        call = asyncio.create_task(client.call_tool("add", {"a": 1, "b": 2}))
        other = asyncio.create_task(client.call_tool("add", {"a": 2, "b": 2}))
        await asyncio.wait_for(both.token_asked.wait(), 5)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        both.token_gate.set()
        assert (await other).structured_content == 4
        kept = await store.load(both.url)
        assert kept is not None
        assert kept.grant is not None
        assert kept.grant.access_token in both.tokens


async def test_closing_waits_for_the_answer_to_a_refresh() -> None:
    store = MemoryTokens()
    async with scripted() as both:
        client = await Client(both.url, auth=policy(Browser(), tokens=store)).open()
        both.tokens.clear()
        both.token_gate = asyncio.Event()
        both.token_asked.clear()
        call = asyncio.create_task(client.call_tool("add", {"a": 1, "b": 2}))
        await asyncio.wait_for(both.token_asked.wait(), 5)
        closing = asyncio.create_task(client.close())
        with pytest.raises(Exception, match="closed"):
            await call
        both.token_gate.set()
        await closing
        kept = await store.load(both.url)
        assert kept is not None
        assert kept.grant is not None
        assert kept.grant.access_token in both.tokens


async def test_a_token_is_refreshed_before_it_ends() -> None:
    async with scripted() as both:
        both.expires_in = 0
        async with Client(both.url, auth=policy(Browser())) as client:
            both.expires_in = 3600
            both.seen.clear()
            await client.call_tool("add", {"a": 1, "b": 2})
            assert both.seen["401"] == 0
            assert both.seen["/token"] == 1


async def test_a_refresh_ahead_that_fails_does_no_harm() -> None:
    browser = Browser()
    async with scripted() as both:
        both.expires_in = 0
        async with Client(both.url, auth=policy(browser)) as client:
            both.refresh_tokens.clear()
            await client.call_tool("add", {"a": 1, "b": 2})
            await client.call_tool("add", {"a": 1, "b": 2})
    assert len(browser.opened) == 1


@pytest.mark.requirement(485)
async def test_more_scopes_are_asked_for_when_they_are_needed() -> None:
    browser = Browser()
    async with scripted() as both:
        both.scope, both.needs["secret"] = "basic", "more"
        async with Client(both.url, auth=policy(browser)) as client:
            await client.call_tool("add", {"a": 1, "b": 2})
            assert (await client.call_tool("secret")).is_error is not True
    assert len(browser.opened) == 2
    assert both.seen["403"] == 1
    assert set(both.tokens[max(both.tokens)]) == {"basic", "more"}


async def test_a_server_that_takes_no_token_asks_the_user_once() -> None:
    browser = Browser()
    async with scripted() as both:
        both.refuses_all, both.refreshes = True, False
        with pytest.raises(AuthorizationFailed, match="refuses the token that it was just given"):
            await Client(both.url, auth=policy(browser)).open()
    assert len(browser.opened) == 1


async def test_a_server_that_takes_no_refreshed_token_either() -> None:
    browser = Browser()
    async with scripted() as both:
        both.refuses_all = True
        with pytest.raises(HTTPRefused, match="HTTP 401"):
            await Client(both.url, auth=policy(browser)).open()
        assert both.seen["/token"] <= 5
    assert len(browser.opened) == 1


async def test_a_user_who_declines() -> None:
    browser = Browser()
    async with scripted() as both:
        both.denies = True
        with pytest.raises(AuthorizationFailed, match="declined") as caught:
            await Client(both.url, auth=policy(browser)).open()
        assert caught.value.code == "access_denied"
        both.denies = False
        async with Client(both.url, auth=policy(browser)) as client:
            await client.ping()
    assert b"<b>" not in browser.pages[0]


async def test_time_stands_still_while_the_user_logs_in() -> None:
    clock_ran = asyncio.Event()

    async def slow(url: str) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.3, clock_ran.set)
        await clock_ran.wait()
        await Browser()(url)

    async with scripted() as both, Client(both.url, auth=policy(slow), timeout=0.25) as client:
        await client.ping()


async def test_a_restart_keeps_the_login(tmp_path: Any) -> None:
    browser = Browser()
    async with scripted() as both:
        for _ in range(2):
            async with Client(both.url, auth=policy(browser, tokens=FileTokens(tmp_path / "tokens"))) as client:
                await client.ping()
    assert len(browser.opened) == 1


async def test_a_bearer_token() -> None:
    async with scripted() as both:
        both.tokens["sesame"] = set()
        async with Client(both.url, auth="sesame") as client:
            await client.ping()
        with pytest.raises(HTTPRefused, match="HTTP 401"):
            await Client(both.url, auth="wrong").open()
    assert both.seen["mcp Bearer sesame"]
    assert not both.seen["/token"]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_function_is_asked_again_after_a_refusal(is_async: bool) -> None:
    given: list[str] = []

    def token() -> str:
        given.append(f"token-{len(given)}")
        return given[-1]

    async def token_later() -> str:
        return token()

    async with scripted() as both:
        both.tokens["token-0"] = set()
        async with Client(HTTPServer(both.url, auth=token_later if is_async else token)) as client:
            both.tokens = {"token-1": set()}
            await asyncio.gather(*(client.call_tool("add", {"a": 1, "b": 2}) for _ in range(10)))
    assert given == ["token-0", "token-1"]


def test_a_class_in_place_of_an_object_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"write OAuth\(\) and not OAuth"):
        HTTPServer("https://mcp.example.com/mcp", auth=OAuth)
    with pytest.raises(ValueError, match=r"a policy: OAuth\(\), not <class 'splice.auth.login.code.OAuth'>"):
        Client("https://mcp.example.com/mcp", auth=OAuth)
    with pytest.raises(TypeError, match=r"write OAuth\(\) and not OAuth"):
        authorizers.authorizer_of(OAuth, "https://mcp.example.com/mcp")


@pytest.mark.parametrize(
    ("auth", "kind", "told"),
    [
        (5, TypeError, "auth= takes a token, a function or a policy"),
        ("Bearer x", ValueError, "a token alone"),
        ("x\ny", ValueError, "line breaks"),
        (lambda: 5, AuthorizationFailed, "must return a token as text, not int"),
        (lambda: 1 / 0, AuthorizationFailed, "raised ZeroDivisionError"),
    ],
    ids=["a number", "with Bearer", "a line break", "a function of a number", "a function that raises"],
)
async def test_what_is_no_way_to_authorize(auth: Any, kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=told):
        await Client("http://127.0.0.1:9/mcp", auth=auth).open()


@pytest.mark.requirement(439, 444)
def test_only_a_url_can_be_logged_in_to() -> None:
    with pytest.raises(TypeError, match="auth= of Client is for a URL"):
        Client("python server.py", auth="token")


async def test_a_flow_that_nobody_waits_for_is_no_trouble(caplog: pytest.LogCaptureFixture) -> None:
    async with scripted() as both:
        both.denies = True
        for _ in range(2):
            with pytest.raises(AuthorizationFailed):
                await Client(both.url, auth=policy(Browser())).open()
    gc.collect()
    assert not [each for each in caplog.records if each.name == "asyncio"]


@pytest.mark.requirement(479)
async def test_no_token_goes_to_another_origin() -> None:
    tokens = MemoryTokens()
    async with scripted() as both:
        async with Client(both.url, auth=policy(Browser(), tokens=tokens)) as client:
            await client.ping()
        made = authorizers.authorizer_of(policy(Browser(), tokens=tokens), both.url)
        assert "Authorization" in await made.headers("POST", both.url)
        for other in ("http://127.0.0.1:1/mcp", both.url.replace("http", "https", 1), "http://localhost/mcp"):
            assert await made.headers("POST", other) == {}
            assert not await made.refused(other, 401, {"www-authenticate": "Bearer"}, {})


def _planted(both: Scripted) -> set[str]:
    return {*both.tokens, *both.refresh_tokens, *(form.get("code_verifier", "code-") for form in both.forms)}


async def test_nothing_secret_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    caplog.set_level(0)
    async with scripted() as both:
        tokens = MemoryTokens()
        async with Client(both.url, auth=policy(Browser(), tokens=tokens)) as client:
            await client.ping()
        kept = await tokens.load(both.url)
        said = f"{caplog.text}{capfd.readouterr()}{kept!r}{tokens!r}"
    assert not [each for each in _planted(both) if each in said]


class Machine:
    """A policy of a user's own, which binds tokens to a key."""

    interactive = False

    def __init__(self, tokens: MemoryTokens) -> None:
        self.tokens = tokens
        self.asked: list[Needed] = []
        self.key = DPoPKey.make("ES256")

    def obtain(self, request: Needed, kept: Kept) -> Flow[Kept]:
        self.asked.append(request)
        assert kept.registration is None
        yield Wait(0)
        token = f"bound-{len(self.asked)}"
        return Kept(grant=Grant(issuer="https://as.example", access_token=token, dpop_key=self.key.dump()))


async def test_bound_tokens_carry_a_proof_with_the_last_nonce() -> None:
    url = "https://mcp.example/mcp"
    machine = Machine(MemoryTokens())
    made = authorizers.authorizer_of(machine, url)
    challenge = {"www-authenticate": 'DPoP error="invalid_token"'}
    assert await made.headers("POST", url) == {}
    assert await made.refused(url, 401, challenge, {})
    assert [each.challenge for each in machine.asked] == [Challenge("dpop", {"error": "invalid_token"})]
    first = await made.headers("POST", url)
    assert first["Authorization"] == "DPoP bound-1"
    wants = {"www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "n-1"}
    assert await made.refused(url, 401, wants, first)
    again = await made.headers("POST", url)
    claims = json.loads(urlsafe_b64decode(again["DPoP"].split(".")[1] + "=="))
    assert claims["nonce"] == "n-1"
    assert claims["htu"] == url
    assert len(machine.asked) == 1
    assert (await made.headers("POST", url))["DPoP"] != again["DPoP"]


@pytest.mark.parametrize(
    ("status", "challenge"),
    [
        (401, "Basic realm=x"),
        (401, "ApiKey"),
        (403, ""),
        (403, 'Bearer error="invalid_token"'),
        (403, 'Basic error="insufficient_scope"'),
    ],
)
async def test_other_refusals_are_passed_on(status: int, challenge: str) -> None:
    machine = Machine(MemoryTokens())
    made = authorizers.authorizer_of(machine, "https://mcp.example/mcp")
    assert not await made.refused("https://mcp.example/mcp", status, {"www-authenticate": challenge}, {})
    assert not machine.asked


async def test_a_nonce_that_is_wanted_of_who_has_no_token_takes_a_login() -> None:
    machine = Machine(MemoryTokens())
    made = authorizers.authorizer_of(machine, "https://mcp.example/mcp")
    told = {"www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "n-1"}
    assert await made.refused("https://mcp.example/mcp", 401, told, {})
    assert machine.asked


async def test_a_request_that_was_sent_before_the_token_came_is_only_sent_again() -> None:
    url, machine = "https://mcp.example/mcp", Machine(MemoryTokens())
    made = authorizers.authorizer_of(machine, url)
    await asyncio.gather(*(made.refused(url, 401, {"www-authenticate": "Bearer"}, {}) for _ in range(50)))
    assert await made.refused(url, 401, {"www-authenticate": "Bearer"}, {})
    assert len(machine.asked) == 1


async def test_a_server_that_refuses_without_end_is_given_up() -> None:
    url, machine = "https://mcp.example/mcp", Machine(MemoryTokens())
    made = authorizers.authorizer_of(machine, url)
    for _ in range(authorizers.MAX_FLOWS):
        assert await made.refused(url, 401, {}, await made.headers("POST", url))
    sent = await made.headers("POST", url)
    with pytest.raises(AuthorizationFailed, match="goes on refusing tokens: 10 within 60 s"):
        await made.refused(url, 401, {}, sent)
    assert len(machine.asked) == authorizers.MAX_FLOWS


async def test_what_is_closed_begins_no_login() -> None:
    url, machine = "https://mcp.example/mcp", Machine(MemoryTokens())
    made = authorizers.authorizer_of(machine, url)
    await made.close()
    await made.close()
    with pytest.raises(ConnectionClosed):
        await made.refused(url, 401, {"www-authenticate": "Bearer"}, {})
    assert not machine.asked


async def test_closing_ends_a_login_that_waits_for_the_user() -> None:
    opened, never = asyncio.Event(), asyncio.Event()

    async def browse(_: str) -> None:
        opened.set()
        await never.wait()

    async with scripted() as both:
        client = Client(both.url, auth=policy(browse))
        opening = asyncio.create_task(client.open())
        await asyncio.wait_for(opened.wait(), 5)
        await asyncio.wait_for(client.close(), 2)
        with pytest.raises(ConnectionClosed):
            await opening
