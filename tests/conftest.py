"""Runs `async def` tests: each on a loop of its own, each bounded."""

import asyncio
import inspect

import pytest

LIMIT_SECONDS = 30.0


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
