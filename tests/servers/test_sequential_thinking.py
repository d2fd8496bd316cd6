"""The server for thinking step by step: as the original answered, and what it answers better."""

import json
import os
from typing import Any

import pytest

from servers.recorded import answered, assert_offers, calls
from splice import Client, MCPError
from splice.servers.sequential_thinking import histories
from splice.servers.sequential_thinking.drawing import box
from splice.servers.sequential_thinking.histories import History, Thought
from splice.servers.sequential_thinking.server import MAX_THOUGHT, URI, make
from splice.types import CallToolResult
from support.listening import listening
from support.waiting import until

DIFFERENT = {
    1: "the same, and `_meta` tells that the text 3 was read as the number 3",
    2: "a text that is no truth value: the words are ours",
    3: "Splice's own words for arguments that do not fit",
}


async def think(client: Client, number: int = 1, **more: Any) -> CallToolResult:
    said = {"thought": f"step {number}", "nextThoughtNeeded": True, "thoughtNumber": number, "totalThoughts": 3}
    return await client.call_tool("sequentialthinking", said | more)


async def read(client: Client, uri: str = URI) -> Any:
    return json.loads((await client.read_resource(uri)).contents[0].text or "")


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
async def test_it_answers_as_the_original(protocol: str) -> None:
    async with Client(make(disable_thought_logging=True), protocol=protocol) as client:
        await assert_offers(client, "sequential-thinking")
        for call in calls("sequential-thinking"):
            answer = await answered(client, call, {})
            result = answer["result"]
            for name in ("resultType", "_meta"):  # of the modern era, and of what was repaired
                result.pop(name, None)
            if call.number in (2, 3):
                assert result["isError"]
            else:
                assert answer == call.answer, str(call)


async def test_hints_are_true_and_numbers_may_be_text() -> None:
    async with Client(make(disable_thought_logging=True)) as client:
        (tool,) = await client.list_tools()
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.idempotent_hint) == (False, False)
        repaired = await think(client, 1, thoughtNumber="7", isRevision="True", revisesThought="2")
        assert repaired.structured_content == {
            "thoughtNumber": 7,
            "totalThoughts": 7,
            "nextThoughtNeeded": True,
            "branches": [],
            "thoughtHistoryLength": 1,
        }
        for wrong in ({"isRevision": "yes"}, {"revisesThought": 0}, {"thought": "x" * (MAX_THOUGHT + 1)}):
            assert (await think(client, 2, **wrong)).is_error
        (thought,) = (await read(client))["thoughts"]
        assert thought == {
            "thought": "step 1",
            "nextThoughtNeeded": True,
            "thoughtNumber": 7,
            "totalThoughts": 7,
            "isRevision": True,
            "revisesThought": 2,
        }


async def test_each_session_has_a_history_of_its_own() -> None:
    server = make(disable_thought_logging=True)
    async with Client(server, protocol="legacy") as one, Client(server, protocol="legacy") as other:
        await think(one, 1)
        await think(other, 2, branchFromThought=1, branchId="b")
        assert [each["thought"] for each in (await read(one))["thoughts"]] == ["step 1"]
        assert (await read(other))["branches"] == ["b"]
        assert (await read(other))["thoughtHistoryLength"] == 1


async def test_callers_whom_nobody_can_tell_apart_bring_an_id_along() -> None:
    server = make(disable_thought_logging=True)
    async with (
        listening(server.http_app()) as url,
        Client(url, protocol="modern") as one,
        Client(url, protocol="modern") as other,
        Client(url, protocol="legacy") as session,
    ):
        first, second = [(await think(each)).structured_content for each in (one, other)]
        assert first["historyId"] != second["historyId"]
        again = await think(one, 2, historyId=first["historyId"])
        assert again.structured_content == first | {"thoughtNumber": 2, "thoughtHistoryLength": 2}
        assert len((await read(one, f"{URI}/{first['historyId']}"))["thoughts"]) == 2
        assert (await think(one, 3, historyId="guessed")).is_error
        with pytest.raises(MCPError, match="historyId"):
            await read(one)
        assert (await think(session)).structured_content["thoughtHistoryLength"] == 1
        assert "historyId" not in (await think(session)).structured_content
        await server.service.close()


async def test_a_change_is_told() -> None:
    heard: list[str | None] = []
    server = make(disable_thought_logging=True)
    async with Client(server, on_change=lambda change: heard.append(change.uri)) as client:
        await client.subscribe(URI)
        await think(client)
        await until(lambda: heard)
    assert set(heard) == {URI}


def test_histories_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "MAX_THOUGHTS", 3)
    monkeypatch.setattr(histories, "MAX_CHARACTERS", 100)
    monkeypatch.setattr(histories, "MAX_BRANCHES", 2)
    monkeypatch.setattr(histories, "MAX_HISTORIES", 2)
    history = History()
    for number in range(1, 6):
        history.add(Thought(str(number), True, number, 9, branchFromThought=1, branchId=str(number)))
    told = history.told()
    assert [each.thought for each in told["thoughts"]] == ["3", "4", "5"]
    assert (told["branches"], told["thoughtHistoryLength"], told["forgotten"]) == (["1", "2"], 5, 2)
    history.add(Thought("x" * 99, True, 6, 9))
    assert [len(each.thought) for each in history.thoughts] == [1, 99]
    kept = histories.Histories()
    ids = [kept.begin()[0] for _ in range(3)]
    assert [kept.find(each) is not None for each in ids] == [False, True, True]


async def test_a_thought_is_drawn_on_stderr_and_cannot_steer_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    async with Client(make()) as client:
        await think(client, thought="one\x1b[2J\u202etwo\nthree")
        await think(client, 2, isRevision=True, revisesThought=1)
        await think(client, 3, branchFromThought=1, branchId="b\x07")
    said = capfd.readouterr().err
    assert "💭 Thought 1/3" in said
    assert "│ one\\x1b[2J\\u202etwo" in said
    assert "🔄 Revision 2/3 (revising thought 1)" in said
    assert "🌿 Branch 3/3 (from thought 1, ID: b\\x07)" in said
    assert "\x1b" not in said


async def test_a_pipe_that_nobody_reads_does_not_stop_the_server(capfd: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    saved = os.dup(2)
    os.dup2(writing, 2)
    try:
        async with Client(make()) as client:
            for number in range(1, 200):  # more than a pipe holds
                assert not (await think(client, number, thought="ä" * 900)).is_error
    finally:
        os.dup2(saved, 2)
        for each in (reading, writing, saved):
            os.close(each)


async def test_a_stderr_that_takes_nothing_does_not_stop_the_server(capfd: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    saved = os.dup(2)
    os.dup2(writing, 2)
    os.close(reading)  # the host has closed it
    try:
        async with Client(make()) as client:
            assert not (await think(client)).is_error
    finally:
        os.dup2(saved, 2)
        for each in (writing, saved):
            os.close(each)


def test_a_box_is_bounded() -> None:
    assert (
        len(box(Thought("\x1b\n" * MAX_THOUGHT, True, 2**53 - 1, 2**53 - 1, branchFromThought=1, branchId="x" * 200)))
        < 4096
    )
