"""The store in a file: who may use it, what is told when it cannot be used, and what is left when it ends."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from splice.stores import sqlite
from splice.stores.base import Entry, StoreError
from splice.stores.sqlite import SQLiteStore
from stores.conftest import Clock
from support import storing
from support.storing import closing, increment
from support.warm import warm_python

PROCESSES = 4
LIMIT_SECONDS = 50


def start(path: Path, what: str, times: int) -> subprocess.Popen[str]:
    command = [warm_python(), storing.__file__, str(path), what, str(times)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def all_lines(path: Path, what: str, times: int) -> list[list[str]]:
    """Let several processes do the same at once; returns what each wrote."""
    processes = [start(path, what, times) for _ in range(PROCESSES)]
    outputs = [process.communicate(timeout=LIMIT_SECONDS)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * PROCESSES
    return [output.split() for output in outputs]


def plain(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def open_files() -> set[str]:
    return {file.name for file in Path("/proc/self/fd").iterdir()}


# Several processes, several loops.


async def test_no_increment_is_lost_between_processes(path: Path) -> None:
    all_lines(path, "increment", 150)  # the file is made by whoever comes first
    async with closing(SQLiteStore(path)) as store:
        found = await store.get("n")
        assert found is not None
        assert found.value == b"%d" % (150 * PROCESSES)


def test_a_race_between_processes_has_one_winner(path: Path) -> None:
    wins = [line == "True" for lines in all_lines(path, "win", 100) for line in lines]
    assert (len(wins), sum(wins)) == (100 * PROCESSES, 100)


def test_a_bucket_is_one_for_all_processes(path: Path) -> None:
    assert Counter(line for lines in all_lines(path, "take", 30) for line in lines) == {
        "True": 50,
        "False": 30 * PROCESSES - 50,
    }


async def test_what_was_answered_survives_a_kill(path: Path) -> None:
    process = start(path, "append", 1_000_000)
    assert process.stdout is not None
    answered = [int(process.stdout.readline()) for _ in range(200)]
    process.send_signal(signal.SIGKILL)
    answered += [int(line) for line in process.stdout.read().split("\n")[:-1]]
    process.wait(LIMIT_SECONDS)
    process.stdout.close()
    async with closing(SQLiteStore(path)) as store:
        kept = [index for index, _ in await store.read("log", 0, 1_000_000)]
        assert kept[: len(answered)] == answered
        await store.append("log", kept[-1] + 1, b"goes on", ttl=60)


async def test_a_process_sees_at_once_what_another_wrote(path: Path) -> None:
    async with closing(SQLiteStore(path)) as one, closing(SQLiteStore(path)) as other:
        for number in range(50):
            version = await one.put("k", b"%d" % number, ttl=None)
            assert await other.get("k") == Entry(b"%d" % number, version)


def test_several_event_loops_at_once(path: Path) -> None:
    store = SQLiteStore(path)

    async def several() -> None:
        for _ in range(50):
            await increment(store, "n")

    threads = [threading.Thread(target=asyncio.run, args=(several(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_SECONDS)
    found = asyncio.run(store.get("n"))
    assert found is not None
    assert found.value == b"200"
    asyncio.run(store.close())


async def test_an_event_loop_that_ended_early_leaves_the_store_whole(path: Path) -> None:
    store = SQLiteStore(path)

    async def leave() -> None:
        asyncio.ensure_future(store.put("k", b"x", ttl=None))  # noqa: RUF006 - nobody waits for it
        await asyncio.sleep(0)

    for _ in range(20):
        await asyncio.to_thread(asyncio.run, leave())
    await store.put("other", b"x", ttl=None)
    await store.close()


FORKING = """
import asyncio, os, sys, threading
from splice.stores.sqlite import SQLiteStore

sys.path.insert(0, sys.argv[2])
from support.storing import increment

store = SQLiteStore(sys.argv[1])

async def use(times):
    for _ in range(times):
        await increment(store, "n")

writer = threading.Thread(target=asyncio.run, args=(use(200),))
if sys.argv[3] == "used":
    asyncio.run(use(1))
    writer.start()
