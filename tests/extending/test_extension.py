"""A method, a notification and a kind of result of one's own, on both sides, in both eras, added by an `Extension`."""

import asyncio
from typing import Any

import pytest

from splice import Ask, Call, Client, Context, Extension, Heard, MethodNotFound, Question, Served, Server
from splice.types import Method, Note, NoteParams, Params, Result

ID = "com.example/greeting"
POSTPONED = "com.example/postponed"


class GreetParams(Params, kw_only=True):
    who: str


class GreetResult(Result, kw_only=True):
    text: str


class Postponed(Result, kw_only=True):
    until: str


class WavedParams(NoteParams, kw_only=True):
    times: int


GREET = Method(name="com.example/greet", params=GreetParams, result=GreetResult)
ASK_BACK = Method(name="com.example/ask-back", params=GreetParams, result=GreetResult)
WAVED = Note(name="notifications/com.example/waved", params=WavedParams)


async def greet(call: Call) -> GreetResult | Postponed:
    if call.params.who == "nobody":
        return Postponed(until="tomorrow", result_type=POSTPONED)
    await call.notify(WAVED, WavedParams(times=2))
    return GreetResult(text=f"Hello, {call.params.who}")


def server(heard: list[int]) -> Server:
    def hear(params: WavedParams) -> None:
        heard.append(params.times)

    return Server(
        "polite",
        extensions=[
            Extension(ID, settings={"loud": True}, methods=[Served(GREET, greet)], notes=[Heard(WAVED, hear)]),
        ],
    )


async def test_a_method_and_a_notification_travel_both_ways(version: str) -> None:
    heard_by_server: list[int] = []
    heard_by_client: list[int] = []
    waved = asyncio.Event()

    async def hear(params: WavedParams) -> None:
        heard_by_client.append(params.times)
        waved.set()

    extension = Extension[Question](ID, notes=[Heard(WAVED, hear)])
    async with Client(server(heard_by_server), protocol=version, extensions=[extension]) as client:
        assert (client.capabilities.extensions or {})[ID] == {"loud": True}
        assert await client.request(GREET, GreetParams(who="Ada")) == GreetResult(
            text="Hello, Ada", **_finished(client.protocol_version)
        )
        async with asyncio.timeout(5):
            await waved.wait()
        await client.notify(WAVED, WavedParams(times=7))
    assert heard_by_client == [2]
    assert heard_by_server == [7]


def _finished(version: str) -> dict[str, Any]:
    if version == "2025-11-25":
        return {}
    return {"result_type": "complete", "meta": {"io.modelcontextprotocol/serverInfo": _INFO}}


_INFO = {"name": "polite", "version": "0.1.0"}


async def test_a_kind_of_result_is_read_as_the_extension_says() -> None:
    extension = Extension[Question](ID, results={POSTPONED: Postponed})
    async with Client(server([]), extensions=[extension]) as client:
        result = await client.request(GREET, GreetParams(who="nobody"))
        assert isinstance(result, Postponed)
        assert result.until == "tomorrow"


async def test_a_server_asks_a_client_by_a_method_of_its_own() -> None:
    asking = Server("asking")

    @asking.tool
    async def introduce(ctx: Context) -> str:
        """Ask the client in a way that only the extension knows."""
        return (await ctx.ask(Ask.method(ASK_BACK, GreetParams(who="server")))).text

    async def answer(question: Question) -> GreetResult:
        return GreetResult(text=f"I heard you, {question.params.who}")

    extension = Extension(ID, methods=[Served(ASK_BACK, answer)])
    for version in ("2025-11-25", "2026-07-28"):
        async with Client(asking, protocol=version, extensions=[extension]) as client:
            assert (await client.call_tool("introduce")).text == "I heard you, server"


async def test_without_the_extension_there_is_no_such_method(version: str) -> None:
    async with Client(Server("plain"), protocol=version) as client:
        with pytest.raises(MethodNotFound):
            await client.request(GREET, GreetParams(who="Ada"))
