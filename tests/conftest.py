"""Runs `async def` tests: each on a loop of its own, each bounded. Refuses names that no two processes share."""

import asyncio
import gc
import inspect
import os
import signal
import sys
from itertools import chain

import pytest

LIMIT_SECONDS = 30.0

LONG = (
    "tests/guards/test_docs.py",
    "tests/cli/test_reload.py",
    "tests/cli/test_doctor.py",
    "tests/server/test_context_types.py",
    "tests/test_examples.py",
)
"""Tests that mostly wait for others, for seconds each."""

# Hundreds of tests start a Python, and each would compile all of Splice where the environment forbids to keep it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Whoever runs the tests under `nohup` ignores this signal, and every program would inherit that.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in wanted}

    async def bounded() -> None:
        async with asyncio.timeout(LIMIT_SECONDS):
            await test(**arguments)

    asyncio.run(bounded())
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test whose name holds a memory address: `-n 2` collects it under two names. Let long ones begin early.

    `-n` hands the tests out in their order, large parts first, which are a sixteenth for each of four workers: what
    is long stands in those, or all would wait for it in the end.
    """
    moving = next((item.nodeid for item in items if " at 0x" in item.nodeid), None)
    if moving is not None:
        raise pytest.UsageError(f"{moving} is named by a memory address: give its parameters ids=")
    long = [item for item in items if item.nodeid.startswith(LONG)]
    rest = [item for item in items if not item.nodeid.startswith(LONG)]
    part = len(rest) // 16
    early = [_mixed(long[at::4], rest[at * part : (at + 1) * part]) for at in range(4)]
    items[:] = [*chain.from_iterable(early), *rest[4 * part :]]


def _mixed(long: list[pytest.Item], rest: list[pytest.Item]) -> list[pytest.Item]:
    """Put something to compute behind each test that waits, so that not all workers wait at once."""
    step = len(rest) // max(len(long), 1)
    pairs = ((each, *rest[number * step : (number + 1) * step]) for number, each in enumerate(long))
    return [*chain.from_iterable(pairs), *rest[len(long) * step :]]


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the collected tests, or it looks at thousands of them in every test."""
    gc.freeze()
