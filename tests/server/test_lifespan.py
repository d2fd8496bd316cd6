"""The lifespan: entered before the first request, left after the last, by one task."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from splice import Client, Context, Server
from splice.errors import InternalError, MCPError
from support.caller import LEGACY, MODERN, Caller
from support.waiting import settle
from support.wire import initialize


class Record:
    """A lifespan that tells what happens to it."""

    def __init__(self, *, fails: str = "") -> None:
        self.events: list[str] = []
        self.fails = fails
        self.tasks: list[Any] = []

    @asynccontextmanager
    async def __call__(self, server: Server) -> AsyncIterator[str]:
        self.tasks.append(asyncio.current_task())
        await asyncio.sleep(0)
        if self.fails == "enter":
            raise ConnectionError("no database")
        self.events.append(f"enter {server.name}")
        yield f"state {len(self.events)}"
        self.tasks.append(asyncio.current_task())
        self.events.append("leave")
        if self.fails == "leave":
            raise ConnectionError("database gone")


def with_tool(lifespan: Record) -> Server:
    server = Server("s", lifespan=lifespan)

    @server.tool
    async def state(ctx: Context) -> str:
        return str(ctx.lifespan)

    return server


async def test_it_is_entered_once_before_the_first_request_and_left_by_the_same_task() -> None:
    record = Record()
    server = with_tool(record)
    assert server.service.home.life is not None
    assert server.service.home.life.state is None
    callers = [Caller(server, version) for version in (*LEGACY, *MODERN)]
    await asyncio.gather(*(caller.open() for caller in callers))
    assert {await caller.text("state") for caller in callers} == {"state 1"}
    assert record.events == ["enter s"]
    await server.service.drain()
    assert record.events == ["enter s"]
    await server.service.close()
    await server.service.close()
    assert record.events == ["enter s", "leave"]
    assert record.tasks[0] is record.tasks[1]


async def test_a_caller_that_leaves_while_it_is_entered_does_not_stop_it() -> None:
    record = Record()
    server = with_tool(record)
    impatient = asyncio.create_task(Caller(server, MODERN[0]).call("state"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    impatient.cancel()
    await settle()
    assert impatient.cancelled()
    assert await Caller(server, MODERN[0]).text("state") == "state 1"
    await server.service.close()
    assert record.events == ["enter s", "leave"]


async def test_what_fails_on_entry_fails_each_request_until_it_does_not(caplog: pytest.LogCaptureFixture) -> None:
    record = Record(fails="enter")
    caller = Caller(with_tool(record), MODERN[0])
    for _ in range(2):
        error = await caller.error("tools/call", {"name": "state"})
        assert error["code"] == -32603
        assert "no database" not in error["message"]
    assert "no database" in caplog.text
    record.fails = ""
    assert await caller.text("state") == "state 1"
    await caller.server.service.close()


@pytest.mark.parametrize("version", [LEGACY[-1], MODERN[-1]])
async def test_a_failure_that_goes_on_is_logged_once_and_told_shortly(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    record = Record(fails="enter")
    caller = Caller(with_tool(record), version)
    method, params = (
        ("tools/call", {"name": "state"}) if caller.modern else ("initialize", initialize(version)["params"])
    )
    errors = await asyncio.gather(*(caller.error(method, params) for _ in range(5)))
    errors.append(await caller.error(method, params))
    assert len({str(error) for error in errors}) == 1
    assert errors[0]["message"].startswith("The start of the server failed: ConnectionError (reference ")
    assert caplog.text.count("Traceback") == 1
    assert errors[0]["message"][-9:-1] in caplog.text


@pytest.mark.parametrize("protocol", ["legacy", "modern", "auto"])
async def test_a_client_in_the_same_process_sees_why_the_server_does_not_start(protocol: Any) -> None:
    with pytest.raises(MCPError) as caught:
        async with Client(with_tool(Record(fails="enter")), protocol=protocol):
            raise AssertionError
    refusal = caught.value.__cause__ if protocol == "modern" else caught.value
    assert isinstance(refusal, InternalError)
    assert "The start of the server failed: ConnectionError (reference " in str(refusal)
    assert isinstance(refusal.__cause__, ConnectionError)


async def test_opening_a_service_enters_it_and_raises_what_fails() -> None:
    record = Record()
    service = with_tool(record).service
    await service.open()
    await service.open()
    assert record.events == ["enter s"]
    await service.close()
    await Server("s").service.open()
    with pytest.raises(RuntimeError, match="The lifespan of s failed: ConnectionError: no database") as caught:
        await with_tool(Record(fails="enter")).service.open()
    assert isinstance(caught.value.__cause__, ConnectionError)


async def test_what_fails_on_exit_is_raised_there() -> None:
    record = Record(fails="leave")
    server = with_tool(record)
    assert await Caller(server, MODERN[0]).text("state") == "state 1"
    with pytest.raises(ConnectionError, match="database gone"):
        await server.service.close()


async def test_a_server_that_was_never_asked_never_enters_it() -> None:
    record = Record()
    await with_tool(record).service.close()
    assert record.events == []


async def test_an_unknown_method_does_not_enter_it() -> None:
    record = Record()
    server = with_tool(record)
    await Caller(server, MODERN[0]).error("no/such")
    assert record.events == []


async def test_it_can_begin_again() -> None:
    record = Record()
    server = with_tool(record)
    for state in ("state 1", "state 3"):
        assert await Caller(server, MODERN[0]).text("state") == state
        await server.service.close()
    assert record.events == ["enter s", "leave", "enter s", "leave"]


def test_a_server_may_serve_on_one_loop_after_the_other() -> None:
    record = Record()
    server = with_tool(record)

    async def serve() -> str:
        return await Caller(server, MODERN[0]).text("state")

    assert asyncio.run(serve()) == "state 1"
    assert asyncio.run(serve()) == "state 3"
    assert record.events == ["enter s", "leave"] * 2
    assert record.tasks[0] is record.tasks[1]
