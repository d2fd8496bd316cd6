"""Users who decline or are slow, functions that fail, streams that break: nobody is asked more than once."""

import asyncio
from typing import Any

import pytest

from auth.login.scripted import Browser, scripted
from splice import Client
from splice.auth.errors import AuthorizationFailed
from splice.auth.fetcher import Fetcher
from splice.auth.login import authorizer as authorizers
from splice.auth.login.authorizer import Authorizer, Means
from splice.auth.login.code import OAuth
from splice.auth.login.keeping import MemoryTokens
from splice.auth.login.place import Place
from splice.client import subscriptions
from splice.transports.http import client_session

EVENTS = [(b"content-type", b"text/event-stream")]


def policy(browser: Any) -> OAuth:
    return OAuth(browse=browser)


async def test_a_call_that_may_be_sent_again_asks_a_user_who_declines_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authorizers, "WINDOW_SECONDS", 0.0)
    browser = Browser()
    async with scripted() as both, Client(both.url, auth=policy(browser), retries=1) as client:
        both.tokens.clear()
        both.refresh_tokens.clear()
        both.denies = True
        with pytest.raises(AuthorizationFailed, match="declined"):
            await client.call_tool("add", {"a": 1, "b": 2})
    assert len(browser.opened) == 2


async def test_a_stream_that_broke_asks_a_user_who_declines_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "RECONNECT_SECONDS", (0.01,))
    monkeypatch.setattr(authorizers, "WINDOW_SECONDS", 0.0)
    browser, twice = Browser(), asyncio.Event()

    async def browse(url: str) -> None:
        await browser(url)
        if len(browser.opened) > 2:
            twice.set()

    async with scripted() as both, Client(both.url, auth=policy(browse), on_change=lambda _: None) as client:
        await client.ping()
        both.tokens.clear()
        both.refresh_tokens.clear()
        both.denies = True
        await both.mcp.stop(0.1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(twice.wait(), 0.5)
    assert len(browser.opened) == 2


async def test_a_stream_of_a_session_outlives_trouble_with_a_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_session, "RECONNECT_SECONDS", (0.01,) * 5)
    opened: list[str] = []
    restored = asyncio.Event()

    async with scripted() as both:
        guard, answer = both.guard, both.answer

        async def breaking(scope: Any, receive: Any, send: Any) -> None:
            token = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
            if scope["method"] != "GET" or token not in both.tokens:
                await guard(scope, receive, send)
                return
            opened.append(token)
            both.tokens.clear()  # a server may end its streams together with the token
            if len(opened) > 1:
                restored.set()
            await send({"type": "http.response.start", "status": 200, "headers": EVENTS})
            await send({"type": "http.response.body", "body": b""})

        async def failing(scope: Any, body: bytes) -> Any:
            fails = scope["path"] == "/token" and both.seen["/token"] == 2
            return (500, {}, {}) if fails else await answer(scope, body)

        monkeypatch.setattr(both, "guard", breaking)
        monkeypatch.setattr(both, "answer", failing)
        async with Client(both.url, auth=policy(Browser()), protocol="2025-06-18"):
            await asyncio.wait_for(restored.wait(), 5)
    assert opened[0] != opened[1]


async def test_a_slow_user_is_not_asked_again_for_a_token_that_is_refused() -> None:
    """The minute in which a refusal shows that a login does not help begins when the user is through with it."""
    now, browser = 1000.0, Browser()

    async def slow(url: str) -> None:
        nonlocal now
        now += 120.0
        await browser(url)

    async with scripted() as both:
        both.refreshes = False
        place, means = Place(both.url), Means(Fetcher(allow_loopback=True).send, now=lambda: now)
        asking: Any = policy(slow)
        authorizer = Authorizer(place, asking, MemoryTokens(), means)
        assert await authorizer.refused(both.url, 401, {}, {})
        sent = await authorizer.headers("POST", both.url)
        with pytest.raises(AuthorizationFailed, match="refuses the token that it was just given"):
            await authorizer.refused(both.url, 401, {}, sent)
    assert len(browser.opened) == 1


@pytest.mark.parametrize("protocol", ["2026-07-28", "2025-06-18"])
async def test_functions_of_the_user_that_fail_fail_the_login(protocol: Any) -> None:
    def browse(url: str) -> None:
        raise ValueError(url)

    async with scripted() as both:
        with pytest.raises(AuthorizationFailed, match="browse= raised ValueError"):
            async with Client(both.url, auth=policy(browse), protocol=protocol) as client:
                await client.ping()
        with pytest.raises(AuthorizationFailed, match="auth= returned no token"):
            async with Client(both.url, auth=lambda: "secr3t\r\nX: y", protocol=protocol) as client:
                await client.ping()
