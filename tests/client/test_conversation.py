"""The life of a client: opened, used, closed, in any order and from any task."""

import asyncio
from typing import Any

import pytest

from client.scripted import ScriptedLink, ScriptedTarget, forever, initialize, legacy, modern, returning
from splice import Client, Context, Server
from splice.errors import ConnectionClosed, MethodNotFound
from splice.protocol.jsonrpc import Success
from splice.transports.base import Receiver

DONE = {"content": [{"type": "text", "text": "done"}]}


async def test_opening_and_closing_twice_and_from_any_task() -> None:
    target = modern()
    client = Client(target)
    await asyncio.gather(asyncio.create_task(client.open()), client.open())
    assert await client.open() is client
    assert len(target.links) == 1
    await asyncio.create_task(client.close())
    await asyncio.gather(client.close(), asyncio.create_task(client.close()))
    assert target.link.closed
    for use in (client.call_tool("t"), client.subscribe("x://a")):
        with pytest.raises(ConnectionClosed, match="This client is closed; open it again"):
            await use


async def test_closing_what_was_never_opened() -> None:
    client = Client(modern())
    await client.close()
    with pytest.raises(ConnectionClosed):
        await client.ping()


@pytest.mark.parametrize("make", [modern, legacy])
async def test_a_closed_client_may_be_opened_again(make: Any) -> None:
    async def done(message: Any, link: Any) -> Any:
        return {}

    target = make(tools__call=returning(DONE), resources__subscribe=done)
    client = Client(target)
    for count in range(1, 4):
        async with client:
            assert (await client.call_tool("t")).text == "done"
            if make is legacy:
                await client.subscribe("x://a")
        assert [link.closed for link in target.links] == [1] * count
    assert len(target.calls("resources/subscribe")) == (3 if make is legacy else 0)  # what was wanted ends with closing


def test_a_client_may_be_opened_again_on_another_event_loop() -> None:
    client = Client(legacy(tools__call=returning(DONE)))

    async def use() -> str:
        async with client:
            return (await client.call_tool("t")).text

    assert [asyncio.run(use()) for _ in range(2)] == ["done"] * 2


async def test_opening_again_waits_until_the_last_connection_is_gone() -> None:
    gone = asyncio.Event()

    class Slow(ScriptedLink):
        async def close(self) -> None:
            await gone.wait()
            await super().close()

    class Target(ScriptedTarget):
        async def connect(self, receiver: Receiver) -> ScriptedLink:
            self.links.append(Slow(self, receiver))
            return self.link

    target = Target(initialize=initialize)
    client = Client(target, protocol="legacy")
    async with asyncio.timeout(5):
        await client.open()
        closing = asyncio.ensure_future(client.close())
        await asyncio.sleep(0)
        opening = asyncio.ensure_future(client.open())
        await asyncio.wait((opening,), timeout=0.01)
        assert len(target.links) == 1
        gone.set()
        await closing
        await opening
        assert [link.closed for link in target.links] == [1, 0]
        await client.close()


async def test_what_failed_to_open_may_be_opened_again() -> None:
    target = ScriptedTarget()
    client = Client(target)
    with pytest.raises(MethodNotFound):
        await client.open()
    assert target.link.closed
    target.methods["initialize"] = initialize
    async with client:
        assert len(target.links) == 2


async def test_closing_while_a_link_is_made() -> None:
    class Slow(ScriptedTarget):
        async def connect(self, receiver: Receiver) -> ScriptedLink:
            await asyncio.Event().wait()
            return await super().connect(receiver)

    target = Slow(initialize=initialize)
    client = Client(target)
    opening = asyncio.ensure_future(client.open())
    await asyncio.sleep(0)
    await client.close()
    with pytest.raises(ConnectionClosed, match="This client is closed"):
        await opening
    assert target.links == []


async def test_closing_while_coming_to_terms() -> None:
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def slow(message: Any, link: Any) -> Any:
        reached.set()
        await go_on.wait()
        return await initialize(message, link)

    target = ScriptedTarget(initialize=slow)
    client = Client(target, protocol="legacy")
    opening = asyncio.ensure_future(client.open())
    await reached.wait()
    await client.close()
    go_on.set()
    with pytest.raises(ConnectionClosed):
        await opening


async def test_a_cancelled_opening_lets_go_of_the_link() -> None:
    target = ScriptedTarget(initialize=forever)
    client = Client(target, protocol="legacy")
    opening = asyncio.ensure_future(client.open())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert target.link.closed


async def test_a_server_may_ask_while_the_session_opens() -> None:
    async def asking(message: Any, link: Any) -> Any:
        assert isinstance(await link.ask("ping"), Success)
        await link.tell_all("notifications/message", {"level": "info", "data": "early"})
        return await initialize(message, link)

    heard: list[Any] = []
    async with Client(ScriptedTarget(initialize=asking), on_log=lambda params: heard.append(params.data)):
        assert heard == ["early"]


async def test_the_log_level_is_set_the_way_the_version_has_it() -> None:
    target = modern(tools__call=returning(DONE))
    async with Client(target, on_log=lambda _: None) as client:
        await client.call_tool("t")
        await client.set_log_level("error")
        await client.call_tool("t")
    levels = [each["params"]["_meta"]["io.modelcontextprotocol/logLevel"] for each in target.calls("tools/call")]
    assert levels == ["info", "error"]
    target = legacy(logging__setLevel=returning({}))
    async with Client(target, on_log=lambda _: None) as client:
        await client.set_log_level("error")
        with pytest.raises(ValueError, match="level must be one of debug"):
            await client.set_log_level("loud")  # type: ignore[arg-type]  # that is the point
    assert [each["params"]["level"] for each in target.calls("logging/setLevel")] == ["info", "error"]


async def test_a_server_that_does_not_log_is_not_asked_to() -> None:
    async def quiet(message: Any, link: Any) -> Any:
        return {**await initialize(message, link), "capabilities": {}}

    target = ScriptedTarget(initialize=quiet)
    async with Client(target, on_log=lambda _: None):
        assert target.calls("logging/setLevel") == []


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_closing_while_the_user_thinks(protocol: str) -> None:
    server, asked = Server("s"), asyncio.Event()

    @server.tool
    async def who(ctx: Context) -> str:
        return str(await ctx.elicit("Who?", str))

    async def think(_: Any) -> None:
        asked.set()
        await asyncio.Event().wait()

    client = await Client(server, protocol=protocol, on_elicit=think).open()
    call = asyncio.create_task(client.call_tool("who"))
    await asyncio.wait_for(asked.wait(), 5)
    await client.close()
    with pytest.raises(ConnectionClosed):
        await asyncio.wait_for(call, 5)