child = os.fork()
asyncio.run(use(100))
if child == 0:
    asyncio.run(store.close())
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
if writer.ident:
    writer.join()
print(asyncio.run(store.get("n")).value.decode())
asyncio.run(store.close())
"""


@pytest.mark.parametrize(("before", "count"), [("fresh", 200), ("used", 401)])
def test_parent_and_child_go_on_after_a_fork(path: Path, before: str, count: int) -> None:
    tests = str(Path(storing.__file__).parents[1])
    command = [sys.executable, "-W", "ignore", "-c", FORKING, str(path), tests, before]
    done = subprocess.run(command, check=True, timeout=LIMIT_SECONDS, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (str(count), "")


# The file.


async def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "state.db"
    async with closing(SQLiteStore(path)) as store:
        await store.put("k", b"x", ttl=None)
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == dict.fromkeys(["state.db", "state.db-wal", "state.db-shm"], 0o600)
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    path.touch(0o644)
    asyncio.run(SQLiteStore(path).close())
    assert path.stat().st_mode & 0o777 == 0o600


async def test_nothing_is_left_running_and_one_file(path: Path) -> None:
    before = set(threading.enumerate())
    store = SQLiteStore(path)
    assert set(threading.enumerate()) == before
    descriptors = open_files()
    puts = [asyncio.ensure_future(store.put(f"k{number}", b"x", ttl=None)) for number in range(1000)]
    await asyncio.sleep(0)
    await store.get("k0")
    await store.close()
    assert all(isinstance(version, int) for version in await asyncio.gather(*puts))
    assert set(threading.enumerate()) == before
    assert open_files() <= descriptors  # others may have been left by earlier tests, and close when they are collected
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    for again in (store.get("k"), store.put("k", b"x", ttl=None), store.read("k", 0)):
        with pytest.raises(StoreError, match="is closed: open the store again"):
            await again


# What goes wrong.


def newer(path: Path) -> None:
    asyncio.run(SQLiteStore(path).close())
    plain(path).execute(f"PRAGMA user_version = {sqlite.SCHEMA + 1}").connection.close()


def foreign(path: Path) -> None:
    plain(path).execute("CREATE TABLE theirs (a)").connection.close()


def mount(path: Path, kind: str) -> None:
    folder = path.parent / "with space"
    folder.mkdir()
    text = f"/dev/vda / ext4 rw 0 0\nhost:/x {str(folder).replace(' ', chr(92) + '040')} {kind} rw 0 0\n"
    (path.parent / "mounts").write_text(text)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (newer, "a newer Splice wrote it, with tables of version 2. Upgrade"),
        (foreign, "the database of another program. Choose another path"),
        (
            lambda path: path.write_bytes(b"not a database, but long" * 100),
            "is not a SQLite file",
        ),
        (lambda path: path.mkdir(), "cannot be used: unable to open"),
        (lambda path: path.parent.joinpath("file").touch(), None),
    ],
    ids=["newer", "foreign", "no database", "directory", "below a file"],
)
def test_a_file_that_cannot_be_used_is_told_when_it_is_opened(
    path: Path, spoil: Callable[[Path], object], told: str | None
) -> None:
    spoil(path)
    target = path if told else path.parent / "file" / "state.db"
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(StoreError, match=told or "cannot be used: .*File exists") as caught:
        SQLiteStore(target)
    assert str(caught.value).startswith(str(target))
    assert (path.read_bytes() if path.is_file() else b"") == before


@pytest.mark.parametrize(
    ("kind", "is_refused"),
    [("nfs4", True), ("cifs", True), ("fuse.sshfs", True), ("9p", True), ("ext4", False), ("tmpfs", False)],
)
def test_a_network_mount_is_refused(path: Path, kind: str, is_refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    mount(path, kind)
    monkeypatch.setattr(sqlite, "MOUNTS", path.parent / "mounts")
    target = path.parent / "with space" / "below" / "state.db"
    if is_refused:
        with pytest.raises(StoreError, match=rf"on a network mount \({kind}\), .* Choose a local disk"):
            SQLiteStore(target)
        assert not target.exists()
    else:
        asyncio.run(SQLiteStore(target).close())


def test_where_nobody_tells_of_mounts_none_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "MOUNTS", path.parent / "nothing")
    asyncio.run(SQLiteStore(path).close())


async def test_a_lock_of_another_process_is_told_and_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with closing(SQLiteStore(path)) as store:
        await store.put("k", b"x", ttl=None)
        other = plain(path)
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
        puts = [store.put(f"k{number}", b"x", ttl=None) for number in range(5)]
        results = await asyncio.gather(*puts, return_exceptions=True)
        assert all(isinstance(result, StoreError) and "locked by another process" in str(result) for result in results)
        assert await store.get("k") is not None
        monkeypatch.setattr(sqlite, "BUSY_SECONDS", 20)
        waiting = asyncio.ensure_future(store.put("k", b"y", ttl=None))
        done, _ = await asyncio.wait([waiting], timeout=0.05)
        assert not done
        other.execute("COMMIT")
        assert await waiting
        other.close()


async def test_a_full_disk_fails_those_who_need_room_and_only_them(path: Path) -> None:
    async with closing(SQLiteStore(path)) as store:
        await store.put("k", bytes(100_000), ttl=None)
        await store._write(lambda db, _: db.execute("PRAGMA max_page_count = 40").fetchone())
        puts = [store.put(f"k{number}", bytes(size), ttl=None) for number, size in enumerate([1, 10**6, 1, 10**6, 1])]
        results = await asyncio.gather(*puts, return_exceptions=True)
        assert [isinstance(result, int) for result in results] == [True, False, True, False, True]
        assert "cannot grow because the disk is full: make room" in str(results[1])
        assert await store.delete("k")
        await store.put("again", bytes(50_000), ttl=None)


def test_a_damaged_file_is_told(path: Path) -> None:
    async def fill() -> None:
        async with closing(SQLiteStore(path)) as store:
            for number in range(300):
                await store.put(f"k{number}", bytes(1000), ttl=None)

    async def use() -> None:
        async with closing(SQLiteStore(path)) as store:
            with pytest.raises(StoreError, match="is damaged: move it away"):
                await store.get("k150")
            with pytest.raises(StoreError, match="is damaged: move it away"):
                await store.put("k150", b"x", ttl=None)

    asyncio.run(fill())
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + bytes(range(256)) * ((len(whole) - 8192) // 256))
    asyncio.run(use())


@pytest.mark.parametrize(
    "use", [lambda store: store.get("k"), lambda store: store.put("k", b"x", ttl=None)], ids=["get", "put"]
)
def test_a_file_that_went_away_is_told(path: Path, use: Callable[[SQLiteStore], Coroutine[Any, Any, object]]) -> None:
    store = SQLiteStore(path)
    path.unlink()
    with pytest.raises(StoreError, match="cannot be used: unable to open database file"):
        asyncio.run(use(store))
    asyncio.run(store.close())
    assert not path.exists()


async def test_too_many_writes_that_wait_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "MAX_WAITING", 10)
    async with closing(SQLiteStore(path)) as store:
        with store._writing:
            puts = [asyncio.ensure_future(store.put(f"k{number}", b"x", ttl=None)) for number in range(30)]
            await asyncio.sleep(0)
        results = await asyncio.gather(*puts, return_exceptions=True)
        assert 10 <= sum(isinstance(result, int) for result in results) < 30
        assert any("10 writes wait already: try again later" in str(result) for result in results)


# What has expired.


async def test_what_has_expired_is_deleted_by_later_writes(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "SWEEP_ROWS", 10)
    async with closing(SQLiteStore(path, clock=clock)) as store:
        for number in range(15):
            await store.put(f"k{number}", b"x", ttl=1)
            await store.append(f"k{number}", 1, b"x", ttl=1)
            await store.take(f"k{number}", 1, rate=1, burst=1)
        await store.put("stays", b"x", ttl=None)
        clock.now += 20
        counts = []
        for _ in range(6):
            await store.put("stays", b"x", ttl=None)
            counts.append(store._read("SELECT count(*) FROM kept")[0][0])
        assert counts == [36, 26, 16, 6, 1, 1]
        assert store._read("SELECT count(*) FROM log") == [(0,)]
