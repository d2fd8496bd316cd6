"""The threads that `def` handlers run on."""

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from splice.server.threads import Threads
from support.waiting import until

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME")


async def test_a_function_is_called_with_its_arguments_on_a_daemon_thread() -> None:
    def fn(a: int, b: int) -> tuple[int, bool, bool]:
        thread = threading.current_thread()
        return a + b, thread.daemon, thread is threading.main_thread()

    assert await Threads().run(fn, {"a": 1, "b": 2}) == (3, True, False)


async def test_it_sees_the_callers_context_and_cannot_change_it() -> None:
    def fn() -> str:
        seen = NAME.get()
        NAME.set("changed")
        return seen

    NAME.set("mine")
    assert await Threads().run(fn, {}) == "mine"
    assert NAME.get() == "mine"


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(1)], ids=repr)
async def test_what_it_raises_is_raised(error: BaseException) -> None:
    def fn() -> None:
        raise error

    with pytest.raises(type(error)):
        await Threads().run(fn, {})


@pytest.mark.parametrize("error", [StopIteration(), KeyboardInterrupt(), GeneratorExit()], ids=repr)
async def test_what_means_something_to_the_loop_is_wrapped(error: BaseException) -> None:
    def fn() -> None:
        raise error

    with pytest.raises(RuntimeError, match=type(error).__name__):
        await Threads().run(fn, {})


async def test_threads_are_used_again() -> None:
    threads, seen = Threads(), set()

    def fn() -> None:
        seen.add(threading.get_ident())

    for _ in range(20):
        await threads.run(fn, {})
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

    futures = [threads.run(fn, {"n": n}) for n in range(10)]
    await until(lambda: running == 3)
    gate.set()
    assert await asyncio.gather(*futures) == list(range(10))
    assert most == 3


async def test_two_hundred_blocking_calls_do_not_stop_the_loop() -> None:
    threads, gate = Threads(), threading.Event()
    futures: list[Any] = [threads.run(gate.wait, {"timeout": 5}) for _ in range(200)]
    for _ in range(100):
        await asyncio.sleep(0)
    gate.set()
    assert all(await asyncio.gather(*futures))


async def test_a_cancelled_job_that_waits_never_runs() -> None:
    threads, gate, ran = Threads(max_threads=1), threading.Event(), list[None]()
    first = threads.run(gate.wait, {"timeout": 5})
    second = threads.run(ran.append, {})
    third = threads.run(lambda: "third", {})
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

    future = threads.run(fn, {})
    await until(started.is_set)
    future.cancel()
    gate.set()
    await until(ended.is_set)
    assert await threads.run(lambda: "next", {}) == "next"


def test_a_job_may_outlive_the_loop() -> None:
    threads, gate, ended = Threads(max_threads=1), threading.Event(), threading.Event()

    def fn() -> None:
        gate.wait(5)

    async def leave() -> None:
        threads.run(fn, {})

    asyncio.run(leave())
    gate.set()

    async def again() -> str:
        value: str = await threads.run(lambda: "alive", {})
        ended.set()
        return value

    assert asyncio.run(again()) == "alive"
    assert ended.is_set()
