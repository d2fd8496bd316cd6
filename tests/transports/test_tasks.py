"""Work nobody awaits, work ended from outside, cleanup that must finish."""

import asyncio

import pytest

from splice.transports.tasks import Background, Stretch, finish
from support.waiting import settle


async def test_what_is_started_runs() -> None:
    background, ran = Background(), asyncio.Event()

    async def work() -> None:
        ran.set()

    task = background.start(work())
    await settle()
    assert ran.is_set()
    assert task.done()
    await background.close()


async def test_what_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    background = Background()

    async def work() -> None:
        raise RuntimeError("what went wrong")

    background.start(work())
    await settle()
    assert "what went wrong" in caplog.text


async def test_closing_ends_what_still_runs(caplog: pytest.LogCaptureFixture) -> None:
    background = Background()
    cleaned: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await settle()
            cleaned.append("up")

    task = background.start(work())
    await settle()
    await background.close()
    assert task.cancelled()
    assert cleaned == ["up"]
    assert caplog.text == ""


async def test_closing_waits_no_longer_than_it_may() -> None:
    background, gate = Background(), asyncio.Event()

    async def work() -> None:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            await gate.wait()

    task = background.start(work())
    await settle()
    await background.close(seconds=0)
    assert not task.done()
    gate.set()
    await task


async def test_a_task_may_close_the_background_it_runs_in() -> None:
    background = Background()
    task = background.start(background.close())
    await settle()
    assert task.done()
    assert not task.cancelled()


# A stretch.


class Ended(Exception):
    """Why."""


async def test_a_stretch_is_ended_from_outside_with_an_exception() -> None:
    stretch = Stretch()

    async def work() -> str:
        try:
            with stretch:
                await asyncio.Event().wait()
        except Ended:
            await settle(2)  # the task itself is not cancelled
            return "ended"
        raise AssertionError

    task = asyncio.create_task(work())
    await settle()
    stretch.end(Ended())
    stretch.end(ValueError("only the first counts"))
    assert await task == "ended"
    assert not task.cancelling()


async def test_a_cancellation_at_the_same_time_stays_one() -> None:
    stretch = Stretch()

    async def work() -> None:
        with stretch:
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await settle()
    stretch.end(Ended())
    task.cancel()
    await settle()
    assert task.cancelled()


async def test_work_that_takes_no_notice_of_its_end_goes_on() -> None:
    stretch = Stretch()

    async def work() -> str:
        with stretch:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "all the same"
        raise AssertionError

    task = asyncio.create_task(work())
    await settle()
    stretch.end(Ended())
    assert await task == "all the same"


async def test_a_stretch_cannot_be_ended_by_itself() -> None:
    with Stretch() as stretch:
        stretch.end(Ended())
        await settle(1)
    assert stretch.error is None


async def test_a_stretch_that_was_told_another_loop_finds_its_task_all_the_same() -> None:
    another = asyncio.new_event_loop()
    with Stretch(another) as stretch:
        assert stretch.task is asyncio.current_task()
    another.close()


def test_a_stretch_needs_a_task() -> None:
    with pytest.raises(RuntimeError), Stretch():
        pass


# Cleanup.


async def test_cleanup_is_finished_before_a_cancellation_is_passed_on() -> None:
    gate = asyncio.Event()
    work = asyncio.create_task(gate.wait())
    waiting = asyncio.create_task(finish(work))
    await settle()
    waiting.cancel()
    await settle()
    assert not waiting.done()
    gate.set()
    await settle()
    assert waiting.cancelled()
    assert work.done()
    await finish(work)
