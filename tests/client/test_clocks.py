"""Deadlines on a loop whose clock the test turns."""

import asyncio

import pytest

from splice.client.clocks import Clocks, Deadline
from splice.errors import RequestTimeout


async def waiting(clocks: Clocks, seconds: float) -> None:
    with Deadline(clocks, seconds, "m"):
        await asyncio.Event().wait()


async def test_each_deadline_ends_its_own_task_and_the_earliest_goes_first() -> None:
    clocks = Clocks()
    long, short, shorter = (asyncio.ensure_future(waiting(clocks, s)) for s in (30, 0.02, 0.01))
    done, _ = await asyncio.wait((long, short, shorter), return_when=asyncio.FIRST_COMPLETED)
    assert done == {shorter}
    with pytest.raises(RequestTimeout, match=r"No answer to m within 0.02 s"):
        await short
    assert not long.done()
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long
    clocks.close()
    clocks.close()


async def test_a_timer_that_finds_nothing_to_do_is_not_set_again() -> None:
    clocks = Clocks()
    with Deadline(clocks, 0.01, "m"):
        pass
    assert clocks._timer is not None
    await asyncio.sleep(0.02)
    assert clocks._timer is None


async def test_the_clocks_stand_still() -> None:
    clocks = Clocks()
    call = asyncio.ensure_future(waiting(clocks, 0.05))
    await asyncio.sleep(0)
    with clocks.stopped(), clocks.stopped():
        began = clocks.now()
        later = asyncio.ensure_future(waiting(clocks, 0.01))
        await asyncio.wait((call, later), timeout=0.1)
        assert clocks.now() == began
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
    clocks.close()
