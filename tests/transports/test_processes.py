"""Signals that ask a server to stop. What a second Ctrl-C does is shown where processes run."""

import asyncio
import os
import signal

import pytest

from splice.transports.processes import stop_signals
from support.waiting import settle, until

ASKING = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


@pytest.mark.parametrize("number", ASKING)
async def test_each_of_them_asks_and_what_was_before_comes_back(number: signal.Signals) -> None:
    before, asked = signal.getsignal(number), list[int]()
    with stop_signals(lambda: asked.append(number)):
        os.kill(os.getpid(), number)
        await until(lambda: asked)
    assert signal.getsignal(number) == before


async def test_one_that_is_passed_on_twice_at_once_is_one() -> None:
    asked = list[int]()
    with stop_signals(lambda: asked.append(1)):
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
        await until(lambda: asked)
        await settle()


async def test_a_hangup_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_signals(lambda: None):
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_on_another_thread_nothing_is_touched() -> None:
    async def elsewhere() -> None:
        with stop_signals(lambda: None):
            pass

    before = [signal.getsignal(number) for number in ASKING]
    await asyncio.to_thread(asyncio.run, elsewhere())
    assert [signal.getsignal(number) for number in ASKING] == before
