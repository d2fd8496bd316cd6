"""The client and child processes that die, keep silent or are rude, at every step."""

import asyncio
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from client.rude import Rude, process_of
from splice import Client
from splice.client import connection
from splice.errors import ConnectionClosed, RemoteProtocolError, RequestTimeout
from splice.transports.stdio import client as stdio_client
from support.waiting import until


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PROBE_SECONDS", 1.0)
    monkeypatch.setattr(stdio_client, "GRACE_SECONDS", 0.3)


async def test_a_child_that_dies_at_once(tmp_path: Any) -> None:
    with pytest.raises(ConnectionClosed, match=r"(?s)exited with code 1.*cannot begin"):
        await Client(Rude(tmp_path, begin="die").command).open()


async def test_a_child_that_dies_of_the_probe_gets_a_second_life(tmp_path: Any) -> None:
    rude = Rude(tmp_path, server__discover="die")
    async with Client(rude.command) as client:
        assert client.protocol_version == "2025-11-25"
        assert (await client.call_tool("t")).text == "done"
    assert rude.starts == 2


@pytest.mark.parametrize(("step", "starts"), [("initialize", 2), ("initialized", 1)])
async def test_a_child_that_dies_of_the_handshake(tmp_path: Any, step: str, starts: int) -> None:
    rude = Rude(tmp_path, server__discover="refuse", **{step: "die"})
    with pytest.raises(ConnectionClosed, match=r"(?s)exited with code 7.*died of .*initialize"):
        async with Client(rude.command) as client:
            await client.call_tool("t")
    assert rude.starts == starts


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_a_child_that_dies_in_the_middle_of_calls(tmp_path: Any, protocol: str) -> None:
    rude = Rude(tmp_path, tools__call="silence", tools__list="die")
    async with Client(rude.command, protocol=protocol, restart=False) as client:
        calls = [asyncio.ensure_future(client.call_tool("t")) for _ in range(3)]
        with pytest.raises(ConnectionClosed, match=r"(?s)exited with code 7.*died of tools/list"):
            await client.list_tools()
        for call in calls:
            with pytest.raises(ConnectionClosed, match="exited with code 7"):
                await call
        with pytest.raises(ConnectionClosed, match="exited with code 7"):
            await client.call_tool("t")


@pytest.mark.requirement(63, 113)
async def test_a_child_that_is_silent_to_the_probe(tmp_path: Any) -> None:
    async with Client(Rude(tmp_path, server__discover="silence").command) as client:
        assert client.protocol_version == "2025-11-25"


async def test_a_child_that_dies_silently_of_the_probe_gets_a_second_life(tmp_path: Any) -> None:
    rude = Rude(tmp_path, server__discover="corpse")
    client = Client(rude.command)
    for starts in (2, 3):  # opened again, it is not probed
        async with asyncio.timeout(5), client:
            assert client.protocol_version == "2025-11-25"
            assert (await client.call_tool("t")).text == "done"
        assert rude.starts == starts


@pytest.mark.requirement(90)
async def test_a_child_that_is_silent_to_everything(tmp_path: Any) -> None:
    rude = Rude(tmp_path, server__discover="refuse", initialize="silence")
    with pytest.raises(RequestTimeout, match=r"did not answer within 0\.5 s$"):
        await Client(rude.command, timeout=0.5).open()


@pytest.mark.requirement(74)
async def test_a_legacy_child_where_only_modern_will_do(tmp_path: Any) -> None:
    with pytest.raises(RemoteProtocolError, match="error -32601"):
        await Client(Rude(tmp_path, server__discover="refuse").command, protocol="modern").open()


async def test_a_child_that_talks_on_stdout(tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with Client(Rude(tmp_path, server__discover="junk", tools__call="junk").command) as client:
        assert (await client.call_tool("t")).text == "done"
    assert caplog.text.count("is not a message, skipped") == 2


@pytest.mark.parametrize("step", ["initialize", "tools/call"])
async def test_a_timeout_tells_of_output_that_was_skipped(tmp_path: Any, step: str) -> None:
    rude = Rude(tmp_path, **{step.replace("/", "__"): "babble"})
    with pytest.raises(RequestTimeout, match=r"within 1 s; 1 lines of its output were not JSON-RPC messages$"):
        async with Client(rude.command, protocol="legacy", timeout=1) as client:
            await client.call_tool("t")


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_a_child_ends_when_its_client_is_dropped(tmp_path: Any) -> None:
    kept = [await Client(Rude(tmp_path).command).open()]
    pid = process_of(kept[0])

    async def drop() -> None:
        kept.clear()
        await until(lambda: is_gone(pid) and len(asyncio.all_tasks()) == 1)

    with pytest.warns(ResourceWarning, match="its client was never closed"):
        await drop()


def test_a_child_ends_with_its_event_loop_and_the_client_can_be_used_on_another(tmp_path: Any) -> None:
    client = Client(Rude(tmp_path).command)

    async def call() -> str:
        async with client:
            return (await client.call_tool("t")).text

    for again in (client.close, call):
        with pytest.warns(ResourceWarning, match="its client was never closed"):
            asyncio.run(client.open())
        pid = process_of(client)
        assert is_gone(pid)
        assert asyncio.run(again()) in (None, "done")


def test_what_the_end_of_the_event_loop_closes_is_no_reason_to_warn(tmp_path: Any) -> None:
    async def use(called: asyncio.Event) -> None:
        async with Client(Rude(tmp_path, tools__call="silence").command) as client:
            pids.append(process_of(client))
            called.set()
            await client.call_tool("t")

    async def main() -> None:
        called = asyncio.Event()
        tasks.append(asyncio.create_task(use(called)))
        await called.wait()

    pids: list[int] = []
    tasks: list[asyncio.Task[None]] = []
    asyncio.run(main())
    assert tasks[0].cancelled()
    assert is_gone(pids[0])


def test_a_loop_that_was_closed_around_its_tasks(tmp_path: Any) -> None:
    """What asyncio itself says of such a loop, at the end, is not what is looked at here."""
    program = """
import asyncio, contextlib, json, os, sys
from splice import Client
loop = asyncio.new_event_loop()
client = Client(json.loads(sys.argv[1]))
loop.run_until_complete(client.open())
pid = client._conversation.connection().link.pid
loop.close()
if sys.argv[2] == "close":
    asyncio.run(client.close())
else:
    del client
with contextlib.suppress(ChildProcessError):  # a thread of asyncio's may have been quicker
    os.waitpid(pid, 0)
print("ended", flush=True)
os._exit(0)
"""
    for how in ("close", "drop"):
        command = [sys.executable, "-c", program, json.dumps(Rude(tmp_path).command), how]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        assert ran.stdout == "ended\n", ran.stderr


def test_a_client_belongs_to_the_event_loop_it_was_opened_on(tmp_path: Any) -> None:
    client = Client(Rude(tmp_path).command)
    with asyncio.Runner() as runner:
        runner.run(client.open())
        for verb in (client.close, client.open):
            with pytest.raises(RuntimeError, match="opened on another event loop"):
                asyncio.run(verb())
        runner.run(client.close())


async def test_no_child_outlives_its_client(tmp_path: Any) -> None:
    pids: list[int] = []
    for protocol in ("auto", "legacy", "modern"):
        client = Client(Rude(tmp_path).command, protocol=protocol)
        await client.open()
        link: Any = client._conversation.connection().link
        pids.append(link.pid)
        await asyncio.gather(client.close(), asyncio.create_task(client.close()))
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
