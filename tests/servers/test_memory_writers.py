"""Many writers of one memory: threads, processes, and processes that are killed while they write."""

import asyncio
import json
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from splice import Client, StdioServer
from splice.servers.memory.graph import Entity
from splice.servers.memory.lines import read
from splice.servers.memory.server import make
from splice.servers.memory.store import REJECTED, Store
from support.warm import warm_python

PROGRAM = Path(__file__).with_name("remembering.py")
KILLS = 6


def started(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    """Start a writer, and wait until it is about to write."""
    line = [sys.executable, str(PROGRAM), str(path), name, str(count)]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


async def test_twenty_calls_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    async with Client(make(file=path)) as one, Client(make(file=path)) as other:
        new: list[list[Any]] = [[{"name": f"e{each}", "entityType": "t", "observations": []}] for each in range(20)]
        calls = [
            (one, other)[place % 2].call_tool("create_entities", {"entities": each}) for place, each in enumerate(new)
        ]
        answers = await asyncio.gather(*calls)
        assert [each.structured_content for each in answers] == [{"entities": each} for each in new]
        more = [
            one.call_tool("add_observations", {"observations": [{"entityName": "e0", "contents": [str(each)]}]})
            for each in range(20)
        ]
        await asyncio.gather(*more)
        graph: Any = (await other.call_tool("read_graph")).structured_content
    assert {each["name"] for each in graph["entities"]} == {f"e{each}" for each in range(20)}
    assert len(next(each for each in graph["entities"] if each["name"] == "e0")["observations"]) == 20


async def test_servers_in_processes_of_their_own_share_a_memory(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    target = StdioServer(warm_python(), "-m", "splice.servers.memory", "--file", str(path))
    async with Client(target) as one, Client(target) as other:
        tasks = [
            client.call_tool(
                "create_entities", {"entities": [{"name": f"{name}{each}", "entityType": "t", "observations": []}]}
            )
            for each in range(10)
            for name, client in (("a", one), ("b", other))
        ]
        assert not any(each.is_error for each in await asyncio.gather(*tasks))
    assert len(read(path.read_bytes()).entities) == 20


def test_writers_in_many_processes_lose_nothing_and_readers_see_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    writers = [started(path, f"w{each}", 15) for each in range(3)]
    over, torn = threading.Event(), list[bytes]()

    def watch() -> None:
        store, most = Store(path), 0
        while not over.is_set():
            graph = store.read()
            torn.extend(graph.rejected)
            if len(graph.entities) < most:
                torn.append(b"something was lost")
            most = len(graph.entities)

    reader = threading.Thread(target=watch)
    reader.start()
    try:
        for each in writers:
            go(each)
        for each in writers:
            each.communicate(timeout=30)
    finally:
        over.set()
        reader.join()
    assert torn == []
    assert set(read(path.read_bytes()).entities) == {f"w{one}-{two}" for one in range(3) for two in range(15)}


def test_a_process_that_is_killed_while_writing_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    path, chance = tmp_path / "m.jsonl", random.Random(7)
    answered: list[str] = []
    store = Store(path)
    store.change(lambda graph: graph.create_entities(Entity(f"old-{each}", "t", ["x" * 200]) for each in range(500)))
    for number in range(KILLS):
        process = started(path, f"k{number}", 10_000)
        assert process.stdout is not None
        go(process)
        answered += [process.stdout.readline().strip() for _ in range(chance.randrange(1, 6))]
        threading.Event().wait(chance.random() / 1000)  # somewhere in the next change
        process.kill()
        answered += process.communicate()[0].split()
    graph = store.read()
    assert set(answered) <= set(graph.entities)
    assert len(graph.entities) <= 500 + len(answered) + KILLS, "at most the change that was not answered"
    assert not graph.rejected
    store.change(lambda graph: graph.create_entities([Entity("after", "t", [])]))
    assert {each.name for each in tmp_path.iterdir()} == {"m.jsonl", "m.jsonl.lock"}


def test_a_writer_that_dies_holding_the_lock_lets_go_of_it(tmp_path: Path) -> None:
    code = (
        "import sys; from splice.servers.memory.store import Store\n"
        "with Store(sys.argv[1])._alone():\n print('held', flush=True); sys.stdin.read()"
    )
    path = tmp_path / "m.jsonl"
    line = [sys.executable, "-c", code, str(path)]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    process.kill()
    process.communicate()
    Store(path).change(lambda graph: graph.create_entities([Entity("A", "t", [])]))


def test_a_file_that_another_program_writes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    store = Store(path)
    for number in range(50):  # of the same length, and perhaps within one tick of the clock
        new = tmp_path / "new"
        new.write_text(json.dumps({"type": "entity", "name": f"{number:02}", "entityType": "t", "observations": []}))
        new.replace(path)
        assert list(store.read().entities) == [f"{number:02}"]
    first = store.read()
    assert store.read() is first, "what did not change is not read again"
    assert not (tmp_path / f"m.jsonl{REJECTED}").exists()
