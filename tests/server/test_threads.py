"""The threads that `def` handlers run on, and the way back to the loop."""

import asyncio
import contextlib
import contextvars
import subprocess
import sys
import threading
import weakref
from typing import Any

import pytest

from splice import Server
from splice.errors import ToolError
from splice.rules.eras import Suspend
from splice.server.threads import MAX_THREADS, Bridge, Threads
from support.caller import LEGACY, MODERN, Caller, text_of
from support.waiting import settle, until

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME")


async def test_a_function_is_called_with_its_arguments_on_a_daemon_thread() -> None:
    def fn(a: int, b: int) -> tuple[int, bool, bool]:
        thread = threading.current_thread()
        return a + b, thread.daemon, thread is threading.main_thread()

    assert await Threads().run(fn, 1, b=2) == (3, True, False)


async def test_it_sees_the_callers_context_and_cannot_change_it() -> None:
    def fn() -> str:
        seen = NAME.get()
        NAME.set("changed")
        return seen

    NAME.set("mine")
    assert await Threads().run(fn) == "mine"
    assert NAME.get() == "mine"


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(1)], ids=repr)
async def test_what_it_raises_is_raised(error: BaseException) -> None:
    def fn() -> None:
        raise error

    with pytest.raises(type(error)):
        await Threads().run(fn)


@pytest.mark.parametrize("error", [StopIteration(), KeyboardInterrupt(), GeneratorExit()], ids=repr)
async def test_what_means_something_to_the_loop_is_wrapped(error: BaseException) -> None:
    def fn() -> None:
        raise error

    with pytest.raises(RuntimeError, match=type(error).__name__):
        await Threads().run(fn)


async def test_threads_are_used_again() -> None:
    threads, seen = Threads(), set()

    def fn() -> None:
        seen.add(threading.get_ident())

    for _ in range(20):
        await threads.run(fn)
    assert len(seen) == 1


async def test_there_are_only_so_many_and_the_rest_wait_their_turn() -> None:
    threads, gate, running, most = Threads(max_threads=3), threading.Event(), 0, 0
    lock = threading.Lock()

    def fn(n: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        gate.wait(5)
        with lock:
            running -= 1
        return n

    futures = [threads.run(fn, n) for n in range(10)]
    await until(lambda: running == 3)
    gate.set()
    assert await asyncio.gather(*futures) == list(range(10))
    assert most == 3


async def test_two_hundred_blocking_calls_do_not_stop_the_loop() -> None:
    threads, gate = Threads(), threading.Event()
    futures: list[Any] = [threads.run(gate.wait, 5) for _ in range(200)]
    for _ in range(100):
        await asyncio.sleep(0)
    gate.set()
    assert all(await asyncio.gather(*futures))


async def test_a_cancelled_job_that_waits_never_runs() -> None:
    threads, gate, ran = Threads(max_threads=1), threading.Event(), list[None]()
    first = threads.run(gate.wait, 5)
    second = threads.run(ran.append)
    third = threads.run(lambda: "third")
    second.cancel()
    gate.set()
    assert await first
    assert await third == "third"
    assert ran == []


async def test_a_cancelled_job_that_runs_is_left_alone() -> None:
    threads, gate, started, ended = Threads(), threading.Event(), threading.Event(), threading.Event()

    def fn() -> None:
        started.set()
        gate.wait(5)
        ended.set()

    future = threads.run(fn)
    await until(started.is_set)
    future.cancel()
    gate.set()
    await until(ended.is_set)
    assert await threads.run(lambda: "next") == "next"


def test_a_job_may_outlive_the_loop() -> None:
    threads, gate, ended = Threads(max_threads=1), threading.Event(), threading.Event()

    def fn() -> None:
        gate.wait(5)

    async def leave() -> None:
        threads.run(fn)

    asyncio.run(leave())
    gate.set()

    async def again() -> str:
        value: str = await threads.run(lambda: "alive")
        ended.set()
        return value

    assert asyncio.run(again()) == "alive"
    assert ended.is_set()


async def test_one_thread_does_many_short_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splice.server.threads.PATIENCE_SECONDS", 1.0)  # a busy machine must not look like a slow job
    threads, seen = Threads(), set[int]()
    await asyncio.gather(*(threads.run(lambda: seen.add(threading.get_ident())) for _ in range(500)))
    assert len(seen) == 1


@pytest.mark.parametrize("blockers", [1, 5, 40])
async def test_jobs_that_block_hold_up_none_behind_them(blockers: int) -> None:
    """The job that frees all others stands behind them in the queue."""
    threads, gate = Threads(), threading.Event()
    blocked = [threads.run(gate.wait, 10) for _ in range(blockers)]
    async with asyncio.timeout(5):
        await threads.run(gate.set)
        assert all(await asyncio.gather(*blocked))


async def test_a_job_handed_in_beside_one_that_blocks_is_taken_by_another_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "splice.server.threads.PATIENCE_SECONDS", 0.1
    )  # a busy machine must not look like a job that blocks
    threads, gate, started = Threads(), threading.Event(), threading.Event()

    def block() -> bool:
        started.set()
        return gate.wait(10)

    blocked = threads.run(block)
    await until(started.is_set)
    async with asyncio.timeout(5):
        assert [await threads.run(lambda n=n: n) for n in range(50)] == list(range(50))
    gate.set()
    assert await blocked
    assert threads._count == 2


