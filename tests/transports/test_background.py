"""Tasks that nobody awaits."""

import asyncio

import pytest

from splice.transports.background import Background
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
