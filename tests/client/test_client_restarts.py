"""The client and child processes that die: they are started again, but not for ever, and nothing is done twice."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from client.rude import Rude, process_of
from splice import Change, Client
from splice.client import lives
from splice.errors import ConnectFailed, ConnectionClosed, MCPError, RemoteProtocolError, RequestTimeout
from splice.transports.stdio import client as stdio_client
from support.waiting import until
from support.warm import warm_python

ERAS = pytest.mark.parametrize("protocol", ["legacy", "modern"])
MORTAL = str(Path(__file__).parents[1] / "support/mortal_server.py")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lives, "BACK_OFF_SECONDS", (0.0,))
    monkeypatch.setattr(stdio_client, "GRACE_SECONDS", 0.3)


async def kill(client: Client) -> None:
    """Kill the child of a client, and wait until that was noticed."""
    link: Any = client._conversation.connection().link
    os.kill(process_of(client), signal.SIGKILL)
    async with asyncio.timeout(5):
        await link._exited.wait()
    await until(lambda: link.gone)


@ERAS
@pytest.mark.requirement(112)
async def test_a_child_that_died_comes_back_with_the_next_call(tmp_path: Any, protocol: str) -> None:
    told: list[tuple[str, str]] = []
    rude = Rude(tmp_path)
    client = Client(rude.command, protocol=protocol, on_state=lambda state, why: told.append((state, str(why or ""))))
    assert [client.state] == ["new"]
    async with asyncio.timeout(10), client:
        before = process_of(client)
        await kill(client)
        assert client.state == "lost"
        assert rude.starts == 1
        results = await asyncio.gather(*(client.call_tool("t") for _ in range(5)))
        assert [result.text for result in results] == ["done"] * 5
        assert rude.starts == 2
        assert process_of(client) != before
    assert [state for state, _ in told] == ["opening", "open", "lost", "reconnecting", "open", "closed"]
    assert ["SIGKILL" in why for _, why in told] == [False, False, True, True, False, False]
    assert [client.state] == ["closed"]


@ERAS
@pytest.mark.parametrize("retries", [0, 3])
async def test_a_call_that_may_have_been_carried_out_is_never_repeated(
    tmp_path: Any, protocol: str, retries: int
) -> None:
    rude = Rude(tmp_path, tools__call="die")
    async with asyncio.timeout(10), Client(rude.command, protocol=protocol, retries=retries) as client:
        with pytest.raises(ConnectionClosed, match=r"(?s)exited with code 7.*died of tools/call") as caught:
            await client.call_tool("t")
        assert caught.value.may_have_run
        assert rude.starts == 1
        assert (await client.read_resource("x://a")).contents == []
        assert rude.starts == 2


@ERAS
@pytest.mark.parametrize("retries", [0, 2])
async def test_what_changes_nothing_is_repeated_as_often_as_the_user_says(
    tmp_path: Any, protocol: str, retries: int
) -> None:
    rude = Rude(tmp_path, resources__read="die")
    async with asyncio.timeout(10), Client(rude.command, protocol=protocol, retries=retries) as client:
        with pytest.raises(ConnectionClosed, match="died of resources/read"):
            await client.read_resource("x://a")
        assert rude.starts == 1 + retries
        assert (await client.call_tool("t")).text == "done"


@ERAS
async def test_a_program_that_always_dies_is_left_alone_in_the_end(tmp_path: Any, protocol: str) -> None:
    rude = Rude(tmp_path, again="die")
    async with asyncio.timeout(20), Client(rude.command, protocol=protocol) as client:
        await kill(client)
        calls = [asyncio.ensure_future(client.call_tool("t")) for _ in range(3)]
        for call in calls:
            with pytest.raises(ConnectFailed) as caught:
                await call
            assert not caught.value.may_have_run
            assert "was started 5 times within 60 s and ended each time; run it by hand to see why" in str(caught.value)
            assert "The last time: " in str(caught.value)
            assert "exited with code 1" in str(caught.value)
            assert str(caught.value).endswith("began\ncannot begin")
        assert (rude.starts, client.state) == (6, "lost")
        with pytest.raises(ConnectFailed, match=r"(?s)was started 5 times within 60 s.*cannot begin$"):
            await client.ping()
        assert rude.starts == 6


@pytest.mark.parametrize("why", ["closed", "timeout", "both"])
async def test_who_waits_for_a_server_is_not_kept(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    monkeypatch.setattr(lives, "BACK_OFF_SECONDS", (0.0, 60.0))
    rude = Rude(tmp_path, again="die")
    before = asyncio.all_tasks()
    async with asyncio.timeout(5), Client(rude.command, protocol="modern") as client:
        await kill(client)
        if why != "closed":
            with pytest.raises(
                RequestTimeout, match=r"(?s)within 0\.5 s; .* is being started again: .*(SIGKILL|cannot begin)"
            ):
                await client.call_tool("t", timeout=0.5)
        assert (client.state == "reconnecting") == (why != "closed")
        call = asyncio.ensure_future(client.call_tool("t"))
        await asyncio.sleep(0)
        if why == "timeout":
            call.cancel()
        else:
            await client.close()
            with pytest.raises(ConnectionClosed, match="This client is closed"):
                await call
    assert rude.starts <= 2
    assert asyncio.all_tasks() == before


async def test_a_child_that_does_not_survive_a_probe_gets_none_when_it_comes_back(tmp_path: Any) -> None:
    rude = Rude(tmp_path, server__discover="corpse")
    async with asyncio.timeout(10), Client(rude.command) as client:
        assert rude.starts == 2
        await kill(client)
        assert (await client.call_tool("t")).text == "done"
        assert rude.starts == 3


async def test_a_child_that_holds_state_stays_dead_if_the_user_says_so(
    tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rude = Rude(tmp_path)
    async with asyncio.timeout(5), Client(rude.command, restart=False, retries=3, on_change=lambda _: None) as client:
        await kill(client)
        for _ in range(2):
            with pytest.raises(ConnectFailed, match="SIGKILL") as caught:
                await client.call_tool("t")
            assert not caught.value.may_have_run
        assert (rude.starts, client.state) == (1, "lost")
        assert "with restart=False it is not started again" in caplog.text
        await client.close()
        await client.open()
        assert (await client.call_tool("t")).text == "done"


@ERAS
@pytest.mark.requirement(239)
async def test_subscriptions_come_back_by_themselves(protocol: str) -> None:
    changes: list[Change] = []
    client = Client([sys.executable, MORTAL], protocol=protocol, on_change=changes.append)
    async with asyncio.timeout(10), client:
        await client.subscribe("x://a")
        await kill(client)
        await until(lambda: Change("resource", "x://a") in changes)  # it may have changed meanwhile
        assert client.state == "open"
        changes.clear()
        await client.call_tool("touch")
        await until(lambda: Change("resource", "x://a") in changes)


async def test_a_child_that_dies_of_its_calls(tmp_path: Any) -> None:
    async with asyncio.timeout(20), Client([warm_python(), MORTAL]) as client:
        for _ in range(2):
            before = (await client.call_tool("who")).text
            with pytest.raises(ConnectionClosed, match=r"(?s)exited with code 7.*last words"):
                await client.call_tool("die")
            assert (await client.call_tool("who")).text != before


async def test_a_limit_of_messages_is_given_to_any_command() -> None:
    async with asyncio.timeout(10), Client([warm_python(), MORTAL], max_message=100_000) as client:
        link: Any = client._conversation.connection().link
        assert link.lines.max_bytes == 100_000
    with pytest.raises(RemoteProtocolError, match=r"over the limit of 10; Client\(\.\.\., max_message=\) sets it"):
        await Client([warm_python(), MORTAL], max_message=10, protocol="legacy").open()


async def test_a_notification_brings_the_server_back_too(tmp_path: Any) -> None:
    rude = Rude(tmp_path)
    async with asyncio.timeout(5), Client(rude.command, protocol="legacy", roots=["/here"]) as client:
        await kill(client)
        await client.roots_changed()
        assert rude.starts == 2


async def test_a_callback_that_fails_or_hangs_harms_nothing(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lives, "TELL_SECONDS", 0.05)
    told: list[str] = []

    async def on_state(state: str, why: MCPError | None) -> None:
        told.append(state)
        if state == "open":
            await asyncio.Event().wait()
        raise RuntimeError(state)

    before = asyncio.all_tasks()
    async with asyncio.timeout(5), Client(Rude(tmp_path).command, on_state=on_state) as client:
        assert (await client.call_tool("t")).text == "done"
    assert told == ["opening", "open"]
    assert asyncio.all_tasks() - before == set()


async def test_a_callback_may_close_the_client(tmp_path: Any) -> None:
    told: list[str] = []

    async def on_state(state: str, why: MCPError | None) -> None:
        told.append(state)
        if state == "lost":
            await client.close()

    client = Client(Rude(tmp_path).command, on_state=on_state)
    async with asyncio.timeout(5), client:
        await kill(client)
        await until(lambda: told[-1] == "closed")
    assert told == ["opening", "open", "lost", "closed"]


async def test_an_opening_that_fails_says_why() -> None:
    told: list[tuple[str, Any]] = []
    client = Client("no-such-program", on_state=lambda *change: told.append(change))
    with pytest.raises(ConnectFailed) as caught:
        await client.open()
    assert client.state == "closed"
    await client.close()
    assert told == [("opening", None), ("closed", caught.value)]
