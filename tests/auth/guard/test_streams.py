"""Tests of `splice.auth.guard.streams`: answers end with what authorized them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from auth.guard.guarded import ADA, Guest
from splice import Context, Server
from splice.auth.guard import streams
from splice.auth.guard.guard import Auth
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN
from splice.rules.principal import Principal
from splice.transports.http import visits
from support.listening import listening
from support.waiting import until

LISTEN = {"notifications": {"toolsListChanged": True}}


class Clock:
    """What the guard takes for the time."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(streams, "time", made)
    monkeypatch.setattr(visits, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(visits, "TICK_SECONDS", 0.01)
    return made


class Desk:
    """Verifies, until told otherwise."""

    def __init__(self, expires: float | None = None) -> None:
        self.principal: Principal | None = Principal(subject="ada", scopes=frozenset({"read"}), expires=expires)
        self.asked = 0

    async def verify(self, _: str) -> Principal | None:
        self.asked += 1
        return self.principal


def shop(desk: Desk) -> tuple[Server, list[str]]:
    server, ended = Server("shop", auth=Auth(desk)), list[str]()

    @server.tool
    async def wait(ctx: Context) -> str:
        """Wait for ever."""
        try:
            await ctx.progress(1)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return ""

    return server, ended


async def opened(guest: Guest, method: str, params: Any, headers: Any = None) -> Any:
    body, own = guest.message(method, params)
    request = guest.begin("POST", body, {**own, **(headers or {})})
    await request.until(lambda self: self.status)
    return request


@pytest.mark.parametrize("how", ["expired", "revoked", "fewer scopes", "another"])
async def test_a_call_that_streams_ends_with_the_token(clock: Clock, how: str) -> None:
    desk = Desk(expires=2000.0)
    server, ended = shop(desk)
    guest = Guest(server.http_app(path="/mcp"))
    params = {"name": "wait", "_meta": {}}
    body, headers = guest.message("tools/call", params)
    body["params"]["_meta"]["progressToken"] = 1
    call = guest.begin("POST", body, headers)
    await call.event()
    end(how, desk, clock)
    await call.ended()
    assert call.events[-1]["error"]["code"] == 401
    assert "expired, or was revoked" in call.events[-1]["error"]["message"]
    assert ended == ["cancelled"]


def end(how: str, desk: Desk, clock: Clock) -> None:
    if how == "expired":
        clock.now = 2000.0
        return
    clock.now += streams.CHECK_SECONDS + 1
    desk.principal = {
        "revoked": None,
        "fewer scopes": Principal(subject="ada", expires=2000.0),
        "another": Principal(subject="eve", scopes=frozenset({"read"}), expires=2000.0),
    }[how]


@pytest.mark.parametrize("how", ["expired", "revoked"])
async def test_a_stream_that_waits_for_news_just_ends(clock: Clock, how: str) -> None:
    desk = Desk(expires=2000.0)
    guest = Guest(shop(desk)[0].http_app(path="/mcp"))
    stream = await opened(guest, "subscriptions/listen", LISTEN)
    await stream.event()
    end(how, desk, clock)
    await stream.ended()
    assert len(stream.events) == 1


async def test_the_stream_of_a_session_ends_and_its_work_goes_on(clock: Clock) -> None:
    desk = Desk(expires=2000.0)
    server, ended = shop(desk)
    guest = Guest(server.http_app(path="/mcp"), ADA, LATEST_HANDSHAKE)
    await guest.initialize(LATEST_HANDSHAKE)
    push = guest.begin("GET", b"", {"accept": "text/event-stream"})
    await push.until(lambda self: self.status)
    body, _ = guest.message("tools/call", {"name": "wait", "_meta": {"progressToken": 1}})
    call = guest.begin("POST", body)
    await call.until(lambda self: self.status)
    clock.now = 2000.0
    await call.complete.wait()
    await push.ended()
    assert ended == []
    desk.principal = Principal(subject="ada", scopes=frozenset({"read"}))
    assert (await guest.send("DELETE")).status == 204
    await call.ended()
    assert ended == ["cancelled"]


async def test_one_that_cannot_be_checked_now_may_stay(clock: Clock) -> None:
    desk = Desk()
    server, _ = shop(desk)
    guest = Guest(server.http_app(path="/mcp"))
    stream = await opened(guest, "subscriptions/listen", LISTEN)
    await stream.event()
    good, fails = desk.principal, list[int]()

    def failing(_: str) -> Any:
        fails.append(1)
        raise RuntimeError("the network is down")

    server.service.auth._verify = failing
    async with asyncio.timeout(5):
        while len(fails) < 2:
            clock.now += streams.CHECK_SECONDS + 1
            await asyncio.sleep(0.02)
    assert not stream.complete.is_set()
    assert good is not None
    stream.disconnect()
    await stream.ended()


@asynccontextmanager
async def served(app: Any, *, by_us: bool) -> AsyncIterator[str]:
    if not by_us:
        async with listening(app) as url:
            yield url
        return
    from splice.transports.http import listener

    loop = asyncio.get_running_loop()
    import uvicorn

    config = uvicorn.Config(app, log_level="error", lifespan="off", ws="none", http=listener._Protocol)
    config.load()
    state = uvicorn.Server(config).server_state
    make: Callable[[], Any] = lambda: listener._Protocol(config=config, server_state=state, app_state={})  # noqa: E731
    server = await loop.create_server(make, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()
        await app.stop(0.5)
        for connection in list(state.connections):
            connection.shutdown()
        await until(lambda: not state.tasks)


@pytest.mark.parametrize("by_us", [False, True], ids=["uvicorn", "our listener"])
@pytest.mark.parametrize("version", [LATEST_MODERN, LATEST_HANDSHAKE])
async def test_over_a_socket_too(clock: Clock, by_us: bool, version: str) -> None:
    desk = Desk(expires=2000.0)
    app = shop(desk)[0].http_app(path="/mcp")
    guest = Guest(app, ADA, version)
    common = {"authorization": f"Bearer {ADA}", "accept": "application/json, text/event-stream"}
    async with served(app, by_us=by_us) as url, aiohttp.ClientSession(headers=common) as http:
        if version == LATEST_MODERN:
            body, headers = guest.message("subscriptions/listen", LISTEN)
            request = http.post(url, json=body, headers=headers)
        else:
            from support.wire import initialize

            async with http.post(url, json=initialize(version)) as answer:
                headers = {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": version}
            request = http.get(url, headers=headers)
        async with request as stream:
            assert stream.status == 200
            clock.now = 2000.0
            async with asyncio.timeout(5):
                read = await stream.content.read()
            assert b"error" not in read
        async with http.get(url, headers={"authorization": "Basic x"}) as answer:
            assert answer.status == 401
