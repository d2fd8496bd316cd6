"""What outlives a call of the everything server: what toggles start, what a session keeps, and who hears of changes."""

import asyncio
import base64
import gzip
from typing import Any

import pytest

from servers.test_everything import opened
from splice import Change, Client, InvalidParams, ResourceNotFound
from splice.servers.everything import keeping, toggles
from splice.servers.everything.server import make
from splice.types import LogParams
from support.caller import Caller
from support.waiting import settle, until

TEXT_1 = "demo://resource/dynamic/text/1"
QUICK = 0.001


def others() -> set[asyncio.Task[Any]]:
    """Every task but this one."""
    return asyncio.all_tasks() - {asyncio.current_task()}


def running() -> int:
    """Count the tasks of toggles."""
    return sum("Loops._run" in repr(task.get_coro()) for task in others())


async def test_log_messages_go_on_at_the_level_of_the_session_until_they_are_stopped() -> None:
    heard: list[LogParams] = []
    server = make(pace=QUICK)
    async with Client(server, protocol="legacy", on_log=heard.append) as client:
        before = others()
        await client.set_log_level("alert")
        assert (await client.call_tool("toggle-simulated-logging")).text.startswith("Started")
        await until(lambda: {each.level for each in heard} == {"alert", "emergency"})
        assert (await client.call_tool("toggle-simulated-logging")).text == "Stopped simulated logging for this session"
        await until(lambda: others() <= before)
        count = len(heard)
        await client.ping()
        assert len(heard) == count


async def test_without_sessions_messages_come_with_the_call() -> None:
    caller = await opened("modern")
    for level, count in (("debug", 8), ("error", 4), (None, 0)):
        caller.level = level
        caller.notes.clear()
        assert (await caller.text("toggle-simulated-logging")).startswith("Sent one message of each level")
        assert [each["level"] for each in caller.logged()] == [*toggles.LEVELS[8 - count :]]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_subscribed_resources_are_updated_until_that_is_stopped(era: str) -> None:
    heard: list[Change] = []
    async with Client(make(pace=QUICK), protocol=era, on_change=heard.append) as client:
        await client.subscribe(TEXT_1)
        assert (await client.call_tool("toggle-subscriber-updates")).text.startswith("Started")
        await until(lambda: len(heard) > 3)
        assert set(heard) == {Change("resource", TEXT_1)}
        assert (await client.call_tool("toggle-subscriber-updates")).text.startswith("Stopped")


async def test_what_was_started_ends_with_its_session_its_streams_or_the_server() -> None:
    before = others()
    server = make()
    async with Client(server, protocol="legacy") as client:
        await client.call_tool("toggle-simulated-logging")
        await client.call_tool("toggle-subscriber-updates")
    await settle()
    life = others() - before  # the lifespan, which has not been left
    assert len(life) == 1

    async with Client(server, protocol="modern") as client:
        assert (await client.call_tool("toggle-subscriber-updates")).text.startswith("No stream listens")
        for _ in range(2):  # a task that waits for its next message ends at once with the last stream
            await client.subscribe(TEXT_1)
            assert (await client.call_tool("toggle-subscriber-updates")).text.startswith("Started")
            await client.unsubscribe(TEXT_1)
            await until(lambda: not running())
    await until(lambda: others() - before == life)

    caller = await Caller(server).open()
    await caller.text("toggle-simulated-logging")
    assert others() - before > life
    await server.service.close()
    await until(lambda: others() == before)


async def test_each_session_has_what_it_started_and_no_more_than_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    server = make()
    first, second = await Caller(server).open(), await Caller(server).open()
    assert (await first.text("toggle-simulated-logging")).startswith("Started")
    monkeypatch.setattr(toggles, "MAX_LOOPS", 1)
    assert (await second.call("toggle-simulated-logging"))["isError"]
    assert (await first.text("toggle-simulated-logging")).startswith("Stopped")
    await settle()
    assert (await second.text("toggle-simulated-logging")).startswith("Started")
    first.session.end()
    second.session.end()
    await settle()
    assert (await second.text("toggle-simulated-logging")).startswith("Sent"), (
        "a session that has ended lasts no longer"
    )
    await server.service.close()


