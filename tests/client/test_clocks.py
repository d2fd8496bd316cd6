"""Deadlines on a loop whose clock the test turns."""

import asyncio
import gc
import weakref
from functools import partial

import pytest

from client.scripted import until
from splice import Client, Server
from splice.client.clocks import FOR_EVER, Clocks, Deadline
from splice.errors import ConnectionClosed, RequestTimeout


async def waiting(clocks: Clocks, seconds: float) -> None:
    with Deadline(clocks, seconds, "No answer to m"):
        await asyncio.Event().wait()


async def test_each_deadline_ends_its_own_task_and_the_earliest_goes_first() -> None:
    clocks = Clocks()
    ended: list[float] = []
    calls = {seconds: asyncio.ensure_future(waiting(clocks, seconds)) for seconds in (30.0, 0.3, 0.01)}

    def end(seconds: float, _: object) -> None:
        ended.append(seconds)

    for seconds, call in calls.items():
        call.add_done_callback(partial(end, seconds))
    with pytest.raises(RequestTimeout, match=r"No answer to m within 0.3 s"):
        await calls[0.3]
    assert isinstance(calls[0.01].exception(), RequestTimeout)
    assert ended == [0.01, 0.3]
    calls[30.0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await calls[30.0]
    clocks.arm(float("inf"))
    clocks.arm(float("inf"))


async def test_a_timer_that_finds_nothing_to_do_is_not_set_again() -> None:
    clocks = Clocks()
    with Deadline(clocks, 0.01, "m"):
        pass
    assert clocks._timer is not None
    await until(lambda: clocks._timer is None)


async def test_the_clocks_stand_still() -> None:
    clocks = Clocks()
    call = asyncio.ensure_future(waiting(clocks, 0.05))
    await asyncio.sleep(0)
    with clocks.stopped(), clocks.stopped():
        later = asyncio.ensure_future(waiting(clocks, 0.01))
        await asyncio.wait((call, later), timeout=0.1)
        assert not call.done()
        assert not later.done()
    for each in (later, call):
        with pytest.raises(RequestTimeout):
            await each


async def test_a_cancellation_at_the_same_time_stays_one() -> None:
    clocks = Clocks()
    deadline = Deadline(clocks, 30, "m")

    async def call() -> None:
        with deadline:
            await asyncio.Event().wait()

    task = asyncio.ensure_future(call())
    await asyncio.sleep(0)
    deadline.expire()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    clocks.arm(float("inf"))


async def test_a_call_of_a_closed_client_leaves_no_timer_behind() -> None:
    client = Client(Server("s"))
    await client.open()
    await client.close()
    for _ in range(2):
        with pytest.raises(ConnectionClosed):
            await client.call_tool("nothing")
    left = weakref.ref(client)
    del client
    gc.collect()
    assert left() is None
    assert not [each for each in gc.get_objects() if isinstance(each, Clocks) and each.due < FOR_EVER]
