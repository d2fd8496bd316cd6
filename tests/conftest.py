"""Runs `async def` tests: each on a loop of its own, each bounded. Refuses names that no two processes share."""

import asyncio
import gc
import inspect
import os
import signal
import sys

import pytest

LIMIT_SECONDS = 30.0

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
    """Refuse a test whose name holds a memory address: `-n 2` collects it under two names."""
    moving = next((item.nodeid for item in items if " at 0x" in item.nodeid), None)
    if moving is not None:
        raise pytest.UsageError(f"{moving} is named by a memory address: give its parameters ids=")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the collected tests, or it looks at thousands of them in every test."""
    gc.freeze()