async def keep(caller: Caller, name: str, text: str = "hello") -> str:
    result = await caller.call("gzip-file-as-resource", {"name": name, "data": f"data:,{text}"})
    uri: str = result["content"][0]["uri"]
    return uri


async def listed(caller: Caller) -> list[str]:
    uris = [each["uri"] for each in (await caller.result("resources/list"))["resources"]]
    return [uri for uri in uris if uri.startswith(keeping.PREFIX)]


async def test_what_a_session_keeps_is_for_that_session_and_as_long_as_it_lasts() -> None:
    server = make()
    mine, theirs = await Caller(server).open(), await Caller(server).open()
    uri = await keep(mine, "b c.gz", "first")
    assert uri == keeping.PREFIX + "b%20c.gz"
    assert [note["method"] for note in mine.pushed] == ["notifications/resources/list_changed"]
    assert theirs.pushed == []
    assert await keep(mine, "b c.gz", "second") == uri
    assert (await listed(mine), await listed(theirs)) == ([uri], [])
    (contents,) = (await mine.result("resources/read", {"uri": uri}))["contents"]
    assert gzip.decompress(base64.b64decode(contents["blob"])) == b"second"
    assert (await theirs.error("resources/read", {"uri": uri}))["code"] == -32002
    mine.session.end()
    assert (await mine.error("resources/read", {"uri": uri}))["code"] == -32002


async def test_without_sessions_a_link_that_nobody_can_guess_leads_to_what_was_made() -> None:
    server = make()
    caller, other = Caller(server, "2026-07-28"), await Caller(server).open()
    first, second = await keep(caller, "a.gz"), await keep(caller, "a.gz")
    assert first != second
    assert len(first) == len(keeping.PREFIX) + len("/a.gz") + 22
    assert (await listed(caller), await listed(other)) == ([], [])
    for each in (caller, other):
        assert (await each.result("resources/read", {"uri": first}))["contents"][0]["mimeType"] == "application/gzip"
    assert (await caller.error("resources/read", {"uri": keeping.PREFIX + "a.gz"}))["code"] == -32602


async def test_the_oldest_go_when_there_are_too_many_or_they_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    caller = await opened("legacy")
    monkeypatch.setattr(keeping, "MAX_KEPT", 2)
    uris = [await keep(caller, name) for name in ("1", "2", "3")]
    assert await listed(caller) == uris[1:]
    monkeypatch.setattr(keeping, "MAX_KEPT_BYTES", 40)
    last = await keep(caller, "4")
    assert await listed(caller) == [last]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_change_of_a_resource_and_of_the_lists_is_heard_of(era: str) -> None:
    heard: list[Change] = []
    server = make()
    async with Client(server, protocol=era, on_change=heard.append) as client:
        await client.subscribe(TEXT_1)
        told = await client.call_tool("trigger-resource-update", {"resourceType": "Text", "resourceId": 1})
        assert told.text == f"Told those who listen that {TEXT_1} changed."
        await until(lambda: Change("resource", TEXT_1) in heard)
        for _ in range(2):
            heard.clear()
            tools = {tool.name for tool in await client.list_tools()}
            await client.call_tool("trigger-list-changes")
            await until(lambda: {each.kind for each in heard} == {"tools", "prompts", "resources"})
            assert tools ^ {tool.name for tool in await client.list_tools()} == {"now-and-then"}
        with pytest.raises((ResourceNotFound, InvalidParams)):
            await client.read_resource("demo://resource/now-and-then")


async def test_progress_is_told_and_a_long_operation_can_be_cancelled() -> None:
    told: list[tuple[float, float | None]] = []
    async with Client(make()) as client:
        result = await client.call_tool(
            "trigger-long-running-operation",
            {"duration": 0.01, "steps": 3},
            progress=lambda value, total, _: told.append((value, total)),
        )
        assert result.text == "Long running operation completed. Duration: 0.01 seconds, Steps: 3."
        assert told == [(1, 3), (2, 3), (3, 3)]
        before = others()
        call = asyncio.create_task(client.call_tool("trigger-long-running-operation", {"duration": 600}))
        await settle()
        assert others() > before
        call.cancel()
        await until(lambda: others() <= before)