def test_several_event_loops_use_one_pool_at_once() -> None:
    threads, results = Threads(max_threads=4), dict[int, list[int]]()

    async def work(start: int) -> None:
        numbers = range(start, start + 200)
        results[start] = list(await asyncio.gather(*(threads.run(abs, number) for number in numbers)))

    loops = [threading.Thread(target=asyncio.run, args=(work(1000 * number),)) for number in range(4)]
    for each in loops:
        each.start()
    for each in loops:
        each.join(20)
    assert results == {1000 * number: list(range(1000 * number, 1000 * number + 200)) for number in range(4)}


async def test_many_jobs_from_many_turns_all_come_back() -> None:
    """Workers fall asleep and are woken all the time: none may sleep while a job waits."""
    threads = Threads(max_threads=3)

    async def one(number: int) -> int:
        for _ in range(number % 7):
            await asyncio.sleep(0)
        return int(await threads.run(abs, number))

    async with asyncio.timeout(20):
        for _ in range(20):
            results = await asyncio.gather(*(one(number) for number in range(200)))
            assert results == list(range(200))


async def test_a_worker_that_sleeps_keeps_nothing_of_its_last_job_alive() -> None:
    class Big:
        pass

    threads, big = Threads(), Big()
    gone = weakref.ref(big)
    for fail in (False, True):
        with contextlib.suppress(ZeroDivisionError):
            await threads.run(lambda _, fail: 1 // (not fail), big, fail)
    del big
    await until(lambda: gone() is None)


async def test_where_no_thread_can_be_started_the_caller_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads, gate = Threads(), threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            threads.run(abs, -1)
    assert await threads.run(abs, -2) == 2
    monkeypatch.setattr(threading.Thread, "start", refuse)
    blocked = threads.run(gate.wait, 5)
    waiting = threads.run(abs, -3)
    await asyncio.sleep(0)
    gate.set()
    assert (await blocked, await waiting) == (True, 3)


# Too much to do.


async def test_one_job_too_many_is_refused_and_those_given_up_make_room() -> None:
    threads, gate = Threads(max_threads=1, max_waiting=3), threading.Event()
    running = threads.run(gate.wait, 5)
    await until(threads._jobs.empty)
    waiting = [threads.run(abs, -number) for number in range(3)]
    with pytest.raises(ToolError, match="1 handlers are busy and 3 calls wait for them; try again later"):
        threads.run(abs, -1)
    waiting[1].cancel()
    late = threads.run(abs, -7)
    gate.set()
    assert [*await asyncio.gather(running, waiting[0], waiting[2], late)] == [True, 0, 2, 7]


async def test_a_thread_stuck_in_a_job_nobody_waits_for_is_replaced_once() -> None:
    threads, gate = Threads(max_threads=2), threading.Event()
    stuck = [threads.run(gate.wait, 5) for _ in range(2)]
    await until(threads._jobs.empty)
    for each in stuck:
        each.cancel()
    async with asyncio.timeout(5):
        assert await threads.run(abs, -1) == 1
        more = [threads.run(gate.wait, 5) for _ in range(9)]
        await until(lambda: threads._count == 4)
        for each in more:
            each.cancel()
        await settle(200)
    assert threads._count == 4
    gate.set()


async def test_one_who_waits_already_gets_the_thread_of_one_who_gave_up() -> None:
    threads, gate = Threads(max_threads=1), threading.Event()
    stuck = threads.run(gate.wait, 5)
    waiting = threads.run(abs, -1)
    await until(lambda: threads._running)
    stuck.cancel()
    async with asyncio.timeout(5):
        assert await waiting == 1
    gate.set()


async def test_servers_do_not_wait_for_each_others_handlers() -> None:
    gate, servers = threading.Event(), (Server("stuck"), Server("free"))
    for server in servers:
        server.add_tool(lambda: gate.wait(5), name="block")
        server.add_tool(lambda: "here", name="quick")
    stuck, free = (Caller(server, MODERN[0]) for server in servers)
    calls = [asyncio.ensure_future(stuck.call("block")) for _ in range(MAX_THREADS)]
    await until(lambda: servers[0].service.home.threads._count == MAX_THREADS)
    async with asyncio.timeout(5):
        assert await free.text("quick") == "here"
    gate.set()
    await asyncio.gather(*calls)


@pytest.mark.parametrize("version", [LEGACY[-1], MODERN[-1]])
async def test_a_server_with_too_much_to_do_tells_the_model(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    server, gate = Server("s"), threading.Event()
    monkeypatch.setattr(server.service.home.threads, "_max_waiting", 0)
    server.add_tool(lambda: gate.wait(5), name="block")
    result = await (await Caller(server, version).open()).call("block")
    assert result["isError"]
    assert "handlers are busy" in text_of(result)


FORKING = """
import asyncio, os
from splice.server.threads import Threads

threads = Threads(max_threads=1)

async def use():
    async with asyncio.timeout(5):
        return await threads.run(abs, -1)

assert asyncio.run(use()) == 1
child = os.fork()
assert asyncio.run(use()) == 1
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


def test_handlers_run_in_a_process_that_was_forked() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], check=True, timeout=20)


# The way from a handler's thread back to the loop.


async def on_thread(fn: object) -> object:
    """Run a function on a thread of its own."""
    return await asyncio.get_running_loop().run_in_executor(None, fn)  # type: ignore[arg-type]  # a function


async def double(number: int) -> int:
    await settle(2)
    return 2 * number


async def fail(error: BaseException) -> None:
    raise error


async def test_a_thread_gets_what_the_loop_made() -> None:
    bridge = Bridge()
    assert await on_thread(lambda: bridge.wait(double(4))) == 8


@pytest.mark.parametrize("error", [ValueError("x"), Suspend({}), KeyboardInterrupt(), SystemExit(1)], ids=repr)
async def test_it_gets_every_error_and_the_loop_none(error: BaseException) -> None:
    bridge, caught = Bridge(), list[BaseException]()

    def work() -> None:
        try:
            bridge.wait(fail(error))
        except BaseException as raised:  # noqa: BLE001 - whatever it is
            caught.append(raised)

    await on_thread(work)
    if isinstance(error, (KeyboardInterrupt, SystemExit)):  # they would stop the loop
        (raised,) = caught
        assert isinstance(raised, RuntimeError)
        assert raised.__cause__ is error
    else:
        assert caught == [error]


async def test_the_loop_cannot_wait_for_itself() -> None:
    with pytest.raises(RuntimeError, match="await"):
        Bridge().wait(double(1))


async def test_closing_ends_what_waits_and_what_it_waits_for() -> None:
    bridge, started, ended = Bridge(), threading.Event(), []

    async def forever() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    def work() -> str:
        for wait in (forever, forever):
            with pytest.raises(asyncio.CancelledError):
                bridge.wait(wait())
        return "over"

    thread = asyncio.ensure_future(on_thread(work))
    await until(started.is_set)
    bridge.close()
    assert await thread == "over"
    await settle()
    assert ended == ["work"]
