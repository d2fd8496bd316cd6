"""A rate limit: who is counted as one, what counts, and what is said to those who have to wait."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from splice import Client, Context, RPCError, Server
from splice.limits import RateLimit, TooManyRequests
from splice.stores.base import StoreError
from splice.stores.memory import MemoryStore
from splice.stores.sqlite import SQLiteStore
from splice.types import PromptReference
from support.caller import LEGACY, MODERN, Caller

VERSIONS = [LEGACY[-1], MODERN[-1]]


class Clock:
    """Stands still until it is told to move."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def limited(*limits: RateLimit) -> Server:
    server = Server("limited", middleware=limits)

    @server.tool
    def add(a: int) -> int:
        return a

    @server.prompt
    def greet(name: str) -> str:
        return name

    @server.completion("greet", "name")
    def names(value: str) -> list[str]:
        return [f"{value}a"]

    return server


@pytest.fixture
def clock() -> Clock:
    return Clock()


def by(clock: Clock, rate: float, burst: float, **options: Any) -> RateLimit:
    return RateLimit(rate, burst, shared=MemoryStore(clock=clock), **options)


async def call(caller: Caller) -> int | None:
    """Call the tool; return the code of the error if it is refused."""
    response = await caller.request("tools/call", {"name": "add", "arguments": {"a": 1}})
    code: int | None = response.get("error", {}).get("code")
    return code


@pytest.mark.requirement(283)
@pytest.mark.parametrize("version", VERSIONS)
async def test_what_comes_too_fast_is_refused_until_the_time_is_over(clock: Clock, version: str) -> None:
    caller = await Caller(limited(by(clock, 0.5, 2)), version).open()
    assert [await call(caller) for _ in range(4)] == [None, None, 429, 429]
    response = await caller.request("tools/call", {"name": "add", "arguments": {"a": 1}})
    assert response["error"]["message"] == "Too many requests: try again in 2 s"
    assert response["error"]["data"] == {"retryAfter": 2}
    clock.now += 1.5
    assert (await caller.request("tools/call", {"name": "add"}))["error"]["data"] == {"retryAfter": 1}
    clock.now += 0.5
    assert [await call(caller) for _ in range(2)] == [None, 429]


@pytest.mark.parametrize("version", VERSIONS)
async def test_callers_are_told_apart_as_closely_as_they_are_known(clock: Clock, version: str) -> None:
    server = limited(by(clock, 1, 1))
    first, second = [await Caller(server, version).open() for _ in range(2)]
    first.principal, second.principal = "ann", "bob"
    assert [await call(each) for each in (first, second, first, second)] == [None, None, 429, 429]
    first.principal = second.principal = None
    assert [await call(each) for each in (first, second)] == [None, 429]
    second.kind = "http"
    assert [await call(each) for each in (second, second)] == [None, 429]


async def test_without_a_principal_a_session_of_http_is_a_caller(clock: Clock) -> None:
    server = limited(by(clock, 1, 1))
    first, second = [await Caller(server, LEGACY[-1]).open() for _ in range(2)]
    first.session.id, second.session.id = "1", "2"
    assert [await call(each) for each in (first, second, first)] == [None, None, 429]
    first.principal = second.principal = "ann"
    assert [await call(each) for each in (first, second)] == [None, 429]


@pytest.mark.requirement(312, 314)
@pytest.mark.parametrize("protocol", VERSIONS)
async def test_by_default_what_runs_a_function_counts_and_nothing_else(clock: Clock, protocol: str) -> None:
    async with Client(limited(by(clock, 1, 1)), protocol=protocol) as client:
        await client.complete(PromptReference(name="greet"), "name", "x")
        for _ in range(3):
            await client.list_tools()
            await client.ping()
        for refused in (
            client.complete(PromptReference(name="greet"), "name", "x"),
            client.get_prompt("greet", {"name": "x"}),
            client.call_tool("add", {"a": 1}),
        ):
            with pytest.raises(RPCError, match="try again in 1 s") as caught:
                await refused
            assert caught.value.code == 429


async def test_limits_of_several_methods_stand_beside_each_other(clock: Clock) -> None:
    store = MemoryStore(clock=clock)
    tools = RateLimit(1, 2, methods=["tools/call"], shared=store)
    lists = RateLimit(1, 2, methods=("tools/list", "prompts/list"), shared=store)
    async with Client(limited(tools, lists)) as client:
        await client.list_tools()
        await client.list_prompts()
        with pytest.raises(RPCError, match="Too many"):
            await client.list_tools()
        for _ in range(2):
            await client.call_tool("add", {"a": 1})
        with pytest.raises(RPCError, match="Too many"):
            await client.call_tool("add", {"a": 1})


async def test_each_round_of_questions_is_a_request(clock: Clock) -> None:
    server = Server("asks", middleware=[by(clock, 1, 2)])

    @server.tool
    async def ask(ctx: Context) -> str:
        return str((await ctx.elicit("Sure?", bool)).data)

    async with Client(server, protocol=MODERN[-1], on_elicit=lambda _: {"value": True}) as client:
        assert (await client.call_tool("ask")).text == "True"
        with pytest.raises(RPCError, match="Too many"):
            await client.call_tool("ask")


async def test_processes_that_share_a_store_count_together(tmp_path: Path) -> None:
    stores = [SQLiteStore(tmp_path / "state.db") for _ in range(2)]
    try:
        callers = [await Caller(limited(RateLimit(0.001, 3, shared=store))).open() for store in stores]
        assert [await call(each) for each in (*callers, *callers)] == [None, None, None, 429]
    finally:
        for store in stores:
            await store.close()


async def test_without_a_shared_store_each_limit_counts_by_itself() -> None:
    for _ in range(2):
        caller = await Caller(limited(RateLimit(0.001, 1))).open()
        assert [await call(caller) for _ in range(2)] == [None, 429]


async def test_what_cannot_be_counted_is_not_granted(caplog: pytest.LogCaptureFixture) -> None:
    server = limited(RateLimit(1, 1, shared=MemoryStore(max_items=0)))
    caller = await Caller(server).open()
    response = await caller.request("tools/call", {"name": "add", "arguments": {"a": 1}})
    assert response["error"]["code"] == -32603
    assert "full" not in response["error"]["message"]
    assert StoreError.__name__ in caplog.text


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: RateLimit(0, 1), ValueError),
        (lambda: RateLimit(-1, 1), ValueError),
        (lambda: RateLimit(1, 0.5), ValueError),
        (lambda: RateLimit(math.nan, 1), ValueError),
        (lambda: RateLimit(1, math.inf), ValueError),
        (lambda: RateLimit(1, 1, methods="tools/call"), TypeError),
    ],
    ids=["none", "negative", "too little", "nan", "endless", "text"],
)
def test_a_limit_that_makes_no_sense_is_refused(make: Callable[[], RateLimit], error: type[Exception]) -> None:
    with pytest.raises(error, match="rate limit"):
        make()


def test_a_wait_is_never_told_as_none() -> None:
    assert TooManyRequests(0.001).data == {"retryAfter": 1}
