"""Runs `async def` tests: each on a loop of its own, each bounded. Refuses names that no two processes share."""

import gc
import inspect
import os
import signal
import sys
from collections.abc import Generator
from itertools import chain

import pytest
from hypothesis import HealthCheck, settings

from support.tables import on_a_loop

LONG = (
    "tests/cli/test_doctor.py",
    "tests/cli/test_reload.py",
    "tests/guards/test_docs.py",
    "tests/server/test_context_types.py",
    "tests/test_examples.py",
    "tests/transports/http/test_listener.py",
    "tests/transports/http/test_program.py",
    "tests/transports/http/test_sessions.py",
    "tests/transports/stdio/test_program.py",
)
"""Tests that mostly wait for others."""

# Hundreds of tests start a Python, and each would compile all of Splice where the environment forbids to keep it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Whoever runs the tests under `nohup` ignores this signal, and every program would inherit that.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# A slow machine is no failure, and what was green stays green until the code changes: `make fuzz` looks for more.
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    on_a_loop(test(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let each worker of `-n` read a folder from another place on: what one has compiled, the others find."""
    report = yield
    if isinstance(collector, pytest.Directory) and report.result:
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        at = len(report.result) * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) // workers
        report.result = [*report.result[at:], *report.result[:at]]
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test whose name holds a memory address: `-n 2` collects it under two names. Spread those that wait.

    Between two that wait stands what computes, so that not all workers wait at once, and none waits in the end.
    """
    moving = next((item.nodeid for item in items if " at 0x" in item.nodeid), None)
    if moving is not None:
        raise pytest.UsageError(f"{moving} is named by a memory address: give its parameters ids=")
    items.sort(key=lambda item: item.path.parts)
    long = [item for item in items if item.nodeid.startswith(LONG)]
    rest = [item for item in items if not item.nodeid.startswith(LONG)]
    step = len(rest) * 9 // 10 // max(len(long), 1)
    parts = ((each, *rest[at * step : (at + 1) * step]) for at, each in enumerate(long))
    items[:] = [*chain.from_iterable(parts), *rest[len(long) * step :]]


def pytest_collection() -> None:
    """Collect tests without the garbage collector: nothing of what they make is garbage, and it would look again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the collected tests, and look for others less often than it would."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 10)
    gc.enable()
