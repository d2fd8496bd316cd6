"""The way from a handler's thread back to the loop."""

import asyncio
import threading

import pytest

from splice.server.bridge import Bridge
from support.waiting import settle, until


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


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(1)], ids=repr)
async def test_it_gets_every_error_and_the_loop_none(error: BaseException) -> None:
    bridge, caught = Bridge(), []

    def work() -> None:
        try:
            bridge.wait(fail(error))
        except BaseException as raised:  # noqa: BLE001 - whatever it is
            caught.append(raised)

    await on_thread(work)
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
